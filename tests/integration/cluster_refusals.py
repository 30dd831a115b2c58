#!/usr/bin/env python3
"""What a live cluster of three refuses: members that pretend to be others, recorded and changed bytes, used words, and
copies somebody meddled with. The names have the numbers of the security plan's list of black-box tests.

    cluster_refusals.py SAMOVARD [unittest arguments]
"""
import base64
import os
import pathlib
import random
import socket
import ssl
import struct
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cluster import Cluster, until  # noqa: E402
from samovard import ADMIN  # noqa: E402

BINARY = None
ROWS = 4000
HELLO, MESSAGE, PING, PONG, BYE = range(1, 6)
LINK_PROBE = 7
SOCKET_SECONDS_MAX = 60  # a starved machine, not a target


def frame(kind, body, heard=0):
    return struct.pack("<I", len(body))[:3] + bytes([kind]) + struct.pack("<H", heard) + body


def text(value):
    return struct.pack("<I", len(value)) + value.encode()


def hello(node_id, lane=0):
    return frame(HELLO, bytes([1, lane]) + os.urandom(16) + struct.pack("<q", time.time_ns() // 1000) + struct.pack("<H", 1) +
                 text(node_id) + text("0"))


def ask_probe(request):
    """A harmless question: how long is the way."""
    body = b"\x01" + struct.pack("<I", 0)
    return frame(MESSAGE, body + struct.pack("<Q", request) + bytes([LINK_PROBE, 2, 1]))


class Line:
    """A member's end of a connection, with the bytes that go through it in hand."""

    def __init__(self, to, chain):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.load_cert_chain(*chain)
        self.incoming, self.outgoing, self.sent = ssl.MemoryBIO(), ssl.MemoryBIO(), []
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname="x")
        host, port = to.address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), SOCKET_SECONDS_MAX)
        self.buffer = b""
        self.until_done(self.tls.do_handshake)

    def until_done(self, step):
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                self.flush()
                got = self.socket.recv(65536)
                if not got:
                    raise ConnectionResetError("closed") from None
                self.incoming.write(got)
            finally:
                self.flush()

    def flush(self):
        while raw := self.outgoing.read():
            self.sent.append(raw)
            self.socket.sendall(raw)

    def seal(self, plain):
        """The bytes as they would go out, not sent."""
        self.tls.write(plain)
        return self.outgoing.read()

    def say(self, plain):
        self.tls.write(plain)
        self.flush()

    def take(self):
        """The next frame: its kind and body."""
        while len(self.buffer) < 6 or len(self.buffer) < 6 + int.from_bytes(self.buffer[:3], "little"):
            self.buffer += self.until_done(lambda: self.tls.read(65536)) or self.gone()
        size = int.from_bytes(self.buffer[:3], "little")
        kind, body = self.buffer[3], self.buffer[6:6 + size]
        self.buffer = self.buffer[6 + size:]
        return kind, body

    @staticmethod
    def gone():
        raise ConnectionResetError("closed")

    def take_kind(self, wanted):
        while True:
            kind, body = self.take()
            if kind == wanted:
                return body
            if kind == PING:
                self.say(frame(PONG, body))

    def ends(self):
        """The other end closes it; the bye's text, if it said one."""
        try:
            return self.take_kind(BYE)[1:].decode()
        except (OSError, ssl.SSLError):
            return ""
        finally:
            self.socket.close()


def rows_of(node, dataset):
    got = node.expect(200, "GET", f"/api/v1/datasets/{dataset}/download").text
    return sorted(int(line.split(",")[0]) for line in got.split("\r\n")[1:] if line)


class Refusals(unittest.TestCase):
    """One cluster for all of them, in the order of the names."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.cluster = Cluster(BINARY, nodes=3)
        try:
            cls.cluster.form()
        except BaseException:
            cls.cluster.__exit__(AssertionError)
            raise

    @classmethod
    def tearDownClass(cls):
        cls.cluster.__exit__(None)
        cls.folder.cleanup()

    def tearDown(self):
        if not self._outcome.success:
            self.cluster.tell_logs()

    def chain_of(self, node):
        """Certificate and key of a node: what somebody has who stole its disk."""
        stored = (pathlib.Path(node.state_dir) / "identity" / "node.key").read_bytes()
        size = struct.unpack_from("<I", stored, 10)[0]
        pem = base64.encodebytes(stored[14:14 + size]).decode()
        key = pathlib.Path(self.folder.name) / f"{node.id}.key"
        key.write_text(f"-----BEGIN PRIVATE KEY-----\n{pem}-----END PRIVATE KEY-----\n", encoding="ascii")
        return [str(pathlib.Path(node.state_dir) / "member" / "node.crt"), str(key)]

    def wait_missed(self, *gone):
        """Until the first node knows that they are away: before, whoever comes in their names is taken for a clone."""
        first, ids = self.cluster.nodes[0], {node.id for node in gone}
        until("they are missed", lambda: not any(
            link["up"] and link["from"] == first.id and link["to"] in ids for link in first.asks("/links")["links"]))

    def greeted(self, node):
        """A line on which the first node answered the greeting in this one's name. It may have to notice first that the
        line before is closed."""
        def greet():
            line = Line(self.cluster.nodes[0], self.chain_of(node))
            try:
                line.say(hello(node.id))
                line.take_kind(HELLO)
                return line
            except (OSError, ssl.SSLError):
                line.socket.close()
                raise
        return until(f"{node.name} is greeted", greet, every=0.2)

    def all_well(self):
        until("all are up", lambda: all(n["state"] == "up" for n in self.cluster.nodes[0].items("/nodes")))
        for node in self.cluster.nodes:
            self.assertTrue(node.alive_and_ready())

    def test_03_a_member_that_pretends_to_be_another(self):
        first, second, third = self.cluster.nodes
        second.stop()  # else the thief is taken for a clone
        self.wait_missed(second)
        try:
            lied = Line(first, self.chain_of(second))
            lied.say(hello(third.id))
            self.assertIn("names another node than the certificate", lied.ends())
            self.greeted(second).socket.close()  # the control: the same with its own name is heard
        finally:
            second.start()
            second.wait_ready()
        self.all_well()

    def test_03_a_member_that_answers_for_another(self):
        first, second, third = self.cluster.nodes
        second.stop()
        third.stop()
        self.wait_missed(second, third)
        host, port = third.address.rsplit(":", 1)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.chain_of(second))
        context.verify_mode = ssl.CERT_NONE
        outcomes, stop = [], threading.Event()

        def stand_in(door):
            door.settimeout(0.2)
            while not stop.is_set():
                try:
                    plain, _ = door.accept()
                    plain.settimeout(SOCKET_SECONDS_MAX)
                    with context.wrap_socket(plain, server_side=True) as line:
                        outcomes.append(line.recv(1))  # a greeting would be bytes
                except TimeoutError:
                    continue
                except (ssl.SSLError, OSError) as refused:
                    outcomes.append(refused)
        with socket.create_server((host, int(port))) as door:
            thread = threading.Thread(target=stand_in, args=(door,))
            thread.start()
            try:
                until("it is called", lambda: outcomes)
                self.assertFalse(any(link["up"] for link in first.asks("/links")["links"] if first.id == link["from"]))
            finally:
                stop.set()
                thread.join(2 * SOCKET_SECONDS_MAX)
        self.assertTrue(all(not isinstance(o, bytes) or o == b"" for o in outcomes), outcomes)
        for node in (second, third):
            node.start()
            node.wait_ready()
        self.all_well()

    def test_05_recorded_and_changed_bytes(self):
        first, second, _ = self.cluster.nodes
        second.stop()
        self.wait_missed(second)
        try:
            # What was recorded of a whole connection, said again on a new one.
            line = self.greeted(second)
            line.say(ask_probe(11))
            line.take_kind(MESSAGE)
            line.socket.close()
            host, port = first.address.rsplit(":", 1)
            with socket.create_connection((host, int(port)), 10) as again:
                again.settimeout(20)
                heard = b""
                try:
                    again.sendall(b"".join(line.sent))
                    while piece := again.recv(65536):
                        heard += piece
                except OSError:
                    pass
            # Its own half of a handshake and an alert: a few kilobytes, and nothing that the recording's key opens.
            self.assertLess(len(heard), 8192)
            # One record twice; one with a bit of its length, its text, its tag changed.
            for change in (None, 3, 8, -1):
                line = self.greeted(second)
                record = line.seal(ask_probe(12))
                if change is None:
                    record += record
                else:
                    record = bytearray(record)
                    record[change] ^= 1
                line.socket.sendall(record)
                answers = 0
                try:
                    line.socket.settimeout(20)
                    while True:
                        kind, body = line.take()
                        answers += kind == MESSAGE and len(body) >= 11 and body[-11:-3] == struct.pack("<Q", 12)
                        if change == 3:  # a longer record is waited for: the rest of it never fits
                            line.socket.sendall(bytes(512))
                except (OSError, ssl.SSLError):
                    pass
                line.socket.close()
                # The first of two equal ones may be answered before the second ends the connection.
                self.assertLessEqual(answers, 1 if change is None else 0, f"change {change}")
        finally:
            second.start()
            second.wait_ready()
        self.all_well()

    def test_08_words_serve_once(self):
        first = self.cluster.nodes[0]

        def invite():
            return first.expect(200, "POST", "/api/v1/peers:invite", {"password": ADMIN["password"]}).json["words"]
        words = invite()
        joined = self.cluster.make_node()
        joined.start()
        self.cluster.find(joined, first)
        joined.expect(202, "POST", "/api/v1/setup:join", {"setup_code": joined.code, "words": words})
        self.cluster.wait_member(joined)
        members = len(first.items("/nodes"))
        late = self.cluster.make_node()
        late.start()
        try:
            self.cluster.find(late, first)
            # Nobody is invited any more; then somebody is, with other words.
            late.expect(202, "POST", "/api/v1/setup:join", {"setup_code": late.code, "words": words})
            self.assertNotEqual(invite(), words)
            until("the member called, and was refused", lambda: "words" in "".join(
                line for line in late.output + first.output if "refused" in line or "not those" in line or "does not know" in line))
            self.assertEqual(late.setup()["phase"], "new")
            self.assertEqual(len(first.items("/nodes")), members)
        finally:
            late.kill()
            late.clean()
            self.cluster.nodes.remove(late)

    def test_14_copies_that_somebody_changed(self):
        first = self.cluster.nodes[0]
        rng = random.Random(14)
        rows = [f"{i},{rng.random():.9f},{rng.randrange(10**9)}" for i in range(ROWS)]
        made = first.expect(201, "PUT", "/api/v1/uploads/t.csv", ("id,a,b\n" + "\n".join(rows) + "\n").encode(),
                            headers={"Content-Type": "application/octet-stream"}).json
        begun = first.expect(202, "POST", "/api/v1/datasets", {"upload_id": made["id"], "name": "Kept"}).json
        ended = until("the ingest ends", lambda: (lambda o: o if o["state"] not in ("queued", "running") else None)(
            first.asks("/operations/" + begun["id"])))
        self.assertEqual(ended["state"], "done", ended)
        dataset = ended["dataset_id"]
        until("two copies", lambda: first.asks(f"/datasets/{dataset}/shards")["copies_now"] >= 2)
        shards = first.asks(f"/datasets/{dataset}/shards")["items"]
        holder = self.cluster.by_id(shards[0]["nodes"][0]["id"])
        folder = pathlib.Path(holder.state_dir) / "data" / "versions" / f"{dataset}.1"
        here = sorted(p for p in folder.iterdir() if p.name.isdigit())
        path = folder / "0"
        good = path.read_bytes()
        quarter = len(good) // 4

        def swapped():
            others = [p for p in here if p != path]
            if others:  # another one, cut or filled to the same length
                return (others[0].read_bytes() + bytes(len(good)))[:len(good)]
            return bytes(reversed(good))
        kinds = {
            "a bit in the head": bytes([good[0] ^ 1]) + good[1:],
            "a bit in the middle": good[:2 * quarter] + bytes([good[2 * quarter] ^ 0x80]) + good[2 * quarter + 1:],
            "a bit at the end": good[:-1] + bytes([good[-1] ^ 1]),
            "cut short": good[:3 * quarter],
            "longer": good + good[-64:],
            "empty": b"",
            "parts in another order": good[:quarter] + good[2 * quarter:3 * quarter] + good[quarter:2 * quarter] + good[3 * quarter:],
            "another shard of the same size": swapped(),
        }
        for what, bad in kinds.items():
            with self.subTest(what):
                self.assertNotEqual(bad, good)
                path.write_bytes(bad)
                for node in self.cluster.nodes:
                    self.assertEqual(rows_of(node, dataset), list(range(ROWS)), f"{what}, read on {node.name}")
                until(f"{what}: healed", lambda: path.read_bytes() == good)
        path.unlink()
        self.assertEqual(rows_of(holder, dataset), list(range(ROWS)))
        until("a removed copy is back", lambda: path.exists() and path.read_bytes() == good)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)

#!/usr/bin/env python3
"""What a live cluster must refuse, and who may let machines in.

    cluster_trust.py SAMOVARD [unittest arguments]
"""
import os
import pathlib
import random
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cluster import Cluster, until  # noqa: E402
from samovard import ADMIN  # noqa: E402

BINARY = None
MARA = {"username": "mara", "password": "birch smoke and honey"}
NEIGHBOURS_MAX = 64
GROUP = "239.192.77.46"
FLOOD = 20_000
FLOOD_BYTES_MAX = 8 << 20


class Trust(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(BINARY, nodes=2)
        cls.cluster.__enter__()
        cls.cluster.form()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.__exit__(None)

    def test_1_states_are_equal_by_hash(self):
        first, second = self.cluster.nodes

        def same():
            a, b = first.asks("/cluster/state"), second.asks("/cluster/state")
            return (a, b) if a["index"] == b["index"] and (a["node"], b["node"]) == (first.id, second.id) else None
        before, other = until("both applied the same", same)
        self.assertEqual(before["hash"], other["hash"])
        self.assertEqual(len(before["hash"]), 64)
        first.expect(201, "POST", "/api/v1/users", {"role": "viewer", "username": "vera", "password": MARA["password"]})
        after, other = until("both applied the same", same)
        self.assertEqual(after["hash"], other["hash"])
        self.assertNotEqual(after["hash"], before["hash"])

    def test_2_another_administrator_adds_a_node(self):
        first = self.cluster.nodes[0]
        mara = first.expect(201, "POST", "/api/v1/users", {**MARA, "role": "admin"}).json
        self.assertEqual(mara["node_key"], "none")
        early = first.post(f"/api/v1/users/{mara['id']}:allow-joins", {"password": ADMIN["password"]})
        self.assertEqual((early.status, early.code), (409, "no_own_key"))
        founder, new = first.token, self.cluster.make_node()
        new.start()
        self.cluster.find(new, first)
        approve = f"/api/v1/peers/{new.id}:approve"
        try:
            first.log_in(MARA["username"], MARA["password"], transport="bearer")
            theirs, first.token = first.token, founder
            until("her key is ready", lambda: first.asks("/users/" + mara["id"])["node_key"] == "ready")
            first.token = theirs
            self.assertEqual(first.post(approve, {"password": MARA["password"]}).code, "no_ca_key")
            first.token = founder
            given = first.expect(200, "POST", f"/api/v1/users/{mara['id']}:allow-joins", {"password": ADMIN["password"]})
            self.assertEqual(given.json["node_key"], "held")
            first.token = theirs
            first.expect(202, "POST", approve, {"password": MARA["password"]})
            code = until("the code", lambda: new.setup()["join"]["code"]).replace(" ", "")
            first.expect(200, "POST", f"/api/v1/peers/{new.id}:confirm", {"code": code})
        finally:
            first.token = founder
        self.cluster.wait_member(new)
        first.expect(200, "PATCH", "/api/v1/users/" + mara["id"], {"role": "viewer"}, headers={"If-Match": "*"})
        self.assertIsNone(first.asks("/users/" + mara["id"])["node_key"])
        actions = {e["action"] for e in first.items("/audit?limit=200")}
        self.assertIn("user.allow_joins", actions)

    def test_3_a_foreign_ca_with_the_same_names_is_refused(self):
        first, second = self.cluster.nodes[:2]
        with tempfile.TemporaryDirectory() as folder:
            name = f"{second.id}.node.samovar"
            subject = subprocess.run(["openssl", "x509", "-noout", "-subject", "-nameopt", "RFC2253", "-in",
                                      os.path.join(first.state_dir, "member", "ca.crt")],
                                     capture_output=True, text=True, check=True).stdout
            common = subject.split("CN=")[1].split(",")[0].strip()
            run = lambda *words: subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)  # noqa: E731
            ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
            run("req", "-x509", *ec, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=" + common, "-days", "9")
            run("req", *ec, "-keyout", "n.key", "-out", "n.csr", "-subj", "/CN=" + second.id)
            pathlib.Path(folder, "ext").write_text(f"subjectAltName=DNS:{name}\nextendedKeyUsage=serverAuth,clientAuth\n")
            run("x509", "-req", "-in", "n.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "ext",
                "-days", "9", "-out", "n.crt")
            for chain in (("n.crt", "n.key"), None):  # and without any certificate
                got = self.talk(first, [os.path.join(folder, f) for f in chain] if chain else None)
                self.assertEqual(got, b"")
        self.assertTrue(first.alive_and_ready())

    @staticmethod
    def talk(node, chain):
        """What a caller with this certificate is told: nothing."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if chain:
            context.load_cert_chain(*chain)
        host, port = node.address.rsplit(":", 1)
        plain = socket.create_connection((host, int(port)), 10)  # somebody listens
        try:
            with context.wrap_socket(plain) as line:
                line.settimeout(10)
                line.sendall(b"\x01\x00\x00\x00\x00\x00")
                return line.recv(4096)
        except (ssl.SSLError, OSError):
            return b""

    def test_4_a_flood_of_beacons_fills_no_memory(self):
        first = self.cluster.nodes[0]
        rng = random.Random(10)
        before = first.rss_bytes()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            # To the group: a datagram to one address reaches only one of the nodes that share the port here.
            line.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
            for number in range(FLOOD):
                size = rng.choice((0, 1, 64, 200, 512, 1400))
                head = b"SMVB" if number % 2 else b""
                line.sendto(head + rng.randbytes(size), (GROUP, self.cluster.beacon_port))
        self.assertTrue(first.alive_and_ready())
        until("they were heard", lambda: sum(card["bad"] for card in first.asks("/doctor")["interfaces"]) > 0)
        self.assertLessEqual(len(first.items("/peers")), NEIGHBOURS_MAX)
        self.assertLessEqual(first.rss_bytes() - before, FLOOD_BYTES_MAX)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)

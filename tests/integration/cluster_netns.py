#!/usr/bin/env python3
"""Clusters in network namespaces behind a bridge: what real networks do to them. Needs root; skipped without.

    cluster_netns.py SAMOVARD [unittest arguments]
"""
import contextlib
import os
import pathlib
import random
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import networks  # noqa: E402
from cluster import Cluster, skip_code, until  # noqa: E402

BINARY = None
BEACONS = int(os.environ.get("SAMOVAR_BEACONS", "100000"))
QUIET_SECONDS = float(os.environ.get("SAMOVAR_QUIET_SECONDS", "60"))  # by hand: 600
IDLE_NODES = int(os.environ.get("SAMOVAR_IDLE_NODES", "7"))  # by hand: 16
IDLE_SECONDS = 120  # twice the longest pause between two pings
IDLE_BYTES_MAX = 300  # a second and node
ETHERNET = 14  # bytes of its header
LOAD_SECONDS = float(os.environ.get("SAMOVAR_LOAD_SECONDS", "60"))
FORM_NODES = int(os.environ.get("SAMOVAR_FORM_NODES", "5"))


def add_user(node, name):
    return node.expect(201, "POST", "/api/v1/users", {"username": name, "role": "viewer",
                                                      "password": "birch smoke and honey"}).json


def answers_to(person, name, seconds=1.0):
    """Addresses that a computer without a responder of its own gets for a name by multicast DNS."""
    with networks.inside(person.space), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(person.ip))
        question = b"\0\7\0\0\0\1\0\0\0\0\0\0" + b"".join(bytes([len(p)]) + p.encode() for p in name.split(".")) + b"\0\0\1\0\1"
        line.sendto(question, ("224.0.0.251", 5353))
        found, end = set(), time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            line.settimeout(left)
            try:
                answer = line.recv(4096)
            except TimeoutError:
                break
            assert answer[:2] == b"\0\7" and answer[-6:-4] == b"\0\4", answer
            found.add(socket.inet_ntoa(answer[-4:]))
        return found


def checks_of(node):
    return {c["id"]: c for c in node.asks("/doctor")["checks"]}


class Netns(unittest.TestCase):
    def cluster(self, nodes):
        made = Cluster(BINARY, nodes=nodes, lan=networks.Lan())
        self.addCleanup(lambda: made.__exit__(None if self._outcome.success else AssertionError))
        return made


class Surroundings(Netns):
    def test_docker0_and_two_network_cards(self):
        cluster = self.cluster(3)
        second = cluster.lan.add_bridge()
        for number, node in enumerate(cluster.nodes):
            node.place.add_docker()  # the same address on each of them
            if number < 2:
                node.place.add_nic("eth1", second, f"10.200.7.{number + 1}/24")
        cluster.form()
        for node in cluster.nodes:
            report = node.asks("/doctor")
            docker = [i for i in report["interfaces"] if i["name"] == "docker0"]
            self.assertTrue(docker and not docker[0]["used"] and docker[0]["why_not"], report["interfaces"])
            self.assertTrue(any(i["name"] == "eth0" and i["used"] for i in report["interfaces"]))
        for link in cluster.nodes[0].asks("/links")["links"]:
            self.assertFalse((link["address"] or "").startswith("172.17."), link)
        add_user(cluster.nodes[2], "eve")
        cluster.wait_equal()

    def test_one_in_another_subnet_is_named_and_joins_when_there_is_a_way(self):
        cluster = self.cluster(3)
        cluster.form(count=2)
        member, far = cluster.nodes[0], cluster.nodes[2]
        far.place.run("addr", "flush", "dev", "eth0")
        far.place.ip = "10.201.9.3"
        far.place.run("addr", "add", far.place.ip + "/24", "dev", "eth0")
        far.start()
        # No router between the two: whichever way it is tried, the answer names the step that failed.
        tried = member.post("/api/v1/peers:add", {"address": far.place.ip}, timeout=60)
        self.assertEqual((tried.status, tried.code), (422, "peer_unreachable"), tried)
        report = member.expect(200, "POST", "/api/v1/doctor:probe", {"address": far.place.ip}, timeout=60).json
        reach = next(c for c in report["checks"] if c["id"] == "reach")
        self.assertEqual(reach["state"], "fail", reach)
        self.assertTrue(reach["remedy"], reach)
        print("another subnet:", reach["detail"], reach["remedy"])
        # A router: each side knows the way to the other's subnet.
        for node in cluster.nodes[:2]:
            node.place.run("route", "add", "10.201.9.0/24", "dev", "eth0")
        far.place.run("route", "add", cluster.lan.net + ".0/24", "dev", "eth0")
        cluster.join(far, via=member, address=far.place.ip)
        add_user(far, "eve")
        cluster.wait_equal()

    def test_a_name_to_type_leads_to_every_member(self):
        cluster = self.cluster(3)
        cluster.form(count=2)
        waiting = cluster.nodes[2]
        waiting.start()
        cluster.find(waiting, cluster.nodes[0])
        person = cluster.lan.place(9)
        members = {node.place.ip for node in cluster.nodes[:2]}
        until("the members answer, and who waits does not", lambda: answers_to(person, "samovar.local") == members)
        until("each has a name of its own", lambda: answers_to(person, f"samovar-{waiting.id[:4]}.local") == {waiting.place.ip})
        self.assertEqual(answers_to(person, "printer.local"), set())
        with networks.inside(person.space):
            raw = socket.create_connection((cluster.nodes[0].place.ip, cluster.nodes[0].port), 10)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with context.wrap_socket(raw, server_hostname="samovar.local") as line:
            line.sendall(b"GET /healthz HTTP/1.1\r\nHost: samovar.local:8443\r\nConnection: close\r\n\r\n")
            self.assertIn(b" 200 ", line.recv(4096), "the name is refused as a Host")
            names = subprocess.run(["openssl", "x509", "-inform", "der", "-noout", "-ext", "subjectAltName"],
                                   input=line.getpeercert(True), capture_output=True, check=True).stdout.decode()
        self.assertIn("DNS:samovar.local", names)
        self.assertIn(f"DNS:samovar-{cluster.nodes[0].id[:4]}.local", names)

    def test_multicast_is_blocked_and_an_address_pasted(self):
        cluster = self.cluster(3)
        for node in cluster.nodes:
            node.place.silence_multicast()
        cluster.form(count=1)
        member = cluster.nodes[0]
        for node in cluster.nodes[1:]:
            node.start()
        nobody = member.post("/api/v1/peers:add", {"address": f"{cluster.lan.net}.99"}, timeout=60)
        self.assertEqual((nobody.status, nobody.code), (422, "peer_unreachable"), nobody)
        print("a wrong address:", nobody.json["detail"])
        for node in cluster.nodes[1:]:
            cluster.join(node, address=node.place.ip)
        add_user(member, "eve")
        cluster.wait_equal()

    def test_all_addresses_change_overnight(self):
        cluster = self.cluster(3)
        cluster.form()
        add_user(cluster.nodes[0], "eve")
        before = cluster.wait_equal()
        cluster.stop_all()
        for number, node in enumerate(cluster.nodes):
            node.place.change_address(100 + number)
        began = time.monotonic()
        cluster.start_all()
        cluster.wait_leader()
        print(f"a leader {time.monotonic() - began:.1f} s after the start at other addresses")
        self.assertEqual(cluster.wait_equal()["/users"], before["/users"])
        add_user(cluster.nodes[1], "bob")

    def test_joining_while_a_member_is_down(self):
        cluster = self.cluster(4)
        cluster.form(count=3)
        down = cluster.nodes[2]
        down.kill()
        cluster.wait_leader()
        cluster.join(cluster.nodes[3], via=cluster.nodes[0])
        add_user(cluster.nodes[3], "eve")
        down.start()
        down.wait_ready()
        until("it knows all four", lambda: len(down.items("/nodes")) == 4)
        cluster.wait_equal()

    @unittest.skipUnless(shutil.which("cc"), "there is no C compiler to make the old clock with")
    def test_a_clock_of_1970(self):
        folder = tempfile.mkdtemp(prefix="samovard-clock-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        library = os.path.join(folder, "old_clock.so")
        source = pathlib.Path(__file__).resolve().parents[1] / "support" / "old_clock.c"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, str(source), "-ldl"], check=True)
        cluster = self.cluster(2)
        old = cluster.make_node(environment=dict(os.environ, LD_PRELOAD=library))
        cluster.form()
        add_user(old, "eve")
        entries = cluster.nodes[0].items("/audit?limit=50")
        times = [e["time"] for e in entries]
        self.assertEqual(times, sorted(times, reverse=True), "the audit log's order is kept")
        self.assertGreater(min(times), "2020", "cluster time is the leader's")
        self.assertIn("clock is behind", old.log)
        cluster.wait_equal()


class Refusals(Netns):
    def test_strangers_learn_nothing_at_a_members_port(self):
        cluster = self.cluster(3)
        cluster.form()
        member = cluster.nodes[0]
        with networks.inside(cluster.nodes[1].place.space):
            raw = socket.create_connection((member.place.ip, 7443), 5)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        with self.assertRaises((ssl.SSLError, OSError)):
            # TLS 1.3 tells of the missing certificate with the first read.
            with context.wrap_socket(raw) as line:
                line.settimeout(5)
                data = line.recv(1)
                self.assertEqual(data, b"", "a stranger got application bytes")
                raise ConnectionResetError("closed without a byte")

    def test_a_removed_node_is_cut_off(self):
        cluster = self.cluster(3)
        cluster.form()
        stay, gone = cluster.nodes[0], cluster.nodes[2]
        stay.expect(204, "DELETE", f"/api/v1/nodes/{gone.id}?force=1")
        began = time.monotonic()
        until("no link to it is up", lambda: not any(
            link["up"] and gone.id in (link["from"], link["to"]) for link in stay.asks("/links")["links"]), 30)
        print(f"cut off after {time.monotonic() - began:.1f} s (goal 2)")
        until("it refuses writes", lambda: gone.post("/api/v1/users", {
            "username": "x", "role": "viewer", "password": "birch smoke and honey"}, timeout=30).status >= 400)
        add_user(stay, "eve")

    def test_a_cloned_disk_is_refused_by_name(self):
        cluster = self.cluster(3)
        cluster.form()
        add_user(cluster.nodes[0], "eve")
        original = cluster.nodes[2]
        folder = tempfile.mkdtemp(prefix="samovard-clone-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        state = os.path.join(folder, "state")
        original.stop()
        shutil.copytree(original.state_dir, state)
        original.start()
        original.wait_ready()
        until("it is back", lambda: all(n["state"] == "up" for n in cluster.nodes[0].items("/nodes")))
        clone = cluster.make_node(state_dir=state)
        clone.start()

        def named():
            checks = [c for c in cluster.nodes[0].asks("/doctor")["checks"] if c["state"] in ("fail", "warn")]
            alerts = cluster.nodes[0].items("/alerts")
            text = " ".join(str(c) for c in checks + alerts).lower()
            return "same id" in text or "duplicate" in text or "clone" in text
        until("the clone is named", named)
        clone.kill()
        add_user(cluster.nodes[1], "bob")
        cluster.wait_equal(cluster.nodes[:3])


def in_lan(lan, address):
    """Ours, or a group that no router passes on."""
    first = int(address.split(".")[0])
    return address.startswith(lan.net + ".") or 224 <= first <= 239 or address == "255.255.255.255"


class Quiet(Netns):
    """What nodes send, and to whom."""

    def test_10_a_flood_of_beacons_makes_nobody_dial(self):
        cluster = self.cluster(3)
        cluster.form(count=2)
        member, waiting = cluster.nodes[0], cluster.nodes[2]
        waiting.start()
        cluster.find(waiting, member)
        group, port = "239.192.77.46", 7446
        with networks.inside(waiting.place.space):
            ear = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            ear.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            ear.bind((group, port))
            ear.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group) + socket.inet_aton(waiting.place.ip))
        stranger = cluster.lan.place(9)
        with ear:
            ear.settimeout(60)
            beacon = ear.recv(2048)  # a true one, of a member or of the one that waits
        self.assertTrue(beacon.startswith(b"SMVB"))
        waiting.kill()
        rng = random.Random(10)
        for number in range(20):  # addresses to forge from
            stranger.run("addr", "add", f"{cluster.lan.net}.{50 + number}/24", "dev", "eth0")
        before = member.rss_bytes()
        with networks.Tap(member.place) as tap:
            lines = []
            with networks.inside(stranger.space):
                for number in range(20):
                    line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                    line.bind((f"{cluster.lan.net}.{50 + number}", 0))
                    line.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(f"{cluster.lan.net}.{50 + number}"))
                    lines.append(line)
            for number in range(BEACONS):
                kind = number % 5
                packet = (rng.randbytes(rng.choice((0, 1, 64, 512))), b"SMVB" + rng.randbytes(rng.choice((8, 200, 508))),
                          b"SMVB\x01" + rng.randbytes(1400), beacon,
                          beacon)[kind]
                if kind == 4:  # a true one with a byte changed
                    at = rng.randrange(len(packet))
                    packet = packet[:at] + bytes([packet[at] ^ (1 + rng.randrange(255))]) + packet[at + 1:]
                rng.choice(lines).sendto(packet, (group, port))
            for line in lines:
                line.close()
            self.assertTrue(member.alive_and_ready())
            rows = member.items("/peers")
            bad = sum(card["bad"] for card in member.asks("/doctor", 60)["interfaces"])
        dialled = {key for key in tap.sent if key[0] == "dial" and key[1] not in (cluster.nodes[1].place.ip, waiting.place.ip)}
        print(f"{BEACONS} datagrams, {bad} of them looked at and bad: {len(rows)} rows, {(member.rss_bytes() - before) / (1 << 20):.1f} MiB more")
        self.assertGreater(bad, 0)
        self.assertFalse(dialled, "beacons made it dial")
        self.assertLessEqual(len(rows), 64)
        self.assertLessEqual(member.rss_bytes() - before, 8 << 20)

    def test_24_nothing_leaves_the_network(self):
        cluster = self.cluster(3)
        for node in cluster.nodes:
            node.place.add_default_route()
        with contextlib.ExitStack() as stack:
            taps = {node: stack.enter_context(networks.Tap(node.place)) for node in cluster.nodes}
            # The control: something that does leave is seen.
            with networks.inside(cluster.nodes[0].place.space), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
                line.sendto(b"x", ("203.0.113.7", 53))
            until("the control is seen", lambda: any(k[1] == "203.0.113.7" for k in taps[cluster.nodes[0]].sent))
            taps[cluster.nodes[0]].sent.clear()
            cluster.form()
            end, turns = time.monotonic() + QUIET_SECONDS, 0
            while turns == 0 or time.monotonic() < end:
                self.work(cluster.nodes[turns % 3], turns)
                turns += 1
        for node, tap in taps.items():
            outside = {k: v for k, v in tap.sent.items() if k[1] and k[0] != "ipv6" and not in_lan(cluster.lan, k[1])}
            far = {k: v for k, v in tap.sent.items() if k[0] == "ipv6" and not k[1].startswith(("fe80:", "ff0"))}
            self.assertFalse(outside or far, node.name)
        print(f"{turns} rounds of upload, ingest, training and prediction: "
              f"{sum(t.total[0] for t in taps.values())} packets, none to outside")

    @staticmethod
    def work(node, turn):
        rng = random.Random(turn)
        rows = "".join(f"{rng.random():.4f},{rng.random():.4f},{rng.choice('yn')}\n" for _ in range(500))
        made = node.expect(201, "PUT", "/api/v1/uploads/t.csv", ("a,b,ill\n" + rows).encode(),
                           headers={"Content-Type": "application/octet-stream"}).json
        begun = node.expect(202, "POST", "/api/v1/datasets", {"upload_id": made["id"], "name": f"Quiet {turn}"}).json
        ended = lambda path, ident: (lambda o: o if o["state"] not in ("queued", "running", "preparing") else None)(node.asks(path + ident))  # noqa: E731
        done = until("the ingest ends", lambda: ended("/operations/", begun["id"]))
        assert done["state"] == "done", done
        job = node.expect(201, "POST", "/api/v1/jobs", {"kind": "glm", "name": f"quiet{turn}", "dataset": done["dataset_id"],
                                                        "target": "ill"}).json
        over = until("the training ends", lambda: ended("/jobs/", job["id"]), 180)
        assert over["state"] == "done", over
        node.expect(200, "POST", f"/api/v1/models/quiet{turn}:predict", {"rows": [{"a": 0.5, "b": 0.5}]})

    def test_a_silent_cut_is_noticed_by_the_leader(self):
        """Of nodes that nobody asks anything: only heartbeats go between them."""
        cluster = self.cluster(3)
        cluster.form()
        leader = cluster.wait_leader()
        gone = next(n for n in cluster.nodes if n is not leader)
        time.sleep(15)  # nobody watches any more
        waits = []
        for _ in range(3):
            before = len(leader.output)
            gone.place.cut()
            began = time.monotonic()
            until("the link is down", lambda: any("link down" in line and gone.id in line for line in leader.output[before:]), 30, 0.02)
            waits.append(time.monotonic() - began)
            before = len(leader.output)
            gone.place.mend()
            until("the link is up", lambda: any("link up" in line and gone.id in line for line in leader.output[before:]), 60)
            time.sleep(3)
        print("a silent cut is noticed after", ", ".join(f"{w:.1f}" for w in waits), "s (goal 5)")
        self.assertLessEqual(sorted(waits)[1], 5.5)

    def test_idle_traffic_of_many_nodes(self):
        cluster = self.cluster(IDLE_NODES)
        cluster.form()
        cluster.wait_equal()
        time.sleep(75)  # beacons come often in the first minute after a change
        with contextlib.ExitStack() as stack:
            taps = {node: stack.enter_context(networks.Tap(node.place)) for node in cluster.nodes}
            began = time.monotonic()
            time.sleep(IDLE_SECONDS)
            seconds = time.monotonic() - began
        leader = cluster.leader_seen_by(cluster.nodes[0])
        # What is counted: IP packets that the nodes send, whole, with the headers of IP, UDP and TCP, TCP's own acknowledgements
        # and TLS. Ethernet's 14 bytes a packet are told beside it.
        packets = {node: tap.total[0] / seconds for node, tap in taps.items()}
        bytes_ip = {node: tap.total[1] / seconds - ETHERNET * packets[node] for node, tap in taps.items()}
        mean = sum(bytes_ip.values()) / IDLE_NODES
        print(f"{IDLE_NODES} idle nodes, {seconds:.0f} s: {mean:.0f} bytes/s a node in IP packets (goal {IDLE_BYTES_MAX}), "
              f"{mean + ETHERNET * sum(packets.values()) / IDLE_NODES:.0f} with Ethernet's headers, {sum(packets.values()) / IDLE_NODES:.1f} packets/s; "
              f"leader {bytes_ip[leader]:.0f}, others' median {sorted(v for n, v in bytes_ip.items() if n is not leader)[(IDLE_NODES - 1) // 2]:.0f}; "
              f"largest node {max(n.rss_bytes() for n in cluster.nodes) >> 20} MiB")
        kinds = {}
        for node, tap in taps.items():
            for key, (count, total) in tap.sent.items():
                kind = self.kind_of(key, node is leader or key[1] == leader.place.ip)
                kinds[kind] = kinds.get(kind, 0) + (total - ETHERNET * count) / seconds / IDLE_NODES
        print("  of these:", ", ".join(f"{kind} {value:.0f}" for kind, value in sorted(kinds.items(), key=lambda k: -k[1])))
        self.assertGreater(mean, 0)
        self.assertLessEqual(mean, IDLE_BYTES_MAX)

    @staticmethod
    def kind_of(key, with_leader):
        protocol, _, port = key
        if protocol in ("tcp", "dial"):
            return "leader and follower" if with_leader else "between followers"
        return {7446: "beacons", 5353: "names"}.get(port, protocol) if protocol == "udp" else protocol


class Form(Netns):
    def test_many_nodes_form_from_nothing(self):
        cluster = self.cluster(FORM_NODES)
        seconds = cluster.form()
        print(f"{FORM_NODES} nodes formed in {seconds:.1f} s after the first approval (goal 30)")
        voters = [n for n in cluster.nodes[0].items("/nodes") if n["voice"] == "voter"]
        self.assertEqual(len(voters) % 2, 1, "an odd number of voters")
        cluster.wait_equal()
        print("largest node:", max(n.rss_bytes() for n in cluster.nodes) >> 20, "MiB (goal 96)")

    def test_memory_under_load(self):
        """Resident memory of the daemons, but for the 64 to 256 MiB that checking a password takes for its moment."""
        cluster = self.cluster(FORM_NODES)
        cluster.form()
        idle = sorted(node.rss_bytes() >> 20 for node in cluster.nodes)
        for node in cluster.nodes:
            node.forget_rss_peak()
        end, rounds, writes, failed = time.monotonic() + LOAD_SECONDS, [0] * FORM_NODES, [0] * FORM_NODES, []

        def work(number):
            # Uploads, ingests, trainings, predictions on every node at once.
            while time.monotonic() < end or rounds[number] == 0:
                Quiet.work(cluster.nodes[number], 1000 * number + rounds[number])
                rounds[number] += 1

        def write(number):
            # And small changes as fast as they go.
            node = cluster.nodes[number]
            while time.monotonic() < end:
                made = node.post("/api/v1/tokens", {"name": f"t{number}-{writes[number]}", "scopes": ["read"], "expires_days": 1})
                if made.status == 503:
                    continue  # a starved machine elects another leader now and then
                assert made.status == 201, made
                node.request("DELETE", "/api/v1/tokens/" + made.json["id"])
                writes[number] += 2

        def told(act, number):
            try:
                act(number)
            except Exception as error:  # noqa: BLE001: told by the main thread
                failed.append(error)
        threads = [threading.Thread(target=told, args=(act, n), daemon=True) for act in (work, write) for n in range(FORM_NODES)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LOAD_SECONDS + 600)
        if failed:
            raise failed[0]
        cluster.wait_equal_hashes(seconds=180)
        peaks = sorted(node.rss_peak_bytes() >> 20 for node in cluster.nodes)
        print(f"{FORM_NODES} nodes, {sum(writes)} writes, {sum(rounds)} rounds of upload, ingest, training and prediction: resident "
              f"{idle} MiB before, at most {peaks} (goal 96), {sorted(node.rss_bytes() >> 20 for node in cluster.nodes)} after")
        self.assertLessEqual(peaks[-1], 96)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    reason = networks.why_not()
    if reason:
        sys.exit(skip_code(reason))
    unittest.main(verbosity=2)

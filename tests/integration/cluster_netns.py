#!/usr/bin/env python3
"""Clusters in network namespaces behind a bridge: what real networks do to them. Needs root; skipped without.

    cluster_netns.py SAMOVARD [unittest arguments]
"""
import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import networks  # noqa: E402
from cluster import Cluster, skip_code, until  # noqa: E402

BINARY = None
FORM_NODES = int(os.environ.get("SAMOVAR_FORM_NODES", "5"))


def add_user(node, name):
    return node.expect(201, "POST", "/api/v1/users", {"username": name, "role": "viewer",
                                                      "password": "birch smoke and honey"}).json


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


class Form(Netns):
    def test_many_nodes_form_from_nothing(self):
        cluster = self.cluster(FORM_NODES)
        seconds = cluster.form()
        print(f"{FORM_NODES} nodes formed in {seconds:.1f} s after the first approval (goal 30)")
        voters = [n for n in cluster.nodes[0].items("/nodes") if n["voice"] == "voter"]
        self.assertEqual(len(voters) % 2, 1, "an odd number of voters")
        cluster.wait_equal()
        print("largest node:", max(n.rss_bytes() for n in cluster.nodes) >> 20, "MiB (goal 96)")


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    reason = networks.why_not()
    if reason:
        sys.exit(skip_code(reason))
    unittest.main(verbosity=2)

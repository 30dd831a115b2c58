#!/usr/bin/env python3
"""One real node through its life: set-up, log-in, events, restart, both ways to unlock, stolen disk."""
import json
import os
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from samovard import ADMIN, PASSPHRASE, Events, Samovard  # noqa: E402

BINARY = None
PLANTED = "planted-audit-text-4711"
RSS_BYTES_MAX = 64 << 20
READY_SECONDS_MAX = 2.0  # on one core; the check allows for a starved machine


def sanitized():
    """Sanitizers multiply memory and time: what they change is not measured under them."""
    with open(BINARY, "rb") as program:
        text = program.read()
    return b"__asan_init" in text or b"__tsan_init" in text


class KeyFileNode(unittest.TestCase):
    def test_setup_login_events_restart(self):
        with Samovard(BINARY) as node:
            self.assertEqual(node.phase, "new")
            self.assertRegex(node.code, r"^[0-9A-Z]{4}-[0-9A-Z]{4}$")
            self.assertEqual(node.get("/healthz").text.strip(), "ok")
            ready = node.get("/readyz")
            self.assertEqual((ready.status, ready.json), (503, {"status": "new"}))
            self.assertEqual(node.get("/api/v1/cluster").code, "not_set_up")
            state = node.get("/api/v1/setup").json
            self.assertEqual((state["phase"], state["api"]), ("new", "v1"))
            self.assertIn(state["fingerprint"], node.log)

            self.assertEqual(node.post("/api/v1/setup:check", {"code": "WRONGCODE"}).code, "wrong_setup_code")
            self.assertEqual(node.post("/api/v1/setup:check", {"code": node.code.lower()}).status, 204)
            cluster = node.set_up()["cluster"]
            self.assertEqual(cluster["name"], "Kettle")
            self.assertEqual(node.post("/api/v1/setup", node.setup_body()).code, "already_set_up")
            self.assertEqual(node.get("/readyz").status, 200)
            self.assertEqual(node.get("/api/v1/setup").json["fingerprint"], state["fingerprint"])
            key = os.stat(os.path.join(node.state_dir, "key"))
            self.assertEqual(key.st_mode & 0o777, 0o400)

            node.log_in()
            self.check_events(node)
            user = node.expect(201, "POST", "/api/v1/users", {
                "username": "eve", "role": "viewer", "password": "birch smoke and honey"}).json
            identity = node.get("/api/v1/setup").json["node"]["id"]

            self.assertEqual(node.stop(), 0)
            began = time.monotonic()
            node.start()
            took = time.monotonic() - began
            print(f"start to ready: {took:.2f} s (goal {READY_SECONDS_MAX} s)")
            self.assertEqual(node.phase, "ready")
            self.assertIsNone(node.code)
            self.assertEqual(node.get("/api/v1/setup").json["node"]["id"], identity)
            self.assertEqual(node.get("/api/v1/setup").json["fingerprint"], state["fingerprint"])
            self.assertEqual(node.get("/api/v1/session").json["user"]["username"], ADMIN["username"])
            self.assertEqual(node.get("/api/v1/users/" + user["id"]).json["username"], "eve")
            verdict = node.post("/api/v1/audit:verify").json
            self.assertTrue(verdict["ok"], verdict)
            node.kill()
            node.start()
            self.assertEqual(node.get("/api/v1/users/" + user["id"]).json["username"], "eve")

    def check_events(self, node):
        stream = Events(node)
        self.assertEqual(stream.status, 200)
        event, hello, ident = stream.next()
        self.assertEqual(event, "hello")
        self.assertEqual(len(hello["nodes"]), 1)
        self.assertEqual(hello["cluster"]["name"], "Kettle")
        event, data, _ = stream.wait_for("node.sample")
        self.assertEqual(data["node"], hello["nodes"][0]["id"])
        self.assertGreater(data["sample"]["mem_total_bytes"], 0)
        etag = node.get("/api/v1/cluster").headers["ETag"]
        node.expect(200, "PATCH", "/api/v1/cluster", {"name": "Kettle"}, headers={"If-Match": etag})
        event, data, changed = stream.wait_for("cluster.changed")
        self.assertEqual(data["cluster"]["name"], "Kettle")
        stream.close()
        # Away and back: what came after the hello is told again.
        again = Events(node, headers={"Last-Event-ID": ident})
        names = []
        while not names or names[-1] != "cluster.changed":
            item = again.next()
            self.assertIsNotNone(item, names)
            names.append(item[0])
            self.assertNotEqual(item[0], "reset")
        again.close()

    def test_log_out_ends_the_stream(self):
        with Samovard(BINARY) as node:
            node.set_up()
            node.log_in()
            stream = Events(node)
            self.assertEqual(stream.next()[0], "hello")
            node.expect(204, "DELETE", "/api/v1/session")
            self.assertIsNotNone(stream.wait_for("bye"))
            self.assertIsNone(stream.next())

    def test_history_and_metrics(self):
        with Samovard(BINARY) as node:
            node.set_up()
            node.log_in()
            stream = Events(node)
            for _ in range(2):
                stream.wait_for("node.sample")
            stream.close()
            end = time.monotonic() + 60
            while True:  # what was told just now is in the history a moment later
                table = node.expect(200, "GET", "/api/v1/metrics/history?metric=cpu,mem_used_bytes&range=5m&step=1").json
                self.assertEqual(table["names"], ["t", "cpu", "mem_used_bytes"])
                self.assertEqual(len({len(col) for col in table["cols"]}), 1)
                if any(v is not None for v in table["cols"][2]):
                    break
                self.assertLess(time.monotonic(), end, table)
                time.sleep(0.2)
            self.assertIn("samovar_node_memory_used_bytes", node.expect(200, "GET", "/metrics").text)
            self.assertIn("BEGIN CERTIFICATE", node.expect(200, "GET", "/ca.crt").text)
            self.assertEqual(node.get("/openapi.json").json["openapi"], "3.1.0")

    def test_idle_memory(self):
        if sanitized():
            self.skipTest("memory is not measured under sanitizers")
        with Samovard(BINARY) as node:
            node.set_up()
            node.log_in()
            stream = Events(node)
            for _ in range(3):
                stream.wait_for("node.sample")
            stream.close()
            rss = node.rss_bytes()
            print(f"resident when idle: {rss / (1 << 20):.1f} MiB (goal 64)")
            self.assertLessEqual(rss, RSS_BYTES_MAX)


class PassphraseNode(unittest.TestCase):
    def test_locked_until_the_passphrase(self):
        with Samovard(BINARY) as node:
            node.set_up(mode="passphrase")
            self.assertFalse(os.path.exists(os.path.join(node.state_dir, "key")))
            node.log_in()
            self.assertEqual(node.stop(), 0)
            node.start()
            self.assertEqual(node.phase, "locked")
            self.assertEqual(node.get("/readyz").json, {"status": "locked"})
            self.assertEqual(node.get("/healthz").status, 200)
            self.assertEqual(node.get("/api/v1/cluster").status, 423)
            self.assertEqual(node.post("/api/v1/session", {"username": "ada", "password": "x"}).code, "locked")
            self.assertEqual(node.get("/api/v1/session").status, 401)
            self.assertEqual(node.post("/api/v1/unlock", {"passphrase": "wrong wrong wrong"}).code, "wrong_passphrase")
            self.assertEqual(node.post("/api/v1/unlock", {"passphrase": PASSPHRASE}).status, 204)
            self.assertEqual(node.get("/readyz").status, 200)
            self.assertEqual(node.get("/api/v1/session").status, 200)
            entry = node.get("/api/v1/audit?action=node.unlock").json["items"][0]
            self.assertEqual(entry["details"]["how"], "passphrase")
            self.assertEqual(entry["details"]["wrong_passphrases"], 1)


class StolenDisk(unittest.TestCase):
    def test_nothing_readable_is_left_on_the_disk(self):
        box_name, admin = "Hospital-Box-Zeta", dict(ADMIN, username="grepme-admin", display_name="Grepme Person")
        for mode in ("passphrase", "key_file"):
            with self.subTest(mode), Samovard(BINARY) as node:
                node.set_up(mode=mode, box_name=box_name, admin=admin)
                node.log_in(admin["username"], admin["password"])
                node.expect(201, "POST", "/api/v1/tokens", {"name": PLANTED, "scopes": ["read"]})
                node.expect(201, "POST", "/api/v1/users", {
                    "username": "planted-user", "role": "viewer", "password": "birch smoke and honey"})
                session = node.cookie
                self.assertIn(PLANTED, node.get("/api/v1/audit").text + node.get("/api/v1/tokens").text)
                self.assertEqual(node.stop(), 0)
                needles = [box_name, admin["username"], "Grepme", PLANTED, "planted-user", "smvpw1$", session,
                           admin["password"], PASSPHRASE]
                files = [p for p in pathlib.Path(node.state_dir).rglob("*") if p.is_file()]
                self.assertGreater(len(files), 5)
                for path in files:
                    data = path.read_bytes()
                    for needle in needles:
                        for form in (needle.encode(), needle.encode("utf-16-le"), json.dumps(needle)[1:-1].encode()):
                            self.assertNotIn(form, data, f"{needle} is in {path}")
                self.assertFalse(os.path.exists(os.path.join(node.state_dir, "tls", "web-root.key")))

    def test_the_search_can_find(self):
        """The positive control: a name written to the disk is found by the same search."""
        with Samovard(BINARY) as node:
            pathlib.Path(node.state_dir, "note").write_text("x" * 100 + "Hospital-Box-Zeta", encoding="utf-8")
            hits = [p for p in pathlib.Path(node.state_dir).rglob("*") if p.is_file() and b"Hospital-Box-Zeta" in p.read_bytes()]
            self.assertEqual(len(hits), 1)


class CommandLine(unittest.TestCase):
    def test_version_help_and_check(self):
        import subprocess

        def run(*arguments):
            done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=60, check=False)
            return done.returncode, done.stdout + done.stderr

        self.assertRegex(run("--version")[1], r"^samovard \d+\.\d+\.\d+")
        status, text = run("--help")
        self.assertEqual(status, 0)
        for flag in ("--config", "--state-dir", "--listen", "--log-format", "--log-level", "--check-config"):
            self.assertIn(flag, text)
        self.assertEqual(run("--bogus")[0], 2)
        self.assertEqual(run("--check-config", "--listen", "nonsense")[0], 2)
        self.assertEqual(run("--check-config", "--config", "/dev/null")[0], 0)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)

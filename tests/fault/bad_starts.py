#!/usr/bin/env python3
"""Bad starts: each must end with one clear message and a remedy, and leave every file as it was."""
import hashlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from samovard import PASSPHRASE, Samovard, StartFailed  # noqa: E402

BINARY = None
FAKETIME = shutil.which("faketime")


def fingerprint(folder):
    """Name, size and hash of every file but the lock and the kept time."""
    out = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file() and path.name not in ("lock", "clock"):
            out[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return out


class Box(unittest.TestCase):
    """A set-up box whose files tests may damage; made once per class, copied per test."""
    mode = "key_file"

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="samovard-bad-")
        cls.master = os.path.join(cls.folder, "master")
        node = Samovard(BINARY, state_dir=cls.master)
        node.start()
        node.set_up(mode=cls.mode)
        node.log_in()
        for i in range(5):
            node.expect(201, "POST", "/api/v1/tokens", {"name": f"t{i}", "scopes": ["read"]})
        assert node.stop() == 0, node.log

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def copy(self):
        state = tempfile.mkdtemp(prefix="state-", dir=self.folder)
        shutil.rmtree(state)
        shutil.copytree(self.master, state)
        os.chmod(state, 0o700)
        self.addCleanup(shutil.rmtree, state, True)
        return state

    def refuse(self, state, *words, status=1, **options):
        """Starts on `state`: must end with `status`, say all `words`, change nothing."""
        before = fingerprint(state)
        node = Samovard(BINARY, state_dir=state, **options)
        with self.assertRaises(StartFailed) as caught:
            try:
                node.start()
            finally:
                if node.alive():
                    node.kill()
        output = caught.exception.output
        self.assertEqual(caught.exception.status, status, output)
        self.assertIn("samovard cannot start", output)
        for word in words:
            self.assertIn(word, output)
        self.assertEqual(fingerprint(state), before, "files changed")
        return output

    def segments(self, state):
        raft = pathlib.Path(state, "raft")
        closed = sorted(p for p in raft.iterdir() if p.name[0].isdigit() and "-" in p.name)
        opened = sorted(p for p in raft.iterdir() if p.name.startswith("open-"))
        return closed + opened


class DamagedState(Box):
    def test_flipped_bit_in_the_log(self):
        state = self.copy()
        path = self.segments(state)[0]
        data = bytearray(path.read_bytes())
        used = len(data.rstrip(b"\0"))
        data[used // 2] ^= 1
        path.write_bytes(data)
        output = self.refuse(state, path.name)
        self.assertRegex(output.lower(), "restore|backup")

    def test_truncated_log(self):
        state = self.copy()
        path = self.segments(state)[0]
        data = path.read_bytes()
        path.write_bytes(data[:len(data.rstrip(b"\0")) // 2])
        self.assertRegex(self.refuse(state).lower(), "restore|backup")

    def test_missing_segment(self):
        state = self.copy()
        for path in self.segments(state):
            path.unlink()
        self.assertRegex(self.refuse(state).lower(), "restore|backup")

    def test_missing_keyring(self):
        state = self.copy()
        os.unlink(os.path.join(state, "keyring"))
        self.refuse(state, "keyring", "is missing", "Put the keyring back")

    def test_damaged_keyring(self):
        state = self.copy()
        path = pathlib.Path(state, "keyring")
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 0x10
        path.write_bytes(data)
        self.refuse(state, "keyring")

    def test_missing_key_file(self):
        state = self.copy()
        os.unlink(os.path.join(state, "key"))
        self.refuse(state, "key file", "is missing")

    def test_key_file_of_another_box(self):
        with Samovard(BINARY) as other:
            other.set_up()
            foreign = pathlib.Path(other.state_dir, "key").read_bytes()
        state = self.copy()
        path = pathlib.Path(state, "key")
        path.chmod(0o600)
        path.write_bytes(foreign)
        self.refuse(state, "another box")

    def test_damaged_identity(self):
        state = self.copy()
        path = next(p for p in pathlib.Path(state, "identity").iterdir() if p.suffix == ".key")
        path.write_bytes(path.read_bytes()[:10])
        self.refuse(state, "node.key")

    def test_damaged_web_certificate(self):
        state = self.copy()
        pathlib.Path(state, "tls", "web.crt").write_text("nonsense", encoding="ascii")
        self.refuse(state, "web.crt")

    def test_the_untouched_copy_starts(self):
        """The positive control: what is refused above is refused for its damage."""
        node = Samovard(BINARY, state_dir=self.copy())
        node.start()
        self.assertEqual(node.phase, "ready")
        self.assertEqual(node.stop(), 0)


class DamagedWhileLocked(Box):
    mode = "passphrase"

    def test_unlocking_a_damaged_log_says_so(self):
        state = self.copy()
        path = self.segments(state)[0]
        data = bytearray(path.read_bytes())
        data[len(data.rstrip(b"\0")) // 2] ^= 1
        path.write_bytes(data)
        node = Samovard(BINARY, state_dir=state)
        node.start()
        self.addCleanup(node.stop)
        before = fingerprint(os.path.join(state, "raft"))
        answer = node.post("/api/v1/unlock", {"passphrase": PASSPHRASE})
        self.assertEqual(answer.status, 503, answer)
        self.assertRegex(answer.json["detail"].lower(), "restore|backup")
        self.assertEqual(fingerprint(os.path.join(state, "raft")), before)
        self.assertEqual(node.get("/readyz").json, {"status": "locked"})


class Surroundings(Box):
    def test_port_in_use(self):
        state = self.copy()
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            node = Samovard(BINARY, state_dir=state, listen=f"127.0.0.1:{port}")
            with self.assertRaises(StartFailed) as caught:
                node.start()
        self.assertEqual(caught.exception.status, 1)
        self.assertIn(str(port), caught.exception.output)
        node = Samovard(BINARY, state_dir=state)
        node.start()
        self.assertEqual(node.phase, "ready")
        node.stop()

    def test_second_daemon(self):
        state = self.copy()
        first = Samovard(BINARY, state_dir=state)
        first.start()
        self.addCleanup(first.stop)
        second = Samovard(BINARY, state_dir=state)
        with self.assertRaises(StartFailed) as caught:
            second.start()
        self.assertEqual(caught.exception.status, 1)
        self.assertIn("another samovard already runs", caught.exception.output)
        self.assertEqual(first.get("/readyz").status, 200)

    def test_wrong_configuration(self):
        cases = {
            'lissten = ["127.0.0.1:1"]\n': ("line 1", 'did you mean "listen"'),
            '# fine\nlog_level = "loud"\n': ("log_level must be",),
            "listen = 8443\n": ("line 1", "list"),
            'listen = ["127.0.0.1"]\n': ("port is missing",),
            "disk_reserve_mib = -1\n": ("line 1", "out of range"),
            'state_dir = "unclosed\n': ("line 1",),
        }
        state = self.copy()
        for text, words in cases.items():
            with self.subTest(text):
                path = os.path.join(self.folder, "samovar.toml")
                pathlib.Path(path).write_text(text, encoding="utf-8")
                done = subprocess.run([BINARY, "--config", path, "--state-dir", state], capture_output=True, text=True,
                                      timeout=60, check=False)
                output = done.stdout + done.stderr
                self.assertEqual(done.returncode, 2, output)
                for word in words:
                    self.assertIn(word, output)

    def test_state_dir_that_is_a_file(self):
        path = os.path.join(self.folder, "a-file")
        pathlib.Path(path).write_text("x", encoding="ascii")
        done = subprocess.run([BINARY, "--state-dir", path, "--listen", "127.0.0.1:0"], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(path, done.stdout + done.stderr)

    @unittest.skipUnless(FAKETIME, "faketime is not installed")
    def test_clock_at_1970(self):
        state = self.copy()
        node = Samovard(BINARY, state_dir=state, wrapper=[FAKETIME, "-f", "@1970-01-01 00:01:00"])
        node.start()
        self.addCleanup(lambda: node.kill())
        self.assertEqual(node.phase, "ready")
        self.assertIn("clock is behind", node.log)
        node.log_in()
        cluster = node.expect(200, "GET", "/api/v1/cluster").json
        self.assertGreater(cluster["time"], "2024-01-01")
        self.assertIn("clock", [a["id"] for a in node.get("/api/v1/alerts").json["items"]])


class FullDisk(Box):
    """On a small file system of its own, which only root can mount."""

    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("mounting a small tmpfs needs root")
        self.mount = tempfile.mkdtemp(prefix="small-", dir=self.folder)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160m,mode=0700", "tmpfs", self.mount],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.skipTest("tmpfs cannot be mounted here: " + done.stderr.strip())
        self.addCleanup(subprocess.run, ["umount", "-l", self.mount], check=False)

    def fill(self, leave_mib):
        free = shutil.disk_usage(self.mount).free
        with open(os.path.join(self.mount, "ballast"), "wb") as ballast:
            ballast.write(b"\0" * max(0, free - (leave_mib << 20)))

    def test_at_start(self):
        state = os.path.join(self.mount, "state")
        shutil.copytree(self.master, state)
        os.chmod(state, 0o700)
        self.fill(2)
        self.refuse(state, "is full", "Free some space")
        os.unlink(os.path.join(self.mount, "ballast"))
        node = Samovard(BINARY, state_dir=state)
        node.start()
        self.assertEqual(node.phase, "ready")
        self.assertEqual(node.stop(), 0)

    def test_in_life(self):
        state = os.path.join(self.mount, "state")
        shutil.copytree(self.master, state)
        os.chmod(state, 0o700)
        node = Samovard(BINARY, state_dir=state)
        node.start()
        self.addCleanup(lambda: node.kill())
        node.log_in(transport="bearer")
        self.fill(40)
        refused = node.request("PATCH", "/api/v1/cluster", {"name": "Pot"}, headers={"If-Match": "*"})
        self.assertEqual((refused.status, refused.code), (507, "disk_full"), refused)
        self.assertIn("free some space", refused.json["detail"].lower())
        self.assertEqual(node.get("/api/v1/cluster").status, 200)
        self.assertEqual(node.get("/readyz").status, 200)
        os.unlink(os.path.join(self.mount, "ballast"))
        node.expect(200, "PATCH", "/api/v1/cluster", {"name": "Pot"}, headers={"If-Match": "*"})
        self.assertEqual(node.stop(), 0)
        node.start()
        self.assertEqual(node.expect(200, "GET", "/api/v1/cluster").json["name"], "Pot")


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)

#!/usr/bin/env python3
"""Data from the command line, against the real node: a data set's life, and uploads that are killed, cut by a
restart of the box, or interrupted, and gone on with.

cli_data_test.py PATH-TO-SAMOVAR PATH-TO-SAMOVARD
"""
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))

from cli_support import SECONDS_MAX, Cli, Done  # noqa: E402
from samovard import ADMIN, Samovard  # noqa: E402

SAMOVAR, SAMOVARD = sys.argv[1:3]
LARGE_BYTES = 192 << 20  # more than one part, and enough to be met in the middle


def table(rows):
    rng = random.Random(7)
    lines = ["patient;age;ward;stay"]
    lines += [f"{i};{rng.randrange(17, 95)};{rng.choice('ABC')};{rng.uniform(1, 30):.2f}" for i in range(rows)]
    return "\n".join(lines) + "\n"


class Data(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="samovar-data-")
        cls.large = os.path.join(cls.folder, "large.bin")
        piece = random.Random(1).randbytes(1 << 20)
        digest = hashlib.sha256()
        with open(cls.large, "wb") as out:
            for i in range(LARGE_BYTES >> 20):
                block = i.to_bytes(8, "big") + piece[8:]
                digest.update(block)
                out.write(block)
        cls.large_sha256 = digest.hexdigest()
        cls.small = os.path.join(cls.folder, "ward.csv")
        pathlib.Path(cls.small).write_text(table(2000), encoding="utf-8")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def setUp(self):
        self.node = Samovard(SAMOVARD)
        self.addCleanup(self.node.clean)
        self.node.start()
        self.addCleanup(self.node.stop)
        self.node.set_up()
        self.node.wait_ready()
        # After a restart the box must be found where it was.
        self.node.listen = f"127.0.0.1:{self.node.port}"
        self.cli = Cli(SAMOVAR, self.node.url)
        self.addCleanup(self.cli.__exit__)
        self.good(self.cli.run("login", "-u", ADMIN["username"], "--password-stdin", "--yes",
                               stdin=ADMIN["password"] + "\n"))
        self.node.log_in(transport="bearer")

    def good(self, done):
        self.assertEqual(done.code, 0, done)
        return done

    def begin(self, *words):
        return subprocess.Popen([SAMOVAR, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=self.cli.environment, start_new_session=True)

    def finish(self, process):
        out, err = process.communicate(timeout=SECONDS_MAX * 2)
        return Done(process.returncode, out, err)

    def uploads(self):
        return self.good(self.cli.run("data", "uploads", "--json")).json["items"]

    def wait_for_the_middle(self, process):
        """Until some of the large file is safe in the box, but not all. It is sent in short turns and stands still while we
        look, else a fast machine is done before; in the end, too, until SIGCONT."""
        end = time.monotonic() + SECONDS_MAX
        while time.monotonic() < end:
            self.assertIsNone(process.poll(), "the upload ended before it could be disturbed")
            process.send_signal(signal.SIGSTOP)
            items = self.node.expect(200, "GET", "/api/v1/uploads").json["items"]
            if items and 0 < items[0]["offset"] < items[0]["length"]:
                return items[0]
            process.send_signal(signal.SIGCONT)
            time.sleep(0.01)
        self.fail("no byte arrived")

    def expect_whole(self, done, upload_id):
        self.good(done)
        upload = done.json
        self.assertEqual(upload["id"], upload_id, "gone on with, not begun anew")
        self.assertEqual(upload["sha256"], self.large_sha256)
        self.assertTrue(upload["complete"])

    def test_the_life_of_a_data_set(self):
        inspected = self.good(self.cli.run("data", "inspect", self.small)).out
        self.assertIn('cells between ";"', inspected)
        done = self.good(self.cli.run("data", "upload", self.small, "--name", "Ward", "--type", "age=real", "--json"))
        made = done.json
        self.assertEqual((made["name"], made["rows"], made["columns"], made["bad_rows"]), ("Ward", 2000, 4, 0))
        types = {c["name"]: c["type"] for c in made["schema"]["columns"]}
        self.assertEqual(types["age"], "real")
        self.assertEqual(types["ward"], "category")
        self.assertEqual(made["source"]["sha256"], hashlib.sha256(pathlib.Path(self.small).read_bytes()).hexdigest())
        self.assertEqual(self.cli.run("data", "upload", self.small, "--name", "ward").code, 5, "the name is taken")

        self.assertIn("Ward", self.good(self.cli.run("data", "list")).out)
        self.assertIn("2,000", self.good(self.cli.run("data", "show", "ward")).out)
        self.assertEqual(len(self.good(self.cli.run("data", "preview", "Ward", "-o", "csv", "--limit", "5")).out.split()), 6)
        self.assertIn("stay", self.good(self.cli.run("data", "profile", "Ward", "--target", "stay")).out)
        self.good(self.cli.run("data", "shards", "Ward"))
        self.good(self.cli.run("data", "formats"))
        saved = os.path.join(self.folder, "saved.csv")
        self.good(self.cli.run("data", "download", "Ward", "--out", saved))
        lines = pathlib.Path(saved).read_text(encoding="utf-8").splitlines()
        self.assertEqual(lines[0].replace('"', ""), "patient,age,ward,stay")
        self.assertEqual(len(lines), 2001)
        self.assertEqual(self.cli.run("data", "bad-rows", "Ward").code, 3, "there are none")

        changed = self.good(self.cli.run("data", "schema", "Ward", "--set", "age=integer", "--rename", "stay=days", "--json"))
        self.assertEqual(changed.json["version"], 2)
        self.assertIn("days", [c["name"] for c in changed.json["schema"]["columns"]])
        self.assertNotIn("days", self.good(self.cli.run("data", "schema", "Ward", "--version", "1")).out)

        self.good(self.cli.run("data", "delete", "Ward"))
        self.assertEqual(self.cli.run("data", "preview", "Ward").code, 3)
        self.good(self.cli.run("data", "restore", "Ward"))
        self.good(self.cli.run("data", "preview", "Ward"))
        self.good(self.cli.run("data", "delete", "Ward"))
        self.good(self.cli.run("data", "destroy", "Ward", "--yes"))
        self.assertEqual(self.good(self.cli.run("data", "list", "--bin", "--json")).json["items"], [])
        self.assertTrue(self.good(self.cli.run("operations", "list", "--json")).json["items"])

    def test_what_is_no_table_is_said_and_leaves_nothing(self):
        bad = os.path.join(self.folder, "picture.csv")
        pathlib.Path(bad).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(1000))
        done = self.cli.run("data", "upload", bad, "--json")
        self.assertEqual(done.code, 6, done)
        self.assertEqual(json.loads(done.err.splitlines()[-1])["code"], "bad_data")
        self.assertEqual(self.good(self.cli.run("data", "list", "--json")).json["items"], [])

    def test_bad_rows_are_counted_and_kept(self):
        ragged = os.path.join(self.folder, "ragged.csv")
        lines = table(500).splitlines()
        lines.insert(100, "one;two;three;four;five;six")
        pathlib.Path(ragged).write_text("\n".join(lines) + "\n", encoding="utf-8")
        made = self.good(self.cli.run("data", "upload", ragged, "--json")).json
        self.assertEqual((made["name"], made["rows"], made["bad_rows"]), ("ragged", 500, 1))
        out = self.good(self.cli.run("data", "bad-rows", "ragged")).out
        self.assertIn("101", out)
        self.assertIn("five", out)

    def test_the_sample(self):
        made = self.good(self.cli.run("data", "sample", "--json")).json
        self.assertGreater(made["rows"], 100)

    def test_an_upload_killed_here_is_gone_on_with(self):
        process = self.begin("data", "upload", self.large, "--upload-only")
        stood = self.wait_for_the_middle(process)
        process.kill()
        self.finish(process)
        remembered = list(pathlib.Path(self.cli.config_dir, "uploads").iterdir())
        self.assertEqual([f.stat().st_mode & 0o777 for f in remembered], [0o600])
        done = self.cli.run("data", "upload", self.large, "--upload-only", "--resume", "--json")
        self.expect_whole(done, stood["id"])
        self.assertIn("Going on with large.bin", done.err)
        self.assertEqual(list(pathlib.Path(self.cli.config_dir, "uploads").iterdir()), [])

    def test_an_upload_outlives_a_restart_of_the_box(self):
        process = self.begin("data", "upload", self.large, "--upload-only", "--json")
        stood = self.wait_for_the_middle(process)
        self.node.kill()
        process.send_signal(signal.SIGCONT)
        self.node.start()
        done = self.finish(process)
        self.expect_whole(done, stood["id"])
        self.assertIn("trying again", done.err)

    def test_ctrl_c_says_how_to_go_on(self):
        process = self.begin("data", "upload", self.large, "--upload-only")
        stood = self.wait_for_the_middle(process)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        done = self.finish(process)
        self.assertEqual(done.code, 130, done)
        self.assertIn("The same command goes on from there", done.err)
        self.expect_whole(self.cli.run("data", "upload", self.large, "--upload-only", "--json"), stood["id"])

    @unittest.skipUnless(shutil.which("curl"), "curl is not here")
    def test_curl_sends_a_file_in_one_go(self):
        base = ["curl", "-sk", "-H", "Authorization: Bearer " + self.node.token]
        answer = subprocess.run(base + ["-T", self.small, self.node.url + "/api/v1/uploads/"], capture_output=True,
                                timeout=SECONDS_MAX, check=True)
        self.assertEqual(json.loads(answer.stdout)["file_name"], "ward.csv")
        answer = subprocess.run(base + ["-T", self.small, self.node.url + "/api/v1/uploads/ward.csv?dataset=Curled"],
                                capture_output=True, timeout=SECONDS_MAX, check=True)
        operation = json.loads(answer.stdout)["operation"]["id"]
        self.good(self.cli.run("operations", "wait", operation))
        self.assertEqual(self.good(self.cli.run("data", "show", "Curled", "--json")).json["rows"], 2000)
        # A pipe has no length: said before a byte is taken.
        answer = subprocess.run(base + ["-T", "-", self.node.url + "/api/v1/uploads/pipe.csv"], input=b"a\n1\n",
                                capture_output=True, timeout=SECONDS_MAX, check=True)
        self.assertEqual(json.loads(answer.stdout)["code"], "length_required")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)

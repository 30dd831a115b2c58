#!/usr/bin/env python3
"""A data set through its life on a real node: uploaded, understood, read, changed, binned, destroyed; and
what happens when its file is bad, the reader dies, the disk is full, or the daemon is killed."""
import base64
import contextlib
import gzip
import io
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from samovard import Events, Samovard  # noqa: E402

BINARY = None
WAIT_SECONDS_MAX = 240  # a starved machine, not a target


def table(rows, seed=1, planted=()):
    """A CSV with a column of each common type; `planted` texts become cells of the last column."""
    rng = random.Random(seed)
    lines = ["id,age,weight,ward,smoker,seen,remark"]
    for i in range(rows):
        remark = planted[i % len(planted)] if planted else f"note {rng.randrange(1000)}"
        weight = "" if i % 17 == 0 else f"{rng.uniform(40, 120):.1f}"
        lines.append(f"{i},{rng.randrange(17, 95)},{weight},{rng.choice(['north', 'south', 'east'])},"
                     f"{rng.choice(['yes', 'no'])},2024-0{rng.randrange(1, 10)}-1{rng.randrange(10)},{remark}")
    return ("\n".join(lines) + "\n").encode()


class Data:
    """The few calls the tests repeat."""

    def __init__(self, node):
        self.node = node

    def put(self, content, name="table.csv", query="", status=201):
        return self.node.expect(status, "PUT", "/api/v1/uploads/" + name + query, content,
                                headers={"Content-Type": "application/octet-stream"}).json

    def ingest(self, upload_id, name, **more):
        body = {"upload_id": upload_id, "name": name, **more}
        return self.node.expect(202, "POST", "/api/v1/datasets", body).json["id"]

    def wait(self, operation):
        """The ended operation."""
        end = time.monotonic() + WAIT_SECONDS_MAX
        while time.monotonic() < end:
            now = self.node.expect(200, "GET", "/api/v1/operations/" + operation).json
            if now["state"] not in ("queued", "running"):
                return now
            time.sleep(0.05)
        raise AssertionError(f"{now} did not end in time:\n{self.node.log}")

    def make(self, content, name, file_name="table.csv", **more):
        """The data set's id; fails with the operation's error."""
        ended = self.wait(self.ingest(self.put(content, file_name)["id"], name, **more))
        assert ended["state"] == "done", ended
        return ended["dataset_id"]

    def files(self):
        """Everything below data/ but the ballast."""
        root = pathlib.Path(self.node.state_dir) / "data"
        return sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and p.name != "ballast")

    def wait_files(self, wanted):
        """Until these are all there is: the node tidies up after what it tells is over."""
        end = time.monotonic() + WAIT_SECONDS_MAX
        while (found := self.files()) != wanted:
            assert time.monotonic() < end, f"{found} instead of {wanted}"
            time.sleep(0.05)

    def wait_no_uploads(self):
        end = time.monotonic() + WAIT_SECONDS_MAX
        while items := self.node.expect(200, "GET", "/api/v1/uploads").json["items"]:
            assert time.monotonic() < end, items
            time.sleep(0.05)

    def forget_uploads(self):
        for upload in self.node.expect(200, "GET", "/api/v1/uploads").json["items"]:
            self.node.expect(204, "DELETE", "/api/v1/uploads/" + upload["id"], headers={"Tus-Resumable": "1.0.0"})


@contextlib.contextmanager
def new_node(**options):
    with Samovard(BINARY, **options) as node:
        node.set_up()
        node.log_in(transport="bearer")
        yield node


def workers_of(node):
    """The ids of the samovar-worker processes of this node."""
    found = []
    for task in pathlib.Path(f"/proc/{node.process.pid}/task").iterdir():
        try:
            found += [int(pid) for pid in (task / "children").read_text().split()]
        except OSError:
            pass
    return found


class Life(unittest.TestCase):
    def test_from_upload_to_destruction(self):
        with new_node() as node:
            data = Data(node)
            content = table(5000)
            upload = data.put(content, "patients.csv")
            self.assertTrue(upload["complete"])
            found = node.expect(200, "POST", f"/api/v1/uploads/{upload['id']}:inspect", {}).json
            types = {c["name"]: c["type"] for c in found["columns"]}
            self.assertEqual((types["age"], types["weight"], types["ward"], types["seen"]),
                             ("integer", "real", "category", "time"))
            stream = Events(node)
            operation = data.ingest(upload["id"], "Patients", columns=[{"column": "age", "rename": "years"}])
            ended = data.wait(operation)
            self.assertEqual(ended["state"], "done", ended)
            self.assertEqual((ended["rows"], ended["bad_rows"], ended["version"]), (5000, 0, 1))
            told = stream.wait_for("operation.changed")
            self.assertEqual(told[1]["id"], operation)
            stream.close()
            ident = ended["dataset_id"]
            data.wait_no_uploads()
            path = "/api/v1/datasets/" + ident
            self.check_reading(node, path, content)
            self.check_version(node, data, path)
            self.check_bin(node, data, path)

    def check_reading(self, node, path, content):
        dataset = node.expect(200, "GET", path).json
        self.assertEqual((dataset["name"], dataset["rows"], dataset["columns"]), ("Patients", 5000, 7))
        preview = node.expect(200, "GET", path + "/preview").json
        self.assertEqual(preview["columns"][1]["name"], "years")
        self.assertEqual(len(preview["rows"]), 100)
        profile = node.expect(200, "GET", path + "/profile").json
        self.assertEqual(profile["rows"], 5000)
        self.assertNotIn("head", profile)
        lines = node.expect(200, "GET", path + "/download", headers={"Accept": "*/*"}).text.split("\r\n")
        self.assertEqual(lines[0].split(",")[:2], ["id", "years"])
        ids = sorted(int(line.split(",")[0]) for line in lines[1:-1])
        self.assertEqual(ids, list(range(5000)))
        actions = [e["action"] for e in node.expect(200, "GET", "/api/v1/audit?limit=50").json["items"]]
        for action in ("dataset.create", "dataset.preview", "dataset.download"):
            self.assertIn(action, actions)

    def check_version(self, node, data, path):
        change = {"columns": [{"column": "years", "type": "real"}, {"column": "remark", "sensitive": True}]}
        operation = node.expect(202, "PUT", path + "/schema", change).json
        again = node.request("PUT", path + "/schema", change)
        if again.status == 202:  # the first was over before the second came, which changes nothing more
            first = node.expect(200, "GET", "/api/v1/operations/" + operation["id"]).json
            self.assertEqual(first["state"], "done", "a second change was accepted while the first one ran")
            self.assertEqual(data.wait(again.json["id"])["version"], 3)
        else:
            self.assertEqual(again.status, 409, again)
        ended = data.wait(operation["id"])
        self.assertEqual((ended["state"], ended["version"]), ("done", 2), ended)
        schema = node.expect(200, "GET", path + "/schema").json
        columns = {c["name"]: c for c in schema["columns"]}
        self.assertEqual(columns["years"]["type"], "real")
        preview = node.expect(200, "GET", path + "/preview").json
        self.assertNotIn("note", preview["rows"][0][6])
        self.assertIn("note", node.expect(200, "GET", path + "/preview?version=1").json["rows"][0][6])

    def check_bin(self, node, data, path):
        self.assertEqual(node.request("POST", path + ":destroy").status, 409)
        node.expect(204, "DELETE", path)
        self.assertEqual(node.request("GET", path + "/preview").status, 409)
        self.assertEqual(node.expect(200, "GET", "/api/v1/datasets").json["items"], [])
        node.expect(200, "POST", path + ":restore")
        node.expect(200, "GET", path + "/preview")
        node.expect(204, "DELETE", path)
        node.expect(204, "POST", path + ":destroy")
        self.assertEqual(node.request("GET", path).status, 404)
        data.wait_files([])
        certificate = node.expect(200, "GET", "/api/v1/audit?action=dataset.destroyed").json["items"]
        self.assertEqual(len(certificate), 1)

    def test_a_restart_keeps_what_was_made_and_what_was_accepted(self):
        with new_node() as node:
            data = Data(node)
            first = data.make(table(300), "First")
            node.stop()
            # The worker waits for its first file while the daemon is killed.
            node.start(extra=["--failpoints", "jobs.ingest.begun=delay:60000"])
            upload = data.put(table(400, seed=2), "second.csv")
            operation = data.ingest(upload["id"], "Second")
            waiting = data.ingest(data.put(table(100, seed=3))["id"], "Third")
            self.assertEqual(node.expect(200, "GET", "/api/v1/operations/" + waiting).json["queue_position"], 1)
            node.kill()
            node.start()
            ended = data.wait(operation)
            self.assertEqual((ended["state"], ended["rows"]), ("done", 400), ended)
            self.assertEqual(data.wait(waiting)["state"], "done")
            self.assertEqual(node.expect(200, "GET", "/api/v1/datasets/" + first).json["rows"], 300)
            self.assertEqual(len(node.expect(200, "GET", "/api/v1/datasets").json["items"]), 3)
            data.wait_files([f for f in data.files() if not f.startswith(("incoming", "uploads"))])

    def test_cancelled_work_leaves_the_upload(self):
        with new_node(arguments=["--failpoints", "jobs.ingest.begun=delay:15000@1"]) as node:
            data = Data(node)
            upload = data.put(table(200))
            operation = data.ingest(upload["id"], "Never")
            node.expect(200, "POST", f"/api/v1/operations/{operation}:cancel")
            self.assertEqual(data.wait(operation)["state"], "cancelled")
            data.wait_files(["uploads/" + upload["id"]])
            self.assertEqual(data.wait(data.ingest(upload["id"], "Now"))["state"], "done")

    def test_sample(self):
        with new_node() as node:
            data = Data(node)
            ended = data.wait(node.expect(202, "POST", "/api/v1/datasets:sample").json["id"])
            self.assertEqual(ended["state"], "done", ended)
            self.assertGreater(ended["rows"], 1000)
            again = data.wait(node.expect(202, "POST", "/api/v1/datasets:sample").json["id"])
            self.assertEqual(again["state"], "done", again)

    def test_damage_is_found_and_not_served(self):
        with new_node() as node:
            data = Data(node)
            ident = data.make(table(3000), "Fragile")
            shard = next(f for f in data.files() if f.endswith("/0"))
            file = pathlib.Path(node.state_dir) / "data" / shard
            content = bytearray(file.read_bytes())
            content[len(content) // 2] ^= 1
            file.write_bytes(content)
            ended = data.wait(node.expect(202, "POST", "/api/v1/datasets:scrub").json["id"])
            self.assertEqual(ended["state"], "failed")
            self.assertIn("damaged", ended["error"])
            dataset = node.expect(200, "GET", "/api/v1/datasets/" + ident).json
            self.assertTrue(dataset["damaged"])
            self.assertNotEqual(node.request("GET", f"/api/v1/datasets/{ident}/download").status, 200)


def png():
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(b"\0" * 200)) + chunk(b"IEND", b""))


def zip_bomb():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as bomb:
        with bomb.open("bomb.csv", "w") as member:
            member.write(b"a,b\n")
            for _ in range(300):
                member.write(b"0,1\n" * (1 << 18))
    return out.getvalue()


BAD = {
    "truncated.csv.gz": lambda: gzip.compress(table(20000))[:-2000],
    "bomb.zip": zip_bomb,
    "wide.csv": lambda: (",".join(f"c{i}" for i in range(1_000_000)) + "\n" + "1," * 999_999 + "1\n").encode(),
    "picture.csv": png,
    "empty.csv": lambda: b"",
    "noise.csv": lambda: random.Random(5).randbytes(200_000),
    "ragged.csv": lambda: b"a,b,c\n" + b"".join(b"1,2\n1,2,3,4\n" for _ in range(5000)),
    "broken.zip": lambda: b"PK\x03\x04" + b"\x00" * 100,
}


def later_clock(folder, days):
    """The environment of a daemon whose wall clock is so many days ahead."""
    library = os.path.join(folder, f"later-{days}.so")
    source = pathlib.Path(__file__).resolve().parents[1] / "support" / "old_clock.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", f"-DLATER_SECONDS={days * 86400}", "-o", library, str(source), "-ldl"],
                   check=True)
    return dict(os.environ, LD_PRELOAD=library)


class Bin(unittest.TestCase):
    @unittest.skipUnless(shutil.which("cc"), "there is no C compiler to make the later clock with")
    def test_after_thirty_days_the_key_is_destroyed(self):
        with tempfile.TemporaryDirectory(prefix="samovard-clock-") as folder, new_node() as node:
            data = Data(node)
            old = data.make(table(200), "Old")
            young = data.make(table(200, seed=2), "Young")
            node.expect(204, "DELETE", "/api/v1/datasets/" + old)

            def come_back(days):
                node.stop()
                node.environment = later_clock(folder, days)
                node.start()
                node.wait_ready()
                node.log_in(transport="bearer")

            come_back(29)
            self.assertIn("binned_at", node.expect(200, "GET", "/api/v1/datasets/" + old).json)
            node.expect(204, "DELETE", "/api/v1/datasets/" + young)

            come_back(31)
            # The first sweep comes a minute after the start.
            end = time.monotonic() + 60 + WAIT_SECONDS_MAX
            while node.request("GET", "/api/v1/datasets/" + old).status != 404:
                self.assertLess(time.monotonic(), end, node.log)
                time.sleep(1)
            # Its key goes first, its files after it.
            data.wait_files([name for name in data.files() if old not in name])
            self.assertNotEqual([name for name in data.files() if young in name], [])

            def certificates(action):
                return node.expect(200, "GET", "/api/v1/audit?action=" + action).json["items"]

            whole = certificates("dataset.destroyed")
            self.assertEqual([(c["object"], c["actor"]) for c in whole], [(old, "system")])
            self.assertEqual([c["object"] for c in certificates("dataset.version_destroyed")], [old])
            # Two days in the bin are not thirty.
            node.expect(200, "POST", f"/api/v1/datasets/{young}:restore")
            self.assertEqual(node.expect(200, "GET", f"/api/v1/datasets/{young}/preview").json["columns"][0]["name"], "id")


class BadInput(unittest.TestCase):
    def test_each_gets_a_sentence_and_the_store_stays_as_it_was(self):
        with new_node() as node:
            data = Data(node)
            good = data.make(table(100), "Good")
            before = data.files()
            for name, make in BAD.items():
                with self.subTest(name):
                    upload = data.put(make(), name)
                    ended = data.wait(data.ingest(upload["id"], "Bad " + name))
                    print(f"  {name}: {ended['state']}: {ended['error']}")
                    self.assertEqual(ended["state"], "failed", ended)
                    self.assertRegex(ended["error"], r"\w+ \w+ \w+")
                    self.assertNotRegex(ended["error"], r"(?i)errno|exception|std::|0x|assert")
                    data.forget_uploads()
                    data.wait_files(before)
            self.assertEqual(len(node.expect(200, "GET", "/api/v1/datasets").json["items"]), 1)
            node.expect(200, "GET", f"/api/v1/datasets/{good}/preview")

    def test_a_name_is_data_and_never_a_path(self):
        with new_node() as node:
            data = Data(node)
            content = table(10)
            name = base64.b64encode(b"../../etc/passwd").decode()
            made = node.expect(201, "POST", "/api/v1/uploads", headers={
                "Tus-Resumable": "1.0.0", "Upload-Length": str(len(content)), "Upload-Metadata": "filename " + name})
            place = made.headers["Location"]
            node.expect(204, "PATCH", place[place.index("/api/"):], content, headers={
                "Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"})
            upload = node.expect(200, "GET", "/api/v1/uploads").json["items"][0]
            self.assertEqual(upload["file_name"], "../../etc/passwd")
            self.assertEqual(data.files(), ["uploads/" + upload["id"]])
            self.assertEqual(data.wait(data.ingest(upload["id"], "../up"))["state"], "done")

    def test_a_killed_worker_is_a_sentence(self):
        with new_node(arguments=["--failpoints", "jobs.ingest.begun=delay:15000@1"]) as node:
            data = Data(node)
            upload = data.put(table(200))
            before = data.files()
            operation = data.ingest(upload["id"], "Killed")
            end = time.monotonic() + WAIT_SECONDS_MAX
            while not (workers := workers_of(node)):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.02)
            for pid in workers:
                os.kill(pid, signal.SIGKILL)
            ended = data.wait(operation)
            self.assertEqual(ended["state"], "failed")
            self.assertIn("killed", ended["error"])
            data.wait_files(before)
            self.assertEqual(node.get("/readyz").status, 200)

    def test_a_full_disk_is_a_sentence(self):
        folder = tempfile.mkdtemp(prefix="samovar-full-")
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=224m", "none", folder], capture_output=True,
                                 check=False).returncode == 0
        if not mounted:
            os.rmdir(folder)
            self.skipTest("needs the right to mount a tmpfs")
        try:
            with new_node(state_dir=folder + "/state") as node:
                data = Data(node)
                ident = data.make(table(100), "Before")
                before = data.files()
                tus = {"Tus-Resumable": "1.0.0", "Upload-Length": str(1 << 30)}
                refused = node.request("POST", "/api/v1/uploads", headers=tus)
                print("  full disk:", refused.json["detail"])
                self.assertEqual((refused.status, refused.code), (507, "disk_full"))
                # It fits as an upload, but not a second time as a data set.
                upload = data.put(b"a,b\n" + b"1234567,7654321\n" * 3_500_000, "large.csv")
                ended = data.wait(data.ingest(upload["id"], "Large"))
                print("  full disk:", ended["error"])
                self.assertEqual(ended["state"], "failed")
                self.assertRegex(ended["error"], r"(?i)space|full|room")
                data.forget_uploads()
                data.wait_files(before)
                node.expect(200, "GET", f"/api/v1/datasets/{ident}/preview")
                data.make(table(50), "After")
        finally:
            subprocess.run(["umount", folder], check=False)
            shutil.rmtree(folder, ignore_errors=True)


class Secrecy(unittest.TestCase):
    PLANTED = [f"Zebra{i:03d}Quartz{i * 7919 % 1000:03d}" for i in range(100)]

    def hits(self, blob):
        return sum(1 for text in self.PLANTED if text.encode() in blob)

    def traced(self, trace, command):
        return ["strace", "-f", "-qq", "-e", "trace=write,pwrite64,writev,pwritev,pwritev2,sendfile,copy_file_range",
                "-s", "2000000", "-o", trace] + command

    def test_no_planted_value_is_ever_written(self):
        if shutil.which("strace") is None:
            self.skipTest("needs strace")
        content = table(2000, planted=self.PLANTED)
        content += b"1,2,3\n" + f"{self.PLANTED[0]},too,few\n".encode()  # bad rows are kept as well
        with tempfile.TemporaryDirectory() as folder:
            # The harness finds what is written in the clear.
            plain = pathlib.Path(folder, "plain.csv")
            plain.write_bytes(content)
            trace = os.path.join(folder, "control")
            subprocess.run(self.traced(trace, ["dd", f"if={plain}", f"of={folder}/copy", "bs=1M", "status=none"]),
                           check=True)
            self.assertEqual(self.hits(pathlib.Path(trace).read_bytes()), 100)

            trace = os.path.join(folder, "trace")
            node = Samovard(BINARY, wrapper=self.traced(trace, []))
            try:
                node.start()
                node.set_up()
                node.log_in(transport="bearer")
                data = Data(node)
                upload = data.put(content)
                node.expect(200, "POST", f"/api/v1/uploads/{upload['id']}:inspect", {})
                ended = data.wait(data.ingest(upload["id"], "Planted"))
                self.assertEqual((ended["state"], ended["rows"]), ("done", 2000), ended)
                preview = node.expect(200, "GET", f"/api/v1/datasets/{ended['dataset_id']}/preview").text
                self.assertGreater(self.hits(preview.encode()), 50)
                found = [p for p in pathlib.Path(node.state_dir).rglob("*") if p.is_file() and
                         self.hits(p.read_bytes()) > 0]
                self.assertEqual(found, [])
                written = pathlib.Path(trace).read_bytes()
                self.assertGreater(len(written), len(content))
                self.assertEqual(self.hits(written), 0)
                print(f"  {len(written)} bytes of traced writes, 0 of 100 planted values")
            finally:
                node.stop()
                node.clean()


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)

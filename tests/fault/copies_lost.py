#!/usr/bin/env python3
"""Takes any one of three nodes away, for good and without a word, during an upload, an ingest and a scrub. Two copies of
everything.

    copies_lost.py SAMOVARD [--rounds N] [--rows N] [--seed S]

While the node is away: what was acknowledged is whole on the two others, an ingest on one of them ends, and the two have
every file again by themselves; how long that took and how many bytes were moved is told beside the least that must be (the
files that were on the lost node). Then it comes back: its unfinished upload goes on at the byte that was acknowledged, its
ingest ends, and it repairs by difference. At the end an upload's node is removed: who asks for the upload or for what was
to be made of it is told why and what to do, and so is who stands before the removed node.
"""
import argparse
import hashlib
import http.client
import pathlib
import random
import re
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cluster import Cluster, until  # noqa: E402

GRACE = ["--repair-grace", "1"]  # seconds a lost node still counts; a minute where nobody waits
TUS = {"Tus-Resumable": "1.0.0"}
KEPT = ("versions", "sources", "models")


def table(rows, seed):
    rng = random.Random(seed)
    lines = ["id,number,word"] + [f"{i},{rng.random():.9f},w{rng.randrange(10**6)}" for i in range(rows)]
    return ("\n".join(lines) + "\n").encode()


def files_of(node):
    """What lies in its folder: name → bytes."""
    data = pathlib.Path(node.state_dir) / "data"
    found = {}
    for folder in KEPT:
        for path in (data / folder).rglob("*"):
            if path.is_file():
                found[str(path.relative_to(data))] = path.stat().st_size
    return found


def fetched(nodes):
    text = {n: n.expect(200, "GET", "/metrics", timeout=20).text for n in nodes}
    return sum(float(m[1]) for t in text.values() if (m := re.search(r"^samovar_blob_fetched_bytes_total(?:\{[^}]*\})? (\S+)", t, re.M)))


def begin_ingest(node, name, content):
    made = node.expect(201, "PUT", "/api/v1/uploads/t.csv", content, headers={"Content-Type": "application/octet-stream"}).json
    return node.expect(202, "POST", "/api/v1/datasets", {"upload_id": made["id"], "name": name}).json["id"]


def ended(node, operation):
    now = node.asks("/operations/" + operation)
    return now if now["state"] not in ("queued", "running") else None


class Story:
    def __init__(self, cluster, options):
        self.cluster, self.options = cluster, options
        self.rng = random.Random(options.seed)
        self.kept = {}  # data set → rows: acknowledged
        self.figures = []

    def keep(self, node, operation, what):
        done = until(f"{what}: the ingest ends", lambda: ended(node, operation), 180)
        assert done["state"] == "done", f"{what}: {done}"
        self.kept[done["dataset_id"]] = self.options.rows

    def check(self, nodes, what):
        for node in nodes:
            for dataset, rows in self.kept.items():
                def read(n=node, d=dataset):
                    text = n.expect(200, "GET", f"/api/v1/datasets/{d}/download", timeout=60).text
                    return sorted(int(line.split(",")[0]) for line in text.split("\r\n")[1:] if line)
                ids = until(f"{what}: {node.name} reads", read)
                assert ids == list(range(rows)), f"{what}: {len(ids)} of {rows} rows of {dataset} on {node.name}"

    def settle(self, what):
        """All three are up and every file is there twice; a third copy may go later."""
        until(f"{what}: all are up", lambda: all(n["state"] == "up" for n in self.cluster.nodes[0].items("/nodes")), 120)

        def copies():
            count = {}
            for node in self.cluster.nodes:
                for name in files_of(node):
                    count[name] = count.get(name, 0) + 1
            return count and all(c >= 2 for c in count.values())
        until(f"{what}: two copies of every file", copies, 180, every=0.3)

    def lose(self, phase, victim, number):
        what = f"{phase}, {victim.name} lost"
        reader = self.cluster.nodes[number % 3]
        rest = [n for n in self.cluster.nodes if n is not victim]
        led = self.cluster.leader() is victim
        least, before = self.missing_without(rest), fetched(rest)
        content = table(self.options.rows, number)
        operation = upload = None
        if phase == "upload":
            upload = Upload(reader, content, self.rng.randrange(2, 8))
            upload.start()
            until("bytes are acknowledged", lambda: upload.offset > 0)
        elif phase == "ingest":
            operation = begin_ingest(reader, what + str(number), content)
            time.sleep(self.rng.random() * 0.8)
        else:
            operation = reader.expect(202, "POST", "/api/v1/datasets:scrub").json["id"]
            time.sleep(self.rng.random() * 0.2)
        victim.kill()
        began = time.monotonic()
        self.cluster.wait_leader(among=rest)
        if upload and reader is not victim:
            upload.finish()
        if operation and reader is not victim and phase == "ingest":
            self.keep(reader, operation, what)
        done = self.kept_files(rest, what)
        seconds = time.monotonic() - began
        self.check(rest, what)
        # What an ingest on the way put on the two is spread, not repaired.
        new = sum(size for name, size in done.items() if name not in self.known) if phase == "ingest" else 0
        moved = fetched(rest) - before - new
        self.figures.append((what + (" (led)" if led else ""), seconds, moved, least))
        victim.start()
        victim.wait_ready()
        self.cluster.wait_leader()
        if upload and reader is victim:
            upload.resume()
        if operation and reader is victim and phase == "ingest":
            self.keep(reader, operation, what)
        if operation and phase == "scrub":
            until(f"{what}: the scrub ends", lambda: ended(reader, operation), 180)
        self.settle(what)
        self.check(self.cluster.nodes, what)
        self.known = {name for node in self.cluster.nodes for name in files_of(node)}
        name, took, moved, least = self.figures[-1]
        print(f"  {name}: whole again after {took:.1f} s, {moved / 1e6:.2f} MB moved, at least {least / 1e6:.2f}", flush=True)

    @staticmethod
    def missing_without(rest):
        """Bytes that one of the two others has and the other lacks."""
        one, other = (files_of(n) for n in rest)
        return sum(one[name] for name in one.keys() - other.keys()) + sum(other[name] for name in other.keys() - one.keys())

    def kept_files(self, rest, what):
        def equal():
            one, other = (files_of(n) for n in rest)
            return one if one == other and self.known <= set(one) else None
        return until(f"{what}: the two others have everything", equal, 180, every=0.2)

    def tell(self):
        first = self.cluster.nodes[0]
        for number in range(3):
            self.keep(first, begin_ingest(first, f"Before {number}", table(self.options.rows, 100 + number)), "before")
        self.settle("before")
        self.known = {name for node in self.cluster.nodes for name in files_of(node)}
        for number in range(self.options.rounds):
            for phase in ("upload", "ingest", "scrub"):
                order = list(self.cluster.nodes)
                self.rng.shuffle(order)
                victims = order if self.options.rounds > 1 else order[:1 + (phase == "ingest")]
                for victim in victims:
                    self.lose(phase, victim, self.rng.randrange(1 << 20))
        self.remove_an_uploads_node()

    def remove_an_uploads_node(self):
        gone = next(n for n in self.cluster.nodes if n is not self.cluster.leader())
        stay = next(n for n in self.cluster.nodes if n is not gone)
        unfinished = Upload(gone, table(self.options.rows, 7), 3)
        unfinished.create()
        waiting = begin_ingest(gone, "Never", table(200_000, 8))
        until("the others know of it", lambda: stay.asks("/operations/" + waiting))
        gone.kill()
        elsewhere = stay.request("HEAD", unfinished.path, headers=TUS)
        asked = stay.get("/api/v1/uploads/" + unfinished.path.rsplit("/", 1)[1])
        assert (elsewhere.status, asked.status) == (404, 404), (elsewhere, asked)
        assert "upload the file again" in asked.json["detail"], asked
        if not ended(stay, waiting):
            stay.expect(204, "DELETE", f"/api/v1/nodes/{gone.id}?force=1", timeout=60)
            done = until("what it had to do ends", lambda: ended(stay, waiting))
            assert done["state"] == "failed" and "was removed" in done["error"], done
            print(f"  the node of an upload is removed: \"{done['error']}\"")
            gone.start()
            until("its console says that it is out", lambda: "do not accept this one" in gone.log)
            gone.stop()
        self.check([n for n in self.cluster.nodes if n.alive()], "after the removal")


class Upload:
    """A file in pieces, as browsers and the command line send it."""

    def __init__(self, node, content, pieces):
        self.node, self.content, self.step = node, content, len(content) // pieces + 1
        self.offset, self.path, self.thread = 0, None, None

    def create(self):
        made = self.node.request("POST", "/api/v1/uploads", None, headers={**TUS, "Upload-Length": str(len(self.content))})
        assert made.status == 201, made
        self.path = made.headers["Location"]

    def start(self):
        self.create()
        self.thread = threading.Thread(target=self._send, daemon=True)
        self.thread.start()

    def _send(self):
        try:
            while self.offset < len(self.content):
                self.piece()
                time.sleep(0.05)
        except (OSError, http.client.HTTPException):
            pass  # the node is dead

    def piece(self):
        part = self.content[self.offset:self.offset + self.step]
        sent = self.node.request("PATCH", self.path, part, headers={**TUS, "Upload-Offset": str(self.offset),
                                                                   "Content-Type": "application/offset+octet-stream"})
        assert sent.status == 204, sent
        self.offset = int(sent.headers["Upload-Offset"])

    def finish(self):
        self.thread.join(120)
        assert self.offset == len(self.content), f"{self.offset} of {len(self.content)} bytes"
        self.compare()

    def resume(self):
        """Nothing that was acknowledged is asked for again."""
        self.thread.join(120)
        state = self.node.request("HEAD", self.path, headers=TUS)
        assert state.status == 200, state
        there = int(state.headers["Upload-Offset"])
        assert there >= self.offset, f"{self.offset} bytes were acknowledged, {there} are there"
        self.offset = there
        while self.offset < len(self.content):
            self.piece()
        self.compare()

    def compare(self):
        state = self.node.request("HEAD", self.path, headers=TUS)
        found = until("its hash", lambda: self.node.request("HEAD", self.path, headers=TUS).headers.get("Samovar-SHA256"))
        assert found == hashlib.sha256(self.content).hexdigest(), state
        self.node.expect(204, "DELETE", self.path, headers=TUS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samovard")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    print("seed", options.seed)
    with Cluster(options.samovard, nodes=3, arguments=GRACE) as cluster:
        cluster.form()
        story = Story(cluster, options)
        story.tell()
        times = sorted(f[1] for f in story.figures)
        moved, least = sum(f[2] for f in story.figures), sum(f[3] for f in story.figures)
        print(f"{len(times)} losses, nothing acknowledged lost; whole again: median {times[len(times) // 2]:.1f} s, worst {times[-1]:.1f} s "
              f"(a second of grace with it); {moved / 1e6:.1f} MB moved, at least {least / 1e6:.1f} ({moved / max(least, 1):.2f}×)")
    return 0


if __name__ == "__main__":
    sys.exit(main())

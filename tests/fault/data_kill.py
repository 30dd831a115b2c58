#!/usr/bin/env python3
"""Kills a real node at every failpoint between the first byte of an upload and the manifest of its data set.

    data_kill.py SAMOVARD [--rounds N] [--seed S] [--only PATTERN]

After each kill the node comes up by itself. What was acknowledged is there: a complete upload with its hash, an
accepted ingest that ends, a data set with all its rows. What was not is absent, and nothing is left on the disk
that nobody names. The positive control takes a shard away behind the node's back, and the check must notice.
"""
import hashlib
import http.client
import pathlib
import random
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from kills import ask, kills_at, main  # noqa: E402
from samovard import Samovard  # noqa: E402

PATH = re.compile(r"^(jobs|store|security\.sealed_stream)\.")
# Reached only at other times: when a disk fills, when a data set is destroyed, when an upload is resumed; those of
# jobs and models by train_kill.py.
ELSEWHERE = re.compile(r"ballast|destroy|collect|store\.remove|staging\.open|return|^jobs\.(train|score|model)\.")
ROWS = 3000
WAIT_SECONDS_MAX = 240
TIDY_SECONDS_MAX = 30  # files go after what names them


def table(seed):
    rng = random.Random(seed)
    lines = ["id,number,word"] + [f"{i},{rng.random():.6f},w{rng.randrange(50)}" for i in range(ROWS)]
    return ("\n".join(lines) + "\n").encode()


class Story:
    """One upload and its data set, and what the node acknowledged of them."""

    def __init__(self, node, seed):
        self.node, self.name, self.content = node, f"Set {seed}", table(seed)
        self.upload = self.operation = None

    def tell(self):
        """Until the data set is there, or the node is dead."""
        answer = ask(self.node, "PUT", "/api/v1/uploads/table.csv", self.content,
                          headers={"Content-Type": "application/octet-stream"})
        assert answer.status == 201, answer
        self.upload = answer.json
        answer = ask(self.node, "POST", "/api/v1/datasets", {"upload_id": self.upload["id"], "name": self.name})
        assert answer.status == 202, answer
        self.operation = answer.json["id"]
        return self.wait()

    def wait(self):
        end = time.monotonic() + WAIT_SECONDS_MAX
        while time.monotonic() < end:
            now = ask(self.node, "GET", "/api/v1/operations/" + self.operation).json
            if now["state"] not in ("queued", "running"):
                return now
            time.sleep(0.02)
        raise AssertionError(f"{now} did not end:\n{self.node.log}")

    def check(self, what):
        """After a restart."""
        uploads = self.node.expect(200, "GET", "/api/v1/uploads").json["items"]
        datasets = self.node.expect(200, "GET", "/api/v1/datasets").json["items"]
        if self.operation:
            ended = self.wait()
            # A reader that was killed is a failed ingest, whose upload is still there.
            if ended["state"] == "failed":
                uploads = self.node.expect(200, "GET", "/api/v1/uploads").json["items"]
                assert [u["id"] for u in uploads] == [self.upload["id"]], f"{what}: the upload is gone: {ended}"
            else:
                assert ended["state"] == "done", f"{what}: {ended}"
                self.check_whole(ended["dataset_id"], what)
            return
        if datasets:  # accepted, but the answer was lost
            self.check_whole(datasets[0]["id"], what)
        elif self.upload:
            assert [u["id"] for u in uploads] == [self.upload["id"]] or self.pending(), f"{what}: {uploads}"
            for upload in uploads:
                assert upload["complete"], f"{what}: {upload}"
                assert upload["sha256"] == hashlib.sha256(self.content).hexdigest(), f"{what}: {upload}"

    def pending(self):
        items = self.node.expect(200, "GET", "/api/v1/operations").json["items"]
        return any(item["state"] in ("queued", "running") for item in items)

    def check_whole(self, ident, what):
        answer = self.node.expect(200, "GET", f"/api/v1/datasets/{ident}/download")
        lines = answer.text.split("\r\n")
        ids = sorted(int(line.split(",")[0]) for line in lines[1:] if line)
        assert ids == list(range(ROWS)), f"{what}: {len(ids)} rows"
        self.node.expect(200, "GET", f"/api/v1/datasets/{ident}/profile")

    def clean(self, what):
        """Removes all of it again: then nothing may be left."""
        end = time.monotonic() + WAIT_SECONDS_MAX
        while self.pending():
            assert time.monotonic() < end, what
            time.sleep(0.02)
        for dataset in self.node.expect(200, "GET", "/api/v1/datasets").json["items"]:
            self.node.expect(204, "DELETE", "/api/v1/datasets/" + dataset["id"])
            self.node.expect(204, "POST", f"/api/v1/datasets/{dataset['id']}:destroy")
        for upload in self.node.expect(200, "GET", "/api/v1/uploads").json["items"]:
            self.node.expect(204, "DELETE", "/api/v1/uploads/" + upload["id"], headers={"Tus-Resumable": "1.0.0"})
        root = pathlib.Path(self.node.state_dir) / "data"
        end = time.monotonic() + TIDY_SECONDS_MAX
        while left := [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and p.name != "ballast"]:
            assert time.monotonic() < end, f"{what}: left behind: {left}"
            time.sleep(0.05)


def run(binary, points, options):
    with Samovard(binary) as node:
        node.set_up()
        node.stop()
        return kills_at(node, points, lambda number, one: Story(node, number * 100 + one), options, hits_max=3)


def positive_control(binary):
    """A shard that is gone must be noticed by the same check."""
    with Samovard(binary) as node:
        node.set_up()
        node.log_in(transport="bearer")
        story = Story(node, 1)
        ended = story.tell()
        assert ended["state"] == "done", ended
        story.check("control")
        shard = pathlib.Path(node.state_dir) / "data" / "versions" / f"{ended['dataset_id']}.1" / "0"
        shard.unlink()
        try:
            story.check("control")
        except (AssertionError, OSError, http.client.HTTPException):
            return True
        return False


if __name__ == "__main__":
    sys.exit(main(__doc__, lambda point: PATH.search(point) and not ELSEWHERE.search(point), run, positive_control))

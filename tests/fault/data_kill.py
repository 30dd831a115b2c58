#!/usr/bin/env python3
"""Kills a real node at every failpoint between the first byte of an upload and the manifest of its data set.

    data_kill.py SAMOVARD [--rounds N] [--seed S] [--only PATTERN]

After each kill the node comes up by itself. What was acknowledged is there: a complete upload with its hash, an
accepted ingest that ends, a data set with all its rows. What was not is absent, and nothing is left on the disk
that nobody names. The positive control takes a shard away behind the node's back, and the check must notice.
"""
import argparse
import hashlib
import http.client
import pathlib
import random
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from samovard import Samovard, StartFailed  # noqa: E402

PATH = re.compile(r"^(jobs|store|security\.sealed_stream)\.")
# Reached only at other times: when a disk fills, when a data set is destroyed, when an upload is resumed; those of
# jobs and models by train_kill.py.
ELSEWHERE = re.compile(r"ballast|destroy|collect|store\.remove|staging\.open|return|^jobs\.(train|score|model)\.")
ROWS = 3000
WAIT_SECONDS_MAX = 120


def table(seed):
    rng = random.Random(seed)
    lines = ["id,number,word"] + [f"{i},{rng.random():.6f},w{rng.randrange(50)}" for i in range(ROWS)]
    return ("\n".join(lines) + "\n").encode()


class Dead(Exception):
    pass


class Story:
    """One upload and its data set, and what the node acknowledged of them."""

    def __init__(self, node, seed):
        self.node, self.name, self.content = node, f"Set {seed}", table(seed)
        self.upload = self.operation = None

    def ask(self, method, path, body=None, **more):
        try:
            return self.node.request(method, path, body, timeout=60, **more)
        except (OSError, http.client.HTTPException) as error:
            raise Dead(str(error)) from None

    def tell(self):
        """Until the data set is there, or the node is dead."""
        answer = self.ask("PUT", "/api/v1/uploads/table.csv", self.content,
                          headers={"Content-Type": "application/octet-stream"})
        assert answer.status == 201, answer
        self.upload = answer.json
        answer = self.ask("POST", "/api/v1/datasets", {"upload_id": self.upload["id"], "name": self.name})
        assert answer.status == 202, answer
        self.operation = answer.json["id"]
        return self.wait()

    def wait(self):
        end = time.monotonic() + WAIT_SECONDS_MAX
        while time.monotonic() < end:
            now = self.ask("GET", "/api/v1/operations/" + self.operation).json
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
        left = [str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and p.name != "ballast"]
        assert not left, f"{what}: left behind: {left}"


def reach(node, story, point, hit):
    """Tells the story until the armed point kills the node, or its worker. False when it was not reached."""
    try:
        node.start(extra=["--failpoints", f"{point}=crash@{hit}"])
        node.log_in(transport="bearer")
        ended = story.tell()
        return ended["state"] == "failed"  # the worker died, the daemon told of it
    except (Dead, StartFailed, OSError, http.client.HTTPException):
        node.wait_dead()
        assert node.process.returncode == -9, f"{point}: ended with {node.process.returncode}\n{node.log}"
        return True


def kills_at(binary, points, rounds, rng, only):
    kills, unreached = 0, []
    with Samovard(binary) as node:
        node.set_up()
        node.stop()
        for number, point in enumerate(points):
            if not re.search(only, point):
                continue
            reached = 0
            for one in range(rounds):
                hit = 1 if one == 0 else rng.randint(1, 3)
                what = f"{point}@{hit}"
                story = Story(node, number * 100 + one)
                killed = reach(node, story, point, hit)
                if node.alive():
                    node.kill()
                node.start()
                assert node.phase == "ready", f"{what}: came up as {node.phase}\n{node.log}"
                node.log_in(transport="bearer")
                story.check(what)
                story.clean(what)
                node.stop()
                reached += killed
            kills += reached
            if reached == 0:
                unreached.append(point)
            print(f"  {point}: {reached} kills", flush=True)
    return kills, unreached


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samovard")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--only", default=".", help="points that match this pattern")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    out = subprocess.run([options.samovard, "--list-failpoints"], capture_output=True, text=True, check=True, timeout=60)
    points = [p for p in out.stdout.split() if PATH.search(p) and not ELSEWHERE.search(p)]
    if not points:
        print("this build has no failpoints (SAMOVAR_FAILPOINTS=OFF): nothing to test here")
        return 77
    kills, unreached = kills_at(options.samovard, points, options.rounds, random.Random(options.seed), options.only)
    caught = positive_control(options.samovard)
    print(f"{kills} kills at {len(points) - len(unreached)} points, nothing lost, nothing left; "
          f"planted damage {'caught' if caught else 'NOT CAUGHT'}")
    if unreached:
        print("never reached:", " ".join(unreached))
    return 0 if caught and not unreached else 1


if __name__ == "__main__":
    sys.exit(main())

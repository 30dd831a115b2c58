#!/usr/bin/env python3
"""Kills a real node, or its worker, at every failpoint between the start of a training and its model.

    train_kill.py SAMOVARD [--rounds N] [--seed S] [--only PATTERN]

After each kill the node comes up by itself and the job goes on, from a checkpoint no older than the last one the node
acknowledged, to the same model to the last bit. Afterwards nothing is left on the disk that nobody names. The positive
control takes the committed checkpoint away behind the node's back, and the check must notice.
"""
import math
import pathlib
import random
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from kills import ask, kills_at, main, reach  # noqa: E402
from samovard import Samovard  # noqa: E402

PATH = re.compile(r"^(jobs\.train|security\.sealed_stream|store\.descriptor)\.")
WAIT_SECONDS_MAX = 300
TIDY_SECONDS_MAX = 30  # files go after what names them
ARGUMENTS = ["--checkpoint-steps", "40"]
# Fifty updates and more, a checkpoint after each forty.
PARAMETERS = {"solver": "adagrad", "passes": 60, "early_stop": False, "batch_rows": 256}
ROWS = [{"x": 1.5, "word": "w3"}, {"x": -2, "word": "w1"}, {"word": "other"}]


def table(rows=1500):
    rng = random.Random(7)
    lines = ["x,word,came"]
    for _ in range(rows):
        x, word = rng.gauss(0, 1), rng.randrange(5)
        came = rng.random() < 1 / (1 + math.exp(-(x + (word - 2) / 2)))
        lines.append(f"{x:.5f},w{word},{'yes' if came else 'no'}")
    return ("\n".join(lines) + "\n").encode()


class Story:
    """One training, and what the node acknowledged of it."""

    def __init__(self, node, dataset, name, reference=None):
        self.node, self.dataset, self.name, self.reference = node, dataset, name, reference
        self.job, self.step = None, 0

    def tell(self):
        """Until the job ended, or the node is dead."""
        spec = {"kind": "glm", "name": self.name, "dataset": self.dataset, "target": "came", "parameters": PARAMETERS}
        answer = ask(self.node, "POST", "/api/v1/jobs", spec)
        assert answer.status == 201, answer
        self.job = answer.json["id"]
        return self.wait()

    def wait(self):
        end = time.monotonic() + WAIT_SECONDS_MAX
        while time.monotonic() < end:
            now = ask(self.node, "GET", "/api/v1/jobs/" + self.job).json
            self.step = max(self.step, now["checkpoint_step"])
            if now["state"] not in ("queued", "running"):
                return now
            time.sleep(0.02)  # below the limit of requests a second, also where an answer takes no time
        raise AssertionError(f"{now} did not end:\n{self.node.log}")

    def check(self, what):
        """After a restart: the job goes on to the model it would have made."""
        if self.job is None:
            # The node may have died when it had accepted the job and had not answered yet. Then it goes on with it.
            jobs = self.node.expect(200, "GET", "/api/v1/jobs").json["items"]
            self.job = next((job["id"] for job in jobs if job["name"] == self.name), None)
        if self.job is None:
            return
        acknowledged = self.step
        ended = self.wait()
        if ended["state"] == "failed":  # its worker was killed, and the node told of it
            self.node.expect(200, "POST", f"/api/v1/jobs/{self.job}:retry")
            ended = self.wait()
        assert ended["state"] == "done", f"{what}: {ended}"
        lines = self.node.expect(200, "GET", f"/api/v1/jobs/{self.job}/logs?limit=1000").json["items"]
        text = "\n".join(line["text"] for line in lines)
        assert "anew" not in text, f"{what}: an acknowledged checkpoint was lost\n{text}"
        resumed = [int(step) for step in re.findall(r"Goes on from the checkpoint at step (\d+)", text)]
        assert not resumed or max(resumed) >= acknowledged, f"{what}: {acknowledged} was acknowledged\n{text}"
        assert self.predictions() == self.reference, f"{what}: another model"

    def predictions(self):
        answer = self.node.expect(200, "POST", f"/api/v1/models/{self.name}:predict", {"rows": ROWS}).json
        return [p["probabilities"] for p in answer["predictions"]]

    def clean(self, what):
        """Removes all of it again: then nothing may be left."""
        for model in self.node.expect(200, "GET", "/api/v1/models").json["items"]:
            self.node.expect(204, "DELETE", f"/api/v1/models/{model['name']}/versions/1")
        for job in self.node.expect(200, "GET", "/api/v1/jobs").json["items"]:
            self.node.expect(204, "DELETE", "/api/v1/jobs/" + job["id"])
        root = pathlib.Path(self.node.state_dir) / "data"
        end = time.monotonic() + TIDY_SECONDS_MAX
        while left := [str(p.relative_to(root)) for f in ("jobs", "models") for p in (root / f).rglob("*") if p.is_file()]:
            assert time.monotonic() < end, f"{what}: left behind: {left}"
            time.sleep(0.05)


def begin(node):
    """The data set all stories train on, and the model they all must make."""
    node.set_up()
    node.log_in(transport="bearer")
    upload = node.expect(201, "PUT", "/api/v1/uploads/table.csv", table(),
                         headers={"Content-Type": "application/octet-stream"}).json["id"]
    operation = node.expect(202, "POST", "/api/v1/datasets", {"upload_id": upload, "name": "Rows"}).json["id"]
    end = time.monotonic() + WAIT_SECONDS_MAX
    while (now := node.expect(200, "GET", "/api/v1/operations/" + operation).json)["state"] in ("queued", "running"):
        assert time.monotonic() < end, now
        time.sleep(0.02)
    assert now["state"] == "done", now
    story = Story(node, now["dataset_id"], "reference")
    ended = story.tell()
    assert ended["state"] == "done", ended
    reference = story.predictions()
    story.clean("reference")
    return now["dataset_id"], reference


def run(binary, points, options):
    with Samovard(binary, arguments=ARGUMENTS) as node:
        dataset, reference = begin(node)
        node.stop()
        story_of = lambda number, one: Story(node, dataset, f"m{number}-{one}", reference)  # noqa: E731
        return kills_at(node, points, story_of, options, hits_max=4)


def positive_control(binary):
    """A committed checkpoint that is gone must be noticed by the same check."""
    with Samovard(binary, arguments=ARGUMENTS) as node:
        dataset, reference = begin(node)
        story = Story(node, dataset, "control", reference)
        node.stop()
        assert reach(node, story, "jobs.train.checkpoint.committed", 2), "the control was not reached"
        for path in (pathlib.Path(node.state_dir) / "data" / "jobs").rglob("checkpoint-*"):
            path.unlink()
        node.start()
        node.log_in(transport="bearer")
        try:
            story.check("control")
        except AssertionError:
            return True
        return False


if __name__ == "__main__":
    sys.exit(main(__doc__, PATH.search, run, positive_control))

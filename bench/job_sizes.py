#!/usr/bin/env python3
"""What jobs take on a real node beside what was said before: time against jobs:estimate, and the worker's memory
against its weights.

job_sizes.py PATH-TO-SAMOVARD [ROWS …: 20000 200000 1000000]

Click logs of so many rows are uploaded to a node of its own and trained on one after the other, 39 hashed inputs and 2^20
weights. The first job is guessed; from the second on the estimate leans on those before it. Prints a line of JSON for
each; ends with 1 when a later estimate is off by more than a factor of two, or a worker had more than its weights and
64 MiB resident.
"""
import json
import os
import pathlib
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "bench")]

from large_file import family, make  # noqa: E402
from samovard import Samovard  # noqa: E402

BITS = 20
ROW_BYTES = 240
SPEC = {"kind": "glm", "features": {"categories": "hash", "numbers": "hash", "hash_bits": BITS}}
BEYOND_WEIGHTS_MAX = 64 << 20


class WorkerPeak:
    """The largest resident memory of a samovar-worker below the node, as the kernel keeps it."""

    def __init__(self, root):
        self.root, self.bytes, self.over = root, 0, threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.over.wait(.05):
            for pid in family(self.root):
                try:
                    status = pathlib.Path("/proc", str(pid), "status").read_text()
                except OSError:
                    continue
                fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
                if fields["Name"].strip() == "samovar-worker" and "VmHWM" in fields:
                    self.bytes = max(self.bytes, int(fields["VmHWM"].split()[0]) << 10)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def wait(node, path):
    while True:
        now = node.expect(200, "GET", path).json
        if now["state"] not in ("queued", "running"):
            return now
        time.sleep(.1)


def dataset_of(node, folder, rows):
    path = os.path.join(folder, "clicks.tsv")
    make(path, rows * ROW_BYTES)
    content = pathlib.Path(path).read_bytes()
    upload = node.expect(201, "PUT", "/api/v1/uploads/clicks.tsv", content, timeout=600,
                         headers={"Content-Type": "application/octet-stream"}).json["id"]
    answer = node.expect(202, "POST", "/api/v1/datasets", {"upload_id": upload, "name": f"Clicks {rows}"})
    made = wait(node, "/api/v1/operations/" + answer.json["id"])
    if made["state"] != "done":
        sys.exit(f"job_sizes: {made}")
    return node.expect(200, "GET", "/api/v1/datasets/" + made["dataset_id"]).json


def main():
    sizes = [int(rows) for rows in sys.argv[2:]] or [20_000, 200_000, 1_000_000]
    good = True
    with tempfile.TemporaryDirectory(prefix="samovar-jobs-") as folder, Samovard(sys.argv[1]) as node:
        node.set_up()
        node.wait_ready()
        node.log_in(transport="bearer")
        for number, rows in enumerate(sizes):
            data = dataset_of(node, folder, rows)
            spec = dict(SPEC, name=f"clicks-{rows}", dataset=data["id"], target=data["schema"]["columns"][0]["name"])
            estimate = node.expect(200, "POST", "/api/v1/jobs:estimate", spec).json
            began = time.monotonic()
            with WorkerPeak(node.process.pid) as peak:
                job = node.expect(201, "POST", "/api/v1/jobs", spec).json["id"]
                ended = wait(node, "/api/v1/jobs/" + job)
            seconds = time.monotonic() - began
            if ended["state"] != "done":
                sys.exit(f"job_sizes: {ended}")
            ratio = estimate["seconds"] / seconds
            beyond = peak.bytes - 4 * 2 ** BITS
            print(json.dumps({"bench": "job_sizes", "rows": data["rows"], "basis": estimate["basis"],
                              "estimated_seconds": round(estimate["seconds"], 2), "seconds": round(seconds, 2),
                              "ratio": round(ratio, 2), "worker_peak_mb": round(peak.bytes / 1e6, 1),
                              "beyond_weights_mib": round(beyond / 2 ** 20, 1)}), flush=True)
            good = good and beyond <= BEYOND_WEIGHTS_MAX and (number == 0 or 0.5 <= ratio <= 2)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

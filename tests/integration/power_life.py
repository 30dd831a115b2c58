#!/usr/bin/env python3
"""A power budget on a real node that trains: set, held by pacing its worker, lifted; impossible ones are said. The node's
sensor is a file that this test writes: what the board draws follows the duty the node chose."""
import http.client
import math
import os
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from samovard import Samovard  # noqa: E402

BINARY = None
WAIT_SECONDS_MAX = 240  # a starved machine, not a target
OCTETS = {"Content-Type": "application/octet-stream"}
IDLE_W, FULL_W = 10.0, 30.0


def table(rows):
    rng = random.Random(7)
    lines = ["age,weight,ward,returned"]
    for _ in range(rows):
        age, weight, ward = rng.randrange(17, 95), rng.uniform(40, 120), rng.choice("ABC")
        eta = (age - 55) / 15 + (1.2 if ward == "A" else -0.6)
        lines.append(f"{age},{weight:.1f},{ward},{'back' if rng.random() < 1 / (1 + math.exp(-eta)) else 'away'}")
    return ("\n".join(lines) + "\n").encode()


class Board:
    """A tree with one INA3221 whose total follows the duty of the node's workers."""

    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="samovar-board-"))
        self.hwmon = self.root / "sys/class/hwmon/hwmon0"
        self.hwmon.mkdir(parents=True)
        for name, text in (("name", "ina3221"), ("in1_label", "VDD_IN"), ("in1_input", "5000"), ("curr1_input", "2000")):
            (self.hwmon / name).write_text(text + "\n")
        (self.root / "proc").symlink_to("/proc")
        self.watts = IDLE_W

    def draw(self, watts):
        self.watts = watts
        fresh = self.hwmon / "curr1_input.new"
        fresh.write_text(f"{round(watts / 5 * 1000)}\n")
        os.replace(fresh, self.hwmon / "curr1_input")

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)


def until(what, condition):
    end = time.monotonic() + WAIT_SECONDS_MAX
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError("not in time: " + what)


class PowerLife(unittest.TestCase):
    def test_a_budget_is_held_lifted_and_said_to_be_impossible(self):
        board = Board()
        self.addCleanup(board.remove)
        with Samovard(BINARY, arguments=("--sysfs-root", str(board.root))) as node:
            node.set_up()
            node.log_in(transport="bearer")
            self.assertEqual(node.expect(200, "GET", "/api/v1/power").json["reason"], "none")
            over = threading.Event()

            def follow():
                while not over.is_set():
                    try:
                        me = node.expect(200, "GET", "/api/v1/power").json["nodes"][0]
                        board.draw(IDLE_W + (FULL_W - IDLE_W) * (me["duty"] if me["working"] else 0))
                    except (AssertionError, IndexError, KeyError, OSError, http.client.HTTPException):
                        pass
                    over.wait(0.3)

            until("a reading", lambda: node.expect(200, "GET", "/api/v1/power").json["watts"] == IDLE_W)
            self.assertFalse(node.expect(200, "GET", "/api/v1/power").json["estimated"])
            follower = threading.Thread(target=follow)
            follower.start()
            try:
                self.train_under(node)
            finally:
                over.set()
                follower.join()

    def put(self, node, **change):
        before = node.expect(200, "GET", "/api/v1/settings/power")
        document = {**before.json, **change}
        headers = {"If-Match": before.headers["ETag"]}
        return node.expect(200, "PUT", "/api/v1/settings/power", document, headers=headers).json

    def me(self, node):
        return node.expect(200, "GET", "/api/v1/power").json["nodes"][0]

    def train_under(self, node):
        upload = node.expect(201, "PUT", "/api/v1/uploads/t.csv", table(60000), headers=OCTETS).json["id"]
        made = node.expect(202, "POST", "/api/v1/datasets", {"upload_id": upload, "name": "Admissions"}).json
        path = "/api/v1/operations/" + made["id"]
        until("the data set", lambda: node.expect(200, "GET", path).json["state"] not in ("queued", "running"))
        dataset = node.expect(200, "GET", path).json["dataset_id"]
        self.put(node, budget_watts=20)
        spec = {"kind": "glm", "name": "returns", "dataset": dataset, "target": "returned",
                "parameters": {"solver": "adagrad", "passes": 100_000, "early_stop": False}}  # it does not end by itself
        job = "/api/v1/jobs/" + node.expect(201, "POST", "/api/v1/jobs", spec).json["id"]
        until("a worker", lambda: self.me(node)["working"])
        # Half of what it draws beyond rest: the duty is a half, give or take.
        until("the budget's duty", lambda: 0.35 <= self.me(node)["duty"] <= 0.6 and not self.me(node)["probing"])

        def held():  # the plan is made anew each second
            shown = node.expect(200, "GET", "/api/v1/power").json
            return (shown["budget_watts"], shown["reason"], shown["held"]) == (20, "budget", True) and \
                shown["nodes"][0]["cap_watts"] <= 20
        until("the budget is held", held)
        self.put(node, budget_watts=None)
        until("full speed", lambda: self.me(node)["duty"] == 1)
        self.put(node, budget_watts=5)
        until("as little as it can", lambda: self.me(node)["duty"] < 0.1)

        def impossible():
            shown = node.expect(200, "GET", "/api/v1/power").json
            return not shown["held"] and "cannot be held" in (shown["trouble"] or "")
        until("it is said to be impossible", impossible)
        until("the alert", lambda: "power_budget" in [a["id"] for a in node.expect(200, "GET", "/api/v1/alerts").json["items"]])
        self.put(node, budget_watts=None)
        node.expect(200, "POST", job + ":cancel", {})
        audited = node.expect(200, "GET", "/api/v1/audit?action=setting.put").json["items"]
        self.assertEqual(len([entry for entry in audited if entry["object"] == "power"]), 4)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main()

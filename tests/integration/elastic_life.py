#!/usr/bin/env python3
"""A training over several real nodes: it runs on all of them and shows the same everywhere; a worker or a node that
dies is left out and comes back; the job outlives its home; all nodes are cut at once; too few nodes wait."""
import os
import pathlib
import signal
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import model_life  # noqa: E402
from cluster import Cluster, until  # noqa: E402
from model_life import Box, table, workers_of  # noqa: E402

BINARY = None
ROWS = 20_000
# Small steps over many passes: time enough to look, and to kill.
LONG = {"parameters": {"solver": "adagrad", "passes": 400, "early_stop": False, "batch_rows": 64}}
SHORT = {"parameters": {"solver": "adagrad", "passes": 3, "early_stop": False, "batch_rows": 256}}


def job_on(node, job):
    return node.expect(200, "GET", "/api/v1/jobs/" + job, timeout=20).json


def working(view):
    return [w for w in view["workers"] if w["state"] == "working"]


def wait_working(node, job, count, seconds=90):
    def look():
        view = job_on(node, job)
        assert view["state"] == "running", view["error"]
        return view if len(working(view)) == count and view["step"] == "training" else None
    return until(f"{count} workers of {job}", look, seconds)


def wait_end(node, job, seconds=240):
    def look():
        view = job_on(node, job)
        return view if view["state"] not in ("queued", "running") else None
    return until(f"the end of {job}", look, seconds, every=0.2)


def loss_of(node, view):
    evaluation = node.expect(200, "GET", f"/api/v1/models/{view['model']}/versions/{view['model_version']}/evaluation").json
    return evaluation["metrics"]["test"]["log_loss"]["value"]


class Nodes(unittest.TestCase):
    nodes = 3
    arguments = ("--checkpoint-steps", "200")

    def setUp(self):
        self.cluster = Cluster(BINARY, nodes=self.nodes, arguments=list(self.arguments))
        self.cluster.form()
        self.addCleanup(lambda: self.cluster.__exit__(None))
        self.box = Box(self.cluster.nodes[0])
        self.data = self.box.dataset(table(ROWS), "admissions")

    def tell(self):
        self.cluster.tell_logs()

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > before:
            self.tell()
        return result


class Together(Nodes):
    def test_a_job_trains_on_all_nodes_and_shows_the_same_everywhere(self):
        first, second, third = self.cluster.nodes
        job = self.box.job(self.data, **LONG)
        view = wait_working(first, job, 3)
        self.assertEqual({w["node_id"] for w in view["workers"]}, {n.id for n in self.cluster.nodes})
        self.assertAlmostEqual(sum(w["rows"] for w in view["workers"]), ROWS, delta=ROWS // 100)
        for node in (second, third):
            seen = until(f"{node.name} shows it", lambda n=node: (
                lambda v: v if v["state"] == "running" and len(working(v)) == 3 else None)(job_on(n, job)))
            self.assertEqual([w["number"] for w in seen["workers"]], [1, 2, 3])
        done = wait_end(third, job)
        self.assertEqual(done["state"], "done", done["error"])
        for node in self.cluster.nodes:
            logs = until("its log", lambda n=node: n.items(f"/jobs/{job}/logs?limit=1000"))
            self.assertIn("Trains on 3 nodes.", "\n".join(line["text"] for line in logs))
            self.assertTrue(node.asks(f"/jobs/{job}/metrics")["names"])
            until("it is done here, too", lambda n=node: job_on(n, job)["state"] == "done")
        # As good as one node's.
        alone = self.box.job(self.data, name="alone", nodes={"max": 1}, **LONG)
        one = wait_end(first, alone)
        self.assertEqual(one["state"], "done", one["error"])
        self.assertLess(abs(loss_of(first, done) - loss_of(first, one)) / loss_of(first, one), 0.02)

    def test_two_jobs_at_once_end_both(self):
        first, second, _ = self.cluster.nodes
        jobs = [self.box.job(self.data, name="a", **SHORT), Box(second).job(self.data, name="b", **SHORT)]
        for job in jobs:
            done = wait_end(first, job)
            self.assertEqual(done["state"], "done", done["error"])


class Faults(Nodes):
    def test_killed_workers_are_replaced(self):
        first = self.cluster.nodes[0]
        calm = wait_end(first, self.box.job(self.data, name="calm", **LONG))
        self.assertEqual(calm["state"], "done", calm["error"])
        job = self.box.job(self.data, name="shaken", **LONG)
        wait_working(first, job, 3)
        kills = 0
        for turn in range(3):
            victim = self.cluster.nodes[(turn + 1) % 3]
            for pid in workers_of(victim):
                os.kill(pid, signal.SIGKILL)
                kills += 1
            time.sleep(3)
            if job_on(first, job)["state"] != "running":
                break
        self.assertGreater(kills, 0)
        done = wait_end(first, job)
        self.assertEqual(done["state"], "done", done["error"])
        self.assertIn("lost", {e["kind"] for e in done["events"]})
        self.assertLess(abs(loss_of(first, done) - loss_of(first, calm)) / loss_of(first, calm), 0.01)

    def test_a_node_whose_disk_is_full_is_left_out(self):
        first, second, third = self.cluster.nodes
        second.stop()
        settings = pathlib.Path(second.state_dir) / "full.toml"
        settings.write_text("disk_reserve_mib = 1048576\n")  # more than there is
        second.start(["--config", str(settings)])
        second.wait_ready()
        # A job that begins before it is back may end before it takes part.
        self.cluster.wait_states({second: "up"}, via=first)
        job = self.box.job(self.data, name="full", parameters={**LONG["parameters"], "passes": 6000})
        wait_working(first, job, 3)
        for pid in workers_of(first) + workers_of(third):  # who is left leads, and has to save
            os.kill(pid, signal.SIGKILL)
        done = wait_end(first, job)
        self.assertEqual(done["state"], "done", done["error"])
        left = [e for e in done["events"] if e["kind"] == "left"]
        self.assertTrue(left, done["events"])
        self.assertEqual(left[0]["node_id"], second.id)

    def test_the_home_is_killed_and_another_goes_on(self):
        first, second, third = self.cluster.nodes
        job = self.box.job(self.data, **LONG)
        wait_working(first, job, 3)
        until("a checkpoint", lambda: job_on(second, job)["checkpoint_step"] > 0)
        first.kill()
        done = wait_end(second, job)
        self.assertEqual(done["state"], "done", done["error"])
        self.assertNotEqual(done["home_id"], first.id)
        self.assertEqual(job_on(third, job)["state"], "done")

    def test_all_are_cut_at_once_and_it_goes_on_by_itself(self):
        first = self.cluster.nodes[0]
        job = self.box.job(self.data, **LONG)
        wait_working(first, job, 3)
        until("a checkpoint", lambda: job_on(first, job)["checkpoint_step"] > 0)
        for node in self.cluster.nodes:
            node.kill()
        self.cluster.start_all()
        done = wait_end(first, job)
        self.assertEqual(done["state"], "done", done["error"])
        logs = "\n".join(line["text"] for line in first.items(f"/jobs/{job}/logs?limit=1000"))
        self.assertIn("Goes on from the checkpoint", logs)

    def test_too_few_nodes_wait_and_go_on_when_one_returns(self):
        first, second, third = self.cluster.nodes
        third.stop()
        job = self.box.job(self.data, nodes={"min": 3}, **SHORT)
        until("it waits", lambda: job_on(second, job)["waiting_for"])
        third.start()
        third.wait_ready()
        done = wait_end(first, job)
        self.assertEqual(done["state"], "done", done["error"])


if __name__ == "__main__":
    BINARY = model_life.BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)

#!/usr/bin/env python3
"""A training over several real nodes: it runs on all of them and shows the same everywhere; a worker or a node that
dies is left out and comes back; the job outlives its home; all nodes are cut at once; too few nodes wait."""
import contextlib
import os
import pathlib
import signal
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import model_life  # noqa: E402
from cluster import Cluster, until  # noqa: E402
from model_life import Box, table, workers_of  # noqa: E402

BINARY = None
ROWS = 20_000
# Small steps over many passes.
LONG = {"parameters": {"solver": "adagrad", "passes": 400, "early_stop": False, "batch_rows": 64}}
SHORT = {"parameters": {"solver": "adagrad", "passes": 3, "early_stop": False, "batch_rows": 256}}
# No machine is fast enough to end it while somebody looks: it is cancelled.
ENDLESS = {"parameters": {**LONG["parameters"], "passes": 100_000}}
# The second checkpoint that a node saves takes its time, once: a job that is to be disturbed is still there then, however
# fast the machine is.
STALL = ("--failpoints", "jobs.train.checkpoint.synced=delay:10000@2")
ENDED = ("done", "failed", "cancelled", "paused")


def with_arguments(*arguments):
    """Of a test whose nodes are started with more than the others'."""
    def keep(test):
        test.arguments = arguments
        return test
    return keep


def job_on(node, job):
    return node.asks("/jobs/" + job)


def working(view):
    return [w for w in view["workers"] if w["state"] == "working"]


def events_of(view, kind, node=None):
    return [e for e in view["events"] if e["kind"] == kind and (node is None or e["node_id"] == node.id)]


def wait_working(node, job, count, seconds=180):
    """The view of a job that so many train at a time. It must be one that does not end meanwhile."""
    def look():
        view = job_on(node, job)
        if view["state"] in ENDED:
            return view
        return view if len(working(view)) == count and view["step"] == "training" else None
    view = until(f"{count} workers of {job}", look, seconds)
    assert view["state"] not in ENDED, f"ended before {count} were seen at work: {view['state']} {view['error']} {view['events']}"
    return view


def wait_checkpoint(node, job, after=0):
    """The view of a job that is not over and has a checkpoint later than that."""
    def look():
        view = job_on(node, job)
        return view if view["checkpoint_step"] > after or view["state"] in ENDED else None
    view = until(f"a checkpoint of {job} after step {after}", look)
    assert view["state"] not in ENDED, f"ended before it could be disturbed: {view['state']} {view['error']} {view['events']}"
    return view


def wait_end(node, job, seconds=500):
    def look():
        view = job_on(node, job)
        return view if view["state"] in ENDED else None
    return until(f"the end of {job}", look, seconds, every=0.2)


def kill_workers(*nodes):
    """How many were there to kill."""
    pids = [pid for node in nodes for pid in workers_of(node)]
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):  # it ended just now
            os.kill(pid, signal.SIGKILL)
    return len(pids)


def kill_until_missed(home, job, victim):
    """Kills the victim's worker while it works, until the job has an event that says so. False when the job is over."""
    before = len(events_of(job_on(home, job), "lost", victim))

    def look():
        view = job_on(home, job)
        if len(events_of(view, "lost", victim)) > before:
            return "missed"
        if view["state"] in ENDED:
            return "over"
        if victim.id in {w["node_id"] for w in working(view)}:
            kill_workers(victim)
        return None
    return until(f"{victim.name}'s worker is missed", look, every=0.1) == "missed"


def logs_of(node, job):
    return "\n".join(line["text"] for line in node.items(f"/jobs/{job}/logs?limit=1000"))


def loss_of(node, view):
    evaluation = node.expect(200, "GET", f"/api/v1/models/{view['model']}/versions/{view['model_version']}/evaluation").json
    return evaluation["metrics"]["test"]["log_loss"]["value"]


class Nodes(unittest.TestCase):
    nodes = 3
    rows = ROWS
    arguments = ("--checkpoint-steps", "200")

    def setUp(self):
        more = getattr(getattr(self, self._testMethodName), "arguments", ())
        self.cluster = Cluster(BINARY, nodes=self.nodes, arguments=[*self.arguments, *more])
        self.addCleanup(lambda: self.cluster.__exit__(None))
        self.cluster.form()
        self.all_up()
        self.box = Box(self.cluster.nodes[0])
        self.data = self.box.dataset(table(self.rows), "admissions")
        self.wait_known(*self.cluster.nodes)

    def wait_known(self, *nodes):
        """A node that follows hears of the data set a moment later, and one that was away when it is told again: before,
        it refuses a job on it."""
        for node in nodes:
            until(f"{node.name} knows the data set", lambda n=node: n.asks("/datasets/" + self.data))

    def all_up(self, via=None):
        """A job that begins while one of them cannot be reached begins without it."""
        self.cluster.wait_states({node: "up" for node in self.cluster.nodes}, via=via or self.cluster.nodes[0])

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
        watched = self.box.job(self.data, name="watched", **ENDLESS)
        view = wait_working(first, watched, 3)
        self.assertEqual({w["node_id"] for w in working(view)}, {n.id for n in self.cluster.nodes})
        self.assertAlmostEqual(sum(w["rows"] for w in working(view)), ROWS, delta=ROWS // 100)

        def numbers(node):
            seen = working(job_on(node, watched))
            return [w["number"] for w in seen] if len(seen) == 3 else None
        for node in (second, third):
            until(f"{node.name} shows it", lambda n=node: numbers(n) and numbers(n) == numbers(first))
        self.box.act(watched, "cancel")
        job = self.box.job(self.data, **LONG)
        done = wait_end(third, job)
        self.assertEqual(done["state"], "done", done["error"])
        for node in self.cluster.nodes:
            until("its log is here", lambda n=node: "Trains on 3 nodes." in logs_of(n, job))
            until("its curve is here", lambda n=node: n.asks(f"/jobs/{job}/metrics")["names"])
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


class Rotation(Nodes):
    """Blocks go round among the nodes between passes. The data set has several files, each on two of the three nodes."""
    rows = 50_000

    def shards_on(self, node):
        folder = pathlib.Path(node.state_dir) / "data" / "versions" / f"{self.data}.1"
        return {path.name for path in folder.iterdir() if path.name.isdigit()} if folder.is_dir() else set()

    def test_every_node_reads_all_rows_in_turn(self):
        first = self.cluster.nodes[0]
        everything = set().union(*(self.shards_on(node) for node in self.cluster.nodes))
        self.assertGreater(len(everything), 3)
        self.assertTrue(any(self.shards_on(node) != everything for node in self.cluster.nodes))
        views = {}
        for name, strategy in {"stays": {}, "copies": {"rotate": "copies"}, "all": {"rotate": "all"},
                               "step": {"rotate": "all", "sync": True}}.items():
            job = self.box.job(self.data, name=name, strategy=strategy,
                               parameters={**SHORT["parameters"], "passes": 6})
            views[name] = wait_end(first, job)
            self.assertEqual(views[name]["state"], "done", (name, views[name]["error"], views[name]["events"]))
            if name == "copies":
                fetched = [self.shards_on(node) for node in self.cluster.nodes]
        # Among copies nothing was brought for the passes after the first; among all everything.
        self.assertTrue(any(found != everything for found in fetched))
        for node in self.cluster.nodes:
            self.assertEqual(self.shards_on(node), everything, node.name)
        losses = {name: loss_of(first, view) for name, view in views.items()}
        for name, loss in losses.items():
            self.assertLess(abs(loss - losses["stays"]) / losses["stays"], 0.02, losses)

    @with_arguments(*STALL)
    def test_one_that_is_lost_changes_only_the_turns(self):
        first, second, _ = self.cluster.nodes
        job = self.box.job(self.data, name="shaken", strategy={"rotate": "all"}, **LONG)
        self.assertTrue(kill_until_missed(first, job, second), "it ended before a worker could be killed")
        done = wait_end(first, job)
        self.assertEqual(done["state"], "done", done["error"])


class Faults(Nodes):
    @with_arguments(*STALL)
    def test_killed_workers_are_replaced(self):
        first = self.cluster.nodes[0]
        job = self.box.job(self.data, name="shaken", **LONG)
        kills = 0
        for turn in range(3):
            if not kill_until_missed(first, job, self.cluster.nodes[(turn + 1) % 3]):
                break  # over; on a fast machine that may be after one
            kills += 1
        self.assertGreater(kills, 0, "it ended before a worker could be killed")
        done = wait_end(first, job)
        self.assertEqual(done["state"], "done", done["error"])
        calm = wait_end(first, self.box.job(self.data, name="calm", **LONG))
        self.assertEqual(calm["state"], "done", calm["error"])
        self.assertLess(abs(loss_of(first, done) - loss_of(first, calm)) / loss_of(first, calm), 0.01)

    def test_a_node_whose_disk_is_full_is_left_out(self):
        first, second, third = self.cluster.nodes
        second.stop()
        settings = pathlib.Path(second.state_dir) / "full.toml"
        settings.write_text("disk_reserve_mib = 1048576\n")  # more than there is
        second.start(["--config", str(settings)])
        second.wait_ready()
        self.all_up()
        job = self.box.job(self.data, name="full", **ENDLESS)

        def left_out():
            view = job_on(first, job)
            if events_of(view, "left") or view["state"] in ENDED:
                return view
            here = [w for w in view["workers"] if w["node_id"] == second.id and w["state"] in ("preparing", "working")]
            # Who leads has to save. It may have been left out before, when it had to fetch its part of the data; else
            # those who came before it go, and those who come back come after it.
            if here and not here[0]["lead"]:
                kill_workers(first, third)
            return None
        view = until("the full one is left out", left_out, 300, every=0.5)
        self.assertNotIn(view["state"], ENDED, view["error"])
        self.assertEqual({e["node_id"] for e in events_of(view, "left")}, {second.id}, view["events"])
        # The others go on without it, and one that ends is saved.
        wait_checkpoint(first, job, after=job_on(first, job)["checkpoint_step"])
        self.box.act(job, "cancel")
        done = wait_end(first, self.box.job(self.data, name="short", **SHORT))
        self.assertEqual(done["state"], "done", done["error"])

    @with_arguments(*STALL)
    def test_the_home_is_killed_and_another_goes_on(self):
        first, second, third = self.cluster.nodes
        job = self.box.job(self.data, **LONG)
        wait_checkpoint(second, job)
        first.kill()
        done = wait_end(second, job)
        self.assertEqual(done["state"], "done", done["error"])
        self.assertNotEqual(done["home_id"], first.id)
        until("it is done there, too", lambda: job_on(third, job)["state"] == "done")

    @with_arguments(*STALL)
    def test_all_are_cut_at_once_and_it_goes_on_by_itself(self):
        first = self.cluster.nodes[0]
        job = self.box.job(self.data, **LONG)
        wait_checkpoint(first, job)
        for node in self.cluster.nodes:
            node.kill()
        self.cluster.start_all()
        done = wait_end(first, job)
        self.assertEqual(done["state"], "done", done["error"])
        until("the log says so", lambda: "Goes on from the checkpoint" in logs_of(first, job))

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

#!/usr/bin/env python3
"""Trainings over three real nodes that are shaken: workers killed on the clock, all nodes cut, the home or the leader
killed while a checkpoint is saved, too few nodes left, two jobs at once again and again.

    elastic_kill.py SAMOVARD [SUITE…] [--long]

Suites: Kills Cuts Pairs Missing Fewer Saving. Short, each takes about a minute; with --long as long as promised: a worker
killed every 5 s for two minutes, 5 cuts, 50 pairs of jobs, each failpoint of a checkpoint. What was measured is printed.
"""
import argparse
import contextlib
import os
import pathlib
import random
import signal
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "support"), str(ROOT / "integration")]
import elastic_life  # noqa: E402
import model_life  # noqa: E402
from cluster import until  # noqa: E402
from elastic_life import ENDED, LONG, SHORT, STALL, Nodes  # noqa: E402
from elastic_life import events_of, job_on, logs_of, loss_of, wait_checkpoint, wait_end, with_arguments  # noqa: E402
from model_life import Box, table, workers_of  # noqa: E402

KILL_EVERY = 5
KILLS_LEAST = 3
SHAKE_SECONDS_MORE = 180  # a starved machine, not a target
LASTS = False


def say(text):
    print("  " + text, file=sys.stderr, flush=True)


def passes_for(seconds, took, passes):
    return max(passes, int(passes * seconds / took) + 1)


def with_passes(passes):
    return {"parameters": {**LONG["parameters"], "passes": passes}}


class Kills(Nodes):
    def test_a_worker_killed_every_five_seconds(self):
        """The job ends, and its loss is within 1 % of the undisturbed run's."""
        first = self.cluster.nodes[0]
        shaken_for = 120 if LASTS else 20
        probe = wait_end(first, self.box.job(self.data, name="probe", **with_passes(100)))
        self.assertEqual(probe["state"], "done", probe["error"])
        # Longer than it is shaken; the probe's time is mostly its beginning and its end. It may have met a machine that was
        # busier than it is now: then it takes more passes.
        passes = passes_for(3 * shaken_for, probe["seconds"], 100)
        for turn in range(3):
            spec = with_passes(passes << 2 * turn)
            job = self.box.job(self.data, name=f"shaken{turn}", **spec)
            kills, took = self.shake(job, shaken_for)
            done = wait_end(first, job, 900)
            self.assertEqual(done["state"], "done", done["error"])
            if kills >= KILLS_LEAST:
                break
            say(f"over after {kills} kills: again, with more passes")
        self.assertGreaterEqual(kills, KILLS_LEAST, "it was over before it was shaken enough")
        self.assertTrue(events_of(done, "lost"), done["events"])
        calm = wait_end(first, self.box.job(self.data, name="calm", **spec), 900)
        self.assertEqual(calm["state"], "done", calm["error"])
        shaken, quiet = loss_of(first, done), loss_of(first, calm)
        say(f"{kills} kills in {took:.0f} s; loss {shaken:.5f}, undisturbed {quiet:.5f}: "
            f"{100 * (shaken / quiet - 1):+.2f} %; {done['seconds']:.0f} s against {calm['seconds']:.0f} s")
        self.assertLess(abs(shaken / quiet - 1), 0.01)

    def shake(self, job, seconds):
        """Kills and seconds, until so long, or so often on a slow machine; or until the job is over."""
        first = self.cluster.nodes[0]
        until("a node works", lambda: job_on(first, job)["step"] == "training" or job_on(first, job)["state"] in ENDED)
        began, kills = time.monotonic(), 0
        while time.monotonic() - began < seconds or kills < KILLS_LEAST or not events_of(view, "lost"):
            order = self.cluster.nodes[kills % 3:] + self.cluster.nodes[:kills % 3]
            victims = [pid for node in order for pid in workers_of(node)]
            view = job_on(first, job)
            if view["state"] in ENDED or time.monotonic() - began > seconds + SHAKE_SECONDS_MORE:
                break
            if victims:
                with contextlib.suppress(ProcessLookupError):  # it ended just now
                    os.kill(victims[0], signal.SIGKILL)
                    kills += 1
            time.sleep(max(0.1, began + kills * KILL_EVERY - time.monotonic()))
        return kills, time.monotonic() - began


class Cuts(Nodes):
    @with_arguments(*STALL)
    def test_all_nodes_are_cut_at_once(self):
        """It goes on from its checkpoint by itself, as often as that happens."""
        first = self.cluster.nodes[0]
        job = self.box.job(self.data, **with_passes(1200 if LASTS else 400))
        saved = 0
        for _ in range(5 if LASTS else 1):
            saved = wait_checkpoint(first, job, after=saved)["checkpoint_step"]
            for node in self.cluster.nodes:
                node.kill()
            self.cluster.start_all()
            # A node knows what was agreed on when somebody leads again.
            if until("the job is known", lambda: job_on(first, job))["state"] in ENDED:
                break
        done = wait_end(first, job, 600)
        self.assertEqual(done["state"], "done", done["error"])
        until("the log says so", lambda: "Goes on from the checkpoint" in logs_of(first, job))
        self.assertNotIn("anew", logs_of(first, job))


class Pairs(Nodes):
    def test_two_jobs_at_once(self):
        """No clash, no hang; begun on different nodes at the same moment."""
        times = 50 if LASTS else 3
        slowest = 0
        for turn in range(times):
            one, other = random.sample(self.cluster.nodes, 2)
            began = time.monotonic()
            jobs = [Box(one).job(self.data, name=f"a{turn}", **SHORT), Box(other).job(self.data, name=f"b{turn}", **SHORT)]
            for job in jobs:
                done = wait_end(one, job, 400)
                self.assertEqual(done["state"], "done", f"pair {turn}: {done['error']}")
            slowest = max(slowest, time.monotonic() - began)
        left = [pid for node in self.cluster.nodes for pid in workers_of(node)]
        until("no worker is left", lambda: not [p for node in self.cluster.nodes for p in workers_of(node)])
        say(f"{times} pairs, the slowest took {slowest:.1f} s, {len(left)} workers were still ending at the end")


class Missing(Nodes):
    def setUp(self):
        super().setUp()
        lines = table(6000).decode().splitlines()
        cells = [line.split(",") for line in lines]
        # Nothing is missing but in one row: whoever has it is the only one who sees it.
        for row in cells[1:]:
            row[2] = row[2] or "77.7"
        cells[3000][2] = ""
        self.lonely = self.box.dataset(("\n".join(",".join(row) for row in cells) + "\n").encode(), "one gap")
        # And a column that only one row has at all.
        for number, row in enumerate(cells[1:], 1):
            row[2] = "77.7" if number == 4000 else ""
        self.empty = self.box.dataset(("\n".join(",".join(row) for row in cells) + "\n").encode(), "one value")

    def test_missing_values_that_only_one_node_has(self):
        first = self.cluster.nodes[0]
        for name, data in (("gap", self.lonely), ("value", self.empty)):
            together = self.box.job(data, name=name, **with_passes(60))
            done = wait_end(first, together)
            self.assertEqual(done["state"], "done", done["error"])
            alone = wait_end(first, self.box.job(data, name=name + "-alone", nodes={"max": 1}, **with_passes(60)))
            self.assertEqual(alone["state"], "done", alone["error"])
            many, one = loss_of(first, done), loss_of(first, alone)
            say(f"one {name}: loss {many:.5f} on three nodes, {one:.5f} on one")
            self.assertLess(abs(many / one - 1), 0.02)


class Fewer(Nodes):
    @with_arguments(*STALL)
    def test_survivors_below_the_minimum_wait_and_go_on(self):
        first, _, third = self.cluster.nodes
        job = self.box.job(self.data, nodes={"min": 3}, **LONG)
        wait_checkpoint(first, job)
        third.kill()

        def waits():
            view = job_on(first, job)
            return view if view["waiting_for"] or view["state"] in ENDED else None
        view = until("it waits", waits)
        self.assertEqual(view["state"], "running", view["events"])
        third.start()
        third.wait_ready()
        done = wait_end(first, job)
        self.assertEqual(done["state"], "done", done["error"])
        self.assertTrue(events_of(done, "paused"), done["events"])
        until("the log says so", lambda: "Goes on from the checkpoint" in logs_of(first, job))


class Saving(Nodes):
    POINTS = ("jobs.train.checkpoint.spread", "jobs.train.checkpoint.synced", "jobs.train.checkpoint.committed")

    def test_the_home_dies_during_a_checkpoint(self):
        for point in self.POINTS if LASTS else self.POINTS[:1]:
            home, other, _ = self.cluster.nodes
            home.stop()
            home.start(["--failpoints", point + "=crash@2"])
            home.wait_ready()
            self.cluster.wait_leader()
            self.all_up(via=home)
            self.wait_known(home)
            job = Box(home).job(self.data, name=point.rsplit(".", 1)[1], **LONG)
            home.wait_dead(300)
            # Three nodes with one down: the other two go on.
            done = wait_end(other, job)
            self.assertEqual(done["state"], "done", f"{point}: {done['error']}")
            self.assertNotEqual(done["home_id"], home.id)
            until(f"{point}: the log says so", lambda j=job, o=other: "Goes on from the checkpoint" in logs_of(o, j))
            home.start()
            home.wait_ready()

    def test_the_leader_dies_during_a_checkpoint(self):
        leader = self.cluster.wait_leader()
        home = next(node for node in self.cluster.nodes if node is not leader)
        home.stop()
        # So much of the time is spent between a checkpoint's file and its commit that the kill falls into it.
        home.start(["--failpoints", "jobs.train.checkpoint.synced=delay:1500"])
        home.wait_ready()
        leader = self.cluster.wait_leader()
        if leader is home:
            self.skipTest("the home was elected")
        self.all_up(via=home)
        self.wait_known(home)
        job = Box(home).job(self.data, **with_passes(60))
        wait_checkpoint(home, job)
        leader.kill()
        done = wait_end(home, job)
        self.assertEqual(done["state"], "done", done["error"])
        self.assertEqual(done["home_id"], home.id)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samovard")
    parser.add_argument("suites", nargs="*")
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    LASTS = options.long
    elastic_life.BINARY = model_life.BINARY = options.samovard
    unittest.main(argv=[sys.argv[0], *options.suites], verbosity=2)

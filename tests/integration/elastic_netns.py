#!/usr/bin/env python3
"""Exchange overlaps training: two real nodes whose cables carry 1 Gbit/s (tbf), models of 1e5 and 1e6 parameters. At the
tau they choose, a worker waits for its peers for at most a tenth of its time, and all of its time is accounted for.
Needs root; skipped without.

    elastic_netns.py SAMOVARD [--bits 17,20] [--passes N]

Prints, per model and worker, the share of waiting, tau, rounds and what was sent.
"""
import argparse
import math
import pathlib
import random
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "support"), str(ROOT / "integration")]
import model_life  # noqa: E402
import networks  # noqa: E402
from cluster import Cluster, skip_code  # noqa: E402
from elastic_life import wait_end  # noqa: E402
from model_life import Box  # noqa: E402

OPTIONS = None
ROWS = 60_000
COLUMNS = 6
WAIT_MOST = 0.10
# Of the clock: together they are all of a worker's time.
NAMED = ["data_wait_seconds", "encode_seconds", "step_seconds", "exchange_seconds", "wait_seconds", "tell_seconds"]


def clicks():
    """Rows of words from long lists, as click data has them."""
    rng = random.Random(11)
    lines = [",".join([f"c{i}" for i in range(COLUMNS)] + ["came"])]
    for _ in range(ROWS):
        words = [int(rng.paretovariate(0.6)) % 20_000 for _ in range(COLUMNS)]
        eta = sum(math.sin(word * (i + 1)) for i, word in enumerate(words)) / 2
        lines.append(",".join([f"w{word}" for word in words] + ["yes" if rng.random() < 1 / (1 + math.exp(-eta)) else "no"]))
    return ("\n".join(lines) + "\n").encode()


def throttle(place):
    """What the node sends goes at 1 Gbit/s, as through a switch of that speed."""
    subprocess.run(["ip", "netns", "exec", place.space, "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "1gbit",
                    "burst", "256kb", "latency", "50ms"], check=True, capture_output=True, text=True)


class Overlap(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster(OPTIONS.samovard, nodes=2, lan=networks.Lan())
        self.addCleanup(lambda: self.cluster.__exit__(None if self._outcome.success else AssertionError))
        for node in self.cluster.nodes:
            throttle(node.place)
        self.cluster.form()
        self.box = Box(self.cluster.nodes[0])
        self.data = self.box.dataset(clicks(), "clicks")

    def spec(self, bits):
        return {"kind": "glm", "name": f"bits{bits}", "dataset": self.data, "target": "came", "nodes": {"min": 2},
                "features": {"categories": "hash", "hash_bits": bits},
                "parameters": {"solver": "adagrad", "passes": OPTIONS.passes, "early_stop": False}}

    def test_waiting_for_peers_is_a_tenth_at_most(self):
        first = self.cluster.nodes[0]
        for bits in OPTIONS.bits:
            job = first.expect(201, "POST", "/api/v1/jobs", self.spec(bits)).json["id"]
            done = wait_end(first, job, 900)
            self.assertEqual(done["state"], "done", done["error"])
            workers = first.asks(f"/jobs/{job}/metrics")["workers"]
            self.assertEqual(len(workers), 2, done["events"])
            for worker in workers:
                told = {name: [v for v in column if v is not None] for name, column in zip(worker["names"], worker["cols"])}

                def during(name, told=told):  # of the training itself, without what comes before and after
                    return told[name][-1] - told[name][0]

                share = during("wait_seconds") / during("seconds")
                named = sum(during(name) for name in NAMED) / during("seconds")
                print(f"  2^{bits} parameters, worker {worker['number']}: waits {100 * share:.1f} % of {during('seconds'):.1f} s, "
                      f"exchange takes {100 * during('exchange_seconds') / during('seconds'):.1f} %, "
                      f"{100 * named:.1f} % of its time has a name, tau {told['tau'][-1]:.0f}, "
                      f"{told['round'][-1]:.0f} rounds, {told['bytes_sent'][-1] / 1e6:.0f} MB sent, "
                      f"{told['samples_per_second'][-1]:.0f} rows/s", file=sys.stderr, flush=True)
                self.assertGreater(during("round"), 2)
                self.assertLessEqual(share, WAIT_MOST)
                self.assertAlmostEqual(named, 1, delta=0.05)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samovard")
    parser.add_argument("--bits", type=lambda text: [int(word) for word in text.split(",")], default=[17, 20])
    parser.add_argument("--passes", type=int, default=60)
    OPTIONS = parser.parse_args()
    if reason := networks.why_not():
        sys.exit(skip_code(reason))
    model_life.BINARY = OPTIONS.samovard
    unittest.main(argv=sys.argv[:1], verbosity=2)

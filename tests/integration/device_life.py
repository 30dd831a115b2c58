#!/usr/bin/env python3
"""Trainings on a GPU, as far as a machine without one can tell: a real node and its workers in their real sandbox, with
the CUDA kernels run by the emulator behind the plug-in's door. And planted plug-ins that fail in each way a device may:
the job then trains on the CPU, and says so.

device_life.py SAMOVARD EMULATED_PLUGIN PLANTED_PLUGIN [SUITE]"""
import contextlib
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import model_life  # noqa: E402
from model_life import Box, ROW, table, wait_until, workers_of  # noqa: E402
from samovard import Samovard  # noqa: E402

EMULATED = PLANTED = None
ROWS = 1500
# Enough steps to disturb it, few enough for an emulator.
SPEC = {"device": "gpu", "parameters": {"solver": "adagrad", "passes": 6, "early_stop": False, "batch_rows": 64}}
CHECKPOINTS = ["--checkpoint-steps", "20"]
STALL = CHECKPOINTS + ["--failpoints", "jobs.train.checkpoint.synced=delay:8000@2"]
# What the two add up in another order: docs/kernels.md.
TOLERANCE = 2e-4


class Plugin:
    """A link that leads to one plug-in or another."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="samovar-device-"))
        self.path = self.folder / "device.so"

    def leads_to(self, which):
        target = self.folder / ("emulated.so" if which == "emulated" else f"planted-{which}.so")
        if not target.exists():
            shutil.copyfile(EMULATED if which == "emulated" else PLANTED, target)
            target.chmod(0o644)
        link = self.folder / "new"
        link.symlink_to(target)
        link.replace(self.path)
        return self

    def remove(self):
        shutil.rmtree(self.folder)


@contextlib.contextmanager
def node_with(which, arguments=CHECKPOINTS):
    plugin = Plugin()
    if which:
        plugin.leads_to(which)
    try:
        with Samovard(model_life.BINARY, arguments=[*arguments, "--device-plugin", str(plugin.path)]) as node:
            node.set_up()
            node.log_in(transport="bearer")
            yield node, Box(node), plugin
    finally:
        plugin.remove()


def computes(node):
    """What the node's page says of its devices, once it has looked."""
    def now():
        return node.expect(200, "GET", "/api/v1/nodes").json["items"][0]["compute"]
    wait_until("it has looked for a GPU", lambda: "looks whether" not in now())
    return now()


def answers(box, name):
    return [p["value"] for p in box.predict(name, [ROW, dict(ROW, age=33), dict(ROW, age=61, smoker="n")])["predictions"]]


def weights(node, name):
    """The coefficients, as the evaluation has them."""
    evaluation = node.expect(200, "GET", f"/api/v1/models/{name}/versions/1/evaluation").json
    return {(c.get("input"), c.get("level"), c.get("class")): c["estimate"] for c in evaluation["coefficients"]}


class OnTheDevice(unittest.TestCase):
    def test_trains_like_the_cpu_and_says_where(self):
        with node_with("emulated") as (node, box, _):
            self.assertIn("computes on the GPU (cuda emulator)", computes(node))
            dataset = box.dataset(table(ROWS), "Admissions")
            gpu = box.ended(box.job(dataset, "gpu", **SPEC))
            self.assertEqual(gpu["state"], "done", gpu)
            self.assertEqual([(d["device"], d["note"]) for d in gpu["devices"]], [("cuda emulator", None)])
            self.assertEqual(gpu["summary"]["devices"][0]["device"], "cuda emulator")
            self.assertIn("Computes on cuda emulator.", box.logs(gpu["id"]))
            cpu = box.ended(box.job(dataset, "cpu", **{**SPEC, "device": "cpu"}))
            self.assertEqual(cpu["state"], "done", cpu)
            self.assertTrue(cpu["devices"][0]["device"].startswith("cpu "), cpu["devices"])
            self.assertIsNone(cpu["devices"][0]["note"])
            ones, others = weights(node, "gpu"), weights(node, "cpu")
            self.assertEqual(ones.keys(), others.keys())
            self.assertGreater(max(map(abs, ones.values())), 0.1, "nothing was learned")
            for name, value in ones.items():
                self.assertAlmostEqual(value, others[name], delta=TOLERANCE, msg=name)
            # So few rows gain nothing by it: left to itself, a job takes the CPU.
            left = box.ended(box.job(dataset, "left", **{**SPEC, "device": "auto"}))
            self.assertTrue(left["devices"][0]["device"].startswith("cpu "), left["devices"])
            self.assertEqual(answers(box, "left"), answers(box, "cpu"))
            # Where it computed survives a restart.
            node.stop()
            node.start()
            node.log_in(transport="bearer")
            self.assertEqual(node.expect(200, "GET", "/api/v1/jobs/" + gpu["id"]).json["devices"], gpu["devices"])

    def test_a_solver_that_cannot_says_so(self):
        with node_with("emulated") as (node, box, _):
            computes(node)
            ended = box.ended(box.job(box.dataset(table(ROWS), "Admissions"), device="gpu", parameters={"solver": "lbfgs"}))
            self.assertEqual(ended["state"], "done", ended)
            self.assertEqual(ended["devices"][0]["note"], "the solver lbfgs computes on the CPU")
            self.assertTrue(ended["devices"][0]["device"].startswith("cpu "))
            # One that was not named is found out in the worker.
            ended = box.ended(box.job(ended["dataset_id"], "open", device="gpu"))
            self.assertEqual(ended["devices"][0]["note"], "the solver irls computes on the CPU")

    def test_goes_on_in_the_same_bits_after_its_worker_was_killed(self):
        with node_with("emulated", STALL) as (node, box, _):
            computes(node)
            dataset = box.dataset(table(ROWS), "Admissions")
            job = box.job(dataset, "killed", **SPEC)
            box.wait_checkpoint(job)
            for pid in workers_of(node):
                os.kill(pid, signal.SIGKILL)
            ended = box.ended(job)
            self.assertEqual(ended["state"], "failed", ended)
            box.act(job, "retry")
            ended = box.ended(job)
            self.assertEqual((ended["state"], ended["devices"][0]["device"]), ("done", "cuda emulator"), ended)
            self.assertRegex(box.logs(job), "Goes on from the checkpoint at step [0-9]+")
            straight = box.ended(box.job(dataset, "straight", **SPEC))
            self.assertEqual(straight["devices"][0]["device"], "cuda emulator")
            self.assertEqual(answers(box, "killed"), answers(box, "straight"))  # to the last bit
            self.assertEqual(weights(node, "killed"), weights(node, "straight"))

    def test_goes_on_there_after_the_node_was_killed(self):
        with node_with("emulated", STALL) as (node, box, _):
            computes(node)
            dataset = box.dataset(table(ROWS), "Admissions")
            job = box.job(dataset, "killed", **SPEC)
            box.wait_checkpoint(job)
            node.kill()
            node.start()
            node.log_in(transport="bearer")
            ended = box.ended(job)
            self.assertEqual((ended["state"], ended["devices"][0]["device"]), ("done", "cuda emulator"), ended)
            box.ended(box.job(dataset, "straight", **SPEC))
            self.assertEqual(weights(node, "killed"), weights(node, "straight"))


class Failing(unittest.TestCase):
    def trains_on_the_cpu(self, node, box, note, dataset=None):
        """The job is done, on the CPU, with the CPU's model, and says why."""
        dataset = dataset or box.dataset(table(ROWS), "Admissions")
        job = box.job(dataset, "asked", **SPEC)
        ended = box.ended(job)
        self.assertEqual(ended["state"], "done", ended)
        self.assertTrue(ended["devices"][0]["device"].startswith("cpu "), ended["devices"])
        self.assertIn(note, ended["devices"][0]["note"])
        self.assertIn(note[1:], box.logs(job))
        self.assertEqual(box.ended(box.job(dataset, "plain", **{**SPEC, "device": "cpu"}))["state"], "done")
        return job

    def test_no_plugin(self):
        with node_with(None) as (node, box, _):
            self.assertIn("no CUDA plug-in is installed", computes(node))
            self.trains_on_the_cpu(node, box, "no CUDA plug-in is installed")
            self.assertEqual(weights(node, "asked"), weights(node, "plain"))

    def test_one_that_others_could_have_put_there(self):
        with node_with("emulated") as (node, box, plugin):
            (plugin.folder / "emulated.so").chmod(0o666)
            node.stop()
            node.start()
            node.log_in(transport="bearer")
            self.assertIn("nobody else may write there", computes(node))

    def test_no_device(self):
        with node_with("none") as (node, box, _):
            self.assertIn("planted: no device answers", computes(node))
            self.trains_on_the_cpu(node, box, "no GPU to use: planted: no device answers")
            self.assertEqual(weights(node, "asked"), weights(node, "plain"))

    def test_one_that_computes_wrongly(self):
        with node_with("wrong") as (node, box, _):
            self.assertIn("computes wrongly", computes(node))
            self.trains_on_the_cpu(node, box, "the GPU computes wrongly")

    def test_a_driver_that_asks_for_more_than_the_sandbox_gives(self):
        with node_with("call") as (node, box, _):
            self.assertIn("the worker's sandbox refuses", computes(node))
            self.trains_on_the_cpu(node, box, "the worker's sandbox refuses")
            self.assertEqual(weights(node, "asked"), weights(node, "plain"))

    def test_one_that_answered_at_the_start_and_does_no_longer(self):
        for which, note in (("call", "the sandbox refuses"), ("none", "planted: no device answers")):
            with self.subTest(which), node_with("emulated") as (node, box, plugin):
                computes(node)
                plugin.leads_to(which)
                self.trains_on_the_cpu(node, box, note)
                self.assertEqual(weights(node, "asked"), weights(node, "plain"))

    def test_one_that_is_lost_in_the_middle(self):
        for which, note in (("launch", "the GPU failed (planted: the device is lost)"), ("crash", "the GPU's driver crashed")):
            with self.subTest(which), node_with(which) as (node, box, _):
                self.assertIn("computes on the GPU (cuda planted)", computes(node))
                job = self.trains_on_the_cpu(node, box, note)
                self.assertIn("Computes on cuda planted.", box.logs(job))
                self.assertRegex(box.logs(job), "goes on from the checkpoint at step [0-9]+ on the CPU")
                # It has the CPU's operations: going on from its checkpoint is what the CPU alone would have done.
                self.assertEqual(weights(node, "asked"), weights(node, "plain"))
                self.assertFalse([f for f in box.files("jobs") if "checkpoint" in f and job in f])

    def test_one_without_memory_for_the_rows(self):
        with node_with("memory") as (node, box, _):
            computes(node)
            job = self.trains_on_the_cpu(node, box, "the GPU has no room for a batch of rows")
            self.assertIn("begins anew on the CPU", box.logs(job))
            self.assertEqual(weights(node, "asked"), weights(node, "plain"))


if __name__ == "__main__":
    model_life.BINARY, EMULATED, PLANTED = (sys.argv.pop(1) for _ in range(3))
    unittest.main()

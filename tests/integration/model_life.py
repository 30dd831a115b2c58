#!/usr/bin/env python3
"""A model through its life on a real node: a job is trained in the worker, watched, paused and resumed, its model
used, scored with, exported and destroyed; and what happens when the worker dies, memory runs out, the daemon is
killed, or a checkpoint is not what it was."""
import contextlib
import csv
import io
import math
import os
import pathlib
import random
import signal
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from samovard import Events, Samovard  # noqa: E402

BINARY = None
WAIT_SECONDS_MAX = 300  # a starved machine, not a target
OCTETS = {"Content-Type": "application/octet-stream"}
WARDS = ("Zwiebelfeld", "Quittenhof", "Lindwurm")  # words to look for on the disk


def table(rows, seed=1, target=True):
    """Admissions: who comes back depends on age, ward and weight."""
    rng = random.Random(seed)
    lines = ["patient,age,weight,ward,smoker" + (",returned" if target else "")]
    for i in range(rows):
        age, weight, ward, smoker = rng.randrange(17, 95), rng.uniform(40, 120), rng.choice(WARDS), rng.choice("yn")
        eta = (age - 55) / 15 + (1.2 if ward == WARDS[0] else -0.6) + (0.5 if smoker == "y" else 0)
        came = "yes" if rng.random() < 1 / (1 + math.exp(-eta)) else "no"
        shown = "" if i % 19 == 0 else f"{weight:.1f}"
        lines.append(f"p{i},{age},{shown},{ward},{smoker}" + (f",{came}" if target else ""))
    return ("\n".join(lines) + "\n").encode()


class Box:
    """The few calls the tests repeat."""

    def __init__(self, node):
        self.node = node

    def upload(self, content, name="table.csv"):
        return self.node.expect(201, "PUT", "/api/v1/uploads/" + name, content, headers=OCTETS).json["id"]

    def dataset(self, content, name):
        answer = self.node.expect(202, "POST", "/api/v1/datasets", {"upload_id": self.upload(content), "name": name})
        ended = self.wait("/api/v1/operations/" + answer.json["id"])
        assert ended["state"] == "done", ended
        return ended["dataset_id"]

    def wait(self, path, until=lambda item: item["state"] not in ("queued", "running")):
        end = time.monotonic() + WAIT_SECONDS_MAX
        while time.monotonic() < end:
            now = self.node.expect(200, "GET", path).json
            if until(now):
                return now
            time.sleep(0.02)
        raise AssertionError(f"{now} did not get there in time:\n{self.node.log}")

    def spec(self, dataset, name="returns", **more):
        return {"kind": "glm", "name": name, "dataset": dataset, "target": "returned", "ignore": ["patient"], **more}

    def job(self, dataset, name="returns", **more):
        return self.node.expect(201, "POST", "/api/v1/jobs", self.spec(dataset, name, **more)).json["id"]

    def ended(self, job):
        return self.wait("/api/v1/jobs/" + job)

    def wait_checkpoint(self, job):
        """A checkpoint of a job that is not over."""
        now = self.wait("/api/v1/jobs/" + job, lambda j: j["checkpoint_step"] > 0 or j["state"] not in ("queued", "running"))
        assert now["state"] == "running", f"it ended before it could be disturbed: {now}"
        return now["checkpoint_step"]

    def act(self, job, what, status=200):
        return self.node.expect(status, "POST", f"/api/v1/jobs/{job}:{what}").json

    def predict(self, name, rows, **more):
        return self.node.expect(200, "POST", f"/api/v1/models/{name}:predict", {"rows": rows, **more}).json

    def logs(self, job):
        items = self.node.expect(200, "GET", f"/api/v1/jobs/{job}/logs?limit=1000").json["items"]
        return "\n".join(line["text"] for line in items)

    def files(self, folder):
        root = pathlib.Path(self.node.state_dir) / "data" / folder
        return sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file())

    def scored(self, request):
        answer = self.node.expect(202, "POST", "/api/v1/scorings", request)
        ended = self.wait("/api/v1/scorings/" + answer.json["id"])
        return ended


# Many small steps, so that there is something to pause, kill and go on with.
LONG = {"parameters": {"solver": "adagrad", "passes": 400, "early_stop": False, "batch_rows": 64}}
# No machine is fast enough to end it while somebody looks: it is cancelled.
ENDLESS = {"parameters": {**LONG["parameters"], "passes": 100_000}}
# The third checkpoint takes its time, once: a job of which a checkpoint was seen is still there to be disturbed, however
# fast the machine is.
STALL = ["--checkpoint-steps", "50", "--failpoints", "jobs.train.checkpoint.synced=delay:8000@3"]
ROW = {"age": 80, "weight": 70.5, "ward": WARDS[0], "smoker": "y"}


@contextlib.contextmanager
def new_node(**options):
    with Samovard(BINARY, **options) as node:
        node.set_up()
        node.log_in(transport="bearer")
        yield node


def workers_of(node):
    """The ids of the samovar-worker processes of this node."""
    found = []
    for task in pathlib.Path(f"/proc/{node.process.pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found += [int(pid) for pid in (task / "children").read_text().split()]
    return found


def wait_until(what, condition):
    end = time.monotonic() + WAIT_SECONDS_MAX
    while not condition():
        if time.monotonic() >= end:
            raise AssertionError("not in time: " + what)
        time.sleep(0.05)


def user(node, name, role):
    """Makes a user; returns its id."""
    body = {"username": name, "display_name": name, "role": role, "password": "copper kettle steams"}
    return node.expect(201, "POST", "/api/v1/users", body).json["id"]


class Life(unittest.TestCase):
    def test_from_data_to_predictions(self):
        with new_node() as node:
            box = Box(node)
            dataset = box.dataset(table(3000), "Admissions")
            stream = Events(node)
            job = box.job(dataset)
            ended = box.ended(job)
            self.assertEqual(ended["state"], "done", ended)
            self.assertEqual((ended["model"], ended["model_version"], ended["share"]), ("returns", 1, 1))
            told = stream.wait_for("job.changed")
            self.assertEqual(told[1]["id"], job)
            stream.close()
            model = node.expect(200, "GET", "/api/v1/models/returns").json
            self.assertEqual(model["versions"][0]["job_id"], job)
            self.assertEqual(model["versions"][0]["dataset_id"], dataset)
            evaluation = node.expect(200, "GET", "/api/v1/models/returns/versions/1/evaluation").json
            self.assertGreater(evaluation["metrics"]["test"]["auc"]["value"], 0.7)
            answer = box.predict("returns", [ROW, dict(ROW, age=20, ward=WARDS[1])], reasons=True)
            old, young = answer["predictions"]
            self.assertGreater(old["value"], young["value"])
            self.assertTrue(old["reasons"])
            # Odd inputs have defined answers.
            odd = box.predict("returns", [{"age": "many", "ward": "nowhere", "shoe": 44}])
            self.assertTrue(0 <= odd["predictions"][0]["value"] <= 1)
            self.assertTrue({"extra_column", "missing_column"} <= {w["code"] for w in odd["warnings"]}, odd["warnings"])
            # Many rows, which are not answered on the loop, get the same answers.
            many = box.predict("returns", [ROW] * 200)["predictions"]
            self.assertEqual({p["value"] for p in many}, {old["value"]})
            # An estimate after the first job of a kind.
            estimate = node.expect(200, "POST", "/api/v1/jobs:estimate", box.spec(dataset)).json
            self.assertEqual(estimate["basis"], "measured")
            # The curve and the log are there, and survive a restart.
            metrics = node.expect(200, "GET", f"/api/v1/jobs/{job}/metrics").json
            self.assertIn("step", metrics["names"])
            node.stop()
            node.start()
            node.log_in(transport="bearer")
            self.assertEqual(box.wait(f"/api/v1/jobs/{job}/metrics", lambda m: m["names"])["names"], metrics["names"])
            self.assertEqual(box.predict("returns", [ROW])["predictions"][0]["value"], old["value"])

    def test_scoring_a_data_set_and_a_file(self):
        with new_node() as node:
            box = Box(node)
            dataset = box.dataset(table(3000), "Admissions")
            self.assertEqual(box.ended(box.job(dataset))["state"], "done")
            ended = box.scored({"model": "returns", "dataset_id": dataset, "keep": ["patient"]})
            self.assertEqual((ended["state"], ended["rows"]), ("done", 3000), ended)
            text = node.expect(200, "GET", f"/api/v1/scorings/{ended['id']}/result").text
            rows = list(csv.DictReader(io.StringIO(text)))
            self.assertEqual(len(rows), 3000)
            self.assertEqual(list(rows[0]), ["patient", "prediction", "probability_false", "probability_true"])
            # A file whose rows come back in its own order, with the answers that single requests get.
            fresh = table(2500, seed=2, target=False)
            ended = box.scored({"model": "returns", "upload_id": box.upload(fresh, "fresh.csv")})
            self.assertEqual((ended["state"], ended["rows"]), ("done", 2500), ended)
            scored = list(csv.DictReader(io.StringIO(node.expect(200, "GET", f"/api/v1/scorings/{ended['id']}/result").text)))
            asked = list(csv.DictReader(io.StringIO(fresh.decode())))
            self.assertEqual([r["patient"] for r in scored], [r["patient"] for r in asked])
            first = {"age": int(asked[1]["age"]), "weight": float(asked[1]["weight"]), "ward": asked[1]["ward"],
                     "smoker": asked[1]["smoker"]}
            single = box.predict("returns", [first])["predictions"][0]
            self.assertAlmostEqual(float(scored[1]["probability_true"]), single["value"], places=5)
            self.assertEqual(scored[1]["prediction"], single["label"])
            # Kept over a restart, gone when removed.
            node.stop()
            node.start()
            node.log_in(transport="bearer")
            again = node.expect(200, "GET", f"/api/v1/scorings/{ended['id']}").json
            self.assertEqual((again["rows"], again["result_bytes"]), (2500, ended["result_bytes"]))
            node.expect(204, "DELETE", f"/api/v1/scorings/{ended['id']}")
            node.expect(404, "GET", f"/api/v1/scorings/{ended['id']}/result")
            wait_until("its file is gone", lambda: not [f for f in box.files("scorings") if f.startswith(ended["id"])])

    def test_a_file_with_last_years_columns_is_scored_with_warnings(self):
        with new_node() as node:
            box = Box(node)
            self.assertEqual(box.ended(box.job(box.dataset(table(2000), "Admissions")))["state"], "done")
            old = b"age,ward,colour\n40,Lindwurm,red\n50,Nirgendwo,blue\n"
            ended = box.scored({"model": "returns", "upload_id": box.upload(old, "old.csv")})
            self.assertEqual((ended["state"], ended["rows"]), ("done", 2), ended)
            self.assertIn("missing_column", [w["code"] for w in ended["warnings"]])

    def test_bad_specs_and_bad_data_get_a_sentence(self):
        with new_node() as node:
            box = Box(node)
            dataset = box.dataset(table(300), "Admissions")
            answer = node.request("POST", "/api/v1/jobs", box.spec(dataset, target_typo=1))
            self.assertEqual(answer.status, 422, answer)
            node.expect(422, "POST", "/api/v1/jobs", dict(box.spec(dataset), target="nothing"))
            one_class = box.dataset(b"a,returned\n" + b"".join(b"%d,yes\n" % i for i in range(200)), "One class")
            ended = box.ended(box.job(one_class, "flat", ignore=[]))
            self.assertEqual(ended["state"], "failed", ended)
            self.assertIn("returned", ended["error"])


class Control(unittest.TestCase):
    def test_pause_resume_and_the_same_model(self):
        with new_node(arguments=STALL) as node:
            box = Box(node)
            dataset = box.dataset(table(4000), "Admissions")
            job = box.job(dataset, "stopped", **LONG)
            box.wait_checkpoint(job)
            paused = box.act(job, "pause")
            self.assertEqual(paused["state"], "paused", paused)
            self.assertGreater(paused["checkpoint_step"], 0)
            node.expect(409, "POST", f"/api/v1/jobs/{job}:pause")
            node.expect(409, "POST", f"/api/v1/jobs/{job}:retry")
            box.act(job, "resume")
            self.assertEqual(box.ended(job)["state"], "done")
            self.assertIn("Goes on from the checkpoint", box.logs(job))
            straight = box.ended(box.job(dataset, "straight", **LONG))
            self.assertEqual(straight["state"], "done", straight)
            same = [box.predict(name, [ROW, dict(ROW, age=33)])["predictions"] for name in ("straight", "stopped")]
            self.assertEqual(*same)  # to the last bit
            steps = node.expect(200, "GET", f"/api/v1/jobs/{job}/metrics").json
            column = steps["cols"][steps["names"].index("step")]
            self.assertEqual(column, sorted(set(column)))

    def test_cancel_retry_protect_remove(self):
        with new_node(arguments=["--checkpoint-steps", "50"]) as node:
            box = Box(node)
            dataset = box.dataset(table(4000), "Admissions")
            job = box.job(dataset, **ENDLESS)
            waiting = box.job(dataset, "second", **ENDLESS)
            self.assertEqual(node.expect(200, "GET", "/api/v1/jobs/" + waiting).json["queue_position"], 1)
            node.expect(409, "DELETE", "/api/v1/jobs/" + job)
            self.assertEqual(box.act(job, "cancel")["state"], "cancelled")
            self.assertEqual(box.act(waiting, "cancel")["state"], "cancelled")
            wait_until("no worker is left", lambda: workers_of(node) == [])
            again = box.act(job, "retry")
            self.assertEqual(again["attempt"], 2)
            box.act(job, "cancel")
            node.expect(200, "PATCH", "/api/v1/jobs/" + job, {"protected": True})
            node.expect(409, "DELETE", "/api/v1/jobs/" + job)
            node.expect(200, "PATCH", "/api/v1/jobs/" + job, {"protected": False})
            node.expect(204, "DELETE", "/api/v1/jobs/" + job)
            wait_until("its files are gone", lambda: not [f for f in box.files("jobs") if f.startswith(job)])

    def test_the_urgent_begin_first(self):
        with new_node() as node:
            box = Box(node)
            dataset = box.dataset(table(3000), "Admissions")
            first = box.job(dataset, "first", **ENDLESS)
            box.wait("/api/v1/jobs/" + first, lambda j: j["state"] == "running")
            names = {"low": "low", "usual": None, "high": "high", "late": -1}
            ids = {name: box.job(dataset, name, **({"priority": how} if how is not None else {})) for name, how in names.items()}

            def queue():
                jobs = node.expect(200, "GET", "/api/v1/jobs?state=queued").json["items"]
                return [j["name"] for j in sorted(jobs, key=lambda j: j["queue_position"])]

            self.assertEqual(queue(), ["high", "usual", "late", "low"])
            path = "/api/v1/jobs/" + ids["late"]
            self.assertEqual(node.expect(200, "PATCH", path, {"priority": "high"}).json["priority"], 10)
            self.assertEqual(queue(), ["high", "late", "usual", "low"])
            node.expect(422, "PATCH", path, {"priority": "yesterday"})
            node.expect(422, "PATCH", path, {})
            box.act(first, "cancel")
            begun = {name: box.ended(job)["started_at"] for name, job in ids.items()}
            self.assertEqual(sorted(begun, key=lambda name: begun[name]), ["high", "late", "usual", "low"])
            self.assertEqual(node.request("PATCH", path, {"priority": 1}).status, 409)

    def test_a_removed_version_leaves_nothing(self):
        with new_node() as node:
            box = Box(node)
            dataset = box.dataset(table(2000), "Admissions")
            for _ in range(2):
                self.assertEqual(box.ended(box.job(dataset))["state"], "done")
            wait_until("two files each", lambda: len(box.files("models")) == 4)
            node.expect(200, "POST", "/api/v1/models/returns/versions/2:promote")
            node.expect(409, "DELETE", "/api/v1/models/returns/versions/2")
            node.expect(204, "DELETE", "/api/v1/models/returns/versions/1")
            wait_until("two files are gone", lambda: len(box.files("models")) == 2)
            node.expect(404, "GET", "/api/v1/models/returns/versions/1/evaluation")
            self.assertEqual(box.predict("returns", [ROW])["version"], 2)


class Rights(unittest.TestCase):
    def test_who_may_see_and_use(self):
        with new_node() as node:
            box = Box(node)
            dataset = box.dataset(table(2000), "Admissions")
            job = box.job(dataset)
            self.assertEqual(box.ended(job)["state"], "done")
            friend, stranger = user(node, "bob", "analyst"), user(node, "eve", "analyst")
            node.expect(200, "PUT", f"/api/v1/models/returns/grants/{friend}")
            self.assertTrue(stranger)
            node.log_in("bob", "copper kettle steams", transport="bearer")
            box.predict("returns", [ROW])
            node.expect(422, "POST", "/api/v1/jobs", box.spec(dataset, "mine"))  # the model is granted, the rows are not
            node.log_in("eve", "copper kettle steams", transport="bearer")
            for path in ("/api/v1/models/returns", "/api/v1/jobs/" + job, f"/api/v1/jobs/{job}/logs"):
                node.expect(404, "GET", path)
            node.expect(404, "POST", "/api/v1/models/returns:predict", {"rows": [ROW]})


class Trouble(unittest.TestCase):
    def test_a_killed_worker_fails_the_job_and_keeps_the_checkpoint(self):
        with new_node(arguments=STALL) as node:
            box = Box(node)
            job = box.job(box.dataset(table(4000), "Admissions"), **LONG)
            box.wait_checkpoint(job)
            for pid in workers_of(node):
                os.kill(pid, signal.SIGKILL)
            ended = box.ended(job)
            self.assertEqual(ended["state"], "failed", ended)
            self.assertIn("checkpoint is kept", ended["error"])
            step = ended["checkpoint_step"]
            self.assertGreater(step, 0)
            box.act(job, "retry")
            self.assertEqual(box.ended(job)["state"], "done")
            self.assertIn(f"Goes on from the checkpoint at step {step}", box.logs(job))

    def test_a_model_that_does_not_fit_into_memory_gets_a_sentence(self):
        with new_node(arguments=["--worker-memory-mib", "160"]) as node:
            box = Box(node)
            job = box.job(box.dataset(table(2000), "Admissions"),
                          features={"categories": "hash", "hash_bits": 28}, parameters={"solver": "adagrad", "passes": 2})
            ended = box.ended(job)
            self.assertEqual(ended["state"], "failed", ended)
            self.assertIn("memory", ended["error"])
            node.expect(200, "GET", "/api/v1/cluster")

    def test_a_restart_goes_on_from_the_checkpoint(self):
        with new_node(arguments=STALL) as node:
            box = Box(node)
            dataset = box.dataset(table(4000), "Admissions")
            job = box.job(dataset, **LONG)
            step = box.wait_checkpoint(job)
            node.kill()
            node.start()
            node.log_in(transport="bearer")
            self.assertEqual(box.ended(job)["state"], "done")
            self.assertRegex(box.logs(job), "Goes on from the checkpoint at step [0-9]+")
            self.assertGreaterEqual(int(box.logs(job).split("checkpoint at step ")[1].split(".")[0]), step)

    def test_a_damaged_checkpoint_begins_anew(self):
        with new_node(arguments=STALL) as node:
            box = Box(node)
            job = box.job(box.dataset(table(4000), "Admissions"), **LONG)
            box.wait_checkpoint(job)
            paused = box.act(job, "pause")
            folder = pathlib.Path(node.state_dir) / "data" / "jobs" / job
            name = f"checkpoint-{paused['checkpoint_step']}"
            kept = [p for p in folder.iterdir() if p.name in (name, name + "-b")]
            self.assertEqual(len(kept), 1)
            content = bytearray(kept[0].read_bytes())
            content[len(content) // 2] ^= 1
            kept[0].write_bytes(content)
            box.act(job, "resume")
            self.assertEqual(box.ended(job)["state"], "done")
            self.assertIn("begins anew", box.logs(job))

    def test_nothing_readable_lies_on_the_disk(self):
        with new_node(arguments=STALL) as node:
            box = Box(node)
            dataset = box.dataset(table(4000), "Admissions")
            job = box.job(dataset, **LONG)
            box.wait_checkpoint(job)
            box.act(job, "pause")
            self.look_for_words(node)
            box.act(job, "resume")
            self.assertEqual(box.ended(job)["state"], "done")
            box.scored({"model": "returns", "dataset_id": dataset})
            self.look_for_words(node)
            # The search itself finds what lies open.
            planted = pathlib.Path(node.state_dir) / "data" / "planted"
            planted.write_bytes(b"..." + WARDS[0].encode() + b"...")
            with self.assertRaises(AssertionError):
                self.look_for_words(node)

    def look_for_words(self, node):
        for path in pathlib.Path(node.state_dir).rglob("*"):
            if path.is_file():
                try:
                    content = path.read_bytes()
                except FileNotFoundError:  # the node works on, and files come and go
                    continue
                for word in (*WARDS, "smoker", "weight", "returned"):
                    self.assertNotIn(word.encode(), content, path)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main()

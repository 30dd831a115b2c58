#!/usr/bin/env python3
"""A client of the Open Inference Protocol v2, written from its specification, against a real node: a service account
with a token of the scope predict, and requests right and wrong. Says how long one row takes beyond an empty route."""
import http.client
import json
import math
import pathlib
import random
import ssl
import statistics
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from samovard import Samovard  # noqa: E402

BINARY = None
WAIT_SECONDS_MAX = 180  # a starved machine, not a target
OCTETS = {"Content-Type": "application/octet-stream"}


def table(rows):
    rng = random.Random(7)
    lines = ["age,weight,ward,smoker,returned"]
    for _ in range(rows):
        age, weight, ward, smoker = rng.randrange(17, 95), rng.uniform(40, 120), rng.choice("ABC"), rng.random() < 0.3
        eta = (age - 55) / 15 + (1.2 if ward == "A" else -0.6) + (0.5 if smoker else 0)
        came = "back" if rng.random() < 1 / (1 + math.exp(-eta)) else "away"
        lines.append(f"{age},{weight:.1f},{ward},{'true' if smoker else 'false'},{came}")
    return ("\n".join(lines) + "\n").encode()


def wait(node, path):
    end = time.monotonic() + WAIT_SECONDS_MAX
    while time.monotonic() < end:
        now = node.expect(200, "GET", path).json
        if now["state"] not in ("queued", "running"):
            return now
        time.sleep(0.02)
    raise AssertionError(f"{path} did not end in time:\n{node.log}")


def trained(node, name="returns"):
    upload = node.expect(201, "PUT", "/api/v1/uploads/t.csv", table(2000), headers=OCTETS, timeout=120).json["id"]
    made = node.expect(202, "POST", "/api/v1/datasets", {"upload_id": upload, "name": "Admissions"}).json
    dataset = wait(node, "/api/v1/operations/" + made["id"])["dataset_id"]
    spec = {"kind": "glm", "name": name, "dataset": dataset, "target": "returned"}
    ended = wait(node, "/api/v1/jobs/" + node.expect(201, "POST", "/api/v1/jobs", spec).json["id"])
    assert ended["state"] == "done", ended


class Client:
    """One connection that is kept open, as programs do."""

    def __init__(self, node, token):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        self.connection = http.client.HTTPSConnection("127.0.0.1", node.port, context=context, timeout=60)
        self.headers = {"Authorization": "Bearer " + token} if token else {}

    def ask(self, method, path, body=None):
        headers = dict(self.headers)
        if body is not None:
            headers["Content-Type"] = "application/json"
            body = body if isinstance(body, (str, bytes)) else json.dumps(body)
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None


def tensor(name, datatype, data, shape=None):
    return {"name": name, "datatype": datatype, "shape": shape or [len(data)], "data": data}


ROWS = [tensor("age", "INT64", [80, 20]), tensor("weight", "FP64", [[70.5], [61.0]], [2, 1]),
        tensor("ward", "BYTES", ["A", "B"]), tensor("smoker", "BOOL", [True, False])]


class Protocol(unittest.TestCase):
    def setUp(self):
        self.node = Samovard(BINARY).start()
        self.addCleanup(self.node.clean)
        self.addCleanup(self.node.stop)
        self.node.set_up()
        self.node.log_in(transport="bearer")
        trained(self.node)
        # A program's own account: it was granted one model, and its token opens nothing else.
        user = {"username": "ward-app", "display_name": "", "role": "service", "password": "birch smoke and honey"}
        robot = self.node.expect(201, "POST", "/api/v1/users", user).json["id"]
        self.node.expect(200, "PUT", "/api/v1/models/returns/grants/" + robot)
        admin = self.node.token
        self.node.log_in("ward-app", "birch smoke and honey", transport="bearer")
        body = {"name": "app", "scopes": ["predict"], "expires_days": 30}
        self.client = Client(self.node, self.node.expect(201, "POST", "/api/v1/tokens", body).json["token"])
        self.addCleanup(self.client.connection.close)
        self.node.token = admin

    def shares_of(self, outputs, label):
        """The probability of one class, for each row."""
        classes = json.loads(outputs["probabilities"]["parameters"]["classes"])
        rows = outputs["probabilities"]["data"]
        return rows[classes.index(label)::len(classes)]

    def stranger(self, method, path, body=None):
        client = Client(self.node, None)
        try:
            return client.ask(method, path, body)
        finally:
            client.connection.close()

    def test_the_whole_protocol(self):
        ask = self.client.ask
        self.assertEqual(self.stranger("GET", "/v2/health/live"), (200, {"live": True}))
        self.assertEqual(self.stranger("GET", "/v2/health/ready")[0], 200)
        status, server = ask("GET", "/v2")
        self.assertEqual((status, server["name"]), (200, "samovar"))
        status, model = ask("GET", "/v2/models/returns")
        self.assertEqual((status, model["name"], model["versions"], model["platform"]),
                         (200, "returns", ["1"], "samovar_glm"))
        types = {i["name"]: i["datatype"] for i in model["inputs"]}
        self.assertEqual(types, {"age": "INT64", "weight": "FP64", "ward": "BYTES", "smoker": "BOOL"})
        self.assertEqual([o["name"] for o in model["outputs"]], ["prediction", "label", "probabilities"])
        self.assertEqual(ask("GET", "/v2/models/returns/versions/1/ready"), (200, {"name": "returns", "ready": True}))
        status, answer = ask("POST", "/v2/models/returns/infer", {"id": "42", "inputs": ROWS})
        self.assertEqual(status, 200, answer)
        self.assertEqual((answer["model_name"], answer["model_version"], answer["id"]), ("returns", "1", "42"))
        outputs = {o["name"]: o for o in answer["outputs"]}
        self.assertEqual(outputs["prediction"]["datatype"], "FP64")
        self.assertEqual(outputs["prediction"]["shape"], [2])
        self.assertEqual(outputs["probabilities"]["shape"], [2, 2])
        old, young = self.shares_of(outputs, "back")
        self.assertGreater(old, young)
        self.assertEqual(outputs["label"]["data"], ["back" if p > 0.5 else "away" for p in self.shares_of(outputs, "back")])
        # The same as the other way of asking.
        rows = [{"age": 80, "weight": 70.5, "ward": "A", "smoker": True}]
        status, same = ask("POST", "/api/v1/models/returns:predict", {"rows": rows})
        self.assertEqual((status, same["predictions"][0]["value"]), (200, outputs["prediction"]["data"][0]))
        # Reasons, chosen outputs, a missing value and an input nobody knows.
        body = {"inputs": [tensor("age", "INT32", [80]), tensor("ward", "BYTES", [None]), tensor("x", "FP32", [1])],
                "outputs": [{"name": "prediction"}, {"name": "reasons"}]}
        status, told = ask("POST", "/v2/models/returns/versions/1/infer", body)
        self.assertEqual((status, [o["name"] for o in told["outputs"]]), (200, ["prediction", "reasons"]), told)
        self.assertTrue(json.loads(told["outputs"][1]["data"][0]))
        codes = {w["code"] for w in json.loads(told["parameters"]["warnings"])}
        self.assertIn("extra_column", codes)

    def test_malformed_requests_get_the_protocols_errors(self):
        infer = "/v2/models/returns/infer"
        bad = ["", "{", "[]", {"inputs": []}, {"inputs": [tensor("age", "INT64", [1], [2])]},
               {"inputs": [tensor("age", "int64", [1])]}, {"inputs": [tensor("age", "INT64", ["1"])]},
               {"inputs": [tensor("age", "INT64", [1, 2], [1, 2])]}, {"inputs": ROWS, "outputs": [{"name": "logits"}]},
               {"inputs": ROWS[:1] + [tensor("weight", "FP64", [1.0])]}, {"inputs": [{"name": "age"}]},
               {"inputs": [dict(tensor("age", "INT64", [1]), parameters={"binary_data_size": 8})]}]
        for body in bad:
            status, answer = self.client.ask("POST", infer, body)
            self.assertEqual(status, 400, (body, answer))
            self.assertTrue(answer["error"], body)
        for path in ("/v2/models/none", "/v2/models/returns/versions/9", "/v2/models/none/ready"):
            status, answer = self.client.ask("GET", path)
            self.assertEqual((status, bool(answer["error"])), (404, True), path)
        status, answer = self.stranger("POST", infer, {"inputs": ROWS})
        self.assertEqual((status, bool(answer["error"])), (401, True))
        for path in ("/api/v1/models", "/api/v1/datasets", "/api/v1/jobs"):
            self.assertEqual(self.client.ask("GET", path)[0], 403, path)

    def test_how_long_one_row_takes(self):
        """Shown, not judged: a busy machine is no fault of the program."""
        row = {"rows": [{"age": 80, "weight": 70.5, "ward": "A", "smoker": True}]}
        asked = {"an empty route": ("GET", "/v2", None), "one row as JSON": ("POST", "/api/v1/models/returns:predict", row),
                 "one row as tensors": ("POST", "/v2/models/returns/infer", {"inputs": [dict(t, shape=[1], data=[t["data"][0]])
                  if len(t["shape"]) == 1 else dict(t, shape=[1, 1], data=[t["data"][0]]) for t in ROWS]})}
        texts = {what: json.dumps(body) if body else None for what, (_, _, body) in asked.items()}
        taken = {what: [] for what in asked}
        for _ in range(200):  # in turns, so that they share the machine's moods
            for what, (method, path, _) in asked.items():
                begin = time.perf_counter()
                self.assertEqual(self.client.ask(method, path, texts[what])[0], 200)
                taken[what].append(time.perf_counter() - begin)
                time.sleep(0.011)  # below the limit of requests a second, also where an answer takes no time; the connection stays
        times = {what: statistics.median(all_of) * 1000 for what, all_of in taken.items()}
        print("; ".join(f"{what}: p50 {ms:.2f} ms" for what, ms in times.items()), file=sys.stderr)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)

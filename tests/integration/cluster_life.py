#!/usr/bin/env python3
"""Real nodes on loopback: they find each other, join by code, serve alike, lose one and go on.

    cluster_life.py SAMOVARD [unittest arguments]
"""
import pathlib
import random
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cluster import Cluster, until  # noqa: E402
from samovard import ADMIN  # noqa: E402

BINARY = None
GRACE = ["--repair-grace", "1"]  # seconds a lost node still counts: a test does not wait for a minute
ROWS = 4000


def table(rows=ROWS, seed=1):
    rng = random.Random(seed)
    lines = ["id,age,ward,weight"] + [f"{i},{rng.randrange(17, 95)},{rng.choice('NSE')},{rng.uniform(40, 120):.1f}"
                                      for i in range(rows)]
    return ("\n".join(lines) + "\n").encode()


def add_user(node, name):
    return node.expect(201, "POST", "/api/v1/users", {"username": name, "role": "viewer",
                                                      "password": "birch smoke and honey"}).json


def has_user(node, name):
    return any(u["username"] == name for u in node.items("/users?limit=200"))


def upload(node, name, content, **more):
    """The id of the data set, after its ingest ended."""
    made = node.expect(201, "PUT", "/api/v1/uploads/table.csv", content,
                       headers={"Content-Type": "application/octet-stream"}).json
    begun = node.expect(202, "POST", "/api/v1/datasets", {"upload_id": made["id"], "name": name, **more}).json

    def ended():
        now = node.asks("/operations/" + begun["id"])
        return now if now["state"] not in ("queued", "running") else None
    done = until("the ingest ends", ended)
    assert done["state"] == "done", done
    return done["dataset_id"]


def rows_of(node, dataset):
    text = node.expect(200, "GET", f"/api/v1/datasets/{dataset}/download").text
    return sorted(int(line.split(",")[0]) for line in text.split("\r\n")[1:] if line)


def wait_rows(node, dataset):
    """Until it has all of them: what it lacks it fetches from others, which it may not have found again yet."""
    until(f"{node.name} reads all rows", lambda: rows_of(node, dataset) == list(range(ROWS)))


def holders(node, dataset):
    """One set of node ids per shard."""
    return [{n["id"] for n in shard["nodes"]} for shard in node.asks(f"/datasets/{dataset}/shards")["items"]]


class Joining(unittest.TestCase):
    def test_codes_decide(self):
        with Cluster(BINARY, nodes=2) as cluster:
            member, new = cluster.nodes
            cluster.form(count=1)
            new.start()
            row = cluster.find(new, member)
            self.assertEqual(row["short_id"], new.setup()["join"]["short_id"])
            self.assertEqual(member.post(f"/api/v1/peers/{new.id}:approve", {"password": "not the password"}).status, 403)

            wrong = self.wrong(cluster.approve(new, member))
            self.assertEqual(new.setup()["join"]["cluster_name"], "Kettle")
            answer = member.post(f"/api/v1/peers/{new.id}:confirm", {"code": wrong})
            self.assertEqual((answer.status, answer.code, answer.json["tries_left"]), (422, "wrong_code", 2))
            # Given up: the machine waits again, and the code is worth nothing any more.
            code = new.setup()["join"]["code"].replace(" ", "")
            member.expect(204, "POST", f"/api/v1/peers/{new.id}:cancel")
            self.assertEqual(member.post(f"/api/v1/peers/{new.id}:confirm", {"code": code}).status, 409)
            until("it waits again", lambda: new.setup()["join"]["state"] == "waiting")
            cluster.find(new, member)

            code = cluster.approve(new, member)
            for left in (2, 1):
                answer = member.post(f"/api/v1/peers/{new.id}:confirm", {"code": self.wrong(code)})
                self.assertEqual((answer.code, answer.json["tries_left"]), ("wrong_code", left))
            member.post(f"/api/v1/peers/{new.id}:confirm", {"code": self.wrong(code)})
            late = member.post(f"/api/v1/peers/{new.id}:confirm", {"code": code})
            self.assertIn(late.status, (403, 409, 429), late)
            self.assertEqual(new.setup()["phase"], "new")
            self.assertEqual(len([n for n in member.items("/nodes") if n["state"] != "removed"]), 1)

    @staticmethod
    def wrong(code):
        return code[:5] + str((int(code[5]) + 1) % 10)

    def test_five_words(self):
        with Cluster(BINARY, nodes=2) as cluster:
            member, new = cluster.nodes
            cluster.form(count=1)
            new.start()
            cluster.find(new, member)
            words = member.expect(200, "POST", "/api/v1/peers:invite", {"password": ADMIN["password"]}).json
            self.assertEqual(len(words["words"].replace("-", " ").split()), 5, words)
            bad = new.post("/api/v1/setup:join", {"setup_code": "WRONG", "words": words["words"]})
            self.assertEqual(bad.code, "wrong_setup_code")
            new.expect(202, "POST", "/api/v1/setup:join", {"setup_code": new.code, "words": words["words"]})
            cluster.wait_member(new)
            self.assertEqual(len(member.items("/nodes")), 2)


class ThreeNodes(unittest.TestCase):
    """One cluster for all of them, in the order of the names."""

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(BINARY, nodes=3, arguments=GRACE)
        try:
            seconds = cls.cluster.form()
        except BaseException:
            cls.cluster.__exit__(AssertionError)
            raise
        print(f"three nodes formed in {seconds:.1f} s after the first approval (goal 30)")

    @classmethod
    def tearDownClass(cls):
        cls.cluster.__exit__(None)

    def tearDown(self):
        if not self._outcome.success:
            self.cluster.tell_logs()

    def test_1_every_node_serves_alike(self):
        for number, node in enumerate(self.cluster.nodes):
            # One that follows hears of the last that joined a moment later.
            until(f"{node.name} knows all", lambda n=node: (lambda c: (c["name"], c["nodes"]["total"]))(n.asks("/cluster")) == (
                "Kettle", 3))
            name = f"guest{number}"
            add_user(node, name)
            self.assertTrue(has_user(node, name), "a node reads what it wrote")
            for other in self.cluster.nodes:
                until(f"{other.name} has {name}", lambda o=other: has_user(o, name))
        until("all are up", lambda: all(n["state"] == "up" for n in self.cluster.nodes[0].items("/nodes")))
        self.cluster.wait_equal()
        # Logging in works anywhere, and a session holds everywhere.
        session = self.cluster.nodes[1].post("/api/v1/session", {
            "username": ADMIN["username"], "password": ADMIN["password"], "transport": "bearer"}).json["session_token"]
        until("the session is known", lambda: self.cluster.nodes[2].get(
            "/api/v1/session", headers={"Authorization": "Bearer " + session}).status == 200)

    def test_2_data_of_one_is_read_on_all(self):
        first, second, third = self.cluster.nodes
        content = table()
        dataset = upload(second, "Ward", content)
        for node in (first, second, third):
            preview = until(f"{node.name} has it", lambda n=node: n.asks(f"/datasets/{dataset}/preview"))
            self.assertEqual([c["name"] for c in preview["columns"]], ["id", "age", "ward", "weight"])
            wait_rows(node, dataset)

        def copies():
            shards = first.asks(f"/datasets/{dataset}/shards")
            return (shards["copies_wanted"], shards["copies_now"], shards["may_lose"])
        until("two copies", lambda: copies() == (2, 2, 1))
        type(self).dataset = dataset

    def test_3_a_killed_holder_is_replaced(self):
        dataset = self.dataset
        victim = self.cluster.by_id(next(iter(holders(self.cluster.nodes[0], dataset)[0])))
        before = holders(self.cluster.nodes[0], dataset)
        victim.kill()
        other = self.cluster.any()
        began = time.monotonic()
        self.cluster.wait_leader()
        print(f"a leader after {time.monotonic() - began:.1f} s (goal 5)")
        until("it is seen as away", lambda: any(n["id"] == victim.id and n["state"] == "unreachable" for n in other.items("/nodes")))
        for node in self.cluster.alive():
            wait_rows(node, dataset)
        add_user(other, "while-away")

        def repaired():
            shards = other.asks(f"/datasets/{dataset}/shards")
            return shards["copies_now"] >= 2
        until("full copies without it", repaired, 120)
        print(f"full copies again after {time.monotonic() - began:.1f} s")
        moved = [len(now - then) for now, then in zip(holders(other, dataset), before)]
        print(f"shards that got a new holder: {sum(1 for m in moved if m)} of {len(moved)}, which had lost one: "
              f"{sum(1 for b in before if victim.id in b)}")
        victim.start()
        victim.wait_ready()
        until("it is back", lambda: all(n["state"] == "up" for n in other.items("/nodes")))
        until("it heard what it missed", lambda: has_user(victim, "while-away"))
        wait_rows(victim, dataset)
        self.cluster.wait_equal()

    def test_4_a_minority_reads_and_refuses_to_write(self):
        keep, *rest = self.cluster.nodes
        for node in rest:
            node.kill()
        # The first may have been on its way already: then nobody can say whether it will come through. The next ones
        # are refused before anything happens, and at the latest when both are missed say so.
        until("a write is refused", lambda: "1 of 3" in self.refusal(keep).json["detail"])
        self.assertTrue(has_user(keep, "while-away"), "reads go on")
        self.assertEqual(keep.asks("/cluster")["name"], "Kettle")
        for node in rest:
            node.start()
            node.wait_ready()
        until("writes go on", lambda: keep.post("/api/v1/users", {
            "username": "back", "role": "viewer", "password": "birch smoke and honey"}).status in (201, 409))
        self.cluster.wait_equal()

    @staticmethod
    def refusal(node):
        answer = node.post("/api/v1/users", {"username": "nobody", "role": "viewer", "password": "birch smoke and honey"})
        assert answer.status in (503, 409), answer
        assert answer.code == "no_quorum", answer
        return answer

    def test_5_all_stop_and_start(self):
        before = self.cluster.wait_equal()
        for node in self.cluster.nodes:
            node.kill()
        self.cluster.start_all()
        self.cluster.wait_leader()
        after = self.cluster.wait_equal()
        self.assertGreaterEqual(after["entries"], before["entries"])
        self.assertEqual(after["/users"], before["/users"])
        for node in self.cluster.nodes:
            wait_rows(node, self.dataset)

    def test_6_a_drained_node_leaves(self):
        stay = self.cluster.nodes[0]
        leaver = self.cluster.nodes[2]
        stay.log_in(transport="bearer")  # removing asks for a fresh password
        stay.expect(200, "POST", f"/api/v1/nodes/{leaver.id}:drain")

        def empty():
            preview = stay.asks(f"/nodes/{leaver.id}:removal")
            return preview["last_copies"] == 0 and preview["below_wanted"] == 0
        until("nothing depends on it", empty, 120)
        stay.expect(204, "DELETE", f"/api/v1/nodes/{leaver.id}")
        until("it knows", lambda: leaver.setup()["phase"] == "removed" or not leaver.alive())
        wait_rows(stay, self.dataset)
        self.cluster.wait_leader(among=self.cluster.nodes[:2])  # the one that left may have led
        add_user(stay, "after-removal")


class Strangers(unittest.TestCase):
    def test_one_that_was_away_follows_a_leader_who_joined_meanwhile(self):
        with Cluster(BINARY, nodes=4, arguments=GRACE) as cluster:
            cluster.form(count=3)
            first, second, away, fresh = cluster.nodes
            away.stop()
            cluster.wait_leader(among=[first, second])  # the one that is away may have led
            cluster.join(fresh, via=first)
            # The one that was away knows nothing of the one who leads when it comes back.
            first.expect(200, "POST", f"/api/v1/nodes/{away.id}:drain")
            until("the new one votes", lambda: any(
                n["id"] == fresh.id and n["voice"] == "voter" for n in first.items("/nodes")))
            self.make_lead(fresh, first, second)
            away.start()
            away.wait_ready()
            add_user(fresh, "seen-by-all")
            until("it has what the new leader has", lambda: has_user(away, "seen-by-all"))

    @staticmethod
    def make_lead(wanted, majority, late):
        """The late one misses a write, so of these two only the wanted one can be elected; then all are back."""
        late.stop()
        until("a write without the late one", lambda: add_user(wanted, f"missed-{time.monotonic_ns()}"))
        majority.stop()
        late.start()
        late.wait_ready()
        until("the wanted one leads", lambda: any(n["leader"] and n["id"] == wanted.id for n in wanted.items("/nodes")))
        majority.start()
        majority.wait_ready()


class AloneFirst(unittest.TestCase):
    def test_what_a_box_made_alone_gets_its_copies_when_another_joins(self):
        with Cluster(BINARY, nodes=2, arguments=GRACE) as cluster:
            cluster.form(count=1)
            first, second = cluster.nodes
            table = "a,b,y\n" + "".join(f"{i},{i * 7 % 13},{'yes' if i * 7 % 13 > 5 else 'no'}\n" for i in range(400))
            dataset = upload(first, "alone", table.encode())
            job = first.expect(201, "POST", "/api/v1/jobs", {"kind": "glm", "name": "alone", "dataset": dataset,
                                                             "target": "y"}).json["id"]
            until("it is trained", lambda: first.asks("/jobs/" + job)["state"] == "done", 300)
            cluster.join(second)
            made = self.files(first)
            self.assertTrue(any("/models/" in name for name in made) and any("/versions/" in name for name in made), made)
            until("the second has them too", lambda: self.files(second) == made)
            first.kill()
            answer = second.expect(200, "POST", "/api/v1/models/alone:predict", {"rows": [{"a": 1, "b": 12}]})
            self.assertEqual(len(answer.json["predictions"]), 1, answer)

    @staticmethod
    def files(node):
        """Sealed files of data and models, by their places below the state."""
        root = pathlib.Path(node.state_dir)
        return {"/" + str(path.relative_to(root)) for path in root.rglob("*")
                if path.is_file() and path.parent.parent.name in ("models", "versions")}


class WasAway(unittest.TestCase):
    def test_one_that_missed_a_snapshot_gets_the_state_whole_and_goes_on(self):
        with Cluster(BINARY, nodes=3, arguments=GRACE) as cluster:
            cluster.form()
            dataset = upload(cluster.nodes[0], "to be destroyed", table(100))
            absent = next(n for n in cluster.nodes if n is not cluster.wait_leader())
            here = next(n for n in cluster.nodes if n is not absent)
            absent.kill()
            # A destroyed key is to leave the log, too: the leader shortens it at once, and behind that place there
            # are only snapshots to be had.
            here.expect(204, "DELETE", f"/api/v1/datasets/{dataset}")
            here.expect(204, "POST", f"/api/v1/datasets/{dataset}:destroy")
            for number in range(6):
                add_user(here, f"meanwhile-{number}")
            absent.start()
            absent.wait_ready()
            until("it has what the others have", lambda: has_user(absent, "meanwhile-5"))
            self.assertTrue(absent.alive())
            add_user(absent, "by-the-one-back")


class LostMajority(unittest.TestCase):
    @staticmethod
    def recover(node, ident):
        return subprocess.run([BINARY, "--state-dir", node.state_dir, "--recover-alone", "--yes-alone", ident],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180)

    def test_the_last_one_goes_on_alone_when_told_so_at_its_console(self):
        with Cluster(BINARY, nodes=3, arguments=GRACE) as cluster:
            cluster.form()
            last, *others = cluster.nodes
            add_user(last, "before")
            for node in others:
                node.kill()
            until("a minority refuses", lambda: last.post(
                "/api/v1/users", {"username": "refused", "role": "viewer",
                                  "password": "birch smoke and honey"}).status == 503)
            self.assertNotEqual(self.recover(last, last.id).returncode, 0, "refused while it runs")
            last.stop()
            self.assertIn("not the id of this node", self.recover(last, others[0].id).stderr)
            done = self.recover(last, last.id)
            self.assertEqual(done.returncode, 0, done.stderr)
            last.start()
            last.wait_ready()
            until("it lets people in", last.log_in)  # which is a change, and needs a leader
            until("it leads", lambda: cluster.leader_seen_by(last) is last)
            self.assertTrue(has_user(last, "before"))
            add_user(last, "after")
            until("the act is in the audit log", lambda: last.items("/audit?action=cluster.recover"))
            for node in others:
                last.expect(204, "DELETE", f"/api/v1/nodes/{node.id}?force=1")
            until("it is alone", lambda: len([n for n in last.items("/nodes") if n["state"] == "up"]) == 1)


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main(verbosity=2)

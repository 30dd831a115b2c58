#!/usr/bin/env python3
"""Kills leaders and cuts networks of a real cluster under write load. What was acknowledged must be there, once.

    cluster_kill.py SAMOVARD [--nodes N] [--kills N] [--cuts N] [--writers N] [--seed S]

Writers create and delete tokens through whichever node answers; a write whose answer did not come is repeated with the
same Idempotency-Key elsewhere until somebody answers. At the end every acknowledged write is in the audit log exactly
once, on every node, and all nodes hold the same state. Cuts need root (network namespaces); without, nodes are frozen
and thawed instead. The positive control: a write that was never made is claimed to be acknowledged, and must be missed.
"""
import argparse
import collections
import http.client
import pathlib
import random
import signal
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import networks  # noqa: E402
from cluster import Cluster, until  # noqa: E402
from samovard import ADMIN  # noqa: E402

KEPT_PER_WRITER = 15  # tokens at a time: a user may have a hundred
REAUTH_SECONDS = 200  # the password counts for five minutes
HEAL_SECONDS_MAX = 180  # a starved machine; the figure that counts is printed
TRY_SECONDS_MAX = 8  # then another node is asked: this one may be frozen or cut off
END_SECONDS_MAX = 240  # for a writer: its last tries on a starved machine


class Writer(threading.Thread):
    def __init__(self, cluster, number, stop):
        super().__init__(daemon=True)
        self.cluster, self.number, self.stop = cluster, number, stop
        self.made, self.deleted = {}, set()  # name → id, ids: acknowledged
        self.unsure = set()                  # names whose answer never came
        self.at = number
        self.last_ack = time.monotonic()
        self.gap_max, self.gap_story, self.tries = 0.0, [], []  # the longest wait, and what was tried in it
        self.trouble = collections.Counter()
        self.failure = None

    def run(self):
        try:
            kept, count = [], 0
            while not self.stop.is_set():
                name = f"w{self.number}-{count}"
                count += 1
                token = self.until_answered("POST", "/api/v1/tokens", {"name": name, "scopes": ["read"], "expires_days": 1},
                                            {"Idempotency-Key": f"key-{name}"}, 201)
                if token is None:
                    self.unsure.add(name)
                    continue
                self.made[name] = token["id"]
                kept.append(token["id"])
                if len(kept) > KEPT_PER_WRITER:
                    oldest = kept.pop(0)
                    if self.until_answered("DELETE", "/api/v1/tokens/" + oldest, None, {}, 204) is not None:
                        self.deleted.add(oldest)
        except Exception as error:  # noqa: BLE001: told by the main thread
            self.failure = error

    def until_answered(self, method, path, body, headers, status):
        """The answer's JSON; None when the test ends before there is one, or when nobody can say what became of it."""
        while True:
            node = self.cluster.nodes[self.at % len(self.cluster.nodes)]
            asked = time.monotonic()
            try:
                can = node.alive() and node.token
                answer = node.request(method, path, body, headers=headers, timeout=TRY_SECONDS_MAX) if can else None
            except (OSError, http.client.HTTPException) as error:
                self.trouble[type(error).__name__] += 1
                self.tries.append((node.name, type(error).__name__, time.monotonic() - asked))
                answer = None
            if answer is not None and answer.status == status:
                now = time.monotonic()
                tries, self.tries = self.tries, []
                if now - self.last_ack > self.gap_max:
                    self.gap_max, self.gap_story = now - self.last_ack, tries + [(node.name, answer.status, now - asked)]
                self.last_ack = now
                return answer.json or {}
            if answer is not None and method == "DELETE" and answer.status == 404:
                # Deleted by the try whose answer was lost; or this node was away, has not heard of the token yet, and
                # nothing was deleted. So nothing is acknowledged either.
                self.trouble["404 of a deletion"] += 1
                return None
            if answer is not None:
                self.trouble[f"{answer.status} {answer.code}"] += 1
                self.tries.append((node.name, f"{answer.status} {answer.code}", time.monotonic() - asked))
                assert answer.status in (401, 403, 408, 409, 421, 423, 425, 429, 500, 502, 503, 504), f"{method} {path}: {answer}"
            if self.stop.is_set():
                return None
            self.at += 1
            time.sleep(0.05)


class Story:
    def __init__(self, cluster, options):
        self.cluster, self.options = cluster, options
        self.rng = random.Random(options.seed)
        self.stop = threading.Event()
        self.writers = [Writer(cluster, n, self.stop) for n in range(options.writers)]
        self.elections, self.heals = [], []
        self.gaps = {}  # what was done → the longest time a writer was without an acknowledgement, and what it tried
        self.reauth_at = float("-inf")  # forming took its time, and nobody knows how much

    # ---- what is done to it ----

    def kill_leader(self):
        leader = self.cluster.wait_leader(seconds=HEAL_SECONDS_MAX)
        leader.kill()
        began = time.monotonic()
        self.cluster.wait_leader(seconds=HEAL_SECONDS_MAX, but=[leader])
        self.elections.append(time.monotonic() - began)
        leader.start()
        self.heal([leader])

    def freeze(self, of_leader):
        node = self.victim(of_leader)
        rest = [n for n in self.cluster.nodes if n is not node]
        node._signal(signal.SIGSTOP)
        began = time.monotonic()
        try:
            self.cluster.wait_leader(among=rest, seconds=HEAL_SECONDS_MAX, but=[node])
        finally:
            node._signal(signal.SIGCONT)
        if of_leader:
            self.elections.append(time.monotonic() - began)
        self.heal()

    def cut_off(self, of_leader):
        node = self.victim(of_leader)
        self.split([node])

    def split_minority_with_leader(self):
        leader = self.cluster.wait_leader(seconds=HEAL_SECONDS_MAX)
        others = [n for n in self.cluster.nodes if n is not leader]
        self.rng.shuffle(others)
        self.split([leader] + others[:(len(self.cluster.nodes) - 1) // 2 - 1])

    def split(self, minority):
        rest = [n for n in self.cluster.nodes if n not in minority]
        had_leader = self.cluster.wait_leader(seconds=HEAL_SECONDS_MAX) in minority
        self.cluster.lan.split([n.place for n in minority])
        began = time.monotonic()
        self.cluster.wait_leader(among=rest, seconds=HEAL_SECONDS_MAX, but=minority)
        if had_leader:
            self.elections.append(time.monotonic() - began)
        self.linger()
        self.cluster.lan.heal()
        self.heal()

    def one_way(self):
        """What the leader sends to one other is lost; what that one sends arrives."""
        leader = self.cluster.wait_leader(seconds=HEAL_SECONDS_MAX)
        other = self.rng.choice([n for n in self.cluster.nodes if n is not leader])
        leader.place.drop_towards(other.place)
        self.linger()
        leader.place.mend_towards(other.place)
        self.heal()

    def victim(self, of_leader):
        leader = self.cluster.wait_leader(seconds=HEAL_SECONDS_MAX)
        return leader if of_leader else self.rng.choice([n for n in self.cluster.nodes if n is not leader])

    def linger(self):
        """Some more writes on the side that can."""
        goal = sum(len(w.made) for w in self.writers) + 3
        until("writes go on while it is cut", lambda: self.goes_on() and sum(len(w.made) for w in self.writers) >= goal,
              HEAL_SECONDS_MAX)

    def heal(self, back=()):
        began = time.monotonic()
        for node in back:
            node.wait_ready()
        self.cluster.wait_leader(among=self.cluster.nodes, seconds=HEAL_SECONDS_MAX)

        def all_up():  # as whoever leads now sees it: that may change while we wait
            leader = self.cluster.leader_seen_by(self.cluster.nodes[0])
            return leader and all(n["state"] == "up" for n in leader.items("/nodes"))
        until("all are up again", all_up, HEAL_SECONDS_MAX)
        self.heals.append(time.monotonic() - began)
        self.renew()

    def renew(self):
        """Creating tokens asks for a password within five minutes."""
        if time.monotonic() - self.reauth_at < REAUTH_SECONDS:
            return

        def renewed():  # anywhere: one of them may be cut off
            for node in self.cluster.alive():
                try:
                    answer = node.post("/api/v1/session:reauth", {"password": ADMIN["password"]}, timeout=30)
                    if answer.status in (200, 204):
                        return True
                except (OSError, http.client.HTTPException):
                    continue
            return False
        until("the password is renewed", renewed)
        self.reauth_at = time.monotonic()

    def goes_on(self):
        """For who waits for writers: they have not failed, and their password counts however long it takes."""
        self.failed()
        self.renew()
        return True

    def failed(self):
        for writer in self.writers:
            if writer.failure:
                raise RuntimeError(f"writer {writer.number} failed") from writer.failure
        return False

    # ---- the whole ----

    def tell(self):
        cuts = self.cuts()
        todo = ["kill"] * self.options.kills + [n for n in range(self.options.cuts)]
        self.rng.shuffle(todo)
        self.renew()
        for writer in self.writers:
            writer.start()
        for number, what in enumerate(todo):
            name, act = ("kill the leader", self.kill_leader) if what == "kill" else cuts[what % len(cuts)]
            act()
            self.failed()
            self.note_gap(name)
            if (number + 1) % 10 == 0 or self.options.verbose:
                print(f"  {number + 1}: {name}; {sum(len(w.made) for w in self.writers)} created, "
                      f"last heal {self.heals[-1]:.1f} s", flush=True)
        self.linger()
        self.end_writers()

    def end_writers(self):
        self.stop.set()
        for writer in self.writers:
            writer.join(END_SECONDS_MAX)
            assert not writer.is_alive(), "a writer does not end"
        self.failed()

    def note_gap(self, name):
        """How long writers were held up by what was just done; each has come through again."""
        over = time.monotonic()
        until("every writer goes on", lambda: self.goes_on() and all(w.last_ack > over for w in self.writers), HEAL_SECONDS_MAX)
        worst = max(self.writers, key=lambda w: w.gap_max)
        if worst.gap_max > self.gaps.get(name, (0.0, []))[0]:
            self.gaps[name] = worst.gap_max, worst.gap_story
        for writer in self.writers:
            writer.gap_max, writer.gap_story = 0.0, []

    def cuts(self):
        if self.cluster.lan:
            return [("cut the leader off", lambda: self.cut_off(True)), ("cut another off", lambda: self.cut_off(False)),
                    ("split with the leader in the minority", self.split_minority_with_leader),
                    ("one way only", self.one_way), ("freeze the leader", lambda: self.freeze(True))]
        return [("freeze the leader", lambda: self.freeze(True)), ("freeze another", lambda: self.freeze(False))]

    def verify(self):
        """What was acknowledged and is not there, and what happened twice."""
        lost, twice = [], []
        self.cluster.wait_equal(self.cluster.nodes, HEAL_SECONDS_MAX)
        made = {name: ident for w in self.writers for name, ident in w.made.items()}
        deleted = {ident for w in self.writers for ident in w.deleted}
        for node in self.cluster.nodes:
            # In this order: a deletion nobody heard the end of may happen only now, and is then in the audit log, too.
            present = {t["id"] for t in pages(node, "/tokens")}
            created = collections.Counter(e["details"]["name"] for e in audit(node, "token.create"))
            removed = collections.Counter(e["object"] for e in audit(node, "token.delete"))
            lost += [f"{node.name}: {name}" for name in made if created[name] == 0]
            lost += [f"{node.name}: deletion of {ident}" for ident in deleted if removed[ident] == 0 or ident in present]
            lost += [f"{node.name}: {name} is gone" for name, ident in made.items() if not removed[ident] and ident not in present]
            twice += [f"{node.name}: {name}" for name, count in created.items() if count > 1]
        return lost, twice


    def control(self, lost_before):
        """Whether the same check misses a write that never was."""
        self.writers[0].made["never-written"] = "tok_never"
        lost, _ = self.verify()
        return len(lost) >= lost_before + len(self.cluster.nodes)


def pages(node, path):
    """All items; asked again from the beginning when a busy node does not answer."""
    return until(f"{node.name} tells {path}", lambda: (read_pages(node, path),))[0]


def read_pages(node, path):
    cursor, items = "", []
    while True:
        joint = "&" if "?" in path else "?"
        page = node.asks(f"{path}{joint}limit=200" + (f"&cursor={cursor}" if cursor else ""))
        items += page["items"]
        cursor = page.get("next_cursor")
        if not cursor:
            return items


def audit(node, action):
    return pages(node, f"/audit?action={action}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samovard")
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--cuts", type=int, default=2)
    parser.add_argument("--writers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--loopback", action="store_true", help="no namespaces, though we could")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    why = "chosen" if options.loopback else networks.why_not()
    print(f"seed {options.seed}; " + (f"on loopback ({why}): frozen nodes stand for cut networks" if why else "in network namespaces"))
    lan = None if why else networks.Lan()
    with Cluster(options.samovard, nodes=options.nodes, lan=lan) as cluster:
        print(f"{options.nodes} nodes formed in {cluster.form():.1f} s")
        story = Story(cluster, options)
        story.tell()
        lost, twice = story.verify()
        caught = story.control(len(lost))
        hashes = cluster.wait_equal_hashes(cluster.nodes)
        acknowledged = sum(len(w.made) + len(w.deleted) for w in story.writers) - 1  # without the planted one
        trouble = sum((w.trouble for w in story.writers), collections.Counter())
        rss = max(n.rss_bytes() for n in cluster.nodes) / (1 << 20)
        print(f"{options.kills} kills, {options.cuts} cuts, {acknowledged} acknowledged writes: {len(lost)} lost, {len(twice)} twice; "
              f"{len(hashes)} state by its hash")
        if story.elections:
            print(f"new leader: median {sorted(story.elections)[len(story.elections) // 2]:.1f} s, worst {max(story.elections):.1f} s, "
                  f"{sum(1 for e in story.elections if e > 5)} of {len(story.elections)} above the goal of 5 s")
        print(f"heal: median {sorted(story.heals)[len(story.heals) // 2]:.1f} s, worst {max(story.heals):.1f} s (goal 10); largest node "
              f"{rss:.0f} MiB; longest that a writer was without an acknowledgement:")
        for done, (gap, tried) in sorted(story.gaps.items(), key=lambda item: -item[1][0]):
            print(f"  {gap:.1f} s, {done}:", ", ".join(f"{name} {what} after {took:.2f} s" for name, what, took in tried))
        print("answers that were none:", dict(trouble.most_common(8)))
        for line in (lost + twice)[:20]:
            print("  ", line)
    print("the planted loss was", "found" if caught else "NOT FOUND")
    return 0 if caught and not lost and not twice and len(hashes) == 1 and acknowledged > 0 else 1


if __name__ == "__main__":
    sys.exit(main())

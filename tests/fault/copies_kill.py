#!/usr/bin/env python3
"""Kills nodes of a real cluster while files are copied between them: while a data set is spread before its manifest, while
a node fetches, while the leader repairs, while a copy that is not wanted goes.

    copies_kill.py SAMOVARD [--only PATTERN]

Two copies on three nodes. After each kill: an accepted ingest ends, a data set that is there is whole on every node,
every shard has its two copies again by itself, and each node that is said to hold a file has it. At the end one copy rots.
"""
import argparse
import pathlib
import random
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cluster import Cluster, until  # noqa: E402

ROWS = 3000
GRACE = ["--repair-grace", "1"]  # seconds a lost node still counts
# Reached by the node that reads a file in, by those who fetch, or by the leader once a node is lost.
INGEST = re.compile(r"^spread\.")
FETCH = re.compile(r"^blob\.fetch\.")
REPAIR = re.compile(r"^repair\.")


def table(seed):
    rng = random.Random(seed)
    lines = ["id,number,word"] + [f"{i},{rng.random():.6f},w{rng.randrange(50)}" for i in range(ROWS)]
    return ("\n".join(lines) + "\n").encode()


def rows_of(node, dataset):
    text = node.expect(200, "GET", f"/api/v1/datasets/{dataset}/download").text
    return sorted(int(line.split(",")[0]) for line in text.split("\r\n")[1:] if line)


def begin_ingest(node, name, content):
    made = node.expect(201, "PUT", "/api/v1/uploads/table.csv", content,
                       headers={"Content-Type": "application/octet-stream"}).json
    return node.expect(202, "POST", "/api/v1/datasets", {"upload_id": made["id"], "name": name}).json["id"]


def ended(node, operation):
    now = node.asks("/operations/" + operation)
    return now if now["state"] not in ("queued", "running") else None


def check_whole(cluster, dataset, what):
    """Two copies of everything, whole on every node, and no record that lies."""
    began = time.monotonic()
    any_node = cluster.any()
    until(f"{what}: two copies", lambda: any_node.asks(f"/datasets/{dataset}/shards")["copies_now"] >= 2, 120)
    for node in cluster.alive():
        ids = until(f"{what}: {node.name} reads it", lambda n=node: rows_of(n, dataset))
        assert ids == list(range(ROWS)), f"{what}: {len(ids)} rows on {node.name}"

    def all_true():  # one that follows may not have heard yet that a copy too many is gone
        for number, shard in enumerate(any_node.asks(f"/datasets/{dataset}/shards")["items"]):
            for holder in shard["nodes"]:
                path = pathlib.Path(cluster.by_id(holder["id"]).state_dir) / "data" / "versions" / f"{dataset}.1" / str(number)
                assert path.exists(), f"{what}: {holder['id']} is said to have shard {number}"
        return True
    until(f"{what}: who is said to hold a file has it", all_true)
    return time.monotonic() - began


def restart(node, extra=()):
    if node.alive():
        node.stop()
    node.start(extra=list(extra))
    node.wait_ready()


def arm(cluster, nodes, point):
    for node in nodes:
        try:
            restart(node, ["--failpoints", f"{point}=crash"])
        except AssertionError:
            if node.alive():
                raise
            # It had something to make good from its time away, and died of it already: that counts as well.
    cluster.wait_leader()


def kill_during_ingest(cluster, point, number):
    """The point is armed on the node that reads in, or on the two others."""
    reader = cluster.nodes[number % 3]
    victims = [reader] if INGEST.search(point) else [n for n in cluster.nodes if n is not reader]
    arm(cluster, victims[:1], point)
    operation = begin_ingest(reader, f"Set {number} {point}", table(number))
    reached = False
    try:
        until("it dies, or ends", lambda: not victims[0].alive() or ended(reader, operation), 240)
        reached = not victims[0].alive()
    finally:
        restart(victims[0])
    cluster.wait_leader()
    done = until(f"{point}: the ingest ends", lambda: ended(reader, operation), 240)
    assert done["state"] == "done", f"{point}: {done}"
    return reached, check_whole(cluster, done["dataset_id"], point)


def kill_during_repair(cluster, point, number):
    """A node is lost; the leader dies while it makes that good; the next one goes on."""
    reader = cluster.nodes[number % 3]
    operation = begin_ingest(reader, f"Set {number} {point}", table(number))
    done = until("the ingest ends", lambda: ended(reader, operation), 240)
    leader = cluster.leader()
    others = [n for n in cluster.nodes if n is not leader]
    arm(cluster, [leader], point)
    for _ in range(20):  # the restart may have made another one the leader
        now = cluster.leader()
        if now is leader or not leader.alive():  # or it led, had to repair, and died of it already
            break
        restart(now)
    lost = others[0]
    lost.stop()
    try:
        until("the leader dies", lambda: not leader.alive(), 90)
        reached = True
    except AssertionError:
        reached = False
    restart(leader)
    restart(lost)
    cluster.wait_leader()
    return reached, check_whole(cluster, done["dataset_id"], point)


def heal_by_reading(cluster):
    """One byte of a copy is wrong: whoever reads it there gets all rows, and the copy is good again. Seconds."""
    reader = cluster.nodes[0]
    done = until("the ingest ends", lambda op=begin_ingest(reader, "Rotten", table(77)): ended(reader, op), 240)
    dataset = done["dataset_id"]
    holder = cluster.by_id(reader.asks(f"/datasets/{dataset}/shards")["items"][0]["nodes"][0]["id"])
    until("the holder knows of it", lambda: holder.asks(f"/datasets/{dataset}/shards"))  # it may hear of it later than we
    path = pathlib.Path(holder.state_dir) / "data" / "versions" / f"{dataset}.1" / "0"
    good = path.read_bytes()
    middle = len(good) // 2
    path.write_bytes(good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1:])
    began = time.monotonic()
    assert rows_of(holder, dataset) == list(range(ROWS)), "rows are missing"
    until("the copy is mended", lambda: path.read_bytes() == good)
    took = time.monotonic() - began
    until("one may be lost", lambda: holder.asks(f"/datasets/{dataset}/shards")["may_lose"] == 1)
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samovard")
    parser.add_argument("--only", default=".")
    options = parser.parse_args()
    out = subprocess.run([options.samovard, "--list-failpoints"], capture_output=True, text=True, check=True, timeout=60)
    points = [p for p in out.stdout.split()
              if (INGEST.search(p) or FETCH.search(p) or REPAIR.search(p)) and re.search(options.only, p)]
    if not points:
        print("this build has no failpoints (SAMOVAR_FAILPOINTS=OFF): nothing to test here")
        return 77
    unreached = []
    with Cluster(options.samovard, nodes=3, arguments=GRACE) as cluster:
        cluster.form()
        for number, point in enumerate(points):
            how = kill_during_repair if REPAIR.search(point) else kill_during_ingest
            reached, seconds = how(cluster, point, number)
            print(f"  {point}: {'killed' if reached else 'not reached'}, all copies again after {seconds:.1f} s", flush=True)
            if not reached:
                unreached.append(point)
        print(f"  a flipped bit was mended by reading it, in {heal_by_reading(cluster):.1f} s (goal 10)", flush=True)
    print(f"{len(points) - len(unreached)} kills, nothing lost" + (f"; not reached: {unreached}" if unreached else ""))
    return 1 if len(unreached) == len(points) else 0


if __name__ == "__main__":
    sys.exit(main())

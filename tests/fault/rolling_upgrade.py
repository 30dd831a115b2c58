#!/usr/bin/env python3
"""Nodes of a cluster under write load are stopped one after the other and started with another program, as a package's
upgrade does. The cluster stays writable, nothing acknowledged is lost, and old and new work together in between: what one
takes in, all have, and what one trains ends well, on the nodes that run the program of its home.

    rolling_upgrade.py SAMOVARD [--old SAMOVARD] [--nodes N] [--writers N] [--seed S]

Without --old both are the same program: then it is restarted, which a package does as well. ./dev upgrade builds the last
state of the source that spoke an older form of commands and gives it here.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cluster_kill  # noqa: E402
from cluster import Cluster, until  # noqa: E402

ROWS = 2000


def ingest(node, name):
    rng = random.Random(name)
    content = "id,number,late\n" + "".join(f"{i},{number:.6f},{'yes' if number + rng.random() > 1 else 'no'}\n"
                                            for i, number in ((i, rng.random()) for i in range(ROWS)))
    made = node.expect(201, "PUT", "/api/v1/uploads/t.csv", content.encode(), headers={"Content-Type": "application/octet-stream"}).json
    begun = node.expect(202, "POST", "/api/v1/datasets", {"upload_id": made["id"], "name": name}).json

    def over():
        now = node.asks("/operations/" + begun["id"])
        return now if now["state"] not in ("queued", "running") else None
    done = until(f"{name}: the ingest ends", over, 120)
    assert done["state"] == "done", done
    return done["dataset_id"]


def train(node, dataset):
    """The ids of the nodes that took part."""
    spec = {"kind": "glm", "name": "late", "dataset": dataset, "target": "late", "ignore": ["id"],
            "parameters": {"solver": "adagrad", "passes": 20, "early_stop": False}}
    job = node.expect(201, "POST", "/api/v1/jobs", spec).json["id"]

    def over():
        now = node.asks("/jobs/" + job)
        return now if now["state"] not in ("queued", "running") else None
    done = until(f"{node.name}: the training ends", over, 180)
    assert done["state"] == "done", done
    return {worker["node_id"] for worker in node.asks(f"/jobs/{job}/metrics")["workers"]}


def rows_of(node, dataset):
    text = node.expect(200, "GET", f"/api/v1/datasets/{dataset}/download").text
    return len([line for line in text.split("\r\n")[1:] if line])


def version_of(binary):
    return subprocess.run([binary, "--version"], capture_output=True, text=True, check=False).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samovard")
    parser.add_argument("--old")
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--writers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    old = options.old or options.samovard
    print(f"seed {options.seed}; from {version_of(old)} to {version_of(options.samovard)}" + ("" if options.old else " (the same program)"))
    with Cluster(old, nodes=options.nodes) as cluster:
        cluster.form()
        story = cluster_kill.Story(cluster, options)
        datasets = [ingest(cluster.nodes[0], "Old")]
        story.renew()
        for writer in story.writers:
            writer.start()
        story.linger()
        order = list(cluster.nodes)
        story.rng.shuffle(order)
        steps = []
        for number, node in enumerate(order):
            led = cluster.leader() is node
            began = time.monotonic()
            for writer in story.writers:
                writer.gap_max, writer.gap_story = 0.0, []
            assert node.stop() == 0, node.log
            node.binary = options.samovard
            node.start()
            story.heal([node])
            story.linger()
            steps.append((node.name, led, time.monotonic() - began, max(w.gap_max for w in story.writers)))
            print(f"  {node.name}{' (led)' if led else ''}: {steps[-1][2]:.1f} s, longest without a write {steps[-1][3]:.1f} s", flush=True)
            # Half old, half new: what one of them makes, all of them have.
            datasets.append(ingest(order[(number + 1) % len(order)], f"Mixed {number}"))
            for each in cluster.nodes:  # one that follows hears of it a moment later
                until(f"{each.name} has all rows", lambda n=each: [rows_of(n, d) for d in datasets] == [ROWS] * len(datasets))
            # Nodes of one program train together.
            new = {n.id for n in order[:number + 1]}
            took_part = train(node, datasets[0])
            print(f"    trained on {len(took_part)} of {len(new)} with the new program")
            if options.old:
                assert took_part <= new, f"{took_part - new} run another program than {node.name}"
            story.failed()
        # Each tells the others what it runs a moment after its start.
        until("all nodes train together again", lambda: len(train(order[0], datasets[0])) == len(order), 120)
        story.end_writers()
        lost, twice = story.verify()
        caught = story.control(len(lost))
        acknowledged = sum(len(w.made) + len(w.deleted) for w in story.writers) - 1
        hashes = cluster.wait_equal_hashes(cluster.nodes)
        print(f"{len(steps)} nodes changed, {acknowledged} acknowledged writes: {len(lost)} lost, {len(twice)} twice; longest without a "
              f"write {max(s[3] for s in steps):.1f} s; {len(hashes)} state")
        for line in (lost + twice)[:20]:
            print("  ", line)
    print("the planted loss was", "found" if caught else "NOT FOUND")
    return 0 if caught and not lost and not twice and len(hashes) == 1 and acknowledged > 0 else 1


if __name__ == "__main__":
    sys.exit(main())

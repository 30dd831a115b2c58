#!/usr/bin/env python3
"""What a large file takes: uploads it to a node of its own and ingests it, and prints the memory of all of the node's
processes together, looked at ten times a second.

large_file.py PATH-TO-SAMOVAR PATH-TO-SAMOVARD [GB, or a file: 10]

Needs two and a half times the size on the disk of TMPDIR; a file that was made for it is removed again.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "tests" / "integration")]

from cli_support import Cli  # noqa: E402
from samovard import ADMIN, Samovard  # noqa: E402


def make(path, size):
    """A click log: a label, 13 counts, 26 codes a row; the same 20,000 rows again and again."""
    rng = random.Random(1)
    rows = []
    for _ in range(20_000):
        cells = [str(int(rng.random() < .25))]
        cells += ["" if rng.random() < .2 else str(int(rng.lognormvariate(2, 1.5))) for _ in range(13)]
        cells += [f"{hash((c, int(rng.paretovariate(.8)))) & 0xffffffff:08x}" for c in range(26)]
        rows.append("\t".join(cells))
    piece = ("\n".join(rows) + "\n").encode()
    with open(path, "wb") as out:
        while out.tell() < size:
            out.write(piece)


def family(root):
    """The process and all that it started, of the kernel's list."""
    parents = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            parents[int(entry)] = int(pathlib.Path("/proc", entry, "stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            pass
    found = {root}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return found
        found |= more


def resident(pid):
    try:
        return int(pathlib.Path("/proc", str(pid), "statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, IndexError):
        return 0


def main():
    samovar, samovard = sys.argv[1:3]
    wanted = sys.argv[3] if len(sys.argv) > 3 else "10"
    given = os.path.exists(wanted)
    with tempfile.TemporaryDirectory(prefix="samovar-large-") as folder, Samovard(samovard) as node:
        path = wanted if given else os.path.join(folder, "clicks.tsv")
        if not given:
            make(path, int(float(wanted) * 1e9))
        node.set_up()
        node.wait_ready()
        peak, over = {"all": 0, "daemon": 0}, threading.Event()

        def watch():
            while not over.wait(.1):
                all_of_them = {pid: resident(pid) for pid in family(node.process.pid)}
                peak["all"] = max(peak["all"], sum(all_of_them.values()))
                peak["daemon"] = max(peak["daemon"], all_of_them[node.process.pid])

        watcher = threading.Thread(target=watch)
        watcher.start()
        with Cli(samovar, node.url) as cli:
            cli.run("login", "-u", ADMIN["username"], "--password-stdin", "--yes", stdin=ADMIN["password"] + "\n")
            began = time.monotonic()
            done = subprocess.run([samovar, "data", "upload", path, "--name", "Large", "--json"], capture_output=True,
                                  text=True, env=cli.environment, check=False)
            seconds = time.monotonic() - began
        over.set()
        watcher.join()
        if done.returncode != 0:
            sys.exit(f"large_file: {done.stdout}{done.stderr}")
        made = json.loads(done.stdout)
        print(json.dumps({"bench": "large_file", "bytes": os.path.getsize(path), "rows": made["rows"],
                          "bad_rows": made["bad_rows"], "seconds": round(seconds, 1),
                          "peak_rss_mb": round(peak["all"] / 1e6, 1),
                          "peak_rss_daemon_mb": round(peak["daemon"] / 1e6, 1)}))


if __name__ == "__main__":
    main()

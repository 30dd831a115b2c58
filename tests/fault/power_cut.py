#!/usr/bin/env python3
"""The power of the whole building fails, again and again, under write load: all nodes lose at the same instant whatever
their disks did not hold yet.

    power_cut.py SAMOVARD [--cuts N] [--nodes N] [--writers N] [--seed S]

The nodes' state directories lie in one ext4 file system whose image is a file on XFS. A reflink copy of that file is what
the disk holds at that instant, and nothing of what still waits in memory: everything is killed, the copy becomes the disk,
all start again. A write that was acknowledged before the copy was begun must be there, on every node, once. Needs root,
loop devices and xfsprogs; skipped without. The positive control: a write that was never made must be missed.
"""
import argparse
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cluster_kill  # noqa: E402
from cluster import Cluster, is_root, skip_code, until  # noqa: E402

POOL_MB, DISK_MB = 4096, 1536


def run(*words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, check=True)


class Disk:
    """A file system for all nodes, of which one can have what it held at an instant."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="samovar-power-"))
        self.pool, self.mount = self.folder / "pool", self.folder / "disk"
        self.image = self.pool / "disk.img"
        self.mounted = []
        self.pool.mkdir()
        self.mount.mkdir()

    def __enter__(self):
        run("truncate", "-s", f"{POOL_MB}M", self.folder / "pool.img")
        run("mkfs.xfs", "-q", "-m", "reflink=1", self.folder / "pool.img")
        self._mount(self.folder / "pool.img", self.pool)
        run("truncate", "-s", f"{DISK_MB}M", self.image)
        run("mkfs.ext4", "-q", "-F", self.image)
        self._mount(self.image, self.mount)
        return self

    def __exit__(self, *_):
        for target in reversed(self.mounted):
            subprocess.run(["umount", "-l", str(target)], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _mount(self, image, target):
        run("mount", "-o", "loop", image, target)
        self.mounted.append(target)

    def copy(self):
        run("cp", "--reflink=always", self.image, self.image.with_suffix(".cut"))

    def become_the_copy(self):
        run("umount", self.mount)
        self.mounted.remove(self.mount)
        self.image.unlink()
        self.image.with_suffix(".cut").rename(self.image)
        self._mount(self.image, self.mount)


def why_not():
    if not is_root():
        return "loop devices need root"
    if not shutil.which("mkfs.xfs") or not shutil.which("mkfs.ext4"):
        return "xfsprogs and e2fsprogs are not installed"
    return None


class Building(cluster_kill.Story):
    def __init__(self, cluster, options, disk):
        super().__init__(cluster, options)
        self.disk = disk
        self.starts = []

    def cut_the_power(self):
        time.sleep(self.rng.random() * 1.5)
        before = [(dict(w.made), set(w.deleted)) for w in self.writers]
        self.disk.copy()
        for node in self.cluster.nodes:
            node.kill()
        for writer, (made, deleted) in zip(self.writers, before):
            writer.forget_later(made, deleted)
        self.disk.become_the_copy()
        self.reauth_at = float("-inf")  # a renewed password may be among what was lost
        began = time.monotonic()
        for node in self.cluster.nodes:
            node.start()
        self.heal(self.cluster.nodes)
        self.starts.append(time.monotonic() - began)
        goal = sum(len(w.made) for w in self.writers) + 3
        until("writes go on", lambda: self.goes_on() and sum(len(w.made) for w in self.writers) >= goal,
              cluster_kill.HEAL_SECONDS_MAX)

    def verify(self):
        for writer in self.writers:
            writer.deleted -= writer.never
        return super().verify()


class Writer(cluster_kill.Writer):
    """One whose last acknowledgements came after the instant of the cut, and count no more."""

    def __init__(self, *more):
        super().__init__(*more)
        self.never = set()  # ids that the cut took back: deleting them finds nothing

    def forget_later(self, made, deleted):
        for name in set(self.made) - set(made):
            self.never.add(self.made.pop(name))
        self.deleted &= deleted


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samovard")
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--writers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    if reason := why_not():
        return skip_code(reason)
    print("seed", options.seed)
    with Disk() as disk, Cluster(options.samovard, nodes=0) as cluster:
        for number in range(options.nodes):
            state = disk.mount / f"n{number + 1}"
            state.mkdir(mode=0o700)
            cluster.make_node(state_dir=str(state))
        cluster.form()
        story = Building(cluster, options, disk)
        story.writers = [Writer(cluster, n, story.stop) for n in range(options.writers)]
        story.renew()
        for writer in story.writers:
            writer.start()
        story.linger()
        for number in range(options.cuts):
            story.cut_the_power()
            print(f"  {number + 1}: ready after {story.starts[-1]:.1f} s; {sum(len(w.made) for w in story.writers)} acknowledged", flush=True)
        story.end_writers()
        lost, twice = story.verify()
        caught = story.control(len(lost))
        hashes = cluster.wait_equal_hashes(cluster.nodes)
        acknowledged = sum(len(w.made) + len(w.deleted) for w in story.writers) - 1
        print(f"{options.cuts} power cuts of {options.nodes} nodes at once, {acknowledged} acknowledged writes: {len(lost)} lost, {len(twice)} "
              f"twice; {len(hashes)} state by its hash; ready again after {sorted(story.starts)[len(story.starts) // 2]:.1f} s (median), "
              f"{max(story.starts):.1f} s (worst)")
        for line in (lost + twice)[:20]:
            print("  ", line)
        cluster.stop_all()
    print("the planted loss was", "found" if caught else "NOT FOUND")
    return 0 if caught and not lost and not twice and len(hashes) == 1 and acknowledged > 0 else 1


if __name__ == "__main__":
    sys.exit(main())

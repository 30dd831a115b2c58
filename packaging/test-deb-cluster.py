#!/usr/bin/env python3
"""Three machines with the package, one cluster: upgraded one after the other under write load, as an administrator does it.

    packaging/test-deb-cluster.py [DEB [NEWER-DEB]]      default: the newest dist/samovar_*.deb, and itself under a higher version

Each machine is a fresh Debian 12 that boots under systemd-nspawn with a network namespace of its own on one bridge; the
node is the package's service, within all of the unit's fences. The nodes are joined with the codes on their screens.
Then, while writers create and delete tokens on whichever node answers:

    one node is upgraded with dpkg -i, the next is interrupted between unpacking and configuring and finished later, the
    last one is upgraded, and one goes back to the version before.

Nothing acknowledged may be lost or happen twice, no writer may be without an acknowledgement for longer than PAUSE_SECONDS_MAX,
and at the end all hold one state. The machines share one tree of Debian, each with what it changes laid over it. Needs root.
"""
import argparse
import glob
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP / "tests" / "support"))
sys.path.insert(0, str(TOP / "tests" / "fault"))
import cluster_kill  # noqa: E402
import networks  # noqa: E402
from cluster import Cluster, Node, skip_code, until  # noqa: E402

BOOT_SECONDS_MAX = 300  # a starved machine
PAUSE_SECONDS_MAX = 5  # without a write, while nodes are upgraded; usual is a tenth of a second
PORT = 8443
ENVIRONMENT = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]


class Box(Node):
    """A machine. Its samovard is the service of the package, not a child of ours."""

    def __init__(self, number, place, tree):
        super().__init__("/usr/sbin/samovard", number, place, state_dir=str(tree) + "/var/lib/samovar")
        self.tree, self.nspawn, self.leader_pid = pathlib.Path(tree), None, None

    def boot(self, base, debs):
        lay_over(base, self.tree)
        (self.tree / "etc/hostname").write_text(f"box{self.number}\n", encoding="ascii")
        (self.tree / "etc/hosts").write_text(f"127.0.0.1 localhost\n::1 localhost\n127.0.1.1 box{self.number}\n", encoding="ascii")
        (self.tree / "opt/admin").mkdir(parents=True, exist_ok=True)
        for name, path in debs.items():
            shutil.copy(path, self.tree / "opt/admin" / name)
        group = self.group()
        group.mkdir()
        # In a group of its own: each machine's systemd takes everything below its own for itself.
        command = ["systemd-nspawn", "--quiet", f"--directory={self.tree}", f"--machine={self.place.space}", "--register=no", "--keep-unit",
                   "--boot", f"--network-namespace-path=/run/netns/{self.place.space}", "--system-call-filter=bpf", "--capability=all",
                   "--rlimit=MEMLOCK=infinity", "--console=pipe"]
        with open(f"{self.tree}.log", "wb") as log:
            self.nspawn = subprocess.Popen(["sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh", *command],
                                           stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        self.process = self.nspawn  # what Cluster ends with kill()

        def running():
            assert self.nspawn.poll() is None, pathlib.Path(f"{self.tree}.log").read_text(encoding="utf-8", errors="replace")[-500:]
            found = subprocess.run(["pgrep", "-P", str(self.nspawn.pid)], capture_output=True, text=True, check=False).stdout.split()
            self.leader_pid = found[0] if found else None
            return self.leader_pid and self.box("systemctl", "is-system-running", check=False).stdout.strip() in ("running", "degraded")
        until(f"{self.name} boots", running, BOOT_SECONDS_MAX, every=0.3)

    def box(self, *command, check=True):
        done = subprocess.run(["nsenter", "-t", self.leader_pid, "-a", "--wdns=/", *ENVIRONMENT, *command], capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0 or not check, f"{self.name}: {' '.join(command)}: {done.stdout[-500:]}{done.stderr[-1500:]}"
        return done

    def dpkg(self, *words):
        return self.box("dpkg", *words)

    def version(self):
        return self.box("dpkg-query", "-W", "-f", "${Version} ${db:Status-Status}", "samovar").stdout

    def pid(self):
        return self.box("systemctl", "show", "-P", "MainPID", "samovard").stdout.strip()

    def journal(self):
        return self.box("journalctl", "-u", "samovard", "--no-pager", "-o", "cat", check=False).stdout

    # ---- what Cluster asks of a node ----

    def start(self, extra=()):
        self.dpkg("-i", "/opt/admin/old.deb")
        self.port, self.url, self.phase = PORT, f"https://{self.place.ip}:{PORT}", "new"
        self.id = until(f"{self.name} waits for its set-up", self.setup)["node"]["id"]
        found = re.findall(r"code[=: ]*([0-9A-Za-z]{2,}(?:-[0-9A-Za-z]+)+)", self.journal())
        assert found, self.journal()[-500:]
        self.code = found[-1]
        return self

    def alive(self):
        return self.nspawn is not None and self.nspawn.poll() is None and self.port is not None

    @property
    def log(self):
        return self.journal()

    def kill(self):
        """The plug is pulled: the machine's first process and with it all others."""
        if self.leader_pid:
            subprocess.run(["kill", "-KILL", self.leader_pid], check=False)
        elif self.nspawn:
            self.nspawn.kill()
        return self.nspawn.wait(60) if self.nspawn else None

    def group(self):
        return pathlib.Path("/sys/fs/cgroup") / self.place.space

    def clean(self):
        """The whole tree goes with this process's mounts; its control groups would stay."""
        def empty():
            for folder, _, _ in os.walk(self.group(), topdown=False):
                os.rmdir(folder)
            return not self.group().exists()
        until(f"{self.name} is gone", empty, 30)


class Machines(Cluster):
    def tell_logs(self, lines=25):
        for node in self.nodes:
            print(f"---- {node!r}", *node.journal().splitlines()[-lines:], sep="\n", file=sys.stderr)


def own_mounts():
    """Whatever is mounted from here on ends with this process."""
    if os.environ.get("SAMOVAR_TEST_DEB_INSIDE"):
        return
    os.environ["SAMOVAR_TEST_DEB_INSIDE"] = "1"
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])


def cgroups():
    subprocess.run(["umount", "-R", "/sys/fs/cgroup"], capture_output=True, check=False)
    done = subprocess.run(["mount", "-t", "cgroup2", "none", "/sys/fs/cgroup"], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else "no cgroup2: " + done.stderr.strip()


def lay_over(base, tree):
    """The machine's own tree: the common one, and over it what the machine writes. A copy where that cannot be had."""
    upper, scratch = (pathlib.Path(f"{tree}.{name}") for name in ("upper", "scratch"))
    for folder in (tree, upper, scratch):
        folder.mkdir()
    done = subprocess.run(["mount", "-t", "overlay", "overlay", "-o", f"lowerdir={base},upperdir={upper},workdir={scratch}", str(tree)],
                          capture_output=True, check=False)
    if done.returncode != 0:
        subprocess.run(["cp", "-a", "--reflink=auto", f"{base}/.", str(tree)], check=True)


def newer(deb, work):
    """The same package under a higher version."""
    unpacked, out = work / "repack", work / "newer.deb"
    subprocess.run(["dpkg-deb", "-R", str(deb), str(unpacked)], check=True)
    control = unpacked / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^Version: (.*)$", r"Version: \1+next1", control.read_text(encoding="utf-8")), encoding="utf-8")
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Znone", "-b", str(unpacked), str(out)], check=True, stdout=subprocess.DEVNULL)
    return out


def version_in(deb):
    return subprocess.run(["dpkg-deb", "-f", str(deb), "Version"], capture_output=True, text=True, check=True).stdout.strip()


class Upgrade:
    def __init__(self, cluster, story, versions):
        self.cluster, self.story, self.versions = cluster, story, versions

    def step(self, node, what, act, version):
        led = self.cluster.leader() is node
        for writer in self.story.writers:
            writer.gap_max, writer.gap_story = 0.0, []
        began = time.monotonic()
        act(node)
        self.story.heal([node])
        self.story.linger()
        self.story.failed()
        assert node.version() == version, f"{node.name}: {node.version()}, not {version}"
        print(f"  {node.name}{' (led)' if led else ''} {what}: {time.monotonic() - began:.1f} s, longest without a write "
              f"{max(w.gap_max for w in self.story.writers):.1f} s", flush=True)
        return max(w.gap_max for w in self.story.writers)

    def unpack(self, node):
        before = node.pid()
        node.dpkg("--unpack", "/opt/admin/new.deb")
        # The administrator's terminal is gone. The node that ran goes on.
        assert node.pid() == before and before != "0", "unpacking alone stopped or restarted the service"

    def tell(self, order):
        old, new = (f"{v} installed" for v in self.versions)
        gaps = [self.step(order[0], "upgraded", lambda n: n.dpkg("-i", "/opt/admin/new.deb"), new),
                self.step(order[1], "interrupted after unpacking", self.unpack, f"{self.versions[1]} unpacked"),
                self.step(order[2], "upgraded meanwhile", lambda n: n.dpkg("-i", "/opt/admin/new.deb"), new),
                self.step(order[1], "finished", lambda n: n.dpkg("--configure", "-a"), new),
                self.step(order[0], "back to the version before", lambda n: n.dpkg("-i", "/opt/admin/old.deb"), old)]
        return max(gaps)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("deb", nargs="?")
    parser.add_argument("newer", nargs="?")
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--writers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    if reason := networks.why_not():
        return skip_code(reason)
    own_mounts()
    native = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
    deb = options.deb or max(glob.glob(str(TOP / f"dist/samovar_*_{native}.deb")), key=os.path.getmtime, default=None)
    assert deb, "no package: run ./dev deb first"
    if reason := cgroups():
        return skip_code(reason)
    work = pathlib.Path(tempfile.mkdtemp(prefix="samovar-test-deb-", dir="/var/tmp"))
    try:
        cache = subprocess.run([str(TOP / "packaging/debian-tree.sh"), deb], check=True, capture_output=True, text=True).stdout.strip()
        base = work / "base"
        base.mkdir()
        subprocess.run(["tar", "-C", str(base), "-xf", cache], check=True)
        debs = {"old.deb": deb, "new.deb": options.newer or newer(deb, work)}
        versions = [version_in(path) for path in debs.values()]
        print(f"seed {options.seed}; from {versions[0]} to {versions[1]}")
        return run(options, work, base, debs, versions)
    finally:
        for number in range(1, options.nodes + 1):
            subprocess.run(["umount", "-R", str(work / f"box{number}")], capture_output=True, check=False)
        subprocess.run(["rm", "-rf", "--one-file-system", str(work)], check=False)


def run(options, work, base, debs, versions):
    with Machines("/usr/sbin/samovard", nodes=0, lan=networks.Lan()) as cluster:
        for number in range(1, options.nodes + 1):
            cluster.nodes.append(Box(number, cluster.lan.place(number), work / f"box{number}"))
            cluster.nodes[-1].boot(base, debs)
        print(f"{options.nodes} machines formed a cluster in {cluster.form():.1f} s after the first approval", flush=True)
        story = cluster_kill.Story(cluster, options)
        for writer in story.writers:
            writer.start()
        story.linger()
        order = list(cluster.nodes)
        story.rng.shuffle(order)
        gap = Upgrade(cluster, story, versions).tell(order)
        story.stop.set()
        for writer in story.writers:
            writer.join(60)
            assert not writer.is_alive(), "a writer does not end"
        lost, twice = story.verify()
        caught = story.control(len(lost))
        hashes = cluster.wait_equal_hashes(cluster.nodes)
        acknowledged = sum(len(w.made) + len(w.deleted) for w in story.writers) - 1
        print(f"{acknowledged} acknowledged writes: {len(lost)} lost, {len(twice)} twice; longest without a write {gap:.1f} s; "
              f"{len(hashes)} state by its hash; the planted loss was {'found' if caught else 'NOT FOUND'}")
        for line in (lost + twice)[:20]:
            print("  ", line)
        if gap > PAUSE_SECONDS_MAX:
            print(f"writes stood still for {gap:.1f} s, which is more than {PAUSE_SECONDS_MAX} s")
    good = caught and not lost and not twice and len(hashes) == 1 and acknowledged > 0 and gap <= PAUSE_SECONDS_MAX
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

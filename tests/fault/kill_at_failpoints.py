#!/usr/bin/env python3
"""Kills a real node at every failpoint of the write path and of set-up.

    kill_at_failpoints.py SAMOVARD [--rounds N] [--seed S] [--only PATTERN]

After each kill the node must come up by itself, and every change it acknowledged must be there. The
positive control plants a bug, acknowledging before the disk does, and the same check must catch it.
"""
import argparse
import http.client
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from samovard import Samovard  # noqa: E402

# Points that a plain change passes. Others are reached only by set-up, snapshots or errors.
WRITE_PATH = [
    "raft.propose.before", "raft.append.done", "raft.apply.before", "raft.apply.after", "raft.witness.before",
    "raft.witness.after", "raft.reply.before", "cluster.command.applied", "cluster.reply.before",
]
WRITES_MAX = 12
LOST = []


def points_of(binary):
    out = subprocess.run([binary, "--list-failpoints"], capture_output=True, text=True, check=True, timeout=60)
    return out.stdout.split()


class Register:
    """One value that only grows: the login banner holds a number."""

    def __init__(self, node):
        self.node, self.acknowledged = node, 0

    def write(self, value):
        """True when acknowledged, False when the node died meanwhile."""
        body = {"login_banner": f"n={value}", "idle_minutes": 15}
        try:
            answer = self.node.request("PUT", "/api/v1/settings/general", body, headers={"If-Match": "*"})
        except (OSError, http.client.HTTPException):
            return False
        if answer.status != 200:
            raise AssertionError(f"a write was refused: {answer}")
        self.acknowledged = value
        return True

    def read(self):
        banner = self.node.expect(200, "GET", "/api/v1/settings/general").json["login_banner"]
        return int(banner.partition("=")[2] or 0)


def check_after_restart(node, register, what):
    """Up by itself, nothing acknowledged lost, the audit chain whole."""
    node.start()
    assert node.phase == "ready", f"{what}: came up as {node.phase}\n{node.log}"
    value = register.read()
    verdict = node.expect(200, "POST", "/api/v1/audit:verify").json
    assert verdict["ok"], f"{what}: {verdict}"
    if value < register.acknowledged:
        return f"{what}: {register.acknowledged} was acknowledged, {value} is there"
    # A change that was under way may have happened: from here on it counts.
    register.acknowledged = value
    return None


def write_round(node, register, point, hit, extra=()):
    """Writes until the armed point kills the node. False when it was never reached."""
    node.start(extra=["--failpoints", f"{point}=crash@{hit}", *extra])
    for _ in range(WRITES_MAX):
        if not register.write(register.acknowledged + 1):
            break
    else:
        node.kill()
        return False
    assert node.wait_dead() == -9, f"{point}: ended with {node.process.returncode}\n{node.log}"
    return True


def write_path(binary, rounds, rng, only):
    kills = 0
    with Samovard(binary) as node:
        node.set_up()
        node.log_in(transport="bearer")
        node.stop()
        register = Register(node)
        for point in WRITE_PATH:
            if not re.search(only, point):
                continue
            for number in range(rounds):
                # The first few hits belong to the start itself (its row, its record).
                hit = rng.randint(3, 9)
                # A point that died during the start is a kill as well.
                try:
                    reached = write_round(node, register, point, hit)
                except Exception as error:  # noqa: BLE001: the daemon may die before READY
                    if "ended with -9" not in str(error):
                        raise
                    reached = True
                assert reached, f"{point}@{hit} was not reached in {WRITES_MAX} changes"
                kills += 1
                lost = check_after_restart(node, register, f"{point}@{hit} round {number}")
                if lost:
                    LOST.append(lost)
                node.kill()
            print(f"  {point}: {rounds} kills, last acknowledged change {register.acknowledged}", flush=True)
    return kills


def setup_path(binary, points, rounds, only):
    kills = 0
    for point in [p for p in points if p.startswith("setup.") and re.search(only, p)]:
        for number in range(rounds):
            mode = ("key_file", "passphrase")[number % 2]
            with tempfile.TemporaryDirectory(prefix="samovard-setup-") as folder:
                state = pathlib.Path(folder, "state")
                node = Samovard(binary, state_dir=state, arguments=["--failpoints", f"{point}=crash"])
                node.start()
                acknowledged = False
                try:
                    # As long as set_up() waits: several passwords' worth of Argon2id.
                    acknowledged = node.post("/api/v1/setup", node.setup_body(mode=mode), timeout=300).status == 201
                except (OSError, http.client.HTTPException):
                    pass
                assert node.wait_dead() == -9, f"{point}: was not reached\n{node.log}"
                kills += 1
                node.arguments = []
                node.start()
                done = {"key_file": "ready", "passphrase": "locked"}[mode]
                wanted = done if acknowledged or point == "setup.commit.after" else "new"
                assert node.phase == wanted, f"{point} ({mode}): came up as {node.phase}, wanted {wanted}\n{node.log}"
                if node.phase == "new":
                    node.set_up(mode=mode)
                elif mode == "passphrase":
                    node.expect(204, "POST", "/api/v1/unlock", {"passphrase": "seven quiet birches stand"})
                node.log_in()
                node.kill()
        print(f"  {point}: {rounds} kills", flush=True)
    return kills


def positive_control(binary):
    """The planted bug must be caught, or the harness proves nothing."""
    with Samovard(binary) as node:
        node.set_up()
        node.log_in(transport="bearer")
        node.stop()
        register = Register(node)
        for attempt in range(10):
            try:
                reached = write_round(node, register, "raft.propose.before", 8 + attempt % 3, ["--plant-early-ack"])
            except Exception as error:  # noqa: BLE001
                if "ended with -9" not in str(error):
                    raise
                reached = True
            assert reached, "the planted bug's failpoint was not reached"
            before = register.acknowledged
            lost = check_after_restart(node, register, "planted bug")
            node.kill()
            if lost:
                print(f"  caught after {attempt + 1} kills: {lost}")
                return True
            register.acknowledged = max(before, register.acknowledged)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samovard")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--only", default=".", help="points that match this pattern")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    print(f"seed {options.seed}")
    points = points_of(options.samovard)
    if not points:
        print("this build has no failpoints (SAMOVAR_FAILPOINTS=OFF): nothing to test here")
        return 77
    missing = [p for p in WRITE_PATH if p not in points]
    assert not missing, f"failpoints that the write path should have are gone: {missing}"
    print("write path:")
    kills = write_path(options.samovard, options.rounds, rng, options.only)
    print("set-up:")
    kills += setup_path(options.samovard, points, options.rounds, options.only)
    for lost in LOST:
        print("LOST", lost)
    print("positive control:")
    caught = positive_control(options.samovard)
    print(f"{kills} kills, {len(LOST)} acknowledged changes lost, planted bug {'caught' if caught else 'NOT CAUGHT'}")
    return 0 if not LOST and caught else 1


if __name__ == "__main__":
    sys.exit(main())

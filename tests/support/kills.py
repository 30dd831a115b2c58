"""What the tests share that kill a real node at failpoints: a story is told until the node dies, the node comes up by
itself, and what was acknowledged is checked.

A story has tell() (until its end, which has a "state", or Dead), check(what) after the restart, and clean(what), which
removes all it made and fails when something is left."""
import argparse
import http.client
import random
import re
import subprocess

from samovard import StartFailed


class Dead(Exception):
    """The node does not answer any more."""


def ask(node, method, path, body=None, **more):
    try:
        return node.request(method, path, body, **more)
    except (OSError, http.client.HTTPException) as error:
        raise Dead(str(error)) from None


def reach(node, story, point, hit):
    """Tells the story until the armed point kills the node, or its worker. False when it was not reached."""
    try:
        node.start(extra=["--failpoints", f"{point}=crash@{hit}"])
        node.log_in(transport="bearer")
        return story.tell()["state"] == "failed"  # the worker died, the node told of it
    except (Dead, StartFailed, OSError, http.client.HTTPException):
        node.wait_dead()
        assert node.process.returncode == -9, f"{point}: ended with {node.process.returncode}\n{node.log}"
        return True


def kill_once(node, story, point, hit):
    """Whether the point was reached; fails when anything acknowledged is lost or anything else is left."""
    what = f"{point}@{hit}"
    killed = reach(node, story, point, hit)
    if node.alive():
        node.kill()
    node.start()
    assert node.phase == "ready", f"{what}: came up as {node.phase}\n{node.log}"
    node.log_in(transport="bearer")
    story.check(what)
    story.clean(what)
    node.stop()
    return killed


def kills_at(node, points, story_of, options, hits_max):
    """A stopped node is killed at each point; story_of(number, round) begins a new story."""
    rng = random.Random(options.seed)
    kills, unreached = 0, []
    for number, point in enumerate(points):
        if not re.search(options.only, point):
            continue
        reached = 0
        for one in range(options.rounds):
            hit = 1 if one == 0 else rng.randint(1, hits_max)
            reached += kill_once(node, story_of(number, one), point, hit)
        kills += reached
        if reached == 0:
            unreached.append(point)
        print(f"  {point}: {reached} kills", flush=True)
    return kills, unreached


def main(doc, is_on_the_way, run, positive_control):
    """The exit status. run(binary, points, options) gives kills and unreached points; positive_control(binary) whether
    planted damage was noticed."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samovard")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--only", default=".", help="points that match this pattern")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    out = subprocess.run([options.samovard, "--list-failpoints"], capture_output=True, text=True, check=True, timeout=60)
    points = [point for point in out.stdout.split() if is_on_the_way(point)]
    if not points:
        print("this build has no failpoints (SAMOVAR_FAILPOINTS=OFF): nothing to test here")
        return 77
    kills, unreached = run(options.samovard, points, options)
    caught = positive_control(options.samovard)
    print(f"{kills} kills at {len(points) - len(unreached)} points, nothing lost, nothing left; "
          f"planted damage {'caught' if caught else 'NOT CAUGHT'}")
    if unreached:
        print("never reached:", " ".join(unreached))
    return 0 if caught and not unreached else 1

#!/usr/bin/env python3
"""clang-tidy over the sources of the product: prints findings, exits 1 when there are any.

  clang_tidy.py BUILD [PATTERN…]   BUILD has a compile_commands.json; patterns choose among the files

What was clean before and has not changed is not looked at again (verdicts.py).
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

import tree
import verdicts

FOLDERS = ("base/", "security/", "kernels/", "trainer/", "daemon/")
# g++ 12's own switches mean nothing to it.
EXTRA = ["--quiet", "--extra-arg=-Wno-unknown-warning-option"]


def commands_of(build, root):
    """The first command of each source: a second one differs by instruction sets only."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        name = os.path.relpath(os.path.join(entry["directory"], entry["file"]), root)
        found.setdefault(name, re.sub(r" -o \S+| -DSAMOVAR_BUILD_EPOCH=\S+", "", entry["command"]))
    return found


def facts_of(root, program):
    version = subprocess.run([program, "--version"], capture_output=True, check=True).stdout
    return version + (root / ".clang-tidy").read_bytes() + " ".join(EXTRA).encode()


def run(program, build, root, name):
    done = subprocess.run([program, "-p", str(build), *EXTRA, name], cwd=root, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + (done.stderr if done.returncode and not done.stdout else "")


def check(root, build, patterns, jobs, program="clang-tidy-14"):
    commands = commands_of(build, root)
    names = [name for name in tree.files(root, {".cpp"}) if name.startswith(FOLDERS) and name in commands]
    names = [name for name in names if not patterns or any(pattern in name for pattern in patterns)]
    known = verdicts.Verdicts(root, facts_of(root, program), generated=[build / "generated"])
    keys = {name: known.key(name, commands[name]) for name in names}
    left = [name for name in names if not known.is_clean(keys[name])]
    print(f"clang-tidy: {len(names)} files, {len(names) - len(left)} known to be clean", flush=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
        waiting = {pool.submit(run, program, build, root, name): name for name in left}
        for future in concurrent.futures.as_completed(waiting):
            status, text = future.result()
            if status == 0:
                known.keep_clean(keys[waiting[future]])
            else:
                failed += 1
                print(text, flush=True)
    print(f"clang-tidy: {len(names) - failed} files clean, {failed} with findings")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--root", type=pathlib.Path, default=tree.default_root(), help="the tree to look at")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    sys.exit(1 if check(arguments.root, arguments.build.resolve(), arguments.patterns, arguments.jobs) else 0)


if __name__ == "__main__":
    main()

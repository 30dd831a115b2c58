#!/usr/bin/env python3
"""Every header compiles alone: whoever includes it needs nothing before it."""

import argparse
import concurrent.futures
import pathlib
import subprocess
import sys

import tree
import verdicts

FLAGS = [
    "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-DSAMOVAR_VERSION=\"0\"",
    "-DBOOST_ASIO_SEPARATE_COMPILATION", "-DBOOST_BEAST_SEPARATE_COMPILATION", "-DBOOST_ASIO_NO_DEPRECATED",
]


def compile_alone(root, name, compiler):
    # Through -include: compiled as the main file, #pragma once would warn.
    command = [compiler, *FLAGS, f"-I{root}", "-include", str(pathlib.Path(root) / name), "-x", "c++", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    errors = [line for line in done.stderr.splitlines() if "error" in line]
    return tree.Finding(name, 1, "does not compile alone: " + (errors[0] if errors else done.stderr[:200]))


def check(root, only=None, jobs=2, compiler="g++", folder=None):
    names = [name for name in tree.files(root, {".hpp"}) if only is None or name in only]
    version = subprocess.run([compiler, "--version"], capture_output=True, check=True).stdout
    known = verdicts.Verdicts(root, version + " ".join(FLAGS).encode(), folder=folder)
    keys = {name: known.key(name) for name in names}
    with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
        left = [name for name in names if not known.is_clean(keys[name])]
        findings = []
        for name, finding in zip(left, pool.map(lambda name: compile_alone(root, name, compiler), left)):
            if finding:
                findings.append(finding)
            else:
                known.keep_clean(keys[name])
        return findings


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=tree.default_root(), help="the tree to look at")
    parser.add_argument("--changed", action="store_true", help="only headers that differ from the last commit")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--compiler", default="g++")
    arguments = parser.parse_args()
    only = tree.changed(arguments.root) if arguments.changed else None
    sys.exit(tree.report("headers", check(arguments.root, only, arguments.jobs, arguments.compiler)))


if __name__ == "__main__":
    main()

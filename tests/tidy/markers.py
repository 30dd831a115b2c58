#!/usr/bin/env python3
"""No leftovers: markers of unfinished work, and absolute paths of the machine a file was written on."""

import pathlib
import re

import tree

SUFFIXES = {
    ".cpp", ".hpp", ".h", ".cu", ".cuh", ".py", ".sh", ".cmake", ".md", ".ts", ".tsx", ".js", ".mjs", ".css",
    ".html", ".json", ".yml", ".yaml", ".toml", ".service", ".1", ".5", ".7", ".8", "CMakeLists.txt", "dev", "run",
    "rules", "control",
}
SKIPPED_NAMES = {"package-lock.json"}

# In pieces, so that this file does not find itself.
MARKERS = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"]) + r")\b")
HOMES = re.compile(r"(?<![\w.$}/-])/(home/[a-z_][\w-]*|ro" + r"ot)/[\w.-]+")
# Folders everybody has: a checkout right below one of them tells nothing.
COMMON = {"/", "/tmp", "/home", "/opt", "/srv", "/usr", "/usr/src", "/usr/local", "/var", "/mnt", "/etc", "/run"}


def local_paths(root):
    """The folder this tree was checked out in, and the one above it."""
    root = pathlib.Path(root).resolve()
    return [str(path) + "/" for path in (root, root.parent) if str(path) not in COMMON]


def check(root):
    findings = []
    places = local_paths(root)
    for name in tree.files(root, SUFFIXES):
        if pathlib.PurePosixPath(name).name in SKIPPED_NAMES:
            continue
        for number, line in enumerate(tree.lines(root, name), 1):
            if match := MARKERS.search(line):
                findings.append(tree.Finding(name, number, f"leftover {match[1]}: finish it or file it"))
            match = HOMES.search(line)
            if match or any(place in line for place in places):
                findings.append(tree.Finding(name, number, "a path of somebody's machine"))
    return findings


if __name__ == "__main__":
    tree.main("markers", check, __doc__)

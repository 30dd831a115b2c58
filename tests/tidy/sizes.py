#!/usr/bin/env python3
"""A source file past 600 lines is split, or says in its first lines why not: `size: a table of routes`."""

import re

import tree

SUFFIXES = {".cpp", ".hpp", ".h", ".cu", ".cuh", ".py", ".sh", ".ts", ".tsx", ".js", ".mjs", ".css", ".cmake"}
LINES_MAX = 600
REASON = re.compile(r"\bsize:\s*\S+")
REASON_WITHIN = 10


def check(root):
    findings = []
    for name in tree.files(root, SUFFIXES):
        content = tree.lines(root, name)
        if len(content) <= LINES_MAX or any(REASON.search(line) for line in content[:REASON_WITHIN]):
            continue
        findings.append(tree.Finding(name, len(content), f"{len(content)} lines, more than {LINES_MAX}: find the seam"))
    return findings


if __name__ == "__main__":
    tree.main("sizes", check, __doc__)

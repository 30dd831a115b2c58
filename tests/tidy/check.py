#!/usr/bin/env python3
"""All tidy checks: prints findings, exits 1 when there are any.

  check.py              everything, headers included (slow)
  check.py --changed    headers only where they differ from the last commit
  check.py --fast       without headers
"""

import argparse
import pathlib
import sys

import coroutines
import headers
import layers
import markers
import sizes
import tree

FAST = {"coroutines": coroutines.check, "layers": layers.check, "markers": markers.check, "sizes": sizes.check}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=tree.default_root(), help="the tree to look at")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--changed", action="store_true")
    arguments = parser.parse_args()
    status = 0
    for title, check in FAST.items():
        status |= tree.report(title, check(arguments.root))
    if not arguments.fast:
        only = tree.changed(arguments.root) if arguments.changed else None
        status |= tree.report("headers", headers.check(arguments.root, only))
    sys.exit(status)


if __name__ == "__main__":
    main()

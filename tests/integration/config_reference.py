#!/usr/bin/env python3
"""docs/reference/config.md is what `samovard --print-config-reference` prints."""
import difflib
import pathlib
import subprocess
import sys

binary, page = sys.argv[1], pathlib.Path(sys.argv[2])
made = subprocess.run([binary, "--print-config-reference"], capture_output=True, text=True, check=True, timeout=60).stdout
kept = page.read_text(encoding="utf-8") if page.exists() else ""
if made != kept:
    sys.stdout.writelines(difflib.unified_diff(kept.splitlines(True), made.splitlines(True), str(page), "made"))
    sys.exit(f"{page} is out of date: {binary} --print-config-reference > {page}")
print("equal")

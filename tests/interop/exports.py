#!/usr/bin/python3
"""Trains on every public set of a folder, exports the models as C and as ONNX and runs them outside the product.

    tests/interop/exports.py PROGRAM FOLDER [--onnx-git DIR] [--only NAME]

PROGRAM is bench_train_file (ninja -C build/release bench_train_file). FOLDER holds the sets that bench/public_sets.py
names. The C file is compiled by gcc with its self-test and run; the ONNX file is run by onnx_scores.py, which says what
it needs. Both must give the product's scores on all test rows. Prints a table; ends with 1 when one differs.

By hand: nothing of it is needed to build or test."""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "bench"))
from public_sets import HASHED, SETS, sets_of  # noqa: E402


def run_c(file):
    """The C export's own test: a sentence, and whether all rows agree."""
    check = file.with_suffix(".check")
    made = subprocess.run(["gcc", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-DSAMOVAR_SELFTEST", file, "-o", check,
                           "-lm"], capture_output=True, text=True)
    if made.returncode != 0:
        return "does not compile: " + made.stderr.strip().splitlines()[0], False
    done = subprocess.run([check], capture_output=True, text=True)
    return (done.stdout + done.stderr).strip().splitlines()[-1], done.returncode == 0


def run_onnx(file, onnx_git):
    more = ["--onnx-git", onnx_git] if onnx_git else []
    done = subprocess.run([sys.executable, HERE / "onnx_scores.py", *more, file], capture_output=True, text=True)
    last = (done.stdout.strip() or done.stderr.strip()).splitlines()[-1]
    return re.sub("^.*?: ", "", last), done.returncode in (0, 77)


def try_set(program, name, frame, target, spec, onnx_git):
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        frame.to_csv(place / "data.csv", index=False)
        (place / "spec.json").write_text(json.dumps({"target": target, "exports": True, **spec}))
        done = subprocess.run([program, place / "data.csv", place / "spec.json", place / "out"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            return name, len(frame), "", "not trained: " + done.stderr.strip(), "", False
        told = json.loads((place / "out.json").read_text())
        refused = told["exports"]
        weights = told["evaluation"]["model"]["weights"]
        c, c_good = (refused[".c"], False) if refused[".c"] else run_c(place / "out.c")
        # What ONNX has no operator for is refused with a sentence: no failure.
        onnx, onnx_good = (refused[".onnx"], "cannot express" in refused[".onnx"]) if refused[".onnx"] \
            else run_onnx(place / "out.onnx", onnx_git)
        return name, len(frame), weights, c, onnx, c_good and onnx_good and not refused[".model.json"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--onnx-git")
    parser.add_argument("--only")
    arguments = parser.parse_args()
    print("| set | rows | weights | C by gcc | ONNX by onnx.reference |\n|---|---|---|---|---|")
    good = True
    for name, frame, target, spec in sets_of(arguments.folder, SETS + HASHED):
        if arguments.only and name != arguments.only:
            continue
        *line, same = try_set(arguments.program, name, frame, target, spec, arguments.onnx_git)
        print("| " + " | ".join(map(str, line)) + " |", flush=True)
        good = good and same
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

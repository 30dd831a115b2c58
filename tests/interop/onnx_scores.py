#!/usr/bin/python3
"""Runs exported ONNX files by an independent runtime and compares with the scores they carry.

    tests/interop/onnx_scores.py [--onnx-git DIR] model.onnx …

The files' own test rows (metadata "samovar.test_vectors") are scored by onnx.reference, the ONNX project's
evaluator, after onnx.checker has passed the file. Debian 12's python3-onnx 1.12 has the checker but no evaluator
(it came with 1.13, its ai.onnx.ml operators with 1.14): --onnx-git names a clone of github.com/onnx/onnx, of which
v1.14.1's evaluator is put over a copy of the installed package; that needs protobuf-compiler.

By hand: nothing of it is needed to build or test. Exit 77 (skipped) when there is no evaluator."""

import argparse
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOLERANCE = 1e-6  # the score is a float


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def overlay(git, into):
    """The installed package with the evaluator of v1.14.1 and the few modules it leans on."""
    import onnx

    package = pathlib.Path(onnx.__file__).parent
    shutil.copytree(package, into / "onnx")
    parts = ["onnx/reference", "onnx/helper.py", "onnx/mapping.py", "onnx/numpy_helper.py", "onnx/onnx-ml.proto"]
    tar = subprocess.run(["git", "-C", git, "archive", "v1.14.1", *parts], check=True, stdout=subprocess.PIPE)
    subprocess.run(["tar", "x", "-C", into], check=True, input=tar.stdout)
    subprocess.run(["protoc", "--python_out=.", "onnx/onnx-ml.proto"], check=True, cwd=into)


def evaluator():
    try:
        from onnx.reference import ReferenceEvaluator
    except ImportError:
        return None
    return ReferenceEvaluator


def feeds(model, vectors, columns):
    import numpy

    out = {}
    for value in model.graph.input:
        column = columns[value.name]
        text = value.type.tensor_type.elem_type == 8
        cells = []
        for row in vectors["rows"]:
            cell = row[vectors["columns"].index(column)] if column in vectors["columns"] else None
            if text:
                cells.append("" if cell is None else str(cell))
            else:
                cells.append(math.nan if cell is None else float(cell))
        out[value.name] = numpy.array(cells, dtype=object if text else numpy.float64).reshape(-1, 1)
    return out


def check(path, run):
    import onnx

    model = onnx.load(path)
    onnx.checker.check_model(model)
    meta = {entry.key: entry.value for entry in model.metadata_props}
    vectors = json.loads(meta["samovar.test_vectors"])
    columns = {one["input"]: one["column"] for one in json.loads(meta["samovar.columns"])}
    scores = run(model).run(None, feeds(model, vectors, columns))[0]
    sizes = sorted(abs(score) for row in vectors["scores"] for score in row)
    usual = sizes[len(sizes) // 2]
    worst = 0.0
    for got_row, want_row in zip(scores, vectors["scores"]):
        for got, want in zip(got_row, want_row):
            worst = max(worst, abs(float(got) - want) / max(abs(want), 1e-3 * usual, 1e-300))
    good = worst <= TOLERANCE and len(scores) == len(vectors["scores"])
    print(f"{path}: {len(scores)} test rows, {len(model.graph.node)} nodes, worst difference {worst:.1e}:",
          "same" if good else "DIFFERENT")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--onnx-git")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    try:
        import onnx  # noqa: F401
    except ImportError:
        skip("python3-onnx is not installed (apt-get install python3-onnx)")
    if evaluator() is None:
        if not arguments.onnx_git:
            skip("this python3-onnx has no evaluator; see --onnx-git")
        with tempfile.TemporaryDirectory() as into:
            overlay(arguments.onnx_git, pathlib.Path(into))
            # The C++ side knows the installed package's messages only.
            env = dict(os.environ, PYTHONPATH=into, PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION="python")
            sys.exit(subprocess.run([sys.executable, __file__, *arguments.files], env=env).returncode)
    run = evaluator()
    sys.exit(0 if all([check(path, run) for path in arguments.files]) else 1)


if __name__ == "__main__":
    main()

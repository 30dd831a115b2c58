"""What every check shares: the files of the tree, findings, and a small command line."""

import argparse
import dataclasses
import pathlib
import subprocess
import sys

SKIPPED_DIRS = {".git", "build", "node_modules", "dist", "__pycache__"}


@dataclasses.dataclass(frozen=True, order=True)
class Finding:
    path: str
    line: int
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


def default_root():
    return pathlib.Path(__file__).resolve().parents[2]


def _git(root, *arguments):
    """Names that git prints for this tree, or None outside a repository."""
    done = subprocess.run(["git", "-C", str(root), *arguments, "-z"], capture_output=True, check=False)
    if done.returncode != 0:
        return None
    return [name for name in done.stdout.decode().split("\0") if name]


def files(root, suffixes):
    """Relative paths of our own files with one of these suffixes or names, sorted."""
    root = pathlib.Path(root)
    names = None
    if (root / ".git").exists():
        names = _git(root, "ls-files", "--cached", "--others", "--exclude-standard")
    if names is None:
        names = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    found = []
    for name in sorted(set(names)):
        path = pathlib.PurePosixPath(name)
        if SKIPPED_DIRS.intersection(path.parts[:-1]) or not (root / name).is_file():
            continue
        if path.suffix in suffixes or path.name in suffixes:
            found.append(name)
    return found


def changed(root):
    """Relative paths that differ from the last commit, new files included."""
    tracked = _git(root, "diff", "--name-only", "HEAD") or []
    new = _git(root, "ls-files", "--others", "--exclude-standard") or []
    return set(tracked) | set(new)


def lines(root, name):
    text = (pathlib.Path(root) / name).read_text(encoding="utf-8", errors="replace")
    return text.splitlines()


def report(title, findings):
    """Prints findings; gives the exit status."""
    for finding in sorted(findings):
        print(finding)
    if findings:
        print(f"{title}: {len(findings)} finding(s)", file=sys.stderr)
    return 1 if findings else 0


def main(title, check, description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", type=pathlib.Path, default=default_root(), help="the tree to look at")
    arguments = parser.parse_args()
    sys.exit(report(title, check(arguments.root)))

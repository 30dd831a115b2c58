"""What was found clean before and has not changed since is not looked at again.

A verdict's key is all that the tool can see: the file, what it includes of the tree, the versions of the packages
the rest comes from, the tool with its flags and its configuration. Only "clean" is kept: a finding is found again
until it is gone.
"""

import hashlib
import os
import pathlib
import re
import subprocess

INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]+(?:"([^"\n]+)"|[A-Z])', re.MULTILINE)


def default_folder():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "samovar-tidy"


def installed_headers():
    """The packages that bring headers, with their versions."""
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Architecture} ${Version}\n", "*-dev"],
                          capture_output=True, check=False)
    return done.stdout


class Verdicts:
    def __init__(self, root, facts, folder=None, generated=()):
        """facts: bytes that change every verdict; generated: folders where the build puts headers."""
        self._root = pathlib.Path(root)
        self._places = [self._root, *map(pathlib.Path, generated)]
        self._folder = pathlib.Path(folder or default_folder())
        self._facts = hashlib.sha256(facts + b"\0" + installed_headers()).digest()
        self._read = {}  # path: (hash, paths it includes)

    def _look(self, path):
        if path not in self._read:
            content = path.read_bytes()
            included = []
            for match in INCLUDE.finditer(content):
                if match[1] is None:  # through a macro: nobody knows what
                    raise LookupError(f"{path}: an include whose file is a macro")
                for place in (path.parent, *self._places):
                    candidate = place / match[1].decode()
                    if candidate.is_file():
                        included.append(candidate.resolve())
                        break
            self._read[path] = (hashlib.sha256(content).digest(), included)
        return self._read[path]

    def key(self, name, flags=""):
        """None when what the file includes cannot be told."""
        start = (self._root / name).resolve()
        seen, left = {start}, [start]
        try:
            while left:
                for path in self._look(left.pop())[1]:
                    if path not in seen:
                        seen.add(path)
                        left.append(path)
        except LookupError:
            return None
        whole = hashlib.sha256(self._facts)
        for text in (name, flags.replace(str(self._root), "")):
            whole.update(text.encode() + b"\0")
        for digest in sorted(self._look(path)[0] for path in seen):
            whole.update(digest)
        return whole.hexdigest()

    def is_clean(self, key):
        path = key and self._folder / key[:2] / key
        if not path or not path.exists():
            return False
        os.utime(path)  # so that old ones can be told
        return True

    def keep_clean(self, key):
        if key:
            (self._folder / key[:2]).mkdir(parents=True, exist_ok=True)
            (self._folder / key[:2] / key).touch()

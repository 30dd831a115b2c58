#!/usr/bin/env python3
"""Includes go down the ladder, never up or sideways; third-party headers stay behind their walls.

main, cli, worker -> api -> jobs -> cluster -> {raft net discovery store power trainer} -> {security kernels} -> base
"""

import pathlib
import re

import tree

SUFFIXES = {".cpp", ".hpp", ".h", ".cu", ".cuh"}

# A folder may include itself and folders with a lower number. Files right in daemon/ compose the node.
RUNGS = {
    "base": 0,
    "security": 1,
    "kernels": 1,
    "trainer": 2,
    "daemon/raft": 2,
    "daemon/net": 2,
    "daemon/discovery": 2,
    "daemon/store": 2,
    "daemon/power": 2,
    "daemon/cluster": 3,
    "daemon/ingest": 3,
    "daemon/jobs": 4,
    "daemon/api": 5,
    "daemon/cli": 6,
    "daemon/worker": 6,
    "daemon": 6,
}

# Header, and the only places that may include it.
WALLS = [
    # engine and session are the HTTPS engine's own headers; the handlers see http.hpp only.
    (r"boost/asio/ssl", [r"daemon/api/[^/]+\.cpp", r"daemon/api/(engine|session)\.hpp"]),
    # The CLI pins the box's certificate inside libcurl's TLS, which only OpenSSL's types reach.
    (r"openssl/", [r"security/[^/]+\.cpp", r"daemon/(api|net)/[^/]+\.cpp", r"daemon/cli/(digest|trust|http_client)\.cpp"]),
    (r"(raft\.h|raft/|uv\.h|uv/)", [r"daemon/raft/[^/]+\.cpp", r"daemon/raft/native\.hpp"]),
    (r"(zstd|zstd_errors|lzma|lz4)\.h", [r"daemon/ingest/[^/]+\.cpp", r"trainer/data/[^/]+\.cpp"]),
    (r"zlib\.h", [r"base/[^/]+\.cpp", r"security/[^/]+\.cpp", r"daemon/[a-z]+/[^/]+\.cpp"]),
    # Compiled once there for all who use it; json_fwd.hpp is free.
    (r"nlohmann/json\.hpp", [r"base/json\.hpp"]),
    (r"sqlite3\.h", [r"daemon/cluster/[^/]+\.cpp"]),
    (r"sodium(\.h|/)", [r"security/[^/]+\.cpp"]),
    (r"seccomp\.h", [r"daemon/worker/[^/]+\.cpp"]),
    (r"curl/", [r"daemon/cli/[^/]+\.cpp"]),
    # The mesh's own inner headers; what others include of daemon/net knows no Asio.
    (
        r"(boost/asio|boost/beast)",
        [
            r"base/[^/]+\.cpp",
            r"daemon/api/[^/]+\.(cpp|hpp)",
            r"daemon/net/[^/]+\.cpp",
            r"daemon/net/(connection|dial|engine|join_session|net_thread|tls_socket)\.hpp",
        ],
    ),
    (r"(cuda|cublas|cudnn|NvInfer)", [r"kernels/(cuda|tensorrt)/.*"]),
    # The emulator stands in for cuBLAS.
    (r"(cblas|lapacke?)", [r"kernels/cpu/[^/]+\.cpp", r"kernels/emulator/runtime\.hpp"]),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def rung_folder(path):
    """The ladder folder a path belongs to, or None for tests, benches and tools."""
    parts = pathlib.PurePosixPath(path).parts
    if len(parts) >= 3 and "/".join(parts[:2]) in RUNGS:
        return "/".join(parts[:2])
    if len(parts) >= 2 and parts[0] in RUNGS and (parts[0] != "daemon" or len(parts) == 2):
        return parts[0]
    return None


def check_ladder(root, name, target):
    here = rung_folder(name)
    if target.startswith("tests/"):
        return f'product code includes "{target}" of the tests'
    there = rung_folder(target)
    if there is None:
        relative = pathlib.Path(root) / pathlib.PurePosixPath(name).parent / target
        if relative.exists():
            return f'write "{target}" as a path from the root of the tree'
        return None
    if there == here or RUNGS[there] < RUNGS[here]:
        return None
    direction = "up" if RUNGS[there] > RUNGS[here] else "sideways"
    return f'{here} may not include "{target}": that goes {direction} on the ladder'


def check_walls(name, target):
    for header, places in WALLS:
        if re.match(header, target):
            # The first wall that knows the header decides: boost/asio/ssl is not plain boost/asio.
            if any(re.fullmatch(place, name) for place in places):
                return None
            return f"<{target}> belongs only in {', '.join(p.replace(chr(92), '') for p in places)}"
    return None


def check(root):
    findings = []
    for name in tree.files(root, SUFFIXES):
        if rung_folder(name) is None:
            continue
        for number, line in enumerate(tree.lines(root, name), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = match[2]
            problem = check_walls(name, target)
            if problem is None and match[1] == '"':
                problem = check_ladder(root, name, target)
            if problem:
                findings.append(tree.Finding(name, number, problem))
    return findings


if __name__ == "__main__":
    tree.main("layers", check, __doc__)

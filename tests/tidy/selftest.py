#!/usr/bin/env python3
"""The checks on trial: each must find a violation planted in a tree of its own, and accept a clean one."""

import contextlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import clang_tidy
import coroutines
import headers
import layers
import markers
import sizes
import tree
import verdicts


class Tree(unittest.TestCase):
    def setUp(self):
        self._dir = tempfile.TemporaryDirectory()
        self.addCleanup(self._dir.cleanup)
        self.root = pathlib.Path(self._dir.name) / "inner" / "tree"
        self.root.mkdir(parents=True)

    def put(self, name, content):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    def found(self, check):
        return [(finding.path, finding.line) for finding in check(self.root)]


class Layers(Tree):
    def test_going_down_and_staying_is_fine(self):
        self.put("base/a.hpp", "#pragma once\n#include <vector>\n")
        self.put("security/a.hpp", '#include "base/a.hpp"\n#include "security/b.hpp"\n')
        self.put("daemon/api/a.cpp", '#include "daemon/cluster/x.hpp"\n#include "daemon/power/x.hpp"\n#include <fmt/format.h>\n')
        self.put("daemon/node.cpp", '#include "daemon/api/x.hpp"\n#include "daemon/node.hpp"\n')
        self.put("tests/unit/a.cpp", '#include "daemon/api/x.hpp"\n#include <openssl/ssl.h>\n')
        self.assertEqual(self.found(layers.check), [])

    def test_finds_climbing(self):
        self.put("base/a.hpp", '#pragma once\n#  include "security/b.hpp"\n')
        self.put("daemon/cluster/a.cpp", '#include "daemon/api/http.hpp"\n')
        self.put("daemon/api/a.cpp", '#include "daemon/node.hpp"\n')
        self.put("security/a.cpp", '#include "trainer/sync/peer.hpp"\n')
        self.assertEqual(self.found(layers.check),
                         [("base/a.hpp", 2), ("daemon/api/a.cpp", 1), ("daemon/cluster/a.cpp", 1), ("security/a.cpp", 1)])

    def test_finds_sideways(self):
        self.put("daemon/raft/a.cpp", '#include "daemon/power/b.hpp"\n')
        self.put("daemon/cli/a.cpp", '#include "daemon/config.hpp"\n')
        self.put("security/a.cpp", '#include "kernels/kernels.hpp"\n')
        self.assertEqual(len(self.found(layers.check)), 3)
        self.assertIn("sideways", str(layers.check(self.root)[0]))

    def test_finds_relative_includes_and_includes_of_tests(self):
        self.put("base/sim/b.hpp", "")
        self.put("base/sim/a.cpp", '#include "b.hpp"\n')
        self.put("base/c.cpp", '#include "tests/support/x.hpp"\n')
        self.assertEqual(self.found(layers.check), [("base/c.cpp", 1), ("base/sim/a.cpp", 1)])

    def test_finds_third_party_headers_outside_their_walls(self):
        violations = {
            "base/a.cpp": "openssl/ssl.h", "daemon/net/mesh.hpp": "boost/asio.hpp", "security/a.hpp": "openssl/evp.h",
            "daemon/cluster/a.cpp": "openssl/evp.h", "daemon/api/a.cpp": "sqlite3.h", "daemon/cluster/b.cpp": "raft.h",
            "daemon/api/b.cpp": "uv.h", "daemon/raft/a.hpp": "raft/uv.h", "kernels/cpu/a.cpp": "cuda_runtime.h",
            "daemon/power/a.cpp": "sodium.h", "base/b.hpp": "boost/asio/post.hpp", "base/b.cpp": "boost/asio/ssl.hpp",
            "daemon/node.cpp": "curl/curl.h", "daemon/api/http.hpp": "boost/asio/ssl.hpp", "daemon/cli/a.cpp": "openssl/evp.h",
            "daemon/cli/b.cpp": "nlohmann/json.hpp",
        }
        for name, header in violations.items():
            self.put(name, f"#include <{header}>\n")
        self.assertEqual(sorted(path for path, _ in self.found(layers.check)), sorted(violations))

    def test_accepts_third_party_headers_inside_their_walls(self):
        for name, header in {
                "daemon/net/a.cpp": "openssl/ssl.h", "security/a.cpp": "openssl/evp.h", "daemon/api/a.cpp": "boost/asio/ssl.hpp",
                "daemon/raft/a.cpp": "raft.h", "daemon/raft/b.cpp": "uv.h", "daemon/cluster/a.cpp": "sqlite3.h",
                "kernels/cuda/a.cu": "cuda_runtime.h", "base/a.cpp": "boost/asio/post.hpp", "security/b.cpp": "sodium.h",
                "base/json.hpp": "nlohmann/json.hpp", "daemon/api/b.hpp": "nlohmann/json_fwd.hpp"}.items():
            self.put(name, f"#include <{header}>\n")
        self.assertEqual(self.found(layers.check), [])


class Markers(Tree):
    def test_finds_leftovers(self):
        for number, word in enumerate(["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"]):
            self.put(f"base/{number}.cpp", f"int x;\n// {word}: later\n")
        self.assertEqual(self.found(markers.check), [(f"base/{n}.cpp", 2) for n in range(4)])

    def test_finds_paths_of_this_machine(self):
        self.put("a.cmake", f"set(x {self.root}/y)\n")
        self.put("b.md", "see /ho" + "me/maria/notes.txt\n")
        self.put("c.py", f'open("{self.root.parent}/other")\n')
        self.assertEqual(self.found(markers.check), [("a.cmake", 1), ("b.md", 1), ("c.py", 1)])

    def test_accepts_lookalikes(self):
        self.put("base/a.cpp", 'mkdtemp("/tmp/x-XXXXXX"); // a hackathon, todos, /home and /usr/lib/samovar\n')
        self.put("b.ts", 'fetch("/api/v1/home/x");\n')
        self.put("node_modules/x/a.js", "// TO" + "DO\n")
        self.assertEqual(self.found(markers.check), [])


class Sizes(Tree):
    def test_finds_long_files(self):
        self.put("base/a.cpp", "x\n" * (sizes.LINES_MAX + 1))
        self.put("base/b.cpp", "x\n" * sizes.LINES_MAX)
        self.put("c.ts", "x\n" * 700)
        self.put("d.md", "x\n" * 700)
        self.assertEqual(self.found(sizes.check), [("base/a.cpp", 601), ("c.ts", 700)])

    def test_accepts_a_reason_in_the_first_lines(self):
        self.put("base/a.cpp", "// Codes.\n// size: one table of all codes\n" + "x\n" * 700)
        self.put("base/b.cpp", "// size:\n" + "x\n" * 700)
        self.put("base/c.cpp", "x\n" * 700 + "// size: too late\n")
        self.assertEqual([path for path, _ in self.found(sizes.check)], ["base/b.cpp", "base/c.cpp"])


class Coroutines(Tree):
    def flagged(self, statement):
        self.put("base/a.cpp", "Task<int> f() {\n" + statement + "\n}\n")
        return bool(coroutines.check(self.root))

    def test_finds_temporaries_that_die_twice(self):
        for statement in ["co_await run(Job{name});", "co_await run({name, 1});", "co_await run(1, {name});",
                          "co_await run([name] { return 1; });", "co_await run([&x, n = std::move(y)](int) mutable { go(); });",
                          "SAMOVAR_CO_TRY(int n, co_await run(loop, api::Job{.name = name}));",
                          "co_return co_await run(\n    [=] { return 1; });"]:
            self.assertTrue(self.flagged(statement), statement)

    def test_accepts_what_dies_once(self):
        for statement in ["auto job = Job{name}; co_await run(std::move(job));", "auto w = [name] {}; co_await run(w);",
                          "co_await run([&] { return Job{name}; });", "co_await run([this, &x](int n) { go([n] { x = Job{}; }); });",
                          "co_await run(Error{Errc::io, text});", "co_await run(table[index], ids[0]);", "if (co_await ok()) { Job{}; }",
                          "co_await run(); // Job{name}", 'co_await run("Job{name}");', "auto operator co_await() { return Job{1}; }",
                          "co_return Job{name};"]:
            self.assertFalse(self.flagged(statement), statement)


class Headers(Tree):
    def test_finds_headers_that_lean_on_others(self):
        self.put("base/good.hpp", "#pragma once\n#include <string>\nstd::string f();\n")
        self.put("base/bad.hpp", "#pragma once\nstd::string f();\n")
        self.put("base/uses.hpp", '#pragma once\n#include "base/good.hpp"\n')
        folder = self.root.parent / "verdicts"
        for _ in range(2):  # a finding is found again
            findings = headers.check(self.root, folder=folder)
            self.assertEqual([(finding.path, finding.line) for finding in findings], [("base/bad.hpp", 1)])
        self.assertEqual(headers.check(self.root, only={"base/good.hpp"}, folder=folder), [])


class Verdicts(Tree):
    def setUp(self):
        super().setUp()
        self.put("base/deep.hpp", "#pragma once\n")
        self.put("base/a.hpp", '#pragma once\n#include "base/deep.hpp"\n')
        self.put("base/a.cpp", '#include "base/a.hpp"\n#include <vector>\n')

    def known(self, facts=b"tool 1"):
        return verdicts.Verdicts(self.root, facts, folder=self.root.parent / "verdicts")

    def test_clean_is_remembered_until_something_it_sees_changes(self):
        known = self.known()
        known.keep_clean(known.key("base/a.cpp"))
        self.assertTrue(self.known().is_clean(self.known().key("base/a.cpp")))
        self.assertFalse(known.is_clean(known.key("base/a.hpp")))
        self.assertFalse(known.is_clean(known.key("base/a.cpp", "-O3")))
        self.assertFalse(known.is_clean(self.known(b"tool 2").key("base/a.cpp")))
        self.put("base/deep.hpp", "#pragma once\nint x;\n")
        self.assertFalse(known.is_clean(self.known().key("base/a.cpp")))

    def test_another_clone_has_the_same_verdicts(self):
        key = self.known().key("base/a.cpp", f"-I{self.root} -c")
        moved = self.root.parent / "elsewhere"
        self.root.rename(moved)
        self.root = moved
        self.assertEqual(self.known().key("base/a.cpp", f"-I{self.root} -c"), key)

    def test_an_include_nobody_can_name_has_no_verdict(self):
        self.put("base/b.cpp", "#include CHOSEN\n")
        self.assertIsNone(self.known().key("base/b.cpp"))
        self.assertFalse(self.known().is_clean(None))


class ClangTidy(Tree):
    def found(self):
        """What it said: files with findings, and how many it knew to be clean."""
        build = self.root / "build"
        build.mkdir(exist_ok=True)
        names = [path.relative_to(self.root) for path in self.root.glob("base/*.cpp")]
        (build / "compile_commands.json").write_text(json.dumps(
            [{"directory": str(build), "file": f"../{name}", "command": f"c++ -c ../{name}"} for name in names]))
        said = io.StringIO()
        with unittest.mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(self.root.parent)}), contextlib.redirect_stdout(said):
            failed = clang_tidy.check(self.root, build, [], 1)
        return failed, said.getvalue()

    @unittest.skipUnless(shutil.which("clang-tidy-14"), "no clang-tidy")
    def test_finds_what_is_wrong_until_it_is_right_and_then_knows_it(self):
        self.put(".clang-tidy", "Checks: '-*,misc-definitions-in-headers,bugprone-suspicious-semicolon'\nWarningsAsErrors: '*'\n"
                                "HeaderFilterRegex: '.*'\n")
        self.put("base/a.hpp", "#pragma once\nint number() { return 1; }\n")
        self.put("base/a.cpp", '#include "a.hpp"\nint a() { return number(); }\n')
        self.put("base/b.cpp", "int b() { return 1; }\n")
        failed, said = self.found()
        self.assertEqual(failed, 1, said)
        self.assertIn("a.hpp:2", said)
        failed, said = self.found()
        self.assertEqual(failed, 1, said)
        self.assertIn("2 files, 1 known to be clean", said)
        self.put("base/a.hpp", "#pragma once\ninline int number() { return 1; }\n")
        self.assertEqual(self.found()[0], 0)
        self.assertIn("2 files, 2 known to be clean", self.found()[1])


class Entry(Tree):
    def run_check(self, *arguments):
        script = pathlib.Path(__file__).with_name("check.py")
        return subprocess.run([sys.executable, str(script), "--root", str(self.root), *arguments],
                              capture_output=True, text=True, check=False)

    def test_exits_1_and_prints_the_finding(self):
        self.put("base/a.hpp", '#include "security/b.hpp"\n')
        done = self.run_check("--fast")
        self.assertEqual(done.returncode, 1)
        self.assertIn("base/a.hpp:1:", done.stdout)

    def test_exits_0_on_a_clean_tree(self):
        self.put("base/a.hpp", "#pragma once\n")
        done = self.run_check()
        self.assertEqual((done.returncode, done.stdout), (0, ""))


class Files(Tree):
    def test_a_repository_lists_new_files_and_not_ignored_ones(self):
        if subprocess.run(["git", "init", "-q", str(self.root)], check=False, capture_output=True).returncode != 0:
            self.skipTest("no git")
        self.put(".gitignore", "*.gen.cpp\n")
        self.put("a.cpp", "")
        self.put("b.gen.cpp", "")
        self.assertEqual(tree.files(self.root, {".cpp"}), ["a.cpp"])
        self.assertIn("a.cpp", tree.changed(self.root))


if __name__ == "__main__":
    unittest.main()

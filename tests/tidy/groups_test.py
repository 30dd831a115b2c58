#!/usr/bin/env python3
"""Sources that are compiled together: what must stay apart, and that nothing is written without need."""

import os
import pathlib
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "toolchains"))
import group_sources  # noqa: E402


class Groups(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(folder.name)

    def put(self, name, text):
        pathlib.Path(name).write_text(text, encoding="utf-8")

    def groups(self, *names, lines=1000):
        sources = [group_sources.Source(name) for name in names]
        return [[source.name for source in members] for members in group_sources.group(sources, lines)]

    def apart(self, one, other):
        self.put("one.cpp", one)
        self.put("other.cpp", other)
        return len(self.groups("one.cpp", "other.cpp")) == 2

    def test_files_without_private_names_go_together(self):
        self.assertFalse(self.apart("namespace a {\nint f() { return 1; }\n}\n", "namespace a {\nint g() { return f(); }\n}\n"))

    def test_a_private_name_that_another_file_mentions_keeps_them_apart(self):
        private = "namespace a {\nnamespace {\nbool is_one(int n) {\n  return n == 1;\n}\n}  // namespace\n}\n"
        self.assertTrue(self.apart(private, private.replace("== 1", "!= 1")))
        self.assertTrue(self.apart(private, "namespace a {\nbool g() { return is_one(2); }\n}\n"))
        self.assertTrue(self.apart("namespace a {\nbool g() { return is_one(2); }\n}\n", private))
        self.assertFalse(self.apart(private, 'namespace a {\nbool g(B b) { return b.is_one(2); }  // is_one\n}\n'))

    def test_every_kind_of_private_name_is_seen(self):
        for declaration in (
            "constexpr int kThing = 3;",
            "const std::map<std::string, std::vector<int>> kThing = {",
            "struct kThing {",
            "class kThing final : public Base {",
            "enum class kThing : std::uint8_t { a };",
            "template <class T>\nT kThing(T t) {",
            "template <class T, class U = std::vector<int>> T kThing(T t) {",
            "std::vector<std::pair<int, int>> kThing(\n    int a);",
            "int kThing[3];",
            "thread_local int kThing{0};",
        ):
            text = f"namespace a {{\nnamespace {{\n{declaration}\n"
            self.assertTrue(self.apart(text, "int f() { return kThing; }\n"), declaration)
        self.assertTrue(self.apart("static int thing() {\n", "int f() { return thing(); }\n"))
        self.assertTrue(self.apart("#define THING 1\n", "int f() { return THING; }\n"))

    def test_what_follows_an_unnamed_namespace_is_everybodys(self):
        self.assertFalse(self.apart("namespace a {\nnamespace {\nint one() {\n}\n}\nint f() {\n}\n}\n", "int g() { return f(); }\n"))

    def test_a_type_that_a_header_of_the_neighbour_mentions_keeps_them_apart(self):
        self.put("outer.hpp", '#include "inner.hpp"\n')
        self.put("inner.hpp", "Result<Fit> fit();\n")
        self.assertTrue(self.apart("namespace {\nclass Fit {\n", '#include "outer.hpp"\nint f();\n'))
        self.assertFalse(self.apart("namespace {\nclass Other {\n", '#include "outer.hpp"\nint f();\n'))

    def test_the_same_alias_twice_is_one(self):
        self.assertFalse(self.apart("using json = nlohmann::json;\n", "using json = nlohmann::json;\njson f();\n"))
        self.assertTrue(self.apart("using json = nlohmann::json;\n", "using json = other::json;\njson f();\n"))
        self.assertTrue(self.apart("using json = nlohmann::json;\n", "json f();\n"))

    def test_what_changes_others_stays_alone(self):
        plain = "int f();\n"
        for text in (
            "#define SWITCH 1\n#include <a>\n",
            "using namespace a;\n",
            "template class std::vector<int>;\n",
            "int main() {\n}\n",
            '#include "base/failpoint.hpp"\n',
        ):
            self.assertTrue(self.apart(text, plain), text)

    def test_a_group_is_no_longer_than_it_may_be(self):
        for name in "abc":
            self.put(f"{name}.cpp", "\n" * 40)
        self.assertEqual(self.groups("a.cpp", "b.cpp", "c.cpp", lines=80), [["a.cpp", "b.cpp"], ["c.cpp"]])

    def test_files_are_written_only_when_they_change_and_move_apart_when_names_clash(self):
        self.put("a.cpp", "int f();\n")
        self.put("b.cpp", "int g();\n")
        group_sources.main(["write", "out", "1000", "2", "a.cpp", "b.cpp"])
        first = pathlib.Path("out/group_0.cpp")
        self.assertIn('#include "a.cpp"\n#include "b.cpp"\n', first.read_text())
        self.assertNotIn("#include", pathlib.Path("out/group_1.cpp").read_text())
        os.utime(first, (1, 1))
        self.put("b.cpp", "int g();\nint h();\n")
        group_sources.main(["write", "out", "1000", "2", "a.cpp", "b.cpp"])
        self.assertEqual(first.stat().st_mtime, 1)
        self.put("b.cpp", "static int f() {\n}\n")
        group_sources.main(["write", "out", "1000", "2", "a.cpp", "b.cpp"])
        self.assertNotIn("b.cpp", first.read_text())
        self.assertIn('#include "b.cpp"', pathlib.Path("out/group_1.cpp").read_text())

    def test_too_few_groups_say_what_to_do(self):
        self.put("a.cpp", "static int f() {\n}\n")
        self.put("b.cpp", "static int f() {\n}\n")
        with self.assertRaisesRegex(SystemExit, "run cmake again"):
            group_sources.main(["write", "out", "1000", "1", "a.cpp", "b.cpp"])


if __name__ == "__main__":
    unittest.main()

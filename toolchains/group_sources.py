#!/usr/bin/env python3
"""Source files that are compiled together, a few at a time: most of what a small file costs is its headers.

  group_sources.py plan OUT LINES SOURCE…      how many groups these sources make (a number on standard output)
  group_sources.py write OUT LINES N SOURCE…   N files OUT/group_<k>.cpp that include them; touched only when they change

LINES is about how long a group may be; sources are named from the top of the tree, which is also where this runs. Files
share a group only when nothing that is private to one of them (an unnamed namespace, `static`, an alias, a macro) is so
much as mentioned by the other: what a file means does not depend on its neighbours. A new name that clashes moves files
apart at the next build by itself.
"""

import functools
import pathlib
import re
import sys

# Comments, strings and characters, which may hold braces and any name.
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\'', re.S)
WORD = re.compile(r"[A-Za-z_]\w*")
# Not after `.`, `->` or `::`: those name a member of something else.
MENTION = re.compile(r"(?<![\w.:>])[A-Za-z_]\w*|(?<=[^-]>)[A-Za-z_]\w*|(?<=[^:]:)[A-Za-z_]\w*")
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
INCLUDED = re.compile(r'^#include "([^"]+)"', re.M)
DECLARED = re.compile(r"\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+(?:\[\[.*?\]\]\s*)?(\w+)\s*(?!::)[\w:\s<>,]*[{;]")
ALIAS = re.compile(r"using\s+(?:(\w+)\s*=|[\w:<>\s]*::(\w+)\s*;)")
CALLED = re.compile(r"(?<![\w:])(\w+)\s*(?:\(|=|\{|;|\[|$)")
NO_NAMES = {"operator", "const", "noexcept", "override", "TEST", "TEST_F", "TEST_P", "TYPED_TEST", "INSTANTIATE_TEST_SUITE_P", "MATCHER", "MATCHER_P", "MATCHER_P2", "ACTION"}


class Source:
    def __init__(self, name):
        text = pathlib.Path(name).read_text(encoding="utf-8")
        bare = NOISE.sub(lambda found: '""' + "\n" * found[0].count("\n"), text)
        self.name = name
        self.lines = text.count("\n")
        self.private = private_names(bare)
        self.mentions = set(MENTION.findall(bare))
        self.headers_mention = types_of_headers(tuple(INCLUDED.findall(text)))
        macros = set(MACRO.findall(bare))
        self.private.update((macro, None) for macro in macros)
        # What changes the headers it includes, or says in one place what others only declare, stays alone; so do failpoints
        # (g++ 12 puts those of inline functions in no section with others; and the package, which has none, shares the rest).
        self.alone = bool(
            "base/failpoint.hpp" in text
            or (macros and bare.rfind("#include") > bare.find("#define"))
            or re.search(r"^\s*using\s+namespace\s+(?!\S*literals)", bare, re.M)
            or re.search(r"^(extern\s+)?template\s+(class|struct|bool|void|std)\b", bare, re.M)
            or re.search(r"\bint\s+main\s*\(|LLVMFuzzerTestOneInput", bare)
        )

    def clashes(self, other):
        return self.hides(other) or other.hides(self)

    def hides(self, other):
        for name, alias in self.private.items():
            if alias is None and (name in other.mentions or name in other.headers_mention):
                return True
            # The same alias for the same thing twice is one alias.
            if alias is not None and name in other.mentions and other.private.get(name) != alias:
                return True
        return False


@functools.lru_cache(maxsize=None)
def types_of_header(name):
    """The types that a header of the tree mentions, and those that it includes: a neighbour's must not come before them."""
    path = pathlib.Path(name)
    if not path.is_file():
        return frozenset()
    text = path.read_text(encoding="utf-8")
    types = {word for word in MENTION.findall(NOISE.sub('""', text)) if word[0].isupper() and not word.isupper()}
    return frozenset(types | types_of_headers(tuple(INCLUDED.findall(text))))


def types_of_headers(names):
    return set().union(*(types_of_header(name) for name in names))


def private_names(bare):
    """What is declared at the beginning of a line, as clang-format leaves it, and meant for this file only.

    By name; aliases with what they stand for."""
    names = {}
    depth = 0
    unnamed = []  # depths at which unnamed namespaces began
    for line in bare.split("\n"):
        if line and (line[0].isalpha() or line[0] in "_["):
            names.update(declared(line, inside=bool(unnamed)))
        if re.match(r"\s*(inline\s+)?namespace\s*\{", line):
            unnamed.append(depth)
        depth += line.count("{") - line.count("}")
        while unnamed and depth <= unnamed[-1]:
            unnamed.pop()
    return names


def declared(line, inside):
    alias = ALIAS.match(line)
    if alias:
        return {alias[1] or alias[2]: line}
    if line.startswith("namespace"):
        again = re.match(r"namespace\s+(\w+)\s*=", line)
        return {again[1]: line} if again else {}
    line = without_template(line)
    if not inside and not re.match(r"(static|constexpr|const|thread_local|inline)\b", line):
        return {}
    kind = DECLARED.match(line)
    if kind:
        return {kind[1]: None}
    # The name stands before the first bracket, sign or end: the words before it are its type.
    found = CALLED.search(re.sub(r"<[^()]*>", "<>", line))
    if not found or found[1] in NO_NAMES:
        return {}
    return {found[1]: None}


def without_template(line):
    while line.startswith("template"):
        depth, end = 0, line.find("<")
        for end in range(max(end, 0), len(line)):
            depth += {"<": 1, ">": -1}.get(line[end], 0)
            if depth == 0:
                break
        line = line[end + 1:].lstrip()
    return line


def group(sources, lines_most, count=None):
    """First come, first served, in the given order. With a count, as many groups and no more."""
    groups = []
    for source in sources:
        home = next((g for g in groups if fits(g, source, lines_most)), None)
        if home is None and (count is None or len(groups) < count):
            home = []
            groups.append(home)
        if home is None:  # rather a long group than none
            home = next((g for g in groups if fits(g, source, None)), None)
        if home is None:
            sys.exit(f"group_sources: no room for {source.name} among {count} groups: run cmake again")
        home.append(source)
    return groups


def fits(members, source, lines_most):
    if source.alone or members[0].alone:
        return False
    if lines_most is not None and sum(m.lines for m in members) + source.lines > lines_most:
        return False
    return not any(source.clashes(m) for m in members)


def main(arguments):
    task, out, lines_most = arguments[0], pathlib.Path(arguments[1]), int(arguments[2])
    if task == "plan":
        print(len(group([Source(name) for name in arguments[3:]], lines_most)))
        return
    count = int(arguments[3])
    groups = group([Source(name) for name in arguments[4:]], lines_most, count)
    groups += [[]] * (count - len(groups))
    out.mkdir(parents=True, exist_ok=True)
    for number, members in enumerate(groups):
        path = out / f"group_{number}.cpp"
        text = "// Made by toolchains/group_sources.py.\n" + "".join(f'#include "{m.name}"\n' for m in members)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

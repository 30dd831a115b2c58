#!/usr/bin/env python3
"""No lambda with captured values, and no brace-made aggregate, inside the full expression of a co_await.

g++ 12 destroys such a temporary twice (a shared_ptr or string inside it is then freed twice); clang does not,
so its sanitizer builds stay silent. Name the temporary first and move it in:

    auto work = [password] { return hash(password); };
    co_await run_on(cpu, loop, std::move(work));
"""

import re

import tree

SUFFIXES = {".cpp", ".hpp"}
CO_AWAIT = re.compile(r"(?<!operator )\bco_await\b")
LAMBDA = re.compile(r"(?<![\w\])\]])\[([^\[\]]*)\]")
# [&], [&x], [this], [] destroy nothing, so twice nothing is nothing.
HARMLESS_CAPTURE = re.compile(r"^\s*(&.*|this)?\s*$")
BRACED = re.compile(r"(?:\b((?:\w+::)*[A-Z]\w*)|([(,]))\s*\{")
# Types with constructors are safe; plain aggregates are not.
SAFE_TYPES = {"Error", "SecretBytes", "Duration", "MonoTime", "WallTime", "ByteView", "MutableBytes", "Bytes"}


def without_comments_and_strings(text):
    """The same text with comments and literals blanked, line breaks kept."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def matching(text, start):
    """The position after the bracket that closes the one at start."""
    depth = 0
    for at in range(start, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth == 0:
                return at + 1
    return len(text)


def full_expression(text, start):
    """From a co_await to the end of its full expression: the ; or the unmatched closing bracket."""
    at = start
    while at < len(text) and text[at] not in ");]}":
        at = matching(text, at) if text[at] in "([{" else at + 1
    return text[start:at]


def take_lambdas_out(expression):
    """The captures of each lambda that is a temporary here, and the expression without them."""
    captures = []
    while match := LAMBDA.search(expression):
        captures.append(match[1].strip())
        end = match.end()
        body = expression.find("{", end)
        if re.match(r"\s*\(", expression[end:]):
            body = expression.find("{", matching(expression, expression.index("(", end)))
        end = matching(expression, body) if body >= 0 else len(expression)
        # What stands in its body is a temporary of another expression.
        expression = expression[: match.start()] + " lambda " + expression[end:]
    return captures, expression


def problem_in(expression):
    captures, rest = take_lambdas_out(expression)
    for capture in captures:
        if not all(HARMLESS_CAPTURE.match(part) for part in capture.split(",")):
            return f"a lambda with captured values [{capture}]"
    for match in BRACED.finditer(rest):
        name = (match[1] or "").split("::")[-1]
        if name not in SAFE_TYPES:
            return f"a brace-made temporary {name}{{…}}"
    return None


def check(root):
    findings = []
    for name in tree.files(root, SUFFIXES):
        text = without_comments_and_strings("\n".join(tree.lines(root, name)))
        for match in CO_AWAIT.finditer(text):
            problem = problem_in(full_expression(text, match.end()))
            if problem:
                line = text.count("\n", 0, match.start()) + 1
                findings.append(tree.Finding(name, line, f"{problem} inside co_await: g++ 12 destroys it twice, name it first"))
    return findings


if __name__ == "__main__":
    tree.main("coroutines", check, __doc__)

"""Calls that other languages make of tests, and how the test is written: `path.startswith("/etc/")`, `len(k)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Edit, Fix, Span
from vigil_lang.semantics.text_patterns import quote
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from vigil_lang.semantics.meanings import Scope

_TESTS = {
    **dict.fromkeys(("startswith", "starts_with", "hasprefix", "has_prefix"), '~ "{}*"'),
    **dict.fromkeys(("endswith", "ends_with", "hassuffix", "has_suffix"), '~ "*{}"'),
    **dict.fromkeys(("contains", "includes", "substring", "strpos", "indexof"), 'contains "{}"'),
    **dict.fromkeys(("equals", "eq"), '= "{}"'),
    **dict.fromkeys(("fnmatch", "glob", "glob_match"), '~ "{}"'),
    **dict.fromkeys(("matches", "match", "search", "fullmatch", "regex", "regex_match", "re_match", "test"), "~ /…/"),
}
"""Functions and methods by their last name in small letters, and the test that says the same of a text."""
_GROUPED = re.compile(r"(?<![\w.,])[0-9]{1,3}(?:,[0-9]{3})+(?![\w.])")
"""A number with a comma before each three digits."""
_GLOB = re.compile(r"[*?](?:[\w.*?-]|\\/)*")
_HOLDS_GLOB = re.compile(r"(?<!\\)\*(?=.*\w)|\w.*(?<!\\)\*")
"""A text with a star that stands for others, and something besides."""
_AROUND_NOT = re.compile(r"\(\?<?!")
_AROUND = re.compile(r"\(\?<?=")
_AGAIN = re.compile(r"(?<!\\)(?:\\\\)*\\[1-9]")


def as_test(apply: tree.Apply) -> tuple[str, Fix | None] | None:
    """How the test is written that a call of another language makes; None where it is none that is known."""
    if not isinstance(apply.name, tree.Name):
        return None
    name, args = apply.name.text, apply.args or ()
    receiver, _, method = name.rpartition(".")
    test = _TESTS["glob"] if name == "glob.match" else _TESTS.get(method.lower())
    texts = [arg.raw for arg in args if isinstance(arg, tree.String)]
    fields = [arg.name.text for arg in args if isinstance(arg, tree.Apply) and isinstance(arg.name, tree.Name)]
    if test is None or len(texts) != 1 or len(fields) + len(texts) != len(args) or len(fields) > 1:
        return None
    if not fields and not receiver:
        return None
    field = fields[0] if fields else receiver
    raw = texts[0]
    written = f"{field} {test.format(raw)}"
    certain = "{}" in test and ("*" not in test or not set(raw) & set("*?\\"))
    fix = Fix(f"write `{written}`", (Edit(apply.span, written),)) if certain else None
    return f"this test is written `{written}`", fix


def as_number(arg: tree.Expr | tree.Literal_, scope: Scope) -> tuple[str, Fix] | None:
    """How `1,000` is written, of which an argument is a part."""
    if not isinstance(arg, tree.Number):
        return None
    text = scope.module.source.text
    line = text.rfind("\n", 0, arg.span.start) + 1
    for found in _GROUPED.finditer(text, line, arg.span.end):
        if found.start() < arg.span.start and arg.span.end <= found.end():
            whole = _GROUPED.match(text, found.start()) or found
            written = whole[0].replace(",", "")
            fix = Fix(f"write `{written}`", (Edit(Span(*whole.span()), written),))
            return f"a number is written with nothing but digits and a point: `{written}`", fix
    return None


def as_contained(test: tree.Test, scope: Scope) -> tuple[str, Fix] | None:
    """How `"rm" in command` is written: a text in quotation marks, and the argument that may contain it."""
    text, field = scope.module.source.text, test.field
    if not isinstance(test.operand, tree.SetUnion) or len(test.operand.parts) != 1 or field.views:
        return None
    part = test.operand.parts[0]
    if not isinstance(part, tree.Name) or text[field.span.start : field.span.start + 1] != '"':
        return None
    quoted = text[field.span.start : field.span.end]
    negated = test.operator == "not in"
    written = f"{'not ' if negated else ''}{part.text} contains {quoted}"
    said = f"that one text is in another is written `{written}`"
    if _HOLDS_GLOB.search(quoted):  # `contains` takes the star as it is
        written = f"{part.text} {'!~' if negated else '~'} {quoted}"
        said = f"that a glob matches a text is written `{written}`"
    return said, Fix(f"write `{written}`", (Edit(test.span, written),))


def regex_meant(regex: tree.Regex) -> str | None:
    """How what stands between slashes is written, where it is no expression: a glob, or one with what RE2 lacks."""
    if _AROUND_NOT.search(regex.raw):
        return "there is no look-around: what must not match is a test of its own, by `!~`"
    if _AROUND.search(regex.raw):
        return "there is no look-around: what has to match as well is a test of its own, by `~`"
    if _AGAIN.search(regex.raw):
        return "there are no back-references: what was matched cannot be asked for again"
    if _GLOB.fullmatch(regex.raw) is None or regex.ignore_case:
        return None
    written = quote(regex.raw.replace("\\/", "/"))
    return f"a glob stands in double quotes: `{written}`; any text is `.*` in a regular expression"

"""Paths below a home directory in policies: they match however an event spells them (spec 7.14).

Events spell such a path in full where their run says where its home directory lies, else as the call wrote it. So
`~/x` in a policy stands for x in the home directory of any user, and `/home/ann/x` for `~/x`, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.patterns import regex
from vigil_lang.semantics.text_patterns import AnyOf, Expression, Glob, glob_expression

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.semantics.text_patterns import Matcher

_HOMES = regex(r"/home/|(?:[A-Za-z]:)?/Users/|/root(?=/|\Z)")
_TOKEN = regex(r"\\.|[\s\S]")
_IN_FULL = r"^(?s:(?:/home/[^/]+|(?:[A-Za-z]:)?/Users/[^/]+|/root|~[^/]+)"
"""What else than `~` a home directory is written as: an expression for a text that begins with it."""
_LONGEST = 4096
"""Characters of a path; a longer text is none."""
_WILD = regex(r"[*?\\]")


def matcher_of(glob: Glob) -> Matcher:
    """A glob, or a set of it and of what matches the other spellings."""
    others = _others(glob.pattern)
    return AnyOf((glob, *others)) if others else glob


def values_of(texts: frozenset[str]) -> frozenset[str] | Matcher:
    """A set of texts with their other spellings, as a text pattern where these are not finitely many."""
    found = set(texts)
    expressions: list[Expression] = []
    for text in texts:
        for other in _others(literal(text)):
            if isinstance(other, Expression):
                expressions.append(other)
            else:
                found.add(re.sub(r"\\(.)", r"\1", other.pattern))
    if not expressions:
        return frozenset(found) if len(found) > len(texts) else texts
    return AnyOf((*[Glob(literal(text)) for text in sorted(found)], *_sorted(expressions)))


def literal(text: str) -> str:
    """The glob that matches a text alone."""
    return _WILD.sub(r"\\\g<0>", text)


def is_in_full(matcher: Glob | Expression) -> bool:
    """Whether this is what `~` adds to a pattern, which messages need not show."""
    return isinstance(matcher, Expression) and matcher.pattern.startswith(_IN_FULL)


def _others(pattern: str) -> tuple[Glob | Expression, ...]:
    if len(pattern) > _LONGEST:
        return ()
    if pattern == "~" or pattern.startswith("~/"):
        return (Expression(f"{_IN_FULL}{glob_expression(pattern[1:])})$"),)
    start = _HOMES.match(pattern)
    return () if start is None else tuple([Glob(f"~{rest}") for rest in _below(pattern, start.end())])


def _below(pattern: str, at: int) -> list[str]:
    """What is left of a glob behind a home directory whose name begins at `at`: a star in it may reach further."""
    star: int | None = None
    named = pattern[:at].endswith("/root")
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        assert token is not None
        if token[0] in ("/", "\\/"):
            break
        named = True
        if token[0] == "*":
            star = at
        at = token.end()
    found = [f"/{pattern[star:]}"] if star is not None else []
    if named:
        found.insert(0, pattern[at:].replace("\\/", "/", 1) if pattern[at : at + 1] == "\\" else pattern[at:])
    return found


def _sorted(expressions: Iterable[Expression]) -> list[Expression]:
    return sorted(expressions, key=lambda each: (each.pattern, each.ignore_case))

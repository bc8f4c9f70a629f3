"""The ways in which a condition may hold, and what each of them, its tests and their patterns, tells of the event."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from vigil_lang.analysis.reachability import Reachability
from vigil_lang.semantics import core, regex
from vigil_lang.semantics.regex_reader import read
from vigil_lang.semantics.text_patterns import AnyOf, Glob, glob_parts, predicate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.semantics.text_patterns import Matcher
    from vigil_lang.trace import Signature

Asked: TypeAlias = tuple[core.Test, bool]
"""A test that is to hold or to fail."""

MAX_CASES: Final = 200
"""A condition that may hold in more ways is not examined."""

_FEW_ACTIONS = 4


class TooMany(Exception):
    """A condition may hold in more than MAX_CASES ways, or in ways that are not examined: by an entry of a list."""


def cases(condition: core.Condition, *, wanted: bool = True) -> list[list[Asked]]:
    """The ways in which a condition holds (or fails), each a conjunction of tests.

    Raises:
        TooMany: there are more than MAX_CASES, or one is an entry of a list.
    """
    match condition:
        case core.Entry():
            raise TooMany
        case core.NotC(body):
            return cases(body, wanted=not wanted)
        case core.AndC(items) | core.OrC(items) if isinstance(condition, core.OrC) == wanted:
            found = [way for item in items for way in cases(item, wanted=wanted)]
        case core.AndC(items) | core.OrC(items):
            found = [[]]
            for item in items:
                more = cases(item, wanted=wanted)
                if len(found) * len(more) > MAX_CASES:
                    raise TooMany
                found = [before + after for before in found for after in more]
        case _:
            return [[(condition, wanted)]]
    if len(found) > MAX_CASES:
        raise TooMany
    return found


def is_telling(test: core.Test, wanted: bool) -> bool:
    """Whether a test tells an event from most others, rather than what it is not, or that it is there at all."""
    match test:
        case core.ActionIn():
            return wanted
        case core.ActionMatches(matcher):
            return wanted and not says_nothing(matcher)
        case core.StatusIs():
            return False
        case _ if any(view.name in ("count", "length") for view in test.field.views):
            return False
        case core.In(_, _, negated):
            return wanted != negated
        case core.Matches(_, matcher, negated):
            return wanted != negated and not says_nothing(matcher)
        case core.ContainsText(_, text):
            return wanted and len(text.strip()) > 1
        case core.Compares():
            return True
        case _:
            return False


def meets_most(way: Sequence[Asked], signature: Signature | None) -> bool:
    """Whether a case that names actions can be met by more than half of those that a signature has."""
    if signature is None or len(signature.actions) < _FEW_ACTIONS:
        return False
    occurrence = Reachability(signature)
    whole = core.AndC(tuple(test if wanted else core.NotC(test) for test, wanted in way))
    met = sum(occurrence.condition(whole, name, action).hold for name, action in signature.actions.items())
    return 2 * met > len(signature.actions)


def field_of(test: core.Test) -> str:
    """The argument that a test reads; empty for the action and the status."""
    return "" if isinstance(test, core.ActionIn | core.ActionMatches | core.StatusIs) else test.field.name


def taken_out(test: core.Test, wanted: bool) -> list[str]:
    """The values, names or patterns by which a test takes events out; none where it does not."""
    match test:
        case core.In(_, values, negated) if negated == wanted:
            return sorted(values)
        case core.Matches(_, matcher, negated) if negated == wanted:
            return patterns(matcher)
        case core.ActionIn(names) if not wanted:
            return sorted(names)
        case core.ActionMatches(matcher) if not wanted:
            return patterns(matcher)
        case core.ContainsText(_, text) if not wanted:
            return [text]
        case core.Has(field) if not wanted:
            return [field.name]
        case _:
            return []


def looked_for(test: core.Test, wanted: bool) -> list[str]:
    """The values that a test of an argument or the output looks for."""
    match test:
        case core.In(_, values, False) if wanted:
            return sorted(values)
        case core.Matches(_, matcher, False) if wanted:
            return patterns(matcher)
        case core.ContainsText(_, text) if wanted:
            return [text]
        case core.Has(field) if wanted:
            return [field.name]
        case _:
            return []


# --- patterns ---

MAX_BRANCHES: Final = 64

_TYPICAL: Final = (
    "", "a", "0", "42", "2026-11-21", "true", "main", "README.md", "/tmp/x y", "/home/u/project/src/app.py",
    "tests/test_one.py", "~/.config/tool.toml", "https://example.org/a/b?c=d", "example.org", "--verbose", "-f",
    "Qx-7", "\n", "é", "file.read", "The quick brown fox jumps over the lazy dog.", "git status --short", "42 passed",
)  # fmt: skip
"""Typical values of arguments and outputs."""
_SINGLE: Final = tuple(chr(code) for code in range(0x20, 0x7F))
_SHARE: Final = 3


def patterns(matcher: Matcher) -> list[str]:
    """The patterns that a matcher is made of, as they are written."""
    return [one.pattern for one in matcher.matchers] if isinstance(matcher, AnyOf) else [matcher.pattern]


@lru_cache(maxsize=1024)
def says_nothing(matcher: Matcher) -> bool:
    """Whether a pattern matches so many texts that it says nothing: one character is enough, or a third of all do."""
    accepts = predicate(matcher)
    if _SHARE * sum(map(accepts, _TYPICAL)) > len(_TYPICAL):
        return True
    return any(accepts(c) and accepts(f"%{c}%") and accepts(f"x{c}x{c}x") for c in _SINGLE)


@lru_cache(maxsize=1024)
def branches(matcher: Matcher) -> tuple[str, ...] | None:
    """The texts that a pattern spells out, one for each of its alternatives; None if they are too many to tell.

    What may be left out is left out, and a space stands for what may be anything, as for a class of characters.
    """
    if isinstance(matcher, AnyOf):
        each = [branches(one) for one in matcher.matchers]
        return None if None in each else tuple(dict.fromkeys(text for found in each for text in found or ()))
    if isinstance(matcher, Glob):
        return ("".join(text if kind == "text" else " " for kind, text in glob_parts(matcher.pattern)),)
    try:
        found = _branches(read(matcher.pattern, ignore_case=matcher.ignore_case))
    except regex.Unsupported:
        return (matcher.pattern,)
    return None if found is None else tuple(dict.fromkeys(found))


def _branches(node: regex.Node) -> list[str] | None:
    match node:
        case regex.One(ranges):
            return [_letter(ranges)]
        case regex.Assertion():
            return [""]
        case regex.Repeat(body, least):
            inner = _branches(body)
            return [""] if least == 0 else inner and [text + (" " if least > 1 else "") for text in inner]
        case regex.Choice(items):
            found: list[str] = []
            for item in items:
                more = _branches(item)
                if more is None or len(found) + len(more) > MAX_BRANCHES:
                    return None
                found += more
            return found
        case regex.Sequence(items):
            found = [""]
            for item in items:
                more = _branches(item)
                if more is None or len(found) * len(more) > MAX_BRANCHES:
                    return None
                found = [before + after for before in found for after in more]
            return found


def _letter(ranges: regex.Ranges) -> str:
    """The character that ranges stand for, be it in either case; a space if they are several."""
    characters = {chr(code).lower() for low, high in ranges[:4] for code in {low, high}}
    single = all(low == high for low, high in ranges) and len(ranges) <= _SHARE
    return characters.pop() if single and len(characters) == 1 else " "

"""Guessing an event that meets a condition: a cheap proof, without a solver, that the condition can hold.

A guess is checked against the denotation, so a yes is certain; a no only says that the guesses failed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import meets
from vigil_lang.semantics.text import Glob, glob_parts
from vigil_lang.trace.model import Event
from vigil_lang.trace.values import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.semantics.text import Matcher
    from vigil_lang.trace.model import Status

_GUESSES = 8
_OUTPUT = core.Reads("output", output=True)

Literal: TypeAlias = tuple[core.Test, bool]
"""A test that is to hold or to fail."""
Owner: TypeAlias = core.Reads | str
"""Something that has one value: a field, or a variable by name."""


@lru_cache(maxsize=4096)
def obviously_satisfiable(condition: core.Condition) -> bool:
    """Whether some event without list-valued arguments is found to meet the condition under some binding."""
    return any(_meets(condition, literals) for literals in _cases(condition, True))


def _cases(condition: core.Condition, wanted: bool) -> list[tuple[Literal, ...]]:
    """Up to `_GUESSES` ways, each a conjunction, in which the condition holds (or fails)."""
    match condition:
        case core.NotC(body):
            return _cases(body, not wanted)
        case core.AndC(items) | core.OrC(items):
            if isinstance(condition, core.OrC) == wanted:
                return [case for item in items for case in _cases(item, wanted)][:_GUESSES]
            found: list[tuple[Literal, ...]] = [()]
            for item in items:
                found = [before + after for before in found for after in _cases(item, wanted)][:_GUESSES]
            return found
        case _:
            return [((condition, wanted),)]


def _meets(condition: core.Condition, literals: tuple[Literal, ...]) -> bool:
    """Whether the guess made from one case meets the condition."""
    names: list[str] = []
    status: Status = "unknown"
    held: dict[core.Reads, list[core.Test]] = {}
    for test in (t for t, wanted in literals if wanted):
        match test:
            case core.ActionIn(known):
                names += sorted(known)[:1]
            case core.ActionMatches(matcher):
                names += _matching(matcher)[:1]
            case core.StatusIs(state):
                status = state
            case _:
                held.setdefault(test.field, []).append(test)
    value: dict[Owner, str] = {}
    for owners in _joined(held):
        value |= dict.fromkeys(owners, _value(owners, held, literals))
    args: dict[str, tuple[str, ...]] = {f.name: (value[f],) for f in held if not f.output}
    event = Event("e", names[0] if names else "", "e", args, status, value.get(_OUTPUT), tuple(names[1:]))
    return meets(condition, event, {x: value.get(x) for x in core.variables_of(condition)})


def _joined(held: dict[core.Reads, list[core.Test]]) -> list[set[Owner]]:
    """Fields and variables in groups that equalities and containments make the same."""
    groups: list[set[Owner]] = []
    for field, tests in held.items():
        group: set[Owner] = {field, *(t.variable for t in tests if isinstance(t, core.Equals | core.Contains))}
        apart = [g for g in groups if not g & group]
        groups = [*apart, group.union(*(g for g in groups if g & group))]
    return groups


def _value(owners: set[Owner], held: dict[core.Reads, list[core.Test]], literals: tuple[Literal, ...]) -> str:
    """The first candidate that makes the ground tests of these fields come out as wanted."""
    fields = [o for o in owners if isinstance(o, core.Reads)]
    guesses = list(dict.fromkeys(text for f in held if f in owners for test in held[f] for text in _candidates(test)))
    guesses.sort(key=lambda text: not text)  # the empty text contains nothing
    asked = [(t, wanted) for t, wanted in literals if _field(t) in fields and not core.variables_of(t)]
    for text in guesses:
        event = Event("e", "", "e", {f.name: (text,) for f in fields if not f.output}, "unknown", text)
        if all(meets(test, event, {}) == wanted for test, wanted in asked):
            return text
    return guesses[0] if guesses else "a"


def _field(test: core.Test) -> core.Reads | None:
    match test:
        case core.ActionIn() | core.ActionMatches() | core.StatusIs():
            return None
        case _:
            return test.field


def _candidates(test: core.Test) -> Iterable[str]:
    match test:
        case core.In(_, values, False):
            return sorted(values)[:_GUESSES]
        case core.Matches(_, matcher, False):
            return _matching(matcher)
        case core.Compares(_, _, limit):
            return (canonical(limit - 1), canonical(limit), canonical(limit + 1))
        case core.ContainsText(_, text):
            return (text, f"a{text}", f"{text}a")
        case _:
            return ("a", "b", "", "0")


def _matching(matcher: Matcher) -> list[str]:
    """Texts that a pattern is likely to match."""
    if isinstance(matcher, Glob):
        parts = glob_parts(matcher.pattern)
        return ["".join(text if kind == "text" else fill for kind, text in parts) for fill in ("a", "", "0", "aa")]
    # Imported late: most policies have none.
    from vigil_lang.semantics import regex
    from vigil_lang.semantics.regex_reader import read

    try:
        text = regex.sample(read(matcher.pattern, ignore_case=matcher.ignore_case))
    except regex.Unsupported:
        return []
    return [text, f"a{text}", f"{text}a", f"a{text}a", f" {text} "]

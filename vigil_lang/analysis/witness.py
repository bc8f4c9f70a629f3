"""Guessing an event that meets a condition: a cheap proof, without a solver, that the condition can hold.

A guess is checked against the denotation, so a yes is certain; a no only says that the guesses failed.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from msgspec import structs
from msgspec.structs import replace

from vigil_lang.analysis.field_constraints import FIELD_TESTS, OF_A_VARIABLE, holds_of
from vigil_lang.analysis.preimages import preimages, without_entries
from vigil_lang.analysis.surely_satisfiable import LONGEST_TRIED, surely_satisfiable, unmarked
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import meets
from vigil_lang.semantics.matching_cost import is_laborious
from vigil_lang.semantics.text_patterns import AnyOf, Glob, glob_parts, predicate
from vigil_lang.trace.event import Event
from vigil_lang.trace.values import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.semantics.text_patterns import Matcher
    from vigil_lang.trace.event import Status

_GUESSES = 8
_TRIED = 32

Asked: TypeAlias = tuple[core.Test, bool]
"""A test that is to hold or to fail."""
Owner: TypeAlias = core.Reads | str
"""Something that has one value: a field, through its views, or a variable."""


def obviously_satisfiable(condition: core.Condition) -> bool:
    """Whether some event without list-valued arguments is found to meet the condition under some binding."""
    return surely_satisfiable(condition) or guess(condition) is not None


@lru_cache(maxsize=4096)  # an editor asks again after every keystroke, and little has changed
def guess(condition: core.Condition) -> Event | None:
    """An event that meets the condition under some binding, if one is found."""
    if is_laborious(condition):
        return None
    found = (_meeting(condition, case) for case in _cases(without_entries(condition), True))
    return next((event for event in found if event is not None), None)


def _cases(condition: core.Condition, wanted: bool) -> list[list[Asked]]:
    """Up to `_GUESSES` ways, each a conjunction, in which the condition holds (or fails)."""
    match condition:
        case core.NotC(body):
            return _cases(body, not wanted)
        case core.AndC(items) | core.OrC(items):
            if isinstance(condition, core.OrC) == wanted:
                return list(islice((case for item in items for case in _cases(item, wanted)), _GUESSES))
            found: list[list[Asked]] = [[]]
            for item in items:
                more = _cases(item, wanted)
                if len(more) == 1:
                    for case in found:
                        case += more[0]
                else:
                    found = [before + after for before in found for after in more][:_GUESSES]
            return found
        case core.Entry():
            return [[]]
        case _:
            return [[(condition, wanted)]]


def _meeting(condition: core.Condition, case: list[Asked]) -> Event | None:
    """The guess made from one case, if it meets the condition."""
    names: list[str] = []
    status: Status = "unknown"
    asked: dict[Owner, list[Asked]] = {}
    for test, wanted in case:
        match test:
            case core.ActionIn(known):
                names += sorted(known)[:1] if wanted else []
            case core.ActionMatches(matcher):
                names += _matching(matcher)[:1] if wanted else []
            case core.StatusIs(state):
                status = state if wanted else status
            case _:
                asked.setdefault(test.field, []).append((test, wanted))
    # A field that no test must hold of is best left out: then every test of it fails.
    asked = {field: tests for field, tests in asked.items() if any(wanted for _, wanted in tests)}
    value: dict[Owner, str] = {}
    for owners in _joined(asked):
        value |= dict.fromkeys(owners, _value([asked[o] for o in owners if o in asked]))
    event = Event("e", names[0] if names else "", "e", {}, status, None, tuple(names[1:]))
    binding = {x: value.get(x) for x in core.variables_of(condition)}
    parts: dict[core.Reads, list[core.Reads]] = {}
    for field in asked:
        if isinstance(field, core.Reads):
            parts.setdefault(replace(field, views=()), []).append(field)
    for field, seen in parts.items():
        tests = [(test, wanted) for part in seen for test, wanted in asked[part]]
        carrying = [_with(event, field, text) for text in preimages([(part.views, value[part]) for part in seen])]
        fit = (e for e in carrying if all(meets(test, e, binding) == wanted for test, wanted in tests))
        event = next(fit, carrying[0])
    return event if meets(condition, event, binding) else None


def _with(event: Event, field: core.Reads, text: str) -> Event:
    if field.output:
        return structs.replace(event, output=text)
    return structs.replace(event, args={**event.args, field.name: (text,)})


def _joined(asked: dict[Owner, list[Asked]]) -> list[set[Owner]]:
    """Fields and variables in groups that equalities and containments make the same."""
    alone: list[set[Owner]] = []
    groups: list[set[Owner]] = []
    for field, tests in asked.items():
        group: set[Owner] = {field, *(t.variable for t, wanted in tests if wanted and isinstance(t, core.OF_VARIABLES))}
        if len(group) == 1:
            alone.append(group)
            continue
        apart = [g for g in groups if not g & group]
        groups = [*apart, group.union(*(g for g in groups if g & group))]
    return alone + groups


def _value(fields: list[list[Asked]]) -> str:
    """The first candidate that makes the ground tests of some fields come out as wanted."""
    tests = [one for field in fields for one in field]
    guesses = list(dict.fromkeys(text for test, wanted in tests for text in _candidates(test, wanted)))
    guesses.sort(key=lambda text: not text)  # the empty text contains nothing
    ground = [(t, wanted) for t, wanted in tests if isinstance(t, FIELD_TESTS) and not isinstance(t, OF_A_VARIABLE)]
    for text in guesses[:_TRIED]:
        if all(holds_of(test, text) == wanted for test, wanted in ground):
            return text
    return guesses[0] if guesses else "a"


def _candidates(test: core.Test, wanted: bool) -> Iterable[str]:
    """Texts that may make one test come out as wanted. Of one value, `not k != v` is `k = v`."""
    match test:
        case core.In(_, values, negated) if negated != wanted:
            return sorted(values)[:_GUESSES]
        case core.Matches(_, matcher, negated) if negated != wanted:
            return _matching(matcher)
        case _ if not wanted:
            return ()
        case core.Compares(_, _, limit):
            return (canonical(limit - 1), canonical(limit), canonical(limit + 1))
        case core.ContainsText(_, text):
            return (text, f"a{text}", f"{text}a")
        case core.ComparesWith(_, operator):
            return ("1",) if "=" in operator else ()  # the variable has the same value
        case _:
            return ("a", "b", "", "0")


def _matching(matcher: Matcher) -> list[str]:
    """Texts that a pattern is likely to match."""
    if isinstance(matcher, Glob):
        parts = glob_parts(matcher.pattern)
        return ["".join(text if kind == "text" else fill for kind, text in parts) for fill in ("a", "", "0", "aa")]
    if isinstance(matcher, AnyOf):
        return [text for one in matcher.matchers[:_GUESSES] for text in _matching(one)]
    if len(matcher.pattern) > LONGEST_TRIED:
        return []
    text = unmarked(matcher.pattern)
    if not predicate(matcher)(text):
        # Imported late: the simple guess is right for most expressions.
        from vigil_lang.semantics import regex
        from vigil_lang.semantics.regex_reader import read

        try:
            text = regex.sample(read(matcher.pattern, ignore_case=matcher.ignore_case))
        except regex.Unsupported:
            return []
    return [text, f"a{text}", f"{text}a", f"a{text}a", f" {text} "]

"""Where in an event's arguments a statement's patterns matched: what a long value must not be cut at."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import Binding, meets
from vigil_lang.semantics.text_patterns import AnyOf, Expression, Glob, Matcher, glob_parts, predicate, searcher

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Event

Spots: TypeAlias = dict[tuple[str, str], list[tuple[int, int]]]
"""Ranges of code points by argument name and value."""


def spots(statement: Statement, event: Event, binding: Binding) -> Spots:
    """What matched, of every condition of the statement that the event meets."""
    found: Spots = {}
    for holds in core.conditions(statement.requirement.theta):
        if meets(holds.condition, event, binding):
            for test in _positive(holds.condition):
                for text in event.values(test.field.name) if not test.field.output else ():
                    span = _span(test, text, binding)
                    if span is not None and span[0] < span[1]:
                        found.setdefault((test.field.name, text), []).append(span)
    return found


def _positive(condition: core.Condition) -> Iterator[core.Matches | core.Contains | core.ContainsText]:
    """The tests that look for something inside a value, other than under a negation."""
    match condition:
        case core.AndC(items) | core.OrC(items):
            for item in items:
                yield from _positive(item)
        case core.Matches(_, _, False) | core.Contains() | core.ContainsText():
            yield condition


def _span(
    test: core.Matches | core.Contains | core.ContainsText, text: str, binding: Binding
) -> tuple[int, int] | None:
    match test:
        case core.Matches(_, matcher):
            return _matched(matcher, text)
        case core.Contains(_, variable):
            wanted = binding.get(variable) or ""
        case core.ContainsText(_, literal):
            wanted = literal
    return _found(wanted, text)


def _matched(matcher: Matcher, text: str) -> tuple[int, int] | None:
    match matcher:
        case Expression():
            found = _compiled(matcher).search(text)
            return found.span() if found else None
        case AnyOf(matchers):
            return next((_matched(one, text) for one in matchers if predicate(one)(text)), None)
        case Glob(pattern):
            longest = max((part for kind, part in glob_parts(pattern) if kind == "text"), key=len, default="")
            return _found(longest, text)


def _found(wanted: str, text: str) -> tuple[int, int] | None:
    at = text.find(wanted)
    return None if at < 0 else (at, at + len(wanted))


@lru_cache(maxsize=1024)
def _compiled(expression: Expression) -> Any:
    return searcher(expression)

"""Conditions that some event is sure to meet, recognised without guessing the event; most conditions are such."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from vigil_lang.semantics import core
from vigil_lang.semantics.text_patterns import AnyOf, Glob, predicate

if TYPE_CHECKING:
    from vigil_lang.semantics.text_patterns import Matcher

_VALUE, _SAME, _PART, _ABSENT = 1, 2, 4, 8
"""What a field is to be: of the value that its one test asks for; what variables are; with one inside; or not there."""

_OF_A_FIELD = (core.Has, core.In, core.Matches, core.Compares, core.Equals, core.Contains, core.ContainsText)
_TRIED = ("", "a", "0", " ")
LONGEST_TRIED = 2000
"""Characters of an expression that is held against itself."""
_MARKS = re.compile(r"\\b|[\\^$()]")


def surely_satisfiable(condition: core.Condition) -> bool:
    """Whether every field is asked for one value at most, and that can be had. If so, some event meets the condition.

    The event has no list-valued arguments. A variable that is compared with a field of which a value is asked has
    that value, and is compared with no other; all others have one value, and so have the fields they are tested
    against. The event has as many names as are asked for, and those do not get in each other's way.
    """
    asked = _Asked()
    return _is_modest(condition, asked) and asked.variables_agree()


class _Asked:
    """What was asked of fields and of the status so far, and which variables are tested where."""

    __slots__ = ("fields", "joins", "status")

    def __init__(self) -> None:
        self.fields: dict[str, int] = {}
        self.joins: list[tuple[str, str]] = []
        self.status: str | None = None

    def has(self, field: core.Reads) -> bool:
        """Whether a field is to be there, by what was asked so far."""
        return bool(self.fields.get(f"\0{field.name}" if field.output else field.name, 0) & ~_ABSENT)

    def takes(self, field: core.Reads, use: int, beside: int) -> bool:
        """Add what is asked of a field; whether that goes with what was. No text is sure to have a view."""
        if field.views:
            return False
        name = f"\0{field.name}" if field.output else field.name
        before = self.fields.get(name, 0)
        self.fields[name] = before | use
        return not before & ~beside

    def joined(self, field: core.Reads, use: int, beside: int, variable: str) -> bool:
        """The same where what is asked is a variable."""
        self.joins.append((f"\0{field.name}" if field.output else field.name, variable))
        return self.takes(field, use, beside)

    def variables_agree(self) -> bool:
        """Whether the variables that must have a certain value are tested in no second place."""
        certain = [join for join in self.joins if self.fields[join[0]] & _VALUE]
        return not any(x == y and name != other for name, x in certain for other, y in self.joins)


def _is_modest(condition: core.Condition, asked: _Asked) -> bool:
    match condition:
        case core.AndC(items):
            return all(_is_modest(item, asked) for item in items)
        case core.ActionIn(names):
            return bool(names)
        case core.In(field, values, negated):
            return (negated or bool(values)) and asked.takes(field, _VALUE, _SAME)
        case core.Equals(field, variable):
            return asked.joined(field, _SAME, _SAME | _PART | _VALUE, variable)
        case core.Matches(field, matcher, negated):
            return _has_example(matcher, negated) and asked.takes(field, _VALUE, _SAME)
        case core.StatusIs(status):
            asked.status = asked.status or status
            return asked.status == status
        case core.Compares(field):
            return asked.takes(field, _VALUE, _SAME)
        case core.ContainsText(field, text):
            return bool(text) and asked.takes(field, _VALUE, _SAME)
        case core.Contains(field, variable):
            return asked.joined(field, _PART, _SAME | _PART, variable)
        case core.Has(field):
            return asked.takes(field, _SAME, _SAME | _PART | _VALUE)
        case core.ActionMatches(matcher):
            return _has_example(matcher, False)
        case core.OrC(items):
            return bool(items) and _is_modest(items[0], asked)
        case core.NotC(core.Matches(field, matcher, negated)) if asked.has(field):
            return _has_example(matcher, not negated) and asked.takes(field, _VALUE, _SAME)
        case core.NotC(body):
            return isinstance(body, _OF_A_FIELD) and asked.takes(body.field, _ABSENT, _ABSENT)
        case core.ComparesWith() | core.Entry():
            return False


@lru_cache(maxsize=10_000)
def _has_example(matcher: Matcher, negated: bool) -> bool:
    """Whether some text is sure to match, or not to."""
    if isinstance(matcher, Glob):
        return not negated or matcher.pattern.strip("*") != ""
    if isinstance(matcher, AnyOf):
        return not negated and any(_has_example(one, False) for one in matcher.matchers)
    if len(matcher.pattern) > LONGEST_TRIED:
        return False  # held against itself, it takes time with the square of its length
    test = predicate(matcher)
    return any(test(text) != negated for text in (unmarked(matcher.pattern), *_TRIED))


def unmarked(pattern: str) -> str:
    """What an expression that is little more than a word has besides the marks it is written with."""
    return _MARKS.sub("", pattern)

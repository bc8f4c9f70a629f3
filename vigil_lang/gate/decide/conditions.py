"""Conditions on a pending call's events: what a rule asks when, and what a grant allows.

A rule matches as the language says (`denotation.meets`), but where a test needs what the event does not tell, the
answer is unknown, and the gate blocks. What allows (a grant, a rule that relaxes another) has to hold for certain, and
of every value: `path ~ "~/drafts/*"` does not allow a call that writes two files, one of them elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import compare
from vigil_lang.semantics.text_patterns import predicate
from vigil_lang.semantics.views import members, viewed
from vigil_lang.trace.values import number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CONTEXT = "context."
"""What the names of fields begin with that speak of the moment, not of the action."""


class Facts(NamedTuple):
    """What a condition is asked of: an event's names and arguments, and the context."""

    names: tuple[str, ...]
    args: Mapping[str, tuple[str, ...]]
    context: Mapping[str, tuple[str, ...]]


Answer: TypeAlias = bool | None
"""None where it is unknown."""

Asked: TypeAlias = "Callable[[Facts], Answer]"
Allows: TypeAlias = "Callable[[Facts], bool]"
_Values: TypeAlias = "Callable[[Facts], tuple[str, ...] | None]"
_OfText: TypeAlias = "Callable[[str], Answer]"


def asked(condition: core.Condition) -> Asked:
    """Whether a rule's condition holds of an event; unknown where it tests what the event does not tell."""
    match condition:
        case core.ActionIn(names):
            return lambda f: not names.isdisjoint(f.names)
        case core.ActionMatches(matcher):
            fits = predicate(matcher)
            return lambda f: any(map(fits, f.names))
        case core.StatusIs():
            return lambda _: None
        case core.Has(field):
            values = _values(field)
            return lambda f: bool(values(f)) if field.views else values(f) is not None
        case core.Entry(field, body):
            values, inner = _values(field), asked(body)
            return lambda f: _some_entry(values(f), inner, f)
        case core.NotC(body):
            inner = asked(body)
            return lambda f: None if (found := inner(f)) is None else not found
        case core.AndC(items):
            each = [asked(item) for item in items]
            return lambda f: _all(each, f)
        case core.OrC(items):
            each = [asked(item) for item in items]
            return lambda f: _any(each, f)
        case core.Compares(field):
            values, test = _values(field), _of_text(condition)
            return lambda f: _some(values(f) or None, test)
        case _:
            values, test = _values(condition.field), _of_text(condition)
            return lambda f: _some(values(f), test)


def allows(condition: core.Condition, certain: bool = True) -> Allows:
    """Whether a condition holds for certain and of every value; not `certain`, whether it may hold of some value."""
    match condition:
        case core.ActionIn() | core.ActionMatches():
            names = asked(condition)
            return lambda f: bool(names(f))
        case core.StatusIs():
            return lambda _: not certain
        case core.Has():
            present = asked(condition)
            return lambda f: bool(present(f))
        case core.Entry(field, body):
            values, inner = _values(field), allows(body, certain)
            return lambda f: _each_entry(values(f), inner, f, certain)
        case core.NotC(body):
            inner = allows(body, not certain)
            return lambda f: not inner(f)
        case core.AndC(items):
            each = [allows(item, certain) for item in items]
            return lambda f: all(one(f) for one in each)
        case core.OrC(items):
            each = [allows(item, certain) for item in items]
            return lambda f: any(one(f) for one in each)
        case _:
            values, test = _values(condition.field), _of_text(condition)
            return lambda f: _each(values(f), test, certain)


def concerns(condition: core.Condition) -> frozenset[str] | None:
    """Names one of which an event has wherever the condition may hold; None where that may be any."""
    match condition:
        case core.ActionIn(names):
            return names
        case core.AndC(items):
            found = [each for item in items if (each := concerns(item)) is not None]
            return min(found, key=len) if found else None
        case core.OrC(items):
            either = [concerns(item) for item in items]
            return None if None in either else frozenset(name for names in either for name in names or ())
        case _:
            return None


def _values(field: core.Reads) -> _Values:
    """A field's texts; None where the event does not carry it, or `json` finds nothing there."""
    if field.output:
        return lambda _: None
    name, views = field.name, field.views
    if name.startswith(CONTEXT):
        return lambda f: None if (found := f.context.get(name)) is None else viewed(views, found)
    if not views:
        return lambda f: f.args.get(name)
    selects = any(view.name in ("json", "member") for view in views)

    def of(f: Facts) -> tuple[str, ...] | None:
        found = f.args.get(name)
        seen = None if found is None else viewed(views, found)
        return None if selects and not seen else seen

    return of


def _of_text(test: core.Test) -> _OfText:
    """What a test says of one text of its field.

    Raises:
        ValueError: it compares with a variable, which a rule has none of.
    """
    match test:
        case core.In(_, values, negated):
            return lambda text: (text in values) != negated
        case core.Matches(_, matcher, negated):
            fits = predicate(matcher)
            return lambda text: fits(text) != negated
        case core.Compares(_, operator, limit):
            return lambda text: None if (n := number(text)) is None else compare(n, operator, limit)
        case core.ContainsText(_, part):
            return lambda text: bool(part) and part in text
        case _:
            raise ValueError("a rule has no variables")


def _some(values: tuple[str, ...] | None, test: _OfText) -> Answer:
    if values is None:
        return None
    answers = [test(text) for text in values]
    return True if True in answers else None if None in answers else False


def _each(values: tuple[str, ...] | None, test: _OfText, certain: bool) -> bool:
    if certain:
        return bool(values) and all(test(text) is True for text in values or ())
    return values is None or any(test(text) is not False for text in values)


def _some_entry(values: tuple[str, ...] | None, inner: Asked, facts: Facts) -> Answer:
    if values is None:
        return None
    answers = [None if (entry := members(text)) is None else inner(facts._replace(args=entry)) for text in values]
    return True if True in answers else None if None in answers else False


def _each_entry(values: tuple[str, ...] | None, inner: Allows, facts: Facts, certain: bool) -> bool:
    answers = [
        not certain if (entry := members(text)) is None else inner(facts._replace(args=entry)) for text in values or ()
    ]
    if certain:
        return bool(answers) and all(answers)
    return values is None or any(answers)


def _all(each: list[Asked], facts: Facts) -> Answer:
    unknown = False
    for one in each:
        answer = one(facts)
        if answer is False:
            return False
        unknown = unknown or answer is None
    return None if unknown else True


def _any(each: list[Asked], facts: Facts) -> Answer:
    unknown = False
    for one in each:
        answer = one(facts)
        if answer:
            return True
        unknown = unknown or answer is None
    return None if unknown else False

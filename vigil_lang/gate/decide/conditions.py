"""Conditions on a pending call's events: what a rule asks when, and what a grant allows.

Both have three answers, for an event need not tell what a test asks. A rule matches where *some* value of a field meets
its test, as the language says (`denotation.meets`). What allows (a grant, a rule that relaxes another) has to hold of
*every* value: `path ~ "~/drafts/*"` does not allow a call that writes two files, one of them elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from vigil_lang.semantics import core
from vigil_lang.semantics.context_fields import CONTEXT
from vigil_lang.semantics.denotation import compare
from vigil_lang.semantics.text_patterns import predicate
from vigil_lang.semantics.views import members, viewed
from vigil_lang.trace.values import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

MAX_DEPTH: Final = 120
"""How deeply a condition may be nested: a limit of its own, for the interpreter's depends on who calls."""


class Facts(NamedTuple):
    """What a condition is asked of: an event's names and arguments, and the context.

    `claimed` has those of its names that what allows has to speak of; for what asks it is all of them.
    """

    names: tuple[str, ...]
    claimed: tuple[str, ...]
    args: Mapping[str, tuple[str, ...]]
    context: Mapping[str, tuple[str, ...]]


_T = TypeVar("_T")

Answer: TypeAlias = bool | None
"""None where it is unknown."""

Asked: TypeAlias = "Callable[[Facts], Answer]"
Over: TypeAlias = "Callable[[tuple[str, ...] | None, Callable[[str], Answer]], Answer]"
_Values: TypeAlias = "Callable[[Facts], tuple[str, ...] | None]"


def ask(test: Callable[[_T], Answer], of: _T) -> Answer:
    """The answer of a test; what cannot be evaluated (a view is too costly, a text is no Unicode) is unknown."""
    try:
        return test(of)
    except Exception:  # whatever it is, nothing may be skipped because of it
        return None


def some(values: tuple[str, ...] | None, test: Callable[[str], Answer]) -> Answer:
    """Whether a test holds of some value of a field; unknown where the field is."""
    if values is not None and len(values) == 1:
        return test(values[0])
    return None if values is None else _any(ask(test, value) for value in values)


def every(values: tuple[str, ...] | None, test: Callable[[str], Answer]) -> Answer:
    """Whether a test holds of every value of a field, and of one at least; unknown where they differ."""
    answers = {None} if values is None else {ask(test, value) for value in values} or {False}
    return answers.pop() if len(answers) == 1 else None


def compiled(condition: core.Condition, over: Over, depth: int = 0) -> Asked:
    """A condition as a function, with `some` or `every` over the values of a field.

    Raises:
        ValueError: it has a variable, a pattern that is none, or is nested too deeply.
    """
    if depth > MAX_DEPTH:
        raise ValueError(f"a condition is nested more than {MAX_DEPTH} deep")
    match condition:
        case core.ActionIn(names):
            return lambda f: not names.isdisjoint(f.claimed) or (False if names.isdisjoint(f.names) else None)
        case core.ActionMatches(matcher):
            fits = predicate(matcher)
            return lambda f: any(map(fits, f.claimed)) or (None if any(map(fits, f.names)) else False)
        case core.StatusIs():
            return lambda _: None
        case core.Has(field):
            carried, views = _carried(field.name), field.views
            if field.output:
                return lambda _: None
            return lambda f: bool(viewed(views, carried(f) or ())) if views else carried(f) is not None
        case core.Entry(field, body):
            values, inner = _values(field), compiled(body, over, depth + 1)
            return lambda f: over(values(f), lambda text: _of_entry(text, inner, f))
        case core.NotC(body):
            inner = compiled(body, over, depth + 1)
            return lambda f: None if (answer := inner(f)) is None else not answer
        case core.AndC(items):
            each = [compiled(item, over, depth + 1) for item in items]
            return lambda f: _all(each, f)
        case core.OrC(items):
            each = [compiled(item, over, depth + 1) for item in items]
            return lambda f: _any(ask(one, f) for one in each)
        case core.Compares(field):
            values, test = _values(field), _of_text(condition)
            return lambda f: over(values(f) or None, test)
        case _:
            values, test = _values(condition.field), _of_text(condition)
            return lambda f: over(values(f), test)


def concerns(condition: core.Condition) -> frozenset[str] | None:
    """Names one of which an event has wherever the condition is not false; None where that may be any."""
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


def _carried(name: str) -> _Values:
    """What an event, or the context, has under a name; None where it has nothing."""
    if name.startswith(CONTEXT):
        return lambda f: f.context.get(name)
    return lambda f: f.args.get(name)


def _values(field: core.Reads) -> _Values:
    """A field's texts; None where there is no such field, or where `json` finds nothing in it."""
    carried, views = _carried(field.name), field.views
    if field.output:
        return lambda _: None
    if not views:
        return carried
    looks = max((at for at, view in enumerate(views, 1) if view.name in ("json", "member")), default=0)

    def of(f: Facts) -> tuple[str, ...] | None:
        found = carried(f)
        seen = None if found is None else viewed(views[:looks], found)
        return None if seen is None or (looks and not seen) else viewed(views[looks:], seen)

    return of


def _of_text(test: core.Test) -> Callable[[str], Answer]:
    """What a test says of one text of its field."""
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


def _of_entry(text: str, inner: Asked, facts: Facts) -> Answer:
    entry = members(text)
    return None if entry is None else inner(facts._replace(args=entry))


def _any(answers: Iterable[Answer]) -> Answer:
    found: Answer = False
    for answer in answers:
        if answer:
            return True
        if answer is None:
            found = None
    return found


def _all(each: list[Asked], facts: Facts) -> Answer:
    found: Answer = True
    for one in each:
        answer = ask(one, facts)
        if answer is False:
            return False
        if answer is None:
            found = None
    return found

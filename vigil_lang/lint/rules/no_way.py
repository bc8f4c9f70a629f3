"""VGL333: statements that leave no way together: each waits for the other, or one forbids what another asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from vigil_lang.base.identity import by_identity
from vigil_lang.diagnostics import Diagnostic, Note
from vigil_lang.lint.obligations import obligations
from vigil_lang.project.paths import TESTS
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.lower import Statement

_MOST: Final = 200
"""Statements of a sort that are held against each other."""


class _Wish(NamedTuple):
    """What a statement asks for: the condition of its trigger, for some values, and of what the trigger needs.

    `wanted` is of the statement's `meaning`.
    """

    trigger: core.Condition | None
    wanted: core.Holds
    some_wanted: core.Condition
    unmet: str = "every trigger is a violation"
    """What follows where what is wanted never happens."""
    times: int = 1
    """How often it has to happen."""


class _Part(NamedTuple):
    """What a statement asks for, before its trigger, after it, and of a whole run; and what it forbids in every run.

    That may happen so often as is `allowed`.
    """

    earlier: tuple[_Wish, ...]
    later: tuple[_Wish, ...]
    settled: tuple[_Wish, ...]
    forbidden: core.Condition | None
    allowed: int


class _Asks(NamedTuple):
    """A statement, and one thing that it asks for."""

    statement: Statement
    wish: _Wish


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Orders in a circle, and events that are both forbidden and asked for. Only what is certain is reported.

    The statements of a file of tests are probes, each for runs of its own.
    """
    if subject.policy.module.source.path.endswith(TESTS):
        return
    parts = [(each, _part(each.meaning)) for each in subject.policy.statements if not each.params]
    guards = [_Asks(each, wish) for each, part in parts for wish in part.earlier]
    responses = [_Asks(each, wish) for each, part in parts for wish in part.later]
    yield from _circles(guards[:_MOST], subject, _waiting)
    yield from _circles(responses[:_MOST], subject, _endless)
    asked = [*guards, *responses, *(_Asks(each, wish) for each, part in parts for wish in part.settled)]
    for statement, part in parts:
        if part.forbidden is not None:
            yield from _forbidden(statement, part.forbidden, part.allowed, asked[:_MOST], subject)


@by_identity
def _part(requirement: core.Requirement) -> _Part:
    limited, allowed = _limited(requirement.theta)
    return _Part(
        tuple(_asked(requirement, core.Earlier)),
        tuple(_asked(requirement, core.Later)),
        _settled(requirement),
        None if limited is None else some(limited),
        allowed,
    )


def _asked(requirement: core.Requirement, direction: type[core.Earlier | core.Later]) -> Iterator[_Wish]:
    for trigger, wanted, scoped in obligations(requirement, direction):
        bare = None if scoped else some(trigger.condition)
        yield _Wish(bare, wanted, core.mapped_tests(wanted.condition, _loosened))


def _settled(requirement: core.Requirement) -> tuple[_Wish, ...]:
    """What a run may not end without: a resolution of the last trigger, or enough events of `atleast`."""
    times = 1
    match requirement.theta:
        case core.Implies(_, core.Or((core.Holds(role="resolution") as wanted, core.Later()))):
            unmet = "the last trigger is always a violation"
        case core.Implies(core.Last(), core.Repeated(times, core.Holds() as wanted)):
            unmet = "no run keeps both"
        case _:
            return ()
    return (_Wish(None, wanted, core.mapped_tests(wanted.condition, _loosened), unmet, times),)


def some(condition: core.Condition) -> core.Condition | None:
    """The condition that an event meets which meets another one under some binding; None where that is not certain."""
    parts = condition.items if isinstance(condition, core.AndC) else (condition,)
    found: list[core.Condition] = []
    seen: set[str] = set()
    for part in parts:
        if isinstance(part, core.Equals):
            if part.variable in seen:
                return None  # two fields have to agree
            seen.add(part.variable)
            found.append(core.Has(part.field))
        elif any(isinstance(test, core.OF_VARIABLES) for test in core.tests(part)):
            return None
        else:
            found.append(part)
    return core.AndC(tuple(found))


def _loosened(test: core.Test) -> core.Condition:
    """A condition that holds wherever a test of a variable does, whatever its value."""
    return core.Has(test.field) if isinstance(test, core.Equals | core.Contains | core.ComparesWith) else test


def _implies(subject: Subject, one: core.Condition, other: core.Condition) -> bool:
    known = subject.implications
    return known.suspected(one, other) and known.impossible((one,)) is not True


# --- in a circle -------------------------------------------------------------------------------------------------


def _circles(
    guards: Sequence[_Asks], subject: Subject, finding: Callable[[Sequence[Statement]], Diagnostic]
) -> Iterator[Diagnostic]:
    after = {
        at: [
            to
            for to, other in enumerate(guards)
            if to != at
            and other.wish.trigger is not None
            and _implies(subject, each.wish.some_wanted, other.wish.trigger)
        ]
        for at, each in enumerate(guards)
        if each.wish.trigger is not None
    }
    told: set[int] = set()
    for start in after:
        circle = _shortest(start, after)
        if circle is None or not told.isdisjoint(circle):
            continue
        told |= set(circle)
        statements = {id(guards[at].statement): guards[at].statement for at in circle}
        if len(statements) > 1:
            yield finding(sorted(statements.values(), key=lambda each: each.span.start))


def _shortest(start: int, after: dict[int, list[int]]) -> list[int] | None:
    """The shortest way from a statement back to it; None where there is none."""
    ways, seen = [[start]], {start}
    while ways:
        way = ways.pop(0)
        for to in after.get(way[-1], ()):
            if to == start:
                return way
            if to not in seen:
                seen.add(to)
                ways.append([*way, to])
    return None


def _waiting(circle: Sequence[Statement]) -> Diagnostic:
    return _in_circle(
        circle,
        "wait for each other: nothing that triggers them can ever happen",
        "one of them has to go first without the other; `resp` asks for what comes later",
    )


def _endless(circle: Sequence[Statement]) -> Diagnostic:
    return _in_circle(
        circle,
        "ask for each other without an end: a run with anything that triggers them breaks one",
        "leave what the other statement asks for out of a trigger; `prec` asks for what comes earlier",
    )


def _in_circle(circle: Sequence[Statement], what: str, help_text: str) -> Diagnostic:
    last, others = circle[-1], circle[:-1]
    *first, final = [f"`{each.name}`" for each in (*others, last)]
    return Diagnostic.of(
        "VGL333",
        f"{', '.join(first)} and {final} {what}",
        last.source,
        last.span,
        help=help_text,
        notes=tuple(Note(f"`{each.name}`", each.source, each.span) for each in others),
    )


# --- forbidden and asked for -------------------------------------------------------------------------------------


def _forbidden(
    statement: Statement, forbidden: core.Condition, allowed: int, asked: Sequence[_Asks], subject: Subject
) -> Iterator[Diagnostic]:
    for each in asked:
        if each.wish.times > allowed and _implies(subject, each.wish.some_wanted, forbidden):
            yield _at_odds(statement, each, allowed)


def _limited(theta: core.Theta) -> tuple[core.Condition | None, int]:
    """What a statement forbids in every run, and how often it may happen all the same: `atmost` without a window."""
    match theta:
        case core.Not(core.Holds() as body):
            return body.condition, 0
        case core.Implies(
            core.Holds(), core.Not(core.Repeated(count, core.Holds() as body, bound=None, reset=None, distinct=None))
        ):
            bound = any(isinstance(test, core.OF_VARIABLES) for test in core.tests(body.condition))
            return (None if bound else body.condition), count - 1
        case _:
            return None, 0


def _at_odds(forbids: Statement, asks: _Asks, allowed: int) -> Diagnostic:
    source, place = asks.statement.source, asks.statement.place_of(asks.wish.wanted)
    if allowed:
        often = f"{allowed} time{'s' * (allowed > 1)}"
        what = f"`{forbids.name}` allows {often} what `{asks.statement.name}` asks for {asks.wish.times} times"
        return Diagnostic.of(
            "VGL333",
            f"{what}: {asks.wish.unmet}",
            source,
            place or asks.statement.span,
            help="one of the numbers is too small, or too large",
            notes=(Note("at most so often", forbids.source, forbids.span),),
        )
    return Diagnostic.of(
        "VGL333",
        f"`{forbids.name}` forbids what `{asks.statement.name}` asks for: {asks.wish.unmet}",
        source,
        place or asks.statement.span,
        help="forbid the trigger itself, or leave out of what is forbidden what is asked for",
        notes=(Note("forbidden here", forbids.source, forbids.span),),
    )

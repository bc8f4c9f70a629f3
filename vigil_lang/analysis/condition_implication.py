"""Whether one condition implies another: every event and binding that meets the one meets the other.

Most questions need no solver: a guessed event meets the one and not the other, or each conjunct of the one is
plainly implied by one of the other. Only what is left is put to Z3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from vigil_lang.analysis.field_constraints import FieldConstraints, field_constraints, field_test_implies, may_imply
from vigil_lang.analysis.witness import obviously_satisfiable
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_TESTS: Final = 200
"""Tests in conditions, beyond which nothing is said of them."""

MAX_ASKED: Final = 60
"""Questions about one policy that are put to the solver."""

MAX_UNANSWERED: Final = 5
"""Questions about one policy that the solver may give up, before none is put any more."""

_OPEN: Final = "open"

_LIMIT: Final = "(set-option :reproducible-resource-limit 200000)"
"""Counted in Z3's steps, so that the answer does not depend on how busy the machine is."""


@dataclass
class Implications:
    """Answers about the conditions of one policy: each is found once, and all together take a bounded time."""

    _by_solver: dict[tuple[core.Condition, ...], bool | None] = field(default_factory=dict, repr=False)
    _asked: int = 0
    _unanswered: int = 0

    def implies(self, left: core.Condition, right: core.Condition) -> bool | None:
        """Whether every event meets `right` that meets `left`, under the same binding; None where that is not known.

        True also where nothing meets `left`. Lists count as values of arguments.
        """
        return self.impossible((left, core.NotC(right)))

    def suspected(self, left: core.Condition, right: core.Condition) -> bool:
        """`implies`, after a cheap comparison that rules out most pairs; True only where it is certain."""
        settled = _suspected(left, right)
        return self.implies(left, right) is True if settled == _OPEN else settled

    def impossible(self, conjuncts: Sequence[core.Condition]) -> bool | None:
        """Whether no event meets all the conditions under any binding; None where that is not known."""
        key = tuple(conjuncts)
        settled = _without_solver(key)
        if settled != _OPEN:
            return settled
        if key not in self._by_solver:
            self._by_solver[key] = self._asked_of_solver(key)
        return self._by_solver[key]

    def _asked_of_solver(self, conjuncts: tuple[core.Condition, ...]) -> bool | None:
        if self._asked >= MAX_ASKED or self._unanswered >= MAX_UNANSWERED:
            return None
        self._asked += 1
        answer = _by_solver(conjuncts)
        self._unanswered += answer == "unknown"
        return True if answer == "unsat" else None  # what it finds instead need not be a possible event


def implies(left: core.Condition, right: core.Condition) -> bool | None:
    """Whether every event meets `right` that meets `left`, under the same binding; None where that is not known.

    Where many such questions are asked of one policy, `Implications` answers them in a bounded time.
    """
    return Implications().implies(left, right)


@lru_cache(maxsize=8192)
def constraints(condition: core.Condition) -> FieldConstraints:
    """The conjuncts of a condition, sorted; what is given is shared, and not to be changed."""
    return field_constraints(condition)


@lru_cache(maxsize=16384)
def _suspected(left: core.Condition, right: core.Condition) -> bool | Literal["open"]:
    if not may_imply(constraints(left), constraints(right)):
        return False
    settled = _without_solver((left, core.NotC(right)))
    return settled if settled == _OPEN else settled is True


@lru_cache(maxsize=8192)
def _without_solver(conjuncts: tuple[core.Condition, ...]) -> bool | Literal["open"] | None:
    """Whether no event meets all the conditions, as far as a look at them tells."""
    if len(core.tests(core.AndC(conjuncts))) > MAX_TESTS:
        return None
    if plainly_impossible(conjuncts):
        return True
    return False if obviously_satisfiable(core.AndC(conjuncts)) else _OPEN


def plainly_impossible(conjuncts: Sequence[core.Condition]) -> bool:
    """Whether some negated conjunct is plainly implied by the others."""
    flat = list(_flat(conjuncts))
    wanted = [c for c in flat if not isinstance(c, core.NotC)]
    refused = [c.body for c in flat if isinstance(c, core.NotC)]
    return any(_plainly(wanted, refused, body) for body in refused) or any(
        isinstance(c, core.OrC) and not c.items for c in flat
    )


def _flat(conjuncts: Sequence[core.Condition]) -> list[core.Condition]:
    """Conjuncts without conjunctions among them, double negations and negated disjunctions taken apart."""
    found: list[core.Condition] = []
    waiting = list(conjuncts)
    while waiting:
        match waiting.pop():
            case core.AndC(items):
                waiting += items
            case core.NotC(core.NotC(body)):
                waiting.append(body)
            case core.NotC(core.OrC(items)):
                waiting += map(core.NotC, items)
            case other:
                found.append(other)
    return found


def _plainly(wanted: Sequence[core.Condition], refused: Sequence[core.Condition], goal: core.Condition) -> bool:
    """Whether what holds, and what does not, settles that the goal holds."""
    match goal:
        case core.AndC(items):
            return all(_plainly(wanted, refused, item) for item in items)
        case core.OrC(items):
            return any(_plainly(wanted, refused, item) for item in items) or goal in wanted
        case core.NotC(body):
            return body in refused or any(_plainly([body], [], r) for r in refused)
        case _:
            return any(_one_tells(known, goal) for known in wanted)


def _one_tells(known: core.Condition, goal: core.Test | core.Entry) -> bool:
    match known, goal:
        case core.OrC(items), _ if items:
            return all(_plainly(list(_flat([item])), [], goal) for item in items)
        case core.ActionIn(names), core.ActionIn(others):
            return names <= others
        case (
            (core.ActionIn() | core.ActionMatches() | core.StatusIs() | core.NotC() | core.AndC() | core.OrC()),
            _,
        ):
            return known == goal
        case ((core.Entry() | core.ComparesWith()), _):
            return known == goal
        case _, (core.ActionIn() | core.ActionMatches() | core.StatusIs() | core.Entry() | core.ComparesWith()):
            return False
        case _:
            return known.field == goal.field and field_test_implies(known, goal) is True


@lru_cache(maxsize=2048)
def _by_solver(conjuncts: tuple[core.Condition, ...]) -> str:
    """What Z3 says of events that meet all the conditions: `unsat` is certain."""
    from vigil_lang.engines.smt.event import meeting
    from vigil_lang.engines.smt.solve import evaluate

    lines = meeting(conjuncts, lists=True)
    return "too large" if lines is None else evaluate([_LIMIT, *lines, "(check-sat)"])

"""Bodies of one key say the same of every run, whatever their variables are called."""

from __future__ import annotations

from decimal import Decimal
from itertools import product
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.analysis.test_entailment import run
from tests.strategies.core import requirement, requirements
from vigil_lang.analysis.canonical import key
from vigil_lang.analysis.statement_entailment import instance
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import satisfied

if TYPE_CHECKING:
    import random

_many = settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def shuffled(theta: core.Theta, choose: random.Random) -> core.Theta:
    """A body with the parts of each conjunction and disjunction in another order."""
    match theta:
        case core.And(items) | core.Or(items):
            parts = [shuffled(item, choose) for item in items]
            return replace(theta, items=tuple(choose.sample(parts, len(parts))))
        case core.Implies(left, right) | core.Since(left, right) | core.Until(left, right):
            return replace(theta, left=shuffled(left, choose), right=shuffled(right, choose))
        case (
            core.Not(body) | core.Earlier(body) | core.Later(body) | core.Repeated(body=body) | core.Exceeds(body=body)
        ):
            return replace(theta, body=shuffled(body, choose))
        case _:
            return theta


@_many
@given(requirements(), st.randoms(use_true_random=False))
def test_other_names_have_the_same_key(body: core.Requirement, choose: random.Random) -> None:
    renamed = instance(body.theta, {x: f"{x}_{n}" for n, x in enumerate(reversed(body.variables))})
    assert key(renamed) == key(body.theta)
    trace, other = run(choose), requirement(shuffled(renamed, choose))
    assert satisfied(other, trace) == satisfied(body, trace)


@_many
@given(requirements(), requirements(), st.randoms(use_true_random=False))
def test_what_has_one_key_says_the_same(one: core.Requirement, other: core.Requirement, choose: random.Random) -> None:
    if key(one.theta) == key(other.theta):
        assert all(satisfied(one, trace) == satisfied(other, trace) for trace in (run(choose) for _ in range(20)))


F, X, Y = core.Reads("f"), core.Reads("x"), core.Reads("y")
BODY = core.Holds(core.ActionIn(frozenset("a")))
JOINED = core.Holds(core.AndC((core.Equals(F, "x"), core.Equals(core.Reads("g"), "y"))))
DIFFERENT: list[core.Theta] = [
    *(core.Repeated(n, BODY, bound) for n, bound in product((1, 2), (None, core.Calls(2), core.Steps(2)))),
    core.Repeated(1, BODY, None, BODY),
    core.Repeated(1, BODY, None, None, F),
    core.Exceeds(Decimal(1), F, BODY),
    core.Exceeds(Decimal(2), F, BODY),
    core.Exceeds(Decimal(2), F, BODY, None, BODY),
    *(
        kind(BODY, BODY, bound, weak)
        for kind in (core.Since, core.Until)
        for bound in (None, core.Calls(2))
        for weak in (False, True)
    ),
    core.And((JOINED, core.Where(core.In(X, frozenset("a"))))),
    core.And((JOINED, core.Where(core.In(Y, frozenset("a"))))),
    core.And((JOINED, core.Where(core.In(Y, frozenset("a"), negated=True)))),
    core.And((JOINED, core.Where(core.ComparesWith(X, "<", "y")))),
    core.And((JOINED, core.Where(core.ComparesWith(Y, "<", "x")))),
    core.And((JOINED, core.Holds(core.ComparesWith(F, "<", "x")))),
    core.And((JOINED, core.Holds(core.ComparesWith(F, "<", "y")))),
    core.And((JOINED, core.Holds(core.Entry(F, core.Equals(core.Reads("n"), "x"))))),
    core.And((JOINED, core.Holds(core.Entry(F, core.Equals(core.Reads("n"), "y"))))),
    core.Holds(core.Has(F)),
    core.Holds(core.Has(core.Reads("f", views=(core.View("host"),)))),
    core.Last(),
]


def test_what_differs_has_another_key() -> None:
    assert len({key(theta) for theta in DIFFERENT}) == len(DIFFERENT)

"""Conditions that ask for little are told at once, and never wrongly."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest
from hypothesis import given, settings

from tests.strategies import core as strategies
from vigil_lang.analysis.satisfiable import _core
from vigil_lang.analysis.surely_satisfiable import surely_satisfiable
from vigil_lang.analysis.witness import obviously_satisfiable
from vigil_lang.semantics import core
from vigil_lang.semantics.text_patterns import Expression, Glob

F, G, OUTPUT = core.Reads("f"), core.Reads("g"), core.Reads("output", output=True)
A = core.In(F, frozenset({"a"}))


@settings(max_examples=300, deadline=None, database=None)
@given(strategies.conditions(("x", "y")))
def test_the_solver_finds_nothing_against_it(condition: core.Condition) -> None:
    if surely_satisfiable(condition):
        assert not isinstance(_core([condition], lists=False), tuple)


LITTLE = [
    core.AndC(()),
    core.AndC((core.ActionIn(frozenset({"edit"})), core.ActionMatches(Glob("file.*")), core.StatusIs("ok"))),
    core.AndC((A, core.Matches(G, Expression(r"\brm\b")), core.Compares(OUTPUT, "<", Decimal(3)))),
    core.AndC((A, core.Has(F), core.Equals(F, "x"), core.Equals(F, "y"))),
    core.AndC((core.Equals(F, "x"), core.Contains(G, "x"), core.Equals(G, "y"))),
    core.AndC((core.NotC(core.Has(F)), core.NotC(A), core.Equals(G, "x"))),
    core.OrC((A, core.OrC(()))),
    core.Matches(F, Glob("*.py"), negated=True),
]


@pytest.mark.parametrize("condition", LITTLE, ids=range(len(LITTLE)))
def test_little(condition: core.Condition) -> None:
    assert surely_satisfiable(condition)
    assert not isinstance(_core([condition], lists=False), tuple)


IMPOSSIBLE = [
    core.OrC(()),
    core.ActionIn(frozenset()),
    core.In(F, frozenset()),
    core.ContainsText(F, ""),
    core.Matches(F, Glob("**"), negated=True),
    core.Matches(F, Expression(r"a\bb")),
    core.AndC((core.StatusIs("ok"), core.StatusIs("error"))),
    core.AndC((A, core.In(F, frozenset({"b"})))),
    core.AndC((A, core.NotC(core.Has(F)))),
    core.AndC((core.NotC(core.Has(F)), core.Equals(F, "x"))),
    core.AndC((A, core.Equals(F, "x"), core.Equals(G, "x"), core.In(G, frozenset({"b"})))),
    core.AndC((A, core.Contains(F, "x"), core.Equals(G, "x"), core.In(G, frozenset({"b"})))),
    core.AndC((core.ActionIn(frozenset({"a"})), core.NotC(core.ActionIn(frozenset({"a"}))))),
]


@pytest.mark.parametrize("condition", IMPOSSIBLE, ids=range(len(IMPOSSIBLE)))
def test_what_cannot_be_met(condition: core.Condition) -> None:
    assert not surely_satisfiable(condition)
    assert isinstance(_core([condition], lists=False), tuple)


def test_a_long_expression_is_not_held_against_itself() -> None:
    """That takes time with the square of its length: 400,000 letters took more than a minute."""
    long = core.Matches(F, Expression("a" * 400_000))
    begun = time.process_time()
    assert not surely_satisfiable(long)
    assert not obviously_satisfiable(long)
    assert time.process_time() - begun < 5

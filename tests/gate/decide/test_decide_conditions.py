"""Conditions have three answers, of some value where they ask and of every value where they allow."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from tests.gate.decide.decide_support import is_in, named
from tests.gate.decide.decisions import condition, event
from vigil_lang.gate.decide.conditions import MAX_DEPTH, Facts, ask, compiled, concerns, every, some
from vigil_lang.semantics import core, denotation
from vigil_lang.semantics.text_patterns import Expression, Glob
from vigil_lang.semantics.views import MAX_SEARCHED
from vigil_lang.trace import Event

K = core.Reads("k")
BOTH = {"some": some, "every": every}


def viewed(*views: core.View) -> core.Reads:
    return core.Reads("k", views=views)


def answers(condition: core.Condition, names: Any = ("a",), claimed: Any = None, **args: Any) -> tuple[Any, Any]:
    """What a condition asks and what it allows; arguments that begin with `context_` are of the context."""
    context = {f"context.{name[8:]}": found for name, found in args.items() if name.startswith("context_")}
    own = {name: found for name, found in args.items() if not name.startswith("context_")}
    facts = Facts(names, names, own, context)
    allowing = facts._replace(claimed=names if claimed is None else claimed)
    return ask(compiled(condition, some), facts), ask(compiled(condition, every), allowing)


def number(operator: Any) -> core.Compares:
    return core.Compares(K, operator, Decimal(5))


IN_A = is_in("k", "a")
NOT_IN_A = core.In(K, frozenset("a"), negated=True)
FIND = core.View("find", expression=Expression("a"))
TELLS: list[tuple[core.Condition, tuple[str, ...] | None, Any, Any]] = [
    (IN_A, ("a",), True, True),
    (IN_A, ("b",), False, False),
    (IN_A, ("a", "b"), True, None),
    (IN_A, ("b", "a"), True, None),
    (IN_A, ("b", "b"), False, False),
    (IN_A, ("a", "a"), True, True),
    (IN_A, (), False, False),
    (IN_A, None, None, None),
    (NOT_IN_A, ("a",), False, False),
    (NOT_IN_A, ("a", "b"), True, None),
    (NOT_IN_A, None, None, None),
    (core.NotC(IN_A), ("a",), False, False),
    (core.NotC(IN_A), ("b", "a"), False, None),
    (core.NotC(IN_A), (), True, True),
    (core.NotC(IN_A), None, None, None),
    (core.Matches(K, Glob("x/*")), ("x/1",), True, True),
    (core.Matches(K, Glob("x/*")), ("y",), False, False),
    (core.Matches(K, Glob("x/*"), negated=True), ("x/1", "y"), True, None),
    (core.Matches(K, Expression("a")), ("\ud800",), None, None),
    (core.Matches(K, Expression("a")), ("\ud800", "a"), True, None),
    (core.Matches(K, Expression("a")), ("b", "\ud800"), None, None),
    (core.ContainsText(K, "a"), ("bab",), True, True),
    (core.ContainsText(K, "a"), ("b",), False, False),
    (core.ContainsText(K, ""), ("b",), False, False),
    (core.Has(K), (), True, True),
    (core.Has(K), None, False, False),
    (core.Has(core.Reads("k", output=True)), ("a",), None, None),
    (core.Has(viewed(core.View("ext"))), ("a.b",), True, True),
    (core.Has(viewed(core.View("ext"))), ("a",), False, False),
    (core.Has(viewed(core.View("ext"))), None, False, False),
    (core.Has(viewed(core.View("json", "p"))), ("no",), False, False),
    (core.Has(viewed(core.View("json", "p"), core.View("count"))), ("no",), True, True),
    (core.Has(viewed(core.View("count"))), None, True, True),
    (core.In(core.Reads("k", output=True), frozenset("a")), ("a",), None, None),
    (core.StatusIs("ok"), ("a",), None, None),
    (core.NotC(core.StatusIs("ok")), ("a",), None, None),
    (number("<"), ("4",), True, True),
    (number("<"), ("5",), False, False),
    (number("<="), ("5",), True, True),
    (number(">"), ("5",), False, False),
    (number(">"), ("6",), True, True),
    (number(">="), ("5",), True, True),
    (number(">"), ("many",), None, None),
    (number(">"), ("many", "6"), True, None),
    (number(">"), ("4", "6"), True, None),
    (number(">"), (), None, None),
    (number(">"), None, None, None),
    (number(">"), ("9" * 1_000_000,), True, True),
    (number(">"), ("1e99999999999999999999",), True, True),
    (core.In(viewed(core.View("base")), frozenset("a")), ("x/a",), True, True),
    (core.In(viewed(core.View("ext")), frozenset("a")), ("x",), False, False),
    (core.In(viewed(core.View("ext")), frozenset("a")), None, None, None),
    (core.In(viewed(core.View("json", "p")), frozenset("a")), ('{"p":"a"}',), True, True),
    (core.In(viewed(core.View("json", "p")), frozenset("a")), ('{"q":"a"}',), None, None),
    (core.In(viewed(core.View("json", "p")), frozenset("a")), ("{",), None, None),
    (core.In(viewed(core.View("member", "p")), frozenset("a")), ('{"q":"a"}',), None, None),
    (core.In(viewed(core.View("json", "p"), core.View("count")), frozenset("0")), ("{",), None, None),
    (core.In(viewed(core.View("json", "p"), core.View("ext")), frozenset("a")), ('{"p":"x"}',), False, False),
    (core.In(viewed(core.View("json", "p"), core.View("json", "q")), frozenset("a")), ('{"p":{"r":1}}',), None, None),
    (core.In(viewed(FIND), frozenset("a")), ("b",), False, False),
    (core.In(viewed(FIND), frozenset("a")), ("a" * (MAX_SEARCHED + 1),), None, None),
    (core.Entry(K, is_in("p", "a")), ('{"p":"a"}',), True, True),
    (core.Entry(K, is_in("p", "a")), ('{"p":"b"}',), False, False),
    (core.Entry(K, is_in("p", "a")), ('{"p":"a"}', '{"p":"b"}'), True, None),
    (core.Entry(K, is_in("p", "a")), ("no", '{"p":"b"}'), None, None),
    (core.Entry(K, is_in("p", "a")), ("no", '{"p":"a"}'), True, None),
    (core.Entry(K, is_in("q", "a")), ('{"p":"a"}',), None, None),
    (core.Entry(K, is_in("k", "a")), ('{"p":"a"}',), None, None),
    (core.Entry(K, is_in("context.t", "a")), ('{"context.t":"a"}',), None, None),
    (core.Entry(K, core.AndC(())), ("[" * 100_000,), None, None),
    (core.Entry(K, core.AndC(())), None, None, None),
    (core.AndC(()), None, True, True),
    (core.OrC(()), None, False, False),
]  # fmt: skip
"""Conditions, the values of `k`, what they ask and what they allow."""


@pytest.mark.parametrize(("condition", "values", "asked", "allowed"), TELLS, ids=lambda given: repr(given)[:40])
def test_a_condition_tells(condition: core.Condition, values: Any, asked: Any, allowed: Any) -> None:
    """R10.4-2, R10.4-3"""
    assert answers(condition, **({} if values is None else {"k": values})) == (asked, allowed)


@pytest.mark.parametrize("over", BOTH)
def test_unknown_is_weaker_than_what_decides(over: Any) -> None:
    yes, no, unknown = core.AndC(()), core.OrC(()), core.StatusIs("ok")
    facts = Facts(("a",), ("a",), {}, {})

    def told(condition: core.Condition) -> Any:
        return compiled(condition, BOTH[over])(facts)

    for one, other in ((yes, unknown), (unknown, yes), (unknown, unknown)):
        assert told(core.AndC((one, other))) is None
    for one, other in ((no, unknown), (unknown, no), (no, yes), (yes, no)):
        assert told(core.AndC((one, other))) is False
    for one, other in ((no, unknown), (unknown, no), (unknown, unknown)):
        assert told(core.OrC((one, other))) is None
    for one, other in ((yes, unknown), (unknown, yes), (no, yes)):
        assert told(core.OrC((one, other))) is True
    assert told(core.OrC((no, no))) is False
    assert told(core.NotC(unknown)) is None
    assert (told(core.NotC(yes)), told(core.NotC(no))) == (False, True)


def test_what_raises_is_unknown_where_it_stands_and_hides_nothing() -> None:
    raises = core.ActionMatches(Expression("a"))
    names = ("\ud800",)
    assert answers(raises, names) == (None, None)
    assert answers(core.AndC((raises, core.OrC(()))), names) == (False, False)
    assert answers(core.OrC((raises, core.AndC(()))), names) == (True, True)
    assert answers(core.NotC(raises), names) == (None, None)


def test_names_are_those_claimed_for_what_allows() -> None:
    for named_a in (named("a"), core.ActionMatches(Glob("a"))):
        assert answers(named_a, ("a", "b"), ("a",)) == (True, True)
        assert answers(named_a, ("a", "b"), ("b",)) == (True, None)
        assert answers(named_a, ("c", "b"), ("b",)) == (False, False)
        assert answers(core.NotC(named_a), ("a", "b"), ("b",)) == (False, None)
        assert answers(core.NotC(named_a), ("c", "b"), ("b",)) == (True, True)


def test_the_context_is_not_among_the_arguments() -> None:
    context = is_in("context.tier", "2")
    assert answers(context, context_tier=("2",)) == (True, True)
    assert answers(context, context_tier=()) == (False, False)
    assert answers(context, **{"context.tier": ("2",)}) == (None, None)
    lower = core.In(core.Reads("context.agent", views=(core.View("lower"),)), frozenset("m"))
    assert answers(lower, context_agent=("M",)) == (True, True)
    assert answers(core.Has(core.Reads("context.agent"))) == (False, False)


@pytest.mark.parametrize(
    "condition",
    [
        core.Equals(K, "x"),
        core.Contains(K, "x"),
        core.ComparesWith(K, "<", "x"),
        core.Matches(K, Expression("(")),
        core.ActionMatches(Expression("(")),
    ],
)
def test_what_no_rule_has_is_refused(condition: core.Condition) -> None:
    with pytest.raises(ValueError, match=r"variables|missing|pattern|"):
        compiled(core.NotC(condition), some)


def deep(levels: int, layer: Any) -> core.Condition:
    found: core.Condition = core.AndC(())
    for _ in range(levels):
        found = layer(found)
    return found


LAYERS = [
    core.NotC,
    lambda inner: core.AndC((inner,)),
    lambda inner: core.OrC((inner,)),
    lambda inner: core.Entry(K, inner),
]


@pytest.mark.parametrize("layer", LAYERS)
def test_conditions_are_as_deep_as_the_language_takes_them_and_no_deeper(layer: Any) -> None:
    compiled(deep(MAX_DEPTH, layer), every)
    with pytest.raises(ValueError, match="nested more than 120 deep"):
        compiled(deep(MAX_DEPTH + 1, layer), every)


def test_concerns() -> None:
    a, ab = named("a"), named("a", "b")
    assert concerns(a) == {"a"}
    assert concerns(core.AndC((ab, IN_A, a))) == {"a"}
    assert concerns(core.AndC((IN_A,))) is None
    assert concerns(core.OrC((a, named("c")))) == {"a", "c"}
    assert concerns(core.OrC((a, IN_A))) is None
    assert concerns(core.OrC(())) == frozenset()
    assert concerns(core.NotC(a)) is None


def test_what_allows_is_asked_and_what_is_not_asked_concerns_nothing() -> None:
    """`allows` implies that the condition is known to hold, and only what a rule concerns can fail to be false."""
    random = Random(3)
    allowed = known = 0
    for _ in range(6_000):
        what, of = condition(random), event(random, 0)
        names = of.names()
        context = {"context.tier": ("2",), "context.violates": ("R1",)}
        claimed = tuple(random.sample(names, random.randint(1, len(names))))
        asked = ask(compiled(what, some), Facts(names, names, of.args, context))
        allows = ask(compiled(what, every), Facts(names, claimed, of.args, context))
        assert allows is not True or asked is True
        assert asked is not True or allows is not False
        about = concerns(what)
        assert asked is False or about is None or not about.isdisjoint(names)
        allowed += allows is True
        known += asked is not None
    assert allowed > 500
    assert known > 1_500


def test_where_everything_is_told_a_condition_means_what_the_language_says() -> None:
    random = Random(5)
    context = dict.fromkeys(("context.tier", "context.agent", "context.hour", "context.violates"), ("1",))
    same = 0
    for _ in range(6_000):
        what = condition(random)
        args = {
            name: tuple(random.choice(('{"path": "1"}', "1", "5", "7")) for _ in range(random.randint(1, 2)))
            for name in ("path", "to", "amount", "body")
        }
        of = replace(event(random, 0), args=args)
        asked = ask(compiled(what, some), Facts(of.names(), of.names(), of.args, context))
        in_entries = "Entry" in repr(what) and "context." in repr(what)  # the language has no context there
        if asked is not None and not in_entries:
            whole = Event("e", of.action, "e", {**of.args, **context}, kinds=of.kinds)
            assert asked == denotation.meets(what, whole, {}), what
            same += 1
    assert same > 3_500

"""What one statement is said to say already, another that is kept keeps; and the usual cases are found."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.strategies.core import presets, requirement, requirements
from vigil_lang.analysis.statement_entailment import entails, valid
from vigil_lang.diagnostics import Source
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import satisfied
from vigil_lang.semantics.policy import read_policy
from vigil_lang.trace import Event, Trace

TEXTS = ("M", "MN", "7", "")
OUTPUTS = (None, *TEXTS, '{"q": "M"}', '[{"q": "7", "n": 7}, {"q": "MN", "n": 2}]')
_many = settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def run(choose: random.Random) -> Trace:
    """A short run over a small alphabet: steps of calls, times, lists, kinds."""
    events, clock = [], 0
    for n in range(choose.randint(0, 5)):
        sizes = {f: choose.choice((0, 1, 1, 1, 2)) for f in "fg" if choose.random() < 0.8}
        args = {f: tuple(choose.choices(TEXTS, k=size)) for f, size in sizes.items()}
        clock += choose.choice((0, 400_000, 20_000_000))
        events.append(
            Event(
                f"e{n}",
                choose.choice("aab"),
                f"c{n // choose.choice((1, 1, 2))}",
                args,
                choose.choice(("ok", "error", "unknown")),
                choose.choice(OUTPUTS),
                tuple(choose.choices(("a", "b", "k"), k=choose.choice((0, 0, 1)))),
                choose.choice((clock, clock, None)),
            )
        )
    return Trace(tuple(events))


def changed(theta: core.Theta, choose: random.Random) -> core.Theta:
    """A body much like another, now weaker, now stronger: two drawn apart hardly ever entail each other."""
    match theta:
        case core.Holds(condition, role):
            if choose.random() < 0.6:
                return theta
            tests = (core.StatusIs("ok"), core.ActionIn(frozenset("a")), core.Has(core.Reads("f")))
            return core.Holds(choose.choice((core.AndC, core.OrC))((condition, choose.choice(tests))), role)
        case core.Not(body):
            return core.Not(changed(body, choose))
        case core.And(items) | core.Or(items):
            parts = tuple(changed(item, choose) for item in items if choose.random() < 0.9)
            return (type(theta) if choose.random() < 0.9 else core.Or)(parts)
        case core.Implies(left, right):
            return core.Implies(changed(left, choose), changed(right, choose))
        case core.Earlier(body, bound) | core.Later(body, bound):
            kind = type(theta) if choose.random() < 0.95 else core.Later
            bounds = (bound, bound, None, core.Calls(3), core.Within(30_000_000))
            return kind(changed(body, choose), choose.choice(bounds))
        case core.Clear(resolver, forbidden):
            return core.Clear(changed(resolver, choose), changed(forbidden, choose))
        case core.Since(left, right) | core.Until(left, right):
            bounds = (theta.bound, theta.bound, None, core.Calls(50))
            weak = theta.weak or choose.random() < 0.2
            return replace(
                theta, left=changed(left, choose), right=changed(right, choose), bound=choose.choice(bounds), weak=weak
            )
        case core.Repeated() | core.Exceeds():
            new: core.Theta = replace(theta, body=changed(theta.body, choose), bound=choose.choice((theta.bound, None)))
            if theta.reset is not None and choose.random() < 0.3:
                new = replace(new, reset=choose.choice((None, changed(theta.reset, choose))))
            if isinstance(theta, core.Repeated):
                return replace(new, count=theta.count + choose.choice((0, 0, 1, -1)))
            return replace(new, limit=theta.limit + choose.choice((0, 0, 1, -1)))
        case core.Where() | core.Last():
            return theta


pairs = st.one_of(
    st.tuples(presets(("x",)), presets(("x",))),
    st.tuples(requirements(), st.randoms(use_true_random=False)).map(
        lambda p: (p[0], requirement(changed(p[0].theta, p[1])))
    ),
)


@_many
@given(pairs, st.integers(0, 10_000))
def test_no_run_keeps_the_one_and_breaks_the_other(pair: tuple[core.Requirement, core.Requirement], seed: int) -> None:
    for one, other in (pair, pair[::-1]):
        if entails(one, other):
            choose = random.Random(seed)
            for _ in range(40):
                trace = run(choose)
                assert satisfied(other, trace) or not satisfied(one, trace)


@_many
@given(requirements(), st.integers(0, 10_000))
def test_no_run_breaks_what_is_called_valid(body: core.Requirement, seed: int) -> None:
    if valid(body):
        choose = random.Random(seed)
        assert all(satisfied(body, run(choose)) for _ in range(40))


@_many
@given(requirements())
def test_a_statement_says_what_it_says(body: core.Requirement) -> None:
    found = entails(body, body)
    # Not found only where the search is cut off: temporal operators deep in one another.
    assert found or _depth(body.theta) > 2


def _depth(theta: core.Theta) -> int:
    match theta:
        case core.Holds() | core.Where() | core.Last():
            return 0
        case core.Not(body):
            return _depth(body)
        case core.And(items) | core.Or(items):
            return max(map(_depth, items), default=0)
        case core.Implies(left, right):
            return max(_depth(left), _depth(right))
        case core.Clear(left, right) | core.Since(left, right) | core.Until(left, right):
            return 1 + max(_depth(left), _depth(right))
        case core.Earlier(body) | core.Later(body) | core.Repeated(body=body) | core.Exceeds(body=body):
            return 1 + _depth(body)


def body_of(text: str) -> core.Requirement:
    """A statement as a policy writes it."""
    policy = read_policy(Source("<stdin>", f"statement S: {text}"))
    assert not policy.errors, policy.errors
    return policy.statements[0].requirement


ENTAILED = [
    ("abs(a())", 'abs(a(f = "x"))'),
    ("abs(a())", "abs(a()) after s()"),
    ("abs(a()) after s()", 'abs(a()) after s(f = "x")'),
    ("abs(a())", 'prec(a(f = "x"), b())'),
    ("abs(a())", "resp(a(), b())"),
    ("abs(a())", "until(t(), r(), a(status = ok))"),
    ("abs(a())", "atmost[1](a())"),
    ("abs(a())", "always b() implies not earlier a()"),
    ("prec(a(), b())", 'prec(a(f = "x"), b())'),  # a narrower trigger
    ("prec(a(), b(status = ok))", "prec(a(), b())"),  # a wider guard
    ("prec(a(f = x), b(f = x))", "prec(a(f = y), b(f = y))"),
    ("prec(a(f = x), b(f = x))", "prec(a(f = y, g = z), b(f = y) or c())"),
    ("prec(a(f = x), b(g = x))", 'prec(a(f = "v"), b(g = "v"))'),
    ("prec(a(), b())", "prec(a(), b()) after s()"),
    ("prec(a(), b())", "always a() and c() implies earlier b()"),
    ("always a() implies earlier[2] b()", "prec(a(), b())"),
    ("always a() implies earlier (b() and earlier c())", "prec(a(), c())"),
    ("always a() implies b() or c()", 'always a(f = "x") implies c() or b()'),
    ("resp(a(), b(status = ok))", "resp(a(), b())"),
    ("bresp[2](a(), b())", "bresp[3](a(), b())"),
    ("bresp[2](a(), b())", "resp(a(), b())"),
    ("bresp[1m](a(), b())", "bresp[61s](a(), b())"),
    ("resp(a(), b())", "rslv(a(), b())"),
    ("rslv(a(), b())", "rslv(a(), b() or c())"),
    ("until(t(), r(), f())", 'until(t(g = "x"), r(), f(g = "x"))'),
    ("until(t(), r(), f())", "until(t(), r() or q(), f())"),
    ("atmost[2](a())", "atmost[3](a())"),
    ("atmost[2](a())", 'atmost[2](a(f = "x"))'),
    ("atmost[2](a())", "atmost[2](a(f = x))"),
    ("atmost[2](a())", "atmost[2](a()) in 1h"),
    ("atmost[2](a())", "atmost[2](a()) since b()"),
    ("atmost[2](a()) in 20 calls", "atmost[3](a()) in 10 calls"),
    ("atmost[2](a()) since b()", 'atmost[2](a(f = "x")) in 1h since b()'),
    ("atmost[2](a(), distinct f)", "atmost[2](a(status = ok), distinct f)"),
    ("atleast[2](a(status = ok))", "atleast[1](a())"),
    ("budget[10](a(), f)", 'budget[20](a(g = "x"), f) in 1d'),
    ("abs(a())", "budget[10](a(), f)"),
    ("abs(a(f = x))", 'abs(a(f = x)) where x not in {"M"}'),
    ('abs(a(f = x)) where x ~ "M*"', 'abs(a(f = y)) where y in {"M", "MN"}'),
    ("always a() implies b() since c()", "prec(a(), c())"),
    ("always a() implies b(status = ok) since[2] c()", "always a() implies b() since[3] c()"),
    ("always a() implies b() since c()", "always a() implies b() weak since c()"),
    ("always a() implies earlier[2..3] b()", "always a() implies earlier[1..4] b()"),
    ("always a() implies repeated[3](b())", "always a() implies repeated[2](b())"),
    ('abs(a(u:host = "h"))', 'abs(a(u:host = "h" and status = ok))'),
    ('abs(a(u:ext in {"a", "b"}))', 'abs(a(u:ext = "a"))'),
    ("prec(a(u:host = x), b(f = x))", 'prec(a(u:host = y), b(f = y)) where y = "h"'),
    ('abs(a(f ~ {"a*", "b*"}))', 'abs(a(f ~ "a*"))'),
    ("abs(a(n > x) and b(f = x))", "abs(a(n > x) and b(f = x) and status = ok)"),
]

NOT_ENTAILED = [
    ('abs(a(f = "x"))', "abs(a())"),
    ("abs(a()) after s()", "abs(a())"),
    ('prec(a(f = "x"), b())', "prec(a(), b())"),
    ("prec(a(), b())", "prec(a(), b(status = ok))"),
    ("prec(a(), b())", "resp(a(), b())"),
    ("prec(a(f = x), b(f = x))", "prec(a(f = x), b(g = x))"),
    ("prec(a(f = x), b())", "prec(a(), b())"),
    ("prec(a(f = x), b(f = x))", "prec(a(has f), b())"),  # a list may be empty
    ("resp(a(), b())", "bresp[3](a(), b())"),
    ("bresp[3](a(), b())", "bresp[2](a(), b())"),
    ("bresp[3](a(), b())", "bresp[3s](a(), b())"),
    ("rslv(a(), b())", "resp(a(), b())"),
    ("until(t(), r(), f())", "until(t(), r(status = ok), f())"),
    ("until(t(), r() or q(), f())", "until(t(), r(), f())"),
    ("atmost[3](a())", "atmost[2](a())"),
    ("atmost[2](a(f = x))", "atmost[2](a())"),
    ("resp(a(), b())", "prec(b(), a())"),
    ("prec(a(f = x), b(f contains x))", 'prec(a(f = "v"), c())'),
    ("atmost[2](a()) in 1h", "atmost[2](a())"),
    ("atmost[2](a()) since b()", "atmost[2](a())"),
    ("atmost[2](a()) since b()", "atmost[2](a()) since c()"),
    ("atmost[2](a(), distinct f)", "atmost[2](a())"),
    ("atmost[2](a()) in 20 calls", "atmost[2](a()) in 20 steps"),
    ("atleast[1](a())", "atleast[2](a())"),
    ("budget[20](a(), f)", "budget[10](a(), f)"),
    ("budget[10](a(), f)", "budget[10](a(), g)"),
    ('abs(a(f = x)) where x not in {"M"}', "abs(a(f = x))"),
    ('abs(a(f = x)) where x in {"M", "N"}', 'abs(a(f = x)) where x ~ "M*"'),
    ("always a() implies b() weak since c()", "always a() implies b() since c()"),
    ("always a() implies earlier[1..4] b()", "always a() implies earlier[2..3] b()"),
    ("abs(a(u:count = 0))", "abs(a(has u))"),
    ('abs(a(u:host = "h"))', 'abs(a(u = "h"))'),
    ("prec(a(g = x), b(f contains x) and a(g = x))", "prec(a(g:lower = y), b(f contains y) and a(g:lower = y))"),
]


@pytest.mark.parametrize(("one", "other"), ENTAILED)
def test_entailed(one: str, other: str) -> None:
    assert entails(body_of(one), body_of(other))


@pytest.mark.parametrize(("one", "other"), NOT_ENTAILED)
def test_not_entailed(one: str, other: str) -> None:
    assert not entails(body_of(one), body_of(other))


@pytest.mark.parametrize(
    ("text", "unbreakable"),
    [
        ("rslv(a(status = ok), a())", True),
        ("always a(status = ok) implies has f or not status = error", True),
        ("always earlier (a() and earlier b()) implies earlier b()", True),
        ("always earlier[2] a() implies earlier[3] a()", True),
        ("always a() implies later b() or not later b()", True),
        ("rslv(a(), a(status = ok))", False),
        ("always earlier[3] a() implies earlier[2] a()", False),
        ("until(a(), b(), b())", False),
        ("prec(a(), a())", False),
        ("always a() implies earlier b() or later b()", False),
    ],
)
def test_valid(text: str, unbreakable: bool) -> None:
    assert valid(body_of(text)) is unbreakable


def test_the_search_is_bounded() -> None:
    theta: core.Theta = core.Holds(core.ActionIn(frozenset("a")))
    for n in range(12):
        other = core.Holds(core.ContainsText(core.Reads("f"), str(n)))
        theta = core.Or((core.And((theta, core.Later(theta))), core.Not(core.Earlier(other))))
    assert not entails(requirement(theta), requirement(core.Not(theta)))

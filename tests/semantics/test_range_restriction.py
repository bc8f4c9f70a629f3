"""Range restriction (spec 7.11): what every violation binds, and why: verdicts on the past stay as a run goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from tests.strategies.core import requirements, restricted_requirements
from tests.strategies.policies import with_declarations
from tests.strategies.runs import runs, trace_of
from vigil_lang.diagnostics import Source
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import FRESH, bindings, holds, violations
from vigil_lang.semantics.policy import read_policy
from vigil_lang.semantics.range_restriction import unbound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.strategies.runs import Line


def looks_ahead(theta: core.Theta) -> bool:
    match theta:
        case core.Later() | core.Clear():
            return True
        case core.Holds():
            return False
        case core.And(items) | core.Or(items):
            return any(map(looks_ahead, items))
        case core.Implies(left, right):
            return looks_ahead(left) or looks_ahead(right)
        case core.Not(body) | core.Earlier(body) | core.Repeated(_, body):
            return looks_ahead(body)


def prefixes(lines: list[Line]) -> Iterator[list[Line]]:
    return (lines[:end] for end in range(len(lines) + 1))


@given(restricted_requirements(), runs(max_size=7))
def test_a_verdict_on_the_past_stays_as_the_run_goes_on(requirement: core.Requirement, lines: list[Line]) -> None:
    """Of what looks back only: the events at fault in a prefix, with their bindings, are those of the whole run there."""
    if looks_ahead(requirement.theta):
        return
    whole = violations(requirement, trace_of(lines))
    for prefix in prefixes(lines):
        assert violations(requirement, trace_of(prefix)) == [found for found in whole if found[0] < len(prefix)]


@given(restricted_requirements(), runs(max_size=6))
def test_no_violation_is_of_a_value_that_nobody_gave(requirement: core.Requirement, lines: list[Line]) -> None:
    trace = trace_of(lines)
    for at in range(len(trace)):
        for binding in bindings(requirement, trace):
            if FRESH in binding.values():
                assert holds(requirement.theta, trace, at, binding)


@given(requirements(), runs(max_size=5))
def test_what_is_called_bound_carries_its_value_in_the_run(requirement: core.Requirement, lines: list[Line]) -> None:
    """Whatever violates a requirement, each variable that is not called unbound has a value that the run carries."""
    trace, loose = trace_of(lines), unbound(requirement)
    for _, binding in violations(requirement, trace):
        assert all(binding[x] is not FRESH for x in requirement.variables if x not in loose)


CHANGED = "statement S: prec(send(text contains x and not text = x), read(output = x))"


def test_the_verdict_that_changed_with_what_came_later_is_refused() -> None:
    """Nothing was wrong at `send` until a later event carried the value `a`."""
    (finding,) = read_policy(Source("p.vgl", CHANGED)).errors
    assert finding.code == "VGL320"
    assert finding.message == "nothing binds `x`, so the guard would have to hold for every value of it" or (
        "without a value" in finding.message
    )


@pytest.mark.parametrize(
    ("statement", "loose"),
    [
        ("abs(a(f = x))", ()),
        ("abs(a(f contains x))", ("x",)),
        ("abs(a(not f = x))", ("x",)),
        ("abs(a(f = x or g = x))", ()),
        ("abs(a(f = x) or b(g = y))", ("x", "y")),
        ("abs(a(f = x) or b(g = x))", ()),
        ("abs(a() and not (b() or not f = x))", ()),
        ("prec(a(f = x), b(g = x))", ()),
        ("prec(a(), b(g = x))", ("x",)),
        ("prec(a(f = x), b(g = y))", ("y",)),
        ("prec(a(), b(g = x)) after c(h = x)", ()),
        ("resp(a(f contains x), b(g = x))", ("x",)),
        ("bresp[3](a(f = x), b(g contains x))", ()),
        ("rslv(a(f = x), b(g = x))", ()),
        ("until(a(), b(g = x), c(h = x))", ()),
        ("until(a(), b(g = x), c())", ("x",)),
        ("atmost[2](a(f = x))", ()),
        ("always a(f = x) implies earlier b(g = x)", ()),
        ("always a(text contains x) implies not earlier b(g = x)", ()),
        ("always a() implies earlier b(g = x)", ("x",)),
        ("always not (a(f = x) and later b(g = y))", ()),
        ("always a(f = x) or b(g = x)", ("x",)),
        ("always not a(f = x) or earlier b(g = x)", ()),
    ],
)
def test_what_a_statement_binds(statement: str, loose: tuple[str, ...]) -> None:
    policy = read_policy(Source("p.vgl", with_declarations(f"statement S: {statement}")))
    named = tuple(finding.source.text[slice(*finding.span)] for finding in policy.errors if finding.code == "VGL320")
    assert named == loose
    assert bool(policy.statements) is not bool(loose)

"""Range restriction (spec 7.11): what every violation binds, and why: verdicts on the past stay as a run goes on."""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.strategies.core import held, requirements, restricted_requirements
from tests.strategies.core import requirement as to_requirement
from tests.strategies.policies import bodies, conditions, with_declarations
from tests.strategies.runs import runs, trace_of
from vigil_lang.diagnostics import Source, apply_edits
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import FRESH, bindings, holds, values, violations
from vigil_lang.semantics.policy import read_policy
from vigil_lang.semantics.range_restriction import unbound

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.strategies.runs import Line
    from vigil_lang.semantics.denotation import Value
    from vigil_lang.trace import Trace


def looks_ahead(theta: core.Theta) -> bool:
    return any(isinstance(body, core.Later | core.Clear | core.Until | core.Last) for body in core.bodies(theta))


def prefixes(lines: list[Line]) -> Iterator[list[Line]]:
    return (lines[:end] for end in range(len(lines) + 1))


@given(restricted_requirements(), runs(max_size=7))
def test_a_verdict_on_the_past_stays_as_the_run_goes_on(requirement: core.Requirement, lines: list[Line]) -> None:
    # spec R7.11-2
    """Of what looks back only: the events at fault in a prefix, with their bindings, are those of the whole run."""
    if looks_ahead(requirement.theta):
        return
    whole = violations(requirement, trace_of(lines))
    for prefix in prefixes(lines):
        assert violations(requirement, trace_of(prefix)) == [found for found in whole if found[0] < len(prefix)]


@given(restricted_requirements(), runs(max_size=6))
def test_no_violation_is_of_a_value_that_nobody_gave(requirement: core.Requirement, lines: list[Line]) -> None:
    # spec R7.11-2
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


def broken(requirement: core.Requirement, trace: Trace, *more: Value) -> set[tuple[int, tuple[Value, ...]]]:
    """Each event at which a requirement fails, with each binding to values of the run, and more, that it fails by."""
    return {
        (at, chosen)
        for at in range(len(trace))
        for chosen in product((*values(requirement.theta, trace), *more), repeat=len(requirement.variables))
        if not holds(requirement.theta, trace, at, dict(zip(requirement.variables, chosen, strict=True)))
    }


@given(restricted_requirements(), runs(max_size=4))
def test_values_that_a_run_does_not_have_break_nothing(requirement: core.Requirement, lines: list[Line]) -> None:
    """Whatever a requirement looks at, ahead too: what turns up later adds no way to break it so far."""
    trace = trace_of(lines)
    assert broken(requirement, trace) == broken(requirement, trace, FRESH, "no other", "é")


TRIGGER, OTHER = held(("x", "y"), "trigger"), held(("x", "y"))
BOUND = 2
UNTIL = st.builds(lambda a, b, c: to_requirement(core.Implies(a, core.Clear(b, c))), TRIGGER, OTHER, OTHER)
RESP = st.builds(lambda a, b: to_requirement(core.Implies(a, core.Later(b))), TRIGGER, OTHER)
BRESP = st.builds(lambda a, b: to_requirement(core.Implies(a, core.Later(b, core.Calls(BOUND)))), TRIGGER, OTHER)
RSLV = st.builds(
    lambda a, b: to_requirement(core.Implies(a, core.Or((b, core.Later(core.Or((b, a))))))), TRIGGER, OTHER
)


@given(restricted_requirements(UNTIL), runs(max_size=6))
def test_an_interval_that_was_broken_stays_broken(requirement: core.Requirement, lines: list[Line]) -> None:
    # spec R7.11-2
    for shorter, longer in pairwise(map(trace_of, prefixes(lines))):
        assert broken(requirement, shorter) <= broken(requirement, longer)


OF_A_VIEW = 'statement S: resp(a(output:json("q") = y), a(output:json("q") = y))'
"""What a view says is a value of the run, before some other event carries it as its own, too."""


@example(
    read_policy(Source("p.vgl", OF_A_VIEW)).statements[0].requirement,
    [{"action": "a", "output": '{"q": "M"}'}, {"action": "a", "output": "M"}],
)
@given(restricted_requirements(RESP | BRESP | RSLV), runs(max_size=6))
def test_an_obligation_that_was_met_stays_met(requirement: core.Requirement, lines: list[Line]) -> None:
    # spec R7.11-2
    for shorter, longer in pairwise(map(trace_of, prefixes(lines))):
        late = {found for found in broken(requirement, longer) if found[0] < len(shorter)}
        assert late <= broken(requirement, shorter)


@given(restricted_requirements(BRESP), runs(max_size=7))
def test_an_obligation_whose_bound_has_passed_stays_broken(requirement: core.Requirement, lines: list[Line]) -> None:
    """Where the events of each call stand together, so that no later one is nearer."""
    calls = trace_of(lines).call_index
    assume(list(calls) == sorted(calls))
    for shorter, longer in pairwise(map(trace_of, prefixes(lines))):
        passed = {found for found in broken(requirement, shorter) if calls[len(shorter) - 1] - calls[found[0]] > BOUND}
        assert passed <= broken(requirement, longer)


def test_the_verdict_that_changed_with_what_came_later_is_refused() -> None:
    """Nothing was wrong at `send` until a later event carried the value `a`."""
    statement = "statement S: prec(send(text contains x and not text = x), read(output = x))"
    (finding,) = read_policy(Source("p.vgl", statement)).errors
    assert finding.code == "VGL320"
    assert finding.message == "nothing binds `x`: in the trigger, `contains` and `not` give it no value"
    x = core.Reads("text")
    trigger = core.Holds(core.AndC((core.Contains(x, "x"), core.NotC(core.Equals(x, "x")))), "trigger")
    guard = core.Holds(core.Equals(core.Reads("output", output=True), "x"), "guard")
    requirement = to_requirement(core.Implies(trigger, core.Earlier(guard)))
    sent = {"action": "send", "args": {"text": "abc"}}
    assert violations(requirement, trace_of([sent])) == []
    assert violations(requirement, trace_of([sent, {"action": "note", "args": {"text": "a"}}])) == [(0, {"x": "a"})]


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


LOOSE = st.one_of(
    bodies(("x", "y")).map(lambda body: f"always {body}"),
    st.builds(
        lambda form, one, two: f"{form}({one}, {two})",
        st.sampled_from(("prec", "resp", "rslv")),
        conditions(("x", "y")),
        conditions(("x", "y")),
    ),
    st.builds("abs({}) after {}".format, conditions(("x", "y")), conditions(("x", "y"))),
)


@given(LOOSE)
def test_each_variable_is_named_and_a_fix_mends_it(form: str) -> None:
    source = Source("p.vgl", with_declarations(f"statement S: {form}"))
    refused = read_policy(source)
    for finding in refused.errors:
        name = source.text[slice(*finding.span)]
        assert finding.code == "VGL320"
        assert finding.message.startswith(f"nothing binds `{name}`")
        assert finding.help
        if finding.fix is not None:
            mended = read_policy(Source("p.vgl", apply_edits(source.text, finding.fix.edits)))
            left = [mended.module.source.text[slice(*e.span)] for e in mended.errors]
            assert left == [source.text[slice(*e.span)] for e in refused.errors if e is not finding]

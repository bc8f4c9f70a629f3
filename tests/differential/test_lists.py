"""Lists multiply bindings: values that are alike are tried once, and what is still too much is refused, not guessed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from tests.differential.engines import by_denotation, by_index, by_solver
from tests.differential.shapes import requirement_of
from tests.strategies.policies import policies, policy_of
from tests.strategies.runs import runs, trace_of
from vigil_lang.diagnostics import InputError
from vigil_lang.engines import effort, index
from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import Judgement
from vigil_lang.engines.smt.smtlib import export
from vigil_lang.engines.smt.verify import verify

if TYPE_CHECKING:
    from tests.strategies.runs import Line
    from vigil_lang.semantics.core import Requirement
    from vigil_lang.trace import Trace

JOINS = [
    "prec(copy(source=x,target=y), ok(source=x,target=y))",
    "prec(copy(source=x,target=y), ok(source=x,target=y)) after ok(source=y)",
    "prec(copy(source=x,target=y), ok(source=x) and not ok(target=y))",
    "resp(copy(source=x,target=y), ok(source=y,target=x))",
    "rslv(copy(source=x,target=y), ok(source=x or target=y))",
    "until(copy(source=x,target=y), ok(source=x), copy(target=y))",
    "atmost[1](copy(source=x,target=y))",
    "abs(copy(source=x,target=y) and not ok(source=x))",
    "abs(copy(source=x) and not copy(target=x))",
    "always copy(source=x) and copy(target=y) implies earlier (ok(source=x) and not ok(target=y))",
    "always not copy(source=x) or earlier ok(target=x)",
    "prec(copy(source=x,target=y,third=z), ok(source=x,target=y,third=z))",
    "prec(copy(source contains x,target=y), ok(source=x,target=y)) after ok(source=x)",
]


@pytest.fixture
def always_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for values that are alike where there is one binding already."""
    monkeypatch.setattr(index, "_FEW", 0)


@pytest.mark.usefixtures("always_alike")
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(policies(), runs())
def test_values_alike_stand_for_each_other(text: str, lines: list[Line]) -> None:
    (statement,) = policy_of(text).statements
    trace = trace_of(lines)
    expected = by_denotation(statement.requirement, trace)
    assert by_index(statement.requirement, trace) == by_solver(statement.requirement, trace) == expected


def run_of(*events: tuple[str, list[str], list[str]]) -> Trace:
    """Events by action, sources and targets; the sources are a third argument, too."""
    return trace_of(
        [
            {"action": action, "args": {"source": source, "target": target, "third": source[:3]}}
            for action, source, target in events
        ]
    )


S, T = [f"s{n}" for n in range(9)], [f"t{n}" for n in range(8)]
SMALL = {
    "all are checked": (("ok", S, T), ("copy", S, T)),
    "the last is not": (("ok", S, T[:-1]), ("copy", S, T)),
    "in parts": (("ok", S[:4], T), ("ok", S[4:], T[:5]), ("ok", S[4:8], T[5:]), ("copy", S, T)),
    "both ways": (("ok", T, S), ("copy", S, T), ("ok", S[1:], T)),
    "one list in both": (("ok", S, S[3:]), ("copy", S, S), ("copy", S[2:], S), ("ok", S[2:], S)),
}


@pytest.mark.parametrize("shape", SMALL)
@pytest.mark.parametrize("statement", [s for s in JOINS if "third" not in s])
def test_lists_are_judged_as_the_denotation_does(statement: str, shape: str) -> None:
    requirement, trace = requirement_of(statement), run_of(*SMALL[shape])
    assert by_solver(requirement, trace) == by_denotation(requirement, trace)


def judged_or_refused(requirement: Requirement, trace: Trace) -> str:
    """`judged` or `refused`, which has to come soon."""
    started = time.process_time()
    refused = None
    try:
        by_solver(requirement, trace)
    except InputError as error:
        refused = error.diagnostics[0]
    assert time.process_time() - started < 30
    if refused is None:
        return "judged"
    assert refused.code == "VGL003"
    assert "`S` cannot be judged at `e" in refused.message
    return "refused"


LONG = [f"s{n}" for n in range(1_000)], [f"t{n}" for n in range(1_000)]


@pytest.mark.parametrize("statement", JOINS)
def test_two_lists_of_a_thousand_are_judged(statement: str) -> None:
    trace = run_of(("ok", *LONG), ("copy", *LONG), ("ok", LONG[0][1:], LONG[1]))
    assert judged_or_refused(requirement_of(statement), trace) == "judged"


def test_lists_without_values_alike_are_refused_in_time() -> None:
    """Each value stands in lists of its own, so every pair has to be tried."""
    sources, targets = LONG
    checks = [("ok", [s], [t]) for s, t in zip(sources, targets, strict=True)]
    trace = run_of(*checks, ("copy", sources, targets))
    assert judged_or_refused(requirement_of(JOINS[0]), trace) == "refused"


@pytest.mark.parametrize(
    "statement", ["always not b(f = x) or earlier not a(f = x)", "abs(a(f contains x)) after a(f = x)"]
)
def test_the_square_of_a_run_is_refused_in_time(statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(effort, "MAX_STEPS", 100_000)
    monkeypatch.setattr(effort, "STEPS_PER_EVENT", 1)
    trace = trace_of([{"action": "ab"[n % 2], "args": {"f": f"v{n}"}} for n in range(4_000)])
    assert judged_or_refused(requirement_of(statement), trace) == "refused"


def test_many_statements_and_events_are_refused_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by itself is little; `verify` and `compile` count them together."""
    monkeypatch.setattr(effort, "MAX_STEPS", 100_000)
    monkeypatch.setattr(effort, "STEPS_PER_EVENT", 1)
    policy = policy_of("\n".join(f"statement S{n}: abs(a())" for n in range(50)))
    trace = trace_of([{"action": "a"} for _ in range(500)])
    with pytest.raises(InputError, match="VGL003"):
        verify([policy], trace)
    with pytest.raises(InputError, match="VGL003"):
        export(policy.statements, trace)
    assert Judgement(policy.statements[0].requirement, RunIndex(trace)).exercised()

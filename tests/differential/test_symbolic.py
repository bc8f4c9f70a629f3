"""`vigil compile --length N`: pinned to a recorded run, the script is satisfiable exactly when the run complies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.differential.cases import CASES
from tests.differential.engines import by_denotation
from tests.differential.test_smtlib import cvc5_answer
from tests.strategies.policies import policies, policy_of
from tests.strategies.runs import trace_of
from vigil_lang.diagnostics import InputError
from vigil_lang.engines.smt.solve import evaluate
from vigil_lang.engines.smt.strings import literal
from vigil_lang.engines.smt.symbolic import export_symbolic
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from tests.strategies.runs import Line
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Trace

FEWER = settings(max_examples=max(20, CASES // 10))
TEXTS = ("M", "MN", "N", "", "7", "-3", "other")


@st.composite
def plain_runs(draw: st.DrawFn) -> list[Line]:
    """Runs within what a symbolic run can be: single values, integers, a call an event, a steady clock."""
    lines: list[Line] = []
    for second in range(draw(st.integers(1, 4))):
        names = draw(st.lists(st.sampled_from(("f", "g", "p.q")), unique=True, max_size=2))
        line: Line = {"action": draw(st.sampled_from(("a", "b", "c", "a.b")))}
        line["args"] = {name: draw(st.sampled_from(TEXTS)) for name in names}
        line["status"] = draw(st.sampled_from(("ok", "error", "unknown")))
        if draw(st.booleans()):
            line["output"] = draw(st.sampled_from(TEXTS))
        line["time"] = f"2026-01-05T10:00:{second * 7:02d}Z"
        lines.append(line)
    return lines


def pinned(script: str, statement: Statement, trace: Trace) -> str:
    """The script with every symbol of the run fixed to what the recording shows."""
    fields = {
        t.field
        for holds in core.conditions(statement.requirement.theta)
        for t in core.tests(holds.condition)
        if not isinstance(t, (core.ActionIn, core.ActionMatches, core.StatusIs))
    }
    lines = []
    for at, event in enumerate(trace.events, start=1):
        lines += [f"(= |e{at}.action| {literal(event.action)})", f"(= |e{at}.status| {literal(event.status)})"]
        if f"|e{at}.time|" in script:
            lines.append(f"(= |e{at}.time| {event.time})")
        for reads in fields:
            name = f"e{at}.output" if reads.output else f"e{at}[{reads.name}]"
            values = (event.output,) if reads.output else event.values(reads.name)
            if values and values[0] is not None:
                lines += [f"|has {name}|", f"(= |{name}| {literal(values[0])})"]
            else:
                lines.append(f"(not |has {name}|)")
    facts = "\n".join(f"(assert {line})" for line in lines)
    return script.replace("(check-sat)", facts + "\n(check-sat)")


@given(text=policies(), lines=plain_runs())
@FEWER
def test_a_symbolic_run_pinned_to_a_recording_complies_exactly_when_the_recording_does(
    text: str, lines: list[Line]
) -> None:
    # spec RB.5-2
    (statement,) = policy_of(text).statements
    trace = trace_of(lines)
    expected = "unsat" if by_denotation(statement.requirement, trace).events else "sat"
    try:
        script = export_symbolic([statement], len(lines))
    except InputError:  # a regular expression without a counterpart
        return
    question = pinned(script, statement, trace)
    assert evaluate([question]) == expected
    assert cvc5_answer(question).strip() == expected


def test_a_question_of_ones_own() -> None:
    """Can a run of three events break the rule, if nothing is ever validated? The model says how."""
    (statement,) = policy_of("statement R: prec(warp(transform = x), validate(target = x))").statements
    script = export_symbolic([statement], 3)
    assert evaluate([script]) == "sat"
    question = script.replace(":named |R@e2|", ":named |kept|").replace(
        "(check-sat)", '(assert (|trigger@e2| "M"))\n(assert (not (= |e1.action| "validate")))\n(check-sat)'
    )
    assert evaluate([question]) == "unsat"


def test_a_script_that_would_be_huge_is_refused() -> None:
    # spec RB.5-3
    (statement,) = policy_of("statement R: prec(a(f = x, g = y, h = z), b(f = x, g = y, h = z))").statements
    with pytest.raises(InputError, match="smaller --length"):
        export_symbolic([statement], 100)

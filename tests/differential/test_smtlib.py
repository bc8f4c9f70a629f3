"""What `vigil compile` writes is accepted unchanged by Z3 and by cvc5, and both find what the denotation finds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import cvc5
import pytest
from hypothesis import given, settings

from tests.differential.cases import CASES
from tests.differential.engines import by_denotation
from tests.strategies.policies import policies, policy_of
from tests.strategies.runs import runs, trace_of
from vigil_lang.engines.smt import smtlib
from vigil_lang.engines.smt.solve import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.strategies.runs import Line

FEWER = settings(max_examples=max(50, CASES // 2))


def z3_answer(script: str) -> str:
    """What Z3 prints for a script."""
    return evaluate([script])


def cvc5_answer(script: str) -> str:
    """What cvc5 prints for a script."""
    solver = cvc5.Solver(cvc5.TermManager())
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "run.smt2")
    symbols, printed = parser.getSymbolManager(), []
    while not (command := parser.nextCommand()).isNull():
        printed.append(str(command.invoke(solver, symbols)))
    return "".join(printed)


def core_of(answer: str) -> list[str]:
    """The names after `unsat`."""
    return [name.strip("|") for name in re.findall(r"\|[^|]*\||[^\s()|]+", answer.partition("\n")[2])]


@pytest.mark.parametrize("ask", [z3_answer, cvc5_answer])
@given(text=policies(), lines=runs())
@FEWER
def test_a_compiled_statement_is_unsat_exactly_when_the_run_breaks_it(
    ask: Callable[[str], str], text: str, lines: list[Line]
) -> None:
    # spec RB.2-1
    (statement,) = policy_of(text).statements
    trace = trace_of(lines)
    offending = by_denotation(statement.requirement, trace).events
    answer = ask(smtlib.export([statement], trace))
    assert answer.split()[0] == ("unsat" if offending else "sat"), answer
    assert "error" not in answer


@given(text=policies(), lines=runs())
@FEWER
def test_both_solvers_take_several_statements_in_one_file(text: str, lines: list[Line]) -> None:
    policy = policy_of(text + '\nstatement LAST: abs(has f and not f = "M")')
    trace = trace_of(lines)
    expected = ["unsat" if by_denotation(s.requirement, trace).events else "sat" for s in policy.statements]
    script = smtlib.export(policy.statements, trace)
    for ask in (z3_answer, cvc5_answer):
        assert re.findall(r"^(?:un)?sat$", ask(script), re.MULTILINE) == expected


@given(text=policies(), lines=runs())
@FEWER
def test_the_core_names_offending_events(text: str, lines: list[Line]) -> None:
    # spec RB.4-1
    (statement,) = policy_of(text).statements
    for at, line in enumerate(lines):
        line["event"] = f"n{at}"
    trace = trace_of(lines)
    offending = {f"{statement.name}@n{at}" for at in by_denotation(statement.requirement, trace).events}
    script = smtlib.export([statement], trace)
    for ask in (z3_answer, cvc5_answer):
        core = core_of(ask(script))
        assert bool(core) == bool(offending)
        assert set(core) <= offending

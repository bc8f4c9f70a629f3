"""One meaning, several engines: the oracle, the denotation and the solver agree on small runs of every shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from tests.differential.cases import many
from tests.differential.engines import by_denotation, by_index, by_solver, encoded
from tests.differential.oracle import Oracle
from tests.strategies.core import requirements
from tests.strategies.policies import policies, policy_of
from tests.strategies.runs import runs, trace_of
from vigil_lang.engines.smt.solve import SolverDisagrees, certify
from vigil_lang.semantics import denotation

if TYPE_CHECKING:
    from tests.strategies.runs import Line
    from vigil_lang.semantics.core import Requirement


@many
@given(policies(), runs())
def test_the_denotation_says_what_the_definition_says(text: str, lines: list[Line]) -> None:
    policy, trace = policy_of(text), trace_of(lines)
    (statement,) = policy.statements
    oracle, requirement = Oracle(policy.module.file, lines), statement.requirement
    assert tuple(oracle.values) == trace.values
    assert tuple(oracle.domain(statement.syntax)) == denotation.values(requirement.theta, trace)
    assert oracle.offences(statement.syntax, requirement.variables) == denotation.violations(requirement, trace)
    assert oracle.exercised(statement.syntax, requirement.variables) == denotation.exercised(requirement, trace)


@many
@given(policies(), runs())
def test_the_solver_agrees_with_the_denotation_on_policies(text: str, lines: list[Line]) -> None:
    (statement,) = policy_of(text).statements
    trace = trace_of(lines)
    expected = by_denotation(statement.requirement, trace)
    assert by_solver(statement.requirement, trace, statement.name) == expected


@many
@given(requirements(), runs(max_size=8))
def test_the_solver_agrees_with_the_denotation_on_requirements(requirement: Requirement, lines: list[Line]) -> None:
    trace = trace_of(lines)
    assert by_solver(requirement, trace) == by_denotation(requirement, trace)


@many
@given(requirements(), runs(max_size=8))
def test_the_index_agrees_with_the_denotation_on_requirements(requirement: Requirement, lines: list[Line]) -> None:
    trace = trace_of(lines)
    assert by_index(requirement, trace) == by_denotation(requirement, trace)


@many
@given(policies(), runs())
def test_the_index_agrees_with_the_denotation_on_policies(text: str, lines: list[Line]) -> None:
    (statement,) = policy_of(text).statements
    trace = trace_of(lines)
    assert by_index(statement.requirement, trace) == by_denotation(statement.requirement, trace)


@many
@given(requirements(), runs(max_size=6))
def test_what_the_facts_do_not_bear_out_is_never_confirmed(requirement: Requirement, lines: list[Line]) -> None:
    """Z3 has its say: whatever other events are said to offend, it does not confirm them."""
    trace = trace_of(lines)
    encoding = encoded(requirement, trace, "S")
    right = set(by_denotation(requirement, trace).events)
    for at in range(len(trace)):
        with pytest.raises(SolverDisagrees):
            certify(encoding, "S", right ^ {at})

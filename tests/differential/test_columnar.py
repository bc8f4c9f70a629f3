"""Plans over columns say what the definition says, whatever the runs hold and however they are cut into batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.differential.cases import CASES
from tests.differential.columnar import by_columns, check
from tests.differential.engines import by_denotation
from tests.strategies.core import requirements, restricted_requirements
from tests.strategies.corpora import corpora, long_runs
from tests.strategies.policies import policies, policy_of
from tests.strategies.runs import runs, trace_of

if TYPE_CHECKING:
    from tests.strategies.runs import Line
    from vigil_lang.semantics.core import Requirement

few = settings(max_examples=max(CASES // 16, 1), deadline=None)
fewer = settings(max_examples=max(CASES // 25, 1), deadline=None)


@few
@given(st.lists(restricted_requirements(), min_size=3, max_size=3), corpora(), st.integers(1, 3))
def test_polars_agrees_with_the_denotation_wherever_batches_are_cut(
    of: list[Requirement], lines: list[list[Line]], cut: int
) -> None:
    check(of, lines, ("polars",), (cut,))


@few
@given(requirements(), runs(max_size=8))
def test_polars_agrees_on_what_no_policy_can_say(requirement: Requirement, lines: list[Line]) -> None:
    trace = trace_of(lines)
    assert by_columns([requirement], [trace]) == [[by_denotation(requirement, trace)]]


@few
@given(policies(), corpora(max_size=2))
def test_polars_agrees_on_policies(text: str, lines: list[list[Line]]) -> None:
    check([statement.requirement for statement in policy_of(text).statements], lines, ("polars",), ())


@fewer
@given(restricted_requirements(), corpora(max_size=2))
def test_duckdb_and_the_engine_of_single_runs_agree(requirement: Requirement, lines: list[list[Line]]) -> None:
    check([requirement], lines, ("duckdb", "monitor"), ())


@fewer
@given(restricted_requirements(), long_runs(40))
def test_long_runs(requirement: Requirement, lines: list[Line]) -> None:
    trace = trace_of(lines)
    assert by_columns([requirement], [trace]) == [[by_denotation(requirement, trace)]]

"""Answers to questions about runs: documents and views, each made in steps."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from vigil_lang.diagnostics import InputError
from vigil_lang.report.recording import file_of
from vigil_lang.semantics.lower import parts
from vigil_lang.semantics.modules import is_test_file
from vigil_lang.syntax.print import to_text
from vigil_lsp.recordings import reports
from vigil_lsp.recordings.conditions import Meanings
from vigil_lsp.recordings.judging import matches
from vigil_lsp.recordings.results import Timeline
from vigil_lsp.recordings.run_view import view
from vigil_lsp.recordings.test_reports import results_of
from vigil_lsp.recordings.test_runs import run_of, suite_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.policy import Policy
    from vigil_lsp.recordings.cached_run import CachedRun
    from vigil_lsp.recordings.messages import Question, QuestionKind
    from vigil_lsp.recordings.results import RunView
    from vigil_lsp.recordings.worker_state import State

MAX_POLICIES = 200
"""Policies of a project that one run is shown with."""


OF_TESTS: frozenset[QuestionKind] = frozenset({"tests", "suite", "test run"})
"""Questions that the project's runs have nothing to do with."""


class NoAnswer(Exception):
    """A question that has no answer; the message says why."""


def answer_steps(ask: Question, state: State) -> Iterator[Any]:
    """Steps to an answer: None after each, and at last the answer.

    Raises:
        NoAnswer: there is none.
    """
    match ask.what, ask.about:
        case "witness", (str(path), str(name), run):
            yield from _witness(path, name, run, state)
        case "timeline", (str(run),):
            yield from _timeline(run, state)
        case "views", (str(file),):
            yield from _views(file, state)
        case "explanation", (str(path), str(name)):
            yield from _explanation(path, name, state)
        case "tests", (str(path), only):
            yield from results_of(
                path, state.folder_of(path), only if isinstance(only, str) else None, state.tools_for(path)
            )
        case "suite", (str(path), str(tools)):
            yield suite_of(path, tools)
        case "test run", (tuple(wanted), bool(measured)):
            yield from run_of(wanted, measured=measured)
        case _:
            raise NoAnswer("there is no such question")


# --- statements --------------------------------------------------------------------------------------------


def _statement(path: str, name: str, state: State) -> tuple[Policy, Statement]:
    policy = state.policy(path)
    found = next((s for s in policy.statements if s.name == name), None) if policy is not None else None
    if policy is None or found is None:
        raise NoAnswer(f"`{name}` has no meaning yet, or is not there")
    return policy, found


def _witness(path: str, name: str, only: object, state: State) -> Iterator[str | None]:
    from msgspec.structs import replace

    policy, statement = _statement(path, name, state)
    runs = [run for run in state.recorded_for(path) if only in (None, run.path)]
    if only is not None and not runs:
        raise NoAnswer("the policy is not judged on such a run")
    alone = replace(policy, statements=(statement,))
    broken = []
    for run in runs:
        answer = run.answer(statement)
        if answer.given_up:
            raise NoAnswer(f"judging `{name}` takes too long")
        if answer.offending:
            broken.append(run)
        yield None
    verdicts = []
    for run in broken[: reports.MAX_RUNS]:
        from vigil_lang.engines.smt.verify import verify  # late: the solver, for the first witness that is opened

        verdicts.append((run.trace, verify([alone], run.trace).statements[0]))
        yield None
    yield reports.witness(statement, verdicts, [run.path for run in broken[reports.MAX_RUNS :]], state.folder_of(path))


def _explanation(path: str, name: str, state: State) -> Iterator[str | None]:
    policy, statement = _statement(path, name, state)
    runs = state.recorded_for(path)
    meanings = dict(Meanings(policy).of(statement.syntax)) if runs else {}
    conditions = []
    for part in parts(statement.syntax):
        condition = meanings.get(part.expr.span)
        conditions.append((part.role, to_text(part.expr), None if condition is None else matches(condition, runs)))
        yield None
    answers = []
    for run in runs:
        answers.append((run.path, run.answer(statement)))
        yield None
    yield reports.explanation(statement, conditions, answers, state.folder_of(path))


# --- runs --------------------------------------------------------------------------------------------------


def _views(file: str, state: State) -> Iterator[tuple[RunView, ...] | None]:
    """Every run of a recording, which need not be one that the project names."""
    policies: list[Policy] = []
    for path in state.policies_for(file)[:MAX_POLICIES]:
        policy = None if is_test_file(path) else state.policy(path)
        policies += [policy] if policy is not None else []
        yield None
    loaded = state.recordings.load(file, state.tools_for(file))
    if loaded.findings:
        raise NoAnswer(loaded.findings[0].message)
    found = []
    for run in loaded.runs:
        for step in view(run, policies):
            if step is not None:
                found.append(step)
            yield None
    yield tuple(found)


def _timeline(path: str, state: State) -> Iterator[Timeline | None]:
    run = _run(path, state)
    file = file_of(run.trace.run)
    policies: list[Policy] = []
    for one in state.policies_for(file)[:MAX_POLICIES]:
        policy = None if is_test_file(one) else state.policy(one)
        policies += [policy] if policy is not None else []
        yield None
    for step in view(run, policies, reports.MAX_LINES):
        if step is not None:
            folder = state.folder_of(policies[0].path) if policies else os.path.dirname(file)  # noqa: PTH120 - a text
            yield Timeline(reports.timeline(step, _lines(policies), folder), step)
        else:
            yield None


def _run(path: str, state: State) -> CachedRun:
    """A run by its path, of a recording that the project names or of any other."""
    for run in state.all_recorded():
        if run.path == path:
            return run
    file = path if os.path.exists(path) else path.rpartition("#")[0]  # noqa: PTH110 - a text
    try:
        runs: Sequence[CachedRun] = state.recordings.load(file, state.tools_for(file)).runs if file else ()
    except InputError:
        runs = ()
    named = [run for run in runs if run.path == path] or (list(runs[:1]) if file == path else [])
    if not named:
        raise NoAnswer("there is no such run, or it cannot be read")
    return named[0]


def _lines(policies: Sequence[Policy]) -> dict[tuple[str, str], int]:
    return {(p.path, s.name): s.source.position(s.span.start)[0] for p in policies for s in p.statements}

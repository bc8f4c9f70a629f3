"""Judging a test: what its run makes of each statement it names, held against what it expects."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import Judgement
from vigil_lang.testing.case import Answer, Failure, Outcome
from vigil_lang.testing.rules_under_test import RuleUnderTest, asked_of, under_test
from vigil_lang.testing.substitution import at_fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.testing.case import Case, Expected

_TOLD = 5


def judge(case: Case, policies: Iterable[Policy] | None = None, *, confirmed: bool = False) -> Outcome:
    """Run one test, on other policies than its own where they are given (a mutant has the path of its original).

    The facts of a run decide every statement; `confirmed` has the solver say so too, as `vigil verify` does.

    Raises:
        SolverDisagrees: Z3 did not confirm an answer; a fault of this program.
    """
    started = time.perf_counter()
    statements = {(p.path, s.name): s for p in (case.policies if policies is None else policies) for s in under_test(p)}
    indices = Indices(case)
    answers: dict[tuple[str, str], Answer] = {}
    failures = []
    for expected in case.expected:
        key = (expected.policy, expected.statement)
        if key not in statements:
            missing = f"there is no statement `{expected.statement}`"
            failures.append(Failure(expected, missing, expected.span, "no such statement"))
            continue
        index = indices.of(statements[key])
        if key not in answers:
            answers[key] = answer(statements[key], index, confirmed=confirmed)
        message = mismatch(statements[key], expected, answers[key], index)
        if message is not None:
            found = _found(statements[key], expected, answers[key], index)
            failures.append(Failure(expected, message, expected.span, found))
    return Outcome(case, tuple(failures), time.perf_counter() - started)


class Indices:
    """A test's run, indexed once for statements and once, with the fields of the context, for rules."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._made: dict[bool, RunIndex] = {}

    def of(self, statement: Statement) -> RunIndex:
        """The run that a statement, or a rule, is asked about."""
        is_rule = isinstance(statement, RuleUnderTest)
        if is_rule not in self._made:
            self._made[is_rule] = RunIndex(self._case.moments if is_rule else self._case.trace)
        return self._made[is_rule]


def answer(statement: Statement, index: RunIndex, *, confirmed: bool = False) -> Answer:
    """What a run makes of a statement.

    Raises:
        SolverDisagrees: with `confirmed`, where Z3 says otherwise.
    """
    if isinstance(statement, RuleUnderTest):
        matched, unknown = asked_of(statement, index.trace)
        return Answer(tuple([(at, ({},)) for at in matched]), True, tuple(unknown))
    judgement, names = Judgement(statement.requirement, index), statement.requirement.variables
    offending = [
        (at, tuple(dict(zip(names, binding, strict=True)) for binding in failing))
        for at in judgement.candidates.suspects()
        if (failing := judgement.failing(at))
    ]
    if confirmed:
        from vigil_lang.engines.smt.encode import Encoding
        from vigil_lang.engines.smt.solve import certify

        certify(Encoding(judgement, name=statement.name), statement.name, {at for at, _ in offending})
    return Answer(tuple(offending), bool(offending) or judgement.exercised())


def mismatch(statement: Statement, expected: Expected, found: Answer, index: RunIndex) -> str | None:
    """Why a statement's answer is not the expected one, in words; None where it is."""
    ids = [index.trace.events[at].id for at, _ in found.offending]
    name = expected.statement
    if isinstance(statement, RuleUnderTest):
        return _of_rule(statement, expected, ids, [index.trace.events[at].id for at in found.unknown])
    if expected.verdict != "violated":
        if ids:
            return f"`{name}` is violated at {_listed(ids)}, not {expected.verdict}"
        if expected.verdict == "vacuous" and found.exercised:
            return f"`{name}` is satisfied, but not vacuously: something puts it to the test"
        return None
    if not ids:
        return f"`{name}` is satisfied{'' if found.exercised else ' vacuously'}, not violated"
    if expected.events is not None and set(expected.events) != set(ids):
        return f"`{name}` is violated at {_listed(ids)}, not at {_listed(expected.events)}"
    return _unbound(statement, expected, found, index) if expected.bindings else None


def _found(statement: Statement, expected: Expected, answer: Answer, index: RunIndex) -> str:
    """What a run makes of a statement or a rule, in the words that a test would expect it with."""
    ids = [index.trace.events[at].id for at, _ in answer.offending]
    if isinstance(statement, RuleUnderTest):
        unknown = [index.trace.events[at].id for at in answer.unknown]
        told = f"{statement.rule.then}s {', '.join(ids) or 'no call'}"
        return f"{told}, cannot tell of {', '.join(unknown)}" if unknown else told
    if not ids:
        return "satisfied" if answer.exercised else "vacuous"
    values = "; ".join(_values(one) for _, bindings in answer.offending for one in bindings[:_TOLD])
    return f"violated at {', '.join(ids)}{f' with {values}' if expected.bindings else ''}".replace("`", "")


def _of_rule(rule: RuleUnderTest, expected: Expected, ids: list[str], unknown: list[str]) -> str | None:
    """Why a rule does not do what is expected of it; a call of which it cannot tell is blocked."""
    then, verdict, name = rule.rule.then, expected.verdict, expected.statement
    if unknown and verdict != "blocks":
        return f"`{name}` cannot be evaluated at {_listed(unknown)}, and the gate blocks what it cannot judge"
    if verdict == "passes" and then != "pass":
        return f"`{name}` {then}s {_listed(ids)}, and does not let it pass" if ids else None
    found = [*unknown, *(ids if then == "block" else [])] if verdict == "blocks" else ids
    if not found:
        return f"`{name}` {verdict} no call of the run"
    named = found if expected.events is None else expected.events
    if missed := [event for event in named if event not in found]:
        return f"`{name}` {verdict} {_listed(found)}, not {_listed(missed)}"
    if more := [event for event in found if event not in named]:
        return f"`{name}` {verdict} {_listed(more)}, too"
    return None


def _unbound(statement: Statement, expected: Expected, found: Answer, index: RunIndex) -> str | None:
    """Which event does not offend under the expected values; without named events one that does is enough."""
    offending = [at for at, _ in found.offending]
    fits = at_fault(statement.requirement, dict(expected.bindings), index)
    if fits.issuperset(offending) or (expected.events is None and not fits.isdisjoint(offending)):
        return None
    at, bindings = next((at, bindings) for at, bindings in found.offending if at not in fits)
    told = "; ".join(_values(binding) for binding in bindings[:_TOLD])
    wanted = _values(dict(expected.bindings))
    return f"`{expected.statement}` is violated at `{index.trace.events[at].id}` with {told}, not with {wanted}"


def _values(binding: dict[str, str | None]) -> str:
    return ", ".join(f"{x} = {'any other value' if v is None else f'`{v}`'}" for x, v in binding.items())


def _listed(ids: Sequence[str]) -> str:
    return ", ".join(_some(ids))


def _some(ids: Sequence[str]) -> Iterator[str]:
    yield from (f"`{event}`" for event in ids[:_TOLD])
    if len(ids) > _TOLD:
        yield f"{len(ids) - _TOLD} more"

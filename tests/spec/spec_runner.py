"""What each kind of fenced block claims, and how the claim is put to the test."""

from __future__ import annotations

import json
import tomllib
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from tests.gate.decide import rows
from vigil_lang.diagnostics import InputError, Source
from vigil_lang.diagnostics.render import findings_json
from vigil_lang.engines.interface import Rule
from vigil_lang.engines.smt.engine import SmtEngine
from vigil_lang.engines.smt.smtlib import export
from vigil_lang.engines.smt.solve import evaluate
from vigil_lang.engines.smt.symbolic import export_symbolic
from vigil_lang.engines.smt.verify import verify
from vigil_lang.gate.decide.conditions import Facts, ask, compiled, some
from vigil_lang.lint.run import Plan, lint
from vigil_lang.project.selection import ALL, Selection
from vigil_lang.runs import read_trace
from vigil_lang.semantics import core, denotation
from vigil_lang.semantics.policy import Policy, read_policy
from vigil_lang.syntax.format import format_text
from vigil_lang.testing.expectations import judge
from vigil_lang.testing.read import read_tests
from vigil_lang.trace import Event, Signature, Trace, observe
from vigil_lang.trace.signature_file import signature_from_json, signature_to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from spec_blocks import Block

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.verdict import StatementVerdict

LONGEST = 4
"""Events in the runs on which statements of a `vgl equal` block are compared."""

FREE = frozenset({"message", "help", "why", "title", "text", "seconds"})
"""Members of results whose values are not normative."""

SOLVED = 25
"""How many of those runs are put to the solver too."""


def run(block: Block, folder: Path) -> None:
    """Test what one block claims. `folder` is an empty place for files."""
    KINDS[block.kind](block, folder)


# --- policies ----------------------------------------------------------------------------------------------


def _policy_block(block: Block, folder: Path) -> None:
    match block.args:
        case ():
            assert _said(_findings(block, folder)) == []
            _is_formatted(block)
        case ("error" | "warning" | "info" as severity, *codes):
            found = _findings(block, folder)
            assert sorted(d.code for d in found) == sorted(codes), _said(found)
            assert {d.severity for d in found} == {severity}
        case ("equal",):
            assert not _policy(block, folder).errors
            _is_formatted(block)
        case ("as", _):
            assert not _policy(block, folder).errors
            _is_formatted(block)
        case other:
            raise AssertionError(f"unknown words after vgl: {' '.join(other)}")


def _is_formatted(block: Block) -> None:
    assert format_text(Source("spec.vgl", block.text)) == block.text


def _policy(block: Block, folder: Path, params: Mapping[str, Any] | None = None) -> Policy:
    """The policy of a `vgl` block, stored beside those that its section gave a file name before it."""
    for earlier in block.before:
        if earlier.kind == "vgl" and earlier.args[:1] == ("as",):
            (folder / earlier.args[1]).write_text(earlier.text, encoding="utf-8")
    path = folder / (block.args[1] if block.args[:1] == ("as",) else "policy.vgl")
    path.write_text(block.text, encoding="utf-8")
    return read_policy(Source(str(path), block.text), params)


def _findings(block: Block, folder: Path, signature: Signature | None = None) -> list[Diagnostic]:
    policy = _policy(block, folder)
    linted = lint(policy.module.source, Plan(Selection((ALL,)), signature=signature, basic=True))
    return list(linted.findings)


def _said(found: list[Diagnostic]) -> list[str]:
    return [f"{d.code} {d.message}" for d in found]


def _requirement_block(block: Block, folder: Path) -> None:
    """`requirement`: the last policy's one statement in the core, as JSON."""
    (statement,) = _policy(block.last("vgl"), folder).statements
    assert core.from_json(block.text) == statement.requirement
    assert json.loads(block.text) == json.loads(core.to_json(statement.requirement))


def _findings_block(block: Block, folder: Path) -> None:
    """`findings`: the findings of the last policy against the vocabulary of the last run, by line and column."""
    found = _findings(block.last("vgl"), folder, observe([_trace(block.last("trace"))]))
    placed = sorted((*d.source.position(d.span.start), d.code) for d in found)
    assert "".join(f"{line}:{column} {code}\n" for line, column, code in placed) == block.text


# --- runs and verdicts -------------------------------------------------------------------------------------


def _trace(block: Block) -> Trace:
    lines = block.text.encode().splitlines(keepends=True)
    return read_trace(lines, "run.jsonl", "vigil")


def _trace_block(block: Block, folder: Path) -> None:  # noqa: ARG001
    match block.args:
        case ():
            _trace(block)
        case ("error", code):
            with pytest.raises(InputError) as refused:
                _trace(block)
            assert [d.code for d in refused.value.diagnostics] == [code]
        case other:
            raise AssertionError(f"unknown words after trace: {' '.join(other)}")


def _verdict_block(block: Block, folder: Path) -> None:
    """`verdict`: what both engines say of the last policy on the last run, a line a statement."""
    given = [tomllib.loads(b.text) for b in block.before if b.kind == "toml"]
    policy = _policy(block.last("vgl"), folder, given[-1] if given else None)
    trace = _trace(block.last("trace"))
    assert not policy.errors, _said(list(policy.errors))
    assert "".join(f"{s.name}: {_by_denotation(s, trace)}\n" for s in policy.statements) == block.text
    assert "".join(f"{s.name}: {_by_solver(s)}\n" for s in verify([policy], trace).statements) == block.text


def _by_denotation(statement: Statement, trace: Trace) -> str:
    found = denotation.violations(statement.requirement, trace)
    offences = [(trace.events[at].id, binding) for at, binding in found]
    return _shown(offences, vacuous=not denotation.exercised(statement.requirement, trace))


def _by_solver(found: StatementVerdict) -> str:
    return _shown([(o.event, o.bindings) for o in found.offending], vacuous=found.vacuous)


def _shown(offences: list[tuple[str, dict[str, str | None]]], *, vacuous: bool) -> str:
    if not offences:
        return "satisfied, vacuously" if vacuous else "satisfied"
    parts = []
    for event, bindings in offences:
        values = ", ".join(f"{x} = {json.dumps(v, ensure_ascii=False)}" for x, v in bindings.items())
        parts.append(f"{event} ({values})" if values else event)
    return f"violated by {', '.join(parts)}"


def _events_block(block: Block, folder: Path) -> None:
    """`events`: on every short run made of these events the statements of the last policy agree."""
    statements = _policy(block.last("vgl"), folder).statements
    assert len(statements) > 1
    runs = list(_runs(_trace(block).events))
    outcomes = set()
    for trace in runs:
        found = {s.name: _offenders(s, trace) for s in statements}
        outcomes.add(next(iter(found.values())))
        assert len(set(found.values())) == 1, (found, [e.action for e in trace.events])
    assert len(outcomes) > 2, "the events show too little"
    for trace in runs[:: max(1, len(runs) // SOLVED)]:
        for statement in statements:
            (outcome,) = SmtEngine().judge([Rule("S", statement.requirement)], [trace])
            assert tuple(violation.event for violation in outcome.violations) == _offenders(statement, trace)


def _offenders(statement: Statement, trace: Trace) -> tuple[int, ...]:
    return tuple(at for at, _ in denotation.violations(statement.requirement, trace))


def _runs(alphabet: tuple[Event, ...]) -> Iterator[Trace]:
    for length in range(1, LONGEST + 1):
        for chosen in product(alphabet, repeat=length):
            yield Trace(tuple(_renamed(event, n) for n, event in enumerate(chosen, 1)))


def _renamed(event: Event, n: int) -> Event:
    """The event as the nth of a run; its call keeps a name that it was given."""
    own = event.call == event.id
    return replace(event, id=f"e{n}", call=f"e{n}" if own else event.call)


# --- published formats -------------------------------------------------------------------------------------


def _matches_block(block: Block, folder: Path) -> None:
    """`matches`: the events of the last run of which each rule of the last policy holds, or is not known to."""
    policy = _policy(block.last("vgl"), folder)
    assert not policy.errors
    context = {name: tuple(values) for name, values in json.loads(block.last("json").text).items()}
    events = _trace(block.last("trace")).events
    lines = []
    for rule in policy.rules:
        answer = compiled(rule.condition, some)
        answers = {event.id: ask(answer, Facts(event.names(), event.names(), event.args, context)) for event in events}
        unknown = ", ".join(name for name, found in answers.items() if found is None)
        shown = ", ".join(name for name, found in answers.items() if found)
        lines.append(f"{rule.name}: {shown}{f', unknown of {unknown}' if unknown else ''}\n")
    assert "".join(lines) == block.text


def _json_block(block: Block, folder: Path) -> None:
    """`json`: the output for the last policy and run, member by member."""
    stated = json.loads(block.text)
    match block.args:
        case ("verdict",):
            policy = replace(_policy(block.last("vgl"), folder), path="policy.vgl")
            found = verify([policy], _trace(block.last("trace"))).to_json()
        case ("findings",):
            found = json.loads(findings_json(_findings(block.last("vgl"), folder)))
            for finding in found["findings"]:
                finding["file"] = "policy.vgl"
        case ("signature",):
            found = json.loads(signature_to_json(signature_from_json(stated)))
        case ("context",):
            found = stated
        case ("observed",):
            found = json.loads(signature_to_json(observe([_trace(block.last("trace"))])))
        case other:
            raise AssertionError(f"unknown words after json: {' '.join(other)}")
    assert _fixed(stated) == _fixed(found)


def _fixed(value: Any, key: str = "") -> Any:
    """What is normative of a result: words for people, and which events nearly did, count only as being there."""
    match value:
        case list() if key == "near_misses":
            return sorted({name for item in value for name in item})
        case dict():
            return {name: _fixed(item, name) for name, item in value.items()}
        case list():
            return [_fixed(item) for item in value]
        case _ if key in FREE:
            return type(value).__name__
        case _:
            return value


def _smt_block(block: Block, folder: Path) -> None:
    """`smt2`: the exported script of the last policy, after its first comment, and what Z3 makes of it."""
    policy = _policy(block.last("vgl"), folder)
    if block.args == ("symbolic",):
        script = export_symbolic(policy.statements, 2)
    else:
        script = export(policy.statements, _trace(block.last("trace")))
    script = script.replace(f"{folder}/", "")
    assert script.partition("\n")[2] == block.text.partition("\n")[2]
    assert evaluate([block.text]).split()[0] in ("sat", "unsat")


def _tests_block(block: Block, folder: Path) -> None:
    """`tests`: what comes of the tests of the last file, and what is wrong with those that cannot be run."""
    for earlier in block.before:
        if earlier.kind == "vgl" and earlier.args[:1] == ("as",):
            (folder / earlier.args[1]).write_text(earlier.text, encoding="utf-8")
    read = read_tests(str(folder / block.last("vgl").args[1]))
    lines = [f"{case.name}: {'passed' if judge(case, confirmed=True).passed else 'failed'}" for case in read.cases]
    for finding in read.findings:
        line, column = finding.source.position(finding.span.start)
        lines.append(f"{line}:{column} {finding.code}")
    assert "".join(f"{line}\n" for line in lines) == block.text


def _toml_block(block: Block, folder: Path) -> None:  # noqa: ARG001
    tomllib.loads(block.text)


def _grammar_block(block: Block, folder: Path) -> None:  # noqa: ARG001
    """`ebnf`: held against the grammar by `test_spec_grammar.py`."""
    assert " = " in block.text


def _decisions_block(block: Block, _: Path) -> None:
    """`decisions`: what the kernel of the gate makes of what speaks to a call, line by line."""
    for line in block.text.splitlines():
        rows.check(line)


KINDS: dict[str, Callable[[Block, Path], None]] = {
    "decisions": _decisions_block,
    "ebnf": _grammar_block,
    "events": _events_block,
    "findings": _findings_block,
    "json": _json_block,
    "matches": _matches_block,
    "smt2": _smt_block,
    "tests": _tests_block,
    "toml": _toml_block,
    "trace": _trace_block,
    "verdict": _verdict_block,
    "requirement": _requirement_block,
    "vgl": _policy_block,
}

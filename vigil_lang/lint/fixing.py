"""Applying fixes: a safe fix changes no meaning, and no fix may make a valid file invalid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from vigil_lang.analysis import canonical
from vigil_lang.diagnostics import Edit, Source, apply_edits
from vigil_lang.lint.run import lint
from vigil_lang.semantics.policy import read_policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.lint.run import Plan
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.policy import Policy

MAX_ROUNDS = 20
"""A fix may be what another one waits for; two may undo each other for ever."""

_Mark: TypeAlias = tuple[str, str, tuple[Edit, ...]]


@dataclass(frozen=True, slots=True)
class Mended:
    """A policy's text with fixes applied, and the findings these were for."""

    source: Source
    applied: tuple[Diagnostic, ...]


def mend(source: Source, plan: Plan, *, unsafe: bool = False) -> Mended:
    """Apply the fixes of a policy's findings, again until there are none, those that are safe first."""
    applied: list[Diagnostic] = []
    refused: set[_Mark] = set()
    for _ in range(MAX_ROUNDS):
        linted = lint(source, plan)
        offered = [f for f in linted.findings if _changes(f, source) and _mark(f) not in refused]
        safe = [f for f in offered if f.fix and f.fix.safe]
        chosen = _apart(safe or (offered if unsafe else []))
        if not chosen:
            break
        after = _applied(source, chosen)
        if unharmed(linted.policy, read_policy(after, plan.params, access=plan.access), safe=bool(safe)):
            source, applied = after, applied + chosen
            continue
        # Together they do harm: one at a time shows which of them does.
        for finding in chosen:
            after = _applied(source, [finding])
            if unharmed(linted.policy, read_policy(after, plan.params, access=plan.access), safe=bool(safe)):
                source = after
                applied.append(finding)
                break
            refused.add(_mark(finding))
    return Mended(source, tuple(applied))


def _changes(finding: Diagnostic, source: Source) -> bool:
    """Whether a finding has a fix that changes this text."""
    edits = finding.fix.edits if finding.fix and finding.source is source else ()
    return any(source.text[edit.span.start : edit.span.end] != edit.text for edit in edits)


def _mark(finding: Diagnostic) -> _Mark:
    return finding.code, finding.message, finding.fix.edits if finding.fix else ()


def _apart(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The findings whose fixes do not touch each other, the first of those that do."""
    chosen: list[Diagnostic] = []
    taken: list[Edit] = []
    for finding in findings:
        edits = finding.fix.edits if finding.fix else ()
        if not any(_touch(edit, other) for edit in edits for other in taken):
            chosen.append(finding)
            taken += edits
    return chosen


def _touch(one: Edit, other: Edit) -> bool:
    return one.span.start <= other.span.end and other.span.start <= one.span.end


def _applied(source: Source, findings: Sequence[Diagnostic]) -> Source:
    edits = [edit for finding in findings if finding.fix for edit in finding.fix.edits]
    return Source(source.path, apply_edits(source.text, edits))


def unharmed(before: Policy, policy: Policy, *, safe: bool) -> bool:
    """Whether a policy still says all that it said: no new errors, every statement there and, if `safe`, unchanged."""
    if len(policy.errors) > len(before.errors) or len(policy.module.file.broken) > len(before.module.file.broken):
        return False
    now: dict[str, list[Statement]] = {}
    for statement in policy.statements:
        now.setdefault(statement.name, []).append(statement)
    for statement in before.statements:  # two may have one name, which is an error of its own
        others = now.get(statement.name)
        if not others or (safe and not _same(statement, others.pop(0))):
            return False
    return True


def _same(one: Statement, other: Statement) -> bool:
    """Whether two statements certainly ask for the same, with the same consequences."""
    mine, theirs = one.requirement, other.requirement
    if replace(one.metadata, doc=None) != replace(other.metadata, doc=None):
        return False
    if canonical.key(mine.theta) == canonical.key(theirs.theta):
        return True
    from vigil_lang.analysis.statement_entailment import entails

    return entails(mine, theirs) and entails(theirs, mine)

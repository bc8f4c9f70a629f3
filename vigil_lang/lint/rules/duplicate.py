"""VGL304: statements that mean the same whatever the params are."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from vigil_lang.analysis import canonical
from vigil_lang.base.identity import by_identity
from vigil_lang.diagnostics import Diagnostic, Note
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.lower import Statement

_COMPARED = 1_000
"""Tests a statement may have to be compared with others."""


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Statements that say what another says: one of them is idle, or says something unintended."""
    policy = subject.policy
    first: dict[object, Statement] = {}
    marks = [_mark(statement.meaning) for statement in policy.statements]
    shared = Counter(marks)
    for statement, mark in zip(policy.statements, marks, strict=True):
        if mark is None or shared[mark] == 1:
            continue
        other = first.setdefault((_key(statement.meaning), statement.params), statement)
        if other is not statement:
            message = f"`{statement.name}` says the same as `{other.name}`"
            note = Note("said here first", other.source, other.span)
            yield Diagnostic.of("VGL304", message, statement.source, statement.span, notes=(note,))


@by_identity
def _key(requirement: core.Requirement) -> str:
    return canonical.key(requirement.theta)


@by_identity
def _mark(requirement: core.Requirement) -> frozenset[object] | None:
    """Something of each test: a cheap mark that statements which mean the same share. None for huge ones."""
    tests = [t for holds in core.conditions(requirement.theta) for t in core.tests(holds.condition)]
    if len(tests) > _COMPARED:
        return None
    return frozenset(map(_part, tests))


def _part(test: core.Test) -> object:
    match test:
        case core.ActionIn(values) | core.In(_, values):
            return values
        case core.Matches(_, matcher) | core.ActionMatches(matcher):
            return matcher
        case core.StatusIs(status):
            return status
        case core.ContainsText(_, text):
            return text
        case core.Compares(_, _, limit):
            return limit
        case _:
            return test.field.name

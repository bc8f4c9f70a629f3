"""VGL401 to VGL407: what a policy says that the vocabulary of a signature does not know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note, nearest
from vigil_lang.semantics import core
from vigil_lang.semantics.lower import parts
from vigil_lang.semantics.meanings import Argument as Given
from vigil_lang.semantics.meanings import Place, Scope, Variable
from vigil_lang.semantics.members import Member, element_of, member, members, spelled
from vigil_lang.semantics.modules import is_shipped
from vigil_lang.semantics.occurs import matches_any, may_be
from vigil_lang.semantics.terms import Failed
from vigil_lang.semantics.text import predicate
from vigil_lang.semantics.vacuity import vacuous
from vigil_lang.syntax import tree
from vigil_lang.syntax.print import to_text
from vigil_lang.trace.signature import Argument, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vigil_lang.diagnostics import Severity
    from vigil_lang.semantics.conditions import Conditions
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Signature

Names: TypeAlias = frozenset[str]


def against(policy: Policy, signature: Signature, conditions: Conditions) -> Iterator[Diagnostic]:
    """The findings of a policy's statements, and of patterns no statement uses, against a signature with actions."""
    reading = _Reading(policy, signature, conditions)
    for statement in policy.statements:
        conditions.start()
        uses: list[Use] = []
        for part in parts(statement.syntax):
            strict = signature.origin == "declared" or part.role != "forbidden"
            yield from reading.expression(part.expr, Scope(policy.module), reading.everything, strict, uses)
        yield from _joins(uses, signature)
        yield from vacuous(statement, signature)
    for declaration in policy.module.own.values():
        if isinstance(declaration, tree.Pattern):
            conditions.start()
            yield from reading.pattern(declaration)

"""VGL307: names in braces in a message that no variable of the statement has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Span, nearest
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.lower import Statement

# As `metadata.PLACEHOLDER`, in the text as written: `\u{a0}` is an escape.
_PLACEHOLDER = re.compile(r"\\u\{[^}]*\}|\\.|\{([A-Za-z_][A-Za-z0-9_.-]*)\}")


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Placeholders that would stay as they are."""
    for statement in subject.policy.statements:
        variables = statement.requirement.variables
        for note in statement.syntax.annotations:
            match note.name.text, note.args:
                case "message", (tree.String(raw, span),):
                    for m in _PLACEHOLDER.finditer(raw):
                        if m[1] is not None and m[1] not in variables:
                            at = span.start + 1 + m.start(1)
                            yield _unknown_placeholder(m[1], Span(at, at + len(m[1])), statement)


def _unknown_placeholder(name: str, span: Span, statement: Statement) -> Diagnostic:
    variables = statement.requirement.variables
    near = nearest(name, variables, 1) or (list(variables) if len(variables) == 1 else [])
    known = ", ".join(f"`{{{x}}}`" for x in variables)
    return Diagnostic.of(
        "VGL307",
        f"the message uses `{{{name}}}`, but `{statement.name}` has no such variable",
        statement.source,
        span,
        help=f"it has {known}" if known else "it has no variables; only their values can be shown",
        fix=Fix(f"write `{{{near[0]}}}`", (Edit(span, near[0]),)) if near else None,
    )

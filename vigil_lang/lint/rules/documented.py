"""VGL802: statements and patterns that nobody explains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.lint.rule import Rule
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Items without a documentation comment."""
    for item in subject.policy.module.file.items:
        if isinstance(item, tree.Pattern | tree.Statement) and not item.doc:
            kind = "pattern" if isinstance(item, tree.Pattern) else "statement"
            message = f"{kind} `{item.name.text}` has no documentation"
            help_text = "write `/// what it says` on the line above"
            yield Diagnostic.of("VGL802", message, subject.policy.module.source, item.name.span, help=help_text)


RULE = Rule(("VGL802",), find)

"""VGL804: declarations that come after what is built on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.lint.rule import Rule
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject

_RANKS = {tree.Use: 0, tree.Let: 1, tree.Param: 1, tree.Pattern: 2, tree.Statement: 3}
_NAMES = ("`use`", "values", "patterns", "statements")


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Items after one that belongs below them."""
    highest = 0
    for item in subject.policy.module.file.items:
        rank = _RANKS.get(type(item), len(_NAMES))
        if rank < highest:
            name = item.module if isinstance(item, tree.Use) else item.name
            message = f"{_NAMES[rank]} stand above {_NAMES[highest]}"
            yield Diagnostic.of("VGL804", message, subject.policy.module.source, name.span)
        elif rank < len(_NAMES):
            highest = rank


RULE = Rule(("VGL804",), find)

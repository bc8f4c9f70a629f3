"""VGL801 to VGL804: names, documentation, sources and the order of declarations as a house may ask for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject

_SNAKE = r"[a-z][a-z0-9]*(_[a-z0-9]+)*"
_CONVENTIONS = {
    tree.Pattern: ("a pattern", re.compile(_SNAKE), "snake_case"),
    tree.Param: ("a param", re.compile(_SNAKE), "snake_case"),
    tree.Let: ("a `let`", re.compile(f"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*|{_SNAKE}"), "UPPER_CASE or snake_case"),
    tree.Rule: ("a rule", re.compile(f"[A-Z]+[0-9]+[a-z]?|{_SNAKE}"), "snake_case, or a number as in `R3`"),
    tree.Statement: ("a statement", re.compile(f"[A-Z]+[0-9]+[a-z]?|{_SNAKE}"), "snake_case, or a number as in `R3`"),
}
_RANKS = {tree.Use: 0, tree.Let: 1, tree.Param: 1, tree.Pattern: 2, tree.Statement: 3, tree.Rule: 3}
_PLURALS = ("`use`", "values", "patterns", "statements")
_POLICY = re.compile(r"[a-z][a-z0-9]*([_.-][a-z0-9]+)*")


def misnamed(subject: Subject) -> Iterator[Diagnostic]:
    """VGL801: names of what the file declares, and its own; variables and actions are not the author's to name."""
    file = subject.policy.module.file
    if file.name is not None and not _POLICY.fullmatch(file.name.text):
        yield _finding(file.name, "a policy", "lower case", subject)
    for item in file.items:
        if isinstance(item, tree.Pattern | tree.Param | tree.Let | tree.Statement | tree.Rule):
            what, pattern, convention = _CONVENTIONS[type(item)]
            if not pattern.fullmatch(item.name.text):
                yield _finding(item.name, what, convention, subject)


def _finding(name: tree.Name, what: str, convention: str, subject: Subject) -> Diagnostic:
    message = f"`{name.text}` is the name of {what}, which is written in {convention}"
    return Diagnostic.of("VGL801", message, subject.policy.module.source, name.span)


def undocumented(subject: Subject) -> Iterator[Diagnostic]:
    """VGL802: statements, rules and patterns without a documentation comment."""
    for item in subject.policy.module.file.items:
        if isinstance(item, tree.Pattern | tree.Statement | tree.Rule) and not item.doc:
            kind = type(item).__name__.lower()
            message = f"{kind} `{item.name.text}` has no documentation"
            help_text = "write `/// what it says` on the line above"
            yield Diagnostic.of("VGL802", message, subject.policy.module.source, item.name.span, help=help_text)


def unsourced(subject: Subject) -> Iterator[Diagnostic]:
    """VGL803: statements without `@source`."""
    for statement in subject.policy.statements:
        if not statement.metadata.cites:
            message = f"`{statement.name}` cites no source"
            help_text = 'name the file and the sentence it enforces: `@source("SKILL.md", "…")`'
            yield Diagnostic.of("VGL803", message, statement.source, statement.span, help=help_text)


def misordered(subject: Subject) -> Iterator[Diagnostic]:
    """VGL804: declarations that come after what is built on them."""
    highest = 0
    for item in subject.policy.module.file.items:
        rank = _RANKS.get(type(item), len(_PLURALS))
        if rank < highest:
            name = item.module if isinstance(item, tree.Use) else item.name
            message = f"{_PLURALS[rank]} stand above {_PLURALS[highest]}"
            yield Diagnostic.of("VGL804", message, subject.policy.module.source, name.span)
        elif rank < len(_PLURALS):
            highest = rank

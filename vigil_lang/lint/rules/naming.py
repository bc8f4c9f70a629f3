"""VGL801: names that are not written as the house writes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.lint.rule import Rule
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject

_SNAKE = r"[a-z][a-z0-9]*(_[a-z0-9]+)*"
_CONVENTIONS = {
    tree.Pattern: ("a pattern", re.compile(_SNAKE), "snake_case"),
    tree.Param: ("a param", re.compile(_SNAKE), "snake_case"),
    tree.Let: ("a `let`", re.compile(f"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*|{_SNAKE}"), "UPPER_CASE or snake_case"),
    tree.Statement: ("a statement", re.compile(f"[A-Z]+[0-9]+[a-z]?|{_SNAKE}"), "snake_case, or a number as in `R3`"),
}
_POLICY = re.compile(r"[a-z][a-z0-9]*([_.-][a-z0-9]+)*")


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Names of declarations, statements and the policy; variables and action names are not the author's to choose."""
    file = subject.policy.module.file
    if file.name is not None and not _POLICY.fullmatch(file.name.text):
        yield _finding(file.name, "a policy", "lower case", subject)
    for item in file.items:
        if isinstance(item, tree.Pattern | tree.Param | tree.Let | tree.Statement):
            what, pattern, convention = _CONVENTIONS[type(item)]
            if not pattern.fullmatch(item.name.text):
                yield _finding(item.name, what, convention, subject)


def _finding(name: tree.Name, what: str, convention: str, subject: Subject) -> Diagnostic:
    message = f"`{name.text}` is the name of {what}, which is written in {convention}"
    return Diagnostic.of("VGL801", message, subject.policy.module.source, name.span)


RULE = Rule(("VGL801",), find)

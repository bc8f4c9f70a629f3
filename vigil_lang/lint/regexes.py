"""The regular expressions of a policy as syntax trees."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from vigil_lang.semantics.regex import Unsupported
from vigil_lang.semantics.text_patterns import Expression, predicate
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.regex import Node


def regexes(subject: Subject) -> Iterator[tuple[tree.Regex, Node]]:
    """Every regular expression that can be read: of tests, of their views, and of `let`."""
    for regex in _written(subject):
        if (node := read(regex.raw, regex.ignore_case)) is not None:
            yield regex, node


def _written(subject: Subject) -> Iterator[tree.Regex]:
    for use in subject.parts.uses:
        yield from regexes_of(use.operand)
        for view in () if use.field is None else use.field.views:
            yield from regexes_of(view.argument)
    for declaration in subject.declarations:
        if isinstance(declaration, tree.Let):
            yield from regexes_of(declaration.value)


def regexes_of(operand: object) -> Iterator[tree.Regex]:
    """The regular expressions of an operand: itself, or the elements of its sets."""
    if isinstance(operand, tree.Regex):
        yield operand
    elif isinstance(operand, tree.SetUnion):
        for part in operand.parts:
            if isinstance(part, tree.SetLiteral):
                yield from (element for element in part.elements if isinstance(element, tree.Regex))


@lru_cache(maxsize=4096)
def read(raw: str, ignore_case: bool) -> Node | None:
    """The tree of a regular expression; None where it is not valid, or uses what is not read."""
    from vigil_lang.semantics.regex_reader import read

    try:
        predicate(Expression(raw, ignore_case))
        return read(raw, ignore_case=ignore_case)
    except (ValueError, Unsupported):
        return None


def is_valid(raw: str) -> bool:
    """Whether RE2 accepts a pattern."""
    try:
        predicate(Expression(raw))
    except ValueError:
        return False
    return True

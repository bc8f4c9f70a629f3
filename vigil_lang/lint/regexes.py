"""The regular expressions of a policy as syntax trees."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from vigil_lang.semantics.regex import Unsupported
from vigil_lang.semantics.text import Expression, predicate
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.policy_parts import Use
    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.regex import Node


def regexes(subject: Subject) -> Iterator[tuple[Use, tree.Regex, Node]]:
    """Every regular expression that can be read, with where it is used."""
    for use in subject.parts.uses:
        if type(use.operand) is tree.Regex and (node := read(use.operand.raw, use.operand.ignore_case)) is not None:
            yield use, use.operand, node


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

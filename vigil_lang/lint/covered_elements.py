"""Elements of a set that another element of it covers: one that stands there twice, a glob within another glob."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vigil_lang.analysis.field_constraints import field_test_implies
from vigil_lang.lint.literal_texts import glob, value
from vigil_lang.semantics import core
from vigil_lang.semantics.text_patterns import Glob
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from vigil_lang.semantics.modules import Module

    Element: TypeAlias = tree.Term | tree.Regex

MOST_GLOBS: Final = 100
"""Elements of one set that are held against each other; equal ones are found in any set."""

_FIELD: Final = core.Reads("path")
"""Whether a glob covers another does not depend on the field."""


def covered(literal: tree.SetLiteral, module: Module, *, globs: bool) -> Iterator[tuple[Element, Element]]:
    """The elements without which a set means the same, each with the one that covers it: of two equal ones the first.

    With `globs` the texts of the set are matched, else compared as they are.
    """
    first: dict[object, Element] = {}
    kept: list[tuple[Glob, Element]] = []
    for element in literal.elements:
        key = _key(element, module, globs=globs)
        if key is not None and (other := first.setdefault(key, element)) is not element:
            yield element, other
        elif globs and isinstance(element, tree.String) and (text := glob(element)) is not None:
            kept.append((Glob(text), element))
    if len(kept) <= MOST_GLOBS:
        for at, (narrow, element) in enumerate(kept):
            wider = ((n, other) for n, (wide, other) in enumerate(kept) if n != at and _within(narrow, wide))
            # Of two that match the same (`a*`, `a**`) the first stays.
            by = next((other for n, other in wider if n < at or not _within(kept[n][0], narrow)), None)
            if by is not None:
                yield element, by


def _key(element: Element, module: Module, *, globs: bool) -> object:
    match element:
        case tree.String():
            return glob(element) if globs else value(element)
        case tree.Name(text):
            return text if module.find(text) is None else ("declared", text)
        case tree.Number(raw):
            return raw
        case tree.Regex(raw, ignore_case):
            return raw, ignore_case
        case _:
            return None


def _within(narrow: Glob, wide: Glob) -> bool:
    """Whether every text that the one matches the other does; a `*` alone is another rule's."""
    if not wide.pattern.strip("*"):
        return False
    return field_test_implies(core.Matches(_FIELD, narrow), core.Matches(_FIELD, wide)) is True

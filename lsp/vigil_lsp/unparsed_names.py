"""Declared names in items that do not parse, found by the words around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Span
from vigil_lang.syntax import tree
from vigil_lang.syntax.scan import CLOSING, COMMENTS, ITEM_WORDS, TEST, Token, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.semantics.modules import Module

# What follows the name of an argument, and what stands before one, or before a name that is being declared.
_TESTS = frozenset(
    {"=", "!=", "~", "!~", "<", "<=", ">", ">=", "in", "not", "contains", "≠", "∼", "≁", "≤", "≥", "∈", "∉"}
)
_NO_REFERENCE_AFTER = ITEM_WORDS | {"has", "@"}


def declared_words(module: Module, span: Span) -> Iterator[tuple[str, Span]]:
    """The words of an item that did not parse which most likely name a declaration of its module, with where they are.

    None in tests and after `use`: what they name is found by other rules.
    """
    text = module.source.text[span.start : span.end]
    found = [token for token in tokens(text) if token.kind not in COMMENTS]
    head = next((at for at, token in enumerate(found) if token.text in ITEM_WORDS or token.text == TEST), None)
    if head is None or found[head].text not in ("let", "param", "pattern", "statement", "rule"):
        return
    hidden = _parameters(found[head:])
    braces = 0
    for at in range(head, len(found)):
        token = found[at]
        braces = max(0, braces + (token.text == "{") - (token.text == "}"))
        declared = module.find(token.text) if token.kind == "word" and token.text not in hidden else None
        if declared is None or found[at - 1].text in _NO_REFERENCE_AFTER:
            continue
        after = found[at + 1].text if at + 1 < len(found) else ""
        if after in _TESTS and found[at - 1].text not in _TESTS:
            continue
        if isinstance(declared[1], tree.Pattern) and after != "(" and (braces or found[at - 1].text in _TESTS):
            continue  # text, where one value stands
        yield token.text, Span(span.start + token.start, span.start + token.end)


def _parameters(item: list[Token]) -> frozenset[str]:
    """What a pattern's parameters hide in it."""
    if item[0].text != "pattern" or [token.text for token in item[2:3]] != ["("]:
        return frozenset()
    end = next((at for at, token in enumerate(item) if token.text in CLOSING or token.text == "="), len(item))
    return frozenset(token.text for token in item[3:end])

"""Texts and values as the language's definition has them, for the oracle."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def canonical(value: Any) -> str:
    """Every scalar has one text: strings themselves, numbers shortest, booleans `true` and `false`."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    text = format(Decimal(str(value)), "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def flattened(name: str, value: Any) -> dict[str, list[str]]:
    """Objects are flattened with dots, a list makes its argument multi-valued, `null` is absent."""
    found: dict[str, list[str]] = {}
    for leaf, text in _leaves(name, value, None):
        found.setdefault(leaf, []).extend([] if text is None else [text])
    return found


def _leaves(name: str, value: Any, beside: str | None) -> list[tuple[str, str | None]]:
    if value is None:
        return []
    if isinstance(value, dict):
        return [leaf for key, part in value.items() for leaf in _leaves(f"{name}.{key}", part, beside)]
    if isinstance(value, list):
        elements, empty = _elements(value)
        kinds = {isinstance(each, dict) for each in elements if each is not None}
        within = {True: name if len(kinds) == 2 else beside, False: beside}
        # Reading: an empty list is an argument that is there and has no value.
        return [(name, None)] * empty + [
            leaf for each in elements for leaf in _leaves(name, each, within[isinstance(each, dict)])
        ]
    return [(name, canonical(value))] + ([(beside, canonical(value))] if beside else [])


def _elements(value: list[Any]) -> tuple[list[Any], bool]:
    """The elements of a list and of the lists in it; whether one of these has no object in it."""
    found, empty = [], not any(isinstance(each, dict) for each in value)
    for each in value:
        if isinstance(each, list):
            inner, blank = _elements(each)
            found, empty = found + inner, empty or blank
        else:
            found.append(each)
    return found, empty


def unescaped(raw: str) -> str:
    """The text that a string literal denotes, for the escapes the strategies write."""
    return re.sub(r'\\(["\\ntr])', lambda m: ESCAPES.get(m[1], m[1]), raw)


def glob(pattern: str, text: str) -> bool:
    """`*` any run of characters, `?` one, `\\` escapes; the whole text."""
    if not pattern:
        return not text
    if pattern[0] == "*":
        return glob(pattern[1:], text) or (text != "" and glob(pattern, text[1:]))
    if pattern[0] == "\\" and len(pattern) > 1:
        return text[:1] == pattern[1] and glob(pattern[2:], text[1:])
    return text != "" and pattern[0] in ("?", text[0]) and glob(pattern[1:], text[1:])

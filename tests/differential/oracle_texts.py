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
    if value is None:
        return {}
    if not isinstance(value, dict | list):
        return {name: [canonical(value)]}
    found: dict[str, list[str]] = {}
    if isinstance(value, list) and not any(isinstance(v, dict) for v in value):
        found[name] = []  # Reading: an empty list is an argument that is there and has no value.
    parts = [(f"{name}.{k}", v) for k, v in value.items()] if isinstance(value, dict) else [(name, v) for v in value]
    for key, part in parts:
        for leaf, texts in flattened(key, part).items():
            found.setdefault(leaf, []).extend(texts)
    return found


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

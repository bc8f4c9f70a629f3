"""Data inside a prompt: JSON that cannot be taken for the prompt's own text."""

from __future__ import annotations

import json

from vigil_lang.diagnostics.visible import safe_json_text


def quoted(value: object) -> str:
    """JSON on one line without `<`, which begins the marks of a prompt, and with invisible characters as escapes.

    It reads back as the same value. Lone surrogates are escaped, too, so that it can be sent as UTF-8.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return safe_json_text(text, "utf-8").replace("<", "\\u003c")


def within(mark: str, text: str) -> str:
    """A text between marks that nothing in it can close, if it is made of `quoted` parts."""
    return f"<{mark}>\n{text}\n</{mark}>"

"""The escapes of ``$'…'``."""

from __future__ import annotations

import re

from vigil_lang.patterns import regex

_ESCAPE = regex(
    r"\\(?:(?P<simple>[abeEfnrtv\\'\"?])|x(?P<hex>[0-9A-Fa-f]{1,2})|u(?P<u>[0-9A-Fa-f]{1,4})"
    r"|U(?P<U>[0-9A-Fa-f]{1,8})|(?P<octal>[0-7]{1,3})|c(?P<control>.))",
    re.DOTALL,
)
_SIMPLE = dict(zip("abeEfnrtv\\'\"?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))


def unescape(text: str) -> str:
    r"""The characters that a text with escapes such as ``\n``, ``\x41`` and ``\u00e9`` means, up to a NUL."""
    return _ESCAPE.sub(_meaning, text).partition("\0")[0]


def _meaning(escape: re.Match[str]) -> str:
    digits = escape["hex"] or escape["u"] or escape["U"]
    if escape["simple"]:
        return _SIMPLE[escape["simple"]]
    if escape["control"]:
        return chr(ord(escape["control"].upper()) & 0x1F)
    code = int(digits, 16) if digits else int(escape["octal"], 8) & 0xFF
    return chr(code) if code < 0x110000 else "\ufffd"

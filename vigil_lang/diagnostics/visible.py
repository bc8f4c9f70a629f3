"""Untrusted text made fit to be shown: secrets are masked, and what would act on a terminal, hide or reorder text is
written out instead. All that verbs, reports, screens and pages show goes through here."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from vigil_lang.diagnostics.secrets import masked, masked_value, may_have
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

# Controls, format characters (bidi controls, zero-width joiners, soft hyphens, tags), line separators, lone
# surrogates, and letters that are drawn as nothing.
_UNSAFE = regex(
    "[\x00-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_UNSAFE_RUN = regex(f"{_UNSAFE.pattern}+")
# What may not stand in a policy: control characters and the marks that reorder, hide or smuggle text, for what a
# reviewer sees must be what is parsed. A carriage return is one unless it ends a line; the last range holds tags and
# variation selectors.
HIDDEN = regex(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]|\r(?!\n)"
)

_UNSAFE_IN_JSON = regex(_UNSAFE.pattern.replace("\x00-\x1f", ""))
_NOT_ASCII = regex("[^\x00-\x7f]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    """The text on one line, with secrets masked and control characters as `\\n`, `\\x1b` and `\\u{202e}`."""
    return escaped(masked(text))


def visible_lines(text: str) -> str:
    """A text as `visible` has it, in its lines."""
    return "\n".join(map(escaped, masked(text).split("\n")))


def escaped(text: str) -> str:
    """A text that is masked, on one line, with control characters as `\\n`, `\\x1b` and `\\u{202e}`."""
    return text if text.isascii() and text.isprintable() else _UNSAFE.sub(_escape, text)


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """The text as `visible` has it, in pieces: each with whether it stands for hidden characters."""
    text, at = masked(text), 0
    for match in _UNSAFE_RUN.finditer(text):
        if match.start() > at:
            yield text[at : match.start()], False
        yield _UNSAFE.sub(_escape, match[0]), True
        at = match.end()
    if at < len(text):
        yield text[at:], False


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    if char in _SHORT:
        return _SHORT[char]
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}"


def safe_json(value: object) -> str:
    """JSON on one line that a terminal can show; it reads back as the same value, but for secrets, which are masked."""
    import json

    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if may_have(text):
        text = json.dumps(masked_value(value), ensure_ascii=False, separators=(",", ":"))
    return safe_json_text(text)


def safe_json_text(text: str, encoding: str | None = None) -> str:
    """JSON with what must not reach a terminal, or cannot be written to it, as escapes inside its strings.

    `encoding` is that of standard output if None. What the log of a job on GitHub takes for a command is one no more.
    """
    text = text.replace("##[", "#\\u0023[")
    if text.isascii() and "\x7f" not in text:
        return text
    encoding = encoding or getattr(sys.stdout, "encoding", None) or "utf-8"
    unsafe = _UNSAFE_IN_JSON if encoding.lower().startswith("utf") else _NOT_ASCII
    return unsafe.sub(_escape_json, text)


def _escape_json(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def shown_path(path: str) -> str:
    """A path as it is shown to a person: relative where it lies below the working directory."""
    try:
        here = os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118 - texts, which need no import of pathlib
    except OSError:  # the working directory is gone
        return visible(path)
    return visible(path.removeprefix(here) or path)


def as_argument(path: str) -> str:
    """A path as a word of a command that a person may copy: quoted for a shell, and no option."""
    import shlex  # late: most calls suggest nothing

    shown = shown_path(path)
    return shlex.quote(f"./{shown}" if shown.startswith("-") else shown)

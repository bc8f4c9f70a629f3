"""Markdown of text that others wrote: documentation as prose without links, images or HTML; and as plain text."""

from __future__ import annotations

import re

from vigil_lang.diagnostics.visible import visible_lines
from vigil_lang.report.markdown import code

# What makes emphasis, links, images, HTML, entities, headings, tables and mail addresses; and what makes a bare
# address a link.
_ACTIVE = re.compile(r"[\\`*_\[\]<>#|~&@]|(?<=[A-Za-z]):(?=//)|(?<=[Ww]{3})\.")
_LINE_START = re.compile(r"^(\s*)([-+=])|^(\s*\d+)([.)])", re.MULTILINE)
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_FENCE = re.compile(r"^(`{3,})[^\n]*\n(.*?)\n\1$", re.MULTILINE | re.DOTALL)
_ESCAPED = re.compile(r"\\([\\`*_\[\]<>#|~&@:.)+=-])")
_STRONG = re.compile(r"\*\*(.+?)\*\*")
_LONGEST = 4_000


def prose(text: str) -> str:
    """Documentation as Markdown that is only text, paragraphs and code; long ones are cut."""
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    parts: list[str] = []
    at = 0
    for found in _SPAN.finditer(text):
        parts += (_escaped(text[at : found.start()]), code(" ".join(found[2].split())))
        at = found.end()
    whole = "".join([*parts, _escaped(text[at:])])
    return _LINE_START.sub(lambda found: f"{found[1] or found[3] or ''}\\{found[2] or found[4]}", whole)


def sentence(text: str) -> str:
    """Likewise, on one line: what stands in a list, a heading, or within a sentence."""
    return prose(" ".join(text.split()))


def _escaped(text: str) -> str:
    lines = visible_lines(text)
    return _ACTIVE.sub(lambda found: f"\\{found[0]}", lines)


def plain(markdown: str) -> str:
    """What `prose` and `report.markdown` write, for a client that shows plain text."""
    parts: list[str] = []
    at = 0
    for found in _FENCE.finditer(markdown):
        parts += (_without_marks(markdown[at : found.start()]), found[2])
        at = found.end()
    return "".join([*parts, _without_marks(markdown[at:])])


def _without_marks(text: str) -> str:
    parts: list[str] = []
    at = 0
    for found in _SPAN.finditer(text):
        if found.start() and text[found.start() - 1] == "\\":
            continue
        inner = found[2]
        padded = inner.startswith(" ") and inner.endswith(" ") and inner.strip()
        parts += (_unescaped(text[at : found.start()]), inner[1:-1] if padded else inner)
        at = found.end()
    return "".join([*parts, _unescaped(text[at:])])


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(r"\1", _STRONG.sub(r"\1", text))

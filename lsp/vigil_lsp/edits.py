"""From one text to another with few changes, as the protocol has them."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lang.diagnostics import Edit, Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vigil_lsp.text import Text

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MOST = 4_000
"""Changed lines that are compared: the time grows with the square of their number."""


def line_edits(old: str, new: str) -> list[Edit]:
    """The changes of whole lines that make one text another; lines that are the same stay out of them."""
    if old == new:
        return []
    before, after = _LINE.findall(old), _LINE.findall(new)
    start, most = 0, min(len(before), len(after))
    while start < most and before[start] == after[start]:
        start += 1
    end = 0
    while end < most - start and before[-1 - end] == after[-1 - end]:
        end += 1
    at = sum(map(len, before[:start]))
    before, after = before[start : len(before) - end], after[start : len(after) - end]
    if len(before) + len(after) > _MOST:
        return [Edit(Span(at, at + sum(map(len, before))), "".join(after))]
    places = [at]
    for line in before:
        places.append(places[-1] + len(line))
    return [
        Edit(Span(places[first], places[last]), "".join(after[from_:to]))
        for tag, first, last, from_, to in SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        if tag != "equal"
    ]


def with_line_ends(new: str, old: str) -> str:
    """A text whose lines end as those of another do: an editor decides on that for a document as a whole."""
    return new.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in old else new


def to_protocol(edits: Iterable[Edit], text: Text) -> list[types.TextEdit]:
    """Edits with ranges, their lines ending as those of the text do."""
    return [types.TextEdit(text.range(edit.span), with_line_ends(edit.text, text.line_end)) for edit in edits]


def touching(span: Span, spans: Sequence[Span]) -> list[int]:
    """The indices of the spans that another one touches."""
    return [at for at, one in enumerate(spans) if one.start <= span.end and span.start <= one.end]


def range_as_json(place: types.Range) -> dict[str, dict[str, int]]:
    """A range in an answer that the protocol does not know of."""
    ends = (("start", place.start), ("end", place.end))
    return {name: {"line": at.line, "character": at.character} for name, at in ends}

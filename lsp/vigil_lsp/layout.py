"""Policies laid out as `vigil fmt` does, as a whole and in part; and where a new line begins."""

from __future__ import annotations

import logging
from itertools import groupby
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Edit, InputError, Source, Span, apply_edits
from vigil_lang.syntax.format import FormatError, format_text
from vigil_lang.syntax.layout import INDENT
from vigil_lang.syntax.parse import parse
from vigil_lang.syntax.scan import CLOSING, COMMENTS, OPENING, Token
from vigil_lsp.cursor import documented, header, token_index
from vigil_lsp.edits import line_edits, touching, with_line_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.syntax.leaves import Spelling
    from vigil_lsp.reading import Reading

_LOG = logging.getLogger(__name__)
_GOES_ON = frozenset({"=", ":", "and", "or", "implies", "after", "∧", "∨", "⇒", "not", "¬", "always", "□"})
_HEADER = "policy p\n\n"
"""Put above an item that is formatted alone: the first item of a file has a layout of its own."""


def whole(source: Source, spelling: Spelling) -> list[Edit]:
    """The edits that `vigil fmt` would make; none where the policy has syntax errors, which it leaves as it is."""
    text = _formatted(source, spelling)
    return [] if text is None else line_edits(source.text, with_line_ends(text, source.text))


def _formatted(source: Source, spelling: Spelling) -> str | None:
    try:
        return format_text(source, spelling=spelling)
    except InputError:
        return None
    except FormatError as error:  # a fault of the formatter, which shows no edits that it cannot answer for
        _LOG.error("%s: %s", source.path, error)
        return None


def part(reading: Reading, span: Span, spelling: Spelling) -> list[Edit]:
    """The edits that lay out the items a span touches; what did not parse, there and elsewhere, stays as it is."""
    source, text = reading.source, reading.source.text
    file = reading.file
    places = [(documented(item, reading.tokens, text), True) for item in file.items]
    places += [(broken, False) for broken in file.broken]
    if file.name is not None:
        places.append((header(file, reading.tokens), True))
    places.sort()
    # A selection of whole lines ends where the next item begins, and does not mean that.
    wanted = Span(span.start, max(span.start, span.end - 1))
    touched = [places[at] for at in touching(wanted, [place for place, _ in places])]
    edits: list[Edit] = []
    for parsed, run in groupby(touched, lambda place: place[1]):
        if parsed:
            spans = [place for place, _ in run]
            edits += _stretch(reading, spans[0].start, _line_end(reading, spans[-1].end), spelling)
    return edits if edits and _says_the_same(source, edits) else []


def _line_end(reading: Reading, end: int) -> int:
    """The end of an item with the comment that ends its line."""
    text, tokens = reading.source.text, reading.tokens
    at = token_index(tokens, end)
    after = None if at is None else next((t for t in tokens[at : at + 2] if t.start >= end), None)
    beside = after is not None and after.kind in COMMENTS and "\n" not in text[end : after.start]
    return after.end if beside and after is not None else end


def _stretch(reading: Reading, start: int, end: int, spelling: Spelling) -> list[Edit]:
    text = reading.source.text
    opens = reading.file.name is not None and start <= header(reading.file, reading.tokens).start
    above = "" if opens or not text[:start].strip() else _HEADER
    formatted = _formatted(Source(reading.source.path, above + text[start:end]), spelling)
    if formatted is None or not formatted.startswith(above):
        return []
    new = with_line_ends(formatted.removeprefix(above).rstrip("\n"), text)
    edits = line_edits(text[start:end], new)
    return [Edit(Span(edit.span.start + start, edit.span.end + start), edit.text) for edit in edits]


def _says_the_same(source: Source, edits: Sequence[Edit]) -> bool:
    """Whether a text parses to the same items and comments, with as many broken items."""
    before, after = parse(source), parse(Source(source.path, apply_edits(source.text, edits)))
    same = before.file == after.file and len(before.file.broken) == len(after.file.broken)
    if not same:
        _LOG.error("%s: laying out a part of it changes what it says", source.path)
    return same


# --- while typing ---


def indented(reading: Reading, offset: int, typed: str) -> list[Edit]:
    """The edit that puts the line of an offset where what is typed there belongs; none where that is not certain.

    After a line break: within brackets, or where the item has to go on. After a bracket that closes and is the first
    of its line: below the line that it was opened in.
    """
    text = reading.source.text
    start = text.rfind("\n", 0, offset) + 1
    end = start
    while end < len(text) and text[end] in " \t":
        end += 1
    wanted = _new_line(reading, start, end) if typed == "\n" else _closing(reading, end)
    return [] if wanted is None or text[start:end] == wanted else [Edit(Span(start, end), wanted)]


def _new_line(reading: Reading, start: int, end: int) -> str | None:
    before = [t for t in _of_item(reading, start) if t.kind not in COMMENTS]
    if not before:
        return None
    open_at: list[Token] = []
    for token in before:
        if token.text in OPENING:
            open_at.append(token)
        elif token.text in CLOSING and open_at:
            open_at.pop()
    closes = reading.source.text[end : end + 1] in CLOSING
    if open_at:
        around = _indentation(reading, open_at[-1].start)
        return around if closes else around + ("\t" if "\t" in around else " " * INDENT)
    return " " * INDENT if before[-1].text in _GOES_ON and before[-1].kind in ("word", "symbol") else None


def _closing(reading: Reading, at: int) -> str | None:
    text = reading.source.text
    if text[at : at + 1] not in CLOSING:
        return None
    open_at: list[Token] = []
    for token in _of_item(reading, at):
        if token.kind != "symbol":
            continue
        if token.text in OPENING:
            open_at.append(token)
        elif token.text in CLOSING and open_at:
            open_at.pop()
    if not open_at or OPENING[open_at[-1].text] != text[at]:
        return None
    return _indentation(reading, open_at[-1].start)


def _of_item(reading: Reading, end: int) -> list[Token]:
    """The tokens before an offset, from where the last item before it begins."""
    starts = [item.span.start for item in reading.file.items] + [span.start for span in reading.file.broken]
    start = max((at for at in starts if at < end), default=0)
    return [token for token in reading.tokens if start <= token.start and token.end <= end]


def _indentation(reading: Reading, offset: int) -> str:
    """What the line of an offset begins with."""
    text = reading.source.text
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]

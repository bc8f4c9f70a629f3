"""Markdown within a paragraph: taken away, with every character's place kept."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.diagnostics import Span

_TAGS = (
    "a|abbr|b|blockquote|br|caption|center|code|dd|del|details|div|dl|dt|em|font|h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|"
    "pre|q|s|samp|small|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul|var"
)
_APART = re.compile(
    r"</?(?:blockquote|caption|center|d[dlt]|details|div|h[1-6]|hr|li|[ou]l|p|pre|summary|table|tbody|td|th|thead|tr)\b"
    r"|<br\b(?![^<>]*>[\s*_\"'(\[]*(?-i:[a-z]))",
    re.IGNORECASE,
)
"""Tags between texts that stand apart. `<br>` is one unless the text after it goes on with a small letter."""

# Every alternative is bounded, so that a hostile line costs its length times a constant.
_MARK = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`+)"
    r"|!?(?P<open>\[)(?P<shown>[^\[\]`]{0,600}(?:`[^`\n]{0,200}`[^\[\]`]{0,200}){0,8})\]"
    r"(?:\([^()\s]{0,1500}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?(?:\s+\"[^\"\n]{0,200}\")?\)|\[[^\[\]]{0,200}\])"
    rf"|(?P<tag></?(?:{_TAGS})\b[^<>]{{0,400}}>)"
    r"|<(?P<auto>(?:https?://|mailto:)[^<>\s]{1,1500})>"
    r"|(?P<stars>\*+)|(?P<lines>_+)|(?P<struck>~~)"
    r"|(?P<entity>&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});)"
    r"|(?P<space>\s{2,}|[^\S ])"
)
_ESCAPED_BAR = re.compile(r"\\(?=\|)")


@dataclass(frozen=True, slots=True)
class Plain:
    """A text without Markdown. Piece i of it begins at `starts[i]` and came from `places[i]` of the source on.

    At each of `breaks` a tag parts it: no sentence goes on there.
    """

    text: str
    starts: Sequence[int]
    places: Sequence[int]
    breaks: Sequence[int] = ()

    def place(self, at: int) -> int:
        """Where in the source a character stands."""
        piece = max(bisect_right(self.starts, at) - 1, 0)
        return self.places[piece] + at - self.starts[piece] if self.starts else 0


def plain(text: str, pieces: Sequence[Span], *, in_table: bool = False) -> Plain:
    """The lines of one paragraph or cell, given by their places in a text, as one line without Markdown."""
    raw = "\n".join(text[p.start : p.end] for p in pieces)
    if _MARK.search(raw) is None:
        return Plain(raw, [0], [pieces[0].start])
    starts, at = [], 0
    for piece in pieces:
        starts.append(at)
        at += piece.end - piece.start + 1
    return _Writer(raw, starts, [p.start for p in pieces], in_table).write()


class _Writer:
    def __init__(self, raw: str, line_starts: list[int], line_places: list[int], in_table: bool) -> None:
        self._raw = raw
        self._in_table = in_table
        self._lines = Plain(raw, line_starts, line_places)
        self._parts: list[str] = []
        self._starts: list[int] = []
        self._places: list[int] = []
        self._breaks: list[int] = []
        self._introduced = False
        self._size = 0
        self._ticks: dict[int, list[int]] = defaultdict(list)
        for run in re.finditer("`+", raw):
            self._ticks[len(run.group())].append(run.start())

    def write(self) -> Plain:
        """The whole without its Markdown."""
        raw, at = self._raw, 0
        link_ends: dict[int, int] = {}
        while True:
            found = _MARK.search(raw, at)
            stop = found.start() if found else len(raw)
            ended = min(link_ends, default=len(raw))
            if ended <= stop and link_ends:  # the target of a link
                self._put(raw[at:ended], at)
                at = max(link_ends.pop(ended), ended)
                continue
            self._put(raw[at:stop], at)
            if found is None:
                return Plain("".join(self._parts), self._starts, self._places, self._breaks)
            at = found.end()
            match found.lastgroup:
                case "ticks":
                    at = self._code(found)
                case "escaped":
                    self._put(found["escaped"], stop + 1)
                case "shown":
                    link_ends[found.end("shown")] = found.end()
                    at = found.start("shown")
                case "tag":
                    self._tag(found)
                case "auto":
                    self._put(found["auto"], stop + 1)
                case "stars" | "lines":
                    self._put("" if self._is_emphasis(found) else found.group(), stop)
                case "entity":
                    self._put(unescape(found.group()), stop)
                case "space":
                    self._put(" ", stop)

    def _put(self, text: str, at: int) -> None:
        if text:
            self._starts.append(self._size)
            self._places.append(self._lines.place(at))
            self._parts.append(text)
            self._size += len(text)

    def _tag(self, tag: re.Match[str]) -> None:
        apart = _APART.match(self._raw, tag.start()) is not None
        if apart or tag.group().lower().startswith("<br"):
            # What stands below a colon goes with it: `Never:<br>- push<br>- pull`.
            if apart and not self._introduced:
                self._introduced = bool(self._parts) and self._parts[-1].rstrip().endswith(":")
                self._breaks += [self._size] * (not self._introduced)
            self._put(" ", tag.start())

    def _code(self, opening: re.Match[str]) -> int:
        """Copy a code span; back quotes that none closes are what they are. Returns where to go on."""
        length, inside = len(opening.group()), opening.end()
        runs = self._ticks[length]
        after = bisect_left(runs, inside)
        if after == len(runs):
            self._put(opening.group(), opening.start())
            return inside
        content = re.sub(r"\s", " ", self._raw[inside : runs[after]])
        shown, start = f"`{content.strip()}`", 0
        place = inside + len(content) - len(content.lstrip()) - 1
        # In a cell, the backslash says only that the bar is none of the table's.
        for escape in _ESCAPED_BAR.finditer(shown) if self._in_table else ():
            self._put(shown[start : escape.start()], place + start)
            start = escape.end()
        self._put(shown[start:], place + start)
        return runs[after] + length

    def _is_emphasis(self, run: re.Match[str]) -> bool:
        """Whether stars or underscores are marks: beside a word, and underscores not within one."""
        before = self._raw[run.start() - 1 : run.start()]
        after = self._raw[run.end() : run.end() + 1]
        if not before.strip() and not after.strip():
            return False
        if run.lastgroup == "lines":
            return not ((before.isalnum() or before == "_") and after.isalnum())
        # `2*3` is a product and `*.md` a glob; two stars are emphasis wherever they stand.
        return len(run.group()) > 1 or not ((before.isdigit() and after.isdigit()) or after in (".", "*", "/"))

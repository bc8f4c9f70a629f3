"""What a file parsed to when it was last read, so that after an edit only what changed is parsed anew.

No token goes over the end of a line, so the lines an edit leaves alone keep their tokens. Where an item begins, the
word that begins it settles where the next one does, whatever stands before. And what an item parses to depends on its
own text, not on its place.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from msgspec import Struct

from vigil_lang.diagnostics.diagnostic import Diagnostic, Source
from vigil_lang.syntax import scan
from vigil_lang.syntax.items import item_heads
from vigil_lang.syntax.moved import moved, moved_finding
from vigil_lang.syntax.scan import COMMENTS, ITEM_WORDS, TEST, TokenList

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.syntax.items import Head, Segment
    from vigil_lang.syntax.scan import Token

_BEGINNINGS = ITEM_WORDS | {TEST}

_Key: TypeAlias = "tuple[str, int, bool]"
"""The text of a segment, which of its tokens is the head, and whether it opens the file."""


class Read(Struct, frozen=True, gc=False):
    """What one segment of a text, at `start`, parses to.

    `node` is the item, documented, or the annotations and the name of a `policy` line, or why there is neither.
    `doc` are the words about it and `file_doc` those about the file; `misplaced` finds more among its tokens.
    """

    start: int
    node: Any
    doc: str | None
    file_doc: str | None
    misplaced: tuple[Diagnostic, ...]


class Memory:
    """The last text of one file: its tokens, where its items begin and what they parse to. Nothing older is used.

    Whoever parses with it is the only one to do so at that time.
    """

    def __init__(self) -> None:
        self.heads: list[Head] = []
        """Where items begin in the last text."""
        self._source = Source("", "")
        self._tokens = TokenList.of([])
        self._last: dict[_Key, Read] = {}
        self._read: dict[_Key, Read] = {}

    def tokens(self, source: Source, limit: int) -> TokenList:
        """The tokens of the next text. More of them than the limit are no text to remember, and may be left out."""
        text, old, change = source.text, self._tokens, _change(self._source.text, source.text)
        first, last = old.first_from(change.start), old.first_from(change.old_end)
        scanned = scan.tokens(text, limit + 1, change.start, change.new_end)
        found = old.edited(first, last, scanned, change.new_end - change.old_end)
        if len(found) > limit:
            self._source, self._tokens, self.heads = Source("", ""), TokenList.of([]), []
        else:
            self.heads = self._heads_after(text, found, first, last)
            self._source, self._tokens = source, found
        self._last, self._read = self._read, {}
        return found

    def read(self, segment: Segment, opens: bool, parse: Callable[[Segment, bool], Read]) -> Read:
        """What a segment of the text parses to; by `parse`, where none with its text did in the text before."""
        start, end = segment.span
        key = self._source.text[start:end], segment.head - segment.first, opens
        known = self._last.get(key)
        read = parse(segment, opens) if known is None else _at(known, start, self._source)
        self._read[key] = read
        return read

    def _heads_after(self, text: str, found: TokenList, first: int, last: int) -> list[Head]:
        """Where items begin, the old tokens from `first` to `last` having been replaced.

        They begin where they did as far as the tokens are the same that tell so: an item word and the two after it.
        From the first item behind the change that began there before, too, all goes on as it did.
        """
        old, by = self.heads, len(found) - len(self._tokens)
        at = bisect_left(old, first, key=_head) - 1
        while at >= 0 and not _is_settled(self._tokens[old[at][1] : first]):
            at -= 1
        heads = old[: at + 1]
        for start, head in item_heads(text, found, old[at][1] if at >= 0 else None):
            heads.append((start, head))
            if head >= last + by:
                same = bisect_left(old, head - by, key=_head)
                if same < len(old) and old[same][1] == head - by:
                    return heads + [(start + by, head + by) for start, head in old[same + 1 :]]
        return heads


def _head(head: Head) -> int:
    return head[1]


def _is_settled(found: list[Token]) -> bool:
    """Whether the tokens begin with an item word and suffice to tell that it begins an item."""
    return found[0].text in _BEGINNINGS and sum(token.kind not in COMMENTS for token in found) > 2


def _at(read: Read, start: int, source: Source) -> Read:
    """The same of a segment with that text elsewhere; what is found is found in the new source."""
    by, node, misplaced = start - read.start, read.node, read.misplaced
    if isinstance(node, Diagnostic):
        node = moved_finding(node, source, by)
    elif by:
        node = moved(node, by)
    elif not misplaced:
        return read
    misplaced = misplaced and tuple([moved_finding(found, source, by) for found in misplaced])
    return Read(start, node, read.doc, read.file_doc, misplaced)


class _Change(NamedTuple):
    """Whole lines from `start` to `old_end` that became those from `start` to `new_end`; the others are the same."""

    start: int
    old_end: int
    new_end: int


def _change(old: str, new: str) -> _Change:
    same = _common(old, new, min(len(old), len(new)))
    start = new.rfind("\n", 0, same) + 1
    rest = _common(old[::-1], new[::-1], min(len(old), len(new)) - same)
    new_end = new.find("\n", len(new) - rest) + 1 or len(new)
    return _Change(start, new_end - len(new) + len(old), new_end)


def _common(old: str, new: str, limit: int) -> int:
    """How many characters two texts have in common at their start, the limit at most."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low

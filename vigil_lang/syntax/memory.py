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
    """What one segment of a text, at `start` and so long, parses to.

    `head` says which of its tokens is the head, and `opens` whether it opens the file. `node` is the item, documented,
    or the annotations and the name of a `policy` line, or why there is neither. `doc` are the words about it and
    `file_doc` those about the file; `misplaced` finds more among its tokens.
    """

    start: int
    length: int
    head: int
    opens: bool
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
        self._reads: list[Read | None] = []
        """What each segment of the last text parses to, as far as it was read."""
        self._known: list[Read | None] = []
        """By the segments of this text, what those that are the same parsed to in the one before."""
        self._edited: dict[_Key, Read] = {}
        """What the others parsed to, by their texts."""
        self._last: tuple[str, list[Read | None]] = "", []
        self._same = _Same(None, 0, 0)

    def tokens(self, source: Source, limit: int) -> TokenList:
        """The tokens of the next text. More of them than the limit are no text to remember, and may be left out."""
        text, old, change = source.text, self._tokens, _change(self._source.text, source.text)
        first, last = old.first_from(change.start), old.first_from(change.old_end)
        scanned = scan.tokens(text, limit + 1, change.start, change.new_end)
        by = change.new_end - change.old_end
        found = old.edited(first, last, scanned, by)
        if len(found) > limit:
            self._source, self._tokens, self.heads, self._reads = Source("", ""), TokenList.of([]), [], []
            return found
        self.heads, before, behind = self._heads_after(text, found, first, last)
        self._last, self._same = (self._source.text, self._reads), _Same(before, behind, by)
        self._source, self._tokens, self._reads = source, found, []
        return found

    def begin(self, count: int) -> None:
        """The text is cut into so many segments, which are read in order."""
        (text, old), (before, behind, by) = self._last, self._same
        if before is not None:
            before += count - len(self.heads)  # what stands before the first item
        else:
            before = 0
        if len(old) < before + behind:  # the last text was not read
            before = behind = 0
        middle = [one for one in old[before : len(old) - behind] if one is not None]
        self._edited = {(text[one.start : one.start + one.length], one.head, one.opens): one for one in middle}
        self._known = [*old[:before], *[None] * (count - before - behind), *old[len(old) - behind :]]
        self._last, self._same, self._reads = ("", []), _Same(before, behind, by), [None] * count

    def read(self, at: int, segment: Segment, opens: bool, parse: Callable[[Segment, bool], Read]) -> Read:
        """What a segment of the text parses to, given its place among them.

        By `parse`, where none with its text did in the text before.
        """
        source, (known, self._known[at]) = self._source, (self._known[at], None)
        if known is not None and known.opens == opens:
            start = known.start + (self._same.by if at >= len(self._known) - self._same.behind else 0)
        else:
            start, end = segment.span
            known = self._edited.get((source.text[start:end], segment.head - segment.first, opens))
        self._reads[at] = read = parse(segment, opens) if known is None else _at(known, start, source)
        return read

    def _heads_after(self, text: str, found: TokenList, first: int, last: int) -> tuple[list[Head], int | None, int]:
        """Where items begin, the old tokens from `first` to `last` having been replaced, and how many of them at the
        start (None: not even what is before them) and at the end have the same text.

        They begin where they did as far as the tokens are the same that tell so: an item word and the two after it.
        From the first item behind the change that began there before, too, all goes on as it did.
        """
        old, by = self.heads, len(found) - len(self._tokens)
        at = bisect_left(old, first, key=_head) - 1
        while at >= 0 and not _is_settled(self._tokens[old[at][1] : first]):
            at -= 1
        heads, before = old[: at + 1], at if at >= 0 else None
        for start, head in item_heads(text, found, old[at][1] if at >= 0 else None):
            heads.append((start, head))
            if head >= last + by:
                same = bisect_left(old, head - by, key=_head)
                if same < len(old) and old[same][1] == head - by:
                    behind = [(start + by, head + by) for start, head in old[same + 1 :]]
                    return heads + behind, before, len(behind)
        return heads, before, 0


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
    return Read(start, read.length, read.head, read.opens, node, read.doc, read.file_doc, misplaced)


class _Same(NamedTuple):
    """How many segments at the start and at the end of a text are the same, and how far the latter have moved.

    None: not even what stands before the first item.
    """

    before: int | None
    behind: int
    by: int


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

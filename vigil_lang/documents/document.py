"""What a document is once it has been read."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from vigil_lang.english.words import words

if TYPE_CHECKING:
    from vigil_lang.diagnostics import Source, Span

Kind: TypeAlias = Literal["prose", "item", "cell", "heading"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence without its Markdown; names in code quotes keep their back quotes.

    `span` is where it stands in the document's source. `headings` are those it stands under, outermost first; for a
    cell of a table the last one is its column's, or empty. `lead` is the sentence with a colon that introduces its
    list, and for a cell the first one of its row. One that `continues` has another sentence before it in its item, its
    cell or its paragraph.
    """

    text: str
    kind: Kind
    span: Span
    headings: tuple[str, ...] = ()
    lead: str = ""
    continues: bool = False


class Passage(NamedTuple):
    """A run of words: where its first and its last one stand among all words of the document."""

    start: int
    end: int


@dataclass(frozen=True)
class Document:
    """A document as sentences in order.

    `texts` are all its parts in order, code and front matter too, each with the index of the sentence it is, or None.
    `code` and `comments` are where it has blocks of code (or front matter), and comments: no sentence is read there.
    """

    source: Source
    sentences: tuple[Sentence, ...]
    texts: tuple[tuple[str, int | None], ...] = field(default=(), repr=False)
    code: tuple[Span, ...] = ()
    comments: tuple[Span, ...] = ()

    @cached_property
    def words(self) -> str:
        """All words of the document, a space before and after each: what passages are looked up in."""
        return self._words[0]

    @cached_property
    def vocabulary(self) -> tuple[frozenset[str], ...]:
        """The words of each sentence."""
        return tuple(frozenset(words(sentence.text[:2000])) for sentence in self.sentences)

    @cached_property
    def _words(self) -> tuple[str, list[int], list[int | None]]:
        parts, starts, owners, at = [" "], [], [], 1
        for text, owner in self.texts:
            if found := " ".join(words(text)):
                starts.append(at)
                owners.append(owner)
                parts += (found, " ")
                at += len(found) + 1
        return "".join(parts), starts, owners

    def sentences_in(self, passage: Passage) -> list[tuple[int, int]]:
        """The sentences a passage has words of: the index of each, and how many characters of words it shares."""
        text, starts, owners = self._words
        found = []
        at = bisect_right(starts, passage.start) - 1
        while 0 <= at < len(starts) and starts[at] < passage.end:
            end = starts[at + 1] - 1 if at + 1 < len(starts) else len(text) - 1
            owner = owners[at]
            if owner is not None:
                found.append((owner, min(end, passage.end) - max(starts[at], passage.start)))
            at += 1
        return found

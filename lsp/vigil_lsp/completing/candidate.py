"""A completion candidate, and the protocol's items made of candidates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from lsprotocol.types import CompletionItemKind as Kind
from msgspec import Struct

from vigil_lang.diagnostics import Edit, Span
from vigil_lsp.edits import to_protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lsp.completing.place import Place
    from vigil_lsp.text import Text

MOST = 100
"""Items that one answer has."""


class Candidate(Struct, frozen=True, gc=False):
    """What is written is `text`, or `snippet` where the editor knows those; `raw` between the quotes of a string that
    is there already (None: it is nothing for a string).

    `group` puts the likelier ones first; in a group they stay in order. `about` is what `resolve` tells more of.
    `adds` is what has to be written elsewhere for it, `ends` the characters that also accept it.
    """

    label: str
    kind: Kind
    text: str
    group: int
    detail: str = ""
    snippet: str = ""
    raw: str | None = None
    filter: str = ""
    origin: str = ""
    about: tuple[str, ...] = ()
    adds: Edit | None = None
    ends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemSupport:
    """What an editor can do with an item."""

    snippets: bool = False
    replaces: bool = False
    """Items may say separately what inserting and what replacing does."""
    details: bool = False
    commits: bool = False
    shares: bool = False
    """It takes one range for all items of a list."""


def completion_list(
    candidates: Iterable[Candidate], place: Place, text: Text, abilities: ItemSupport, data: dict[str, Any]
) -> types.CompletionList:
    """The answer: each label once, the likeliest first, no more than `MOST`."""
    found = chosen(candidates, place)
    kept = [candidate for candidate in found if _fits(candidate, place.typed)] if len(found) > MOST else found
    made = _Items(place, text, abilities, data)
    items = [made.item(candidate, at) for at, candidate in enumerate(kept[:MOST])]
    defaults = types.CompletionItemDefaults(edit_range=made.range) if abilities.shares else None
    return types.CompletionList(is_incomplete=len(found) > MOST, items=items, item_defaults=defaults)


def chosen(candidates: Iterable[Candidate], place: Place) -> list[Candidate]:
    """The candidates that fit a place, in order; of two that write the same text the likelier one."""
    kept: dict[tuple[str, str | None], Candidate] = {}
    for candidate in sorted(candidates, key=lambda candidate: candidate.group):
        if place.within == "code" or candidate.raw is not None:
            kept.setdefault(
                (written(candidate, place), candidate.origin if candidate.adds is not None else None), candidate
            )
    return list(kept.values())


def written(candidate: Candidate, place: Place) -> str:
    """The plain text that an candidate puts at a place."""
    if place.within == "code" or candidate.raw is None:
        return candidate.text
    return candidate.raw if place.closed else f'{candidate.raw}"'


def _fits(candidate: Candidate, typed: str) -> bool:
    """Whether the letters that are typed come in that order, as editors filter."""
    rest = iter((candidate.filter or candidate.label).lower())
    return all(letter in rest for letter in typed.lower())


class _Items:
    """Makes the items of one answer; they share place, text and client."""

    def __init__(self, place: Place, text: Text, abilities: ItemSupport, data: dict[str, Any]) -> None:
        self.place, self.text, self.abilities, self.data = place, text, abilities, data
        whole, before = text.range(place.span), text.range(Span(place.start, place.offset))
        is_inside = abilities.replaces and place.end > place.offset
        self.range = types.EditRangeWithInsertReplace(before, whole) if is_inside else whole

    def item(self, candidate: Candidate, at: int) -> types.CompletionItem:
        """The completion item of a candidate, given its place in the list."""
        place, abilities = self.place, self.abilities
        is_snippet = abilities.snippets and bool(candidate.snippet) and place.within == "code"
        is_snippet = is_snippet and not (place.next == "(" and "(" in candidate.snippet)
        # An editor compares what stands before the cursor in the range with this.
        match = (
            candidate.raw
            if place.within == "string" and candidate.raw is not None
            else candidate.filter or candidate.label
        )
        detail = candidate.detail
        if candidate.origin and not abilities.details:
            detail = f"{detail}, {candidate.origin}" if detail else candidate.origin
        new = candidate.snippet if is_snippet else written(candidate, place)
        return types.CompletionItem(
            candidate.label,
            label_details=types.CompletionItemLabelDetails(description=candidate.origin)
            if abilities.details and candidate.origin
            else None,
            kind=candidate.kind,
            detail=detail or None,
            sort_text=f"{candidate.group:02}{at:04}",
            filter_text=match if match != candidate.label else None,
            text_edit=None if abilities.shares else self._edit(new),
            text_edit_text=new if abilities.shares and new != candidate.label else None,
            insert_text_format=types.InsertTextFormat.Snippet if is_snippet else None,
            additional_text_edits=None if candidate.adds is None else to_protocol([candidate.adds], self.text),
            commit_characters=list(candidate.ends) if abilities.commits and candidate.ends and not is_snippet else None,
            data={**self.data, "about": list(candidate.about)} if candidate.about else None,
        )

    def _edit(self, new: str) -> types.TextEdit | types.InsertReplaceEdit:
        if isinstance(self.range, types.EditRangeWithInsertReplace):
            return types.InsertReplaceEdit(new, self.range.insert, self.range.replace)
        return types.TextEdit(self.range, new)


def snippet_text(text: str) -> str:
    """A text that a snippet writes as it is."""
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


@lru_cache(maxsize=2_000)
def calling(name: str, terms: tuple[str, ...]) -> str:
    """The snippet of a call with a stop for each term."""
    stops = ", ".join(f"${{{at}:{snippet_text(term)}}}" for at, term in enumerate(terms, 1))
    return f"{snippet_text(name)}({stops or '$1'})"

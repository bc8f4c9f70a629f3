"""Something that can be written at a place, and how an editor is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from vigil_lang.diagnostics import Span
from vigil_lsp.edits import to_protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lsprotocol.types import CompletionItemKind as Kind

    from vigil_lang.diagnostics import Edit
    from vigil_lsp.completing.place import Place
    from vigil_lsp.text import Text

MOST = 100
"""Items that one answer has."""


@dataclass(frozen=True, slots=True)
class Offer:
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
class Abilities:
    """What an editor can do with an item."""

    snippets: bool = False
    replaces: bool = False
    """It tells inserting before what stands behind the cursor from replacing that."""
    details: bool = False
    commits: bool = False
    shares: bool = False
    """It takes one range for all items of a list."""


def completion_list(
    offers: Iterable[Offer], place: Place, text: Text, abilities: Abilities, data: dict[str, Any]
) -> types.CompletionList:
    """The answer: each label once, the likeliest first, no more than `MOST`."""
    found = chosen(offers, place)
    kept = [offer for offer in found if _fits(offer, place.typed)] if len(found) > MOST else found
    made = _Items(place, text, abilities, data)
    items = [made.item(offer, at) for at, offer in enumerate(kept[:MOST])]
    defaults = types.CompletionItemDefaults(edit_range=made.range) if abilities.shares else None
    return types.CompletionList(is_incomplete=len(found) > MOST, items=items, item_defaults=defaults)


def chosen(offers: Iterable[Offer], place: Place) -> list[Offer]:
    """The offers that can stand at a place, in order; of two that come to the same the likelier."""
    kept: dict[tuple[str, str | None], Offer] = {}
    for offer in sorted(offers, key=lambda offer: offer.group):
        if place.within == "code" or offer.raw is not None:
            kept.setdefault((written(offer, place), offer.origin if offer.adds is not None else None), offer)
    return list(kept.values())


def written(offer: Offer, place: Place) -> str:
    """The plain text that an offer puts at a place."""
    if place.within == "code" or offer.raw is None:
        return offer.text
    return offer.raw if place.closed else f'{offer.raw}"'


def _fits(offer: Offer, typed: str) -> bool:
    """Whether the letters that are typed come in that order, as editors filter."""
    rest = iter((offer.filter or offer.label).lower())
    return all(letter in rest for letter in typed.lower())


class _Items:
    """Makes the items of one answer, which share most of what they hold."""

    def __init__(self, place: Place, text: Text, abilities: Abilities, data: dict[str, Any]) -> None:
        self.place, self.text, self.abilities, self.data = place, text, abilities, data
        whole, before = text.range(place.span), text.range(Span(place.start, place.offset))
        is_inside = abilities.replaces and place.end > place.offset
        self.range = types.EditRangeWithInsertReplace(before, whole) if is_inside else whole

    def item(self, offer: Offer, at: int) -> types.CompletionItem:
        """An offer, the so-manieth, in the protocol's words."""
        place, abilities = self.place, self.abilities
        is_snippet = abilities.snippets and bool(offer.snippet) and place.within == "code"
        is_snippet = is_snippet and not (place.next == "(" and "(" in offer.snippet)
        # An editor compares what stands before the cursor in the range with this.
        match = offer.raw if place.within == "string" and offer.raw is not None else offer.filter or offer.label
        detail = offer.detail
        if offer.origin and not abilities.details:
            detail = f"{detail}, {offer.origin}" if detail else offer.origin
        new = offer.snippet if is_snippet else written(offer, place)
        return types.CompletionItem(
            offer.label,
            label_details=types.CompletionItemLabelDetails(description=offer.origin)
            if abilities.details and offer.origin
            else None,
            kind=offer.kind,
            detail=detail or None,
            sort_text=f"{offer.group:02}{at:04}",
            filter_text=match if match != offer.label else None,
            text_edit=None if abilities.shares else self._edit(new),
            text_edit_text=new if abilities.shares and new != offer.label else None,
            insert_text_format=types.InsertTextFormat.Snippet if is_snippet else None,
            additional_text_edits=None if offer.adds is None else to_protocol([offer.adds], self.text),
            commit_characters=list(offer.ends) if abilities.commits and offer.ends and not is_snippet else None,
            data={**self.data, "about": list(offer.about)} if offer.about else None,
        )

    def _edit(self, new: str) -> types.TextEdit | types.InsertReplaceEdit:
        if isinstance(self.range, types.EditRangeWithInsertReplace):
            return types.InsertReplaceEdit(new, self.range.insert, self.range.replace)
        return types.TextEdit(self.range, new)


def snippet_text(text: str) -> str:
    """A text that a snippet writes as it is."""
    return text.replace("\\", "\\\\").replace("$", "\\$").replace("}", "\\}")


def calling(name: str, terms: Sequence[str]) -> str:
    """The snippet of a call with a stop for each term."""
    stops = ", ".join(f"${{{at}:{snippet_text(term)}}}" for at, term in enumerate(terms, 1))
    return f"{snippet_text(name)}({stops or '$1'})"

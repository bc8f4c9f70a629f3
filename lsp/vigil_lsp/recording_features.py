"""Recorded runs as documents: what became of the event on a line, and which statements speak of it or are broken by it.

The handlers of hover, definition and links pass recordings on to these functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lang.diagnostics.visible import visible
from vigil_lang.report.markdown import code
from vigil_lsp.markup import plain, sentence
from vigil_lsp.open_recordings import OpenRecordings, line_range

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lsp.files import Document
    from vigil_lsp.recordings.results import EventView, StatementNote
    from vigil_lsp.text import Text

MAX_LINKS = 2_000
"""Links of one document."""


def hover_at(
    opened: OpenRecordings, document: Document, position: types.Position, *, markdown: bool
) -> types.Hover | None:
    """What the event on a line became, the statements that speak of it, and those it violates."""
    seen = opened.seen(document)
    events = seen.lines.get(position.line) if seen is not None else None
    if not events:
        return None
    text = "\n\n---\n\n".join(described(event, opened) for event in events)
    kind = types.MarkupKind.Markdown if markdown else types.MarkupKind.PlainText
    value = types.MarkupContent(kind, text if markdown else plain(text))
    return types.Hover(value, line_range(document.text, position.line))


def described(event: EventView, opened: OpenRecordings) -> str:
    """An event as Markdown."""
    parts = [f"{code(event.id)} {code(event.text)}"]
    if event.kinds:
        parts.append(f"kinds: {', '.join(map(code, event.kinds))}")
    if event.args:
        rows = (f"- {code(name)}: {', '.join(map(code, values)) or 'no value'}" for name, values in event.args)
        parts.append("\n".join(rows))
    if event.violates:
        rows = (f"- {_linked(said, opened)}: {sentence(said.message)}" for said in event.violates)
        parts.append("**Violates**\n\n" + "\n".join(rows))
    broken = {(said.policy, said.statement) for said in event.violates}
    others = [said for said in event.mentions if (said.policy, said.statement) not in broken]
    if others:
        parts.append(f"Mentioned by {', '.join(_linked(said, opened) for said in others)}")
    elif not event.violates:
        parts.append("No statement mentions it.")
    return "\n\n".join(parts)


def _linked(said: StatementNote, opened: OpenRecordings) -> str:
    place = opened.statement(said)
    return code(said.statement) if place is None else f"[{code(said.statement)}]({_target(place)})"


def _target(place: types.Location) -> str:
    return f"{place.uri.replace('(', '%28').replace(')', '%29')}#L{place.range.start.line + 1}"


def definition_at(opened: OpenRecordings, document: Document, position: types.Position) -> list[types.Location]:
    """The statements that the event on a line violates, or else those that speak of it."""
    seen = opened.seen(document)
    events = seen.lines.get(position.line, []) if seen is not None else []
    violated = [said for event in events for said in event.violates]
    chosen = violated or [said for event in events for said in event.mentions]
    return _distinct(place for said in chosen if (place := opened.statement(said)) is not None)


def _distinct(places: Iterable[types.Location]) -> list[types.Location]:
    by_place = {(p.uri, p.range.start.line, p.range.start.character): p for p in places}
    return list(by_place.values())


async def links_in(opened: OpenRecordings, document: Document, *, tooltips: bool) -> list[types.DocumentLink]:
    """From each event at fault to the first statement it violates."""
    seen = await opened.awaited(document)
    found = []
    for line, events in sorted(seen.lines.items()) if seen is not None else ():
        said = next((said for event in events for said in event.violates), None)
        place = opened.statement(said) if said is not None else None
        if said is not None and place is not None:
            id_range = _id_range(document.text, line, events[0])
            tooltip = f"violates {visible(said.statement)}: {visible(said.message)}"
            found.append(types.DocumentLink(id_range, _target(place), tooltip if tooltips else None))
    return found[:MAX_LINKS]


def _id_range(text: Text, line: int, event: EventView) -> types.Range:
    """Where an event's id or action stands on its line; the whole line where neither does."""
    start, content = text.line_start(line), text.line(line)
    for word in _words(event):
        at = content.find(f'"{word}"')
        if at >= 0:
            return types.Range(text.position(start + at + 1), text.position(start + at + 1 + len(word)))
    return line_range(text, line)


def _words(event: EventView) -> Iterator[str]:
    yield event.id
    yield event.action

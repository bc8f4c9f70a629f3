"""Recorded runs in the editor: what became of an event, what statements say of it, what is wrong with a recording."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types
from markdown_it import MarkdownIt

from vigil_lang.diagnostics import Source
from vigil_lsp.files import Document
from vigil_lsp.open_recordings import MAX_CHARACTERS, is_recording
from vigil_lsp.recording_features import described
from vigil_lsp.recordings.results import EventView, StatementNote
from vigil_lsp.text import Text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from lsp_session import Page, Session

POLICY = """statement S: abs(Send(to = "eve"))
@severity(warning)
@message("`{x}` was not asked")
statement T: prec(Send(to = x), Ask(to = x))
"""
EVENTS = [
    {"vigil_trace": 1},
    {"event": "first", "action": "Ask", "args": {"to": "ann", "note": "𝔸 <b>[x](y)</b>"}, "status": "ok"},
    {"event": "second", "action": "Send", "args": {"to": "ann"}, "status": "ok"},
    {"event": "third", "action": "Send", "args": {"to": "eve"}, "status": "error"},
    {"event": "last", "action": "Nothing", "args": {}, "status": "ok"},
]
RUN = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in EVENTS)


def links_of(markdown: str) -> list[str]:
    """Where the links and images of a text lead; HTML in it fails the test."""
    found: list[str] = []
    reader = MarkdownIt()
    reader.validateLink = lambda _: True  # it would leave those to files out
    pending = reader.parse(markdown)
    for token in pending:
        pending += token.children or []
        assert not token.type.startswith("html"), token.content
        found += [str(value) for name, value in token.attrs.items() if name in ("href", "src")]
    return found


async def opened(session: Session, run: str = RUN) -> Page:
    """A run beside a policy that is held against it."""
    session.write("vigil.toml", 'runs = ["a.jsonl"]\n')
    session.write("p.vgl", POLICY)
    session.write("a.jsonl", run)
    session.changed("vigil.toml", "p.vgl", "a.jsonl", how=types.FileChangeType.Created)
    await session.open(POLICY)
    return await session.open(run, name="a.jsonl", language="jsonl")


async def until(ask: Callable[[], Awaitable[Any]], holds: Callable[[Any], bool]) -> Any:
    """An answer as soon as it is as wanted."""
    found = await ask()
    for _ in range(300):
        if holds(found):
            break
        await asyncio.sleep(0.05)
        found = await ask()
    return found


async def test_hover_on_an_event(session: Session) -> None:
    page = await opened(session)

    async def hover(line: int) -> types.Hover | None:
        return await page.ask(types.TEXT_DOCUMENT_HOVER, types.Position(line, 3))

    found = await until(lambda: hover(3), lambda hover: hover is not None)
    assert found is not None
    assert page.part(found.range) == page.text.splitlines()[3]
    said = found.contents.value
    assert "third" in said
    assert "Violates" in said
    assert "was not asked" in said
    first = await hover(1)
    assert first is not None
    mentioned = first.contents.value
    assert "Mentioned by" in mentioned
    assert "Violates" not in mentioned
    assert links_of(mentioned) == [f"{session.uri('p.vgl')}#L4"]
    nothing = await hover(4)
    assert nothing is not None
    assert "No statement mentions it." in nothing.contents.value
    assert await hover(0) is None
    assert await hover(99) is None


def test_messages_stay_on_the_lines_of_their_list() -> None:
    said = [
        StatementNote("p.vgl", name, message) for name, message in (("R", "Broken a\nb\n\n# H\n\n- x"), ("S", "no"))
    ]
    event = EventView(0, "e1", 1, "Do()", "Do", (), (), "ok", violates=tuple(said))

    class Nowhere:
        def statement(self, _: StatementNote) -> None:
            return None

    told = described(event, Nowhere())  # type: ignore[arg-type]  # only asked where statements are
    assert told.splitlines()[-2:] == ["- `R`: Broken a b \\# H - x", "- `S`: no"]


async def test_diagnostics_stand_at_the_events_at_fault(session: Session) -> None:
    page = await opened(session)

    def told() -> list[tuple[str, int, int]]:
        sent = session.published.get(page.uri, [])
        found = sent[-1].diagnostics if sent else []
        # The statement's name stands in the message alone: Neovim would show a code before it as well.
        assert {one.code for one in found} <= {None}
        return [(one.message.partition(":")[0], one.range.start.line, int(one.severity or 0)) for one in found]

    expected = [("S", 3, 1), ("T", 3, 2)]
    await session.until(lambda: told() == expected)
    assert told() == expected
    messages = [one.message for one in session.published[page.uri][-1].diagnostics]
    assert messages[1] == "T: `eve` was not asked"
    page.close()
    await session.until(lambda: told() == [])
    assert told() == []


async def test_definition_and_links_lead_to_the_statements(session: Session) -> None:
    page = await opened(session)

    async def definition(line: int) -> list[tuple[str, int]]:
        found = await page.ask(types.TEXT_DOCUMENT_DEFINITION, types.Position(line, 0))
        return [(session.name(place.uri), place.range.start.line) for place in found or ()]

    assert await until(lambda: definition(3), bool) == [("p.vgl", 0), ("p.vgl", 3)]
    assert await definition(2) == [("p.vgl", 3)]
    assert await definition(4) == []
    links = await page.ask(types.TEXT_DOCUMENT_DOCUMENT_LINK)
    assert [(page.part(link.range), link.target) for link in links] == [("third", f"{session.uri('p.vgl')}#L1")]


async def test_what_stands_there_unsaved_is_not_what_was_read(session: Session) -> None:
    page = await opened(session)

    async def hover() -> types.Hover | None:
        return await page.ask(types.TEXT_DOCUMENT_HOVER, types.Position(3, 3))

    def marks() -> int:
        sent = session.published.get(page.uri, [])
        return len(sent[-1].diagnostics) if sent else 0

    await until(hover, lambda hover: hover is not None)
    assert await session.until(lambda: marks() == 2)
    page.replace('"eve"', '"ann"')
    assert await hover() is None
    assert await session.until(lambda: marks() == 0)
    page.replace('"ann"}, "status": "error"', '"eve"}, "status": "error"')
    assert await hover() is not None
    assert await session.until(lambda: marks() == 2)


async def test_a_byte_order_mark_is_no_part_of_a_text(session: Session) -> None:
    page = await opened(session)
    page.close()
    session.write("a.jsonl", b"\xef\xbb\xbf" + RUN.encode())
    session.changed("a.jsonl")
    page = session.open_uri(page.uri, RUN, "jsonl")

    async def hover() -> types.Hover | None:
        return await page.ask(types.TEXT_DOCUMENT_HOVER, types.Position(3, 3))

    assert await until(hover, lambda hover: hover is not None) is not None


async def test_a_broken_recording_is_its_own_finding(session: Session) -> None:
    page = await opened(session, RUN + '{"event": "second", "action": "Twice"}\n')

    def told() -> list[tuple[str, int]]:
        sent = session.published.get(page.uri, [])
        return [(str(one.code), one.range.start.line) for one in (sent[-1].diagnostics if sent else ())]

    await session.until(lambda: told() == [("VGL602", 5)])
    assert told() == [("VGL602", 5)]
    session.write("a.jsonl", RUN)
    session.changed("a.jsonl")
    await session.until(lambda: told() == [])
    assert told() == []


async def test_a_text_that_was_not_saved_is_left_alone(session: Session) -> None:
    page = await opened(session)

    async def definition() -> object:
        return await page.ask(types.TEXT_DOCUMENT_DEFINITION, types.Position(3, 0))

    assert await until(definition, bool)
    page.change(0, 0, "\n")
    assert not await definition()


@pytest.mark.parametrize(("name", "size", "expected"), [("a.jsonl", 10, True), ("a.vgl", 10, False)])
def test_what_is_a_recording(name: str, size: int, expected: bool) -> None:
    document = Document(f"file:///{name}", f"/{name}", "x", 1, Text("x" * size), Source(name, ""))
    assert is_recording(document) is expected


def test_a_large_document_is_left_alone() -> None:
    text = Text("x" * (MAX_CHARACTERS + 1))
    assert not is_recording(Document("file:///a.jsonl", "/a.jsonl", "x", 1, text, Source("/a.jsonl", "")))
    untitled = Document("untitled:a.jsonl", "<untitled:a.jsonl", "x", 1, Text(""), Source("<untitled:a.jsonl", ""))
    assert not is_recording(untitled)

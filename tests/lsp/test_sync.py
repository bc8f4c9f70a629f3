"""Whatever an editor changes, the server has the text that the editor has."""

from __future__ import annotations

import os
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsp_edits import changes, text
from lsp_positions import edited, offset_of, position_of
from lsprotocol import types

from vigil_lang.diagnostics import Span
from vigil_lsp.files import Files
from vigil_lsp.text import Text

if TYPE_CHECKING:
    from lsp_session import Page, Session

ENCODINGS = ("utf-8", "utf-16", "utf-32")
URI = "file:///project/p.vgl"


def keeps_up(random: Random, encoding: str, notifications: int = 2) -> None:
    """Sends some notifications to the store of documents and compares the texts after each."""
    files = Files()
    files.encoding = encoding
    now = text(random)
    files.open(types.TextDocumentItem(URI, "vigil", 1, now))
    for version in range(2, 2 + random.randint(1, notifications)):
        made, now = changes(random, now, encoding, 3)
        document = types.VersionedTextDocumentIdentifier(version, URI)
        files.change(types.DidChangeTextDocumentParams(document, made))
        held = files.document(URI)
        assert held is not None
        assert (held.text.content, held.version) == (now, version)
        assert held.source.text == now


def text_keeps_up(random: Random, encoding: str) -> None:
    """The same of the text alone, which is quicker."""
    now = text(random)
    held = Text(now, encoding)
    for _ in range(random.randint(1, 2)):
        made, now = changes(random, now, encoding, 3)
        for one in made:
            held = held.changed(one)
        assert held.content == now


@pytest.mark.parametrize("part", range(10))
def test_thousands_of_sequences_of_edits(part: int) -> None:
    """Twenty thousand; a hundred thousand for `make fuzz`."""
    for number in range(10_000 if "VIGIL_FUZZ" in os.environ else 2_000):
        seed = part * 10_000 + number
        try:
            (keeps_up if number % 10 == 0 else text_keeps_up)(Random(seed), ENCODINGS[seed % 3])
        except Exception as error:
            raise AssertionError(f"with seed {seed}") from error


@settings(max_examples=300, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(ENCODINGS))
def test_sequences_that_shrink(random: Random, encoding: str) -> None:
    keeps_up(random, encoding)


@settings(max_examples=500, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(ENCODINGS))
def test_positions_and_offsets_are_each_others_inverse(random: Random, encoding: str) -> None:
    content = text(random)
    held = Text(content, encoding)
    for offset in range(len(content) + 1):
        position = position_of(content, offset, encoding)
        assert held.position(offset) == position
        back = held.offset(position)
        assert back == offset_of(content, position, encoding)
        assert back == offset or content[offset - 1 : offset + 1] == "\r\n"
    start, end = sorted(random.choices(range(len(content) + 1), k=2))
    assert held.range(Span(start, end)) == types.Range(held.position(start), held.position(end))


@pytest.mark.parametrize(
    ("position", "offset"),
    [((0, 0), 0), ((0, 1), 1), ((0, 2), 1), ((0, 3), 2), ((0, 9), 3), ((1, 0), 5), ((1, 4), 6), ((7, 0), 6)],
    ids=str,
)
def test_positions_outside_are_the_nearest_inside(position: tuple[int, int], offset: int) -> None:
    # "a𝔸b" is four units; position 2 is between the two halves of the second character.
    assert Text("a𝔸b\r\nc", "utf-16").offset(types.Position(*position)) == offset


def test_only_line_feeds_and_carriage_returns_end_a_line() -> None:
    held = Text("a\u2028b\x85c\x0bd\x0ce\x1cf\rg\r\nh\ni")
    assert [held.line(number) for number in range(held.lines)] == ["a\u2028b\x85c\x0bd\x0ce\x1cf", "g", "h", "i"]


async def shown(page: Page) -> list[types.Diagnostic]:
    """All findings of a document's current text."""
    report = await page.ask(types.TEXT_DOCUMENT_DIAGNOSTIC)
    return [types.Diagnostic(each.range, each.message, code=each.code) for each in report.items]


async def test_a_changed_document_is_like_one_just_opened(session: Session) -> None:
    """Tokens and findings name places all over a text; both are those of a fresh document with the client's text."""
    random = Random(str(session.profile))
    page = await session.open(text(random, 40), save=False)
    for batch in range(15):
        for _ in range(random.randint(1, 12)):
            page.send(*changes(random, page.text, session.encoding))
        fresh = await session.open(page.text, f"fresh{batch}.vgl", save=False)
        tokens = [await each.ask(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL) for each in (page, fresh)]
        assert tokens[0].data == tokens[1].data
        assert await shown(page) == await shown(fresh)
        fresh.close()
        if len(page.text) > 3_000:
            page.send([types.TextDocumentContentChangeWholeDocument(text="")], "")


async def test_typing_a_policy_letter_by_letter(session: Session) -> None:
    """No state on the way is a bad one to be in, and the last is as if it had been opened."""
    policy = '// 𝔸é\r\npolicy p\r\n\r\nstatement S: prec(Send(file ~ "*.𝔸"), Ask())\r\nstatement T: abs(Rm())\r\n'
    page = await session.open("")
    for offset, character in enumerate(policy):
        page.change(offset, offset, character)
    fresh = await session.open(policy, "q.vgl")
    assert await shown(page) == await shown(fresh)
    for offset in reversed(range(len(policy))):
        page.change(offset, offset + 1, "")
    assert page.text == ""
    assert await shown(page) == await shown(await session.open("", "r.vgl"))


def test_the_reference_clients_edits() -> None:
    """The harness's own arithmetic, on an example done by hand."""
    edit = types.TextEdit(types.Range(types.Position(0, 3), types.Position(1, 1)), "-")
    assert edited("a𝔸b\nc𝔸", [edit], "utf-16") == "a𝔸-𝔸"
    edit = types.TextEdit(types.Range(types.Position(0, 5), types.Position(1, 1)), "-")
    assert edited("a𝔸b\nc𝔸", [edit], "utf-8") == "a𝔸-𝔸"

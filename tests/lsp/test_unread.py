"""What cannot be read is said where it is configured, and in the lens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from lsp_session import PROFILES
from lsprotocol import types

from vigil_lsp.lenses import summary
from vigil_lsp.recordings.results import StatementResult

if TYPE_CHECKING:
    from conftest import Alone
    from lsp_session import Session

POLICY = "policy p\nstatement S: abs(Send())\n"


@pytest.mark.parametrize(
    ("violated", "unreadable", "said"),
    [((), 1, "holds in 1 of 2 runs, 1 unreadable"), (("a",), 2, "violated in 1 of 3 runs, 2 unreadable")],
)
def test_the_lens_counts_what_cannot_be_read(violated: tuple[str, ...], unreadable: int, said: str) -> None:
    assert summary(StatementResult("S", 1, violated, 1), unreadable) == f"{said} · exercised in 1"


def published(session: Session, name: str) -> list[types.Diagnostic]:
    sent = session.published.get(session.uri(name))
    return list(sent[-1].diagnostics) if sent else []


async def test_an_unreadable_run_is_said_in_the_configuration_and_the_lens(alone: Alone) -> None:
    session = await alone(PROFILES[0], begin=False)
    session.write("vigil.toml", 'runs = [\n    "good.jsonl",\n    "bad.jsonl",\n]\n')
    session.write("good.jsonl", json.dumps({"action": "Read", "args": {"to": "a"}}) + "\n")
    session.write("bad.jsonl", "{\n")
    await session.begin()
    page = await session.open(POLICY)
    assert await session.until(lambda: bool(published(session, "vigil.toml")))
    (found,) = published(session, "vigil.toml")
    assert (found.code, found.range.start.line) == ("VGL001", 2)
    assert found.message.startswith("this recording cannot be read: `bad.jsonl`: ")
    assert found.code_description is not None
    assert found.code_description.href.endswith("/codes/VGL001.md")
    whole = types.Range(page.position(0), page.position(len(POLICY)))
    hints = await page.ask(types.TEXT_DOCUMENT_INLAY_HINT, range=whole)
    assert any(hint.label == "×0" for hint in hints)
    lenses = await page.ask(types.TEXT_DOCUMENT_CODE_LENS)
    shown = [(await session.ask(types.CODE_LENS_RESOLVE, lens)).command.title for lens in lenses if lens.data]
    assert shown == ["holds in 1 of 2 runs, 1 unreadable · never exercised"]
    session.write("bad.jsonl", json.dumps({"action": "Read", "args": {"to": "a"}}) + "\n")
    session.changed("bad.jsonl")
    assert await session.until(lambda: not published(session, "vigil.toml"))


async def test_a_signature_that_cannot_be_read_is_said_where_it_is_configured(alone: Alone) -> None:
    session = await alone(PROFILES[0], begin=False)
    session.write("vigil.toml", 'runs = ["good.jsonl"]\nsignatures = [\n    "broken.json",\n    "gone.json",\n]\n')
    session.write("good.jsonl", json.dumps({"action": "Read", "args": {"to": "a"}}) + "\n")
    session.write("broken.json", "{")
    await session.begin()
    await session.open(POLICY)
    assert await session.until(lambda: len(published(session, "vigil.toml")) == 2)
    broken, gone = published(session, "vigil.toml")
    assert (broken.range.start.line, gone.range.start.line) == (2, 3)
    assert broken.message.startswith("this signature cannot be read: `broken.json`: the file ends in the middle")
    assert gone.message == "this signature cannot be read: there is no file `gone.json`"
    assert [one.code for one in published(session, "broken.json")] == ["VGL604"]
    assert not published(session, "gone.json")


async def test_a_configuration_that_cannot_be_read_is_said_at_the_policy(alone: Alone) -> None:
    session = await alone(PROFILES[0], begin=False)
    session.write("vigil.toml", "runs = [\n")
    await session.begin()
    page = await session.open(POLICY)
    found = await page.diagnostics(lambda sent: any(one.code == "VGL005" for one in sent))
    (said,) = [one for one in found if one.code == "VGL005"]
    assert page.part(said.range) == "p"
    assert said.message.startswith("the configuration `vigil.toml` is not used as a whole: ")
    session.write("vigil.toml", "")
    session.changed("vigil.toml")
    assert await page.findings() == []

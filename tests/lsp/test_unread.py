"""What cannot be read is said where it is configured, and in the lens."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from lsp_session import PROFILES
from lsprotocol import types

from vigil_lang.trace import Signature
from vigil_lang.trace.samples import Samples
from vigil_lsp.lenses import summary
from vigil_lsp.recordings.results import RunResults, StatementResult

if TYPE_CHECKING:
    from conftest import Alone
    from lsp_session import Session

POLICY = "policy p\nstatement S: abs(Send())\n"


KNOWN = RunResults(Signature({}, "observed"), Samples(), (), stale=False)


@pytest.mark.parametrize(
    ("violated", "unreadable", "unmatched", "said"),
    [
        ((), 1, 0, "holds in 1 of 2 runs, 1 unreadable"),
        (("a",), 2, 0, "violated in 1 of 3 runs, 2 unreadable"),
        ((), 0, 1, "holds in 1 run, 1 pattern matches none"),
        (("a",), 1, 2, "violated in 1 of 2 runs, 1 unreadable, 2 patterns match none"),
    ],
)
def test_the_lens_counts_what_cannot_be_read(
    violated: tuple[str, ...], unreadable: int, unmatched: int, said: str
) -> None:
    known = replace(KNOWN, unreadable=unreadable, unmatched=unmatched)
    assert summary(StatementResult("S", 1, violated, 1), known) == f"{said} · exercised in 1"


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
    pages = [one.code_description.href for one in published(session, "broken.json") if one.code_description is not None]
    assert [page.rpartition("/")[2] for page in pages] == ["VGL604.md"], "each finding leads to its page"
    assert not published(session, "gone.json")


CONFIGURATION = """runs = [
    "good.jsonl",
    "nothing/*.jsonl",
    "bad/*.jsonl",
]
[lint]
benign = ["gone.jsonl", "good.jsonl"]
baseline = "known.json"
"""


def said(session: Session, text: str) -> dict[str, tuple[str, str]]:
    """By what is underlined: the code, and the message up to the second colon."""
    lines = text.splitlines()
    return {
        lines[one.range.start.line][one.range.start.character : one.range.end.character]: (
            str(one.code),
            ":".join(one.message.split(":")[:2]),
        )
        for one in published(session, "vigil.toml")
    }


async def test_all_that_a_configuration_names_is_told_of_by_its_value(alone: Alone) -> None:
    """Wherever it stands in the text that is being written; what that text no longer names is not told of."""
    session = await alone(PROFILES[0], begin=False)
    session.write("vigil.toml", CONFIGURATION)
    session.write("good.jsonl", json.dumps({"action": "Read", "args": {"to": "a"}}) + "\n")
    for name in "abcde":
        session.write(f"bad/{name}.jsonl", "{\n")
    session.write("known.json", "{")
    await session.begin()
    await session.open(POLICY)
    bad = "5 of 5 recordings cannot be read"
    expected = {
        '"nothing/*.jsonl"': ("VGL001", "nothing matches `nothing/*.jsonl`"),
        '"bad/*.jsonl"': ("VGL001", f"{bad}: `a.jsonl`"),
        '"gone.jsonl"': ("VGL001", "there is no file or folder `gone.jsonl`"),
        '"known.json"': ("VGL009", "the baseline cannot be read: the baseline is no valid JSON"),
    }
    await session.until(lambda: said(session, CONFIGURATION) == expected, 10)
    assert said(session, CONFIGURATION) == expected
    (told,) = [one.message for one in published(session, "vigil.toml") if bad in one.message]
    assert told.endswith("; and 2 more")
    assert [f"`{name}.jsonl`: " in told for name in "abcde"] == [True, True, True, False, False]
    page = session.open_uri(session.uri("vigil.toml"), CONFIGURATION, "toml")
    page.replace('    "good.jsonl",\n', "")
    page.replace('    "bad/*.jsonl",\n', '    "new.jsonl",\n')
    page.replace('"gone.jsonl", ', "")
    page.replace("runs = [", '# a\nruns = [\n    "x.jsonl",')
    kept = {key: expected[key] for key in ('"nothing/*.jsonl"', '"known.json"')}
    assert await session.until(lambda: said(session, page.text) == kept)
    page.replace("[lint]", "fail-level = \n[lint]")  # while that is typed, the others stay
    assert await session.until(lambda: len(said(session, page.text)) == 3)
    found = said(session, page.text)
    assert {key: found[key] for key in kept} == kept
    assert [code for code, _ in found.values()].count("VGL005") == 1
    page.replace("fail-level = ", 'fail-level = "eror"')
    assert await session.until(lambda: said(session, page.text).keys() == {*kept, '"eror"'})
    page.replace("# a", "# a \n[")
    await session.until(lambda: len(said(session, page.text)) > 3)
    assert said(session, page.text).keys() >= {*kept, '"eror"'}


async def test_a_pattern_without_runs_keeps_a_verdict_from_being_sure(alone: Alone) -> None:
    session = await alone(PROFILES[0], begin=False)
    session.write("vigil.toml", 'runs = ["good.jsonl", "none/*.jsonl", "empty/"]\n')
    session.write("good.jsonl", json.dumps({"action": "Read", "args": {"to": "a"}}) + "\n")
    (session.folder / "empty").mkdir()
    await session.begin()
    page = await session.open(POLICY)
    lenses = [lens for lens in await page.ask(types.TEXT_DOCUMENT_CODE_LENS) if lens.data]
    while True:
        shown = [(await session.ask(types.CODE_LENS_RESOLVE, lens)).command.title for lens in lenses]
        if shown != ["reading the runs …"]:
            break
    assert shown == ["holds in 1 run, 1 pattern matches none · never exercised"]


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

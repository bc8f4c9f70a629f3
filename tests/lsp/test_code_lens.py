"""Lenses: what they say of a statement, what they do when clicked, and that they are told to be asked for again."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from vigil_lang.diagnostics import Source
from vigil_lang.trace import Signature
from vigil_lang.trace.samples import Samples
from vigil_lsp.lenses import command_of, summary
from vigil_lsp.recordings.results import Judged, RunResults, RunsSummary, StatementResult, located

if TYPE_CHECKING:
    from lsp_session import Page, Session

POLICY = """// 𝔸
statement S: abs(Send(to = "eve"))
statement T: prec(Send(to = x), Ask(to = x))
statement U: abs(Drop())
"""


def run_text(*calls: tuple[str, dict[str, Any]]) -> str:
    """A run in Vigil's own format."""
    lines: list[dict[str, Any]] = [{"vigil_trace": 1}]
    lines += [{"action": action, "args": args, "status": "ok"} for action, args in calls]
    return "".join(json.dumps(line) + "\n" for line in lines)


GOOD = run_text(("Ask", {"to": "ann"}), ("Send", {"to": "ann"}))
BAD = run_text(("Send", {"to": "eve"}), ("Send", {"to": "bob"}))


def test_a_result_in_words() -> None:
    known, broken = RunResults(Signature({}, "observed"), Samples(), (), stale=False), ("a", "b")
    assert summary(StatementResult("S", 14, broken, 9), known) == "violated in 2 of 14 runs · exercised in 9"
    assert summary(StatementResult("S", 1, (), 1), known) == "holds in 1 run · exercised in 1"
    assert summary(StatementResult("S", 3, (), 0), known) == "holds in 3 runs · never exercised"


def test_before_there_are_results() -> None:
    summary = RunsSummary(1, Signature({}, "observed"), Samples(), ())
    source = Source("p.vgl", POLICY)
    assert command_of("u", "S", None).title == "reading the runs …"
    assert command_of("u", "S", located(summary, None, source, [], stale=True)).title == "no runs found"
    judged = Judged("p.vgl", POLICY, 1)
    assert command_of("u", "S", located(summary, judged, source, [], stale=False)).command == ""


async def lenses(session: Session, page: Page) -> list[tuple[str, str]]:
    """The text above which each lens stands, with what it says once it is resolved."""
    found = await page.ask(types.TEXT_DOCUMENT_CODE_LENS)
    resolved = [one if one.command else await session.ask(types.CODE_LENS_RESOLVE, one) for one in found or ()]
    assert all(one.range.start.character == 0 for one in resolved)
    return [(page.part(one.range).split()[-1], one.command.title) for one in resolved]


async def until(session: Session, page: Page, expected: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The lenses as soon as they are as expected."""
    found: list[tuple[str, str]] = []
    for _ in range(200):
        found = await lenses(session, page)
        if found == expected:
            break
        await asyncio.sleep(0.05)
    return found


async def test_lenses_of_a_policy(session: Session) -> None:
    session.write("vigil.toml", 'runs = ["runs/*.jsonl"]\n')
    session.write("runs/a.jsonl", GOOD)
    session.write("runs/b.jsonl", BAD)
    session.changed("vigil.toml", how=types.FileChangeType.Created)
    page = await session.open(POLICY)
    expected = [
        ("S", "violated in 1 of 2 runs · exercised in 2"),
        ("S", "explain"),
        ("T", "violated in 1 of 2 runs · exercised in 2"),
        ("T", "explain"),
        ("U", "holds in 2 runs · never exercised"),
        ("U", "explain"),
    ]
    assert await until(session, page, expected) == expected
    page.replace('"eve"', '"bob"')
    page.replace("Drop", "Send")
    expected[4] = ("U", "violated in 2 of 2 runs · exercised in 2")
    assert await until(session, page, expected) == expected


async def test_a_comment_names_runs_and_a_changed_run_is_read_again(session: Session) -> None:
    session.write("a.jsonl", GOOD)
    page = await session.open("// runs: *.jsonl\n" + POLICY.splitlines()[1] + "\n")
    expected = [("S", "holds in 1 run · exercised in 1"), ("S", "explain")]
    assert await until(session, page, expected) == expected
    before = session.refreshed[types.WORKSPACE_CODE_LENS_REFRESH]
    session.write("a.jsonl", BAD)
    session.changed("a.jsonl")
    expected[0] = ("S", "violated in 1 of 1 run · exercised in 1")
    assert await until(session, page, expected) == expected
    if session.profile.editor == "vscode":
        assert await session.until(lambda: session.refreshed[types.WORKSPACE_CODE_LENS_REFRESH] > before)


async def test_tests_beside_a_policy(session: Session) -> None:
    session.write("p_test.vgl", 'use .p\ntest "it" { run { Send(to = "eve") } expect S satisfied }\n')
    page = await session.open(POLICY.splitlines()[1] + "\n")
    assert await lenses(session, page) == [("S", "run tests"), ("S", "explain")]
    tests = await session.open((session.folder / "p_test.vgl").read_text(), name="p_test.vgl")
    assert await lenses(session, tests) == [(".p", "run tests"), ('"it"', "run")]


async def test_hostile_lenses_are_given_back(session: Session) -> None:
    place = types.Range(types.Position(0, 0), types.Position(0, 1))
    for data in (None, 3, {"uri": 3}, {"uri": "file:///nowhere", "statement": "S", "more": []}):
        lens = await session.ask(types.CODE_LENS_RESOLVE, types.CodeLens(place, data=data))
        assert lens.range == place

"""Verdicts for editors that draw them: what they say, and that none is ever of another text than the one shown."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from lsp_session import Profile
from lsp_wire import descendants
from lsprotocol import types

from vigil_lang.diagnostics import Source
from vigil_lang.syntax import parse
from vigil_lang.trace import Signature
from vigil_lang.trace.samples import Samples
from vigil_lsp.recordings.messages import RunsLoaded
from vigil_lsp.recordings.process import RecordingsProcess
from vigil_lsp.recordings.results import Judged, RunInfo, RunResults, RunsSummary, StatementResult
from vigil_lsp.recordings.run_sources import RunSources, TrackedPolicy
from vigil_lsp.verdicts import METHOD, verdicts

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from lsp_session import Page, Session
    from lsp_wire import Wire

    Alone = Callable[..., Awaitable[Session]]

POLICY = """use .base
statement S: abs(Send(to = "eve"))
statement T:
    prec(sent(x), Ask(to = x))
statement U: abs(Drop())
"""
BASE = "pattern sent(x) = Send(to = x)\n"
RUN = RunInfo("a", "vigil", 1, "a", "a")
KNOWN = RunResults(Signature({}, "observed"), Samples(), (RUN, RUN), stale=False)


def run_text(*calls: tuple[str, dict[str, Any]]) -> str:
    lines: list[dict[str, Any]] = [{"vigil_trace": 1}]
    lines += [{"action": action, "args": args, "status": "ok"} for action, args in calls]
    return "".join(json.dumps(line) + "\n" for line in lines)


GOOD = run_text(("Ask", {"to": "ann"}), ("Send", {"to": "ann"}))
BAD = run_text(("Send", {"to": "eve"}))


@pytest.mark.parametrize(
    ("result", "unreadable", "said"),
    [
        (StatementResult("S", 2, (), 1), 0, ("holds", "✓ holds in 2 runs")),
        (StatementResult("S", 2, (), 0), 0, ("holds", "✓ holds in 2 runs · never exercised")),
        (StatementResult("S", 2, ("a",), 1), 0, ("violated", "✗ violated in 1 of 2 runs")),
        (StatementResult("S", 2, (), 1), 1, ("unreadable", "! holds in 2 of 3 runs, 1 unreadable")),
        (StatementResult("S", 2, ("a",), 1), 1, ("violated", "✗ violated in 1 of 3 runs, 1 unreadable")),
        (None, 0, ("unknown", "? not judged")),
    ],
)
def test_a_verdict(result: StatementResult | None, unreadable: int, said: tuple[str, str]) -> None:
    """What nobody could read is never said to hold."""
    file = parse(Source("p.vgl", "statement S: abs(Send())\n")).file
    known = replace(KNOWN, statements={} if result is None else {"S": result}, unreadable=unreadable)
    (partly,) = verdicts(file, replace(known, unmatched=1))
    assert partly.state == {"holds": "unreadable"}.get(said[0], said[0])
    (found,) = verdicts(file, known)
    assert (found.state, found.marked) == said
    (stale,) = verdicts(file, replace(known, stale=True))
    assert (stale.state, stale.text) == ("unknown", "reading the runs …")
    (lost,) = verdicts(file, replace(known, stale=True, lost=True))
    assert (lost.state, lost.text) == ("unreadable", "the runs can no longer be read")


def test_there_are_no_runs() -> None:
    file = parse(Source("p.vgl", "statement S: abs(Send())\n")).file
    said = [
        verdicts(file, known)[0] for known in (None, replace(KNOWN, runs=()), replace(KNOWN, runs=(), unreadable=2))
    ]
    assert [(one.state, one.text) for one in said] == [
        ("unknown", "reading the runs …"),
        ("unknown", "no runs found"),
        ("unreadable", "none of 2 runs can be read"),
    ]


# --- a client that asks for them ---


@pytest_asyncio.fixture(loop_scope="session")
async def asking(wired: Callable[[], Awaitable[Wire]], tmp_path: Any) -> Wire:
    """A client that draws verdicts, with two policies, one of which uses the other, and two runs."""
    (tmp_path / "runs").mkdir()
    for name, text in {"vigil.toml": 'runs = ["runs/"]\n', "base.vgl": BASE, "p.vgl": POLICY}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "runs" / "a.jsonl").write_text(GOOD)
    (tmp_path / "runs" / "b.jsonl").write_text(BAD)
    wire = await wired()
    params = {"processId": None, "rootUri": tmp_path.as_uri(), "capabilities": {}}
    await wire.call("initialize", {**params, "initializationOptions": {"verdicts": True}})
    wire.notify("initialized", {})
    return wire


def told(wire: Wire) -> list[dict[str, Any]]:
    """The verdicts that a client was sent."""
    return [message["params"] for message in wire.notifications if message["method"] == METHOD]


class Shown:
    """What the client shows of a document: as the extension does, nothing certain after an edit until it is told."""

    def __init__(self, wire: Wire, uri: str, text: str) -> None:
        self.wire, self.uri, self.version = wire, uri, 1
        wire.open(uri, text)

    def change(self, text: str) -> None:
        self.version += 1
        identity = {"uri": self.uri, "version": self.version}
        self.wire.notify("textDocument/didChange", {"textDocument": identity, "contentChanges": [{"text": text}]})

    @property
    def now(self) -> dict[str, str]:
        """The newest verdicts of the text as it is."""
        sent = [
            m["params"] for m in self.wire.notifications if m["method"] == METHOD and m["params"]["uri"] == self.uri
        ]
        if not sent or sent[-1]["version"] != self.version:
            return {}
        return {one["statement"]: f"{one['state']}: {one['text']}" for one in sent[-1]["verdicts"]}

    async def until(self, **expected: str) -> dict[str, str]:
        """The verdicts as soon as they are so; what is shown before never says anything else for certain."""
        while self.now != expected:
            certain = {name: said for name, said in self.now.items() if not said.startswith("unknown")}
            assert certain.items() <= expected.items()
            await self.wire.receive()
        return self.now


HOLDS, BROKEN = "holds: holds in 2 runs", "violated: violated in 1 of 2 runs"
UNUSED = "holds: holds in 2 runs · never exercised"


async def test_verdicts_are_of_the_texts_that_are_shown(asking: Wire, tmp_path: Any) -> None:
    shown = Shown(asking, (tmp_path / "p.vgl").as_uri(), POLICY)
    found = await shown.until(S=BROKEN, T=BROKEN, U=UNUSED)
    assert found == {"S": BROKEN, "T": BROKEN, "U": UNUSED}
    at = {one["statement"]: one["range"] for one in told(asking)[-1]["verdicts"]}
    assert at["T"] == {"start": {"line": 2, "character": 10}, "end": {"line": 2, "character": 11}}
    newer = POLICY.replace("eve", "nobody")
    shown.change(newer)
    assert shown.now == {}, "an edit takes away what was known"
    assert await shown.until(S=HOLDS, T=BROKEN, U=UNUSED) == {"S": HOLDS, "T": BROKEN, "U": UNUSED}
    shown.change(newer)  # the same text once more: it is known at once
    assert await shown.until(S=HOLDS, T=BROKEN, U=UNUSED) == {"S": HOLDS, "T": BROKEN, "U": UNUSED}
    module = Shown(asking, (tmp_path / "base.vgl").as_uri(), BASE)
    asking.notifications.clear()
    module.change(BASE.replace("Send", "Drop"))
    while not told(asking):
        await asking.receive()
    states = {one["statement"]: one["state"] for one in told(asking)[0]["verdicts"]}
    assert states == dict.fromkeys("STU", "unknown"), "first that it is not known, then what is"
    assert await shown.until(S=HOLDS, T=UNUSED, U=UNUSED) == {"S": HOLDS, "T": UNUSED, "U": UNUSED}
    shown.change(f"// runs: nowhere/*.jsonl\n{newer}")
    none = "unknown: no runs found"
    assert await shown.until(S=none, T=none, U=none) == {"S": none, "T": none, "U": none}


async def test_params_and_runs_that_change(asking: Wire, tmp_path: Any) -> None:
    text = "param who: text\nstatement S: abs(Send(to = who))\n"
    (tmp_path / "vigil.toml").write_text('runs = ["runs/"]\nparams = {who = "eve"}\n')
    made = {"uri": (tmp_path / "vigil.toml").as_uri(), "type": 1}  # the server may have looked before it was there
    asking.notify("workspace/didChangeWatchedFiles", {"changes": [made]})
    shown = Shown(asking, (tmp_path / "q.vgl").as_uri(), text)
    assert await shown.until(S=BROKEN) == {"S": BROKEN}
    asking.notifications.clear()
    (tmp_path / "vigil.toml").write_text('runs = ["runs/"]\nparams = {who = "nobody"}\n')
    event = {"uri": (tmp_path / "vigil.toml").as_uri(), "type": 2}
    asking.notify("workspace/didChangeWatchedFiles", {"changes": [event]})
    assert await shown.until(S=HOLDS) == {"S": HOLDS}
    (tmp_path / "runs" / "b.jsonl").write_text(run_text(("Send", {"to": "nobody"})))
    event["uri"] = (tmp_path / "runs" / "b.jsonl").as_uri()
    asking.notifications.clear()
    asking.notify("workspace/didChangeWatchedFiles", {"changes": [event]})
    assert await shown.until(S=BROKEN) == {"S": BROKEN}


async def test_runs_that_can_no_longer_be_read(asking: Wire, tmp_path: Any) -> None:
    """When the process that reads them has died for good, that is said of every text."""
    shown = Shown(asking, (tmp_path / "p.vgl").as_uri(), POLICY)
    await shown.until(S=BROKEN, T=BROKEN, U=UNUSED)
    first = descendants(asking.process.pid)
    for pid in first:
        os.kill(pid, signal.SIGKILL)
    while not (second := [pid for pid in descendants(asking.process.pid) if pid not in first]):
        await asyncio.sleep(0.02)
    for pid in second:
        os.kill(pid, signal.SIGKILL)
    await asking.notified("window/showMessage")
    lost = "unreadable: the runs can no longer be read"
    for text in (POLICY, POLICY.replace("eve", "nobody")):
        if text != POLICY:
            shown.change(text)
        while shown.now != dict.fromkeys("STU", lost):
            await asking.receive()
    said = [await one(asking, shown.uri, "S") for one in (lens_of, hover_of)]
    assert [text.lower().removesuffix(".") for text in said] == ["the runs can no longer be read"] * 2


# --- clients that are told when they ask ---


async def lens_of(wire: Wire, uri: str, statement: str) -> str:
    """What the lens of a statement says."""
    found = (await wire.call("textDocument/codeLens", {"textDocument": {"uri": uri}}))["result"]
    (lens,) = [one for one in found if (one.get("data") or {}).get("statement") == statement]
    resolved = await wire.call("codeLens/resolve", lens)
    return str(resolved["result"]["command"]["title"]).partition(" · ")[0]


async def hover_of(wire: Wire, uri: str, statement: str) -> str:
    """What the hover of a statement, which stands in the line of its letter in `POLICY`, says of the runs."""
    line = next(at for at, text in enumerate(POLICY.splitlines()) if text.startswith(f"statement {statement}"))
    params = {"textDocument": {"uri": uri}, "position": {"line": line, "character": 10}}
    said = str((await wire.call("textDocument/hover", params))["result"]["contents"]["value"])
    found = [line for line in said.splitlines() if " run" in line and line[:3] in ("The", "Hol", "Vio", "Rea")]
    return (*found, "reading the runs …")[0].partition(" · ")[0].lower()


async def hint_of(wire: Wire, uri: str, statement: str) -> str:
    """What stands at the end of a statement's line."""
    line = next(at for at, text in enumerate(POLICY.splitlines()) if text.startswith(f"statement {statement}"))
    places = [{"line": at, "character": 0} for at in (line, line + 1)]
    params = {"textDocument": {"uri": uri}, "range": {"start": places[0], "end": places[1]}}
    found = (await wire.call("textDocument/inlayHint", params))["result"]
    said = (str(one["label"])[2:] for one in found if str(one["label"])[:1] in "✓✗?!")
    return next(said, "reading the runs …").partition(" · ")[0]


REFRESHING = {"workspace": {"codeLens": {"refreshSupport": True}, "inlayHint": {"refreshSupport": True}}}


@pytest.mark.parametrize("able", [{}, REFRESHING], ids=["asks once", "asks again"])
@pytest.mark.parametrize("ask", [lens_of, hover_of, hint_of])
async def test_no_reader_is_told_what_an_older_text_came_to(
    wired: Callable[[], Awaitable[Wire]], tmp_path: Any, able: dict[str, Any], ask: Callable[..., Awaitable[str]]
) -> None:
    """Right after an edit: the verdict of this text, or that it is not known yet; the runs are few, so it is."""
    (tmp_path / "runs").mkdir()
    for name, text in {"vigil.toml": 'runs = ["runs/"]\n', "base.vgl": BASE, "runs/a.jsonl": BAD}.items():
        (tmp_path / name).write_text(text)
    wire = await wired()
    await wire.begin(tmp_path, **able)
    shown = Shown(wire, (tmp_path / "p.vgl").as_uri(), POLICY)
    base = Shown(wire, (tmp_path / "base.vgl").as_uri(), BASE)
    while await ask(wire, shown.uri, "S") != "violated in 1 of 1 run":
        pass
    for text, eve in ((POLICY.replace("eve", "nobody"), "holds in 1 run"), (POLICY, "violated in 1 of 1 run")) * 3:
        shown.change(text)
        assert await ask(wire, shown.uri, "S") in (eve, "reading the runs …")
        while await ask(wire, shown.uri, "S") != eve:
            pass
    base.change(BASE.replace("Send", "Drop"))
    assert await ask(wire, shown.uri, "T") in ("holds in 1 run", "reading the runs …")


# --- clients that do not ---


async def at_line_ends(session: Session, page: Page) -> dict[str, str]:
    """The inlay hints that begin with a mark, by their lines."""
    end = types.Position(page.text.count("\n"), 0)
    params = types.InlayHintParams(page.id, types.Range(types.Position(0, 0), end))
    found = await session.ask(types.TEXT_DOCUMENT_INLAY_HINT, params) or ()
    lines = page.text.splitlines()
    marked = [hint for hint in found if str(hint.label)[:2] in ("✓ ", "✗ ", "? ", "! ")]
    assert all(hint.position.character == len(lines[hint.position.line]) for hint in marked)
    return {lines[hint.position.line]: str(hint.label) for hint in marked}


async def test_editors_without_lenses_have_them_as_hints(alone: Alone) -> None:
    """Eglot and Helix show no code lenses; an editor that does has the verdict there."""
    session = await alone(Profile("emacs"), begin=False)
    capabilities = session.profile.params(session.root).capabilities
    assert capabilities.text_document is not None
    capabilities.text_document.code_lens = None
    await session.begin(capabilities=capabilities)
    session.write("runs/a.jsonl", BAD)
    alone_text = POLICY.replace("use .base", "// runs: runs/*.jsonl").replace("sent(x), Ask(to = x)", "Drop(), Ask()")
    page = await session.open(alone_text)
    wanted = {
        'statement S: abs(Send(to = "eve"))': "✗ violated in 1 of 1 run",
        "statement T:": "✓ holds in 1 run · never exercised",
        "statement U: abs(Drop())": "✓ holds in 1 run · never exercised",
    }
    found: dict[str, str] = {}
    for _ in range(30):
        found = await at_line_ends(session, page)
        if found:
            break
        await asyncio.sleep(0.05)
    assert found == wanted
    session.write("p_test.vgl", 'use .p\ntest "it" { run { Send() } expect S violated }\n')
    session.changed("p_test.vgl", how=types.FileChangeType.Created)

    async def offered(page: Page, text: str) -> list[str]:
        params = types.CodeActionParams(page.id, page.find(text), types.CodeActionContext([]))
        found = await session.ask(types.TEXT_DOCUMENT_CODE_ACTION, params) or ()
        return [action.title for action in found if action.command is not None]

    shown = "S: violated in 1 of 1 run · exercised in 1"
    assert await offered(page, "statement S") == ["run tests", shown, "S: explain"], "what a lens does is an action"
    tests = await session.open((session.folder / "p_test.vgl").read_text(), "p_test.vgl")
    assert await offered(tests, "test") == ['"it": run']


def test_what_was_judged_before_a_module_changed_is_not_current() -> None:
    """Though it comes in afterwards, and is of the same text."""

    def tracked(name: str, text: str) -> TrackedPolicy:
        return TrackedPolicy(name, text, RunSources(("a.jsonl",)), "/")

    recordings = RecordingsProcess()
    recordings.update([tracked("p.vgl", POLICY), tracked("base.vgl", BASE)])
    summary = RunsSummary(1, KNOWN.signature, KNOWN.samples, (RUN,))
    judged = Judged("p.vgl", POLICY, 1, needs=("base.vgl",), after=1)
    recordings._take(RunsLoaded(summary, ("p.vgl", "base.vgl"), frozenset()))
    recordings._take(judged)
    assert recordings.is_judged("p.vgl", POLICY)
    recordings.update([tracked("p.vgl", POLICY), tracked("base.vgl", "")])
    recordings._take(judged)  # it was on its way
    assert not recordings.is_judged("p.vgl", POLICY)
    recordings._take(replace(judged, after=2))
    assert recordings.is_judged("p.vgl", POLICY)
    recordings.update([tracked("p.vgl", POLICY)])
    assert not recordings.is_judged("p.vgl", POLICY), "the module is no longer the editor's"

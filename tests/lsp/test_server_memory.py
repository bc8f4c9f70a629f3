"""The server stays small and quick to answer, however long it is typed into and however large a document is."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import pytest
from lsp_wire import descendants, error

if TYPE_CHECKING:
    from conftest import Wired
    from lsp_wire import Wire

linux = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read in /proc")

SOON = 15.0
"""Seconds within which an answer is taken to have waited for nothing: busy machines and coverage included."""

SMALL = 'statement S: prec(Send(to = "𝔸"), Ask())\n'


def resident(pid: int) -> float:
    """Megabytes that a process holds."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 1e6


async def quick(wire: Wire, uri: str) -> None:
    """Asserts that what an editor asks for while somebody types is answered soon."""
    place = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 15}}
    for method in ("textDocument/hover", "textDocument/completion", "textDocument/documentHighlight"):
        started = perf_counter()
        answer = await wire.call(method, place)
        assert error(answer) is None
        assert perf_counter() - started < SOON, method


def change(wire: Wire, uri: str, version: int, line: int, text: str) -> None:
    """Types at the start of a line."""
    place = {"line": line, "character": 0}
    wire.notify(
        "textDocument/didChange",
        {
            "textDocument": {"uri": uri, "version": version},
            "contentChanges": [{"range": {"start": place, "end": place}, "text": text}],
        },
    )


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("statement S: prec(Send(), Ask())", "VGL003"),
        ("// 𝔸 " * 15, "VGL101"),
        ("((((" * 20, "VGL003"),
    ],
    ids=["statements", "comments", "brackets"],
)
async def test_a_huge_document(wired: Wired, tmp_path: Path, line: str, code: str) -> None:
    """Two megabytes are more than a policy is meant to have; nothing else waits for them long."""
    wire = await wired()
    await wire.begin(tmp_path)
    small, huge = ((tmp_path / name).as_uri() for name in ("small.vgl", "huge.vgl"))
    wire.open(small, SMALL)
    await quick(wire, small)
    wire.open(huge, (line + "\n") * (2_000_000 // (len(line) + 1)))
    await quick(wire, small)
    for version in range(2, 5):
        change(wire, huge, version, 1_000, "x")
    await quick(wire, small)
    report = await wire.call("textDocument/diagnostic", {"textDocument": {"uri": huge}})
    assert [found["code"] for found in report["result"]["items"]] == [code]


@linux
async def test_memory_while_somebody_types(wired: Wired, tmp_path: Path) -> None:
    """Each text that was is forgotten: hundreds of keystrokes leave no more behind than some caches."""
    wire = await wired()
    await wire.begin(tmp_path)
    uri = (tmp_path / "p.vgl").as_uri()
    text = "".join(
        f"/// Rule {n}.\nstatement S{n}: prec(Edit(path = x, n != {n}), Read(path = x))\n" for n in range(40)
    )
    wire.open(uri, text)
    held = []
    for version in range(2, 402):
        change(wire, uri, version, 0, f"// {version}\n" if version % 2 else "// x")
        if version % 20 == 0:
            await wire.call("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
        if version in (200, 401):
            await wire.call("textDocument/diagnostic", {"textDocument": {"uri": uri}})
            held.append(resident(wire.process.pid))
    assert held[1] - held[0] < 25
    assert held[1] < 150


@linux
async def test_memory_with_documents_that_come_and_go(wired: Wired, tmp_path: Path) -> None:
    wire = await wired()
    await wire.begin(tmp_path)
    held = []
    for number in range(120):
        uri = (tmp_path / f"p{number}.vgl").as_uri()
        wire.open(uri, "".join(f"statement S{n}: prec(Edit(path = x, n != {n}), Read(path = x))\n" for n in range(20)))
        await wire.call("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
        wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        if number in (40, 119):
            await wire.call(
                "textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
            )
            held.append(resident(wire.process.pid))
    assert held[1] - held[0] < 25


@linux
async def test_typing_does_not_wait_for_the_runs(wired: Wired, tmp_path: Path) -> None:
    """While a lot of runs are read, what is asked for is answered, before they are."""
    (tmp_path / "vigil.toml").write_text('runs = ["runs/*.jsonl"]\n')
    (tmp_path / "runs").mkdir()
    lines = [json.dumps({"action": "Edit", "args": {"path": f"f{n}", "n": n}, "status": "ok"}) for n in range(3_000)]
    for run in range(12):
        (tmp_path / "runs" / f"r{run}.jsonl").write_text("\n".join(lines[run:]) + "\n")
    wire = await wired()
    await wire.begin(tmp_path, workspace={"inlayHint": {"refreshSupport": True}})
    uri = (tmp_path / "p.vgl").as_uri()
    wire.open(uri, "statement S: prec(Edit(path = x), Read(path = x))\n")
    while not descendants(wire.process.pid):
        await asyncio.sleep(0.02)
    bounds = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
    answers = []
    for version in range(2, 22):
        change(wire, uri, version, 0, " ")
        started = perf_counter()
        hints = await wire.call("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": bounds})
        await wire.call("textDocument/completion", {"textDocument": {"uri": uri}, "position": bounds["start"]})
        assert perf_counter() - started < SOON
        labels = [hint["label"] for hint in hints["result"]]
        answers.append(any("×" in str(label) for label in labels))
        await asyncio.sleep(0.02)
    assert not answers[0], "the first answers come before the runs are known"
    for _ in range(600):
        hints = await wire.call("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": bounds})
        if any("×" in str(hint["label"]) for hint in hints["result"]):
            return
        await asyncio.sleep(0.1)
    raise AssertionError("the runs were never known")

"""Inlay hints: match counts, types of variables, and the severity that a statement has without saying so."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lang.diagnostics import Span
from vigil_lang.runs import read_trace
from vigil_lang.syntax import tree
from vigil_lang.trace import observe
from vigil_lang.trace.samples import sampled
from vigil_lsp.features.inlay_hint import hints
from vigil_lsp.files import Files
from vigil_lsp.reading import Readings
from vigil_lsp.recordings.judging import Judging
from vigil_lsp.recordings.results import located
from vigil_lsp.recordings.run_sources import RunSources, TrackedPolicy
from vigil_lsp.recordings.worker_state import State
from vigil_lsp.variables import values_of, variable_tests

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Alone
    from lsp_session import Page, Session

    from vigil_lsp.reading import Reading
    from vigil_lsp.recordings.results import RunResults

RUN = "".join(
    json.dumps(line) + "\n"
    for line in (
        {"vigil_trace": 1},
        {"action": "Send", "args": {"to": "ann", "n": 3}, "status": "ok"},
        {"action": "Send", "args": {"to": "eve", "n": True}, "status": "error"},
        {"action": "Ask", "args": {"to": "ann", "n": "`x`"}, "status": "ok"},
    )
)


def read(folder: Path, text: str) -> tuple[Reading, RunResults]:
    """A policy with what the run says of it."""
    (folder / "r.jsonl").write_text(RUN)
    path = folder / "p.vgl"
    path.write_text(text)
    state, tracked = (
        State(),
        TrackedPolicy(str(path), text, RunSources((str(folder / "r.jsonl"),)), str(folder), shown=True),
    )
    state.set(tracked)
    runs = state.runs[tracked.sources]
    list(runs.load(state.recordings))
    judging = Judging(tracked, state.source(str(path)), runs)
    list(judging.steps(state.access))
    files = Files()
    reading = Readings(files).of(files.source(str(path)), {})
    assert runs.summary is not None
    items = [item.span for item in reading.file.items]
    return reading, located(runs.summary, judging.result(), reading.source, items, stale=False)


def shown(reading: Reading, known: RunResults | None, within: Span | None = None) -> str:
    """The text with its hints in it, as an editor has it."""
    text = reading.text.content
    found = sorted(
        hints(reading, known, within or Span(0, len(text))), key=lambda h: reading.text.offset(h.position), reverse=True
    )
    for hint in found:
        at = reading.text.offset(hint.position)
        text = f"{text[:at]}{' ' if hint.padding_left else ''}⟨{hint.label}⟩{text[at:]}"
    return text


def test_hints_in_their_places(tmp_path: Path) -> None:
    text = """pattern sends(x) = Send(to = x)
pattern asks = action in {Ask}
statement S: prec(sends(y), Ask(to = y)) after asks
@severity(info)
statement T: always asks and earlier sends("ann") implies
    not later (Send(n = v) and status = error)
statement broken: abs(nothing)
"""
    expected = """pattern sends(x⟨: text⟩) = Send(to = x) ⟨2 events⟩
pattern asks = action in {Ask} ⟨1 event⟩
statement S ⟨severity error⟩: prec(sends(y⟨: text⟩) ⟨×2⟩, Ask(to = y) ⟨×1⟩) after asks ⟨×1⟩
@severity(info)
statement T: always asks ⟨×1⟩ and earlier sends("ann") ⟨×1⟩ implies
    not later (Send(n = v⟨: bool | number⟩) and status = error) ⟨×1⟩
statement broken: abs(nothing)
"""
    assert shown(*read(tmp_path, text)) == expected


def test_without_runs_only_the_severity(tmp_path: Path) -> None:
    reading, _ = read(tmp_path, "pattern p(x) = A(k = x)\nstatement S: abs(p(y))\n")
    assert shown(reading, None) == "pattern p(x) = A(k = x)\nstatement S ⟨severity error⟩: abs(p(y))\n"


def test_only_what_is_visible(tmp_path: Path) -> None:
    reading, found = read(tmp_path, "pattern p = Ask()\nstatement S: abs(Send())\n")
    assert shown(reading, found, Span(0, 3)) == "pattern p = Ask() ⟨1 event⟩\nstatement S: abs(Send())\n"


def test_tooltips(tmp_path: Path) -> None:
    reading, found = read(tmp_path, "statement S: abs(Ask(n = x) or Gone(n = x))\n")
    told = {hint.label: hint.tooltip for hint in hints(reading, found, Span(0, 99))}
    assert told["×1"] == "1 event in 1 run meets this condition, for some value of its variables"
    kind = told[": text"]
    assert isinstance(kind, types.MarkupContent)
    assert kind.value == "Values of `x` in the recorded runs:\n\n- `` `x` `` 1×"
    reading, found = read(tmp_path, "statement S: abs(Gone())\n")
    told = {hint.label: hint.tooltip for hint in hints(reading, found, Span(0, 99))}
    assert told["×0"] == "no event of the recorded runs meets this condition, for some value of its variables"


def test_accepting_the_severity_writes_it_down(tmp_path: Path) -> None:
    reading, _ = read(tmp_path, '/// Doc.\n@source("a", "b")\nstatement S: abs(Ask())\n')
    (hint,) = hints(reading, None, Span(0, 99))
    (edit,) = hint.text_edits or ()
    at = reading.text.offset(edit.range.start)
    after = reading.text.content[:at] + edit.new_text + reading.text.content[at:]
    assert after == '/// Doc.\n@severity(error)\n@source("a", "b")\nstatement S: abs(Ask())\n'


def test_values_are_those_of_the_actions_that_are_asked_for(tmp_path: Path) -> None:
    reading, _ = read(tmp_path, "statement S: prec(Ask(n = x), n = x)\nstatement T: abs(n = x)\n")
    trace = read_trace(RUN.encode().splitlines(keepends=True), "r.jsonl")
    signature, samples = observe([trace]), sampled([trace])
    items = [item for item in reading.file.items if isinstance(item, tree.Statement)]
    narrow, wide = (values_of(variable_tests(reading.policy, item), signature, samples)["x"] for item in items)
    assert (narrow.types, narrow.samples) == ({"text"}, (("`x`", 1),))
    assert (wide.types, wide.samples) == ({"text", "number", "bool"}, (("3", 1), ("`x`", 1), ("true", 1)))


async def asked_for(page: Page) -> list[tuple[types.Position, str]]:
    found = await page.ask(types.TEXT_DOCUMENT_INLAY_HINT, range=page.find(page.text))
    return [(hint.position, hint.label) for hint in found or ()]


async def test_hints_come_and_change(session: Session) -> None:
    session.write("r.jsonl", RUN)
    page = await session.open('// runs: r.jsonl\nstatement S: abs(Send(to = "𝔸") or Send())\n')

    async def until(label: str, at: types.Position) -> bool:
        for _ in range(200):
            if (at, label) in await asked_for(page):
                return True
            await asyncio.sleep(0.05)
        return False

    assert await until("×2", page.find("or Send()").end)
    page.replace("or Send()", "or Ask()")
    assert await until("×1", page.find("Ask()").end)


async def test_an_editor_that_cannot_be_told_to_ask_again_waits_for_counts(alone: Alone) -> None:
    """Helix asks once when the server has started, and then only after an edit."""
    session = await alone(begin=False)
    capabilities = session.profile.params(session.root).capabilities
    assert capabilities.workspace is not None
    capabilities.workspace.inlay_hint = types.InlayHintWorkspaceClientCapabilities(refresh_support=False)
    await session.begin(capabilities=capabilities)
    session.write("r.jsonl", RUN)
    page = await session.open("// runs: r.jsonl\nstatement S: abs(Send())\n")
    assert "×2" in [label for _, label in await asked_for(page)]

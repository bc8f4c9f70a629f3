"""Completion without a server: what is offered where `«»` stands in a policy."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from lsp_positions import marked

from vigil_lang.diagnostics import Source
from vigil_lang.runs import read_trace
from vigil_lang.semantics.policy import load_module
from vigil_lang.syntax.parse import parse, parse_with_tokens
from vigil_lang.trace.samples import sampled
from vigil_lang.trace.signature import observe
from vigil_lsp.completing.candidate import Candidate, chosen, written
from vigil_lsp.completing.candidates_at import candidates
from vigil_lsp.completing.context import CompletionContext, Importable
from vigil_lsp.completing.place import Place, place_at
from vigil_lsp.completing.slots import slot_of
from vigil_lsp.reading import Reading
from vigil_lsp.recordings.results import RunInfo, RunResults
from vigil_lsp.text import Text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vigil_lsp.completing.slot import Slot

EVENTS: tuple[tuple[int, dict[str, object]], ...] = (
    (5, {"action": "Bash", "args": {"command": "git status", "timeout": 30}}),
    (3, {"action": "Bash", "args": {"command": 'grep "a*b" src/x.py', "description": "look"}}),
    (4, {"action": "Read", "kinds": ["file.read"], "args": {"file_path": "/w/src/a.py", "limit": 5}}),
    (2, {"action": "Write", "kinds": ["file.write"], "args": {"file_path": "/w/src/b.py", "force": True}}),
    (1, {"action": "Write", "kinds": ["file.write"], "args": {"file_path": "/w/notes.md", "status": "new"}}),
    (1, {"action": "mcp__gh__push", "args": {"token": "hunter2", "branch": "sk-live-abcdefgh12345"}}),
)


@cache
def known() -> RunResults:
    """What some runs say."""
    lines = [json.dumps(event) for count, event in EVENTS for _ in range(count)]
    traces = [read_trace(io.BytesIO("\n".join(lines).encode()), "/nowhere/run.jsonl")]
    runs = (RunInfo("/nowhere/run.jsonl", "vigil", len(lines), "", "/nowhere/run.jsonl"),)
    return RunResults(observe(traces), sampled(traces), runs, False)


_MODULES = {
    "std.files": "/// Reads.\npattern reads(x) = file.read(path = x)\n\npattern writes(x) = file.write(path = x)\n",
    "std.more": "/// Tells the user.\npattern tells_user = user.message()\n\nlet TELLERS = {a}\n",
    ".shared": "/// Shells.\nlet SHELLS = {Bash}\n\n/// Runs it.\npattern shell(x) = Bash(command = x)\n",
}


@cache
def importable() -> tuple[Importable, ...]:
    """Modules that a policy could use."""
    return tuple(Importable(name, parse(Source(f"{name}.vgl", text)).file) for name, text in _MODULES.items())


def read(text: str, path: str = "/nowhere/p.vgl") -> Reading:
    """A policy that is nowhere stored."""
    source = Source(path, text)
    return Reading(f"file://{path}", Text(text), load_module(source), parse_with_tokens(source).tokens)


@dataclass(frozen=True)
class Found:
    """What is offered at a place, in order."""

    text: str
    place: Place
    slot: Slot
    candidates: Sequence[Candidate]

    @property
    def labels(self) -> list[str]:
        return [candidate.label for candidate in self.candidates]

    def __getitem__(self, label: str) -> Candidate:
        return next(candidate for candidate in self.candidates if candidate.label == label)

    def accepted(self, label: str) -> str:
        """The text once an candidate is accepted."""
        new = written(self[label], self.place)
        return self.text[: self.place.start] + new + self.text[self.place.end :]


def complete(
    marked_text: str, *, path: str = "/nowhere/p.vgl", with_runs: bool = True, beside: Mapping[str, str] | None = None,
    **more: object,
) -> Found:  # fmt: skip
    """What is offered at the mark."""
    text, spans = marked(marked_text)
    reading = read(text, path)
    place = place_at(reading.file, reading.tokens, spans[0][0])
    assert place is not None
    slot = slot_of(place.beginning.parts, place.accepted, reading.module)
    namesake = read((beside or {})["namesake"], path.replace("_test", "")).module if beside else None
    context = CompletionContext(reading, place, slot, known() if with_runs else None, namesake, importable)
    return Found(text, place, slot, chosen(candidates(replace(context, **more)), place))  # type: ignore[arg-type]  # fields by name

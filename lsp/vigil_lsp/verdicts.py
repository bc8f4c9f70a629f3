"""What the runs say of each statement, for editors that draw it beside the text: `vigil/verdicts`.

A client asks for it with the initialization option `verdicts`. It is sent the verdicts of an open policy whenever there
are new ones, with the version of the text that they are about. What it shows after an edit, until then, is that it does
not know: no verdict is sent that is of another text, or of another text of a module.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from vigil_lang.diagnostics.visible import visible
from vigil_lang.semantics.modules import is_test_file
from vigil_lang.syntax import tree
from vigil_lsp.edits import range_as_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.diagnostics import Span
    from vigil_lsp.client import Client
    from vigil_lsp.recordings.results import RunResults, StatementResult
    from vigil_lsp.workspace import Workspace

METHOD = "vigil/verdicts"

State = Literal["holds", "violated", "unknown", "unreadable"]

MARKS: dict[State, str] = {"holds": "✓", "violated": "✗", "unknown": "?", "unreadable": "!"}
"""What tells verdicts apart without colour."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the runs say of a statement, whose name stands at `span`; `text` says it in words.

    It `holds` if every run was read and keeps it. It is `unreadable` where those that could be read keep it, and others
    could not be, and where none can be read any more. It is `unknown` while runs are read or judged, and where there is
    none, or judging takes too long.
    """

    span: Span
    statement: str
    state: State
    text: str

    @property
    def marked(self) -> str:
        """The words behind their mark."""
        return f"{MARKS[self.state]} {self.text}"


def verdicts(file: tree.File, known: RunResults | None) -> list[Verdict]:
    """The verdicts of the statements of a policy, in text order."""
    found = []
    for item in file.items:
        if isinstance(item, tree.Statement):
            state, text = _verdict(known, item.name.text)
            found.append(Verdict(item.name.span, visible(item.name.text), state, text))
    return found


def _verdict(known: RunResults | None, name: str) -> tuple[State, str]:
    result = known.statement(name) if known is not None else None
    if known is None or result is None or not result.runs:
        unread = known is not None and (known.lost or (known.unreadable and not known.runs and not known.stale))
        return ("unreadable" if unread else "unknown"), waiting(known)
    rest = "" if result.exercised else " · never exercised"
    partly = known.unreadable or known.unmatched
    state: State = "violated" if result.violated else "unreadable" if partly else "holds"
    return state, f"{in_words(result, known)}{rest}"


def waiting(known: RunResults | None) -> str:
    """Why there is no verdict."""
    if known is not None and known.lost:
        return "the runs can no longer be read"
    if known is None or (known.stale and known.runs):
        return "reading the runs …"
    if known.runs:
        return "not judged"
    if known.unreadable:
        return f"none of {known.unreadable} runs can be read" if known.unreadable > 1 else "the run cannot be read"
    return "no runs found"


def in_words(result: StatementResult, known: RunResults) -> str:
    """`violated in 2 of 14 runs`; `holds in 1 of 2 runs, 1 unreadable`; `holds in 1 run, 2 patterns match none`."""
    total = result.runs + known.unreadable
    held = f"violated in {len(result.violated)} of " if result.violated else "holds in "
    held += f"{result.runs} of " if known.unreadable and not result.violated else ""
    unread = f", {known.unreadable} unreadable" if known.unreadable else ""
    if known.unmatched:
        unread += f", {known.unmatched} pattern{'s match' if known.unmatched != 1 else ' matches'} none"
    return f"{held}{total} run{'s' * (total != 1)}{unread}"


class Verdicts:
    """Sends verdicts to a client that asked for them."""

    def __init__(self, workspace: Workspace, client: Client) -> None:
        self._workspace, self._client = workspace, client
        self._sent: dict[str, dict[str, Any]] = {}

    def document_changed(self, path: str) -> None:
        """A policy was opened, changed or closed: send what is known of the text at once, if that is something."""
        if not self._client.wants_verdicts:
            return
        document = self._workspace.files.open_at(path)
        if document is None:
            self._sent.pop(path, None)
            return
        recordings = self._workspace.recordings
        told = path in self._sent
        settled = recordings.lost or recordings.is_judged(path, document.source.text)
        if not told or not recordings.names_runs(path) or settled:
            self.send([path])

    def send(self, paths: Iterable[str]) -> None:
        """Send the verdicts of those policies that are open, where they are others than before."""
        for path in paths if self._client.wants_verdicts else ():
            document = self._workspace.files.open_at(path)
            if document is None or not document.is_judged or not document.on_disk:
                continue
            found = self._of(path)
            message = {"uri": document.uri, "version": document.version, "verdicts": found}
            if self._sent.get(path) != message and (found or path in self._sent):
                self._sent[path] = message
                self._client.notify(METHOD, message)

    def _of(self, path: str) -> list[dict[str, Any]]:
        reading = self._workspace.reading_of(path)
        if reading is None or is_test_file(path) or not self._workspace.recordings.names_runs(path):
            return []
        known = self._workspace.run_results_of(path)
        return [
            {
                "range": range_as_json(reading.text.range(verdict.span)),
                "statement": verdict.statement,
                "state": verdict.state,
                "text": verdict.text,
            }
            for verdict in verdicts(reading.file, known)
        ]

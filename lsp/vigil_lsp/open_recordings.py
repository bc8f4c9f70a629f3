"""Recordings that are open in the editor: their events by line, and what statements say of them.

All of it comes from the process that knows the runs, of the file as it is on disk. A recording larger than that process
reads (20 MB) is left alone: it is never read or searched here.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lang.diagnostics.visible import visible
from vigil_lsp.findings import NAME, SEVERITY, to_protocol
from vigil_lsp.recordings.process import Unanswered
from vigil_lsp.recordings.results import digest_of
from vigil_lsp.text import Text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lsp.client import Client
    from vigil_lsp.files import Document, Files
    from vigil_lsp.recordings.results import EventView, RunView, StatementNote
    from vigil_lsp.workspace import Workspace

MAX_CHARACTERS = 20_000_000
"""Characters of a document that is looked at."""

_GATHERED = 0.3
"""Seconds in which changes are gathered before a recording is asked about again."""


def is_recording(document: Document) -> bool:
    """Whether a document may be a run."""
    return document.path.endswith(".jsonl") and document.on_disk and len(document.text.content) <= MAX_CHARACTERS


@dataclass(frozen=True, slots=True)
class OpenRecording:
    """The runs of a recording, and its events by line, from 0."""

    runs: tuple[RunView, ...]
    lines: dict[int, list[EventView]]


class OpenRecordings:
    """What is known of the recordings that are open. Belongs to the event loop."""

    def __init__(self, workspace: Workspace, client: Client) -> None:
        self._workspace, self._client = workspace, client
        self._seen: dict[str, OpenRecording] = {}
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._published: set[str] = set()
        self._digests: dict[str, tuple[Text, bytes]] = {}
        self._due: dict[str, asyncio.TimerHandle] = {}

    # --- when to ask ---

    def document_changed(self, document: Document) -> None:
        """A document was opened, changed or closed."""
        path = document.path
        if self._workspace.document(document.uri) is None:
            self._seen.pop(path, None)
            self._digests.pop(path, None)
            if (task := self._asking.pop(path, None)) is not None:
                task.cancel()
            self._publish(path)
        elif is_recording(document) and path not in self._seen:
            self._ask(path)
        elif path in self._seen and path not in self._due:
            self._due[path] = asyncio.get_running_loop().call_later(_GATHERED, self._publish, path)

    def runs_changed(self, files: Collection[str]) -> None:
        """Recordings were read again: publish the findings of broken ones, and ask about open ones."""
        for path in files:
            self._seen.pop(path, None)
        known = self._workspace.recordings.recordings()
        for path in {path for path, findings in known.items() if findings} | self._published:
            self._publish(path)
        self.policies_changed()

    def policies_changed(self) -> None:
        """Statements may say other things of events."""
        for document in self._workspace.files.documents:
            if is_recording(document):
                self._ask(document.path)

    def end(self) -> None:
        """Ask nothing more."""
        for task in self._asking.values():
            task.cancel()
        for due in self._due.values():
            due.cancel()

    def _ask(self, path: str) -> None:
        older = self._asking.get(path)
        if older is None or older.done():
            self._asking[path] = asyncio.get_running_loop().create_task(self._asked(path))

    async def _asked(self, path: str) -> None:
        await asyncio.sleep(_GATHERED)
        try:
            runs = await self._workspace.recordings.events(path)
        except Unanswered:  # it is no run, or it is said where its findings are
            self._seen.pop(path, None)
        else:
            self._seen[path] = _by_line(runs)
        self._asking.pop(path, None)
        self._publish(path)

    async def awaited(self, document: Document) -> OpenRecording | None:
        """What is known of an open recording as soon as it is; else as `seen`."""
        task = self._asking.get(document.path)
        if document.path not in self._seen and task is not None:
            await asyncio.wait([task])
        return self.seen(document)

    def seen(self, document: Document) -> OpenRecording | None:
        """What is known of an open recording; None where that is nothing, or the text is not that of the file."""
        found = self._seen.get(document.path)
        return found if found is not None and found.runs and found.runs[0].digest == self._digest(document) else None

    def _digest(self, document: Document) -> bytes:
        known = self._digests.get(document.path)
        if known is None or known[0] is not document.text:
            content = document.text.content.encode("utf-8", "surrogatepass")
            known = self._digests[document.path] = (document.text, digest_of(content))
        return known[1]

    # --- diagnostics ---

    def _publish(self, path: str) -> None:
        """Show in a recording what is wrong with it, and, where it is open, the events at fault."""
        self._due.pop(path, None)
        workspace = self._workspace
        uri = workspace.files.uri(path)
        document = workspace.document(uri)
        broken = workspace.recordings.recordings().get(path, ())
        found = [_of_finding(finding, workspace.files) for finding in broken]
        seen = self.seen(document) if document is not None else None
        if document is not None and seen is not None:
            found += self._at_fault(seen, document.text)
        if found or path in self._published:
            self._published.add(path) if found else self._published.discard(path)
            self._client.publish(uri, found)

    def _at_fault(self, seen: OpenRecording, text: Text) -> Iterator[types.Diagnostic]:
        related = self._client.supports("text_document.publish_diagnostics.related_information")
        for line, events in seen.lines.items():
            for event in events:
                for said in event.violates:
                    yield types.Diagnostic(
                        range=line_range(text, line),
                        # Not as a code: some editors show it before the message, some behind it, some nowhere.
                        message=f"{visible(said.statement)}: {visible(said.message)}",
                        severity=SEVERITY[said.severity],
                        source=NAME,
                        related_information=self._related(said) if related else None,
                    )

    def _related(self, said: StatementNote) -> Sequence[types.DiagnosticRelatedInformation] | None:
        place = self.statement(said)
        return None if place is None else [types.DiagnosticRelatedInformation(place, "the statement")]

    def statement(self, said: StatementNote) -> types.Location | None:
        """Where a statement stands now; None where it is gone."""
        reading = self._workspace.reading_of(said.policy)
        statements = reading.policy.statements if reading is not None else ()
        span = next((statement.span for statement in statements if statement.name == said.statement), None)
        if reading is None or span is None:
            return None
        return types.Location(self._workspace.files.uri(said.policy), reading.text.range(span))


def _by_line(runs: tuple[RunView, ...]) -> OpenRecording:
    lines: dict[int, list[EventView]] = {}
    for run in runs:
        for event in run.events:
            if event.line is not None:
                lines.setdefault(event.line - 1, []).append(event)
    return OpenRecording(runs, lines)


def line_range(text: Text, line: int) -> types.Range:
    """The range of a line, from 0, without its end."""
    start = text.line_start(line)
    return types.Range(text.position(start), text.position(start + len(text.line(line))))


def _of_finding(finding: Diagnostic, files: Files) -> types.Diagnostic:
    """What is wrong with a recording; its source may be one line of it."""
    found = to_protocol(finding, Text(finding.source.text, files.encoding), files, related=False)
    for end in (found.range.start, found.range.end):
        end.line += finding.source.first_line - 1
    return found

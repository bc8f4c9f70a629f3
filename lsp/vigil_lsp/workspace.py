"""What is known: open documents and files, the projects they belong to, policies read, their findings, and the runs."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import InputError
from vigil_lang.semantics.modules import MAX_BYTES, TESTS, is_test_file
from vigil_lsp.files import Document, Files, possible, scheme_of
from vigil_lsp.project import Project, Projects
from vigil_lsp.reading import Reading, Readings
from vigil_lsp.recordings.process import RecordingsProcess

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lsp.findings import Findings
    from vigil_lsp.recordings.results import RunResults


class Workspace:
    """The state that features share. All of it belongs to the event loop."""

    def __init__(self) -> None:
        self.files = Files()
        self.projects = Projects()
        self.readings = Readings(self.files)
        self.recordings = RecordingsProcess()
        self.findings: dict[str, Findings] = {}
        """The findings of each open policy, by path, as far as they are known."""
        self.unmet_expectations: dict[str, tuple[Diagnostic, ...]] = {}
        """The expectations that were not met when the tests of a file were run last, by its path."""

    def set_folders(self, uris: Iterable[str]) -> None:
        """The folders of the workspace, as URIs or, from older clients, paths."""
        uris = list(uris)
        self.files.schemes = frozenset(scheme_of(uri) for uri in uris if "://" in uri)
        paths = (self.files.path(uri) if "://" in uri else uri for uri in uris)
        self.projects.folders = [Path(os.path.normpath(path)) for path in paths if path and possible(path)]
        self.projects.forget()

    # --- documents ---

    def document(self, uri: str) -> Document | None:
        """The open document of a URI."""
        return self.files.document(uri)

    def is_written(self, uri: str) -> bool:
        """Whether a document may be changed, as far as the server knows: one that is only looked at is not."""
        document = self.files.document(uri)
        return document is None or document.written

    def path(self, uri: str) -> str | None:
        """The path of a URI as findings and readings have it; None for what is neither a file nor open."""
        document = self.files.document(uri)
        return document.path if document is not None else self.files.path(uri)

    def findings_of(self, uri: str) -> Findings | None:
        """The findings of an open policy, as far as they are known; None where it is none."""
        document = self.files.document(uri)
        return self.findings.get(document.path) if document is not None else None

    # --- projects and policies ---

    def project(self, uri: str) -> Project:
        """The project that a document belongs to."""
        return self.project_of(self.files.path(uri))

    def project_of(self, path: str | None) -> Project:
        """The project that a file belongs to; for a document without a file, that of the first workspace folder."""
        return self.projects.of(None if path is None or path.startswith("<") else path)

    def reading(self, uri: str) -> Reading | None:
        """The policy of a URI as it is now; None where there is none, or it cannot be read."""
        document = self.files.document(uri)
        path = self.path(uri)
        is_policy = document.is_policy if document is not None else path is not None and path.endswith(".vgl")
        return self.reading_of(path) if path is not None and is_policy else None

    def reading_of(self, path: str) -> Reading | None:
        """The policy of a path as it is now; None where it cannot be read."""
        try:
            source = self.files.source(path, MAX_BYTES)
        except InputError:
            return None
        return self.readings.of(source, self.project_of(path).settings.params)

    def is_current(self, reading: Reading) -> bool:
        """Whether a policy still has the text that was read."""
        now = self.reading(reading.uri)
        return now is not None and now.source is reading.source

    def tested_policy(self, reading: Reading) -> Reading | None:
        """The policy that a file of tests is named after; None for other files, and where there is none."""
        path = reading.source.path
        return self.reading_of(path.removesuffix(TESTS) + ".vgl") if path.endswith(TESTS) else None

    def tests_beside(self, path: str) -> str | None:
        """The path of the tests of a policy: the file itself, or the one beside it; None where there is none."""
        if not path.endswith(".vgl") or "\0" in path:
            return None
        tests = path if is_test_file(path) else f"{path.removesuffix('.vgl')}{TESTS}"
        return tests if self.files.is_file(Path(tests)) else None

    def policies(self, uri: str, naming: Iterable[str] = ("",)) -> list[Reading]:
        """The policies and tests of the workspace, of a document's own project, and those that are open.

        A configuration makes a folder a project of its own, but modules in it are used from the folders above, too.
        With `naming` only those whose text contains one of these words: reading a policy takes far longer.
        """
        named = [path for path in self.policy_paths(uri) if self.names_any(path, naming)]
        return [reading for path in named if (reading := self.reading_of(path)) is not None]

    def policy_paths(self, uri: str) -> Iterable[str]:
        """The paths of `policies`."""
        paths = dict.fromkeys(self.projects.around(self.files.path(uri)))
        return paths | dict.fromkeys(document.path for document in self.files.documents if document.is_judged)

    def names_any(self, path: str, words: Iterable[str]) -> bool:
        """Whether the text of a policy contains one of some words."""
        text = self._text_of(path)
        return any(word in text for word in words)

    def _text_of(self, path: str) -> str:
        try:
            return self.files.source(path, MAX_BYTES).text
        except InputError:
            return ""

    # --- runs ---

    def run_results(self, uri: str) -> RunResults | None:
        """What the runs say of a policy; None where it names none, or nothing is known yet."""
        path = self.path(uri)
        return self.run_results_of(path) if path is not None else None

    async def current_results(self, uri: str, seconds: float) -> RunResults | None:
        """What the runs say of a policy as soon as it is of the text as it is now, and in any case in time."""
        loop, path = asyncio.get_running_loop(), self.path(uri)
        end = loop.time() + seconds
        while path is not None and self.recordings.names_runs(path) and (left := end - loop.time()) > 0:
            known = self.run_results(uri)
            if known is not None and (known.lost or not known.stale):
                break
            await self.recordings.news(left)
        return self.run_results(uri)

    def run_results_of(self, path: str) -> RunResults | None:
        """What the runs say of the policy of a path."""
        reading = self.reading_of(path)
        if reading is None:
            return None
        return self.recordings.known(reading.source, [item.span for item in reading.file.items])

"""What is wrong with open policies, kept up to date: at once what reading shows, soon what the linter does."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from vigil_lang.diagnostics import Diagnostic, InputError
from vigil_lang.diagnostics.diagnostic import NOWHERE
from vigil_lang.lint.baseline import compare
from vigil_lang.lint.suppress import ignores
from vigil_lang.semantics.modules import MAX_BYTES, TESTS, is_test_file
from vigil_lsp.findings import Findings, moved, to_protocol
from vigil_lsp.lint_thread import LintThread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lsprotocol import types

    from vigil_lang.diagnostics import Source
    from vigil_lang.lint.run import Linted, Plan
    from vigil_lang.trace import Signature
    from vigil_lsp.client import Client
    from vigil_lsp.project import Project
    from vigil_lsp.reading import Reading
    from vigil_lsp.workspace import Workspace

DELAY = 0.003
"""Seconds in which the changes of a document are gathered."""

IDLE = 0.04
"""Seconds without a keystroke after which the linter begins, unless somebody waits for it."""


class Diagnosis:
    """The findings of each open policy."""

    def __init__(self, workspace: Workspace, client: Client) -> None:
        self._workspace, self._client = workspace, client
        self._findings = workspace.findings
        self._due: dict[str, asyncio.TimerHandle] = {}
        self._idle: dict[str, tuple[asyncio.TimerHandle, Callable[[], None]]] = {}
        self._waiting: dict[str, list[asyncio.Future[Findings | None]]] = {}
        self._signatures: dict[str, Signature | None] = {}
        self._unopened: dict[str, tuple[Project, Signature | None, Reading, Findings]] = {}
        self._analyst: LintThread | None = None

    def begin(self) -> None:
        """Start the thread that lints."""
        self._analyst = LintThread(asyncio.get_running_loop())

    async def end(self) -> None:
        """Look at nothing more."""
        for handle in (*self._due.values(), *(handle for handle, _ in self._idle.values())):
            handle.cancel()
        if self._analyst is not None:
            await self._analyst.end()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While an answer is made, linting waits: two threads of Python share one processor."""
        if self._analyst is not None:
            self._analyst.pause()
        try:
            yield
        finally:
            if self._analyst is not None:
                self._analyst.resume()

    # --- when to look ---

    def schedule(self, path: str) -> None:
        """Look at an open policy soon."""
        if path not in self._due:
            self._due[path] = asyncio.get_running_loop().call_later(DELAY, self._look_at, path)

    def changed(self, path: str) -> None:
        """The text of an open policy is another one."""
        self._forget_lint(path)
        self.schedule(path)
        self._schedule_users(path)

    def _forget_lint(self, path: str) -> None:
        """What the linter would say of a text, or is finding out, is no longer wanted."""
        if (idle := self._idle.pop(path, None)) is not None:
            idle[0].cancel()
        if self._analyst is not None:
            self._analyst.drop(path)

    def schedule_all(self) -> None:
        """Look at every open policy soon: something beside their texts changed."""
        for document in self._workspace.files.documents:
            if document.is_judged:
                self.schedule(document.path)
        self._client.refresh_diagnostics()

    def closed(self, uri: str, path: str) -> None:
        """A document is no longer open."""
        if (handle := self._due.pop(path, None)) is not None:
            handle.cancel()
        self._forget_lint(path)
        known = self._findings.pop(path, None)
        self._answer(path, None)
        if known is not None and not self._client.pulls_diagnostics:
            self._client.publish(uri, [])
        self._schedule_users(path)

    def _schedule_users(self, path: str) -> None:
        """Look again at the open policies that use a module, or that miss one."""
        readings = {other: self._workspace.readings.last(other) for other in self._findings if other != path}
        users = [
            other for other, one in readings.items() if one is not None and (one.has_missing_module or _uses(one, path))
        ]
        for other in users:
            self.schedule(other)
        if users:
            self._client.refresh_diagnostics()

    # --- looking ---

    def _look_at(self, path: str) -> None:
        """Read a policy, say what that shows, and have it linted."""
        with self.paused():
            self._look(path)

    def _look(self, path: str) -> None:
        self._due.pop(path, None)
        reading = self._workspace.reading_of(path)
        if reading is None or self._analyst is None:
            return
        older, source = self._findings.get(path), reading.source
        plan = self._plan(path)
        self._signatures[path] = plan.signature
        now = Findings(source, self._new(path, _resolved(reading, plan)), (), self._of_runs(source))
        if older is not None:
            same = older.source is source
            # An editor that is sent findings would show one go and come back with every key.
            kept = not self._client.pulls_diagnostics
            now = replace(now, linted=older.linted if same else tuple(moved(older.linted, source, kept=kept)))
        self._findings[path] = now
        # With the same text, a module that it uses may be another one.
        if older is None or older.source is not source or older.resolved != now.resolved:
            self._publish(path)
        self._lint_later(path, partial(self._analyst.lint, reading.policy, plan, partial(self._linted, path)))

    def _lint_later(self, path: str, lint: Callable[[], None]) -> None:
        """Lint when nothing was typed for a moment, which two threads would slow down; at once if somebody waits."""
        if (idle := self._idle.pop(path, None)) is not None:
            idle[0].cancel()
        if self._waiting.get(path):
            lint()
        else:
            self._idle[path] = (asyncio.get_running_loop().call_later(IDLE, self._lint_now, path), lint)

    def _lint_now(self, path: str) -> None:
        if (idle := self._idle.pop(path, None)) is not None:
            idle[0].cancel()
            idle[1]()

    def _plan(self, path: str) -> Plan:
        access = self._workspace.files.snapshot()
        return self._workspace.project_of(path).plan_with(self._signature(path), access)

    def _signature(self, path: str) -> Signature | None:
        """What the runs and tool definitions allow; None where there are none, and where none could be read."""
        known = self._workspace.run_results_of(path)
        return known.signature if known is not None and known.signature.actions else None

    def _linted(self, path: str, linted: Linted | None) -> None:
        """Take what the linter made of a text, unless there is a newer one; None where it failed."""
        older = self._findings.get(path)
        if linted is None:
            self._answer(path, older)
        elif older is not None and older.source is linted.policy.module.source and path not in self._due:
            self._findings[path] = self._complete(linted)
            self._answer(path, self._findings[path])
            self._publish(path)

    def _complete(self, linted: Linted) -> Findings:
        source = linted.policy.module.source
        reading = {(f.code, f.span) for f in linted.policy.diagnostics if f.source is source}
        own = self._new(linted.policy.path, (f for f in linted.findings if f.source is source))
        resolved = tuple(f for f in own if (f.code, f.span) in reading)
        rest = tuple(f for f in own if (f.code, f.span) not in reading)
        return Findings(source, resolved, rest, self._of_runs(source), complete=True)

    def _of_runs(self, source: Source) -> tuple[Diagnostic, ...]:
        """What only runs show: recorded ones, and those of tests that were run on this very text."""
        known = self._workspace.run_results_of(source.path)
        recorded = (f for f in (known.findings if known is not None else ()) if f.source is source)
        tested = self._workspace.unmet_expectations.get(source.path, ())
        return (
            *self._of_configuration(source),
            *self._new(source.path, recorded),
            *(structs.replace(f, source=source) for f in tested if f.source.text == source.text),
        )

    def _of_configuration(self, source: Source) -> Iterator[Diagnostic]:
        """That the project's configuration cannot be used, at the policy's name: it counts there."""
        loaded = self._workspace.project_of(source.path).loaded
        if loaded.broken:
            fault = next(found for found in loaded.findings if found.severity == "error")
            reading = self._workspace.readings.last(source.path)
            name = reading.file.name if reading is not None and reading.source is source else None
            message = f"the configuration `{loaded.path}` is not used as a whole: {fault.message}"
            yield Diagnostic.of("VGL005", message, source, name.span if name else NOWHERE, severity="warning")

    def _new(self, path: str, findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Findings that the project's baseline does not know; one that cannot be read knows none."""
        found, project = tuple(findings), self._workspace.project_of(path)
        if not found or project.baseline is None:
            return found
        with suppress(InputError):
            return compare(found, [path], project.baseline, project.plan.selection.counts).new
        return found

    def tested(self, path: str) -> None:
        """Tests of a file were run."""
        older = self._findings.get(path)
        if older is not None:
            self._findings[path] = replace(older, of_runs=self._of_runs(older.source))
            self._publish(path)
            self._client.refresh_diagnostics()

    def runs_changed(self, path: str) -> None:
        """What the runs say of a policy may be another thing now."""
        older, known = self._findings.get(path), self._workspace.run_results_of(path)
        if older is None or known is None:
            return
        if self._signature(path) is not self._signatures.get(path):
            self.schedule(path)
        elif (of_runs := self._of_runs(older.source)) != older.of_runs:
            self._findings[path] = replace(older, of_runs=of_runs)
            self._publish(path)
        else:
            return
        self._client.refresh_diagnostics()

    # --- telling ---

    def _publish(self, path: str) -> None:
        document = self._workspace.files.document(self._workspace.files.uri(path))
        if document is not None and not self._client.pulls_diagnostics:
            found = self.to_protocol(self._findings[path])
            self._client.publish(document.uri, found, document.version)

    def to_protocol(self, findings: Findings) -> list[types.Diagnostic]:
        """Findings as the client takes them."""
        client, files = self._client, self._workspace.files
        related = client.pulls_diagnostics or client.supports("text_document.publish_diagnostics.related_information")
        text = files.text(findings.source)
        return [to_protocol(finding, text, files, related=related) for finding in findings.diagnostics]

    async def complete_findings(self, path: str) -> Findings | None:
        """All findings of an open policy, of the text it has by then; None where it is closed, or cannot be read."""
        document = self._workspace.files.document(self._workspace.files.uri(path))
        known = self._findings.get(path)
        if document is None or not document.is_judged:
            return None
        if known is not None and known.complete and known.source is document.source and path not in self._due:
            return known
        if known is None or known.source is not document.source:
            self.schedule(path)
        self._lint_now(path)
        return await self._wait(path)

    async def findings_of_unopened(self, path: str) -> Findings | None:
        """All findings of a policy that is not open; None where there is none."""
        try:
            self._workspace.files.source(path, MAX_BYTES)
        except InputError as error:
            found = error.diagnostics
            return Findings(found[0].source, found, complete=True) if Path(path).exists() else None
        reading = self._workspace.reading_of(path)
        if reading is None or self._analyst is None:
            return None
        project, signature = self._workspace.project_of(path), self._signature(path)
        known = self._unopened.get(path)
        if known is not None and known[0] is project and known[1] is signature and known[2] is reading:
            return replace(known[3], of_runs=self._of_runs(reading.source))

        def take(linted: Linted | None) -> None:
            if linted is None:
                self._answer(path, None)
                return
            findings = self._complete(linted)
            self._unopened[path] = (project, signature, reading, findings)
            self._answer(path, findings)

        self._analyst.lint(reading.policy, self._plan(path), take, hurried=False)
        return await self._wait(path)

    async def _wait(self, path: str) -> Findings | None:
        future: asyncio.Future[Findings | None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(path, []).append(future)
        return await future

    def _answer(self, path: str, findings: Findings | None) -> None:
        for future in self._waiting.pop(path, ()):
            if not future.done():
                future.set_result(findings)


def _resolved(reading: Reading, plan: Plan) -> Iterable[Diagnostic]:
    """What reading a policy showed, without what comments in it let pass."""
    own = [f for f in reading.policy.diagnostics if f.source is reading.source]
    comments = ignores(reading.file)[0] if own and plan.inline_ignores else []
    kept = [f for f in own if not any(one.covers(f) for one in comments)]
    return plan.selection.applied(kept, reading.source.path)


def _uses(reading: Reading, path: str) -> bool:
    tested = reading.source.path.removesuffix(TESTS) + ".vgl" if is_test_file(reading.source.path) else None
    return path == tested or any(module.source.path == path for module in reading.modules()[1:])

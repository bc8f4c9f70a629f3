"""The server's end of the process that knows the runs. Everything here belongs to the event loop, which never waits."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vigil_lang.base.processes import command
from vigil_lsp.recordings.messages import (
    HEAD,
    Answer,
    Forget,
    Policies,
    Progress,
    Question,
    QuestionFailed,
    Rescan,
    RunsLoaded,
    Withdraw,
    frame,
    length_of,
    message_of,
)
from vigil_lsp.recordings.results import NEVER_READ, Judged, RunView, Tested, TestSuite, Timeline, located

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vigil_lang.diagnostics import Diagnostic, Source, Span
    from vigil_lang.trace import Signature
    from vigil_lsp.recordings.messages import QuestionKind
    from vigil_lsp.recordings.results import RunResults, RunsSummary
    from vigil_lsp.recordings.run_sources import TrackedPolicy
    from vigil_lsp.recordings.test_runs import Wanted

_LOG = logging.getLogger(__name__)

_KILL_TIMEOUT = 1.0
"""Seconds that a process which was killed may take to be gone."""

REST = 0.06
"""Seconds without a change after which the process is told of it, unless somebody waits for what it says.

Who types asks for completions with every key: until those are there, nothing else should want a processor.
"""

MAX_STARTS = 2
"""How often the process is started: once, and once more when it dies."""


class Unanswered(Exception):
    """A question about runs has no answer; the message says why, in words for the user."""


class RecordingsProcess:
    """Starts the process when a policy names runs, tells it of policies, and keeps what it says."""

    def __init__(self) -> None:
        self.on_results: Callable[[str], object] = _ignore
        """Called with the path of a policy whose results changed."""
        self.on_loaded: Callable[[set[str]], object] = _ignore
        """Called with the paths of the recordings that were read again."""
        self.on_progress: Callable[[Progress], object] = _ignore
        self.on_failure: Callable[[str], object] = _ignore
        """Called with a message when the process has died for good."""
        self._tracked_policies: dict[str, TrackedPolicy] = {}
        self._summaries: dict[str, RunsSummary] = {}
        self._judged: dict[str, Judged] = {}
        self._known: dict[str, tuple[RunsSummary, Judged | None, Source, RunResults]] = {}
        self._questions: dict[int, asyncio.Future[Any]] = {}
        self._waiting: list[asyncio.Future[None]] = []
        self._number = self._said = 0
        self._changed_at: dict[str, int] = {}
        """When the text of a policy, or what else it is judged by, changed last, in numbers of `Policies`."""
        self._untold: dict[str, TrackedPolicy] = {}
        """The policies of which the process is told soon."""
        self._telling: asyncio.TimerHandle | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._unsent: list[bytes] = []
        self._starts_left = MAX_STARTS
        self._ended = False

    # --- what the editor says ---

    def update(self, policies: Iterable[TrackedPolicy], *, asked: bool = False) -> None:
        """Set the tracked policies; only new and changed ones are sent to the process, and that soon.

        It is started for the runs of a policy that is shown; where they are `asked` for, of any.
        """
        now = {tracked.path: tracked for tracked in policies}
        changed = tuple(tracked for path, tracked in now.items() if self._tracked_policies.get(path) != tracked)
        gone = tuple(path for path in self._tracked_policies if path not in now)
        for tracked in changed:
            older = self._tracked_policies.get(tracked.path)
            if older is not None and older.sources != tracked.sources:
                self._summaries.pop(tracked.path, None)
        for path in gone:
            for kept in (self._judged, self._summaries, self._known, self._untold):
                kept.pop(path, None)
        self._tracked_policies = now
        if gone:
            self._send(Forget(gone, self._count(gone)))
        self._count(tracked.path for tracked in changed)
        if self._task is None and any(tracked.sources.given and (tracked.shown or asked) for tracked in now.values()):
            self._start()
        elif changed and self._task is not None:
            self._untold |= {tracked.path: tracked for tracked in changed}
            if self._telling is not None:
                self._telling.cancel()
            self._telling = asyncio.get_running_loop().call_later(REST, self._tell)

    def refresh(self) -> None:
        """Have the process check which files changed on disk."""
        self._send(Rescan())

    def restart(self) -> None:
        """Start the process again, also after it was given up."""
        self._starts_left = MAX_STARTS
        self._end_process()
        for kept in (self._judged, self._summaries, self._known):
            kept.clear()
        if any(tracked.sources.given for tracked in self._tracked_policies.values()):
            self._start()

    async def stop(self) -> None:
        """End the process."""
        task = self._task
        self.end()
        if task is not None:
            await asyncio.gather(task, return_exceptions=True)

    def end(self) -> None:
        """End the process without waiting for it."""
        self._ended = True
        self._end_process()

    # --- what is known ---

    def known(self, source: Source, items: Sequence[Span]) -> RunResults | None:
        """What the runs say of a text of a policy whose items stand at these spans; None where nothing is known."""
        path = source.path
        summary = self._summaries.get(path)
        if path not in self._tracked_policies:
            return None
        if summary is None:
            return NEVER_READ if self.lost and self.names_runs(path) else None
        judged = self._judged.get(path)
        last = self._known.get(path)
        stale, lost = not self.is_judged(path, source.text), self.lost
        if (
            last is not None
            and last[0] is summary
            and last[1] is judged
            and last[2] is source
            and (last[3].stale, last[3].lost) == (stale, lost)
        ):
            return last[3]
        found = located(summary, judged, source, items, stale=stale, lost=lost)
        self._known[path] = (summary, judged, source, found)
        return found

    def recordings(self) -> dict[str, tuple[Diagnostic, ...]]:
        """The recordings that policies are held against, each with what is wrong with it."""
        found: dict[str, tuple[Diagnostic, ...]] = {}
        for summary in self._summaries.values():
            for run in summary.runs:
                found.setdefault(run.file, ())
            for finding in summary.findings:
                found[finding.source.path] = (*found.get(finding.source.path, ()), finding)
        return {path: tuple(dict.fromkeys(findings)) for path, findings in found.items()}

    def unread(self, folder: str) -> dict[tuple[str, str], str]:
        """What is wrong with the runs and signatures that the configuration of a folder names: by the setting and the
        absolute path or pattern."""
        found: dict[tuple[str, str], str] = {}
        for path, summary in self._summaries.items():
            tracked = self._tracked_policies.get(path)
            if tracked is not None and tracked.folder == folder:
                for setting, at, message in summary.unread:
                    if setting != "runs" or not tracked.comments:
                        found.setdefault((setting, tracked.sources.listed(setting)[at]), message)
        return found

    def signature_of(self, folder: str) -> Signature | None:
        """What the runs that count in a folder show of actions; None where nothing is known of them yet."""
        for path, summary in self._summaries.items():
            tracked = self._tracked_policies.get(path)
            if tracked is not None and tracked.folder == folder and not tracked.comments:
                return summary.signature
        return None

    async def news(self, seconds: float) -> None:
        """Returns when the process says something, or when the time is up."""
        self._tell()
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        with suppress(TimeoutError):
            await asyncio.wait_for(future, seconds)

    @property
    def lost(self) -> bool:
        """Whether the process has died for good: what it said last is of texts and runs that may be others by now."""
        return self._task is None and self._starts_left < 1

    def names_runs(self, path: str) -> bool:
        """Whether a policy is held against runs."""
        return path in self._tracked_policies and bool(self._tracked_policies[path].sources.runs)

    def is_judged(self, path: str, text: str) -> bool:
        """Whether all that the runs say of a text of a policy is known, with its modules as they are now."""
        summary, judged = self._summaries.get(path), self._judged.get(path)
        return (
            summary is not None
            and judged is not None
            and judged.complete
            and (judged.text, judged.summary) == (text, summary.number)
            and all(self._changed_at.get(one, 0) <= judged.after for one in (path, *judged.needs))
        )

    def users(self, path: str) -> list[str]:
        """The policies that were judged and use another one."""
        return [user for user, judged in self._judged.items() if path in judged.needs]

    # --- questions ---

    async def witness(self, path: str, statement: str, run: str | None = None) -> str:
        """A document that shows how runs, or one of them, break a statement.

        Raises:
            Unanswered: there is none.
        """
        return str(await self._ask("witness", path, statement, run))

    async def explanation(self, path: str, statement: str) -> str:
        """A document that says what a statement means. Raises as `witness`."""
        return str(await self._ask("explanation", path, statement))

    async def timeline(self, run: str) -> Timeline:
        """A run, event by event. Raises as `witness`."""
        found = await self._ask("timeline", run)
        assert isinstance(found, Timeline)
        return found

    async def events(self, file: str) -> tuple[RunView, ...]:
        """The runs of a recording with what statements say of their events. Raises as `witness`."""
        found = await self._ask("views", file)
        assert isinstance(found, tuple)
        return found

    async def tests(self, path: str, only: str | None = None) -> Tested:
        """Run a file of tests, or one of them. Raises as `witness`."""
        found = await self._ask("tests", path, only)
        assert isinstance(found, Tested)
        return found

    async def suite(self, path: str, tools: str) -> TestSuite:
        """The tests of a file, where its project describes such `tools`. Raises as `witness`."""
        found = await self._ask("suite", path, tools)
        assert isinstance(found, TestSuite)
        return found

    async def test_run(self, wanted: tuple[Wanted, ...], *, measured: bool) -> Any:
        """What came of tests, as `run_of` has it; `measured`, with their coverage. Raises as `witness`."""
        return await self._ask("test run", wanted, measured)

    async def _ask(self, what: QuestionKind, *about: object) -> Any:
        if self._task is None and not self._ended:
            self._start()
        if self._task is None:
            raise Unanswered("the process that reads recordings is not running")
        self._number += 1
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._questions[self._number] = future
        number = self._number
        self._send(Question(number, what, about))
        try:
            return await future
        finally:
            if self._questions.pop(number, None) is not None:  # nobody waits for it any more
                self._send(Withdraw(number))

    # --- the process ---

    def _start(self) -> None:
        if self._ended or self._starts_left < 1:
            return
        self._starts_left -= 1
        self._untold = {}  # it is told of all
        self._unsent = (
            [frame(Policies(tuple(self._tracked_policies.values()), self._said))] if self._tracked_policies else []
        )
        self._task = asyncio.get_running_loop().create_task(self._run())

    def _count(self, paths: Iterable[str]) -> int:
        """Number a change of what is said of these policies."""
        self._said += 1
        self._changed_at |= dict.fromkeys(paths, self._said)
        return self._said

    def _tell(self) -> None:
        """Say which policies have changed since they were told of last."""
        if self._telling is not None:
            self._telling.cancel()
            self._telling = None
        if self._untold:
            policies, self._untold = tuple(self._untold.values()), {}
            self._write(Policies(policies, max(self._changed_at[tracked.path] for tracked in policies)))

    def _send(self, message: object) -> None:
        """Say something to the process, after all that changed before."""
        self._tell()
        self._write(message)

    def _write(self, message: object) -> None:
        """Say something to the process, if there is one; it takes it when it can."""
        if self._task is None:
            return
        if self._process is None or self._process.stdin is None:
            self._unsent.append(frame(message))
        else:
            self._process.stdin.write(frame(message))

    async def _run(self) -> None:
        """One life of the process, from its start to its end."""
        task = asyncio.current_task()
        try:
            process = await asyncio.create_subprocess_exec(
                *command("vigil_lsp.recordings.worker"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            _LOG.error("the process that reads recordings cannot be started: %s", error)
            self._died(task)
            return
        if self._task is not task:
            process.kill()
            return
        self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        for unsent in self._unsent:
            process.stdin.write(unsent)
        self._unsent = []
        try:
            while True:
                head = await process.stdout.readexactly(HEAD)
                self._receive(message_of(await process.stdout.readexactly(length_of(head))))
        except (asyncio.IncompleteReadError, OSError):
            _LOG.warning("the process that reads recordings has ended")
        finally:
            if process.returncode is None:
                process.kill()
            self._died(task)
            with suppress(TimeoutError):  # or its pipes outlive the event loop
                await asyncio.wait_for(process.communicate(), _KILL_TIMEOUT)

    def _died(self, task: asyncio.Task[None] | None) -> None:
        """Start the process once more, or give up, where it was not ended on purpose."""
        if self._task is not task:
            return
        self._process = self._task = None
        self._drop_questions("the process that reads recordings has ended")
        if self._ended:
            return
        self._judged = {path: replace(judged, complete=False) for path, judged in self._judged.items()}
        self.on_progress(Progress("Reading recorded runs", done=True))
        if self._starts_left > 0:
            self._start()
        else:
            self._wake()
            self.on_failure(
                "Vigil can no longer read recorded runs: the process that reads them has ended twice. "
                "Run the command `vigil.restartRecordings` to start it again."
            )

    def _end_process(self) -> None:
        task, process = self._task, self._process
        self._task = self._process = None
        if self._telling is not None:
            self._telling.cancel()
        self._drop_questions("the process that reads recordings was ended")
        if process is not None and process.returncode is None:
            process.kill()
        if task is not None:
            task.cancel()

    def _drop_questions(self, why: str) -> None:
        questions, self._questions = self._questions, {}
        for future in questions.values():
            if not future.done():
                future.set_exception(Unanswered(why))

    # --- what the process says ---

    def _receive(self, message: object) -> None:
        self._take(message)
        self._wake()

    def _wake(self) -> None:
        """There are news."""
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    def _take(self, message: object) -> None:
        match message:
            case RunsLoaded(summary, policies, files):
                mine = [path for path in policies if path in self._tracked_policies]
                for path in mine:
                    self._summaries[path] = summary
                for path in mine:
                    self.on_results(path)
                if files or mine:
                    self.on_loaded(set(files))
            case Judged(path) if path in self._tracked_policies:
                self._judged[path] = message
                self.on_results(path)
            case Progress():
                self.on_progress(message)
            case Answer(number, value):
                self._answered(number, value, None)
            case QuestionFailed(number, why):
                self._answered(number, None, why)

    def _answered(self, number: int, value: Any, why: str | None) -> None:
        future = self._questions.pop(number, None)
        if future is None or future.done():
            return
        if why is None:
            future.set_result(value)
        else:
            future.set_exception(Unanswered(why))


def _ignore(_: object) -> None:
    """Nobody listens yet."""

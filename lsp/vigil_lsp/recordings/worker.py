"""The process that knows the runs: `python -m vigil_lsp.recordings.worker`.

A thread reads what the server says; everything else is done in steps by the main one, the most urgent first: questions,
then reading runs, then judging policies, the one that changed last before the others. A newer text of a policy takes
the place of an older one, however far that had come. The process ends when its input does.
"""

from __future__ import annotations

import logging
import os
import queue
import sys
import threading
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from vigil_lang.diagnostics import InputError
from vigil_lsp.recordings.judging import Counted, Judging
from vigil_lsp.recordings.loading import state_of
from vigil_lsp.recordings.messages import (
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
    read_frame,
)
from vigil_lsp.recordings.queries import OF_TESTS, NoAnswer, answer_steps
from vigil_lsp.recordings.time_limit import TooLong, limited
from vigil_lsp.recordings.worker_state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Set

    from vigil_lsp.recordings.loading import FileState, Runs
    from vigil_lsp.recordings.results import Judged
    from vigil_lsp.recordings.run_sources import RunSources, TrackedPolicy

_LOG = logging.getLogger("vigil.recordings")

LOOK = 3.0
"""Seconds between two looks at the files, when there is nothing else to do."""

TOO_LONG = 10
"""Seconds that one step may take: one statement on one run, say. What takes longer is given up."""

TOO_LONG_TO_READ = 60
"""The same for a step that may read a recording."""

_AT_A_TIME = 0.01
"""Seconds in which steps are done before it is seen whether there is something more urgent."""

_RARELY = 30
"""How many times longer than a look takes is waited before the next."""

_PARTIAL = 0.4
"""Seconds after which a part of an answer is sent."""

_TYPED = 100
"""Answers about texts of before that are remembered of each run."""

_NICENESS = 10
"""How far it stands back, where there are too few processors, behind the server, for whose answers somebody waits."""

_QUESTION, _LOAD, _QUESTION_ABOUT_RUNS, _JUDGE = range(4)


@dataclass(slots=True)
class _Job:
    """Work in steps. `order` is smaller for what is more urgent."""

    order: tuple[float, ...]
    steps: Iterator[None]
    failed: Callable[[str], None] | None = None


class Worker:
    """The state and the jobs. `send` takes a message for the server."""

    def __init__(self, send: Callable[[object], None]) -> None:
        self._send = send
        self._state = State()
        self._jobs: dict[object, _Job] = {}
        self._count = self._said = 0
        self._module_states: dict[str, dict[str, FileState | None]] = {}
        """The modules that each policy uses, as they were on disk."""
        self._sent: dict[str, Judged] = {}
        self._counted: dict[str, Counted] = {}

    @property
    def busy(self) -> bool:
        """Whether there is something to do."""
        return bool(self._jobs)

    # --- what the server says ---

    def take(self, message: object) -> None:
        """Take up a message; the work it asks for is done later."""
        match message:
            case Policies(policies, number):
                self._said = number
                self._policies(policies)
            case Forget(paths, number):
                self._said = number
                for path in paths:
                    self._state.drop(path)
                    self._jobs.pop(("judge", path), None)
                    self._module_states.pop(path, None)
                    self._sent.pop(path, None)
                    self._counted.pop(path, None)
                self._state.tidy()
                self._judge_users({*paths})
            case Withdraw(number):
                self._jobs.pop(("ask", number), None)
            case Rescan():
                self.look()
            case Question(number, what):
                # What asks about runs is answered when they are there, and not as if there were none.
                unread = what not in OF_TESTS and any(runs.summary is None for runs in self._state.runs.values())
                failed = partial(self._failed, number)
                self._add(("ask", number), _QUESTION_ABOUT_RUNS if unread else _QUESTION, self._answer(message), failed)

    def look(self) -> None:
        """See whether runs have changed, and read them again where they have; likewise modules that policies use."""
        for runs in list(self._state.runs.values()):
            if ("load", runs.sources) not in self._jobs and runs.changed():
                self._load(runs)
        for path in self._state.judged():
            known = self._module_states.get(path, {})
            if any(state_of(module) != state for module, state in known.items()):
                self._judge(path)

    def _policies(self, policies: tuple[TrackedPolicy, ...]) -> None:
        before = dict(self._state.tracked)
        for tracked in policies:
            self._state.set(tracked)
        self._state.tidy()
        for runs in self._state.runs.values():
            if runs.summary is None and ("load", runs.sources) not in self._jobs:
                self._load(runs)
        unknown: dict[RunSources, list[str]] = {}
        for tracked in policies:
            older = before.get(tracked.path)
            if older is None or older.sources != tracked.sources:
                unknown.setdefault(tracked.sources, []).append(tracked.path)
        for sources, paths in unknown.items():
            if sources in self._state.runs:
                self._send_loaded(self._state.runs[sources], paths, frozenset())
        self._judge_users({tracked.path for tracked in policies})

    def _judge_users(self, changed: set[str]) -> None:
        """Judge what has changed, or uses what has, now or when the runs are there.

        What a policy uses is not known before it was judged.
        """
        for path in self._state.judged():
            used = self._module_states.get(path)
            if path in changed or used is None or changed.intersection(used):
                self._judge(path)

    # --- jobs ---

    def _add(self, key: object, order: int, steps: Iterator[None], failed: Callable[[str], None] | None = None) -> None:
        self._count += 1
        # Of policies the one that came last is looked at now; questions and runs are taken in turn.
        place = -self._count if order == _JUDGE else self._count
        self._jobs[key] = _Job((order, place), steps, failed)

    def step(self) -> None:
        """Do a few steps of the most urgent job."""
        key, job = min(self._jobs.items(), key=lambda found: found[1].order)
        try:
            with limited(TOO_LONG if job.order[0] == _JUDGE else TOO_LONG_TO_READ):
                until = time.monotonic() + _AT_A_TIME
                while time.monotonic() < until:
                    next(job.steps)
            return
        except StopIteration:
            why = None
        except (NoAnswer, TooLong) as error:
            why = str(error)
        except InputError as error:
            why = error.diagnostics[0].message if error.diagnostics else "it cannot be read"
        except Exception as error:  # a fault of ours in one job must not end the others
            _LOG.exception("a job failed: %s", key)
            why = f"{type(error).__name__}: {error}"
        if self._jobs.get(key) is job:
            del self._jobs[key]
        if why is not None and job.failed is not None:
            job.failed(why)

    def _failed(self, number: int, why: str) -> None:
        self._send(QuestionFailed(number, why))

    def _answer(self, ask: Question) -> Iterator[None]:
        value = None
        for value in answer_steps(ask, self._state):
            if value is None:
                yield
        self._send(Answer(ask.number, value))

    # --- runs ---

    def _load(self, runs: Runs) -> None:
        self._add(("load", runs.sources), _LOAD, self._loading(runs), partial(self._loading_failed, runs))

    def _loading_failed(self, runs: Runs, why: str) -> None:
        """Say that runs cannot be had: whoever waits for them waits in vain."""
        runs.give_up(why)
        self._loaded(runs, frozenset())

    def _loading(self, runs: Runs) -> Iterator[None]:
        title = "Reading recorded runs"
        read: set[str] = set()
        told = False
        try:
            for done, of, path in runs.load(self._state.recordings):
                if path is not None:
                    read.add(path)
                    told = True
                    self._send(Progress(title, f"{done} of {of}", 100 * done // of))
                yield
        finally:
            if told:
                self._send(Progress(title, done=True))
        self._loaded(runs, frozenset(read))

    def _loaded(self, runs: Runs, files: frozenset[str]) -> None:
        paths = [path for path, tracked in self._state.tracked.items() if tracked.sources == runs.sources]
        self._send_loaded(runs, paths, files)
        for path in self._state.judged():
            if path in paths:
                self._judge(path)

    def _send_loaded(self, runs: Runs, paths: list[str], files: frozenset[str]) -> None:
        if runs.summary is not None:
            self._send(RunsLoaded(runs.summary, tuple(paths), files))

    # --- policies ---

    def _judge(self, path: str) -> None:
        tracked, runs = self._state.tracked[path], self._state.runs_for(path)
        if runs is not None:
            judging = Judging(tracked, self._state.source(path), runs, self._counted.get(path))
            self._add(("judge", path), _JUDGE, self._judging(judging), partial(self._judging_failed, judging))

    def _judging_failed(self, judging: Judging, why: str) -> None:  # noqa: ARG002 - it says nothing to the user
        """Say that there will be no more of a policy than there is."""
        judging.complete = True
        self._send_result(judging)

    def _judging(self, judging: Judging) -> Iterator[None]:
        told = time.monotonic()
        for _ in judging.steps(self._state.access):
            if judging.policy is not None and time.monotonic() - told > _PARTIAL:
                self._send_result(judging)
                told = time.monotonic()
            yield
        self._send_result(judging)
        if judging.counted is not None:
            self._counted[judging.tracked.path] = judging.counted
            self._forget(judging.runs, judging.counted.fared.keys())

    def _forget(self, runs: Runs, known: Set[int]) -> None:
        """Of each run, forget answers about texts that were typed over; the last few may come back.

        What is known of the text that was judged last is not asked for anew, so its age says nothing.
        """
        needed = sum(len(judged.statements) for judged in self._sent.values()) + self._state.statements
        for run in (*runs.recorded, *runs.benign):
            run.forget(needed + _TYPED, known)

    def _send_result(self, judging: Judging) -> None:
        """Send the results of judging a policy so far."""
        result = replace(judging.result(), after=self._said)
        self._module_states[result.path] = {module: state_of(module) for module in result.needs}
        self._sent[result.path] = result
        self._send(result)


def main() -> None:
    """Work until the input ends."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    incoming, outgoing = _own_streams()
    messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(incoming, messages), name="listen", daemon=True).start()

    def send(message: object) -> None:
        try:
            outgoing.write(frame(message))
            outgoing.flush()
        except OSError:  # the server is gone
            os._exit(0)

    worker, wait = Worker(send), LOOK
    while True:
        try:
            if worker.busy:
                worker.take(messages.get_nowait())
            else:
                worker.take(messages.get(timeout=wait))
        except queue.Empty:
            if worker.busy:
                worker.step()
            else:
                started = time.monotonic()
                worker.look()
                wait = max(LOOK, _RARELY * (time.monotonic() - started))


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """The pipes to the server, out of reach of whatever else reads or prints: that gets nothing, or standard error."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return os.fdopen(incoming, "rb"), os.fdopen(outgoing, "wb")


def _listen(stream: BinaryIO, messages: queue.SimpleQueue[Any]) -> None:
    """Pass on what the server says; without it there is nobody to work for, whatever is being done."""
    try:
        while (message := read_frame(stream)) is not None:
            messages.put(message)
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()

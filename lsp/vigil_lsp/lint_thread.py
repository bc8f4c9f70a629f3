"""The thread that lints: the newest text of each policy, one after the other, open policies first."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.lint.memory import Memory
from vigil_lang.lint.run import Stopped, lint_policy

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable

    from vigil_lang.lint.run import Linted, Plan
    from vigil_lang.semantics.policy import Policy

    Then: TypeAlias = Callable[[Linted | None], object]


_LOG = logging.getLogger(__name__)

_LONGEST_PAUSE = 0.1
"""Seconds."""


_REMEMBERED = 8
"""Policies whose findings are remembered by item."""


@dataclass(frozen=True, eq=False, slots=True)
class _Job:
    policy: Policy
    plan: Plan
    then: Then
    hurried: bool


class LintThread:
    """Lints in a thread of its own, and hands the findings to the event loop."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._jobs: dict[str, _Job] = {}
        self._memories: dict[str, Memory] = {}
        self._changed = threading.Condition()
        self._current: _Job | None = None
        self._wanted = True
        self._ended = False
        self._free = threading.Event()
        self._free.set()
        self._thread = threading.Thread(target=self._work, name="vigil-lint", daemon=True)
        self._thread.start()

    def lint(self, policy: Policy, plan: Plan, then: Then, *, hurried: bool = True) -> None:
        """Lint a policy; an older text of it is no longer wanted. `hurried` ones come before the others.

        `then` gets what came of it on the event loop, None where linting failed; nothing when a newer text came.
        """
        job = _Job(policy, plan, then, hurried)
        with self._changed:
            self._drop(policy.path)
            if self._current is not None and hurried and not self._current.hurried:
                waiting = self._current  # what nobody waits for begins anew later
                self._jobs.setdefault(waiting.policy.path, waiting)
                self._wanted = False
            self._jobs[policy.path] = job
            self._changed.notify()

    def drop(self, path: str) -> None:
        """A policy's findings are no longer wanted."""
        with self._changed:
            self._drop(path)

    async def end(self) -> None:
        """Finish nothing, and take nothing more; returns when the thread has ended.

        An interpreter that ends while a thread is in compiled code takes the whole process down.
        """
        with self._changed:
            self._ended = True
            self._wanted = False
            self._jobs.clear()
            self._changed.notify()
        await self._loop.run_in_executor(None, self._thread.join)

    def _drop(self, path: str) -> None:
        self._jobs.pop(path, None)
        if self._current is not None and self._current.policy.path == path:
            self._wanted = False

    def pause(self) -> None:
        """Let the event loop have the processor: somebody waits for an answer."""
        self._free.clear()

    def resume(self) -> None:
        """Go on."""
        self._free.set()

    def _going(self) -> bool:
        self._free.wait(_LONGEST_PAUSE)
        return self._wanted

    def _work(self) -> None:
        _warm_up()
        while (job := self._next()) is not None:
            linted: Linted | None = None
            try:
                linted = lint_policy(job.policy, job.plan, self._going, self._memory(job))
            except Stopped:
                continue
            except Exception:  # a fault of ours in one policy must not end the others'
                _LOG.exception("linting %s failed", job.policy.path)
            finally:
                with self._changed:
                    self._current = None
            try:
                self._loop.call_soon_threadsafe(job.then, linted)
            except RuntimeError:  # the loop is closed
                return

    def _memory(self, job: _Job) -> Memory | None:
        """What the linter remembers of a policy's last text; that of few policies, as only one or two are typed in."""
        if not job.hurried:
            return None
        memory = self._memories.pop(job.policy.path, None) or Memory()
        self._memories[job.policy.path] = memory
        if len(self._memories) > _REMEMBERED:
            del self._memories[next(iter(self._memories))]
        return memory

    def _next(self) -> _Job | None:
        with self._changed:
            while not self._jobs and not self._ended:
                self._changed.wait()
            if self._ended:
                return None
            path = next((path for path, job in self._jobs.items() if job.hurried), next(iter(self._jobs)))
            self._current = self._jobs.pop(path)
            self._wanted = True
            return self._current


def _warm_up() -> None:
    """Import what the first policy would wait for."""
    from vigil_lang.lint.registry import all_rules
    from vigil_lang.trace.vocabulary import vocabulary

    all_rules(), vocabulary()

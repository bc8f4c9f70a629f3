"""One run of a guard: which calls may be made, and how those that were made ended."""

from __future__ import annotations

import threading
import time
from collections import deque
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, Literal

from vigil_lang.diagnostics.visible import visible
from vigil_lang.enforce.blocked import Blocked, in_words, not_judged
from vigil_lang.trace import checked
from vigil_lang.trace.record import Call, Message, Result
from vigil_lang.trace.values import canonical

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterator
    from contextvars import ContextVar, Token
    from types import TracebackType

    from vigil_lang.enforce.run import Broken, MonitoredRun, Obligation, Proposal, RunOutcome
    from vigil_lang.trace import Trace

    Ask = Callable[[Blocked], bool | Awaitable[bool]]
    Warn = Callable[[str], object]

_JUDGING: Final = threading.RLock()
"""One decision at a time in a process: what reads calls keeps what it has read lately, for all runs."""
_judging = False


class GuardedRun:
    """One run of a guard, and the current one inside `with`."""

    def __init__(self, run: MonitoredRun, current: ContextVar[GuardedRun], ask: Ask | None, warn: Warn) -> None:
        run.reports_results = True
        self._run = run
        self._current = current
        self._token: Token[GuardedRun] | None = None
        self._ask = ask
        self._warn = warn
        self._ends: deque[Result | str] = deque()
        """Results to take in before the next decision; a text in place of one says why it is not known."""
        self._told: set[object] = set()
        """The violations that were told before their calls were made."""
        self.outcome: RunOutcome | None = None
        """What the run came to, once it has been left."""

    def __enter__(self) -> GuardedRun:
        if self._token is not None:
            raise RuntimeError("the run has been entered already")
        self._token = self._current.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._token is not None
        with suppress(ValueError):  # an asynchronous fixture is left in another context than it was entered in
            self._current.reset(self._token)
        self.leave(error)

    def leave(self, error: BaseException | None) -> None:
        """Close the run, and tell what it violates and nobody was told of; an error on its way out goes before."""
        if self.outcome is not None:
            return
        try:
            with self._deciding():
                has_calls = bool(self._run.trace.events)
                self.outcome = self._run.close()
            if error is None and (has_calls or self.outcome.unjudged):
                new = [broken for broken in self.outcome.broken if _offence(broken) not in self._told]
                for said in (*map(in_words, new), *map(not_judged, self.outcome.unjudged)):
                    self._warn(visible(f"the run is over, and {said}"))
        except Exception:
            if error is None:
                raise

    def say(self, role: Literal["user", "agent"], text: str) -> None:
        """What the user or the agent says. Raises `TypeError`, and `ValueError` where the run is closed."""
        checked.one_of(role, "role", ("user", "agent"))
        message = Message(role, canonical(checked.named(text, "text")), _now())
        with self._deciding():
            self._run.say(message)

    def pending(self) -> tuple[Obligation, ...]:
        """What is owed, statement by statement, oldest first."""
        with self._deciding():
            return self._run.pending()

    def trace(self) -> Trace:
        """The run so far, calls in flight as they are."""
        with self._deciding():
            return self._run.trace

    @property
    def broken(self) -> tuple[Broken, ...]:
        """The violations that are certain, also those that only a call's result showed."""
        with self._deciding():
            return self._run.broken

    # --- decisions ---

    @contextmanager
    def _deciding(self) -> Iterator[None]:
        """Nothing else is decided meanwhile; every result that is known counts.

        Raises:
            RuntimeError: this is called, by a finaliser or a signal handler, in the middle of a decision.
        """
        global _judging
        with _JUDGING:
            if _judging:
                raise RuntimeError("it was called while another call was being judged")
            try:
                _judging = True
                self._take_in()
                yield
            finally:
                _judging = False

    def _take_in(self) -> None:
        while self._ends:
            end = self._ends.popleft()
            if isinstance(end, str):
                self._run.lose_track(end)
            elif self.outcome is None:
                self._run.end(end)

    def ended(self, end: Result | str) -> None:
        """A call has ended. This never waits, for a finaliser may call it at any time."""
        self._ends.append(end)

    def admitted(self, name: str, read: Callable[[], dict[str, Any]]) -> Generator[Blocked, object, str]:
        """Begin a call if it may be made, and give its key. Yields what to ask a person about; the answer is sent in.

        Raises:
            Blocked: it may not be made.
        """
        try:
            input_ = read()
            answered: set[object] = set()
            while True:
                call = Call("", name, input_, _now())
                with self._deciding():
                    call.key = f"call-{self._run.length}"
                    proposal = self._run.propose(call)
                    if proposal.decision != "block" and answered.issuperset(map(_identity, proposal.broken)):
                        self._run.begin(call)
                        self._told.update(map(_offence, proposal.broken))
                        return call.key
                for broken in self._warned(name, proposal):
                    answered.add(_identity(broken))
                if proposal.decision == "hold":
                    held = tuple(b for b in proposal.broken if b.reaction == "hold")
                    why = "there is nobody to ask" if self._ask is None else ""
                    blocked = Blocked(name, "statement", "hold", held, (), proposal.events, why)
                    if self._ask is None or (yield blocked) is not True:
                        raise blocked
                    answered.update(map(_identity, held))
        except Blocked:
            raise
        except Exception as error:
            raise _fault(name, error) from error

    def _warned(self, name: str, proposal: Proposal) -> Iterator[Broken]:
        """Refuse what is to be blocked; tell what is only warned of."""
        if proposal.decision == "block":
            blocking = tuple(b for b in proposal.broken if b.reaction == "block")
            kind: Literal["statement", "fault"] = "statement" if blocking else "fault"
            raise Blocked(name, kind, "block", blocking, proposal.unjudged, proposal.events)
        for broken in proposal.broken:
            if broken.reaction == "warn":
                self._warn(visible(f"`{name}` is called, and {in_words(broken)}"))
                yield broken

    def answer(self, question: Blocked) -> object:
        """The answer of `ask`, or an awaitable of it."""
        assert self._ask is not None
        return self._ask(question)


def _now() -> int:
    return time.time_ns() // 1000


def _identity(broken: Broken) -> object:
    """What stays the same when a call is proposed again, although its events may then have other ids."""
    return broken.policy, broken.statement.name, tuple(broken.offence.bindings.items())


def _offence(broken: Broken) -> object:
    return broken.policy, broken.statement.name, broken.offence.event


def _fault(name: str, error: Exception) -> Blocked:
    try:
        why = str(error)
    except Exception:
        why = ""
    what = f"{type(error).__name__}: {why}" if why else type(error).__name__
    return Blocked(name, "fault", why=f"it could not be judged ({what})")

"""Runs that a program follows itself: it says what is about to happen, and what happened (docs/guard.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.abstraction.run import Options
from vigil_lang.api import Call, Message, records_of, usable_policies
from vigil_lang.enforce.run import PolicyMonitor
from vigil_lang.trace import Event, Run, checked
from vigil_lang.trace import record as records
from vigil_lang.trace.event import is_kept, refuse
from vigil_lang.trace.values import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.enforce.run import Broken, MonitoredRun, Obligation, Proposal, RunOutcome
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Status, Trace

_DEFAULTS = Options()


class Monitor:
    """Policies, compiled once, that runs are judged by while they happen.

    Raises:
        TypeError: `policies` takes a policy or several.
        ValueError: there is no policy, or no statement in any.
        InputError: a policy has findings that keep statements from having a meaning.
    """

    def __init__(self, policies: Policy | Iterable[Policy]) -> None:
        self._monitor = PolicyMonitor(usable_policies(policies))

    def run(self, *, name: str = "<memory>", cwd: str | None = None, options: Options = _DEFAULTS) -> LiveRun:
        """A run that begins. `name` is what messages call it, `cwd` the folder that it starts in.

        Raises:
            TypeError: an argument is not of its type; the message names it and says what it takes.
        """
        run = Run(checked.named(name, "name"), cwd=None if cwd is None else checked.named(cwd, "cwd"))
        return LiveRun(self._monitor.run(run, options))

    def restore(self, state: bytes, *, options: Options = _DEFAULTS) -> LiveRun:
        """The run that `LiveRun.snapshot` was taken of, which goes on as if it had not been.

        Under other policies its events are judged anew. `options` are no part of a snapshot.

        Raises:
            TypeError: `state` takes bytes.
            ValueError: it is no snapshot.
        """
        if not isinstance(state, bytes):
            raise TypeError(f"`state` takes the bytes of a snapshot, not {checked.shown(state)}")
        return LiveRun(self._monitor.restore(state, options))


class LiveRun:
    """One run while it happens. Several threads must not use it at once; `guard` is for those."""

    def __init__(self, run: MonitoredRun) -> None:
        self._run = run

    def propose(self, call: Call | Event | Iterable[Event]) -> Proposal:
        """What a call, or a call with these events, would violate if it were made now and succeeded.

        Nothing remembers it. How the call ended, where it says so, does not count.

        Raises:
            TypeError: `call` takes a call or events.
            ValueError: the run is closed, an id is taken, calls and events are mixed, or arguments cannot be named.
        """
        return self._run.propose(self._issued(call)[0] if isinstance(call, Call) else _events(call, "call"))

    def begin(self, call: Call) -> str:
        """A call is made and in flight; gives its key, for `end`. Raises as `propose` does."""
        if not isinstance(call, Call):
            raise TypeError(f"`call` takes a `Call`, not {checked.shown(call)}")
        begun, _ = self._issued(call)
        self._run.begin(begun)
        return begun.key

    def end(
        self,
        key: str,
        status: Status,
        output: str | None = None,
        *,
        exit_code: int | None = None,
        executed: bool = True,
    ) -> tuple[Broken, ...]:
        """How a call in flight ended; gives what is newly violated for certain.

        `executed` is False for a call that was not made after all.

        Raises:
            TypeError: an argument is not of its type; the message names it and says what it takes.
            ValueError: the run is closed, or no such call is in flight.
        """
        checked.text(key, "key")
        Call("ended", status=status, output=output, exit_code=exit_code, executed=executed)
        shown = None if output is None else canonical(output)
        return self._run.end(records.Result(key, status, shown, executed, exit_code))

    def step(self, what: Call | Message | Event | Iterable[Event], *, ended: bool = True) -> tuple[Broken, ...]:
        """What happened: a call with its end, a message, or events; gives what is newly violated for certain.

        A call without a status and an output stays in flight, and so do events that have not `ended`; a later step with
        events of the same ids ends those. A call that was not executed leaves nothing.

        Raises:
            TypeError: `what` takes a call, a message or events.
            ValueError: as of `propose`.
        """
        checked.flag(ended, "ended")
        if isinstance(what, Message):
            (said,) = records_of(what, 0)
            assert isinstance(said, records.Message)
            return self._run.say(said)
        if isinstance(what, Call):
            begun, result = self._issued(what)
            if not what.executed:
                return ()
            found = self._run.begin(begun)
            return found if result is None else (*found, *self._run.end(result))
        events = _events(what, "what")
        if not self._run.is_in_flight(events):
            events = self._run.numbered(events)
            found = self._run.begin(events)
            return found if not ended else (*found, *self._run.end(events))
        return self._run.end(events) if ended else ()

    def pending(self) -> tuple[Obligation, ...]:
        """What is owed, statement by statement, oldest first."""
        return self._run.pending()

    def trace(self) -> Trace:
        """The run so far, calls in flight as they are."""
        return self._run.trace

    def close(self) -> RunOutcome:
        """The run is over: what `vigil_lang.verify` says of its trace, without the solver's answers.

        Raises:
            ValueError: the run is closed.
        """
        return self._run.close()

    def snapshot(self) -> bytes:
        """The run as it is, for `Monitor.restore`.

        Raises:
            ValueError: the run is closed.
        """
        return self._run.snapshot()

    def _issued(self, call: Call) -> tuple[records.Call, records.Result | None]:
        """A call, and its end where that is known, under a key that no other has."""
        begun, *ends = records_of(call, self._run.length)
        assert isinstance(begun, records.Call)
        result = ends[0] if ends else None
        assert result is None or isinstance(result, records.Result)
        return begun, result


def _events(given: object, name: str) -> tuple[Event, ...]:
    """One event or several, as they are judged."""
    what = "a `Call`, an event or several"
    found = (given,) if isinstance(given, Event) else tuple(checked.several(given, name, what))
    if not found:
        raise ValueError(f"`{name}` has no event")
    for event in found:
        if not isinstance(event, Event):
            raise TypeError(f"`{name}` takes {what}, not {checked.shown(event)}")
        if not is_kept(event):
            refuse(event)
    return found

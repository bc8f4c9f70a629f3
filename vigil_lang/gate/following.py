"""Runs in progress, as the log tells them: what passed, and how it ended, taken in by a monitor."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from vigil_lang.trace import Event, Run, Status
from vigil_lang.trace.record import Call, Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.enforce.run import MonitoredRun, PolicyMonitor, Proposal
    from vigil_lang.gate.log.log import Log
    from vigil_lang.gate.request import Request
    from vigil_lang.gate.store import Store


@dataclass(slots=True)
class LiveRun:
    """A run as it is followed: up to which entry, how many calls passed, and which wait for their outcome.

    Where outcomes are not `reported`, a call is over when the next is asked for.
    """

    run: MonitoredRun
    reported: bool
    upto: int = -1
    calls: int = 0
    open: dict[str, tuple[Event, ...] | None] = field(default_factory=dict)
    """By their keys, with their events where they were asked for as events."""

    def propose(self, request: Request) -> Proposal:
        """What an action would be and break, if it were made now."""
        self._assume_ended()
        return self.run.propose(_call(request, "proposed"))

    def passed(self, request: Request, seq: int) -> None:
        """An action passed by the decision of this number."""
        self._begin(_call(request, key_of(seq)), seq)

    def take_in(self, seq: int, entry: dict[str, Any], log: Log) -> None:
        """An entry of the run, written by this process or another."""
        match entry["kind"]:
            case "decision":
                self._assume_ended()
                if entry["mode"] == "pass":
                    self._begin(_recorded(log.plain(seq, "/inputs"), key_of(seq)), seq)
            case "outcome":
                output = None if entry["output"] is None else log.plain(seq, "/output")
                self._end(key_of(entry["decision"]), entry["status"], output)
        self.upto = seq

    def _begin(self, call: Call | Sequence[Event] | None, seq: int) -> None:
        self.calls += 1
        if call is None:
            self.run.lose_track(f"the arguments of the call {seq} were deleted")
            return
        given = call if isinstance(call, Call) else self.run.numbered(call)
        self.run.begin(given)
        self.open[key_of(seq)] = None if isinstance(given, Call) else given

    def _assume_ended(self) -> None:
        for key in () if self.reported else tuple(self.open):
            self._end(key, "unknown", None)

    def _end(self, key: str, status: Status, output: str | None) -> None:
        if key not in self.open:
            return
        events = self.open.pop(key)
        if events is None:
            self.run.end(Result(key, status, output))
        else:
            first, *steps = (replace(event, status=status) for event in events)
            self.run.end((replace(first, output=output), *steps))


class Following:
    """The runs that a process follows, each read from the log when it is first asked for."""

    def __init__(self, monitor: PolicyMonitor, store: Store, log: Log) -> None:
        self._monitor = monitor
        self._store = store
        self._log = log
        self._live: dict[str, LiveRun] = {}

    def run(self, name: str) -> LiveRun | None:
        """A run, with all that the log has of it taken in; None where it has not begun."""
        live = self._live.get(name)
        for seq, entry in self._store.of_run(name, -1 if live is None else live.upto):
            if entry["kind"] == "run_start":
                run = self._monitor.run(Run(name, cwd=entry["cwd"]))
                live = self._live[name] = LiveRun(run, entry["outcomes"] == "reported", seq)
            elif live is not None:
                live.take_in(seq, entry, self._log)
        return live

    def forget(self, name: str | None = None) -> None:
        """Drop what is known of a run, or of all: it is read again when it is needed."""
        if name is None:
            self._live.clear()
        else:
            self._live.pop(name, None)


def key_of(seq: int) -> str:
    """The key of the call that passed by a decision."""
    return f"call {seq}"


def _call(request: Request, key: str) -> Call | tuple[Event, ...]:
    return Call(key, request.tool, dict(request.input)) if request.input is not None else request.events


def _recorded(inputs: Any, key: str) -> Call | tuple[Event, ...] | None:
    """A call that had passed, from what is kept of it; None where that was deleted."""
    if inputs is None:
        return None
    action = inputs["action"]
    if "events" in action:
        return tuple(Event.of(one["action"], one["args"], kinds=one["kinds"]) for one in action["events"])
    return Call(key, action["tool"], action["input"])

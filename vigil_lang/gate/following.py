"""Runs in progress, as the log tells them: what passed, and how it ended, taken in by a monitor."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from vigil_lang.trace import Event, Run, Status
from vigil_lang.trace.record import Call, Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.enforce.run import MonitoredRun, PolicyMonitor, Proposal
    from vigil_lang.gate.log.log import Log
    from vigil_lang.gate.store import Store


@dataclass(slots=True)
class LiveRun:
    """A run as it is followed: up to which entry, how many calls passed, and which wait for their outcome.

    Where outcomes are not `reported`, a call is over when the next is asked for.
    """

    run: MonitoredRun
    reported: bool
    authority_digest: str
    upto: int = -1
    tier: int = 0
    calls: int = 0
    open: dict[str, tuple[Event, ...] | None] = field(default_factory=dict)
    """By their keys, with their events where they were asked for as events."""

    def propose(self, action: Mapping[str, Any], time: int | None) -> Proposal:
        """What an action, as a request has it, would be and break at a time (microseconds since 1970)."""
        self._assume_ended()
        return self.run.propose(_call(action, "proposed", time))

    def passed(self, action: Mapping[str, Any] | None, time: int | None, seq: int) -> None:
        """An action passed by the decision of this number; None where what it was has been deleted."""
        self.calls += 1
        if action is None:
            self.run.lose_track(f"the arguments of the call {seq} were deleted")
            return
        call = _call(action, key_of(seq), time)
        given = call if isinstance(call, Call) else self.run.numbered(call)
        self.run.begin(given)
        self.open[key_of(seq)] = None if isinstance(given, Call) else given

    def take_in(self, seq: int, entry: Mapping[str, Any], value: Any) -> None:
        """An entry of the run, with the plain value of its inputs or its output; None where that was deleted."""
        match entry["kind"]:
            case "decision":
                self._assume_ended()
                if entry["mode"] == "pass" and value is None:
                    self.passed(None, None, seq)
                elif entry["mode"] == "pass":
                    self.passed(value["action"], time_of(value), seq)
                self.noted(seq, entry)
            case "outcome":
                self._end(key_of(entry["decision"]), entry["status"], value)
        self.upto = seq

    def noted(self, seq: int, entry: Mapping[str, Any]) -> None:
        """A decision about the run is in the log."""
        self.authority_digest, self.tier, self.upto = entry["authority_digest"], entry["tier"], seq

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
        if live is not None and live.upto == self._log.size - 1:
            return live
        for seq, entry in self._store.of_run(name, -1 if live is None else live.upto):
            if entry["kind"] == "run_start":
                live = self._live[name] = begun(self._monitor, seq, entry)
            elif live is not None:
                value = None
                if entry["kind"] == "outcome":
                    value = None if entry["output"] is None else self._log.plain(seq, "/output")
                elif entry["mode"] == "pass":
                    value = self._log.plain(seq, "/inputs")
                live.take_in(seq, entry, value)
        return live

    def unknown(self, name: str, cwd: str | None) -> LiveRun:
        """A run that has not begun, as it would be: nothing remembers it."""
        return LiveRun(self._monitor.run(Run(name, cwd=cwd)), False, "")

    def names(self) -> tuple[str, ...]:
        """The runs that are followed."""
        return tuple(self._live)

    def forget(self, name: str | None = None) -> None:
        """Drop what is known of a run, or of all: it is read again when it is needed."""
        if name is None:
            self._live.clear()
        else:
            self._live.pop(name, None)


def key_of(seq: int) -> str:
    """The key of the call that passed by a decision."""
    return f"call {seq}"


def begun(monitor: PolicyMonitor, seq: int, entry: Mapping[str, Any]) -> LiveRun:
    """A run that begins by an entry of the log."""
    run = monitor.run(Run(entry["run"], cwd=entry["cwd"]))
    return LiveRun(run, entry["outcomes"] == "reported", entry["authority_digest"], seq)


def time_of(inputs: Mapping[str, Any]) -> int | None:
    """When an action was proposed, by the recorded inputs of its decision."""
    time: int | None = inputs["events"][0]["time"]
    return time


def _call(action: Mapping[str, Any], key: str, time: int | None) -> Call | tuple[Event, ...]:
    if "events" not in action:
        return Call(key, action["tool"], dict(action["input"]), time)
    found = [Event.of(one["action"], one["args"], kinds=one["kinds"]) for one in action["events"]]
    return tuple(replace(event, time=time) for event in found)

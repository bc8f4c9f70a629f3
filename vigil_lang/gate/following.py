"""Runs in progress, as the log tells them: what passed, and how it ended, taken in by a monitor."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - snapshots are read by these types
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import field
from msgspec.structs import replace

from vigil_lang.base.structs import Mutable
from vigil_lang.gate.log.kinds import OF_RUNS
from vigil_lang.gate.log.log import moment
from vigil_lang.trace import Event, Run, Status, Trace
from vigil_lang.trace.record import Call, Message, Result

if TYPE_CHECKING:
    from vigil_lang.enforce.run import Broken, MonitoredRun, Proposal
    from vigil_lang.gate.layers import LayeredPolicies
    from vigil_lang.gate.log.log import Log
    from vigil_lang.gate.run_snapshots import Bound, RunSnapshots
    from vigil_lang.gate.shelf import Shelf
    from vigil_lang.gate.store import Store

MOST = 200
"""So many runs a process keeps in memory; the one that was asked for longest ago is taken up again from a snapshot."""

EVERY = 32
"""So many things happen in a run between two snapshots of it: those that a new process reads from the log."""

TAIL = 4
"""So many entries of the log that had to be taken in when a run was taken up are a reason for a snapshot: whoever takes
it up next, such as the next hook without a daemon, need not take them in again."""

_LARGE = 100_000
"""Bytes of the last snapshot for which one thing more happens before the next."""


class InFlight(NamedTuple):
    """A call that passed and has not ended: its decision, by number and entry, and its events where it was asked for as
    events."""

    seq: int
    entry: Mapping[str, Any]
    events: tuple[Event, ...] | None = None


class LiveState(msgspec.Struct):
    """What a snapshot has of a `LiveRun` beside its `run` and policies."""

    reported: bool
    authority_digest: str
    agent: str
    upto: int
    tier: int
    calls: int
    open: dict[str, InFlight]
    late: dict[str, InFlight]
    asked: dict[str, dict[str, str | None]]
    halted: str | None
    changed: list[tuple[str, str | None]]


class LiveRun(Mutable):
    """A run as it is followed: up to which entry, how many calls passed, and which wait for their outcome.

    Where outcomes are not `reported`, a call is over when the next is asked for. A turn that ends ends its calls too:
    what is told of them afterwards is `late`.
    """

    run: MonitoredRun
    reported: bool
    authority_digest: str
    policies: LayeredPolicies
    agent: str = ""
    upto: int = -1
    tier: int = 0
    calls: int = 0
    open: dict[str, InFlight] = field(default_factory=dict)
    """The calls in flight by their keys, oldest first."""
    late: dict[str, InFlight] = field(default_factory=dict)
    """The calls that ended with their turn, and may still be told of."""
    asked: dict[str, dict[str, str | None]] = field(default_factory=dict)
    """By the host's id of a call, the digests of the actions that were asked for under it, the first of which it stands
    for; each with the key of the call where it was made."""
    halted: str | None = None
    changed: set[tuple[str, str | None]] = field(default_factory=set)
    """The contents of policy files that were noted, by path and digest."""
    since: int = 0
    """How often it was asked for, or an entry taken in, since its last snapshot."""
    size: int = 0
    """The bytes of that."""

    def state(self) -> LiveState:
        """What the gate knows of the run beside what its policies do."""
        changed = sorted(self.changed, key=repr)
        values = {name: getattr(self, name) for name in LiveState.__struct_fields__}
        return LiveState(**values | {"changed": changed})

    def go_by(self, policies: LayeredPolicies) -> None:
        """From its beginning the run is judged by other policies."""
        self.run, self.policies = policies.monitor.restore(self.run.snapshot()), policies

    def propose(self, action: Mapping[str, Any], time: int | None, who: Mapping[str, Any]) -> Proposal:
        """What an action, as a request has it, would be and break at a time (microseconds since 1970)."""
        self._assume_ended()
        return self.run.propose(_call(action, "proposed", time, who))

    def passed(
        self,
        action: Mapping[str, Any] | None,
        time: int | None,
        who: Mapping[str, Any],
        seq: int,
        entry: Mapping[str, Any],
    ) -> tuple[Broken, ...]:
        """An action is made by the entry of this number; None where what it was has been deleted."""
        self.calls += 1
        if action is None:
            self.run.lose_track(f"the arguments of the call {seq} were deleted")
            return ()
        call = _call(action, key_of(seq), time, who)
        given = call if isinstance(call, Call) else self.run.numbered(call)
        found = self.run.begin(given)
        self.open[key_of(seq)] = InFlight(seq, entry, None if isinstance(given, Call) else given)
        return found

    def take_in(self, seq: int, entry: Mapping[str, Any], value: Any) -> tuple[Broken, ...]:
        """An entry of the run, with its plain value (None where that was deleted); gives what is newly violated."""
        found: tuple[Broken, ...] = ()
        match entry["kind"]:
            case "decision":
                self._assume_ended()
                if is_made(entry):
                    action, time, who = (None, None, {}) if value is None else proposed(value)
                    found = self.passed(action, time, who, seq, entry)
                self.noted(seq, entry)
            case "outcome":
                found = self._ended(entry, value)
            case "unasked":
                found = self._unasked(seq, entry, value)
            case "message":
                found = self._said(seq, entry, value)
            case "turn_end":
                for key in [key for key, each in self.open.items() if session_of(each.entry) == entry["session"]]:
                    self.late[key] = self.open[key]
                    found += self._end(key, Result(key))
            case "halt":
                self.halted = entry["why"]
            case "resume":
                self.halted = None
            case "policy_change":
                self.changed.add((entry["path"], entry["digest"]))
        self.upto = seq
        return found

    def noted(self, seq: int, entry: Mapping[str, Any]) -> None:
        """A decision about the run is in the log."""
        self.authority_digest, self.tier, self.upto = entry["authority_digest"], entry["tier"], seq
        self._note_id(seq, entry)

    def events_of(self, call: InFlight) -> tuple[Event, ...]:
        """The events of a call in flight."""
        if call.events is not None:
            return call.events
        return tuple(event for event in self.run.trace.events if event.call == key_of(call.seq))

    def settled(self) -> Trace:
        """The run without its calls in flight, which guard nothing yet."""
        flying = {key_of(each.seq) for each in self.open.values()}
        trace = self.run.trace
        return Trace(tuple(event for event in trace.events if event.call not in flying), trace.run)

    def call_of(self, call: str | None, action: str | None) -> str | None:
        """The key of a call that has not ended, or ended with its turn: by the host's id, else the oldest with the
        digest of an action. None where there is none."""
        waiting = {**self.open, **self.late}
        if call is not None:
            named = [key for key, each in waiting.items() if each.entry.get("call") == call]
            if named or call in self.asked:
                same = (key for key in named if waiting[key].entry["action_digest"] == action)
                return next(same, next(iter(named), None))
        for calls in (self.open, self.late):
            for key, each in calls.items():
                if each.entry["action_digest"] == action and (call is None or each.entry.get("call") is None):
                    return key
        return None

    def _note_id(self, seq: int, entry: Mapping[str, Any]) -> None:
        if (call := entry.get("call")) is not None:
            known, action = self.asked.setdefault(call, {}), entry["action_digest"]
            known[action] = key_of(seq) if is_made(entry) else known.get(action)

    def _ended(self, entry: Mapping[str, Any], output: str | None) -> tuple[Broken, ...]:
        key = key_of(entry["decision"])
        self.late.pop(key, None)
        executed, code, cwd = entry.get("executed", True), entry.get("exit_code"), entry.get("cwd")
        return self._end(key, Result(key, entry["status"], output, executed, code, cwd))

    def _unasked(self, seq: int, entry: Mapping[str, Any], made: Any) -> tuple[Broken, ...]:
        self._assume_ended()
        self._note_id(seq, entry)
        if made is None:
            return self.passed(None, None, {}, seq, entry)
        try:
            found = self.passed(made["action"], moment(entry["at"]), made["who"], seq, entry)
        except ValueError:  # it has no events: the run has lost track of what happened
            return ()
        key, output = key_of(seq), made["output"]
        result = Result(key, entry["status"], output, exit_code=entry["exit_code"], cwd=entry["cwd"])
        return (*found, *self._end(key, result))

    def _said(self, seq: int, entry: Mapping[str, Any], text: str | None) -> tuple[Broken, ...]:
        if text is None:
            self.run.lose_track(f"the text of the message {seq} was deleted")
            return ()
        self._assume_ended()
        return self.run.say(Message(entry["role"], text, moment(entry["at"]), entry["session"], entry["parent"]))

    def _assume_ended(self) -> None:
        for key in () if self.reported else tuple(self.open):
            self._end(key, Result(key))

    def _end(self, key: str, result: Result) -> tuple[Broken, ...]:
        call = self.open.pop(key, None)
        if call is None:
            return ()
        if call.events is None:
            return self.run.end(result)
        if not result.executed:
            self.run.deny(call.events[0].id)
            return ()
        status: Status = result.status
        first, *steps = (replace(event, status=status) for event in call.events)
        return self.run.end((replace(first, output=result.output), *steps))


class Following:
    """The runs that a process follows, each taken up from its snapshot, or read from the log, when it is asked for."""

    def __init__(self, shelf: Shelf, store: Store, log: Log, snapshots: RunSnapshots) -> None:
        self._shelf = shelf
        self._store = store
        self._log = log
        self._snapshots = snapshots
        self._live: dict[str, LiveRun] = {}
        """Those that were asked for last, the latest last."""
        self._names: dict[str, None] = {}
        self._due: set[str] = set()

    def run(self, name: str) -> LiveRun | None:
        """A run, with all that the log has of it taken in; None where it has not begun.

        Where its policies became others, it is judged anew by them from its beginning.
        """
        live = self._live.get(name)
        if live is None or live.upto < self._log.last_of(name):
            live = self._taken_up(name, live or self._stored(name))
        if live is not None:
            live.since += 1
            if live.since >= EVERY + live.size // _LARGE:
                self._due.add(name)
        return live

    def known(self, name: str) -> LiveRun | None:
        """A run as this process last saw it, for what never changes of one that began; None where it saw none.

        Unlike anything else here, it may be asked without the lock.
        """
        return self._live.get(name)

    def _taken_up(self, name: str, live: LiveRun | None) -> LiveRun | None:
        """A run, with what the log has of it since it was as given."""
        entries = list(self._store.of_run(name, -1 if live is None else live.upto))
        others = [entry["policy_digest"] for _, entry in entries if entry["kind"] == "run_policy"]
        if others and live is not None:
            live.go_by(self._shelf.policies(others[-1]))
        for seq, entry in entries:
            if entry["kind"] == "run_start":
                live = begun(self._policies(entry, others), seq, entry)
            elif live is not None:
                path = OF_RUNS[entry["kind"]]
                live.take_in(seq, entry, self._log.plain(seq, path) if path and has_value(entry) else None)
                live.since += 1
        if len(entries) >= TAIL:
            self._due.add(name)
        if live is not None:  # it is whole: what fails on the way leaves nothing half taken in
            self._live.pop(name, None)
            self._live[name] = live
            self._names[name] = None
            if len(self._live) > MOST:
                del self._live[next(iter(self._live))]
        return live

    def _stored(self, name: str) -> LiveRun | None:
        """A run as its snapshot has it, None where there is none that fits the log and the policies."""
        found = self._snapshots.read(name)
        if found is None:
            return None
        bound, snapshot = found
        if self._store.leaf(name, bound.upto) != bytes.fromhex(bound.leaf):
            return None
        policies = self._shelf.policies(bound.policies) if bound.own else self._shelf.settings
        if policies.digest != bound.policies:
            return None
        with suppress(ValueError):
            state = _STATE(bound.live)
            run = policies.monitor.restore(snapshot)
            members = {each: getattr(state, each) for each in LiveState.__struct_fields__}
            live = LiveRun(run=run, policies=policies, size=len(snapshot), **members)
            live.changed = set(state.changed)
            return live
        return None

    def due(self) -> list[tuple[Bound, bytes]]:
        """The snapshots that are due, with what they are bound to."""
        found = []
        for name in self._due:
            live = self._live.get(name)
            with suppress(Exception):  # it is read from the log where it has none
                if live is not None:
                    live.since = 0
                    found.append(self._snapshot(name, live))
                    live.size = len(found[-1][1])
        self._due.clear()
        return found

    def _snapshot(self, name: str, live: LiveRun) -> tuple[Bound, bytes]:
        leaf = self._store.leaf(name, live.upto)
        if leaf is None:
            raise ValueError("the index does not know the last entry of the run")
        own = live.policies is not self._shelf.settings
        bound = self._snapshots.bound(name, live.policies.digest, own, live.upto, leaf, live.state())
        return bound, live.run.snapshot()

    def _policies(self, start: Mapping[str, Any], others: list[str]) -> LayeredPolicies:
        if not others and not start.get("own"):
            return self._shelf.settings
        return self._shelf.policies(others[-1] if others else start["policy_digest"])

    def unknown(self, name: str, cwd: str | None) -> LiveRun:
        """A run that has not begun, as it would be: nothing remembers it."""
        policies = self._shelf.settings
        return LiveRun(policies.monitor.run(Run(name, cwd=cwd)), False, "", policies)

    def names(self) -> tuple[str, ...]:
        """The runs that are followed."""
        return tuple(self._names)

    def forget(self, name: str | None = None) -> None:
        """Drop what is known of a run, or of all: it is read again when it is needed."""
        if name is None:
            self._live.clear()
            self._names.clear()
        else:
            self._live.pop(name, None)
            self._names.pop(name, None)

    def over(self, name: str) -> None:
        """A run is over: nothing is kept of it beside the log."""
        self.forget(name)
        self._snapshots.forget(name)


def key_of(seq: int) -> str:
    """The key of the call that was made by an entry."""
    return f"call {seq}"


def is_made(entry: Mapping[str, Any]) -> bool:
    """Whether a call became part of its run by an entry: it passed, or was only observed."""
    return entry["kind"] != "decision" or entry["mode"] == "pass" or entry.get("observed") is True


def has_value(entry: Mapping[str, Any]) -> bool:
    """Whether what a run is followed by needs the plain value of an entry, and there was one."""
    match entry["kind"]:
        case "decision":
            return is_made(entry)
        case "outcome":
            return entry["output"] is not None
    return True


def session_of(entry: Mapping[str, Any]) -> str:
    """The session of the call that an entry is about."""
    found: str = entry.get("session", "")
    return found


def begun(policies: LayeredPolicies, seq: int, entry: Mapping[str, Any]) -> LiveRun:
    """A run that begins by an entry of the log."""
    run = policies.monitor.run(Run(entry["run"], cwd=entry["cwd"]))
    run.reports_results = reported = entry["outcomes"] == "reported"
    return LiveRun(run, reported, entry["authority_digest"], policies, entry["agent"], seq)


def proposed(inputs: Mapping[str, Any]) -> tuple[Mapping[str, Any], int | None, Mapping[str, Any]]:
    """An action by the recorded inputs of its decision, when it was proposed, and who did it where."""
    return inputs["action"], inputs["events"][0]["time"], inputs["who"]


def _call(action: Mapping[str, Any], key: str, time: int | None, who: Mapping[str, Any]) -> Call | tuple[Event, ...]:
    if "events" not in action:
        place = who.get("directory"), who.get("session", ""), who.get("parent")
        return Call(key, action["tool"], dict(action["input"]), time, *place, kinds=tuple(action.get("kinds", ())))
    found = [Event.of(one["action"], one["args"], kinds=one["kinds"]) for one in action["events"]]
    return tuple(replace(event, time=time) for event in found)


_STATE = msgspec.json.Decoder(LiveState).decode

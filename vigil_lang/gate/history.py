"""Runs as people look back on them: what was decided in each, what it breaks, and what is owed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from vigil_lang.gate.answer import Answer
from vigil_lang.gate.decide import Decision, Reason
from vigil_lang.gate.following import begun, has_value, is_made, key_of, proposed
from vigil_lang.gate.log.kinds import OF_RUNS
from vigil_lang.gate.log.log import moment
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.enforce.run import Broken, NotJudged, Obligation
    from vigil_lang.gate.following import LiveRun
    from vigil_lang.gate.gate import Gate
    from vigil_lang.gate.layers import LayeredPolicies
    from vigil_lang.gate.store import Run
    from vigil_lang.trace import Trace

RunState: TypeAlias = Literal["live", "halted", "ended"]
Standing: TypeAlias = Literal["violated", "not judged", "owes", "satisfied"]
"""The verdict on a run so far, the gravest first. `owes`: nothing is violated unless what is owed stays undone.
`satisfied` can still be broken while the run goes on."""


class NoSuchEvent(ValueError):
    """Nothing in the run goes by that name; the text says what does."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a run in the log: its number, its members, and its plain value (None where it has none, or that was
    deleted)."""

    seq: int
    members: Mapping[str, Any]
    value: Any

    @property
    def at(self) -> int:
        """When it was written, in microseconds since 1970."""
        return moment(self.members["at"])


@dataclass(frozen=True, slots=True)
class Seen:
    """A run in a look: how many of its calls passed, were held, blocked, or made without being asked for, how many of
    them were `observed` only, and its verdict so far.

    `broken` and `owed` name statements; `fault` says why nothing of the run can be judged.
    """

    run: Run
    state: RunState
    passed: int
    held: int
    blocked: int
    unasked: int
    observed: int
    standing: Standing
    broken: tuple[Broken, ...]
    unjudged: tuple[NotJudged, ...]
    owed: tuple[Obligation, ...]
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Explained:
    """A decision again, with what a person needs to understand it.

    `before` is the run until then, `policies` those it went by. `broken_since` has the violations by events of the call
    that came to be after it was made.
    """

    entry: Entry
    answer: Answer
    tool: str
    before: Trace
    after: Trace
    policies: LayeredPolicies
    broken_since: tuple[Broken, ...]


def entries_of(gate: Gate, run: str) -> tuple[Entry, ...]:
    """What the log has of a run, in order.

    Raises:
        StateError: the log cannot be read.
        ValueError: no such run began.
    """
    with gate.holds.transaction():
        found = []
        for seq, members in gate.store.of_run(run, -1):
            path = OF_RUNS[members["kind"]]
            wanted = path is not None and (members["kind"] == "decision" or has_value(members))
            found.append(Entry(seq, members, gate.log.plain(seq, path) if wanted and path else None))
    if not found:
        raise ValueError(f"there is no run {run}: `vigil runs` lists them")
    return tuple(found)


def seen(gate: Gate, run: Run) -> Seen:
    """A run in a look.

    Raises:
        StateError: the log or the policies of the run cannot be read.
    """
    entries = entries_of(gate, run.name)
    asked = [each.members for each in entries if each.members["kind"] == "decision"]
    modes = [each["mode"] for each in asked]
    broken: tuple[Broken, ...] = ()
    unjudged: tuple[NotJudged, ...] = ()
    owed: tuple[Obligation, ...] = ()
    fault: str | None = None
    with gate.holds.transaction():
        try:
            live = gate.follow(run.name)
        except StateError as error:  # one run that cannot be judged hides no other
            fault = str(error)
        else:
            broken, unjudged, owed = live.run.broken, live.run.unjudged, live.run.pending()
            if run.ended is not None:
                over = live.policies.monitor.restore(live.run.snapshot()).close()
                broken, unjudged, owed = over.broken, over.unjudged, ()
    state: RunState = "ended" if run.ended is not None else "halted" if run.halted is not None else "live"
    standing: Standing = (
        "violated" if broken
        else "not judged" if unjudged or fault
        else "owes" if owed
        else "satisfied"
    )  # fmt: skip
    return Seen(
        run,
        state,
        modes.count("pass"),
        modes.count("hold"),
        modes.count("block"),
        sum(each.members["kind"] == "unasked" for each in entries),
        sum(each.get("observed") is True for each in asked),
        standing,
        broken,
        unjudged,
        owed,
        fault,
    )


def entry_named(gate: Gate, run: str, name: str | None) -> Entry:
    """A call of a run: by the number of its entry, the host's id of the call, or the id of one of its events.

    Without a name, the last decision that was not to pass.

    Raises:
        StateError: the log cannot be read.
        NoSuchEvent: no call goes by that name.
        ValueError: no such run began.
    """
    entries = [each for each in entries_of(gate, run) if each.members["kind"] in ("decision", "unasked")]
    if name is None:
        stopped = [each for each in entries if each.members.get("mode") in ("hold", "block")]
        if not stopped:
            raise NoSuchEvent(f"no call of the run {run} was held or blocked: name one")
        return stopped[-1]
    key = next((event.call for event in gate.trace(run).events if event.id == name), None)
    for each in reversed(entries):
        if name in (str(each.seq), each.members.get("call")) or key == key_of(each.seq):
            return each
    raise NoSuchEvent(f"no call of the run {run} is named {name}: `vigil runs {run}` lists them")


def explained(gate: Gate, run: str, entry: Entry) -> Explained:
    """A decision again, as it was taken.

    Raises:
        StateError: the log or the policies of the run cannot be read.
        NoSuchEvent: its arguments were deleted, or nobody decided about it.
    """
    if entry.members["kind"] != "decision":
        raise NoSuchEvent(f"entry {entry.seq} is a call that was made without being asked for: nobody decided about it")
    if entry.value is None:
        raise NoSuchEvent(f"the arguments of the call {entry.seq} were deleted: what led to its decision is not known")
    with gate.holds.transaction():
        policies = gate.policies_of(entry.members["policy_digest"])
    live = _until(run, entry.seq, entries_of(gate, run), policies)
    proposal = live.propose(*proposed(entry.value))
    members = entry.members
    record = tuple((name, tuple(values)) for name, values in members["record"].items())
    reasons = tuple(msgspec.convert(each | {"is": "Reason"}, Reason) for each in members["reasons"])
    decision = Decision(members["mode"], reasons, tuple(members["approvals"]), record)
    hold = members.get("hold", {}).get("id") or members.get("joined")
    with gate.holds.transaction():
        held = None if hold is None else gate.holds.get(hold)
    answer = Answer(
        decision,
        entry.seq,
        members["action_digest"],
        members["policy_digest"],
        members["authority_digest"],
        members["tier"],
        held,
        proposal.broken,
        proposal.events,
    )
    trace, own = gate.trace(run), key_of(entry.seq)
    ids = {event.id for event in trace.events if event.call == own}
    with gate.holds.transaction():
        now = gate.follow(run).run.broken
    since = tuple(each for each in now if each.offence.event in ids) if is_made(members) else ()
    tool = str(entry.value["action"].get("tool", ""))
    return Explained(entry, answer, tool, live.settled(), trace, policies, since)


def _until(run: str, seq: int, entries: tuple[Entry, ...], policies: LayeredPolicies) -> LiveRun:
    """A run as it was before an entry."""
    first, *others = (each for each in entries if each.seq < seq)
    if first.members["kind"] != "run_start":
        raise NoSuchEvent(f"the log does not have the beginning of the run {run}")
    live = begun(policies, first.seq, first.members)
    for each in others:
        live.take_in(each.seq, each.members, each.value if has_value(each.members) else None)
    return live

"""Replaying a log: what each run's decisions follow from, and whether its statements said so at each call."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import msgspec

from vigil_lang.gate.log.derivation import CannotDerive, difference
from vigil_lang.gate.log.kinds import OF_RUNS
from vigil_lang.gate.log.reading import CannotRead, LogCopy, reason
from vigil_lang.gate.log.verifying import INPUTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vigil_lang.gate.log.derivation import Derivation
    from vigil_lang.gate.log.side_store import PlainValue


class Follower(Protocol):
    """The statements in force, along the recorded events of one run."""

    def proposed(self, policy_digest: str, inputs: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """What a call would violate, as the recorded inputs have it in `broken`."""

    def happened(self, seq: int, entry: Mapping[str, Any], value: Any) -> None:
        """An entry of the run, with its plain value (None where it has none, or that was deleted)."""


Follow: TypeAlias = "Callable[[str], Follower]"
"""Gives what follows a run, by its name."""


class Differing(NamedTuple):
    """A decision that is not what its inputs, or the statements of its run, lead to."""

    seq: int
    message: str


class ReplayedRun:
    """What became of a run's decisions: how many there are, and were derived again, and which of them differ.

    `not_followed` are those that follow from their inputs, but what their statements said could not be judged anew.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.decisions = self.derived = self.deleted = self.not_derived = self.not_followed = 0
        self.differing: list[Differing] = []
        self.why_not: str | None = None
        """Why the last decision could not be derived that was not."""

    def to_json(self) -> dict[str, Any]:
        """As it is published, in `vigil.audit_replay/1`."""
        return {
            "run": self.name,
            "decisions": self.decisions,
            "derived": self.derived,
            "deleted": self.deleted,
            "not_derived": self.not_derived,
            "not_followed": self.not_followed,
            "differing": [each._asdict() for each in self.differing],
        }


def replay(
    log: LogCopy, derivation: Derivation | None, follow: Follow | None = None, run: str | None = None
) -> list[ReplayedRun]:
    """Replay the runs of a log, or one of them, in the order in which they began to be decided about.

    Raises:
        CannotRead: the log or its side store cannot be read.
    """
    found: dict[str, ReplayedRun] = {}
    followers: dict[str, Follower] = {}
    try:
        with log.plain() as rows:
            plain = _Plain(rows)
            for seq, entry in log.entries():
                values = plain.of(seq)
                name = entry.get("run")
                if not isinstance(name, str) or (run is not None and name != run):
                    continue
                if follow is not None and name not in followers:
                    followers[name] = follow(name)
                follower = followers.get(name)
                if entry["kind"] == "decision":
                    one = found.setdefault(name, ReplayedRun(name))
                    _replay_decision(one, seq, entry, values.get(INPUTS), derivation, follower)
                if follower is not None and entry["kind"] in OF_RUNS:
                    follower.happened(seq, entry, values.get(OF_RUNS[entry["kind"]] or ""))
    except (sqlite3.Error, OSError) as error:
        raise CannotRead(f"the side store cannot be read: {reason(error)}") from None
    return list(found.values())


def _replay_decision(
    run: ReplayedRun,
    seq: int,
    entry: Mapping[str, Any],
    inputs: Any,
    derivation: Derivation | None,
    follower: Follower | None,
) -> None:
    run.decisions += 1
    if inputs is None:
        run.deleted += 1
        return
    try:
        if derivation is None:
            raise CannotDerive("nothing here reads policies")
        differs = difference(entry, derivation.derived(entry.get("policy_digest"), inputs))
    except CannotDerive as error:
        run.not_derived += 1
        run.why_not = str(error)
        return
    run.derived += 1
    if differs is None and follower is not None:
        try:
            proposed = [dict(each) for each in follower.proposed(str(entry.get("policy_digest")), inputs)]
        except CannotDerive as error:
            run.not_followed += 1
            run.why_not = str(error)
            return
        if proposed != inputs["broken"]:
            differs = "its statements say something else of the call"
    if differs is not None:
        run.differing.append(Differing(seq, differs))


class _Plain:
    """The values of the side store, entry by entry."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self._next: PlainValue | None = next(rows, None)

    def of(self, seq: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self._next is not None and self._next.seq <= seq:
            if self._next.seq == seq:
                try:
                    found[self._next.path] = msgspec.json.decode(self._next.value)
                except (ValueError, RecursionError):
                    raise CannotRead(f"the plain value of entry {seq} is damaged") from None
            self._next = next(self._rows, None)
        return found

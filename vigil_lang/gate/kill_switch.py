"""Revoking: the next list put in force, what hangs on it made void, and who has seen it (docs/revocation.md).

The list is in force before anything else is tried: a log that is damaged does not keep an agent alive.
"""

from __future__ import annotations

import re
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from vigil_lang.diagnostics.visible import visible
from vigil_lang.gate.authority.keys import public_bytes
from vigil_lang.gate.holds import Holds
from vigil_lang.gate.log.log import Log, now, text_of
from vigil_lang.gate.revocation import Entry, Revocations, note_list
from vigil_lang.gate.state import StateError, StateFolder
from vigil_lang.gate.storage.opening import open_storage
from vigil_lang.gate.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vigil_lang.gate.authority.keys import Key
    from vigil_lang.gate.revocation import Kind, Revoked
    from vigil_lang.gate.settings import Settings
    from vigil_lang.gate.store import Entry as LogEntry
    from vigil_lang.gate.store import Hold, Run

WAIT = 1.0
"""Seconds that are waited for live runs to see a new list."""

_LOOK = 0.05
_LINK = re.compile(r"[0-9a-f]{64}")


class NoSuchName(ValueError):
    """A name stands for nothing that is known, or for more than one thing."""


class SeenBy(NamedTuple):
    """A live run, and the list that it last acknowledged where that is the new one; else when it was last seen
    (microseconds since 1970)."""

    run: str
    agent: str
    acknowledged: int | None
    since: int


class Killed(NamedTuple):
    """What a kill came to: the list in force, the live runs that it concerns, the holds that it made void, and why it
    could not be logged."""

    revoked: Revoked
    runs: tuple[SeenBy, ...]
    void: tuple[str, ...]
    fault: str | None = None

    @property
    def everywhere(self) -> bool:
        """Whether every live run that it concerns is known to have seen it."""
        return self.fault is None and all(each.acknowledged is not None for each in self.runs)


class KillSwitch:
    """Revokes and restores in a state folder. `wait` is how many seconds live runs have to acknowledge a list.

    `clock` gives microseconds since 1970.
    """

    def __init__(
        self, folder: StateFolder, settings: Settings, *, wait: float = WAIT, clock: Callable[[], int] = now
    ) -> None:
        # A lock of its own: a gate of this process may hold that of `folder` in another thread.
        self._storage = open_storage(StateFolder(folder.path), settings)
        self._settings = settings
        self._wait = wait
        self._clock = clock
        self._revocations = Revocations(self._storage, settings.revocation)

    def meant(self, name: str) -> Entry:
        """What a bare name stands for: a key or a link by its form, else an agent or a run that is known.

        Raises:
            NoSuchName: nothing of that name is known, or both an agent and a run.
            StateError: the log cannot be read.
        """
        if name.startswith("ed25519:"):
            return Entry("key", name)
        with self._opened() as (_, store, holds), holds.transaction():
            runs = store.runs()
        agents = {*self._settings.authority.chains, *self._settings.context, *(each.agent for each in runs)}
        kinds: list[Kind] = ["agent"] if name in agents else []
        kinds += ["run"] if any(each.name == name for each in runs) else []
        kinds += ["link"] if not kinds and _LINK.fullmatch(name) else []
        if len(kinds) != 1:
            known = "both an agent and a run have" if kinds else "no agent and no run that is known has"
            raise NoSuchName(f"{known} the name `{visible(name)}`")
        return Entry(kinds[0], name)

    def revoke(self, entry: Entry, key: Key, seconds: int, *, undo: bool = False) -> Killed:
        """Put a list in force that revokes an entry too, or with `undo` no more, and say who has seen it.

        `seconds` is how long the list is good for.

        Raises:
            NoSuchName: with `undo`, the entry is not revoked.
            StateError: no key or link is written like this, or the list cannot be put in force; nothing was changed.
        """
        if not undo:
            _refuse_misspelt(entry)
        revoked = self._publish(entry, key, seconds, undo=undo)
        void: Sequence[Hold] = ()
        runs: tuple[SeenBy, ...] = ()
        try:
            with self._opened() as (log, store, holds):
                with holds.transaction():
                    revoked = self._above_logged(store, revoked, entry, key, seconds, undo=undo)
                    note_list(revoked, log, store)
                    void = () if undo else holds.void(f"{entry} is revoked", _hangs_on(entry))
                runs = self._seen_by(store, holds, entry, revoked.seq)
        except StateError as error:
            return Killed(revoked, runs, tuple(each.id for each in void), str(error))
        return Killed(revoked, runs, tuple(each.id for each in void))

    def put(self, data: bytes) -> Killed:
        """Put a list in force that was signed elsewhere, and say who has seen it.

        Raises:
            StateError: it counts for nothing, or cannot be put in force; nothing was changed.
        """
        at = self._clock() // 1_000_000
        with self._revocations.alone():
            before = self._revocations.current(at)
            revoked = self._revocations.put(data, at)
        assert revoked.list is not None
        known = before.list.revoked if before.list else ()
        new = [each for each in revoked.list.revoked if each not in known]
        void: list[str] = []
        runs: dict[str, SeenBy] = {}
        try:
            with self._opened() as (log, store, holds):
                with holds.transaction():
                    note_list(revoked, log, store)
                    for entry in new:
                        void += [each.id for each in holds.void(f"{entry} is revoked", _hangs_on(entry))]
                for entry in new:
                    runs |= {each.run: each for each in self._seen_by(store, holds, entry, revoked.seq)}
        except StateError as error:
            return Killed(revoked, tuple(runs.values()), tuple(void), str(error))
        return Killed(revoked, tuple(runs.values()), tuple(void))

    @contextmanager
    def _opened(self) -> Iterator[tuple[Log, Store, Holds]]:
        """The log with what it comes to, which are read in a transaction."""
        log = Log(self._storage, self._settings.log, self._clock)
        with closing(Store(self._storage, log)) as store:
            yield log, store, Holds(self._storage, log, store, self._settings.holds, clock=self._clock)

    def _publish(self, entry: Entry, key: Key, seconds: int, *, undo: bool) -> Revoked:
        at = self._clock() // 1_000_000
        with self._revocations.alone():
            found = self._revocations.current(at)
            before = set(self._logged(found) if found.fault else found.list.revoked if found.list else ())
            if undo and entry not in before:
                raise NoSuchName(f"{entry} is not revoked")
            after = before - {entry} if undo else before | {entry}
            return self._revocations.publish(after, key, at, at + seconds)

    def _logged(self, found: Revoked) -> tuple[Entry, ...]:
        """What is revoked by the newest list in the log: for one that is missing or damaged."""
        with self._opened() as (_, store, holds), holds.transaction():
            lists = store.revocation_lists()
        if not lists or lists[-1]["seq"] < self._revocations.last_seq():
            raise StateError(f"{found.fault}; the log does not tell what it was")
        self._revocations.known(lists[-1]["seq"])
        return _entries(lists[-1])

    def _above_logged(
        self, store: Store, mine: Revoked, entry: Entry, key: Key, seconds: int, *, undo: bool
    ) -> Revoked:
        """The list that was put in force, or one above all that the log has where that was made of an old one that had
        been put back: it revokes what both do, and the entry as is asked for.

        The log may have the list already, as gates note what they see, and newer ones that others made of it.
        """
        at = self._clock() // 1_000_000
        with self._revocations.alone():
            now = self._revocations.current(at)
            others = [each for each in store.revocation_lists(mine.seq) if not _is_made_of(each, mine, now)]
            if not others:
                return mine
            after = {*_entries(others[-1]), *(now.list.revoked if now.list else ()), entry}
            self._revocations.known(store.last_revocations())
            return self._revocations.publish(after - {entry} if undo else after, key, at, at + seconds)

    def _seen_by(self, store: Store, holds: Holds, entry: Entry, seq: int) -> tuple[SeenBy, ...]:
        """The live runs that an entry concerns, as soon as all have acknowledged the list, or the time is over."""
        end = time.monotonic() + self._wait
        while True:
            with holds.transaction():
                runs = store.runs()
            live = (run for run in runs if run.ended is None and _concerns(entry, run))
            found = tuple(sorted(_seen(run, seq) for run in live))
            if time.monotonic() >= end or all(each.acknowledged is not None for each in found):
                return found
            time.sleep(_LOOK)


def killed_json(killed: Killed) -> dict[str, object]:
    """What a kill came to, as it is published: `not_seen` since a time, or `acknowledged` at the number of a list."""
    runs = [
        {"run": each.run, "agent": each.agent}
        | (
            {"state": "not_seen", "since": text_of(each.since)}
            if each.acknowledged is None
            else {"state": "acknowledged", "seq": each.acknowledged}
        )
        for each in killed.runs
    ]
    return {
        "seq": killed.revoked.seq,
        "revoked": killed.revoked.members()["revoked"],
        "runs": runs,
        "void": list(killed.void),
        "fault": killed.fault,
    }


def _seen(run: Run, seq: int) -> SeenBy:
    seen = run.acknowledged is not None and run.acknowledged >= seq
    return SeenBy(run.name, run.agent, run.acknowledged if seen else None, run.seen)


def _concerns(entry: Entry, run: Run) -> bool:
    """Whether a run has to see that something is revoked. Which runs act under a key or a link only they know."""
    match entry.kind:
        case "agent":
            return run.agent == entry.name
        case "run":
            return run.name == entry.name
        case _:
            return True


def _refuse_misspelt(entry: Entry) -> None:
    """A key or link that nothing can have would be told as revoked, and the one that was meant goes on."""
    if entry.kind == "key" and public_bytes(entry.name) is None:
        raise StateError(f"`{entry.name}` is no public key: that is `ed25519:` and 43 characters")
    if entry.kind == "link" and _LINK.fullmatch(entry.name) is None:
        raise StateError(f"`{entry.name}` is no id of a link: that is 64 hexadecimal digits, in lower case")


def _hangs_on(entry: Entry) -> Callable[[Hold], bool]:
    """Whether a hold, pending or approved, is void where something is revoked: its agent or run, the chain that it was
    decided under, or somebody who confirmed it."""

    def concerned(hold: Hold) -> bool:
        match entry.kind:
            case "all":
                return True
            case "agent" | "run":
                return bool(hold.opened.get(entry.kind) == entry.name)
            case "link":
                return bool(hold.opened.get("authority_digest") == entry.name)
            case "key":
                return hold.opened["hold"].get("asker") == entry.name or any(
                    each.get("by") == entry.name for each in hold.confirmations
                )

    return concerned


def _is_made_of(logged: LogEntry, mine: Revoked, now: Revoked) -> bool:
    """Whether a list in the log is one that was put in force, or may be made of it: it is now, or came before that."""
    if logged["seq"] in (mine.seq, now.seq):
        return logged["digest"] in (mine.digest, now.digest)
    return bool(logged["seq"] < now.seq)


def _entries(logged: LogEntry) -> tuple[Entry, ...]:
    return msgspec.convert(logged["revoked"], tuple[Entry, ...])

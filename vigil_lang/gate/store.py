"""What the log comes to: `index.sqlite`, a projection of the log that can be made anew from it at any time.

The index also knows the hash of every leaf that it has applied. A log that has fewer entries than the index was cut.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import msgspec

from vigil_lang.gate.confirmation import check_approval, check_denial, held_for
from vigil_lang.gate.decide.model import Who
from vigil_lang.gate.log.kinds import OF_RUNS
from vigil_lang.gate.log.log import moment
from vigil_lang.gate.log.tree import leaf_hash
from vigil_lang.gate.notices import told
from vigil_lang.gate.passkeys import is_passkey
from vigil_lang.gate.people import KINDS, TABLES, People, apply_to, wrong_with_word
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.gate.authority.chain import Per
    from vigil_lang.gate.log.log import Log
    from vigil_lang.gate.notices.told import Untold
    from vigil_lang.gate.storage.storage import Storage

SCHEMA = 5
"""The version of the tables: an index of another one is made anew."""

HoldState: TypeAlias = Literal["pending", "approved", "denied", "expired", "cancelled"]
STATES: tuple[HoldState, ...] = get_args(HoldState)
"""A hold leaves `pending` once, and none of the others."""

Entry: TypeAlias = dict[str, Any]

_TABLES = """
CREATE TABLE applied (
    one INTEGER PRIMARY KEY CHECK (one = 1), entries INTEGER NOT NULL, last INTEGER NOT NULL, bytes INTEGER NOT NULL,
    batch TEXT NOT NULL
) STRICT;
INSERT INTO applied VALUES (1, 0, 0, 0, '[]');
CREATE TABLE entries (
    seq INTEGER PRIMARY KEY, leaf BLOB NOT NULL, start INTEGER NOT NULL, kind TEXT NOT NULL, run TEXT
) STRICT;
CREATE INDEX entries_kind ON entries (kind, seq);
CREATE INDEX entries_run ON entries (run, seq) WHERE run IS NOT NULL;
CREATE TABLE hold (
    id TEXT PRIMARY KEY, seq INTEGER NOT NULL UNIQUE, binding TEXT NOT NULL, state TEXT NOT NULL, opened TEXT NOT NULL,
    opened_at INTEGER NOT NULL, expires INTEGER NOT NULL, agent TEXT NOT NULL, for_user INTEGER NOT NULL,
    tier INTEGER NOT NULL,
    closed INTEGER, why TEXT, escalated INTEGER, joined INTEGER NOT NULL DEFAULT 0,
    covers TEXT, uses INTEGER, used INTEGER NOT NULL DEFAULT 0, until INTEGER, who TEXT, void TEXT
) STRICT;
CREATE INDEX hold_state ON hold (state, seq);
CREATE INDEX hold_waits ON hold (for_user, tier DESC, seq) WHERE state = 'pending';
CREATE INDEX hold_ends ON hold (expires) WHERE state = 'pending';
CREATE INDEX hold_escalates ON hold (opened_at) WHERE state = 'pending' AND escalated IS NULL;
CREATE INDEX hold_agent ON hold (agent) WHERE state = 'pending';
CREATE INDEX hold_binding ON hold (binding);
CREATE INDEX hold_covers ON hold (covers) WHERE covers IS NOT NULL;
CREATE TABLE confirmation (
    hold TEXT NOT NULL, "by" TEXT NOT NULL, seq INTEGER NOT NULL UNIQUE, entry TEXT NOT NULL, PRIMARY KEY (hold, "by")
) STRICT, WITHOUT ROWID;
CREATE TABLE run (
    name TEXT PRIMARY KEY, agent TEXT NOT NULL, started INTEGER NOT NULL, seen INTEGER NOT NULL, seq INTEGER NOT NULL,
    ended INTEGER, acknowledged INTEGER, acknowledged_at INTEGER, host TEXT, policy TEXT, halted TEXT
) STRICT;
CREATE TABLE decision (
    seq INTEGER PRIMARY KEY, run TEXT NOT NULL, at INTEGER NOT NULL, mode TEXT NOT NULL, outcome INTEGER, status TEXT
) STRICT;
CREATE INDEX decision_run ON decision (run);
CREATE TABLE passed (
    link TEXT NOT NULL, seq INTEGER NOT NULL, run TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (link, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX passed_run ON passed (link, run);
CREATE INDEX passed_at ON passed (link, at);
CREATE TABLE signal (
    seq INTEGER PRIMARY KEY, run TEXT NOT NULL, source TEXT NOT NULL, score REAL, at INTEGER NOT NULL,
    until INTEGER NOT NULL
) STRICT;
CREATE INDEX signal_run ON signal (run, source);
CREATE TABLE policy (seq INTEGER PRIMARY KEY, digest TEXT NOT NULL) STRICT;
CREATE TABLE revocation (number INTEGER NOT NULL, digest TEXT NOT NULL, seq INTEGER NOT NULL) STRICT;
CREATE INDEX revocation_number ON revocation (number, seq);
"""

_FOLLOWED = ", ".join(f"'{kind}'" for kind in OF_RUNS)

_DECODE = msgspec.json.Decoder(dict[str, Any]).decode


class Hold(msgspec.Struct, frozen=True):
    """A hold as the log has it.

    `opened` is the entry of the decision that opened it and `seq` its number, `closed` that of the entry that ended it
    and `why` what that says. An approved hold covers the binding of its action, or the likeness for a release, `uses`
    times and before `until` (POSIX seconds); `used` says how often it was, `void` why it no longer counts.
    `confirmations` are the entries of those who confirmed so far; `joined` counts how often it was asked for again.
    """

    id: str
    seq: int
    state: HoldState
    opened: Entry
    confirmations: tuple[Entry, ...] = ()
    closed: int | None = None
    why: str | None = None
    escalated: int | None = None
    joined: int = 0
    covers: str | None = None
    uses: int = 0
    used: int = 0
    until: int | None = None
    who: Who | None = None
    void: str | None = None

    @property
    def expires(self) -> int:
        """When it ends unless somebody confirms or denies it before, in POSIX seconds."""
        return int(self.opened["hold"]["expires"])

    @property
    def opened_at(self) -> int:
        """When it was opened, in microseconds since 1970."""
        return moment(self.opened["at"])

    @property
    def confirm_by(self) -> Who:
        """Who may confirm it."""
        return "user" if self.opened["hold"]["confirm_by"] == "user" else "organisation"

    @property
    def quorum(self) -> int:
        """How many have to confirm it."""
        return int(self.opened["hold"]["quorum"])

    @property
    def missing(self) -> int:
        """How many confirmations it lacks."""
        return max(0, self.quorum - len(self.confirmations)) if self.state == "pending" else 0

    @property
    def reasons(self) -> tuple[str, ...]:
        """What a confirmation lifts."""
        return tuple(held_for(self.opened))

    def usable(self, at: int) -> bool:
        """Whether it allows anything at a time, in POSIX seconds."""
        return (
            self.state == "approved"
            and self.void is None
            and self.used < self.uses
            and self.until is not None
            and at < self.until
        )


class Run(msgspec.Struct, frozen=True):
    """A run that the gate knows. It was `seen` last at entry `seq`, and decided under the revocation list of the number
    `acknowledged` since entry `acknowledged_at`. Times are microseconds since 1970. `policy` is the digest of the
    policies that it began with, or goes by since they changed; `halted` says why its calls block."""

    name: str
    agent: str
    started: int
    seen: int
    seq: int
    ended: int | None
    acknowledged: int | None
    acknowledged_at: int | None
    host: str | None
    policy: str | None
    halted: str | None


class Decided(msgspec.Struct, frozen=True):
    """A decision: the number of its entry, when (microseconds since 1970), and what came of the call where that is
    known: the number of that entry, and the status."""

    seq: int
    at: int
    mode: str
    outcome: int | None
    status: str | None


class Signalled(msgspec.Struct, frozen=True):
    """What a source said of a run: `at` in microseconds since 1970, `until` when it counts in POSIX seconds. `score` is
    None where the source failed."""

    source: str
    score: float | None
    at: int
    until: int


class _Applied(NamedTuple):
    """What the index has applied: so many entries, where the last of them begins and ends in the log, those of a batch
    that wait for its last, and the last one's hash. It holds as long as no other connection wrote, by `version`."""

    version: int
    entries: int
    last: int
    end: int
    waiting: list[tuple[int, Entry]]
    leaf: bytes


class Store:
    """The index of a log. Whoever calls `catch_up` holds the folder's lock and has refreshed the log.

    Raises:
        StateError: it cannot be opened, or knows more entries than the log has.
    """

    def __init__(self, storage: Storage, log: Log) -> None:
        self._storage = storage
        self._path = storage.folder.index
        self._log = log
        self._seen: tuple[int, ...] = ()
        """Which file it was, and how many entries and bytes of it were applied, when the index last caught up."""
        self._applied: _Applied | None = None
        self._answers: dict[str, list[Any]] = {}
        """What was asked of holds and policies since an entry changed them, by query."""
        self.people = People(self._rows)
        try:
            with storage.folder.lock():  # who opens it first makes it
                self._make()
                self._base = sqlite3.connect(self._path, timeout=10, isolation_level=None, check_same_thread=False)
                self._base.execute("PRAGMA journal_mode = WAL")
                self._base.execute("PRAGMA synchronous = NORMAL")
                self._base.execute("PRAGMA wal_autocheckpoint = 4000")  # it waits for the disk, and others for it
        except (OSError, sqlite3.Error) as error:
            raise self._broken(error) from error
        storage.at_end(self._settled)

    def _make(self) -> None:
        """Make the file, where there is none. What is left of one that was deleted would bring its rows back."""
        if not os.path.lexists(self._path):
            for suffix in ("-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.unlink(f"{self._path}{suffix}")  # noqa: PTH108 - a text
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))

    def close(self) -> None:
        """Let go of the file."""
        with suppress(sqlite3.Error):
            self._base.close()

    def _broken(self, error: Exception) -> StateError:
        return StateError(f"the index {self._path} cannot be used: {error}")

    # --- applying the log -----------------------------------------------------------------------------------------

    def catch_up(self) -> None:
        """Apply what the log has and the index has not, all or nothing.

        Raises:
            StateError: the log has fewer entries than the index, or others; an entry is not what may follow on those
                before it; the index cannot be read or written.
        """
        try:
            now = self._log.state
            if now == self._seen:
                return
            if not self._base.in_transaction:
                self._base.execute("BEGIN IMMEDIATE")
            known, self._applied = self._applied, None
            try:
                (version,) = self._base.execute("PRAGMA data_version").fetchone()
                if known is None or known.version != version:  # others wrote to it
                    self._prepare()
                    known = self._found(version)
                    self._answers.clear()
                after = self._follow(known)
                if not self._storage.is_transactional:
                    self._base.execute("COMMIT")
            except BaseException:
                self._undo()
                raise
            self._applied, self._seen = after, now
        except (OSError, sqlite3.Error) as error:
            raise self._broken(error) from error

    def _undo(self) -> None:
        """Take back what was applied since the last commit: the next time it is applied again."""
        self._applied, self._seen = None, ()
        self._answers.clear()
        if self._base.in_transaction:
            self._base.execute("ROLLBACK")

    def _settled(self, is_kept: bool) -> None:
        """What was applied stands in the log for good, or never will."""
        with suppress(sqlite3.Error):  # the next who catches up applies it
            if self._base.in_transaction and is_kept:
                self._base.execute("COMMIT")
            elif not is_kept:
                self._undo()

    def _prepare(self) -> None:
        """Make the tables, where they are missing or of another version; how many entries it had is not forgotten."""
        if self._base.execute("PRAGMA user_version").fetchone()[0] == SCHEMA:
            return
        with suppress(sqlite3.OperationalError):  # a new file has no such table
            self._check_size(self._base.execute("SELECT entries FROM applied").fetchone()[0])
        for (name,) in self._base.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            quoted = name.replace('"', '""')
            self._base.execute(f'DROP TABLE "{quoted}"')
        for statement in f"{_TABLES}{TABLES}{told.TABLES}".split(";\n"):
            self._base.execute(statement)
        self._base.execute(f"PRAGMA user_version = {SCHEMA}")

    def _check_size(self, entries: int) -> None:
        if entries > self._log.size:
            raise StateError(f"the log was cut: it has {self._log.size:,} entries, the index knows of {entries:,}")

    def _found(self, version: int) -> _Applied:
        """What the index has applied."""
        query = "SELECT entries, last, bytes, batch FROM applied"
        entries, last, end, batch = self._base.execute(query).fetchone()
        leaf = self._base.execute("SELECT leaf FROM entries WHERE seq = ?", (entries - 1,)).fetchone()
        return _Applied(version, entries, last, end, msgspec.json.decode(batch), leaf[0] if leaf else b"")

    def _follow(self, known: _Applied) -> _Applied:
        entries, last, end, waiting, leaf = known[1:]
        self._check_size(entries)
        lines = self._log.lines(last)
        if entries and leaf_hash(next(lines, b"")) != leaf:
            raise self._changed(entries - 1)
        for seq in range(entries, self._log.size):
            line = next(lines, b"")
            leaf = leaf_hash(line)
            waiting = self._apply(seq, line, leaf, end, waiting)
            last, end = end, end + len(line) + 1
        values = (self._log.size, last, end, msgspec.json.encode(waiting).decode())
        self._base.execute("UPDATE applied SET entries = ?, last = ?, bytes = ?, batch = ?", values)
        return _Applied(known.version, self._log.size, last, end, waiting, leaf)

    def _changed(self, seq: int) -> StateError:
        return StateError(f"the log was changed: entry {seq} is not the one that the index knows")

    def _check_leaf(self, seq: int, line: bytes) -> None:
        (known,) = self._base.execute("SELECT leaf FROM entries WHERE seq = ?", (seq,)).fetchone()
        if leaf_hash(line) != known:
            raise self._changed(seq)

    def _apply(
        self, seq: int, line: bytes, leaf: bytes, start: int, waiting: list[tuple[int, Entry]]
    ) -> list[tuple[int, Entry]]:
        try:
            entry = _DECODE(line)
            kind = entry["kind"]
            run = entry["run"] if kind in OF_RUNS else entry.get("run")
            self._base.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", (seq, leaf, start, kind, run))
            return self._in_batch(seq, entry, waiting)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise StateError(f"entry {seq} of the log is damaged: {type(error).__name__}: {error}") from error

    def _in_batch(self, seq: int, entry: Entry, waiting: list[tuple[int, Entry]]) -> list[tuple[int, Entry]]:
        """Confirmations of a batch count when the last of them is in the log, right after the others, or none does.

        Gives those that wait for the last, as `waiting` has those before.
        """
        batch = entry.get("batch") if entry["kind"] in ("approval", "denial") else None
        if batch is None:
            due, waiting = [(seq, entry)], []
        else:
            follows = waiting and all(waiting[0][1][name] == entry[name] for name in ("kind", "by", "batch"))
            waiting = [*(waiting if follows and entry["hold"] == batch[len(waiting)] else ()), (seq, entry)]
            self._refuse(seq, None if entry["hold"] == batch[len(waiting) - 1] else "the batch has another one first")
            due, waiting = (waiting, []) if len(waiting) == len(batch) else ([], waiting)
        if all(self._in_time(each) for _, each in due):
            for number, each in due:
                self._apply_one(number, each)
        return waiting

    def _in_time(self, entry: Entry) -> bool:
        """False for a confirmation or denial that reached the log after the end of its hold: it counts for nothing."""
        if entry["kind"] not in ("approval", "denial"):
            return True
        return moment(entry["at"]) // 1_000_000 < self._held(entry).expires

    def _apply_one(self, seq: int, entry: Entry) -> None:
        at = moment(entry["at"])
        if entry["kind"] not in OF_RUNS or "hold" in entry:
            self._answers.clear()
        match entry["kind"]:
            case "run_start":
                self._saw(seq, at, entry)
                began = (entry.get("host"), entry.get("policy_digest"), entry["run"])
                self._base.execute("UPDATE run SET host = ?, policy = ? WHERE name = ?", began)
            case "run_policy":
                now = (entry["policy_digest"], entry["run"])
                self._base.execute("UPDATE run SET policy = ? WHERE name = ?", now)
            case "halt" | "resume":
                self._base.execute("UPDATE run SET halted = ? WHERE name = ?", (entry.get("why"), entry["run"]))
            case "unasked" | "message" | "turn_end":
                seen = (at, seq, entry["run"])
                self._base.execute("UPDATE run SET seen = ?, seq = ?, ended = NULL WHERE name = ?", seen)
            case "run_end":
                self._base.execute("UPDATE run SET ended = ? WHERE name = ?", (at, entry["run"]))
            case "decision":
                self._saw(seq, at, entry)
                self._decision(seq, at, entry)
            case "outcome":
                self._base.execute(
                    "UPDATE decision SET outcome = ?, status = ? WHERE seq = ?",
                    (seq, entry["status"], entry["decision"]),
                )
            case "acknowledged":
                self._acknowledged(seq, entry["run"], entry["seq"])
            case "signal":
                values = (seq, entry["run"], entry["source"], entry["score"], at, entry["until"])
                self._base.execute("INSERT INTO signal VALUES (?, ?, ?, ?, ?, ?)", values)
            case kind if kind in KINDS:
                apply_to(self._base, seq, at, entry)
            case "policy":
                self._base.execute("INSERT INTO policy VALUES (?, ?)", (seq, entry["policy_digest"]))
            case "revocation":
                listed = (entry["seq"], entry["digest"], seq)
                self._base.execute("INSERT INTO revocation VALUES (?, ?, ?)", listed)
            case "approval":
                self._approval(seq, entry)
            case "denial":
                hold = self._held(entry)
                self._refuse(seq, check_denial(entry, hold.opened) or self._wrong_with_person(entry))
                self._close(seq, hold, "denied", entry["by"])
            case "expiry":
                hold = self._held(entry)
                self._refuse(seq, "the hold had not ended" if at // 1_000_000 < hold.expires else None)
                self._close(seq, hold, "expired", None)
            case "cancellation":
                self._cancellation(seq, entry)
            case "escalation":
                self._refuse(seq, None if self._held(entry).state == "pending" else "the hold was not pending")
                self._base.execute("UPDATE hold SET escalated = ? WHERE id = ?", (seq, entry["hold"]))
            case "telling" | "told" | "fault":
                told.apply(self._base, seq, entry)

    def _refuse(self, seq: int, why: str | None) -> None:
        if why is not None:
            raise StateError(f"entry {seq} of the log cannot be as it is: {why}")

    def _held(self, entry: Entry) -> Hold:
        hold = self.hold(entry["hold"])
        if hold is None:
            raise ValueError(f"there is no hold {entry['hold']}")
        return hold

    def _saw(self, seq: int, at: int, entry: Entry) -> None:
        self._base.execute(
            "INSERT INTO run (name, agent, started, seen, seq) VALUES (?1, ?2, ?3, ?3, ?4) "
            "ON CONFLICT (name) DO UPDATE SET seen = ?3, seq = ?4, ended = NULL",
            (entry["run"], entry["agent"], at, seq),
        )
        if entry.get("revocations") is not None:
            self._acknowledged(seq, entry["run"], entry["revocations"])

    def _acknowledged(self, seq: int, run: str, revocations: int) -> None:
        self._base.execute(
            "UPDATE run SET acknowledged = ?, acknowledged_at = ? "
            "WHERE name = ? AND (acknowledged IS NULL OR acknowledged < ?)",
            (revocations, seq, run, revocations),
        )

    def _decision(self, seq: int, at: int, entry: Entry) -> None:
        mode, run = entry["mode"], entry["run"]
        self._base.execute("INSERT INTO decision (seq, run, at, mode) VALUES (?, ?, ?, ?)", (seq, run, at, mode))
        used = entry.get("approvals") or []
        self._refuse(seq, "it uses approvals and is no pass" if used and mode != "pass" else None)
        for name in used:
            changed = self._base.execute(
                "UPDATE hold SET used = used + 1 WHERE id = ? AND state = 'approved' AND void IS NULL AND used < uses",
                (name,),
            ).rowcount
            self._refuse(seq, None if changed else f"the approval of {name} does not count, or was used before")
        if mode == "pass":
            links = [(link, seq, run, at) for link in entry.get("links") or ()]
            self._base.executemany("INSERT INTO passed VALUES (?, ?, ?, ?)", links)
        opened = entry.get("hold")
        if opened is not None:
            self._refuse(seq, None if mode == "hold" else "it opens a hold and is none")
            self._base.execute(
                "INSERT INTO hold (id, seq, binding, state, opened, opened_at, expires, agent, for_user, tier) "
                "VALUES (?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?)",
                (
                    opened["id"],
                    seq,
                    entry["binding"],
                    msgspec.json.encode(_essence(entry)).decode(),
                    at,
                    opened["expires"],
                    entry["agent"],
                    opened["confirm_by"] == "user",
                    entry.get("tier", 0),
                ),
            )
        elif entry.get("joined") is not None:
            self._base.execute("UPDATE hold SET joined = joined + 1 WHERE id = ?", (entry["joined"],))

    def _approval(self, seq: int, entry: Entry) -> None:
        hold = self._held(entry)
        self._refuse(seq, check_approval(entry, hold.opened) or self._wrong_with_person(entry))
        one = entry.get("person")
        twice = one is not None and any(each.get("person") == one for each in hold.confirmations)
        self._refuse(seq, "its person confirmed the hold before" if twice else None)
        self._refuse(seq, None if hold.state == "pending" else f"the hold was {hold.state}")
        self._base.execute(
            "INSERT INTO confirmation VALUES (?, ?, ?, ?)",
            (hold.id, entry["by"], seq, msgspec.json.encode(entry).decode()),
        )
        every = [*hold.confirmations, entry]
        complete = len(every) >= hold.quorum
        self._refuse(seq, None if entry["complete"] is complete else "it miscounts the confirmations")
        if not complete:
            return
        release = all(each["release"] for each in every)
        self._base.execute(
            "UPDATE hold SET covers = ?, uses = ?, until = ?, who = ? WHERE id = ?",
            (
                hold.opened["likeness" if release else "binding"],
                min(each["uses"] for each in every),
                min(each["expires"] for each in every),
                "organisation" if all(each["who"] == "organisation" for each in every) else "user",
                hold.id,
            ),
        )
        self._close(seq, hold, "approved", None)

    def _wrong_with_person(self, entry: Entry) -> str | None:
        return wrong_with_word(self.people.owner(entry["by"]), entry) if is_passkey(entry["by"]) else None

    def _cancellation(self, seq: int, entry: Entry) -> None:
        hold = self._held(entry)
        if hold.state == "pending":
            self._close(seq, hold, "cancelled", entry["why"])
            return
        self._refuse(seq, None if hold.state == "approved" else f"the hold was {hold.state}")
        self._base.execute("UPDATE hold SET void = ? WHERE id = ?", (entry["why"], hold.id))

    def _close(self, seq: int, hold: Hold, state: HoldState, why: str | None) -> None:
        self._refuse(seq, None if hold.state == "pending" else f"the hold was {hold.state}")
        self._base.execute("UPDATE hold SET state = ?, closed = ?, why = ? WHERE id = ?", (state, seq, why, hold.id))

    # --- asking ---------------------------------------------------------------------------------------------------

    def hold(self, name: str) -> Hold | None:
        """The hold with an id, None where there is none."""
        found = self._holds("id = ?", name)
        return found[0] if found else None

    def holds(self, state: HoldState | None = None) -> list[Hold]:
        """The holds in a state, or all, oldest first."""
        return self._holds("TRUE") if state is None else self._holds("state = ?", state)

    def hold_page(self, state: HoldState | None, limit: int, offset: int = 0) -> list[Hold]:
        """At most `limit` holds in a state, or of all, behind the first `offset`.

        Those that wait: the organisation's first, then by tier, the highest first, and by age. Others: newest first.
        """
        if state == "pending":
            return self._holds(
                "state = 'pending'", index="hold_waits", order="for_user, tier DESC, seq", page=(limit, offset)
            )
        which, values = ("TRUE", ()) if state is None else ("state = ?", (state,))
        return self._holds(which, *values, order="seq DESC", page=(limit, offset))

    def hold_counts(self) -> dict[HoldState, int]:
        """How many holds are in each state."""
        found = dict(self._asked("SELECT state, count(*) FROM hold GROUP BY state"))
        return {state: found.get(state, 0) for state in STATES}

    def due(self, at: int, escalated: int | None, limit: int | None = None) -> list[Hold]:
        """The pending holds that end by a time, and those that were opened by another and did not escalate yet, oldest
        first: so many, or all. Both times are in POSIX seconds."""
        if not self._is_any("pending"):
            return []
        by = -1 if escalated is None else escalated * 1_000_000 + 999_999
        which = (
            "seq IN (SELECT seq FROM hold INDEXED BY hold_ends WHERE state = 'pending' AND expires <= ?"
            " UNION SELECT seq FROM hold INDEXED BY hold_escalates"
            " WHERE state = 'pending' AND escalated IS NULL AND opened_at <= ?)"
        )
        return self._holds(which, at, by, page=(-1 if limit is None else limit, 0))

    def pending_for(self, binding: str, at: int) -> Hold | None:
        """The hold of the very same action that still waits at a time, in POSIX seconds."""
        found = self._holds("binding = ? AND state = 'pending'", binding) if self._is_any("pending") else []
        return next((each for each in found if at < each.expires), None)

    def is_any_pending(self) -> bool:
        """Whether any hold waits."""
        return self._is_any("pending")

    def untold(self, way: str, at: int) -> Untold | None:
        """What people are to be told next by a way, at a time in POSIX seconds (`gate/notices/told.py`)."""
        if not self._is_any("pending"):
            return None
        with self._reading():
            return told.untold(self._base, way, at)

    def waiting_for(self, agent: str) -> int:
        """How many holds of an agent wait."""
        query = "SELECT count(*) FROM hold WHERE state = 'pending' AND agent = ?"
        return int(self._rows(query, agent)[0][0])

    def approved_for(self, binding: str, likeness: str, at: int) -> list[Hold]:
        """The approved holds that allow an action at a time, in POSIX seconds, oldest first.

        Whether those who confirmed still may is for `Holds.approvals_for` to say.
        """
        which = "covers IN (?, ?) AND state = 'approved'"
        found = self._holds(which, binding, likeness) if self._is_any("approved") else []
        return [each for each in found if each.usable(at)]

    def counters(self, links: Sequence[str], run: str, at: int) -> dict[str, dict[Per, int]]:
        """How many calls each link of a chain has let pass, under whatever chain: in the run, in the last hour and in
        the last 24 hours before `at` (POSIX seconds)."""
        query = (
            "SELECT (SELECT count(*) FROM passed WHERE link = ?1 AND run = ?2),"
            " (SELECT count(*) FROM passed WHERE link = ?1 AND at > (?3 - 3600) * 1000000),"
            " (SELECT count(*) FROM passed WHERE link = ?1 AND at > (?3 - 86400) * 1000000)"
        )
        found: dict[str, dict[Per, int]] = {}
        for link in links:
            in_run, hour, day = self._rows(query, link, run, at)[0]
            found[link] = {"run": in_run, "hour": hour, "day": day}
        return found

    def runs(self) -> list[Run]:
        """The runs that have not ended, those seen last first."""
        return [Run(*row) for row in self._rows("SELECT * FROM run WHERE ended IS NULL ORDER BY seen DESC, name")]

    def latest_runs(self, count: int) -> list[Run]:
        """So many runs, whether they ended or not, those seen last first."""
        return [Run(*row) for row in self._rows("SELECT * FROM run ORDER BY seen DESC, name LIMIT ?", count)]

    def run(self, name: str) -> Run | None:
        """A run; None where it did not begin."""
        return next((Run(*row) for row in self._rows("SELECT * FROM run WHERE name = ?", name)), None)

    def last_revocations(self) -> int:
        """The highest number of a revocation list that the log has or a run has acknowledged, 0 where there is none."""
        query = "SELECT MAX(IFNULL((SELECT MAX(acknowledged) FROM run), 0), IFNULL(MAX(number), 0)) FROM revocation"
        return int(self._rows(query)[0][0])

    def revocation_lists(self, least: int = 0) -> list[Entry]:
        """The entries of the revocation lists with a number or a higher one, in the order of their numbers."""
        query = (
            "SELECT entries.seq, entries.start FROM revocation JOIN entries USING (seq)"
            " WHERE number >= ? ORDER BY number, seq"
        )
        return [entry for _, entry in self._read(self._rows(query, least))]

    def has_list(self, number: int, digest: str) -> bool:
        """Whether the log has a revocation list, by its number and digest."""
        return bool(self._rows("SELECT 1 FROM revocation WHERE number = ? AND digest = ?", number, digest))

    def signals(self, run: str, at: int) -> list[Signalled]:
        """What was said of a run and still counts at a time (POSIX seconds), in order.

        Of each source there are also the last signal and the last with a score, whether they count or not.
        """
        query = (
            "SELECT source, score, at, until FROM signal WHERE run = ?1 AND (until > ?2"
            " OR seq IN (SELECT max(seq) FROM signal WHERE run = ?1 GROUP BY source)"
            " OR seq IN (SELECT max(seq) FROM signal WHERE run = ?1 AND score IS NOT NULL GROUP BY source))"
            " ORDER BY seq"
        )
        return [Signalled(*row) for row in self._rows(query, run, at)]

    def decisions(self, run: str) -> list[Decided]:
        """The decisions about a run, in order."""
        query = "SELECT seq, at, mode, outcome, status FROM decision WHERE run = ? ORDER BY seq"
        return [Decided(*row) for row in self._rows(query, run)]

    def of_run(self, run: str, after: int) -> Iterator[tuple[int, Entry]]:
        """What the log has of a run after an entry, of the kinds that it is followed by, each with its number."""
        query = f"SELECT seq, start FROM entries WHERE run = ? AND seq > ? AND kind IN ({_FOLLOWED}) ORDER BY seq"
        return self._read(self._rows(query, run, after))

    def page(
        self, before: int | None, limit: int, *, kind: str | None = None, run: str | None = None
    ) -> list[tuple[int, Entry]]:
        """At most `limit` entries before a number, or the last ones, newest first, each with its number.

        `kind` and `run` choose those of a kind, and those that name a run.

        Raises:
            StateError: one cannot be read, or is not the one that the index knows.
        """
        chosen = {"seq < ?": before, "kind = ?": kind, "run = ?": run}
        which = [each for each, value in chosen.items() if value is not None] or ["TRUE"]
        values = [value for value in chosen.values() if value is not None]
        query = f"SELECT seq, start FROM entries WHERE {' AND '.join(which)} ORDER BY seq DESC LIMIT ?"
        return list(self._read(self._rows(query, *values, limit)))

    def _read(self, rows: Sequence[tuple[int, int]]) -> Iterator[tuple[int, Entry]]:
        """The entries that begin at places of the log, each with its number."""
        lines = self._storage.lines_at([start for _, start in rows])
        for (seq, _), line in zip(rows, lines, strict=True):
            self._check_leaf(seq, line)
            yield seq, _DECODE(line)

    def named(self, text: str, limit: int) -> tuple[list[str], list[str]]:
        """So many runs and holds in whose names a text stands, the newest first."""
        runs = self._rows("SELECT name FROM run WHERE instr(name, ?) > 0 ORDER BY seen DESC LIMIT ?", text, limit)
        holds = self._rows("SELECT id FROM hold WHERE instr(id, ?) > 0 ORDER BY seq DESC LIMIT ?", text, limit)
        return [name for (name,) in runs], [name for (name,) in holds]

    def leaf(self, run: str, seq: int) -> bytes | None:
        """The hash of an entry that a run is followed by, None where it has none of that number."""
        found = self._rows(f"SELECT leaf FROM entries WHERE seq = ? AND run = ? AND kind IN ({_FOLLOWED})", seq, run)
        return found[0][0] if found else None

    def policy_digest(self) -> str | None:
        """What stands for the policies that were noted last; None where none were."""
        found = self._asked("SELECT digest FROM policy ORDER BY seq DESC LIMIT 1")
        return found[0][0] if found else None

    def _holds(
        self, which: str, *values: object, index: str = "", order: str = "seq", page: tuple[int, int] = (-1, 0)
    ) -> list[Hold]:
        names = "id, seq, state, opened, closed, why, escalated, joined, covers, uses, used, until, who, void"
        found = []
        by = index and f"INDEXED BY {index}"
        query = f"SELECT {names} FROM hold {by} WHERE {which} ORDER BY {order} LIMIT ? OFFSET ?"
        for row in self._rows(query, *values, *page):
            values_of = dict(zip(names.split(", "), row, strict=True))
            if values_of["state"] not in STATES:
                raise StateError(f"the index has a hold in the unknown state `{values_of['state']}`")
            entries = self._rows("SELECT entry FROM confirmation WHERE hold = ? ORDER BY seq", values_of["id"])
            values_of["opened"] = _DECODE(values_of["opened"])
            values_of["uses"] = values_of["uses"] or 0
            found.append(Hold(**values_of, confirmations=tuple(_DECODE(text) for (text,) in entries)))
        return found

    def _is_any(self, state: HoldState) -> bool:
        return bool(self._asked(f"SELECT EXISTS (SELECT 1 FROM hold WHERE state = '{state}')")[0][0])

    def _asked(self, query: str) -> list[Any]:
        """The rows of a query about holds or policies, remembered until an entry changes them."""
        found = self._answers.get(query)
        if found is None:
            found = self._answers[query] = self._rows(query)
        return found

    def _rows(self, query: str, *values: object) -> list[Any]:
        with self._reading():
            return self._base.execute(query, values).fetchall()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._broken(error) from error


def _essence(entry: Entry) -> Entry:
    """What of a decision's entry a hold needs: all but what the gate had for its own."""
    return {name: value for name, value in entry.items() if name not in ("inputs", "links", "approvals")}

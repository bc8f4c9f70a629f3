"""What the log comes to: `index.sqlite`, a projection of the log that can be made anew from it at any time.

The index also knows the hash of every leaf that it has applied. A log that has fewer entries than the index was cut.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import msgspec

from vigil_lang.gate.confirmation import check_approval, check_denial, held_for
from vigil_lang.gate.decide.model import Who
from vigil_lang.gate.log.log import moment
from vigil_lang.gate.log.tree import leaf_hash
from vigil_lang.gate.state import StateError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.gate.authority.chain import Per
    from vigil_lang.gate.log.log import Log
    from vigil_lang.gate.state import StateFolder

SCHEMA = 1
"""The version of the tables: an index of another one is made anew."""

HoldState: TypeAlias = Literal["pending", "approved", "denied", "expired", "cancelled"]
STATES: tuple[HoldState, ...] = get_args(HoldState)
"""A hold leaves `pending` once, and none of the others."""

OF_RUNS = frozenset({"run_start", "decision", "outcome"})
"""The kinds of entries that a run is followed by."""

Entry: TypeAlias = dict[str, Any]

_TABLES = """
CREATE TABLE applied (
    one INTEGER PRIMARY KEY CHECK (one = 1), entries INTEGER NOT NULL, last INTEGER NOT NULL, bytes INTEGER NOT NULL,
    batch TEXT NOT NULL
) STRICT;
INSERT INTO applied VALUES (1, 0, 0, 0, '[]');
CREATE TABLE entries (seq INTEGER PRIMARY KEY, leaf BLOB NOT NULL, start INTEGER NOT NULL, run TEXT) STRICT;
CREATE INDEX entries_run ON entries (run, seq) WHERE run IS NOT NULL;
CREATE TABLE hold (
    id TEXT PRIMARY KEY, seq INTEGER NOT NULL UNIQUE, binding TEXT NOT NULL, state TEXT NOT NULL, opened TEXT NOT NULL,
    opened_at INTEGER NOT NULL, expires INTEGER NOT NULL,
    closed INTEGER, why TEXT, escalated INTEGER, joined INTEGER NOT NULL DEFAULT 0,
    covers TEXT, uses INTEGER, used INTEGER NOT NULL DEFAULT 0, until INTEGER, who TEXT, void TEXT
) STRICT;
CREATE INDEX hold_state ON hold (state);
CREATE INDEX hold_binding ON hold (binding);
CREATE INDEX hold_covers ON hold (covers) WHERE covers IS NOT NULL;
CREATE TABLE confirmation (
    hold TEXT NOT NULL, "by" TEXT NOT NULL, seq INTEGER NOT NULL UNIQUE, entry TEXT NOT NULL, PRIMARY KEY (hold, "by")
) STRICT, WITHOUT ROWID;
CREATE TABLE run (
    name TEXT PRIMARY KEY, agent TEXT NOT NULL, started INTEGER NOT NULL, seen INTEGER NOT NULL, seq INTEGER NOT NULL,
    ended INTEGER, acknowledged INTEGER, acknowledged_at INTEGER
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
"""

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
    `acknowledged` since entry `acknowledged_at`. Times are microseconds since 1970."""

    name: str
    agent: str
    started: int
    seen: int
    seq: int
    ended: int | None
    acknowledged: int | None
    acknowledged_at: int | None


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


class Store:
    """The index of a log. Whoever calls `catch_up` holds the folder's lock and has refreshed the log.

    Raises:
        StateError: it cannot be opened, or knows more entries than the log has.
    """

    def __init__(self, folder: StateFolder, log: Log) -> None:
        self._path = folder.index
        self._log_path = folder.log
        self._log = log
        self._seen: tuple[int, ...] = ()
        """Which file it was, and how many entries and bytes of it were applied, when the index last caught up."""
        self._answers: dict[str, list[Any]] = {}
        """What was asked of holds and policies since an entry changed them, by query."""
        try:
            with folder.lock():  # who opens it first makes it
                self._make()
                self._base = sqlite3.connect(self._path, timeout=10, isolation_level=None, check_same_thread=False)
                self._base.execute("PRAGMA journal_mode = WAL")
                self._base.execute("PRAGMA synchronous = NORMAL")
        except (OSError, sqlite3.Error) as error:
            raise self._broken(error) from error

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
            found = os.stat(self._log_path, follow_symlinks=False)  # noqa: PTH116 - one call, twice a decision
            now = (found.st_dev, found.st_ino, self._log.size, found.st_size)
            if now == self._seen:
                return
            self._base.execute("BEGIN IMMEDIATE")
            try:
                self._prepare()
                self._follow()
                self._base.execute("COMMIT")
            finally:
                if self._base.in_transaction:
                    self._base.execute("ROLLBACK")
            self._seen = now
        except (OSError, sqlite3.Error) as error:
            raise self._broken(error) from error

    def _prepare(self) -> None:
        """Make the tables, where they are missing or of another version; how many entries it had is not forgotten."""
        if self._base.execute("PRAGMA user_version").fetchone()[0] == SCHEMA:
            return
        with suppress(sqlite3.OperationalError):  # a new file has no such table
            self._check_size(self._base.execute("SELECT entries FROM applied").fetchone()[0])
        for (name,) in self._base.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            quoted = name.replace('"', '""')
            self._base.execute(f'DROP TABLE "{quoted}"')
        for statement in _TABLES.split(";\n"):
            self._base.execute(statement)
        self._base.execute(f"PRAGMA user_version = {SCHEMA}")

    def _check_size(self, entries: int) -> None:
        if entries > self._log.size:
            raise StateError(f"the log was cut: it has {self._log.size:,} entries, the index knows of {entries:,}")

    def _follow(self) -> None:
        query = "SELECT entries, last, bytes, batch FROM applied"
        entries, last, end, batch = self._base.execute(query).fetchone()
        self._check_size(entries)
        if not self._seen or entries != self._seen[2]:  # others applied some
            self._answers.clear()
        waiting: list[tuple[int, Entry]] = msgspec.json.decode(batch)
        lines = self._log.lines(last)
        if entries:
            self._check_leaf(entries - 1, next(lines, b""))
        for seq in range(entries, self._log.size):
            line = next(lines, b"")
            waiting = self._apply(seq, line, end, waiting)
            last, end = end, end + len(line) + 1
        values = (self._log.size, last, end, msgspec.json.encode(waiting).decode())
        self._base.execute("UPDATE applied SET entries = ?, last = ?, bytes = ?, batch = ?", values)

    def _check_leaf(self, seq: int, line: bytes) -> None:
        (known,) = self._base.execute("SELECT leaf FROM entries WHERE seq = ?", (seq,)).fetchone()
        if leaf_hash(line) != known:
            raise StateError(f"the log was changed: entry {seq} is not the one that the index knows")

    def _apply(self, seq: int, line: bytes, start: int, waiting: list[tuple[int, Entry]]) -> list[tuple[int, Entry]]:
        try:
            entry = _DECODE(line)
            run = entry["run"] if entry["kind"] in OF_RUNS else None
            self._base.execute("INSERT INTO entries VALUES (?, ?, ?, ?)", (seq, leaf_hash(line), start, run))
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
            case "policy":
                self._base.execute("INSERT INTO policy VALUES (?, ?)", (seq, entry["policy_digest"]))
            case "approval":
                self._approval(seq, entry)
            case "denial":
                hold = self._held(entry)
                self._refuse(seq, check_denial(entry, hold.opened))
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
                "INSERT INTO hold (id, seq, binding, state, opened, opened_at, expires) "
                "VALUES (?, ?, ?, 'pending', ?, ?, ?)",
                (
                    opened["id"],
                    seq,
                    entry["binding"],
                    msgspec.json.encode(_essence(entry)).decode(),
                    at,
                    opened["expires"],
                ),
            )
        elif entry.get("joined") is not None:
            self._base.execute("UPDATE hold SET joined = joined + 1 WHERE id = ?", (entry["joined"],))

    def _approval(self, seq: int, entry: Entry) -> None:
        hold = self._held(entry)
        self._refuse(seq, check_approval(entry, hold.opened))
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

    def due(self, at: int, escalated: int | None) -> list[Hold]:
        """The pending holds that end by a time, and those that were opened by another and did not escalate yet, oldest
        first. Both times are in POSIX seconds."""
        if not self._is_any("pending"):
            return []
        by = -1 if escalated is None else escalated * 1_000_000 + 999_999
        which = "state = 'pending' AND (expires <= ? OR (escalated IS NULL AND opened_at <= ?))"
        return self._holds(which, at, by)

    def pending_for(self, binding: str, at: int) -> Hold | None:
        """The hold of the very same action that still waits at a time, in POSIX seconds."""
        found = self._holds("binding = ? AND state = 'pending'", binding) if self._is_any("pending") else []
        return next((each for each in found if at < each.expires), None)

    def waiting_for(self, agent: str) -> int:
        """How many holds of an agent wait."""
        query = "SELECT count(*) FROM hold WHERE state = 'pending' AND json_extract(opened, '$.agent') = ?"
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

    def revocations(self) -> int:
        """The highest number of a revocation list that any run has acknowledged, 0 where none has."""
        return int(self._rows("SELECT IFNULL(MAX(acknowledged), 0) FROM run")[0][0])

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
        """What the log has of a run after an entry: its beginning, its decisions and outcomes, each with its number."""
        rows = self._rows("SELECT seq, start FROM entries WHERE run = ? AND seq > ? ORDER BY seq", run, after)
        if not rows:
            return
        with os.fdopen(os.open(self._log_path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as stream:
            for seq, start in rows:
                stream.seek(start)
                line = stream.readline()
                self._check_leaf(seq, line.rstrip(b"\n"))
                yield seq, _DECODE(line)

    def policy_digest(self) -> str | None:
        """What stands for the policies that were noted last; None where none were."""
        found = self._asked("SELECT digest FROM policy ORDER BY seq DESC LIMIT 1")
        return found[0][0] if found else None

    def _holds(self, which: str, *values: object) -> list[Hold]:
        names = "id, seq, state, opened, closed, why, escalated, joined, covers, uses, used, until, who, void"
        found = []
        for row in self._rows(f"SELECT {names} FROM hold WHERE {which} ORDER BY seq", *values):
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

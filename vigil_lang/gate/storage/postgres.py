"""The log in a PostgreSQL database, for several nodes (docs/postgres.md, ADR 0027).

Whoever writes has the row of `gate_head` locked in a transaction; what is written under that lock is kept in memory
until the lock is given back, and then in the database, all or nothing, before anybody is told.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import islice
from secrets import token_bytes
from typing import TYPE_CHECKING, Any, NamedTuple

from vigil_lang.gate.log.side_store import PlainValue
from vigil_lang.gate.state import LOCK_WAIT, StateError
from vigil_lang.gate.storage.files import read
from vigil_lang.gate.storage.migrating import check_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import psycopg

    from vigil_lang.gate.state import StateFolder
    from vigil_lang.gate.storage.folder import FolderStorage
    from vigil_lang.gate.storage.storage import Identity, Stamp

REVOCATIONS = "revocations"
"""The name of the revocation list among the values."""

POLL = 1.0
"""Seconds after which the log is looked at even where no notification came."""

_ROWS = 5000
"""Lines that are read at once."""

_RETRY = 1.0
"""Seconds after a failed connection in which no other one is tried."""

_STUCK = 30
"""Seconds after which the server ends a transaction whose process does nothing."""

_SECRET_BYTES = 32

_HEAD = (
    "SELECT identity::text, entries, bytes, (SELECT version FROM gate_value WHERE name = 'revocations') FROM gate_head"
)
_LOCK = f"BEGIN; SELECT 1 FROM gate_head FOR UPDATE; {_HEAD}"


class _Head(NamedTuple):
    """Which log it is, its entries and bytes, and the version of the revocation list, None where there is none."""

    identity: Identity
    entries: int
    bytes: int
    revocations: int | None

    @classmethod
    def of(cls, row: Sequence[Any] | None) -> _Head:
        if row is None:
            raise StateError("the database has lost its head: gate_head has no row")
        identity = int(row[0].replace("-", ""), 16)
        return cls((identity >> 64, identity & (1 << 64) - 1), row[1], row[2], row[3])


def connect(conninfo: str, **more: Any) -> psycopg.Connection[Any]:
    """A connection in autocommit mode; each lock and each statement of it is waited for so long and no longer.

    Raises:
        StateError: the database cannot be reached, or psycopg is not installed.
    """
    try:
        import psycopg
    except ImportError as error:
        raise StateError('PostgreSQL needs an extra: pip install "vigil-lang[postgres]"') from error
    given: dict[str, Any] = {
        "connect_timeout": 5,
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "tcp_user_timeout": int(LOCK_WAIT * 1000),
        "application_name": "vigil",
    }
    try:
        known = psycopg.conninfo.conninfo_to_dict(conninfo)
        given = {name: value for name, value in given.items() if name not in known}
        found = psycopg.connect(conninfo, autocommit=True, **given, **more)
        found.execute(
            f"SET lock_timeout = {int(LOCK_WAIT * 1000)};"
            f"SET idle_in_transaction_session_timeout = '{_STUCK}s';"
            "SET synchronous_commit = on;"
            "SET client_min_messages = warning"
        )
        return found
    except (psycopg.Error, UnicodeError) as error:
        raise StateError(f"the database cannot be reached: {_words(error)}") from error


class PostgresStorage:
    """A log in the database that `conninfo` names, as libpq takes it. One thread at a time has the lock.

    Raises:
        StateError: it cannot be reached, or its tables are not of this version.
    """

    is_transactional = True

    def __init__(self, folder: StateFolder, conninfo: str) -> None:
        self.folder = folder
        self._conninfo = conninfo
        self._settled: list[Callable[[bool], None]] = []
        self._connections: dict[str, psycopg.Connection[Any]] = {}
        self._guard = threading.RLock()
        """Of the connection that is used beside the lock."""
        self._alone = threading.Lock()
        self._publishing = threading.Lock()
        self._failed: tuple[float, str] | None = None
        self._head: _Head | None = None
        """What the lock found, while it is held."""
        self._holder: int | None = None
        self._starts: list[int] = []
        self._lines: list[bytes] = []
        self._plain: dict[tuple[int, str], PlainValue] = {}
        self._notes: dict[int, bytes] = {}
        self._hints: _Hints | None = None
        check_schema(self._connection("beside"))

    def _connection(self, name: str) -> psycopg.Connection[Any]:
        """An open connection; a failure is remembered for a moment, so that nobody waits for it again and again."""
        found = self._connections.get(name)
        if found is not None and not found.closed and not found.broken:
            return found
        if self._failed is not None and time.monotonic() < self._failed[0] + _RETRY:
            raise StateError(self._failed[1])
        try:
            found = self._connections[name] = connect(self._conninfo)
        except StateError as error:
            self._failed = time.monotonic(), str(error)
            raise
        self._failed = None
        return found

    def _drop(self, name: str) -> None:
        found = self._connections.pop(name, None)
        if found is not None:
            with suppress(Exception):
                found.close()

    def _ask(self, query: Any, *values: object) -> list[Any]:
        """The rows of a query, under the lock where this thread has it."""
        import psycopg

        if not self._is_mine():
            return self._beside(query, *values)
        try:
            found = self._connection("lock").execute(query, values)
            return found.fetchall() if found.description else []
        except psycopg.Error as error:  # the transaction is lost, which is found when the lock is given back
            raise StateError(f"the database cannot be asked: {_words(error)}") from error

    def _beside(self, query: Any, *values: object) -> list[Any]:
        """The rows of a query that is no part of a transaction: what it writes is kept at once.

        It may be asked twice: a connection that the server closed meanwhile is found out by using it.
        """
        import psycopg

        with self._guard:
            for is_last in (False, True):
                try:
                    found = self._connection("beside").execute(query, values)
                    return found.fetchall() if found.description else []
                except psycopg.Error as error:
                    self._drop("beside")
                    if is_last or not isinstance(error, psycopg.OperationalError):
                        raise StateError(f"the database cannot be asked: {_words(error)}") from error
        raise AssertionError

    def _is_mine(self) -> bool:
        return self._holder == threading.get_ident()

    # --- the lock -------------------------------------------------------------------------------------------------

    @contextmanager
    def lock(self) -> Iterator[None]:
        if self._is_mine():
            yield
            return
        if not self._alone.acquire(timeout=LOCK_WAIT):
            raise StateError(f"others kept the log locked for {LOCK_WAIT:g} s")
        try:
            self._take()
            try:
                yield
            finally:
                self._give_back()
        finally:
            self._alone.release()

    def _take(self) -> None:
        import psycopg

        for is_last in (False, True):  # a connection that the server closed meanwhile is found out by using it
            connection = self._connection("lock")
            try:
                found = connection.execute(_LOCK)
                while found.nextset():
                    pass
                self._head = _Head.of(found.fetchone())
                self._holder = threading.get_ident()
                return
            except psycopg.errors.LockNotAvailable as error:
                connection.rollback()
                raise StateError(f"others kept the log locked for {LOCK_WAIT:g} s") from error
            except psycopg.OperationalError as error:
                self._drop("lock")
                if is_last:
                    raise StateError(f"the database cannot be reached: {_words(error)}") from error
            except (psycopg.Error, StateError) as error:
                self._drop("lock")
                raise StateError(f"the log cannot be locked: {_words(error)}") from error

    def _give_back(self) -> None:
        import psycopg

        is_kept = False
        try:
            self._keep(self._connection_of_lock())
            is_kept = True
        except psycopg.Error as error:
            raise StateError(f"the log cannot be written: {_words(error)}") from error
        finally:
            self._head = self._holder = None
            for each in (self._starts, self._lines, self._plain, self._notes):
                each.clear()
            if not is_kept:
                self._drop("lock")
            for settled in self._settled:
                settled(is_kept)

    def _connection_of_lock(self) -> psycopg.Connection[Any]:
        import psycopg

        found = self._connections.get("lock")
        if found is None or found.info.transaction_status is not psycopg.pq.TransactionStatus.INTRANS:
            raise psycopg.OperationalError("the transaction was lost")
        return found

    def _keep(self, connection: psycopg.Connection[Any]) -> None:
        """Write what waits, and commit."""
        head = self._head
        assert head is not None
        if not (self._lines or self._plain or self._notes):
            connection.execute("COMMIT")
            return
        entries, end = head.entries + len(self._lines), self._end()
        with connection.pipeline():
            if self._lines:
                connection.execute(
                    "INSERT INTO gate_log SELECT * FROM unnest(%b::bigint[], %b::bigint[], %b::bytea[])",
                    (list(range(head.entries, entries)), self._starts, self._lines),
                )
                connection.execute("UPDATE gate_head SET entries = %s, bytes = %s", (entries, end))
            if self._plain:
                seqs, paths, salts, values = zip(*self._plain.values(), strict=True)
                connection.execute(
                    "INSERT INTO gate_plain SELECT * FROM unnest(%b::bigint[], %b::text[], %b::bytea[], %b::text[]) "
                    "ON CONFLICT (seq, path) DO UPDATE SET salt = excluded.salt, value = excluded.value",
                    (list(seqs), list(paths), list(salts), list(values)),
                )
            for size, note in self._notes.items():
                connection.execute(
                    "INSERT INTO gate_checkpoint VALUES (%s, %s) ON CONFLICT (size) DO UPDATE SET note = excluded.note",
                    (size, note),
                )
            connection.execute("SELECT pg_notify(%s, '')", (_channel(head.identity),))
            connection.execute("COMMIT")

    def at_end(self, settled: Callable[[bool], None]) -> None:
        self._settled.append(settled)

    def stamp(self) -> Stamp:
        return self._listening().stamp

    def wait(self, stamp: Stamp, seconds: float) -> None:
        self._listening().wait(stamp, seconds)

    def _listening(self) -> _Hints:
        with self._guard:
            if self._hints is None:
                self._hints = _Hints(self._conninfo, self._look())
            return self._hints

    def _look(self) -> _Head:
        if self._is_mine() and self._head is not None:
            return self._head
        return _Head.of(next(iter(self._ask(_HEAD)), None))

    def __del__(self) -> None:
        with suppress(Exception):  # some of it was never made
            self.close()

    def close(self) -> None:
        with self._guard:
            if self._hints is not None:
                self._hints.close()
            self._hints = None
            for name in list(self._connections):
                self._drop(name)

    # --- the log --------------------------------------------------------------------------------------------------

    def open_log(self) -> Identity:
        """Open the log; the first node that does names it, and only nodes whose key has that name write to it."""
        key = read(self.folder.log_vkey, 10_000).decode().strip()
        self._ask("UPDATE gate_head SET origin = %s WHERE origin IS NULL", key)
        name = key.partition("+")[0]  # the key may have been rotated since, the name stays
        if [(name,)] != self._ask("SELECT split_part(origin, '+', 1) FROM gate_head"):
            raise StateError(f"the log in the database has another name than {self.folder.log_vkey}")
        return self._look().identity

    def check_place(self) -> None:
        """Who may read the tables is for the database's rights to say."""

    def look(self) -> tuple[Identity, int]:
        head = self._look()
        return head.identity, self._end() if self._is_mine() else head.bytes

    def _end(self) -> int:
        """The place behind the last line, also of those that wait."""
        assert self._head is not None
        return self._starts[-1] + len(self._lines[-1]) + 1 if self._lines else self._head.bytes

    def lines(self, start: int, end: int) -> Iterator[bytes]:
        query = "SELECT start, line FROM gate_log WHERE start >= %s AND start < %s ORDER BY start LIMIT %s"
        kept = min(end, self._head.bytes) if self._is_mine() and self._head is not None else end
        place = start
        while place < kept:
            found = self._ask(query, place, kept, _ROWS)
            if not found:
                break
            for at, line in found:
                if at != place:
                    raise StateError(f"the log is damaged: no line begins at {place:,}")
                yield bytes(line)
                place += len(line) + 1
        if self._is_mine():
            first = bisect_left(self._starts, place)
            for at, line in islice(zip(self._starts, self._lines, strict=True), first, None):
                if at < end:
                    yield line

    def lines_at(self, starts: Sequence[int]) -> Iterator[bytes]:
        waiting = dict(zip(self._starts, self._lines, strict=True)) if self._is_mine() else {}
        wanted = iter(starts)
        while chunk := list(islice(wanted, _ROWS)):
            rows = self._ask("SELECT start, line FROM gate_log WHERE start = ANY(%s)", chunk)
            found = {start: bytes(line) for start, line in rows} | waiting
            for start in chunk:
                if start not in found:
                    raise StateError(f"the log is damaged: no line begins at {start:,}")
                yield found[start]

    def is_boundary(self, place: int) -> bool:
        return self._look().bytes == place or bool(self._ask("SELECT 1 FROM gate_log WHERE start = %s", place))

    def append(self, place: int, line: bytes, *, wait: bool) -> None:  # noqa: ARG002 - it is written with the lock
        if not self._is_mine() or place != self._end():
            raise StateError("the log cannot be written: it is not locked, or ends elsewhere")
        self._starts.append(place)
        self._lines.append(line[:-1])

    def cut(self, place: int) -> None:
        while self._starts and self._starts[-1] >= place:
            self._starts.pop()
            self._lines.pop()

    def on_disk(self, place: int) -> None:
        """It was when the lock was given back."""

    def mend(self, end: int) -> None:
        """There is never anything in doubt: what was not kept is not there."""

    # --- beside the log -------------------------------------------------------------------------------------------

    def newest_checkpoint(self) -> bytes | None:
        if self._is_mine() and self._notes:
            return self._notes[max(self._notes)]
        found = self._ask("SELECT note FROM gate_checkpoint ORDER BY size DESC LIMIT 1")
        return bytes(found[0][0]) if found else None

    def checkpoint(self, size: int) -> bytes | None:
        if self._is_mine() and size in self._notes:
            return self._notes[size]
        found = self._ask("SELECT note FROM gate_checkpoint WHERE size = %s", size)
        return bytes(found[0][0]) if found else None

    def checkpoints(self, above: int = -1) -> Iterator[tuple[int, bytes]]:
        for (size,) in self._ask("SELECT size FROM gate_checkpoint WHERE size > %s ORDER BY size", above):
            note = self.checkpoint(size)
            assert note is not None  # none is ever removed
            yield size, note

    def finish_checkpoint(self) -> None:
        """None is ever half written."""

    def publish(self, size: int, note: str) -> None:
        with self.lock():
            self._notes[size] = note.encode()

    def put_plain(self, rows: Iterable[PlainValue]) -> None:
        self._plain |= {(row.seq, row.path): row for row in rows}

    def plain(self, seq: int, path: str) -> PlainValue | None:
        if self._is_mine() and (seq, path) in self._plain:
            return self._plain[seq, path]
        found = self._ask("SELECT seq, path, salt, value FROM gate_plain WHERE seq = %s AND path = %s", seq, path)
        return PlainValue(seq, path, bytes(found[0][2]), found[0][3]) if found else None

    def all_plain(self, before: int) -> Iterator[PlainValue]:
        query = "SELECT * FROM gate_plain WHERE (seq, path) > (%s, %s) AND seq < %s ORDER BY seq, path LIMIT %s"
        after = -1, ""
        while rows := self._ask(query, *after, before, _ROWS):
            for seq, path, salt, value in rows:
                yield PlainValue(seq, path, bytes(salt), value)
            after = rows[-1][0], rows[-1][1]

    def plain_identity(self) -> Identity:
        return self._look().identity

    def bundle(self, digest: str) -> bytes:
        found = self._ask("SELECT data FROM gate_bundle WHERE digest = %s", digest)
        if not found or sha256(found[0][0]).hexdigest() != digest:
            raise ValueError("the database does not have them" if not found else "the database has others")
        return bytes(found[0][0])

    def bundles(self) -> Iterator[tuple[str, bytes]]:
        for (digest,) in self._ask("SELECT digest FROM gate_bundle ORDER BY digest"):
            yield digest, self.bundle(digest)

    def keep_bundle(self, digest: str, data: bytes) -> None:
        self._beside("INSERT INTO gate_bundle VALUES (%s, %s) ON CONFLICT DO NOTHING", digest, data)

    def fill(self, copy: FolderStorage, entries: int) -> None:
        """Take in a log that lies in a folder, all or nothing, where there is none yet.

        Raises:
            StateError: there is one, or it cannot be written.
        """
        import psycopg

        with self.lock():
            connection, (_, end) = self._connection_of_lock(), copy.look()
            if self._head is None or self._head.entries:
                raise StateError("there is a log in the database already")
            try:
                _copy(connection, "gate_log", _placed(copy.lines(0, end)))
                _copy(connection, "gate_checkpoint", copy.checkpoints())
                _copy(connection, "gate_plain", copy.all_plain(entries))
                _copy(connection, "gate_bundle", copy.bundles())
                connection.execute("UPDATE gate_head SET entries = %s, bytes = %s", (entries, end))
                if copy.revocation_stamp() is not None:
                    connection.execute(
                        "INSERT INTO gate_value VALUES (%s, 1, %s)", (REVOCATIONS, copy.revocations()[1])
                    )
            except psycopg.Error as error:
                raise StateError(f"the log cannot be restored: {_words(error)}") from error

    # --- the revocation list --------------------------------------------------------------------------------------

    def revocation_stamp(self) -> Stamp | None:
        found = self._look().revocations
        return None if found is None else (found,)

    def revocations(self) -> tuple[Stamp, bytes]:
        found = self._beside("SELECT version, data FROM gate_value WHERE name = %s", REVOCATIONS)
        if not found:
            raise StateError("the database has no revocation list any more")
        return (found[0][0],), bytes(found[0][1])

    def put_revocations(self, data: bytes) -> None:
        self._beside(
            "INSERT INTO gate_value VALUES (%s, 1, %s) "
            "ON CONFLICT (name) DO UPDATE SET version = gate_value.version + 1, data = excluded.data",
            REVOCATIONS,
            data,
        )
        if self._is_mine() and self._head is not None:
            self._head = self._head._replace(revocations=self.revocations()[0][0])
        self._beside("SELECT pg_notify(%s, '')", _channel(self._look().identity))

    @contextmanager
    def publishing(self) -> Iterator[None]:
        key = self._look().identity[0] >> 1
        if not self._publishing.acquire(timeout=LOCK_WAIT):
            raise StateError(f"others kept the revocation list locked for {LOCK_WAIT:g} s")
        try:
            end = time.monotonic() + LOCK_WAIT
            while not self._beside("SELECT pg_try_advisory_lock(%s)", key)[0][0]:
                if time.monotonic() > end:
                    raise StateError(f"others kept the revocation list locked for {LOCK_WAIT:g} s")
                time.sleep(0.01)
            try:
                yield
            finally:
                with suppress(StateError):  # the server gives it back with the connection
                    self._beside("SELECT pg_advisory_unlock(%s)", key)
        finally:
            self._publishing.release()

    def renew_secret(self, name: str) -> None:
        self._beside(
            "INSERT INTO gate_value VALUES (%s, 1, %s) ON CONFLICT (name) DO UPDATE SET"
            " version = gate_value.version + 1, data = excluded.data",
            f"secret:{name}",
            token_bytes(_SECRET_BYTES),
        )

    def secret(self, name: str) -> bytes:
        self._beside(
            "INSERT INTO gate_value VALUES (%s, 1, %s) ON CONFLICT DO NOTHING",
            f"secret:{name}",
            token_bytes(_SECRET_BYTES),
        )
        return bytes(self._beside("SELECT data FROM gate_value WHERE name = %s", f"secret:{name}")[0][0])


def _placed(lines: Iterable[bytes]) -> Iterator[tuple[int, int, bytes]]:
    place = 0
    for seq, line in enumerate(lines):
        yield seq, place, line
        place += len(line) + 1


def _copy(connection: psycopg.Connection[Any], table: str, rows: Iterable[Sequence[object]]) -> None:
    with connection.cursor().copy(f"COPY {table} FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row(row)


class _Hints:
    """Knows when the log grew: by a notification, or by looking every `POLL` seconds."""

    def __init__(self, conninfo: str, head: _Head) -> None:
        self._conninfo = conninfo
        self._channel = _channel(head.identity)
        self.stamp: Stamp = _stamp(head)
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="vigil-listen", daemon=True)
        self._thread.start()

    def wait(self, stamp: Stamp, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self.stamp != stamp, seconds)

    def _tell(self, stamp: Stamp) -> None:
        with self._changed:
            self.stamp = stamp
            self._changed.notify_all()

    def close(self) -> None:
        self._stop.set()

    def _listen(self) -> None:
        import psycopg

        failures = 0
        while not self._stop.is_set():
            try:
                with connect(self._conninfo) as connection:
                    connection.execute(f"LISTEN {self._channel}")
                    failures = 0
                    while not self._stop.is_set():
                        self._tell(_stamp(_Head.of(connection.execute(_HEAD).fetchone())))
                        for _ in connection.notifies(timeout=POLL, stop_after=1):
                            pass
            except (psycopg.Error, StateError, OSError):
                failures += 1
                self._tell((-1, failures))  # whoever waits looks for himself, and finds out
                self._stop.wait(POLL)


def _stamp(head: _Head) -> Stamp:
    return (*head.identity, head.bytes, head.revocations or 0)


def _channel(identity: Identity) -> str:
    return f"vigil_{identity[0]:016x}"


def _words(error: Exception) -> str:
    """What an error of the database says, on one line."""
    return " ".join(str(error).split()) or type(error).__name__

"""The kill switch: a signed list of what is revoked, looked at by one `stat` a decision (docs/revocation.md).

`revocations.json` is a DSSE envelope over `{v, seq, issued, expires, revoked}`, replaced by rename. Each list has a
higher number than the one before: a lower one, or another list under the same number, is an old one put back.
"""

from __future__ import annotations

import os
import threading
from hashlib import sha256
from time import time
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args

import msgspec

from vigil_lang.diagnostics.visible import visible
from vigil_lang.gate.authority.dsse import opened, pae, sealed
from vigil_lang.gate.authority.keys import verify
from vigil_lang.gate.canonical import MAX_INTEGER, NotCanonical, canonical
from vigil_lang.gate.state import StateError
from vigil_lang.gate.storage.files import read
from vigil_lang.gate.storage.folder import MAX_LIST
from vigil_lang.gate.strict_json import Malformed, read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager

    from vigil_lang.gate.authority.keys import Key
    from vigil_lang.gate.log.log import Log
    from vigil_lang.gate.settings import RevocationSettings
    from vigil_lang.gate.storage.storage import Stamp, Storage
    from vigil_lang.gate.store import Store

PAYLOAD_TYPE = "application/vnd.vigil.revocations+json"
"""The DSSE payload type of a list."""

LONGEST_NAME = 1024
"""Characters of the longest name that is revoked."""

SKEW = 300
"""Seconds by which a list may be from the future; beyond that the clock does not tell whether it has ended."""

WATCH_SECONDS = 0.05
"""How often a list is looked at by who acknowledges it between decisions."""

_READS = 3
"""How often a list is read that counts for nothing and is replaced meanwhile."""

EVERYONE = "*"
"""The name that goes with the kind `all`."""

Kind: TypeAlias = Literal["agent", "key", "link", "run", "all"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_Time: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_INTEGER)]


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, order=True):
    """Who or what is revoked. A key is written `ed25519:…`, a link by its id; `*` is the name of all."""

    kind: Kind
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME)]

    def __str__(self) -> str:
        return "everyone" if self.kind == "all" else f"the {self.kind} `{visible(self.name)}`"


class RevocationList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The payload of a list. Times are in POSIX seconds; in force once it is there, stale from `expires` on."""

    v: Literal[1]
    seq: Annotated[int, msgspec.Meta(ge=1, le=MAX_INTEGER)]
    issued: _Time
    expires: _Time
    revoked: tuple[Entry, ...]


class Revoked:
    """What is revoked, by the list in force. With a `fault` nobody can say what is, and nothing may pass."""

    def __init__(
        self, found: RevocationList | None = None, digest: str = "", fault: str | None = None, seq: int = 0
    ) -> None:
        entries = found.revoked if found else ()
        names = {kind: frozenset(each.name for each in entries if each.kind == kind) for kind in KINDS}
        self._agents, self._keys = names["agent"], names["key"]
        self._links, self._runs = names["link"], names["run"]
        self.list = found
        self.digest = digest
        """SHA-256 of the payload in hexadecimal, empty without a list."""
        self.everyone = bool(names["all"])
        self.seq = found.seq if found else seq
        """The number of the list in force, 0 where there never was one."""
        self.fault = fault

    def agent(self, name: str) -> bool:
        """Whether an agent is revoked by its name."""
        return name in self._agents

    def key(self, public: str) -> bool:
        """Whether a public key is revoked."""
        return public in self._keys

    def link(self, digest: str) -> bool:
        """Whether a link of a chain is revoked by its id."""
        return digest in self._links

    def run(self, name: str) -> bool:
        """Whether a run is revoked."""
        return name in self._runs

    def stale(self, at: int) -> str | None:
        """Why nobody knows what was revoked since, at a time in POSIX seconds; None where the list has not ended."""
        if self.list is not None and at >= self.list.expires:
            return f"the revocation list {self.seq} has ended: nobody knows what was revoked since"
        return None

    @property
    def count(self) -> int:
        """How many entries the list has."""
        return len(self.list.revoked) if self.list else 0

    def reasons(self, agent: str, run: str, keys: Iterable[str] = (), links: Iterable[str] = ()) -> tuple[str, ...]:
        """What of a call is revoked, in words: for `Authority.revoked`."""
        asked = [Entry("agent", agent)] if self.agent(agent) else []
        asked += [Entry("run", run)] if self.run(run) else []
        asked += [Entry("key", key) for key in keys if self.key(key)]
        asked += [Entry("link", link) for link in links if self.link(link)]
        everyone = ["everyone is revoked"] if self.everyone else []
        return (*everyone, *(f"{each} is revoked" for each in asked))

    def members(self) -> dict[str, Any]:
        """What the log's `revocation` entry says of the list in force."""
        assert self.list is not None
        return {
            "seq": self.list.seq,
            "issued": self.list.issued,
            "expires": self.list.expires,
            "revoked": [{"kind": each.kind, "name": each.name} for each in self.list.revoked],
            "digest": self.digest,
        }


class Revocations:
    """The list of a state folder. What was seen of it is kept in `revocations.seen`, a line for each list.

    Threads may share it. The settings name the keys that lists are signed with.
    """

    def __init__(self, storage: Storage, settings: RevocationSettings) -> None:
        self._storage = storage
        self._seen_path = storage.folder.path / "revocations.seen"
        self._keys = frozenset(settings.keys)
        self._mutex = threading.Lock()
        self._known: tuple[int, str] = (0, "")
        """The highest number that was seen, and the digest of its list."""
        self._stamp: Stamp | None = None
        """The list that `_now` was read from."""
        self._now = self._none = Revoked()

    def current(self, at: int) -> Revoked:
        """The list in force at a time in POSIX seconds: one `stat`, and the file is read where it is another one.

        It is a fault if it is missing although one was seen, cannot be read, is not signed by a key that counts, is
        older than one that was seen, or is from the future.
        """
        now = self._newest()
        if now.list is not None and at < now.list.issued - SKEW:
            return self._fault(f"it is from the future: it was issued at {now.list.issued}, and it is {at}")
        return now

    def _newest(self) -> Revoked:
        try:
            found = self._storage.revocation_stamp()
        except (OSError, StateError) as error:
            return self._fault(f"it cannot be read: {_reason(error)}")
        if found is None:
            return self._missing()
        if found == self._stamp:
            return self._now
        with self._mutex:
            self._take_in()
            return self._now

    def known(self, seq: int, digest: str = "") -> None:
        """Say what somebody else, such as the log, knows to have been in force: no lower number counts any more."""
        with self._mutex:
            if seq > self._known[0]:
                self._known = (seq, digest)
                self._stamp = None

    def alone(self) -> AbstractContextManager[None]:
        """Nobody else puts a list in force meanwhile. The log's lock is another one: a process that keeps that does not
        keep an agent alive.

        Raises:
            StateError: somebody else does, for `LOCK_WAIT` seconds.
        """
        return self._storage.publishing()

    def publish(self, revoked: Iterable[Entry], key: Key, issued: int, expires: int) -> Revoked:
        """Put a list in force with the next number, signed with a key that counts, `alone`.

        Raises:
            StateError: the key does not count, a name has no canonical form, or the list cannot be written.
        """
        seen = self._seen()
        if key.public not in self._keys:
            raise StateError(f"the settings do not name {key.public} among the keys that revoke")
        if expires <= issued:
            raise StateError("a revocation list ends after it was issued")
        new = RevocationList(1, seen[0] + 1, issued, expires, tuple(sorted(set(revoked))))
        try:
            payload = canonical(msgspec.to_builtins(new))
            data = canonical(sealed(PAYLOAD_TYPE, payload, key.public, key.sign))
            if len(data) > MAX_LIST:
                raise StateError(f"a revocation list has at most {MAX_LIST:,} bytes")
            self._storage.put_revocations(data + b"\n")
        except NotCanonical as error:
            raise StateError(f"the name cannot be revoked: {error}") from error
        except OSError as error:
            raise StateError(f"the revocation list cannot be written: {error.strerror}") from error
        now = self._newest()
        if now.fault or now.digest != sha256(payload).hexdigest():
            raise StateError(now.fault or "another revocation list was put in its place")
        return now

    def put(self, data: bytes, at: int) -> Revoked:
        """Put a list in force that was signed elsewhere, `alone`, at a time in POSIX seconds. The one in force already
        may be put again.

        Raises:
            StateError: it counts for nothing, or cannot be written.
        """
        found = self._verified(data)
        if found.fault is not None:
            raise StateError(found.fault)
        assert found.list is not None
        if at < found.list.issued - SKEW:
            raise StateError(f"the revocation list is from the future: it was issued at {found.list.issued}")
        try:
            self._storage.put_revocations(data.strip() + b"\n")
        except OSError as error:
            raise StateError(f"the revocation list cannot be written: {error.strerror}") from error
        now = self._newest()
        if now.fault or now.digest != found.digest:
            raise StateError(now.fault or "another revocation list was put in its place")
        return now

    def last_seq(self) -> int:
        """The highest number that was seen."""
        return self._seen()[0]

    # --- reading --------------------------------------------------------------------------------------------------

    def _missing(self) -> Revoked:
        """There is no list: right where there never was one."""
        if not self._known[0] and not os.path.exists(self._seen_path):  # noqa: PTH110 - once a decision
            return self._none
        try:
            seq, _ = self._seen()
        except StateError as error:
            return self._fault(str(error))
        return Revoked(fault=f"the revocation list {seq} is missing", seq=seq) if seq else self._none

    def _take_in(self) -> None:
        try:
            for _ in range(_READS):
                stamp, data = self._storage.revocations()
                self._now, self._stamp = self._verified(data), stamp
                if self._now.fault is None or self._storage.revocation_stamp() == stamp:
                    break  # else it may be old only because a new one was put in its place while it was read
        except (OSError, StateError) as error:
            self._now, self._stamp = self._fault(f"it cannot be read: {_reason(error)}"), None

    def _verified(self, data: bytes) -> Revoked:
        """The list in some bytes, or the fault that it is."""
        try:
            envelope = opened(read_json(data, MAX_LIST))
            if envelope.payload_type != PAYLOAD_TYPE:
                raise Malformed("its payload is of another type")
            signed = pae(envelope.payload_type, envelope.payload)
            if not any(verify(key, signature, signed) for key in self._keys for signature in envelope.signatures):
                raise Malformed("no key that counts has signed it")
            found = msgspec.convert(read_json(envelope.payload, MAX_LIST), RevocationList)
        except (Malformed, msgspec.ValidationError) as error:
            return self._fault(str(error))
        digest = sha256(envelope.payload).hexdigest()
        seq, known = self._seen()
        if found.seq < seq:
            return self._fault(f"its number is {found.seq}, and {seq} was in force before")
        if found.seq == seq and known and digest != known:
            return self._fault(f"another list was in force as number {seq}")
        if found.seq > seq or not known:
            self._mark(found.seq, digest)
        return Revoked(found, digest)

    def _fault(self, why: str) -> Revoked:
        return Revoked(fault=f"the revocation list counts for nothing: {why}", seq=self._known[0])

    # --- what was seen --------------------------------------------------------------------------------------------

    def _seen(self) -> tuple[int, str]:
        """The highest number that was seen, by this or by another process, and the digest of its list."""
        try:
            data = read(self._seen_path, MAX_LIST)
        except FileNotFoundError:
            return self._known
        except OSError as error:
            raise StateError(f"what was seen of the revocation list cannot be read: {error.strerror}") from error
        for line in data.splitlines():
            try:
                each = msgspec.json.decode(line, type=tuple[int, str])
            except (msgspec.MsgspecError, UnicodeDecodeError):
                continue  # torn by a crash: nobody was told
            if each[0] > self._known[0] or (each[0] == self._known[0] and not self._known[1]):
                self._known = each
        return self._known

    def _mark(self, seq: int, digest: str) -> None:
        """Keep that a list was seen. Lines are only appended, so that no process undoes what another has seen."""
        self._known = (seq, digest)
        line = b"\n%b\n" % msgspec.json.encode([seq, digest])
        try:
            handle = os.open(
                self._seen_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
            )
            try:
                os.write(handle, line)
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise StateError(f"what was seen of the revocation list cannot be kept: {error.strerror}") from error


def note_list(revoked: Revoked, log: Log, store: Store) -> None:
    """Note a list in force that the log does not have, such as one that was copied here, under the lock of the log.

    Raises:
        StateError: the log cannot be written.
    """
    if revoked.list is not None and not store.has_list(revoked.seq, revoked.digest):
        log.append("revocation", revoked.members())
        store.catch_up()


def watch(revocations: Revocations, changed: Callable[[Revoked], None], stop: threading.Event) -> None:
    """Tell of every list that comes into force until `stop` is set: the body of a thread, for who acknowledges lists
    without a decision."""
    last = revocations.current(int(time()))
    while not stop.wait(WATCH_SECONDS):
        now = revocations.current(int(time()))
        if (now.seq, now.digest, now.fault) != (last.seq, last.digest, last.fault):
            last = now
            changed(now)


def _reason(error: OSError | StateError) -> str:
    return (error.strerror or "") if isinstance(error, OSError) else str(error)

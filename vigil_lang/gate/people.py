"""The people who use a gate, their roles, passkeys and sessions, and the sessions of agents: what the log says of them.

Each change is an entry of the log. What a person is after an entry is for `changed` to say; the index keeps it
(`People`), and `vigil audit verify` follows it by itself (`Registry`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import msgspec

from vigil_lang.gate.passkeys import NoAssertion, cose_key, is_made_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from sqlite3 import Connection

Role: TypeAlias = Literal["viewer", "approver", "administrator"]
ROLES: tuple[Role, ...] = get_args(Role)
"""Each may do what those before it may."""

Standing: TypeAlias = Literal["invited", "active", "removed"]

OPERATOR = "operator"
"""The id of the person who started the service and has its link: always an administrator."""

MAX_NAME = 100
"""Characters of a person's name."""

MAX_PASSKEYS = 20
"""Of one person."""

KINDS = frozenset({"person", "sign_in", "sign_out", "session"})
"""The kinds of entries that say who may what."""

TABLES = """
CREATE TABLE person (id TEXT PRIMARY KEY, subject TEXT UNIQUE, invitation TEXT UNIQUE, value TEXT NOT NULL) STRICT;
CREATE TABLE passkey (key TEXT PRIMARY KEY, credential TEXT NOT NULL UNIQUE, person TEXT NOT NULL) STRICT;
CREATE TABLE sign_in (
    session TEXT PRIMARY KEY, person TEXT NOT NULL, at INTEGER NOT NULL, until INTEGER NOT NULL, proof TEXT UNIQUE,
    ended INTEGER
) STRICT;
CREATE INDEX sign_in_person ON sign_in (person, at);
CREATE TABLE agent_session (
    session TEXT PRIMARY KEY, run TEXT NOT NULL, agent TEXT NOT NULL, key TEXT NOT NULL, nonce TEXT NOT NULL,
    chain TEXT, until INTEGER NOT NULL, UNIQUE (key, nonce)
) STRICT;
"""


class Passkey(msgspec.Struct, frozen=True):
    """A passkey of a person: its name, the credential's id (base64url), the relying party's id that it is good for,
    what its owner calls it, and when it was added (the time of the entry)."""

    key: str
    credential: str
    rp: str
    label: str
    added: str


class Person(msgspec.Struct, frozen=True):
    """A person as the log has her. `subject` is who she is to the identity provider. Who is invited becomes active by
    the link whose SHA-256 is `invitation`, before `until` (POSIX seconds)."""

    id: str
    name: str
    role: Role
    standing: Standing
    subject: str | None = None
    invitation: str | None = None
    until: int = 0
    passkeys: tuple[Passkey, ...] = ()

    def may(self, role: Role) -> bool:
        """Whether she has a role, or one that may more."""
        return self.standing == "active" and ROLES.index(self.role) >= ROLES.index(role)

    def passkey(self, key: str) -> Passkey | None:
        """Her passkey of a name."""
        return next((each for each in self.passkeys if each.key == key), None)


class SignIn(msgspec.Struct, frozen=True):
    """A person's session; `at` is in microseconds since 1970, `until` in POSIX seconds. It `ended` by an entry."""

    session: str
    person: str
    at: int
    until: int
    ended: int | None


class AgentSession(msgspec.Struct, frozen=True):
    """A session of an agent in a run, which proved that it has `key`; `chain` is what it presented."""

    session: str
    run: str
    agent: str
    key: str
    chain: str | None
    until: int


def changed(entry: Mapping[str, Any], before: Person | None) -> Person:
    """What a person is after an entry `person` about her.

    Raises:
        KeyError, TypeError, ValueError: the entry is none, or cannot follow on what she was.
    """
    match entry["change"]:
        case "invited" | "joined" as change if before is None:
            _check(entry["role"] in ROLES, "the role is none")
            invited = change == "invited"
            return Person(
                _text(entry["id"]),
                _text(entry["name"]),
                entry["role"],
                "invited" if invited else "active",
                None if entry.get("subject") is None else _text(entry["subject"]),
                _text(entry["invitation"]) if invited else None,
                int(entry["expires"]) if invited else 0,
            )
        case "joined" if before is not None and before.standing == "invited":
            _check(entry["invitation"] == before.invitation, "it names another invitation")
            return msgspec.structs.replace(before, standing="active", invitation=None, until=0)
        case _ if before is None:
            raise ValueError("nobody of that id is known")
        case _ if before.standing == "removed":
            raise ValueError("the person was removed")
        case "role":
            _check(entry["role"] in ROLES, "the role is none")
            return msgspec.structs.replace(before, role=entry["role"])
        case "removed":
            return msgspec.structs.replace(before, standing="removed", passkeys=(), invitation=None, subject=None)
        case "passkey":
            _check(before.standing == "active", "who is invited has no passkey yet")
            _check(before.passkey(entry["key"]) is None, "the passkey is there already")
            _check(len(before.passkeys) < MAX_PASSKEYS, "the person has too many passkeys")
            cose_key(entry["key"])
            added = Passkey(*(_text(entry[name]) for name in ("key", "credential", "rp", "label", "at")))
            return msgspec.structs.replace(before, passkeys=(*before.passkeys, added))
        case "passkey_removed":
            _check(before.passkey(entry["key"]) is not None, "the passkey is not hers")
            return msgspec.structs.replace(
                before, passkeys=tuple(each for each in before.passkeys if each.key != entry["key"])
            )
        case _:
            raise ValueError("it cannot follow on what the person was")


def wrong_with_word(owner: Person | None, entry: Mapping[str, Any]) -> str | None:
    """Why a passkey that confirms or denies in an entry is none of the person whom it names, or she may not; None where
    nothing is. `owner` is the person who has that passkey."""
    passkey = None if owner is None else owner.passkey(entry["by"])
    if owner is None or passkey is None:
        return "its passkey is nobody's"
    if entry.get("person") != owner.id:
        return "its passkey is another person's"
    try:
        if not is_made_for(entry["signature"], passkey.rp):
            return "its passkey was used on another site"
    except NoAssertion as error:
        return str(error)
    return None if owner.may("approver") else "its passkey is of a person who may not confirm"


class Registry:
    """The people as entries of the log make them, one after the other: for who reads a log by itself."""

    def __init__(self) -> None:
        self._people: dict[str, Person] = {}
        self._owners: dict[str, str] = {}

    def apply(self, entry: Mapping[str, Any]) -> None:
        """Take in an entry `person`. Raises as `changed`."""
        before = self._people.get(entry["id"])
        after = changed(entry, before)
        new = {each.key for each in after.passkeys} - set(self._owners)
        added = {each.key for each in after.passkeys} - {each.key for each in (before.passkeys if before else ())}
        _check(added == new, "the passkey is another person's")
        for each in before.passkeys if before else ():
            self._owners.pop(each.key)
        self._owners |= {each.key: after.id for each in after.passkeys}
        self._people[after.id] = after

    def owner(self, key: str) -> Person | None:
        """The person who has a passkey."""
        return self._people.get(self._owners.get(key, ""))


class People:
    """The people in the index of a log; `rows` asks it."""

    def __init__(self, rows: Callable[..., list[Any]]) -> None:
        self._rows = rows

    def person(self, name: str) -> Person | None:
        """The person with an id; None where there never was one."""
        return self._one("SELECT value FROM person WHERE id = ?", name)

    def owner(self, key: str) -> Person | None:
        """The person who has a passkey, by its name."""
        return self._one("SELECT value FROM person JOIN passkey ON passkey.person = person.id WHERE key = ?", key)

    def with_credential(self, credential: str) -> Person | None:
        """The person who has a passkey, by its credential's id."""
        query = "SELECT value FROM person JOIN passkey ON passkey.person = person.id WHERE credential = ?"
        return self._one(query, credential)

    def with_subject(self, subject: str) -> Person | None:
        """The person who is a subject of the identity provider."""
        return self._one("SELECT value FROM person WHERE subject = ?", subject)

    def invited_by(self, invitation: str) -> Person | None:
        """The person whom a link invited, by the link's SHA-256."""
        return self._one("SELECT value FROM person WHERE invitation = ?", invitation)

    def everybody(self) -> list[Person]:
        """Who was not removed, in the order in which they came."""
        found = self._rows("SELECT value FROM person ORDER BY rowid")
        people = [msgspec.json.decode(value, type=Person) for (value,) in found]
        return [each for each in people if each.standing != "removed"]

    def sign_in(self, session: str) -> SignIn | None:
        """A person's session."""
        query = "SELECT session, person, at, until, ended FROM sign_in WHERE session = ?"
        return next((SignIn(*row) for row in self._rows(query, session)), None)

    def was_used(self, proof: str) -> bool:
        """Whether somebody signed in with a proof (its SHA-256) that is good for one sign-in."""
        return bool(self._rows("SELECT 1 FROM sign_in WHERE proof = ?", proof))

    def agent_session(self, session: str) -> AgentSession | None:
        """A session of an agent."""
        query = "SELECT session, run, agent, key, chain, until FROM agent_session WHERE session = ?"
        return next((AgentSession(*row) for row in self._rows(query, session)), None)

    def agent_of(self, key: str) -> str | None:
        """The agent that a key began a session for before."""
        found = self._rows("SELECT agent FROM agent_session WHERE key = ? LIMIT 1", key)
        return found[0][0] if found else None

    def has_nonce(self, key: str, nonce: str) -> bool:
        """Whether a key's proof with a nonce began a session."""
        return bool(self._rows("SELECT 1 FROM agent_session WHERE key = ? AND nonce = ?", key, nonce))

    def _one(self, query: str, value: str) -> Person | None:
        found = self._rows(query, value)
        return msgspec.json.decode(found[0][0], type=Person) if found else None


def apply_to(base: Connection, seq: int, at: int, entry: Mapping[str, Any]) -> None:
    """Take an entry of one of `KINDS` into the index; `at` is its time in microseconds since 1970.

    Raises:
        KeyError, TypeError, ValueError: it is none, or cannot follow on what was before.
        sqlite3.Error: the index cannot be written, or something is there twice.
    """
    match entry["kind"]:
        case "person":
            row = base.execute("SELECT value FROM person WHERE id = ?", (entry["id"],)).fetchone()
            before = msgspec.json.decode(row[0], type=Person) if row else None
            after = changed(entry, before)
            base.execute(
                "INSERT INTO person VALUES (?1, ?2, ?3, ?4) "
                "ON CONFLICT (id) DO UPDATE SET subject = ?2, invitation = ?3, value = ?4",
                (after.id, after.subject, after.invitation, msgspec.json.encode(after).decode()),
            )
            base.execute("DELETE FROM passkey WHERE person = ?", (after.id,))
            base.executemany(
                "INSERT INTO passkey VALUES (?, ?, ?)",
                [(each.key, each.credential, after.id) for each in after.passkeys],
            )
        case "sign_in":
            values = (entry["session"], entry["person"], at, entry["expires"], entry.get("proof"))
            base.execute("INSERT INTO sign_in VALUES (?, ?, ?, ?, ?, NULL)", values)
        case "sign_out":
            which = "person = ? AND ended IS NULL" if entry["session"] is None else "person = ? AND session = ?"
            of = (entry["person"],) if entry["session"] is None else (entry["person"], entry["session"])
            base.execute(f"UPDATE sign_in SET ended = {int(seq)} WHERE {which}", of)
        case "session":
            names = ("session", "run", "agent", "key", "nonce")
            values = (*(entry[name] for name in names), entry.get("chain"), entry["expires"])
            base.execute("INSERT INTO agent_session VALUES (?, ?, ?, ?, ?, ?, ?)", values)


def _check(is_right: bool, otherwise: str) -> None:
    if not is_right:
        raise ValueError(otherwise)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("something is no text, or empty")
    return value

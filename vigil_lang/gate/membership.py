"""Changing who may use a gate: people, their passkeys and sessions. Each change is an entry of the log."""

from __future__ import annotations

from base64 import b32encode
from hashlib import sha256
from secrets import token_bytes, token_urlsafe
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from vigil_lang.diagnostics.visible import visible
from vigil_lang.gate.people import MAX_NAME, MAX_PASSKEYS, OPERATOR, AgentSession, Passkey, Person, Role

if TYPE_CHECKING:
    from vigil_lang.gate.gate import Gate

INVITATION_SECONDS = 24 * 3600
"""How long a link of an invitation is good for."""

How: TypeAlias = Literal["link", "invitation", "passkey", "oidc"]
"""By what a person signs in."""

Wrong: TypeAlias = Literal["unknown", "taken", "used", "not_allowed"]


class MembershipError(Exception):
    """What is asked for cannot be: the text says why. Nothing was changed."""

    def __init__(self, why: Wrong, message: str) -> None:
        super().__init__(message)
        self.why = why


def digest_of(secret: str) -> str:
    """What the log has of a secret that is shown once: its SHA-256 in hexadecimal."""
    return sha256(secret.encode()).hexdigest()


class Membership:
    """The people of a gate, for who changes them. Its methods take the folder's lock.

    Raises:
        StateError: nothing can be judged, or written.
    """

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._people = gate.store.people

    # --- looking --------------------------------------------------------------------------------------------------

    def everybody(self) -> list[Person]:
        """Who was not removed."""
        with self._gate.holds.transaction():
            return self._people.everybody()

    def person(self, name: str) -> Person | None:
        """The person with an id, whatever became of her."""
        with self._gate.holds.transaction():
            return self._people.person(name)

    def with_credential(self, credential: str) -> tuple[Person, Passkey] | None:
        """The person who has a passkey, and it, by the credential's id."""
        with self._gate.holds.transaction():
            person = self._people.with_credential(credential)
        if person is None:
            return None
        return person, next(each for each in person.passkeys if each.credential == credential)

    def in_session(self, session: str, name: str) -> Person | None:
        """The person whose session it is, where it has not ended and she was not removed."""
        with self._gate.holds.transaction():
            found, person = self._people.sign_in(session), self._people.person(name)
        if found is None or person is None or found.person != name or found.ended is not None:
            return None
        return person if person.standing == "active" else None

    # --- people ---------------------------------------------------------------------------------------------------

    def operator(self) -> Person:
        """The person who started the service."""
        with self._gate.holds.transaction():
            if self._people.person(OPERATOR) is None:
                self._append(OPERATOR, "joined", name=OPERATOR, role="administrator", by=OPERATOR)
        return self._known(OPERATOR)

    def invite(self, name: str, role: Role, by: str) -> tuple[Person, str]:
        """Invite somebody; gives her, and the secret of a link that is good once.

        Raises:
            MembershipError: the name is empty, too long, or somebody has it.
        """
        secret, person = token_urlsafe(32), _new_id()
        with self._gate.holds.transaction():
            name = self._free_name(name)
            until = self._gate.holds.now() + INVITATION_SECONDS
            self._append(person, "invited", name=name, role=role, invitation=digest_of(secret), expires=until, by=by)
        return self._known(person), secret

    def accept(self, secret: str) -> Person:
        """Who was invited by a link joins; the link is used up.

        Raises:
            MembershipError: it is none, was used, or its time is over.
        """
        with self._gate.holds.transaction():
            person = self._people.invited_by(digest_of(secret))
            if person is None or self._gate.holds.now() >= person.until:
                raise MembershipError("unknown", "the invitation was used, or its time is over: ask for another one")
            self._append(person.id, "joined", invitation=person.invitation, by=person.id)
        return self._known(person.id)

    def provided(self, subject: str, name: str, role: Role) -> Person:
        """The person who is a subject of the identity provider, with the role that it gives her now."""
        with self._gate.holds.transaction():
            person = self._people.with_subject(subject)
            if person is None:
                person_id = _new_id()
                name = self._free_name(name, other=f"{name[:60]} ({person_id})")
                self._append(person_id, "joined", name=name, role=role, subject=subject, by="oidc")
            else:
                person_id = person.id
                if person.role != role:
                    self._append(person_id, "role", role=role, by="oidc")
        return self._known(person_id)

    def denied_by_provider(self, subject: str) -> None:
        """The identity provider gives a subject no role any more: who it was is removed."""
        with self._gate.holds.transaction():
            person = self._people.with_subject(subject)
            if person is not None:
                self._append(person.id, "removed", by="oidc")

    def change_role(self, name: str, role: Role, by: str) -> Person:
        """Give somebody another role.

        Raises:
            MembershipError: there is no such person, she is the operator, or the identity provider says her role.
        """
        with self._gate.holds.transaction():
            person = self._present(name)
            if person.id == OPERATOR:
                raise MembershipError("not_allowed", "the operator stays an administrator")
            if person.subject is not None:
                raise MembershipError("not_allowed", "her role comes from the identity provider")
            if person.role != role:
                self._append(name, "role", role=role, by=by)
        return self._known(name)

    def remove(self, name: str, by: str) -> None:
        """Remove somebody: her sessions end, and her passkeys confirm nothing any more.

        Raises:
            MembershipError: there is no such person, or she is the operator.
        """
        with self._gate.holds.transaction():
            if self._present(name).id == OPERATOR:
                raise MembershipError("not_allowed", "the operator is not removed")
            self._append(name, "removed", by=by)

    # --- passkeys -------------------------------------------------------------------------------------------------

    def add_passkey(self, name: str, key: str, credential: str, rp: str, label: str) -> Person:
        """Note a passkey of a person.

        Raises:
            MembershipError: somebody has it already, or she has too many.
        """
        with self._gate.holds.transaction():
            person = self._present(name)
            if self._people.owner(key) or self._people.with_credential(credential):
                raise MembershipError("taken", "this passkey is known already")
            if len(person.passkeys) >= MAX_PASSKEYS:
                raise MembershipError("not_allowed", f"a person has at most {MAX_PASSKEYS} passkeys")
            label = _shown(label) or "passkey"
            self._append(name, "passkey", key=key, credential=credential, rp=rp, label=label, by=name)
        return self._known(name)

    def remove_passkey(self, name: str, key: str, by: str) -> None:
        """Take a passkey from a person: it signs nobody in, and confirms nothing any more.

        Raises:
            MembershipError: she has no such passkey.
        """
        with self._gate.holds.transaction():
            if self._present(name).passkey(key) is None:
                raise MembershipError("unknown", "there is no such passkey")
            self._append(name, "passkey_removed", key=key, by=by)

    # --- sessions -------------------------------------------------------------------------------------------------

    def sign_in(self, name: str, how: How, address: str, seconds: int, proof: str | None = None) -> str:
        """Begin a session of a person; gives its name. A `proof` is good for one sign-in.

        Raises:
            MembershipError: she is not there, or the proof was used.
        """
        session = token_urlsafe(16)
        with self._gate.holds.transaction():
            person = self._present(name)
            if person.standing != "active":
                raise MembershipError("not_allowed", "she has not accepted her invitation")
            used = None if proof is None else digest_of(proof)
            if used is not None and self._people.was_used(used):
                raise MembershipError("used", "this was used to sign in before: try again")
            until = self._gate.holds.now() + seconds
            members = {"person": name, "role": person.role, "session": session, "how": how, "expires": until}
            self._gate.log.append("sign_in", {**members, "proof": used, "address": address})
        return session

    def sign_out(self, name: str, session: str | None) -> None:
        """End a session of a person, or all of them."""
        with self._gate.holds.transaction():
            self._gate.log.append("sign_out", {"person": name, "session": session})

    def refused(self, what: str, message: str, address: str, count: int) -> None:
        """Note that somebody was refused: so often, since it was noted last."""
        with self._gate.holds.transaction():
            members = {"what": what, "message": message[:300], "address": address, "count": count}
            self._gate.log.append("access_refused", members)

    def begin_agent(
        self, run: str, agent: str, key: str, nonce: str, chain: bytes | None, seconds: int
    ) -> AgentSession:
        """Begin a session of an agent in a run.

        Raises:
            MembershipError: the nonce was used by that key, or the key is another agent's.
        """
        session = token_urlsafe(16)
        with self._gate.holds.transaction():
            if self._people.has_nonce(key, nonce):
                raise MembershipError("used", "this proof was used before")
            if (other := self._people.agent_of(key)) not in (None, agent):
                raise MembershipError("not_allowed", f"the key is that of the agent {_shown(other or '')}")
            known = self._gate.store.run(run)
            if known is not None and known.agent != agent:
                raise MembershipError("not_allowed", "the run is another agent's")
            text = None if chain is None else chain.decode()
            until = self._gate.holds.now() + seconds
            members = {"session": session, "run": run, "agent": agent, "key": key, "nonce": nonce, "chain": text}
            self._gate.log.append("session", {**members, "expires": until})
        return AgentSession(session, run, agent, key, text, until)

    def agent_session(self, session: str) -> AgentSession | None:
        """A session of an agent, whichever node began it."""
        with self._gate.holds.transaction():
            return self._people.agent_session(session)

    # --- what is written ------------------------------------------------------------------------------------------

    def _append(self, person: str, change: str, **members: Any) -> None:
        self._gate.log.append("person", {"id": person, "change": change, **members})

    def _known(self, name: str) -> Person:
        found = self.person(name)
        assert found is not None
        return found

    def _present(self, name: str) -> Person:
        found = self._people.person(name)
        if found is None or found.standing == "removed":
            raise MembershipError("unknown", "there is no such person")
        return found

    def _free_name(self, name: str, other: str | None = None) -> str:
        shown = _shown(name)
        taken = {each.name.casefold() for each in self._people.everybody()} | {OPERATOR}
        if shown and shown.casefold() not in taken:
            return shown
        if other is None:
            why = "somebody has that name" if shown else "a person has a name"
            raise MembershipError("taken", why)
        return _shown(other)


def _new_id() -> str:
    return b32encode(token_bytes(10)).decode().lower()


def _shown(text: str) -> str:
    """A text on one line with nothing hidden in it, as names are kept."""
    return visible(" ".join(text.split()))[:MAX_NAME]

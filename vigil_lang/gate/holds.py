"""Holds: an action waits until somebody confirms it, and nothing else ever lets it through.

A hold leaves `pending` once, to approved, denied, expired or cancelled, by an entry of the log. Whoever holds the
folder's lock decides; what a hold is now is for the index to say (`store.py`).
"""

from __future__ import annotations

import os
import threading
import time
from base64 import b32encode
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from vigil_lang.gate.canonical import base64url
from vigil_lang.gate.confirmation import signed_approval, signed_denial, wrong_signature
from vigil_lang.gate.decide import Approval
from vigil_lang.gate.log.log import now
from vigil_lang.gate.notices.notice import clipped, notice_of
from vigil_lang.gate.passkeys import is_passkey
from vigil_lang.gate.people import wrong_with_word
from vigil_lang.gate.settings import HoldSettings, Notify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from vigil_lang.gate.decide.model import Who
    from vigil_lang.gate.log.log import Log
    from vigil_lang.gate.notices.notice import Notice
    from vigil_lang.gate.notices.outbox import Outbox
    from vigil_lang.gate.people import Role
    from vigil_lang.gate.storage.storage import Storage
    from vigil_lang.gate.store import Hold, Store

LONGEST_WAIT = 55.0
"""Seconds that anybody waits for a hold at a time."""

RELEASE_USES = 1000
"""How many calls a release lets through at most."""

_PAUSE = 0.1


class HoldError(Exception):
    """What is asked of a hold cannot be: the text says why. Nothing was changed."""


class Signer(Protocol):
    """A private key: its public half as `ed25519:…`, and what it makes of some data."""

    @property
    def public(self) -> str: ...

    def sign(self, data: bytes) -> bytes: ...


class Signed(msgspec.Struct, frozen=True):
    """An approver's word on a hold: `signature` is base64url of what the key `by` made of it, or the word of a passkey
    (`passkeys.word_of`).

    An approval allows `uses` calls, and with `until` (POSIX seconds) any call of that likeness before then.
    """

    hold: str
    by: str
    signature: str
    uses: int = 1
    until: int | None = None


class Holds:
    """The holds of a state folder. One thread at a time may use it, unless all share `guard`.

    People of `organisation_role` confirm what the organisation holds, by passkeys that the log has.

    `clock` gives microseconds since 1970. Its methods take the lock, or are under it already; where nothing can be
    judged they raise StateError.
    """

    def __init__(
        self,
        storage: Storage,
        log: Log,
        store: Store,
        settings: HoldSettings,
        notified: Notify | None = None,
        *,
        organisation_role: Role = "approver",
        clock: Callable[[], int] = now,
        guard: AbstractContextManager[Any] | None = None,
        origin: str | None = None,
    ) -> None:
        self._storage = storage
        self._log = log
        self._store = store
        self._settings = settings
        self._organisation_role = organisation_role
        self.origin = origin
        """Where people reach the page, for the links in notices."""
        self._clock = clock
        self._guard = guard or threading.RLock()
        self._is_news = False
        """Whether a hold was opened or escalated since people were told last."""
        self._outbox: Outbox | None = None
        if notified is not None and notified != Notify():
            from vigil_lang.gate.notices.outbox import Outbox  # late: where nobody is told, nothing of it is needed

            self._outbox = Outbox(log, store, notified, self.transaction, self.now, self.notice)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Nobody else writes meanwhile, and the index has all that the log has, before and after."""
        with self._guard, self._storage.lock():
            self._log.refresh()
            self._store.catch_up()
            yield
            self._store.catch_up()

    def now(self) -> int:
        """The time in POSIX seconds; it does not go back behind what the log has."""
        return max(self._clock(), self._log.at()) // 1_000_000

    @property
    def uses(self) -> int:
        """How many calls an approval lets through that is no release."""
        return self._settings.max_uses

    # --- for the gate ---------------------------------------------------------------------------------------------

    def opened(self, who: Who, asker: str | None = None) -> dict[str, Any]:
        """A new hold as the decision's entry has it, in a transaction. `asker` is the key that the agent acts under."""
        name = _new_name()
        while self._store.hold(name) is not None:
            name = _new_name()
        found: dict[str, Any] = {
            "id": name,
            "nonce": base64url(os.urandom(16)),
            "expires": self.now() + self._settings.timeout,
            "confirm_by": who,
            "quorum": self._settings.quorum,
        }
        if asker is not None and not self._settings.asker_may_confirm:
            found["asker"] = asker
        self._is_news = True
        return found

    def approvals_for(self, binding: str, likeness: str, at: int) -> tuple[Approval, ...]:
        """What approvals say of an action at a time, in POSIX seconds: those of approvers who still are."""
        found = []
        for hold in self._store.approved_for(binding, likeness, at):
            who = [each for each in (self._capacity(hold, entry["by"]) for entry in hold.confirmations) if each]
            if len(who) < hold.quorum or hold.covers is None or hold.until is None:
                continue
            by: Who = "organisation" if all(each == "organisation" for each in who) else "user"
            found.append(Approval(hold.id, hold.covers, hold.reasons, by, hold.until, hold.uses - hold.used))
        return tuple(found)

    def settle(self, limit: int | None = None) -> None:
        """Expire what has ended and escalate what has waited for long, in a transaction: so many holds, or all.

        People are told (`tell`) when the lock is given back.
        """
        at = self.now()
        after = self._settings.escalate_after
        due = self._store.due(at, None if after is None else at - after, limit)
        for hold in due:
            if at >= hold.expires:
                self._log.append("expiry", {"hold": hold.id})
            else:
                self._log.append("escalation", {"hold": hold.id, "to": list(self._settings.escalate)})
                self._is_news = True
        if due:
            self._store.catch_up()

    def void(self, why: str, concerns: Callable[[Hold], bool]) -> list[Hold]:
        """Cancel the pending holds that something concerns, and have the unused approvals of the others count no more.

        Gives those holds as they are then.
        """
        with self.transaction():
            at = self.now()
            every = [*self._store.holds("pending"), *(h for h in self._store.holds("approved") if h.usable(at))]
            chosen = [hold for hold in every if concerns(hold)]
            for hold in chosen:
                self._log.append("cancellation", {"hold": hold.id, "why": why})
            self._store.catch_up()
            return [self.get(hold.id) for hold in chosen]

    # --- for people -----------------------------------------------------------------------------------------------

    def get(self, name: str) -> Hold:
        """The hold with an id.

        Raises:
            HoldError: there is none.
        """
        found = self._store.hold(name)
        if found is None:
            raise HoldError(f"there is no hold `{clipped(name, 40)}`")
        return found

    def look(self, name: str) -> Hold:
        """A hold as it is now: expired, where its time is over. Raises as `get`."""
        with self.transaction():
            self.settle()
            found = self.get(name)
        self.tell()
        return found

    def listed(self, *, every: bool = False) -> list[Hold]:
        """The holds that wait, or all: the organisation's first, then by tier, the highest first, and by age."""
        with self.transaction():
            self.settle()
            found = self._store.holds() if every else self._store.holds("pending")
        self.tell()
        return sorted(
            found, key=lambda hold: (hold.confirm_by != "organisation", -hold.opened.get("tier", 0), hold.seq)
        )

    def signed(self, names: Sequence[str], key: Signer, *, release: int | None = None) -> list[Signed]:
        """A key's approval of holds, or with `release` (seconds from now) of all calls like theirs. Raises as `get`."""
        with self.transaction():
            until = None if release is None else self.now() + release
            uses = self._settings.max_uses if until is None else RELEASE_USES
            return [
                Signed(
                    name,
                    key.public,
                    base64url(key.sign(signed_approval(self.get(name).opened, uses=uses, release=until))),
                    uses,
                    until,
                )
                for name in names
            ]

    def approve(self, words: Sequence[Signed]) -> list[Hold]:
        """Take in approvals of holds: all of them or, where one cannot be, none.

        Gives the holds as they are then; one that needs more approvals still waits.

        Raises:
            HoldError: a hold does not wait (any more), the key may not confirm it or did already, it allows more than
                the settings do, or a signature is not the key's.
        """
        with self._deciding(words) as holds:
            at = self.now()
            for word, hold in zip(words, holds, strict=True):
                self._check_allowance(word, at)
                self._check_is_other(word, hold)
                signed = signed_approval(hold.opened, uses=word.uses, release=word.until)
                self._check_signature(words, word, signed, "approval")
            for word, hold in zip(words, holds, strict=True):
                members = self._members(words, word) | {
                    "who": self._capacity(hold, word.by),
                    "complete": hold.missing == 1,
                    "uses": word.uses,
                    "expires": at + hold.expires - hold.opened_at // 1_000_000 if word.until is None else word.until,
                    "covers": hold.opened["binding" if word.until is None else "likeness"],
                    "reasons": list(hold.reasons),
                    "release": word.until is not None,
                }
                self._log.append("approval", members)
        return [self.get(word.hold) for word in words]

    def signed_denials(self, names: Sequence[str], key: Signer) -> list[Signed]:
        """A key's denial of holds. Raises as `get`."""
        with self.transaction():
            return [
                Signed(name, key.public, base64url(key.sign(signed_denial(self.get(name).opened)))) for name in names
            ]

    def deny(self, words: Sequence[Signed]) -> list[Hold]:
        """Take in denials of holds, all or none; one suffices for a hold, whatever its quorum. Raises as `approve`."""
        with self._deciding(words) as holds:
            for word, hold in zip(words, holds, strict=True):
                self._check_signature(words, word, signed_denial(hold.opened), "denial")
            for word in words:
                self._log.append("denial", self._members(words, word))
        return [self.get(word.hold) for word in words]

    def cancel(self, names: Sequence[str], why: str) -> list[Hold]:
        """Cancel holds that wait, all or none: their actions are not wanted any more. Anybody may do that.

        Raises:
            HoldError: a hold does not wait (any more).
        """
        with self.transaction():
            self.settle()
            for name in names:
                self._check_pending(self.get(name))
            for name in dict.fromkeys(names):
                self._log.append("cancellation", {"hold": name, "why": clipped(why)})
        self.tell()
        return [self.get(name) for name in names]

    def wait(self, name: str, longest: float = LONGEST_WAIT) -> Hold:
        """The hold when it waits no more, or after so many seconds, at most `LONGEST_WAIT`. Raises as `get`."""
        end = time.monotonic() + min(longest, LONGEST_WAIT)
        seen, hold = self._storage.stamp(), self.look(name)
        while hold.state == "pending" and (left := end - time.monotonic()) > 0:
            self._storage.wait(seen, min(_PAUSE, left))
            found = self._storage.stamp()
            if seen != found or self._is_due(hold):
                seen, hold = found, self.look(name)
        return hold

    def _is_due(self, hold: Hold) -> bool:
        at, after = self.now(), self._settings.escalate_after
        escalates = after is not None and hold.escalated is None and at >= hold.opened_at // 1_000_000 + after
        return escalates or at >= hold.expires

    # --- what is checked ------------------------------------------------------------------------------------------

    @contextmanager
    def _deciding(self, words: Sequence[Signed]) -> Iterator[list[Hold]]:
        """A transaction on the holds that some words are about. A word that is refused is logged."""
        try:
            with self.transaction():
                self.settle()
                try:
                    if len({word.hold for word in words}) != len(words):
                        raise HoldError("a hold is named twice")
                    yield [self._checked(word) for word in words]
                except HoldError as error:
                    self._log.append(
                        "refusal", {"message": str(error), "by": sorted({clipped(w.by, 60) for w in words})}
                    )
                    raise
        finally:
            self.tell()

    def _checked(self, word: Signed) -> Hold:
        hold = self.get(word.hold)
        self._check_pending(hold)
        if word.by == hold.opened["hold"].get("asker"):
            raise HoldError(f"the key that asked for `{hold.id}` may not confirm or deny it")
        if self._capacity(hold, word.by) is None:
            whom = "of the organisation's approvers" if hold.confirm_by == "organisation" else "of the approvers"
            raise HoldError(f"the key {word.by} is none {whom}, and may not confirm or deny `{hold.id}`")
        return hold

    def _check_pending(self, hold: Hold) -> None:
        if hold.state != "pending":
            raise HoldError(f"the hold `{hold.id}` waits no more: it is {hold.state}")

    def _check_allowance(self, word: Signed, at: int) -> None:
        most = self._settings.max_uses if word.until is None else RELEASE_USES
        if not 1 <= word.uses <= most:
            raise HoldError(f"an approval of `{word.hold}` allows from 1 to {most} uses, not {word.uses}")
        if word.until is not None and not at < word.until <= at + self._settings.longest_release:
            raise HoldError(
                f"a release of `{word.hold}` lasts from now to {self._settings.longest_release:,} s from now "
                "(longest_release in the settings)"
            )

    def _check_is_other(self, word: Signed, hold: Hold) -> None:
        """A quorum is of different keys, and of different people: two passkeys of one person are one."""
        if any(entry["by"] == word.by for entry in hold.confirmations):
            raise HoldError(f"the key {word.by} has approved `{hold.id}` already; another one has to")
        person = self._person(word.by)
        if person is not None and any(entry.get("person") == person for entry in hold.confirmations):
            raise HoldError(f"the person who has {word.by} has approved `{hold.id}` already; another one has to")

    def _check_signature(self, words: Sequence[Signed], word: Signed, data: bytes, what: str) -> None:
        members = self._members(words, word)
        wrong = wrong_signature(word.by, word.signature, data, word.hold, members.get("batch", ()))
        if wrong is None and is_passkey(word.by):
            wrong = wrong_with_word(self._store.people.owner(word.by), members)
        if wrong is not None:
            raise HoldError(f"the signature on `{word.hold}` is no {what} by the key {word.by}: {wrong}")

    def _capacity(self, hold: Hold, by: str) -> Who | None:
        """As what a key may confirm a hold: for the organisation, for the user, or not at all. A key may by the
        settings, a passkey by the role of the person who has it."""
        if is_passkey(by):
            owner = self._store.people.owner(by)
            if owner is None or not owner.may("approver"):
                return None
            if owner.may(self._organisation_role):
                return "organisation"
            return "user" if hold.confirm_by == "user" else None
        if by in self._settings.organisation:
            return "organisation"
        users = (*self._settings.approvers, *(self._settings.escalate if hold.escalated is not None else ()))
        return "user" if hold.confirm_by == "user" and by in users else None

    def _person(self, by: str) -> str | None:
        owner = self._store.people.owner(by) if is_passkey(by) else None
        return None if owner is None else owner.id

    def _members(self, words: Sequence[Signed], word: Signed) -> dict[str, Any]:
        members: dict[str, Any] = {"hold": word.hold, "by": word.by, "signature": word.signature}
        person = self._person(word.by)
        members |= {} if person is None else {"person": person}
        return members if len(words) == 1 else members | {"batch": [each.hold for each in words]}

    # --- telling --------------------------------------------------------------------------------------------------

    def notice(self, event: str, name: str) -> Notice:
        """What people are told of a hold: `event` is `opened` or `escalated`."""
        hold = self.get(name)
        inputs = self._log.plain(hold.seq, "/inputs")
        action = inputs.get("action") if isinstance(inputs, dict) else None
        link = None if self.origin is None else f"{self.origin}/holds/{hold.id}"
        return notice_of(event, hold, action, self._settings.escalate if event == "escalated" else (), link)

    def tell(self) -> list[threading.Thread]:
        """Tell people what is new, or was left untold, beside what goes on; gives the threads that do.

        A failure is logged, and tried again while the hold waits. The lock is not held any more.
        """
        new, self._is_news = self._is_news, False
        return [] if self._outbox is None else self._outbox.look(new=new)

    def close(self) -> None:
        """Tell nothing again that fails."""
        if self._outbox is not None:
            self._outbox.close()


def _new_name() -> str:
    """Ten letters and digits: short enough to type."""
    return b32encode(os.urandom(7)).decode().lower()[:10]


def _severity(hold: Hold) -> tuple[bool, int, int]:
    return hold.confirm_by != "organisation", -hold.opened.get("tier", 0), hold.seq

"""What an approver signs of a hold, and whether an entry of the log bears it out: checkable offline, by anyone."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64decode
from typing import TYPE_CHECKING, Any

from vigil_lang.gate.authority.keys import verify
from vigil_lang.gate.canonical import canonical
from vigil_lang.gate.log.log import moment
from vigil_lang.gate.passkeys import NoAssertion, batch_size, check_assertion, is_passkey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def signed_approval(opened: Mapping[str, Any], *, uses: int = 1, release: int | None = None) -> bytes:
    """What who approves a hold signs: SHA-256 of the canonical form of {binding, hold, nonce, expires}.

    Where more than this action once is allowed, that is signed as well: `uses`, and for a release the likeness of the
    calls and its end. `opened` is the entry of the decision that opened the hold, `release` the end in POSIX seconds.

    Raises:
        KeyError, TypeError, ValueError: the entry opens no hold.
    """
    more: dict[str, object] = {} if uses == 1 else {"uses": uses}
    if release is not None:
        more |= {"likeness": opened["likeness"], "until": release}
    return _digest(opened, more)


def signed_denial(opened: Mapping[str, Any]) -> bytes:
    """What who denies a hold signs. It can never be taken for an approval. Raises as `signed_approval`."""
    return _digest(opened, {"denied": True})


def check_approval(entry: Mapping[str, Any], opened: Mapping[str, Any]) -> str | None:
    """Why an entry `approval` does not prove that its key confirmed what it says; None where it does.

    `opened` is the entry of the decision that opened the hold. Whether the key was an approver's is not looked at: the
    settings of the time say that.
    """
    try:
        return _wrong_with_approval(entry, opened) or _wrong_with_key(
            entry,
            opened,
            signed_approval(opened, uses=entry["uses"], release=entry["expires"] if entry["release"] is True else None),
        )
    except (KeyError, TypeError, ValueError) as error:
        return f"it lacks something, or has it wrong: {type(error).__name__} {error}"


def check_denial(entry: Mapping[str, Any], opened: Mapping[str, Any]) -> str | None:
    """Why an entry `denial` does not prove that its key denied the hold; None where it does."""
    try:
        if entry["hold"] != opened["hold"]["id"]:
            return "it is about another hold"
        return _wrong_with_key(entry, opened, signed_denial(opened))
    except (KeyError, TypeError, ValueError) as error:
        return f"it lacks something, or has it wrong: {type(error).__name__} {error}"


def wrong_signature(by: str, signature: str, signed: bytes, hold: str, batch: Sequence[str] = ()) -> str | None:
    """Why a signature (base64url) is not one that a key, or a passkey, made of a hold's digest; None where it is.

    `batch` are the ids of the holds that are confirmed or denied together. A passkey signs once for all of them: its
    word then has their digests, in that order.
    """
    try:
        if is_passkey(by):
            size = batch_size(signature)
            if size is not None and (size != len(batch) or len(set(batch)) != size):
                return "its passkey signed for another batch"
            check_assertion(by, signature, signed, None if size is None else batch.index(hold))
            return None
        found = urlsafe_b64decode(signature + "==")
    except NoAssertion as error:
        return f"its passkey did not sign this hold: {error}"
    except ValueError:
        return "its signature is no base64"
    return None if verify(by, found, signed) else "its signature is not one of its key over this hold"


def reason_key(reason: Mapping[str, Any]) -> str:
    """What an approval calls a reason by, as `Reason.key` has it."""
    return f"{reason.get('layer') or reason['kind']}.{reason['name']}"


def held_for(opened: Mapping[str, Any]) -> list[str]:
    """The reasons that an approval of a hold lifts, as an approval calls them."""
    open_holds = (each for each in opened["reasons"] if each["asks"] == "hold" and not each.get("lifted"))
    return list(dict.fromkeys(map(reason_key, open_holds)))


def _digest(opened: Mapping[str, Any], more: Mapping[str, object]) -> bytes:
    hold = opened["hold"]
    basis = {"binding": opened["binding"], "hold": hold["id"], "nonce": hold["nonce"], "expires": hold["expires"]}
    return hashlib.sha256(canonical({**basis, **more})).digest()


def _wrong_with_approval(entry: Mapping[str, Any], opened: Mapping[str, Any]) -> str | None:
    hold = opened["hold"]
    longest = hold["expires"] - moment(opened["at"]) // 1_000_000
    if entry["hold"] != hold["id"]:
        return "it is about another hold"
    if entry["covers"] != opened["likeness" if entry["release"] is True else "binding"]:
        return "it covers another action than the one that was held"
    if entry["reasons"] != held_for(opened):
        return "it lifts other reasons than those that were shown"
    if hold["confirm_by"] == "organisation" != entry["who"]:
        return "only the organisation may confirm this hold"
    if type(entry["uses"]) is not int or entry["uses"] < 1:
        return "it allows no number of uses"
    if entry["release"] is not True and entry["expires"] > moment(entry["at"]) // 1_000_000 + longest:
        return "it lasts longer than the hold was open"
    return None


def _wrong_with_key(entry: Mapping[str, Any], opened: Mapping[str, Any], signed: bytes) -> str | None:
    if entry["by"] == opened["hold"].get("asker"):
        return "who asked may not confirm"
    batch = entry.get("batch") or ()
    return wrong_signature(entry["by"], entry["signature"], signed, entry["hold"], batch)

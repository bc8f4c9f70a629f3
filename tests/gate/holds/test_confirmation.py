"""What an approver signs, and what an entry of the log proves: by itself, with nothing but the hold's own entry."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import pytest

from vigil_lang.gate.authority.keys import Key
from vigil_lang.gate.canonical import base64url
from vigil_lang.gate.confirmation import (
    check_approval,
    check_denial,
    held_for,
    signed_approval,
    signed_denial,
)

KEY, ASKER = Key.new(), Key.new()
OPENED: dict[str, Any] = {
    "at": "2026-11-23T04:00:00.500000Z",
    "binding": "b",
    "likeness": "l",
    "reasons": [
        {"kind": "rule", "layer": "personal", "name": "payments", "asks": "hold", "lifted": None},
        {"kind": "rule", "layer": "default", "name": "mail", "asks": "hold", "lifted": "personal.mine"},
        {"kind": "authority", "layer": None, "name": "outside", "asks": "hold"},
        {"kind": "authority", "layer": None, "name": "open", "asks": "pass"},
    ],
    "hold": {"id": "h", "nonce": "n", "expires": 1795406700, "confirm_by": "user", "quorum": 1, "asker": ASKER.public},
}
REASONS = ["personal.payments", "authority.outside"]


def approval(key: Key = KEY, *, uses: int = 1, release: int | None = None, **changed: Any) -> dict[str, Any]:
    """An entry that a key signed, and what was changed in it afterwards."""
    entry = {
        "at": "2026-11-23T04:01:00.000000Z",
        "kind": "approval",
        "hold": "h",
        "by": key.public,
        "signature": base64url(key.sign(signed_approval(OPENED, uses=uses, release=release))),
        "who": "user",
        "complete": True,
        "uses": uses,
        "expires": 1795406760 if release is None else release,
        "covers": "b" if release is None else "l",
        "reasons": REASONS,
        "release": release is not None,
    }
    return entry | changed


def denial(key: Key = KEY, **changed: Any) -> dict[str, Any]:
    entry = {"kind": "denial", "hold": "h", "by": key.public, "signature": base64url(key.sign(signed_denial(OPENED)))}
    return entry | changed


def test_what_is_signed_is_what_the_contract_says() -> None:
    """SHA-256 of the canonical JSON of {binding, hold, nonce, expires}: made here by hand."""
    text = '{"binding":"b","expires":1795406700,"hold":"h","nonce":"n"}'
    assert signed_approval(OPENED) == hashlib.sha256(text.encode()).digest()
    wider = {**json.loads(text), "uses": 5, "likeness": "l", "until": 9}
    made = json.dumps(wider, sort_keys=True, separators=(",", ":")).encode()
    assert signed_approval(OPENED, uses=5, release=9) == hashlib.sha256(made).digest()
    assert len({signed_approval(OPENED), signed_approval(OPENED, uses=2), signed_denial(OPENED)}) == 3


def test_an_approval_lifts_the_holds_that_were_shown() -> None:
    assert held_for(OPENED) == REASONS


@pytest.mark.parametrize("entry", [approval(), approval(uses=7), approval(uses=1000, release=1800000000)])
def test_a_good_approval_is_proved(entry: dict[str, Any]) -> None:
    assert check_approval(entry, OPENED) is None


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (approval(hold="other"), "another hold"),
        (approval(covers="l"), "another action"),
        (approval(release=1800000000, covers="b"), "another action"),
        (approval(reasons=REASONS[:1]), "other reasons"),
        (approval(uses=1) | {"uses": 2}, "signature"),
        (approval(uses=2) | {"uses": 2.0}, "no number of uses"),
        (approval(expires=1795407000), "lasts longer"),
        (approval(release=1800000000) | {"expires": 1800000001}, "signature"),
        (approval(ASKER), "who asked"),
        (approval(by=ASKER.public), "who asked"),
        (approval(by=Key.new().public), "signature"),
        (approval(by="ed25519:" + "A" * 43), "signature"),
        (approval(signature="é"), "lacks something|no base64"),
        (approval(signature="A"), "no base64|signature"),
        (approval(signature=7), "lacks something"),
        (approval(at="yesterday"), "lacks something"),
        ({"kind": "approval"}, "lacks something"),
        (denial(), "lacks something"),
        (approval(signature=denial()["signature"]), "signature"),
    ],
)
def test_what_proves_no_approval_is_told(entry: dict[str, Any], why: str) -> None:
    assert re.search(why, check_approval(entry, OPENED) or "")


def test_an_approval_of_the_user_does_not_do_for_the_organisation() -> None:
    opened = OPENED | {"hold": OPENED["hold"] | {"confirm_by": "organisation"}}
    assert check_approval(approval(), opened) == "only the organisation may confirm this hold"
    assert check_approval(approval(who="organisation"), opened) is None


@pytest.mark.parametrize("opened", [{}, {"hold": None}, {"hold": {}}, OPENED | {"hold": {"id": "h"}}])
def test_an_entry_that_opened_no_hold_proves_nothing(opened: dict[str, Any]) -> None:
    assert "lacks something" in (check_approval(approval(), opened) or "")
    assert "lacks something" in (check_denial(denial(), opened) or "")


def test_denials_are_proved_or_not() -> None:
    assert check_denial(denial(), OPENED) is None
    assert check_denial(denial(hold="other"), OPENED) == "it is about another hold"
    assert check_denial(denial(ASKER), OPENED) == "who asked may not confirm"
    assert "signature" in (check_denial(denial(signature=approval()["signature"]), OPENED) or "")

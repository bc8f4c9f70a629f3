"""A passkey's word is good for the very hold, uses, release and answer that it was given for, and for nothing else."""

from __future__ import annotations

import itertools
import json
from base64 import urlsafe_b64decode
from typing import Any

import pytest
from authenticator import ATTESTED, PRESENT, VERIFIED, Assertion, Browser, Passkey
from hypothesis import given, settings
from hypothesis import strategies as st

from vigil_lang.gate.canonical import base64url, canonical
from vigil_lang.gate.confirmation import signed_approval, signed_denial, wrong_signature
from vigil_lang.gate.passkeys import (
    NoAssertion,
    challenge_of,
    check_assertion,
    cose_key,
    is_made_for,
    relying_parties,
    word_of,
)

RP = "vigil.example"
BROWSER = Browser()
PASSKEYS = {name: Passkey(RP, name) for name in ("ES256", "EdDSA", "RS256")}  # type: ignore[arg-type]
ONE, OTHER = PASSKEYS["ES256"], Passkey(RP)
DIGEST = bytes(range(32))


def opened(name: str) -> dict[str, Any]:
    return {"binding": f"b-{name}", "likeness": "l", "hold": {"id": name, "nonce": f"n-{name}", "expires": 1795406700}}


def word(made: Assertion, digests: list[bytes] | None = None) -> str:
    return word_of(made.authenticator_data, made.client_data, made.signature, digests)


SAID = word(BROWSER.use(ONE, DIGEST))


@pytest.mark.parametrize("passkey", PASSKEYS.values(), ids=PASSKEYS.keys())
def test_each_kind_of_passkey_signs(passkey: Passkey) -> None:
    said = word(BROWSER.use(passkey, DIGEST))
    check_assertion(passkey.name, said, DIGEST)
    assert cose_key(passkey.name) == passkey.cose
    assert is_made_for(said, RP)
    assert not is_made_for(said, "other.example")
    for other in (OTHER, *PASSKEYS.values()):
        if other is not passkey:
            with pytest.raises(NoAssertion):
                check_assertion(other.name, said, DIGEST)
    with pytest.raises(NoAssertion, match="another challenge"):
        check_assertion(passkey.name, said, bytes(32))


# What a person can be shown and answer: a hold, how many uses, a release's end, approval or denial.
_ANSWERS = [
    *itertools.product("ab", (1, 2), (None, 1795400000, 1795400001), ("approve",)),
    *itertools.product("ab", (1,), (None,), ("deny",)),
]
_DIGESTS = {
    answer: (
        signed_denial(opened(answer[0]))
        if answer[3] == "deny"
        else signed_approval(opened(answer[0]), uses=answer[1], release=answer[2])
    )
    for answer in _ANSWERS
}


@settings(max_examples=60, deadline=None)
@given(
    passkey=st.sampled_from(list(PASSKEYS.values())),
    given_for=st.lists(st.sampled_from(_ANSWERS), min_size=1, max_size=4, unique=True),
)
def test_no_word_is_taken_for_another_answer(passkey: Passkey, given_for: list[tuple[Any, ...]]) -> None:
    digests = [_DIGESTS[each] for each in given_for]
    made = BROWSER.use(passkey, challenge_of(digests))
    said = word(made, digests if len(digests) > 1 else None)
    batch = [f"{at}" for at in range(len(digests))] if len(digests) > 1 else []
    for answer, digest in _DIGESTS.items():
        for at in range(len(digests)):
            right = digests[at] == digest
            wrong = wrong_signature(passkey.name, said, digest, f"{at}", batch)
            assert (wrong is None) == right, (answer, given_for, wrong)
        if batch:  # alone, or as a part of the batch, or of a longer one, it is nobody's word
            assert wrong_signature(passkey.name, said, digest, "0")
            assert wrong_signature(passkey.name, said, digest, "0", batch[:-1])
            assert wrong_signature(passkey.name, said, digest, "0", [*batch, "more"])
        else:
            assert wrong_signature(OTHER.name, said, digest, "0")


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_a_word_with_any_byte_changed_is_none(data: st.DataObject) -> None:
    said = bytearray(SAID.encode())
    at = data.draw(st.integers(0, len(said) - 1))
    new = data.draw(st.integers(32, 126))
    if said[at] == new:
        return
    said[at] = new
    with pytest.raises(NoAssertion):
        check_assertion(ONE.name, said.decode(), DIGEST)


@settings(max_examples=300, deadline=None)
@given(text=st.text(max_size=200) | st.binary(max_size=200).map(base64url))
def test_any_text_is_no_word_and_no_key(text: str) -> None:
    with pytest.raises(NoAssertion):
        check_assertion(ONE.name, text, DIGEST)
    with pytest.raises(NoAssertion):
        cose_key(f"passkey:{text}")
    assert wrong_signature(f"passkey:{text}", word(BROWSER.use(ONE, DIGEST)), DIGEST, "h")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"flags": PRESENT}, "verify who"),
        ({"flags": VERIFIED}, "verify who"),
        ({"flags": PRESENT | VERIFIED | ATTESTED}, "none of an assertion"),
        ({"flags": PRESENT | VERIFIED | 0x80}, "none of an assertion"),
        ({"flags": PRESENT | VERIFIED | 0x10}, "contradicts"),
        ({"flags": PRESENT | VERIFIED | 0x02}, "none of an assertion"),
        ({"type": "webauthn.create"}, "no assertion"),
        ({"challenge": "AAAA"}, "another challenge"),
        ({"challenge": None}, "another challenge"),
        ({"crossOrigin": True}, "another site"),
        ({"topOrigin": "https://evil.example"}, "another site"),
        ({"origin": "https://evil.example"}, "another site than its origin"),
        ({"origin": "http://vigil.example"}, "another site than its origin"),
        ({"origin": "https://vigil.example/"}, "another site than its origin"),
        ({"origin": "https://vigil.example@evil.example"}, "another site than its origin"),
        ({"origin": "https://evilvigil.example"}, "another site than its origin"),
        ({"origin": "https://vigil.example:x"}, "another site than its origin"),
        ({"origin": 5}, "no origin"),
    ],
)
def test_what_the_browser_or_the_authenticator_says_amiss(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(NoAssertion, match=why):
        check_assertion(ONE.name, word(BROWSER.use(ONE, DIGEST, **changed)), DIGEST)


def test_a_sub_domain_may_use_the_passkeys_of_the_domain() -> None:
    check_assertion(ONE.name, word(BROWSER.use(ONE, DIGEST, origin="https://page.vigil.example:8443")), DIGEST)
    assert relying_parties("https://a.b.example.org") == ["a.b.example.org", "b.example.org", "example.org"]
    assert relying_parties("http://localhost:8080") == ["localhost"]
    for none in ("http://127.0.0.1", "https://127.0.0.1", "ftp://a.org", "https://", "https://A.org", "https://[::1"):
        assert relying_parties(none) == []


def test_a_word_has_one_form_of_bytes() -> None:
    members = json.loads(urlsafe_b64decode(word(BROWSER.use(ONE, DIGEST)) + "=="))
    for other in (
        base64url(json.dumps(members, indent=1).encode()),
        base64url(canonical({**members, "more": "x"})),
        base64url(canonical({**members, "digests": []})),
        base64url(canonical({**members, "digests": [base64url(DIGEST)]})),
        base64url(canonical(members)) + "=",
        base64url(canonical({**members, "signature": members["signature"] + "A"})),
        base64url(b"[" * 100_000),
    ):
        with pytest.raises(NoAssertion):
            check_assertion(ONE.name, other, DIGEST)


def test_a_key_that_anybody_can_sign_for_is_none() -> None:
    weak = "passkey:" + base64url(bytes.fromhex("a4010103272006215820") + b"\x01" + bytes(31))
    with pytest.raises(NoAssertion, match="anybody"):
        check_assertion(weak, word(BROWSER.use(PASSKEYS["EdDSA"], DIGEST)), DIGEST)
    off_curve = "passkey:" + base64url(bytes.fromhex("a5010203262001215820") + bytes(32) + b"\x22\x58\x20" + bytes(32))
    with pytest.raises(NoAssertion, match="signature"):
        check_assertion(off_curve, word(BROWSER.use(ONE, DIGEST)), DIGEST)

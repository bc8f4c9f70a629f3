"""DSSE envelopes: the protocol's own example, both alphabets, and agreement with securesystemslib."""

from __future__ import annotations

import base64
import copy
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from securesystemslib.dsse import Envelope as Peer
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey

from tests.gate.authority.made_chains import ATTACKER, AUDIENCE, NOW, ROOT, made
from vigil_lang.gate.authority.chain import PAYLOAD_TYPE, verify_chain
from vigil_lang.gate.authority.dsse import MAX_SIGNATURES, decoded, opened, pae, sealed
from vigil_lang.gate.authority.keys import Key, verify
from vigil_lang.gate.strict_json import Malformed


def test_what_is_signed_is_what_the_protocol_says() -> None:
    assert pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )
    assert pae("é", b"") == b"DSSEv1 2 \xc3\xa9 0 "


def test_what_was_sealed_can_be_opened() -> None:
    envelope = opened(sealed("text/plain", b"data", ROOT.public, ROOT.sign))
    assert (envelope.payload_type, envelope.payload) == ("text/plain", b"data")
    assert verify(ROOT.public, envelope.signatures[0], pae("text/plain", b"data"))


@given(st.binary(max_size=40))
def test_both_alphabets_are_read_with_their_padding_or_without_any(data: bytes) -> None:
    for text in (base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()):
        assert decoded(text) == decoded(text.rstrip("=")) == data


@pytest.mark.parametrize(
    "text",
    ["A", "AAAAA", "AA=", "AA===", "AA==A", "=", "====", "A=AA", "AB==", "AAB=", "+_==", "/-AA", " AA==", "AA==\n",
     "AA\n==",     "А===", "ＡA==", "AA==AA==", "A A=", "\0AA", "data:,"],
)  # fmt: skip
def test_what_no_encoder_writes_is_no_base64(text: str) -> None:
    with pytest.raises(Malformed):
        decoded(text)


ENVELOPE: dict[str, Any] = sealed("t", b"p", "", ROOT.sign)


@pytest.mark.parametrize(
    "value",
    [None, 1, "x", [], {}, ENVELOPE | {"x": 1}, ENVELOPE | {"signatures": [{"sig": "", "cert": 1}]},
     ENVELOPE | {"payload": 1}, ENVELOPE | {"payload": None}, ENVELOPE | {"payloadType": 1},
     ENVELOPE | {"signatures": {}}, ENVELOPE | {"signatures": []}, ENVELOPE | {"signatures": [{}]},
     ENVELOPE | {"signatures": ["x"]}, ENVELOPE | {"signatures": [{"sig": 1}]},
     ENVELOPE | {"signatures": [{"sig": "%"}]},
     ENVELOPE | {"signatures": ENVELOPE["signatures"] * (MAX_SIGNATURES + 1)}],
)  # fmt: skip
def test_what_is_no_envelope_is_refused(value: object) -> None:
    with pytest.raises(Malformed):
        opened(value)


def test_the_key_id_is_passed_over() -> None:
    for keyid in ("", "x", ATTACKER.public, None, 7):
        (signature,) = ENVELOPE["signatures"]
        changed = ENVELOPE | {"signatures": [signature | {"keyid": keyid}]}
        assert opened(changed) == opened(ENVELOPE)


def test_one_signature_that_verifies_suffices() -> None:
    chain = made(2)
    envelopes = chain.envelopes()
    for envelope in envelopes:
        wrong = base64.b64encode(ATTACKER.sign(b"x")).decode()
        envelope["signatures"] = [{"sig": wrong}, *envelope["signatures"], {"sig": "AAAA"}]
    found = verify_chain(json.dumps(envelopes).encode(), {ROOT.public}, AUDIENCE, NOW)
    assert found.problems == ()


# --- agreement -----------------------------------------------------------------------------------------------------


def peer_key(key: Key) -> SSlibKey:
    return SSlibKey.from_crypto(key._private.public_key())


@given(st.text(max_size=20), st.binary(max_size=60))
def test_what_is_sealed_here_verifies_there(payload_type: str, payload: bytes) -> None:
    if any("\ud800" <= letter <= "\udfff" for letter in payload_type):
        return
    key = peer_key(ROOT)
    there = Peer.from_dict(copy.deepcopy(sealed(payload_type, payload, key.keyid, ROOT.sign)))
    assert there.pae() == pae(payload_type, payload)
    assert list(there.verify([key], 1)) == [key.keyid]
    with pytest.raises(VerificationError):
        there.verify([peer_key(ATTACKER)], 1)


@given(st.text(max_size=20), st.binary(max_size=60))
def test_what_is_sealed_there_verifies_here(payload_type: str, payload: bytes) -> None:
    if any("\ud800" <= letter <= "\udfff" for letter in payload_type):
        return
    there = Peer(payload, payload_type, {})
    there.sign(CryptoSigner(ROOT._private))
    here = opened(there.to_dict())
    assert (here.payload_type, here.payload) == (payload_type, payload)
    assert verify(ROOT.public, here.signatures[0], pae(payload_type, payload))
    assert not verify(ATTACKER.public, here.signatures[0], pae(payload_type, payload))


def test_a_chain_of_envelopes_that_are_sealed_there_counts_here() -> None:
    chain = made(4, "there")
    envelopes = []
    for text, signer in zip(chain.texts, chain.signers, strict=True):
        there = Peer(text, PAYLOAD_TYPE, {})
        there.sign(CryptoSigner(signer._private))
        envelopes.append(there.to_dict())
    assert verify_chain(json.dumps(envelopes).encode(), {ROOT.public}, AUDIENCE, NOW).problems == ()


@pytest.mark.parametrize("seed", range(200))
def test_both_answer_the_same_of_a_changed_envelope(seed: int) -> None:
    rng = random.Random(seed)
    key = peer_key(ROOT)
    envelope = sealed("kind", bytes(rng.randrange(256) for _ in range(20)), key.keyid, ROOT.sign)
    (signature,) = envelope["signatures"]  # type: ignore[misc]
    match rng.randrange(4):
        case 0:
            raw = bytearray(base64.b64decode(signature["sig"]))
            raw[rng.randrange(64)] ^= 1 << rng.randrange(8)
            signature["sig"] = base64.b64encode(raw).decode()
        case 1:
            envelope["payloadType"] = rng.choice(["Kind", "kind ", ""])
        case 2:
            envelope["payload"] = base64.b64encode(rng.randbytes(20)).decode()
        case _:
            signature["sig"] = base64.urlsafe_b64encode(base64.b64decode(signature["sig"])).decode()
    here = opened(envelope)
    verifies = any(verify(ROOT.public, each, pae(here.payload_type, here.payload)) for each in here.signatures)
    there = Peer.from_dict(copy.deepcopy(envelope))
    try:
        agrees = bool(there.verify([key], 1))
    except VerificationError:
        agrees = False
    assert verifies == agrees

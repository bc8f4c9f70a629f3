"""Chains for tests, made of keys that are always the same: valid ones, and payloads to be changed and signed anew."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from vigil_lang.gate.authority.chain import PAYLOAD_TYPE
from vigil_lang.gate.authority.dsse import pae
from vigil_lang.gate.authority.keys import Key

if TYPE_CHECKING:
    import random

AUDIENCE = "vigil.local/0123456789abcdef0123456789abcdef"
NOW = 1_800_000_000
GRANTS = (
    'net.request(url ~ "https://example.com/*")',
    "file.read() or file.write()",
    'payment.transfer(amount <= 500 and currency = "EUR")',
    'not shell.run() and not process.run(program in {"sudo", "su"})',
    'message.send(to ~ "*@example.com")',
    "context.tier < 2",
)


def key(name: str) -> Key:
    """The key of somebody."""
    return Key(Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest()))


ROOT, OTHER, ATTACKER = key("root"), key("another root"), key("attacker")


@dataclass
class Made:
    """The payloads of a chain, and whose key signs each."""

    payloads: list[dict[str, Any]]
    signers: list[Key]
    holders: list[Key]
    texts: list[bytes] = field(default_factory=list)
    """The payloads as they are signed."""

    def again(self, at: int, *, text: bytes | None = None) -> None:
        """Serialise and join the payloads from a place on: each names the id of the one before it."""
        del self.texts[at:]
        for place in range(at, len(self.payloads)):
            if place > at:
                self.payloads[place]["parent"] = identity(self.texts[place - 1])
            given = text if place == at and text is not None else None
            self.texts.append(json.dumps(self.payloads[place]).encode() if given is None else given)

    def envelopes(self) -> list[dict[str, Any]]:
        """The envelopes, signed."""
        return [envelope(text, signer) for text, signer in zip(self.texts, self.signers, strict=True)]

    def file(self) -> bytes:
        """The chain's file."""
        return json.dumps(self.envelopes()).encode()


def identity(payload: bytes) -> str:
    """The id of the link with this payload."""
    return hashlib.sha256(pae(PAYLOAD_TYPE, payload)).hexdigest()


def envelope(payload: bytes, signer: Key) -> dict[str, Any]:
    """A payload in its envelope."""
    signature = signer.sign(pae(PAYLOAD_TYPE, payload))
    return {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": "", "sig": base64.b64encode(signature).decode()}],
    }


def payload_of(issuer: Key, holder: Key, **changed: object) -> dict[str, Any]:
    """What a link says, unless it is changed."""
    return {
        "v": 1,
        "iss": issuer.public,
        "sub": holder.public,
        "aud": AUDIENCE,
        "grant": GRANTS[0],
        "limits": {"calls": 10, "until": NOW + 5000, "per": "run"},
        "nbf": NOW - 1000,
        "exp": NOW + 5000,
        "depth": 0,
        "parent": None,
        "nonce": "AAAAAAAAAAAAAAAAAAAAAA",
    } | changed


def made(links: int, name: str = "", root: Key = ROOT, rng: random.Random | None = None) -> Made:
    """A valid chain of so many links; the same for the same name."""
    holders = [key(f"{name}{place}") for place in range(links)]
    signers = [root, *holders[:-1]]
    payloads = []
    for place, (issuer, holder) in enumerate(zip(signers, holders, strict=True)):
        grant = GRANTS[place % len(GRANTS)] if rng is None else rng.choice(GRANTS)
        depth = links - 1 - place if rng is None else (links - 1 - place) * 2 + rng.randrange(2)
        payloads.append(payload_of(issuer, holder, grant=grant, depth=depth, nonce=f"{name}{place}"))
    chain = Made(payloads, signers, holders)
    chain.again(0)
    return chain

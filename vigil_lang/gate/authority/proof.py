"""How an agent proves, at the start of its session in a run, that it has its key: a signature, never a secret."""

from __future__ import annotations

import time
from base64 import urlsafe_b64decode
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any

from vigil_lang.gate.authority.keys import verify
from vigil_lang.gate.canonical import base64url, canonical

if TYPE_CHECKING:
    from vigil_lang.gate.authority.keys import Key

WINDOW = 60
"""Seconds that the clocks of an agent and of the gate may differ: an older or newer proof is refused."""


def signed_part(run: str, agent: str, chain: str | None, audience: str, at: int, nonce: str) -> bytes:
    """What an agent signs: the canonical form of {run, agent, chain, audience, at, nonce}. `chain` is the leaf's id,
    None without a chain; `audience` the log's origin; `at` POSIX seconds."""
    return canonical({"run": run, "agent": agent, "chain": chain, "audience": audience, "at": at, "nonce": nonce})


def proof(
    key: Key, run: str, agent: str, audience: str, chain: list[Any] | None = None, leaf: str | None = None
) -> dict[str, Any]:
    """The body of `POST /v1/sessions`: `chain` has the envelopes of the agent's chain, `leaf` the id of the last."""
    at, nonce = int(time.time()), token_urlsafe(16)
    signature = base64url(key.sign(signed_part(run, agent, leaf, audience, at, nonce)))
    return {
        "run": run,
        "agent": agent,
        "audience": audience,
        "at": at,
        "nonce": nonce,
        "key": key.public,
        "chain": chain,
        "signature": signature,
    }


def is_proof(key: str, signature: str, signed: bytes) -> bool:
    """Whether a signature in base64url is one that a key made of `signed_part`."""
    try:
        found = urlsafe_b64decode(signature + "==")
    except ValueError:
        return False
    return verify(key, found, signed)

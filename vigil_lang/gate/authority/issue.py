"""Making links: a grant signed by its issuer, put behind the chain that it narrows."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING

import msgspec

from vigil_lang.gate.authority.chain import MAX_BYTES, PAYLOAD_TYPE, Limits, Payload, link_of
from vigil_lang.gate.authority.dsse import opened, sealed
from vigil_lang.gate.canonical import base64url, canonical
from vigil_lang.gate.strict_json import read_json

if TYPE_CHECKING:
    from vigil_lang.gate.authority.keys import Key


def issue(
    key: Key,
    to: str,
    grant: str,
    *,
    audience: str,
    begins: int,
    ends: int,
    limits: Limits,
    depth: int = 0,
    parent: bytes | None = None,
) -> bytes:
    """A chain, as the text of its file, whose last link gives `grant` to the public key `to`, signed with `key`.

    `parent` is the file of the chain that it narrows, already verified; None makes a root. Times are POSIX seconds.
    """
    before = [] if parent is None else read_json(parent, MAX_BYTES)
    assert isinstance(before, list)
    payload = Payload(
        v=1,
        iss=key.public,
        sub=to,
        aud=audience,
        grant=grant,
        limits=limits,
        nbf=begins,
        exp=ends,
        depth=depth,
        parent=link_of(opened(before[-1])).id if before else None,
        nonce=base64url(secrets.token_bytes(16)),
    )
    envelope = sealed(PAYLOAD_TYPE, canonical(msgspec.to_builtins(payload)), key.public, key.sign)
    return (json.dumps([*before, envelope], indent=1) + "\n").encode()

"""Tokens that any node of the service takes: what they say, with a MAC under a secret that all nodes have."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode
from typing import Any

import msgspec

from vigil_lang.gate.canonical import base64url, canonical

MAX_CHARACTERS = 16_384
"""Of a token."""

_MAC_CHARACTERS = 43


class Sealer:
    """Makes and opens tokens. `secret` is the same on each node; each `purpose` has a key of its own, so that a token
    of one is none of another."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def key(self, purpose: str) -> bytes:
        """The 32 bytes that a purpose has for its own."""
        return hmac.digest(self._secret, b"vigil: " + purpose.encode(), "sha256")

    def sealed(self, purpose: str, said: dict[str, object], until: int) -> str:
        """A token that says something until a time in POSIX seconds."""
        body = base64url(canonical({**said, "expires": until}))
        return f"{body}.{self._mac(purpose, body)}"

    def opened(self, purpose: str, token: str, at: int) -> dict[str, Any] | None:
        """What a token says; None where it is none of the purpose, was changed, or its time is over."""
        body, point, mac = token.partition(".")
        if not point or len(token) > MAX_CHARACTERS or len(mac) != _MAC_CHARACTERS or not token.isascii():
            return None
        if not hmac.compare_digest(mac, self._mac(purpose, body)):
            return None
        said: dict[str, Any] = msgspec.json.decode(urlsafe_b64decode(body + "=="))
        return said if at < said["expires"] else None

    def _mac(self, purpose: str, body: str) -> str:
        return base64url(hmac.digest(self.key(purpose), body.encode(), "sha256"))

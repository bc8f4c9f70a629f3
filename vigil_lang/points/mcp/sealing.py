"""What a client keeps for the proxy between two rounds of one call (`requestState`): sealed, for one use."""

from __future__ import annotations

import base64
import json
import time
from secrets import token_bytes
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_PREFIX = "vigil1."
SECONDS = 600
_MOST = 100_000


class BadState(ValueError):
    """A state that was not sealed here, is over, was used before, or belongs to another call or client."""


class Seal:
    """Seals states by a key of this process alone: another one refuses them.

    A state is good for one use within `SECONDS`, by the same principal, for the same tool and arguments (`call`, a
    digest).
    """

    def __init__(self) -> None:
        self._cipher = AESGCM(AESGCM.generate_key(256))
        self._used: dict[str, float] = {}

    def close(self, content: dict[str, Any], *, principal: str, call: str) -> str:
        """A text that only this process can read."""
        nonce = token_bytes(12)
        inner = {"content": content, "end": time.time() + SECONDS, "principal": principal, "call": call}
        sealed = self._cipher.encrypt(nonce, json.dumps(inner).encode(), _PREFIX.encode())
        return _PREFIX + base64.urlsafe_b64encode(nonce + sealed).decode()

    def open(self, text: object, *, principal: str, call: str) -> dict[str, Any]:
        """What was sealed.

        Raises:
            BadState: the text is none, or not for this use.
        """
        if not isinstance(text, str) or not text.startswith(_PREFIX):
            raise BadState("it was not sealed here")
        try:
            raw = base64.urlsafe_b64decode(text[len(_PREFIX) :])
            inner = json.loads(self._cipher.decrypt(raw[:12], raw[12:], _PREFIX.encode()))
        except (ValueError, InvalidTag) as error:
            raise BadState("it was not sealed here") from error
        at = time.time()
        if inner["end"] <= at:
            raise BadState("its time is over")
        if inner["principal"] != principal or inner["call"] != call:
            raise BadState("it belongs to another call")
        self._use(raw[:12].hex(), inner["end"], at)
        found: dict[str, Any] = inner["content"]
        return found

    def _use(self, nonce: str, until: float, at: float) -> None:
        if nonce in self._used:
            raise BadState("it was used before")
        if len(self._used) >= _MOST:
            self._used = {each: end for each, end in self._used.items() if end > at}
        if len(self._used) >= _MOST:
            raise BadState("too many were used in a short time")
        self._used[nonce] = until

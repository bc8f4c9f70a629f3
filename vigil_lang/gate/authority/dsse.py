"""DSSE envelopes: a payload, what it is, and signatures over both (secure-systems-lab/dsse, protocol 1.0.2)."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.gate.strict_json import Malformed
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_SIGNATURES = 16

_ALPHABETS = regex(r"(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)(={0,2})\Z")


class Envelope(NamedTuple):
    """What an envelope holds. Key ids are left out: they are hints, which nobody signs."""

    payload_type: str
    payload: bytes
    signatures: tuple[bytes, ...]


def pae(payload_type: str, payload: bytes) -> bytes:
    """The bytes that are signed: the pre-authentication encoding of a payload and its type."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sealed(payload_type: str, payload: bytes, keyid: str, sign: Callable[[bytes], bytes]) -> dict[str, object]:
    """An envelope with one signature, as JSON; `sign` makes it of the bytes that are signed, `keyid` is a hint."""
    return {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": payload_type,
        "signatures": [{"keyid": keyid, "sig": base64.b64encode(sign(pae(payload_type, payload))).decode()}],
    }


def opened(value: object) -> Envelope:
    """The envelope that a JSON value is, its signatures not yet verified.

    DSSE leaves room for members to come; what is signed here has none.

    Raises:
        Malformed: a member is missing, unknown or of another type, a text is no base64, or it has more than 16
            signatures.
    """
    match value:
        case {"payload": str(payload), "payloadType": str(kind), "signatures": list(signatures), **rest} if not rest:
            pass
        case _:
            raise Malformed("it is no DSSE envelope: `payload`, `payloadType`, `signatures` and nothing else")
    if not 1 <= len(signatures) <= MAX_SIGNATURES:
        raise Malformed(f"an envelope has 1 to {MAX_SIGNATURES} signatures")
    found = []
    for each in signatures:
        match each:
            case {"sig": str(signature), **rest} if rest.keys() <= {"keyid"}:
                found.append(decoded(signature))
            case _:
                raise Malformed("a signature is `sig` and perhaps `keyid`")
    return Envelope(kind, decoded(payload), tuple(found))


def decoded(text: str) -> bytes:
    """The bytes of a base64 text, in either alphabet of RFC 4648, with its padding or without any.

    Raises:
        Malformed: it mixes the alphabets, has other characters, or is not what an encoder writes.
    """
    found = _ALPHABETS.match(text)
    padding = -len(text.rstrip("=")) % 4
    if found is None or len(found[1]) not in (0, padding) or padding == 3:
        raise Malformed("a text is no base64")
    plain = text.rstrip("=").replace("-", "+").replace("_", "/") + "=" * padding
    data = base64.b64decode(plain)
    if base64.b64encode(data).decode() != plain:  # bits beyond the last byte
        raise Malformed("a text is no base64")
    return data

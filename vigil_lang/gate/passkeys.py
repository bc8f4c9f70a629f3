"""Passkeys as approvers: whether an assertion (WebAuthn) is a passkey's word on a challenge, checkable offline.

A passkey is named `passkey:` and base64url of its key as COSE writes it, in one form of bytes only. That name is all
that a check needs: what the authenticator signed and what the browser said are in the word itself.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from vigil_lang.gate.authority.keys import public_bytes
from vigil_lang.gate.canonical import base64url, canonical
from vigil_lang.gate.strict_json import Malformed, read_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# `cryptography` is imported where a key is used.

PREFIX = "passkey:"
MAX_NAME = 1500
"""Characters of a passkey's name: an RSA key of 8192 bits fits."""

MAX_WORD = 65_536
"""Bytes of a word: an assertion, with the digests of a batch."""

MAX_BATCH = 100
"""Holds that one assertion is about."""

# The forms that CTAP2's canonical CBOR gives a key: nothing is left to be read but its numbers.
_ES256 = bytes.fromhex("a5010203262001215820"), bytes.fromhex("225820")
_EDDSA = bytes.fromhex("a4010103272006215820")
_RS256 = bytes.fromhex("a40103033901002059")
_EXPONENT = bytes.fromhex("2143010001")
_RSA_BYTES = range(256, 1025)

_PRESENT, _VERIFIED, _ELIGIBLE, _BACKED_UP, _ATTESTED, _EXTENDED = 0x01, 0x04, 0x08, 0x10, 0x40, 0x80
_KNOWN_FLAGS = _PRESENT | _VERIFIED | _ELIGIBLE | _BACKED_UP | _ATTESTED | _EXTENDED


class NoAssertion(ValueError):
    """A word is no assertion of its passkey over the challenge; the text says why."""


class Ecdsa(NamedTuple):
    """A key on P-256."""

    x: bytes
    y: bytes


class Eddsa(NamedTuple):
    """An Ed25519 key."""

    x: bytes


class Rsa(NamedTuple):
    """An RSA key with the exponent 65537."""

    modulus: bytes


def is_passkey(name: str) -> bool:
    """Whether a key is named as a passkey."""
    return name.startswith(PREFIX)


def passkey_name(key: Ecdsa | Eddsa | Rsa) -> str:
    """What a passkey is called wherever it signs something."""
    match key:
        case Ecdsa(x, y):
            data = _ES256[0] + x + _ES256[1] + y
        case Eddsa(x):
            data = _EDDSA + x
        case Rsa(modulus):
            data = _RS256 + len(modulus).to_bytes(2) + modulus + _EXPONENT
    return PREFIX + base64url(data)


def cose_key(name: str) -> bytes:
    """The key in a passkey's name, as COSE writes it.

    Raises:
        NoAssertion: it is none, or not written in its one form.
    """
    try:
        data = _decoded(name.removeprefix(PREFIX))
    except NoAssertion:
        raise NoAssertion("the passkey's name is not base64url") from None
    if not is_passkey(name) or len(name) > MAX_NAME or passkey_name(_key(data)) != name:
        raise NoAssertion("the passkey's name is no key in its one form")
    return data


def word_of(
    authenticator_data: bytes, client_data: bytes, signature: bytes, digests: Sequence[bytes] | None = None
) -> str:
    """An assertion as the log has it in `signature`; `digests` are those of a batch, of which the challenge is made."""
    word: dict[str, object] = {
        "authenticatorData": base64url(authenticator_data),
        "clientDataJSON": base64url(client_data),
        "signature": base64url(signature),
    }
    if digests is not None:
        word["digests"] = [base64url(digest) for digest in digests]
    return base64url(canonical(word))


def challenge_of(digests: Sequence[bytes]) -> bytes:
    """What a passkey signs: the digest of one hold, or what stands for those of a batch."""
    if len(digests) == 1:
        return digests[0]
    return sha256(canonical([base64url(digest) for digest in digests])).digest()


def check_assertion(by: str, word: str, digest: bytes, at: int | None = None) -> None:
    """Check that a word is an assertion of a passkey over the digest of a hold, its user verified.

    `at` is the place of the hold in a batch, None where the word is about one hold alone. Of the origin it is checked
    that it is https, or this machine, and that the assertion was made for its host or a domain above.

    Raises:
        NoAssertion: it is none.
    """
    members = _members(word)
    digests = members.get("digests")
    if at is None:
        if digests is not None:
            raise NoAssertion("it is about a batch")
        challenge = digest
    else:
        challenge = _batch_challenge(digests, digest, at)
    client = _decoded(_text(members, "clientDataJSON"))
    data = _decoded(_text(members, "authenticatorData"))
    _check_authenticator(data, _origin(client, challenge))
    _check_signature(by, _decoded(_text(members, "signature")), data + sha256(client).digest())


def batch_size(word: str) -> int | None:
    """How many holds a word is about as a batch; None where it is about one alone.

    Raises:
        NoAssertion: it is no word of a passkey.
    """
    digests = _members(word).get("digests")
    return len(digests) if isinstance(digests, list) else None


def is_made_for(word: str, rp: str) -> bool:
    """Whether a passkey's word was made for a relying party's id.

    Raises:
        NoAssertion: it is no word of a passkey.
    """
    return _decoded(_text(_members(word), "authenticatorData"))[:32] == sha256(rp.encode()).digest()


# --- the word ------------------------------------------------------------------------------------------------------


def _members(word: str) -> dict[str, object]:
    """The members of a word, which has one form of bytes only."""
    try:
        members = read_json(_decoded(word), MAX_WORD)
    except Malformed as error:
        raise NoAssertion(str(error)) from None
    required = {"authenticatorData", "clientDataJSON", "signature"}
    if not isinstance(members, dict) or not required <= set(members) <= required | {"digests"}:
        raise NoAssertion("it has not the members of a passkey's word")
    if base64url(canonical(members)) != word:
        raise NoAssertion("it is not written in its one form")
    return members


def _batch_challenge(digests: object, digest: bytes, at: int) -> bytes:
    if not isinstance(digests, list) or not 2 <= len(digests) <= MAX_BATCH:
        raise NoAssertion("it is not about a batch")
    if not all(isinstance(each, str) for each in digests) or len(set(digests)) < len(digests):
        raise NoAssertion("the batch is none of digests that differ")
    if at >= len(digests) or digests[at] != base64url(digest):
        raise NoAssertion("it is not about this hold, or not in this place of the batch")
    return sha256(canonical(digests)).digest()


def _origin(data: bytes, challenge: bytes) -> str:
    """The origin that a browser says the assertion was made on."""
    try:
        said = read_json(data, MAX_WORD)
    except Malformed as error:
        raise NoAssertion(f"clientDataJSON: {error}") from None
    if not isinstance(said, dict):
        raise NoAssertion("clientDataJSON is no object")
    if said.get("type") != "webauthn.get":
        raise NoAssertion("it is no assertion")
    if said.get("challenge") != base64url(challenge):
        raise NoAssertion("it answers another challenge")
    if said.get("crossOrigin", False) is not False or "topOrigin" in said:
        raise NoAssertion("it was made within the page of another site")
    origin = said.get("origin")
    if not isinstance(origin, str):
        raise NoAssertion("it names no origin")
    return origin


def _check_authenticator(data: bytes, origin: str) -> None:
    if len(data) < 37:
        raise NoAssertion("authenticatorData is too short")
    flags = data[32]
    if flags & ~_KNOWN_FLAGS or flags & _ATTESTED or (len(data) > 37) != bool(flags & _EXTENDED):
        raise NoAssertion("authenticatorData is none of an assertion")
    if flags & _BACKED_UP and not flags & _ELIGIBLE:
        raise NoAssertion("authenticatorData contradicts itself")
    if not flags & _PRESENT or not flags & _VERIFIED:
        raise NoAssertion("the authenticator did not verify who used it")
    if not any(sha256(domain.encode()).digest() == data[:32] for domain in relying_parties(origin)):
        raise NoAssertion("it was made for another site than its origin")


def relying_parties(origin: str) -> list[str]:
    """The ids that a page of an origin may ask passkeys for: its host, and the domains above; none for one that may
    not."""
    try:
        parts = urlsplit(origin)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return []
    is_local = host == "localhost" or host.endswith(".localhost")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_local):
        return []
    if origin != f"{parts.scheme}://{host}" + ("" if port is None else f":{port}") or not host.isascii():
        return []
    labels = host.split(".")
    if not all(labels) or labels[-1].isdigit():
        return []
    return [host] + [".".join(labels[at:]) for at in range(1, len(labels) - 1)]


# --- keys ----------------------------------------------------------------------------------------------------------


def _key(data: bytes) -> Ecdsa | Eddsa | Rsa:
    if len(data) == 77 and data.startswith(_ES256[0]) and data[42:45] == _ES256[1]:
        return Ecdsa(data[10:42], data[45:])
    if len(data) == 42 and data.startswith(_EDDSA):
        return Eddsa(data[10:])
    if data.startswith(_RS256) and data.endswith(_EXPONENT):
        modulus = data[11 : -len(_EXPONENT)]
        if int.from_bytes(data[9:11]) == len(modulus) and len(modulus) in _RSA_BYTES and modulus[0]:
            return Rsa(modulus)
    raise NoAssertion("the passkey's key is none of ES256, EdDSA or RS256 in its one form")


def _check_signature(by: str, signature: bytes, signed: bytes) -> None:
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.hashes import SHA256

    key = _key(cose_key(by))
    try:
        match key:
            case Ecdsa(x, y):
                point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), b"\x04" + x + y)
                point.verify(signature, signed, ec.ECDSA(SHA256()))
            case Eddsa(x):
                if public_bytes(f"ed25519:{base64url(x)}") is None:
                    raise NoAssertion("anybody can sign for the passkey's key")
                Ed25519PublicKey.from_public_bytes(x).verify(signature, signed)
            case Rsa(modulus):
                numbers = rsa.RSAPublicNumbers(65537, int.from_bytes(modulus))
                numbers.public_key().verify(signature, signed, padding.PKCS1v15(), SHA256())
    except (InvalidSignature, UnsupportedAlgorithm, ValueError) as error:
        if isinstance(error, NoAssertion):
            raise
        raise NoAssertion("its signature is not one of its passkey") from None


def _text(members: Mapping[str, object], name: str) -> str:
    found = members[name]
    if not isinstance(found, str):
        raise NoAssertion(f"`{name}` is no text")
    return found


def _decoded(text: str) -> bytes:
    """Bytes in base64url without padding, in the one form that they have."""
    try:
        data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise NoAssertion("something is not base64url") from None
    if base64url(data) != text:
        raise NoAssertion("something is not base64url in its one form")
    return data

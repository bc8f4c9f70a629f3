"""Signed notes (c2sp.org/signed-note), the checkpoints in them (tlog-checkpoint) and cosignatures (tlog-cosignature).

A key has a name and a type: 0x01 signs the note's text, 0x04 signs it with a time as a witness. Signatures of other
types and keys are carried along and count for nothing.
"""

from __future__ import annotations

import base64
import binascii
import re
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ED25519 = 0x01
"""The type of a key that signs the text of a note."""

COSIGNATURE = 0x04
"""The type of a key that cosigns checkpoints, with the time at which it did."""

MAX_NOTE = 1_000_000
"""Bytes of the largest note that is read."""

_MAX_SIGNATURES = 100
_NUMBER = regex(r"0|[1-9][0-9]{0,17}")
_CONTROL = regex(r"[\x00-\x09\x0b-\x1f]")
_SIGNATURE = regex(r"— ([^+\s]+) ([A-Za-z0-9+/]+={0,2})")


class NoteError(ValueError):
    """It is no signed note, no checkpoint or no key, or a signature does not verify. The text says why."""


class VerifierKey(NamedTuple):
    """The public key of a log or a witness, `NAME+ID+BASE64`: `public` has the 32 bytes, `kind` is its type."""

    name: str
    kind: int
    public: bytes

    @property
    def id(self) -> bytes:
        """The four bytes that signatures name it by."""
        return sha256(self.name.encode() + b"\n" + bytes([self.kind]) + self.public).digest()[:4]

    def __str__(self) -> str:
        return f"{self.name}+{self.id.hex()}+{_base64(bytes([self.kind]) + self.public)}"

    @classmethod
    def parse(cls, text: str) -> VerifierKey:
        """A key as it is written.

        Raises:
            NoteError: it is none, its id is another's, or it is neither Ed25519 nor a cosigner's.
        """
        name, _, rest = text.strip().partition("+")
        identity, _, encoded = rest.partition("+")
        if not _is_name(name) or not re.fullmatch(r"[0-9a-f]{8}", identity):
            raise NoteError("a verifier key is `NAME+ID+BASE64`")
        key = _bytes(encoded)
        if len(key) != 33 or key[0] not in (ED25519, COSIGNATURE):
            raise NoteError("a verifier key has the type 0x01 or 0x04 and the 32 bytes of an Ed25519 key")
        found = cls(name, key[0], key[1:])
        if found.id.hex() != identity:
            raise NoteError("the verifier key does not have the id that it is written with")
        return found


class Signature(NamedTuple):
    """A signature line: the name and the id of the key, and what it signed with."""

    name: str
    key_id: bytes
    value: bytes

    def line(self) -> str:
        """As it stands in a note, with its line feed."""
        return f"— {self.name} {_base64(self.key_id + self.value)}\n"


class Note(NamedTuple):
    """A text, which ends in a line feed, and its signatures. Nothing of it is trusted before it is verified."""

    text: str
    signatures: tuple[Signature, ...]

    def __str__(self) -> str:
        return self.text + "\n" + "".join(each.line() for each in self.signatures)

    @classmethod
    def parse(cls, data: bytes) -> Note:
        """A note as it is written.

        Raises:
            NoteError: it is none.
        """
        if len(data) > MAX_NOTE:
            raise NoteError(f"a note has at most {MAX_NOTE:,} bytes")
        try:
            whole = data.decode()
        except UnicodeDecodeError:
            raise NoteError("a note is UTF-8") from None
        if _CONTROL.search(whole):
            raise NoteError("a note has no control characters")
        text, blank, lines = whole.rpartition("\n\n")
        if not blank or not lines.endswith("\n"):
            raise NoteError("a note is a text, a blank line and lines of signatures")
        found = tuple(_signature(line) for line in lines[:-1].split("\n"))
        if len(found) > _MAX_SIGNATURES:
            raise NoteError(f"a note has at most {_MAX_SIGNATURES} signatures")
        return cls(text + "\n", found)

    def signed_by(self, key: VerifierKey) -> bool:
        """Whether a key of a log signed it; False where it has no signature of this key.

        Raises:
            NoteError: it has one, which does not verify.
        """
        found = self._of(key)
        for each in found:
            if key.kind != ED25519 or not _verifies(key.public, each.value, self.text.encode()):
                raise NoteError(f"the signature of {key.name} does not verify")
        return bool(found)

    def cosigned_by(self, key: VerifierKey) -> int | None:
        """When a witness cosigned it, in POSIX seconds; None where it has no cosignature of this key.

        Raises:
            NoteError: it has one, which does not verify.
        """
        times: list[int] = []
        for each in self._of(key):
            at = int.from_bytes(each.value[:8], "big")
            signed = each.value[8:]
            if key.kind != COSIGNATURE or at >= 2**63 or not _verifies(key.public, signed, _cosigned(at, self.text)):
                raise NoteError(f"the cosignature of {key.name} does not verify")
            times.append(at)
        return max(times, default=None)

    def _of(self, key: VerifierKey) -> list[Signature]:
        return [each for each in self.signatures if (each.name, each.key_id) == (key.name, key.id)]


class Checkpoint(NamedTuple):
    """The size and the root of a log at a moment; `origin` says which log it is."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """The text of the note that is signed."""
        return f"{self.origin}\n{self.size}\n{_base64(self.root)}\n"

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """The checkpoint that the text of a note is.

        Raises:
            NoteError: it is none, or has extension lines, which a log of this kind never has.
        """
        lines = text.split("\n")
        if len(lines) != 4 or lines[3] or not lines[0] or not _NUMBER.fullmatch(lines[1]):
            raise NoteError("a checkpoint has three lines: origin, size and root")
        root = _bytes(lines[2])
        if len(root) != 32:
            raise NoteError("the root of a checkpoint has 32 bytes")
        return cls(lines[0], int(lines[1]), root)


class Signer:
    """A private key with the name that it signs by."""

    def __init__(self, name: str, private: Ed25519PrivateKey, kind: int = ED25519) -> None:
        """`kind` is the type of its signatures.

        Raises:
            NoteError: the name is none.
        """
        if not _is_name(name):
            raise NoteError("the name of a key is not empty and has neither spaces nor `+`")
        self._private = private
        self.key = VerifierKey(name, kind, private.public_key().public_bytes_raw())

    def sign(self, text: str) -> Signature:
        """A signature of a note's text."""
        return Signature(self.key.name, self.key.id, self._private.sign(text.encode()))

    def cosign(self, text: str, at: int) -> Signature:
        """A witness's cosignature of a checkpoint's text, at a time in POSIX seconds."""
        value = self._private.sign(_cosigned(at, text))
        return Signature(self.key.name, self.key.id, at.to_bytes(8, "big") + value)


def note_of(checkpoint: Checkpoint, signers: Sequence[Signer]) -> Note:
    """A checkpoint, signed."""
    return Note(checkpoint.text, tuple(each.sign(checkpoint.text) for each in signers))


def _cosigned(at: int, text: str) -> bytes:
    return f"cosignature/v1\ntime {at}\n{text}".encode()


def _verifies(public: bytes, signature: bytes, data: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def _signature(line: str) -> Signature:
    found = _SIGNATURE.fullmatch(line)
    value = _bytes(found[2]) if found else b""
    if found is None or len(value) < 5:
        raise NoteError("a line after the blank one is no signature")
    return Signature(found[1], value[:4], value[4:])


def _is_name(name: str) -> bool:
    return bool(name) and "+" not in name and not re.search(r"[\s\x00-\x1f]", name)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    """What is written in base64, in the one way that there is.

    Raises:
        NoteError: it is not.
    """
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise NoteError("it is not in base64") from None
    if _base64(data) != text:
        raise NoteError("it is not in base64 as it is written")
    return data

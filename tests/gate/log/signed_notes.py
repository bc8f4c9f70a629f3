"""An independent reader of what the log publishes, written from the C2SP texts alone with `cryptography` and `hashlib`.

It shares no code with what it checks: signed-note, tlog-checkpoint, tlog-cosignature, tlog-proof and RFC 6962.
"""

from __future__ import annotations

import base64
import hashlib
import struct

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def vkey(text: str) -> tuple[str, bytes, int, bytes]:
    """Name, key ID, type and public key of a verifier key, whose ID has to be right."""
    name, key_id, encoded = text.strip().split("+", 2)
    data = base64.b64decode(encoded, validate=True)
    computed = hashlib.sha256(name.encode() + b"\n" + data).digest()[:4]
    assert computed.hex() == key_id
    return name, computed, data[0], data[1:]


def note(data: bytes) -> tuple[bytes, list[tuple[str, bytes, bytes]]]:
    """The text of a note, and of each signature the key name, the key ID and the rest."""
    text = data.decode("utf-8")
    assert not any(ord(letter) < 0x20 and letter != "\n" for letter in text)
    at = text.rindex("\n\n")
    body, lines = text[: at + 1], text[at + 2 :]
    assert lines.endswith("\n")
    found = []
    for line in lines[:-1].split("\n"):
        dash, name, encoded = line.split(" ")
        assert dash == "\u2014"
        raw = base64.b64decode(encoded, validate=True)
        found.append((name, raw[:4], raw[4:]))
    return body.encode(), found


def checkpoint(data: bytes, key: str) -> tuple[str, int, bytes]:
    """Origin, size and root of a checkpoint that this log key signed."""
    body, signatures = note(data)
    name, key_id, kind, public = vkey(key)
    assert kind == 0x01
    ours = [value for signer, number, value in signatures if (signer, number) == (name, key_id)]
    assert len(ours) == 1
    Ed25519PublicKey.from_public_bytes(public).verify(ours[0], body)
    origin, size, root, end = body.decode().split("\n")
    assert (origin, end) == (name, "")
    assert str(int(size)) == size
    return origin, int(size), base64.b64decode(root, validate=True)


def cosigned(data: bytes, key: str) -> int:
    """When a witness cosigned a checkpoint, in POSIX seconds."""
    body, signatures = note(data)
    name, key_id, kind, public = vkey(key)
    assert kind == 0x04
    (value,) = [value for signer, number, value in signatures if (signer, number) == (name, key_id)]
    (at,) = struct.unpack(">Q", value[:8])
    Ed25519PublicKey.from_public_bytes(public).verify(value[8:], b"cosignature/v1\ntime %d\n" % at + body)
    return int(at)


def included(proof: bytes, line: bytes, key: str) -> int:
    """The place at which a tlog-proof shows that the log has a line."""
    head, body = proof.split(b"\n\n", 1)
    header, index, *path = head.decode().split("\n")
    assert header == "c2sp.org/tlog-proof@v1"
    word, number = index.split(" ")
    assert (word, str(int(number))) == ("index", number)
    _, size, root = checkpoint(body, key)
    hashes = [base64.b64decode(each, validate=True) for each in path]
    found = _root(int(number), size, hashlib.sha256(b"\0" + line).digest(), hashes)
    assert found == root
    return int(number)


def _root(index: int, size: int, leaf: bytes, path: list[bytes]) -> bytes:
    """The root that a path leads to, going down as RFC 6962, 2.1.1 defines it."""
    if size == 1:
        assert not path
        return leaf
    split = 1
    while split * 2 < size:
        split *= 2
    *rest, last = path
    if index < split:
        return hashlib.sha256(b"\1" + _root(index, split, leaf, rest) + last).digest()
    return hashlib.sha256(b"\1" + last + _root(index - split, size - split, leaf, rest)).digest()

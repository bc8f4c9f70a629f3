"""Signed notes, checkpoints and cosignatures: the examples of the C2SP texts, and an independent reader of ours."""

from __future__ import annotations

import pytest
import signed_notes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from vigil_lang.gate.log.notes import COSIGNATURE, Checkpoint, Note, NoteError, Signer, VerifierKey, note_of

PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PETERS = (
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n"
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
"""The example of golang.org/x/mod/sumdb/note, which the C2SP text describes."""

WITNESSED = (
    "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
    "— example.com/behind-the-sofa "
    "Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
    "— witness.example.com/w1 "
    "jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n"
)
"""The example of C2SP's tlog-cosignature."""


def signers() -> tuple[Signer, Signer]:
    private = Ed25519PrivateKey.generate()
    return Signer("vigil.local/a", private), Signer("example.com/w", private, COSIGNATURE)


def test_a_note_of_go_verifies() -> None:
    key, note = VerifierKey.parse(PETER), Note.parse(PETERS.encode())
    assert note.signed_by(key)
    assert str(key) == PETER
    assert str(note) == PETERS


def test_the_example_of_the_cosignature_text_is_read() -> None:
    note = Note.parse(WITNESSED.encode())
    assert str(note) == WITNESSED
    checkpoint = Checkpoint.parse(note.text)
    assert (checkpoint.origin, checkpoint.size) == ("example.com/behind-the-sofa", 20852163)
    assert checkpoint.text == note.text
    assert int.from_bytes(note.signatures[1].value[:8], "big") == 1679315147


def test_what_is_signed_here_verifies_elsewhere() -> None:
    log, witness = signers()
    checkpoint = Checkpoint(log.key.name, 3, b"r" * 32)
    note = note_of(checkpoint, [log])
    note = Note(note.text, (*note.signatures, witness.cosign(note.text, 1_700_000_000)))
    data = str(note).encode()
    assert signed_notes.checkpoint(data, str(log.key)) == (log.key.name, 3, b"r" * 32)
    assert signed_notes.cosigned(data, str(witness.key)) == 1_700_000_000
    assert Note.parse(data) == note
    assert note.signed_by(log.key)
    assert note.cosigned_by(witness.key) == 1_700_000_000
    assert VerifierKey.parse(str(witness.key)) == witness.key


def test_keys_that_share_a_name_or_an_id_alone_are_ignored() -> None:
    log, witness = signers()
    other, _ = signers()
    note = note_of(Checkpoint(log.key.name, 1, b"r" * 32), [log])
    assert not note.signed_by(other.key)
    assert note.cosigned_by(witness.key) is None


def test_a_signature_of_a_known_key_that_does_not_verify_is_an_error() -> None:
    log, witness = signers()
    note = note_of(Checkpoint(log.key.name, 1, b"r" * 32), [log])
    with pytest.raises(NoteError, match="does not verify"):
        Note(note.text.replace("1", "2"), note.signatures).signed_by(log.key)
    cosigned = Note(note.text, (witness.cosign(note.text, 5)._replace(value=b"\0" * 72),))
    with pytest.raises(NoteError, match="does not verify"):
        cosigned.cosigned_by(witness.key)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"text\n",
        b"text\n\n",
        b"text\n\nno signature\n",
        "text\n\n— name\n".encode(),
        "text\n\n— name AAAA\n".encode(),
        "text\n\n— name AAAAAAA\n".encode(),
        "text\n\n— name AAAAAB==\n".encode(),
        "text\n\n— na+me AAAAAAAA\n".encode(),
        b"text\n\n- name AAAAAAAA\n",
        "text\n\n— name AAAAAAAA".encode(),
        "te\rxt\n\n— name AAAAAAAA\n".encode(),
        b"\xff\n\n",
        b"t\n\n" + "— name AAAAAAAA\n".encode() * 101,
        b"t" * 1_000_001,
    ],
)
def test_what_is_no_note(data: bytes) -> None:
    with pytest.raises(NoteError):
        Note.parse(data)


@pytest.mark.parametrize(
    "text",
    [
        "a\n1\n",
        "a\n01\nAAAA\n",
        "a\n-1\nAAAA\n",
        "a\n1\nAAAA\n",
        f"a\n1\n{'A' * 43}=\nextension\n",
        f"\n1\n{'A' * 43}=\n",
        f"a\n1\n{'A' * 43}=",
        f"a\n{'1' * 19}\n{'A' * 43}=\n",
    ],
)
def test_what_is_no_checkpoint(text: str) -> None:
    with pytest.raises(NoteError):
        Checkpoint.parse(text)


@pytest.mark.parametrize(
    "text", ["", "a", "a+b", PETER.replace("c7", "c8"), PETER[:-4], PETER.replace("+AR", "+Ah"), " +"]
)
def test_what_is_no_verifier_key(text: str) -> None:
    with pytest.raises(NoteError):
        VerifierKey.parse(text)


def test_a_key_has_a_name() -> None:
    with pytest.raises(NoteError, match="name of a key"):
        Signer("a b", Ed25519PrivateKey.generate())

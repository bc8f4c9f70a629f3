"""Proofs and witnesses where something is missing or damaged."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from log_support import filled

from vigil_lang.gate.log.notes import COSIGNATURE, Note, Signer
from vigil_lang.gate.log.proofs import Inconsistent, Witness, add_cosignature, any_key, prove
from vigil_lang.gate.log.reading import CannotRead, LogCopy
from vigil_lang.gate.state import StateError, StateFolder

if TYPE_CHECKING:
    from pathlib import Path

AT = 1_800_000_000


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    return filled(tmp_path / "state", entries=8)


@pytest.fixture
def signer() -> Signer:
    return Signer("example.com/w", Ed25519PrivateKey.generate(), COSIGNATURE)


def test_what_a_witness_remembers_is_written_before_it_cosigns(
    folder: StateFolder, signer: Signer, tmp_path: Path
) -> None:
    witness = Witness(signer, tmp_path / "nowhere" / "seen.json")
    with pytest.raises(CannotRead, match="cannot be written"):
        witness.cosign(LogCopy(folder.path), AT)


def test_a_memory_that_is_damaged(folder: StateFolder, signer: Signer, tmp_path: Path) -> None:
    memory = tmp_path / "seen.json"
    Witness(signer, memory).cosign(LogCopy(folder.path), AT)
    seen = json.loads(memory.read_text())
    (name,) = seen
    memory.write_text(json.dumps({name: {**seen[name], "vkey": "none"}}))
    with pytest.raises(CannotRead, match="is damaged"):
        Witness(signer, memory).cosign(LogCopy(folder.path), AT)
    memory.write_text(json.dumps({name: {**seen[name], "size": 7}}))
    with pytest.raises(Inconsistent, match="first 7 entries"):
        Witness(signer, memory).cosign(LogCopy(folder.path), AT)


def test_a_log_whose_key_changed_is_not_cosigned(folder: StateFolder, signer: Signer, tmp_path: Path) -> None:
    witness = Witness(signer, tmp_path / "seen.json")
    witness.cosign(LogCopy(folder.path), AT)
    other = Signer(LogCopy(folder.path).key().name, Ed25519PrivateKey.generate())
    with pytest.raises(Inconsistent, match="another key"):
        witness.cosign(LogCopy(folder.path), AT, other.key)


def test_a_checkpoint_whose_signature_is_wrong_is_not_cosigned(
    folder: StateFolder, signer: Signer, tmp_path: Path
) -> None:
    newest = max(folder.checkpoints.iterdir(), key=lambda path: int(path.name))
    note = Note.parse(newest.read_bytes())
    (signature,) = note.signatures
    newest.write_text(str(Note(note.text, (signature._replace(value=b"\0" * 64),))))
    with pytest.raises(Inconsistent, match="does not verify"):
        Witness(signer, tmp_path / "seen.json").cosign(LogCopy(folder.path), AT)
    newest.write_text("damage")
    with pytest.raises(CannotRead, match="cannot be read"):
        prove(LogCopy(folder.path), 0)


def test_a_cosignature_is_put_beside_the_checkpoint_that_it_is_of(
    folder: StateFolder, signer: Signer, tmp_path: Path
) -> None:
    found = Witness(signer, tmp_path / "seen.json").cosign(LogCopy(folder.path), AT)
    place = folder.checkpoints / str(found.checkpoint.size)
    other = filled(tmp_path / "other", entries=8)
    with pytest.raises(StateError, match="is another checkpoint"):
        add_cosignature(other, found)
    place.unlink()
    with pytest.raises(StateError, match="cannot be written"):
        add_cosignature(folder, found)


def test_a_cut_log_proves_nothing(folder: StateFolder) -> None:
    folder.log.write_bytes(b"".join(folder.log.read_bytes().splitlines(keepends=True)[:3]))
    with pytest.raises(Inconsistent, match="has 3 entries"):
        prove(LogCopy(folder.path), 0)


def test_keys_on_the_command_line(folder: StateFolder, tmp_path: Path) -> None:
    text = folder.log_vkey.read_text()
    assert any_key(text) == any_key(str(folder.log_vkey))
    with pytest.raises(CannotRead, match="no file of this name"):
        any_key("nothing")
    with pytest.raises(CannotRead, match="no file of this name"):
        any_key(str(tmp_path))
    with pytest.raises(CannotRead, match="holds no verifier key"):
        any_key(str(folder.log))

"""The key of the log is rotated: who knows the old key, or the new one, sees that it is one log, and no thief's."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
import signed_notes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from log_support import BEGIN, append_decision, filled, new_folder, opened, write_bundle

from vigil_lang.gate.log import log as logs
from vigil_lang.gate.log import rotation
from vigil_lang.gate.log.log import Log, signer_of
from vigil_lang.gate.log.notes import COSIGNATURE, Checkpoint, Note, Signer, VerifierKey, note_of
from vigil_lang.gate.log.proofs import Inconsistent, Witness
from vigil_lang.gate.log.reading import LogCopy
from vigil_lang.gate.log.verifying import Audit, verify
from vigil_lang.gate.state import StateError, StateFolder
from vigil_lang.gate.storage.folder import FolderStorage

if TYPE_CHECKING:
    from pathlib import Path

    from log_support import Vigil


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    """A folder with 46 entries and no key rotated."""
    return filled(tmp_path / "state", index=False)


def key_of(folder: StateFolder) -> VerifierKey:
    return VerifierKey.parse(folder.log_vkey.read_text())


def rotated(folder: StateFolder, more: int = 3) -> rotation.Rotated:
    """Rotate, and log some decisions behind it, with a checkpoint."""
    log = opened(folder, every=2)
    found = rotation.rotate(log, log._storage)
    go_on(log, folder, more)
    log.close()
    return found


def go_on(log: Log, folder: StateFolder, count: int = 3) -> None:
    with folder.lock():
        log.refresh()
        for number in range(count):
            append_decision(log, number, "r3")
        log.checkpoint()


def audited(folder: StateFolder, key: VerifierKey | None = None, **more: Any) -> Audit:
    return verify(LogCopy(folder.path), key=key, **more)


def messages(audit: Audit) -> str:
    return "\n".join(each.message for each in audit.problems)


def test_who_knows_either_key_follows_to_the_other(folder: StateFolder) -> None:
    old = key_of(folder)
    kept = folder.checkpoint.read_bytes()
    found = rotated(folder)
    assert (found.before, found.key) == (old, key_of(folder))
    assert old.name == found.key.name  # chains name it as their audience
    for key in (old, found.key, None):
        audit = audited(folder, key, since=[kept])
        assert (audit.problems, audit.signed_to) == ((), audit.entries)
        assert [(each.key, each.start, each.end) for each in audit.keys] == [
            (old, 0, found.size - 1),
            (found.key, found.size - 1, None),
        ]


def test_both_keys_sign_the_checkpoint_behind_the_entry(folder: StateFolder) -> None:
    found = rotated(folder)
    note = (folder.checkpoints / str(found.size)).read_bytes()
    for key in (found.before, found.key):
        assert signed_notes.checkpoint(note, str(key))[1] == found.size  # by an implementation of its own
    assert json.loads(folder.log.read_bytes().split(b"\n")[found.size - 1])["key"] == str(found.key)
    last = Note.parse(folder.checkpoint.read_bytes())
    assert [last.signed_by(key) for key in (found.before, found.key)] == [False, True]


def test_the_old_key_is_nowhere_any_more(folder: StateFolder) -> None:
    old = folder.log_key.read_bytes()
    rotated(folder)
    assert old not in {path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}
    assert not folder.next_log_key.exists()


def test_it_is_rotated_again_and_again(folder: StateFolder) -> None:
    keys = [key_of(folder)]
    for _ in range(4):
        keys.append(rotated(folder).key)
    assert len(set(keys)) == 5
    for key in (*keys, None):
        audit = audited(folder, key)
        assert (audit.problems, audit.signed_to) == ((), audit.entries)
        assert [each.key for each in audit.keys] == keys


def test_an_empty_log_is_rotated(tmp_path: Path) -> None:
    folder = new_folder(tmp_path / "state")
    write_bundle(folder.path)
    old = key_of(folder)
    rotated(folder)
    assert [audited(folder, key).problems for key in (old, key_of(folder), None)] == [(), (), ()]


# --- a thief ----------------------------------------------------------------------------------------------------------


def test_the_old_key_alone_signs_nothing_behind_the_rotation(folder: StateFolder) -> None:
    thief = signer_of(folder.log_key, key_of(folder).name)
    assert thief is not None
    found = rotated(folder)
    log = opened(folder)
    note = note_of(Checkpoint(found.key.name, log.size, log.root()), [thief])
    (folder.checkpoints / str(log.size)).write_text(str(note))
    folder.checkpoint.write_text(str(note))
    for key in (found.before, found.key, None):
        assert f"checkpoints/{log.size} is not signed by the log's key" in messages(audited(folder, key))


def test_another_hand_cannot_rotate_it(folder: StateFolder) -> None:
    """Who can write to the folder, and has no key, puts a key of his own in the place of the log's."""
    old = key_of(folder)
    folder.log_key.unlink()
    mine = logs.new_key(folder.log_key, old.name)
    log = opened(folder)
    with folder.lock():
        log.append("log_key", {"key": str(mine.key), "before": str(old)})
    folder.log_vkey.write_text(f"{mine.key}\n")
    log.close()
    log = opened(folder)
    go_on(log, folder)
    told = messages(audited(folder, old))
    assert "log.vkey is not the key that was given" in told
    assert "for which the one that is trusted does not vouch" in told


def test_without_the_checkpoint_of_both_the_old_key_vouches_for_nothing_behind(folder: StateFolder) -> None:
    found = rotated(folder)
    (folder.checkpoints / str(found.size)).unlink()
    audit = audited(folder, found.before)
    assert f"entry {found.size - 1} names another key" in messages(audit)
    assert audit.signed_to < found.size
    assert audited(folder, found.key).signed_to == audited(folder, found.key).entries


@pytest.mark.parametrize("members", [{}, {"key": 1, "before": None}, {"key": "x+00000000+AA==", "before": "y"}])
def test_an_entry_that_names_no_key_is_told(folder: StateFolder, members: dict[str, Any]) -> None:
    log = opened(folder)
    with folder.lock():
        log.append("log_key", members)
    log.close()
    assert "names no key" in messages(audited(folder))


# --- interrupted ------------------------------------------------------------------------------------------------------

STEPS = ("new_key", "checkpoint", "append", "signed", "replace", "rename")


class Crash(BaseException):
    """The process dies here."""


@pytest.mark.parametrize("step", STEPS)
def test_what_was_interrupted_is_ended(folder: StateFolder, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old = key_of(folder)
    log = opened(folder)
    with monkeypatch.context() as patched:
        crash_at(step, patched)
        with pytest.raises(Crash):
            rotation.rotate(log, log._storage)
    log.close()
    assert audited(folder, old).problems == ()
    log = opened(folder)
    go_on(log, folder)  # it goes on meanwhile
    log.close()
    assert (audited(folder, old).problems, audited(folder).problems) == ((), ())
    log = opened(folder)
    rotation.rotate(log, log._storage)
    go_on(log, folder)
    log.close()
    assert key_of(folder) != old
    for key in (old, key_of(folder), None):
        audit = audited(folder, key)
        assert (audit.problems, audit.signed_to, len(audit.keys)) == ((), audit.entries, 2)
    assert not folder.next_log_key.exists()


def crash_at(step: str, patched: pytest.MonkeyPatch) -> None:
    """Die before a step; `signed` is the checkpoint of both keys."""

    def crash(*_: Any, **__: Any) -> Any:
        raise Crash

    made: list[str] = []

    def second(log: Log) -> str:
        made.append("")
        return crash() if len(made) == 2 else checkpoint(log)

    checkpoint = Log.checkpoint
    match step:
        case "new_key":
            patched.setattr(rotation, "new_key", crash)
        case "checkpoint":
            patched.setattr(Log, "checkpoint", crash)
        case "append":
            patched.setattr(Log, "append", crash)
        case "signed":
            patched.setattr(Log, "checkpoint", second)
        case "replace":
            patched.setattr(rotation, "replace", crash)
        case _:
            patched.setattr("pathlib.Path.replace", crash_on_pem)


def crash_on_pem(self: Path, target: Path) -> Path:
    if self.name == "log.next.pem":
        raise Crash
    return type(self)(shutil.move(self, target))


# --- several processes and nodes --------------------------------------------------------------------------------------


def test_a_process_that_lives_on_signs_with_the_new_key(folder: StateFolder) -> None:
    other = opened(folder)
    go_on(other, folder)
    found = rotated(folder, more=0)
    go_on(other, folder)
    other.close()
    assert Note.parse(folder.checkpoint.read_bytes()).signed_by(found.key)
    assert audited(folder, found.before).problems == ()


def test_a_long_log_that_is_read_from_its_newest_checkpoint_is_signed_on(
    folder: StateFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "WHOLE_BYTES", 0)
    keys = {path: path.read_bytes() for path in (folder.log_key, folder.log_vkey)}
    rotation.prepare(folder)
    keys[folder.next_log_key] = folder.next_log_key.read_bytes()
    rotated(folder)
    for path, data in keys.items():  # a node whose keys are mounted, and stay as they were prepared
        path.write_bytes(data)
    log = opened(folder)
    go_on(log, folder)
    log.close()
    assert audited(folder).problems == ()
    last = Note.parse(folder.checkpoint.read_bytes())
    assert len(last.signatures) == 2


def test_a_node_without_the_next_key_signs_nothing_and_says_so(folder: StateFolder) -> None:
    key, vkey = folder.log_key.read_bytes(), folder.log_vkey.read_bytes()
    rotated(folder)
    folder.log_key.write_bytes(key)
    folder.log_vkey.write_bytes(vkey)
    log = opened(folder)
    with pytest.raises(StateError, match=r"the key that signs it, .* is not in"):
        go_on(log, folder)


def test_a_prepared_key_signs_nothing(folder: StateFolder) -> None:
    found = rotation.prepare(folder)
    assert rotation.prepare(folder) == found  # and stays as it is
    log = opened(folder)
    go_on(log, folder)
    assert not Note.parse(folder.checkpoint.read_bytes()).signed_by(found)
    assert rotation.rotate(log, FolderStorage(folder)).key == found


def test_a_witness_follows_the_checkpoint_that_both_have_signed(folder: StateFolder, tmp_path: Path) -> None:
    witness = Witness(Signer("witness.example.org", Ed25519PrivateKey.generate(), COSIGNATURE), tmp_path / "seen.json")
    at = BEGIN // 1_000_000
    witness.cosign(LogCopy(folder.path), at)
    log = opened(folder)
    rotation.rotate(log, log._storage)
    witness.cosign(LogCopy(folder.path), at)
    go_on(log, folder)
    log.close()
    witness.cosign(LogCopy(folder.path), at)
    rotated(folder)  # it saw no checkpoint that both have signed
    with pytest.raises(Inconsistent, match="is not signed"):
        witness.cosign(LogCopy(folder.path), at)


# --- the verb ---------------------------------------------------------------------------------------------------------


def test_the_verb_rotates_and_the_audit_says_what_is_trusted(folder: StateFolder, vigil: Vigil) -> None:
    old = key_of(folder)
    (folder.path / "gate.toml").write_text("")
    folder.path.joinpath("gate.toml").chmod(0o600)
    prepared = vigil("gate", "rotate-key", "--prepare", "--state", folder.path)
    assert prepared.status == 0
    result = vigil("gate", "rotate-key", "--state", folder.path)
    new = key_of(folder)
    assert (result.status, str(new) in result.out, str(old) in result.out) == (0, True, True)
    assert str(new) in prepared.out
    shown = vigil("audit", "verify", "--key", str(old), "--state", folder.path)
    assert shown.status == 0
    assert f"{old.id.hex()} from the first entry to entry" in " ".join(shown.out.split())
    told = json.loads(vigil("audit", "verify", "--key", str(old), "--state", folder.path, "--format", "json").out)
    assert [each["key"] for each in told["keys"]] == [str(old), str(new)]
    assert vigil("audit", "show", "--state", folder.path).status == 0


def test_the_verb_says_what_is_missing(folder: StateFolder, vigil: Vigil) -> None:
    (folder.path / "gate.toml").write_text("")
    folder.log_key.write_text("nothing")
    result = vigil("gate", "rotate-key", "--state", folder.path)
    assert (result.status, result.out) == (2, "")
    assert "cannot be" in result.err

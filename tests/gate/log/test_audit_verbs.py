"""`vigil audit`: what its verbs print, their statuses, and that only `witness` writes."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest
import signed_notes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from log_support import BUNDLE, TOOLS, Clock, append_decision, derivation, filled, new_folder, opened, write_index
from tampering import hashed

from vigil_lang.cli import audit
from vigil_lang.gate.log import reading, verifying
from vigil_lang.gate.log.reading import LogCopy
from vigil_lang.gate.log.verifying import verify

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from log_support import Vigil

    from vigil_lang.gate.state import StateFolder

READING = (["show"], ["verify"], ["replay"], ["prove", "0"], ["export"], ["export", "--format", "otel"])


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    return filled(tmp_path / "state", entries=12)


def witness_key(path: Path) -> Path:
    private = Ed25519PrivateKey.generate()
    path.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return path


# --- verify -----------------------------------------------------------------------------------------------------------


def test_what_verify_publishes(vigil: Vigil, folder: StateFolder) -> None:
    result = vigil("audit", "verify", "--state", folder.path, "--format", "json")
    told = json.loads(result.out)
    assert (result.status, result.err) == (0, "")
    _, size, _ = signed_notes.checkpoint(folder.checkpoint.read_bytes(), folder.log_vkey.read_text())
    assert told | {"root": ""} == {
        "schema": "vigil.audit/1", "entries": 17, "root": "", "problems": [], "signed_to": size, "witnessed_to": 0,
        "key": "state", "decisions": {"derived": 15, "deleted": 0, "not_derived": 0}, "torn": 0, "index": "read",
        "keys": [{"key": folder.log_vkey.read_text().strip(), "start": 0, "end": None}],
    }  # fmt: skip


def test_the_root_is_that_of_the_checkpoint_line(vigil: Vigil, folder: StateFolder) -> None:
    log = opened(folder)
    with folder.lock():
        note = log.checkpoint()
    told = json.loads(vigil("audit", "verify", "--state", folder.path, "--format", "json").out)
    assert told["root"] == note.split("\n")[2]
    assert told["signed_to"] == told["entries"] == 17


def test_a_key_is_given_as_text_or_as_a_file(vigil: Vigil, folder: StateFolder, tmp_path: Path) -> None:
    kept = tmp_path / "kept.vkey"
    shutil.copy(folder.log_vkey, kept)
    for key in (kept, folder.log_vkey.read_text().strip()):
        result = vigil("audit", "verify", "--state", folder.path, "--key", key, "--format", "json")
        assert (result.status, json.loads(result.out)["key"]) == (0, "given")
    for wrong in ("nothing", tmp_path, folder.log):
        result = vigil("audit", "verify", "--state", folder.path, "--key", wrong)
        assert (result.status, result.out) == (2, "")
        assert "Error:" in result.err


def test_problems_have_status_1_and_what_cannot_be_judged_2(vigil: Vigil, folder: StateFolder, tmp_path: Path) -> None:
    data = folder.log.read_bytes()
    folder.log.write_bytes(data.replace(b"mailer", b"failer", 1))
    result = vigil("audit", "verify", "--state", folder.path)
    assert result.status == 1
    assert result.out.startswith("not in order")
    assert "changed  entry 0" in result.out
    folder.log.unlink()
    result = vigil("audit", "verify", "--state", folder.path, "--format", "json")
    assert result.status == 2
    assert {each["kind"] for each in json.loads(result.out)["problems"]} == {"unreadable"}
    assert vigil("audit", "verify", "--state", tmp_path / "nowhere").status == 2


@pytest.mark.parametrize("args", READING, ids=lambda args: "-".join(args))
def test_reading_works_on_a_copy_and_writes_nothing(
    vigil: Vigil, folder: StateFolder, tmp_path: Path, args: list[str]
) -> None:
    copy = tmp_path / "elsewhere" / "a copy"
    shutil.copytree(folder.path, copy)
    (copy / "lock").unlink()
    copy.chmod(0o755)
    before = hashed(copy)
    result = vigil("audit", *args, "--state", copy)
    assert result.status == 0, result.err
    assert hashed(copy) == before


def test_a_log_that_is_in_use_is_read_with_what_its_writer_has_not_moved_yet(folder: StateFolder) -> None:
    log = opened(folder)
    with folder.lock():
        append_decision(log, 99)
    assert (folder.path / "args.sqlite-wal").stat().st_size
    before = hashed(folder.path)
    audit = verify(LogCopy(folder.path), derivation=derivation(folder.path))
    assert (audit.problems, audit.derived["deleted"]) == ((), 0)
    assert hashed(folder.path) == before


def test_deleted_plain_values_are_counted_and_no_problem(folder: StateFolder) -> None:
    folder.plain.unlink()
    audit = verify(LogCopy(folder.path), derivation=derivation(folder.path))
    assert audit.problems == ()
    assert audit.derived == {"derived": 0, "deleted": 15, "not_derived": 0}


def test_decisions_without_their_policies_cannot_be_judged(folder: StateFolder) -> None:
    (folder.policies / f"{BUNDLE}.json").unlink()
    audit = verify(LogCopy(folder.path), derivation=derivation(folder.path))
    assert audit.cannot_judge
    assert audit.derived["not_derived"] == 15
    assert f"its policies, {BUNDLE}, cannot be used" in audit.problems[0].message


def test_policies_that_were_put_in_the_place_of_others_are_none(folder: StateFolder) -> None:
    """The same rules, told with another text: who reads them a year later has to read what was in force."""
    bundle = folder.policies / f"{BUNDLE}.json"
    bundle.write_bytes(bundle.read_bytes() + b" ")
    audit = verify(LogCopy(folder.path), derivation=derivation(folder.path))
    assert audit.derived["derived"] == 0
    assert "another digest than its name" in audit.problems[0].message


def test_without_an_index_plain_values_tell_a_removed_entry_from_a_cut_tail(folder: StateFolder) -> None:
    (folder.path / "index.sqlite").unlink()
    lines = folder.log.read_bytes().splitlines(keepends=True)
    folder.log.write_bytes(b"".join(lines[:9] + lines[10:13]))
    assert [(each.seq, each.kind) for each in verify(LogCopy(folder.path)).problems] == [(8, "removed")]
    folder.log.write_bytes(b"".join(lines[:12]))
    assert [(each.seq, each.kind, each.entry) for each in verify(LogCopy(folder.path)).problems] == [(8, "cut", 12)]


def test_decisions_under_grants_are_derived_from_their_texts(folder: StateFolder) -> None:
    log = opened(folder, clock=(clock := Clock()))
    clock.now = log.at()
    with folder.lock():
        for number in (0, 1, 3):
            append_decision(log, number, grants=("email.send", TOOLS[number]))
    modes = [entry["mode"] for _, entry in log.entries(17)]
    assert modes == ["pass", "block", "hold"]
    audit = verify(LogCopy(folder.path), derivation=derivation(folder.path))
    assert (audit.problems, audit.derived["derived"]) == ((), 18)


def test_a_gate_that_goes_on_meanwhile_disturbs_nothing(folder: StateFolder) -> None:
    """Whatever is written between two things that an audit reads."""
    log = opened(folder, every=3, clock=(clock := Clock()))
    clock.now = log.at()

    class Busy(LogCopy):
        def lines(self) -> Iterator[bytes]:
            grow()
            yield from super().lines()
            grow()

        def index(self) -> bytes | None:
            grow()
            found = super().index()
            grow()
            return found

    def grow() -> None:
        with folder.lock():
            log.refresh()
            for number in range(5):
                append_decision(log, number)
        (folder.path / "index.sqlite").unlink()
        write_index(folder.path, log)

    audit = verify(Busy(folder.path), derivation=derivation(folder.path))
    assert audit.problems == ()
    assert audit.entries > 17


def test_a_folder_that_somebody_keeps_locked_cannot_be_judged(
    folder: StateFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LOCK_WAIT", 0.05)
    with folder.lock():
        audit = verify(LogCopy(folder.path))
    assert audit.cannot_judge
    assert "locked" in audit.problems[0].message


def test_many_problems_are_told_up_to_a_number(folder: StateFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "MAX_TOLD", 5)
    audit = verify(LogCopy(folder.path), derivation=derivation(folder.path, instead=b'{"block": ["email.send"]}'))
    assert [each.kind for each in audit.problems] == ["decision"] * 6
    assert "more entries have such a problem" in audit.problems[-1].message


def test_a_kept_checkpoint_of_another_log_is_a_problem(vigil: Vigil, folder: StateFolder, tmp_path: Path) -> None:
    other = filled(tmp_path / "other", entries=8)
    told = json.loads(
        vigil("audit", "verify", "--state", folder.path, "--since", other.checkpoint, "--format", "json").out
    )
    assert {each["kind"] for each in told["problems"]} == {"checkpoint"}
    assert vigil("audit", "verify", "--state", folder.path, "--since", folder.log).status == 1
    assert vigil("audit", "verify", "--state", folder.path, "--since", tmp_path / "nothing").status == 2


def test_a_member_that_is_there_twice_is_found(folder: StateFolder) -> None:
    log = opened(folder)
    with folder.log.open("ab") as stream:
        stream.write(b'{"v":1,"at":"2027-01-01T00:00:00.000000Z","kind":"signal","kind":"signal"}\n')
        stream.write(b'{"v":1, "at":"2027-01-01T00:00:00.000000Z", "kind":"signal"}\n')
        stream.write(b' {"v":1,"at":"2027-01-01T00:00:00.000000Z","kind":"signal"}\n')
    problems = verify(LogCopy(folder.path)).problems
    assert [(each.seq, each.kind) for each in problems] == [(log.size, "unreadable"), (log.size + 2, "unreadable")]


# --- prove ------------------------------------------------------------------------------------------------------------


def test_proofs_are_checked_without_the_folder(vigil: Vigil, folder: StateFolder, tmp_path: Path) -> None:
    lines, key = folder.log.read_bytes().split(b"\n"), folder.log_vkey.read_text()
    for seq in range(14):
        result = vigil("audit", "prove", str(seq), "--state", folder.path, "-o", tmp_path / "proof.tlog-proof")
        assert (result.status, result.out) == (0, "")
        proof = (tmp_path / "proof.tlog-proof").read_bytes()
        assert signed_notes.included(proof, lines[seq], key) == seq
        with pytest.raises(AssertionError):
            signed_notes.included(proof, lines[seq + 1], key)


def test_what_no_checkpoint_covers_cannot_be_proved(vigil: Vigil, folder: StateFolder, tmp_path: Path) -> None:
    result = vigil("audit", "prove", "16", "--state", folder.path)
    assert (result.status, result.out) == (2, "")
    assert "none of them is 16" in result.err
    assert vigil("audit", "prove", "0", "--state", new_folder(tmp_path / "empty").path).status == 2


def test_a_log_that_was_changed_proves_nothing(vigil: Vigil, folder: StateFolder) -> None:
    folder.log.write_bytes(folder.log.read_bytes().replace(b"mailer", b"failer", 1))
    result = vigil("audit", "prove", "3", "--state", folder.path)
    assert (result.status, result.out) == (1, "")
    assert "is not the one that its checkpoint" in result.err


# --- witness ----------------------------------------------------------------------------------------------------------


def witnessed(vigil: Vigil, folder: StateFolder, tmp_path: Path, *more: object) -> tuple[int, str]:
    key = tmp_path / "w.pem"
    if not key.exists():
        witness_key(key)
    result = vigil(
        "audit", "witness", "--state", folder.path, "--key", key, "--name", "example.com/w",
        "--memory", tmp_path / "seen.json", "--format", "json", *more,
    )  # fmt: skip
    return result.status, result.out or result.err


def test_a_witness_cosigns_what_only_grew(vigil: Vigil, folder: StateFolder, tmp_path: Path) -> None:
    status, out = witnessed(vigil, folder, tmp_path)
    told = json.loads(out)
    assert (status, told["size"]) == (0, 14)
    assert signed_notes.cosigned(folder.checkpoint.read_bytes(), told["vkey"]) > 1_700_000_000
    assert (folder.checkpoints / "14").read_bytes() == folder.checkpoint.read_bytes()
    log = opened(folder, clock=(clock := Clock()))
    clock.now = log.at()
    with folder.lock():
        append_decision(log, 50)
        log.checkpoint()
    result = vigil("audit", "verify", "--state", folder.path, "--witness", told["vkey"], "--format", "json")
    assert (result.status, json.loads(result.out)["witnessed_to"], json.loads(result.out)["signed_to"]) == (0, 14, 18)
    assert json.loads(witnessed(vigil, folder, tmp_path)[1])["size"] == 18
    assert witnessed(vigil, folder, tmp_path)[0] == 0  # once more: there is one cosignature, not two
    assert folder.checkpoint.read_text().count("example.com/w ") == 1


def test_a_witness_refuses_what_was_cut_or_rewritten(vigil: Vigil, folder: StateFolder, tmp_path: Path) -> None:
    older = tmp_path / "older"
    shutil.copytree(folder.path, older)
    assert witnessed(vigil, folder, tmp_path)[0] == 0
    other = filled(tmp_path / "other", entries=40, every=5)
    for name in ("log.pem",):
        shutil.copy(folder.keys / name, other.keys / name)
    status, said = witnessed(vigil, other, tmp_path, "--log", folder.log_vkey)
    assert (status, "is not signed by" in said) == (1, True)
    newest = max(older.joinpath("checkpoints").iterdir(), key=lambda path: int(path.name))
    newest.unlink()
    status, said = witnessed(vigil, type(folder)(older), tmp_path)
    assert (status, "were seen before" in said) == (1, True)
    folder.log.write_bytes(folder.log.read_bytes().replace(b"mailer", b"failer", 1))
    before = hashed(folder.path)
    status, said = witnessed(vigil, folder, tmp_path)
    assert (status, "is not the one" in said) == (1, True)
    assert hashed(folder.path) == before


def test_a_witness_keeps_its_memory_elsewhere(vigil: Vigil, folder: StateFolder, tmp_path: Path) -> None:
    key = witness_key(tmp_path / "w.pem")
    call = ("audit", "witness", "--state", folder.path, "--key", key, "--name", "w", "--memory")
    result = vigil(*call, folder.path / "seen.json")
    assert (result.status, "lies in the state folder" in result.err) == (2, True)
    (tmp_path / "seen.json").write_text("{")
    assert vigil(*call, tmp_path / "seen.json").status == 2
    assert vigil(*call[:-2], "a b", "--memory", tmp_path / "other.json").status == 2
    (tmp_path / "w.pem").write_text("no key")
    assert vigil(*call, tmp_path / "other.json").status == 2


def test_a_witness_can_leave_the_folder_as_it_is(vigil: Vigil, folder: StateFolder, tmp_path: Path) -> None:
    before = hashed(folder.path)
    assert witnessed(vigil, folder, tmp_path, "-o", tmp_path / "cosigned")[0] == 0
    assert hashed(folder.path) == before
    assert "example.com/w " in (tmp_path / "cosigned").read_text()
    result = vigil("audit", "verify", "--state", folder.path, "--since", tmp_path / "cosigned")
    assert result.status == 0


# --- show, replay -----------------------------------------------------------------------------------------------------


def test_show_has_filters(vigil: Vigil, folder: StateFolder) -> None:
    def shown(*args: str) -> list[dict[str, object]]:
        result = vigil("audit", "show", "--state", folder.path, "--format", "json", *args)
        assert result.status == 0
        return [json.loads(line) for line in result.out.splitlines()]

    whole = shown()
    assert [each["seq"] for each in whole] == list(range(17))
    entries = [each["entry"] for each in whole]
    assert [json.dumps(each, separators=(",", ":")) for each in entries] == folder.log.read_text().splitlines()
    assert {each["entry"]["run"] for each in shown("--run", "r2")} == {"r2"}
    assert len(shown("--kind", "run_end", "--kind", "run_start")) == 2
    assert {each["entry"]["mode"] for each in shown("--mode", "block")} == {"block"}
    assert shown("--since", "2026-09-21") == whole
    assert shown("--since", entries[5]["at"]) == whole[5:]
    assert shown("--since", "2027") == []
    assert vigil("audit", "show", "--state", folder.path, "--since", "yesterday").status == 2


@pytest.mark.parametrize("columns", ["80", "120"])
def test_show_fits_the_screen(vigil: Vigil, folder: StateFolder, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    log = opened(folder, clock=(clock := Clock()))
    clock.now = log.at()
    with folder.lock():
        log.append("fault", {"run": "\x1b[31mred", "message": "a \u202e very " + "long " * 40})
    monkeypatch.setenv("COLUMNS", columns)
    result = vigil("audit", "show", "--state", folder.path)
    lines = result.out.splitlines()
    assert lines[0] == "2026-09-21"
    assert all(len(line) <= int(columns) for line in lines)
    assert "\x1b" not in result.out
    assert "\u202e" not in result.out
    assert "block mailer: default.block_0" in lines[3]


def test_a_damaged_log_is_shown_up_to_the_damage(vigil: Vigil, folder: StateFolder) -> None:
    with folder.log.open("ab") as stream:
        stream.write(b"damage\n")
    result = vigil("audit", "show", "--state", folder.path)
    assert (result.status, len(result.out.splitlines())) == (2, 18)
    assert "entry 17 of the log is damaged" in result.err


def test_replay_derives_the_decisions_of_each_run(vigil: Vigil, folder: StateFolder) -> None:
    result = vigil("audit", "replay", "--state", folder.path)
    assert (result.status, result.err) == (0, "")
    assert "agrees  r1 · 6 decisions · 6 derived again" in result.out
    told = json.loads(vigil("audit", "replay", "--state", folder.path, "--run", "r2", "--format", "json").out)
    (run,) = told["runs"]
    assert (run["run"], run["decisions"], run["derived"], run["differing"]) == ("r2", 9, 9, [])
    assert "no decision" in vigil("audit", "replay", "--state", folder.path, "--run", "r3").out


def test_replay_tells_what_does_not_follow_and_what_it_cannot_derive(
    vigil: Vigil, folder: StateFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = derivation(folder.path, instead=b'{"block": ["email.send"]}')
    monkeypatch.setattr(audit, "_derivation", lambda _: other)
    result = vigil("audit", "replay", "--state", folder.path, "--format", "json")
    assert result.status == 1
    assert [each["seq"] for each in json.loads(result.out)["runs"][0]["differing"]] == [1, 2, 3, 5, 6]
    assert "differs  r1" in vigil("audit", "replay", "--state", folder.path).out
    (folder.policies / f"{BUNDLE}.json").unlink()
    monkeypatch.setattr(audit, "_derivation", lambda log: derivation(log.folder))
    result = vigil("audit", "replay", "--state", folder.path)
    assert result.status == 2
    assert "not judged  r1" in result.out
    folder.plain.unlink()
    assert vigil("audit", "replay", "--state", folder.path).status == 0


def test_the_state_folder_is_the_one_of_the_environment(
    vigil: Vigil, folder: StateFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIGIL_STATE", os.fspath(folder.path))
    assert vigil("audit", "verify").status == 0

"""Appending: an entry is whole on disk or not at all, what others append is taken in, and faults leave no trace."""

from __future__ import annotations

import errno
import json
import os
import random
import resource
import signal
import sqlite3
import stat
import struct
import time
from contextlib import closing
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
import signed_notes
from log_support import BEGIN, Clock, append_decision, filled, new_folder, opened

from vigil_lang.gate.log import log as log_module
from vigil_lang.gate.log.log import CLOCK_SLACK, Log, create_log, moment, text_of
from vigil_lang.gate.log.reading import LogCopy
from vigil_lang.gate.log.tree import leaf_hash, root_of
from vigil_lang.gate.log.verifying import verify
from vigil_lang.gate.settings import LogSettings
from vigil_lang.gate.state import StateError, StateFolder
from vigil_lang.gate.storage import folder as folder_module
from vigil_lang.gate.storage.folder import FolderStorage

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    return new_folder(tmp_path / "state")


def append(log: Log, folder: StateFolder, kind: str = "signal", **members: object) -> int:
    with folder.lock():
        log.refresh()
        return log.append(kind, members)


def lines(folder: StateFolder) -> list[bytes]:
    return folder.log.read_bytes().split(b"\n")[:-1]


# --- what is written -----------------------------------------------------


def test_entries_are_lines_and_the_root_is_that_of_their_tree(folder: StateFolder) -> None:
    log = opened(folder)
    assert [append(log, folder, "signal", run="r1", score=n) for n in range(5)] == [0, 1, 2, 3, 4]
    written = lines(folder)
    assert log.root() == root_of([leaf_hash(line) for line in written])
    assert [json.loads(line) for line in written] == [entry for _, entry in log.entries()]
    assert json.loads(written[0]) == {"v": 1, "at": text_of(BEGIN + 1000), "kind": "signal", "run": "r1", "score": 0}
    assert [seq for seq, _ in log.entries(3)] == [3, 4]
    assert [leaf for _, leaf, _ in log.leaves(4)] == [leaf_hash(written[4])]
    assert log.at() == BEGIN + 5000
    assert moment(json.loads(written[4])["at"]) == log.at()


def test_everything_is_for_its_user_alone(folder: StateFolder) -> None:
    log = opened(folder)
    with folder.lock():
        append_decision(log, 0)
        log.checkpoint()
    for path in folder.path.rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode & 0o077 == 0, path


def test_plain_values_lie_in_the_side_store_and_their_digests_in_the_log(folder: StateFolder) -> None:
    log = opened(folder)
    with folder.lock():
        seq = log.append("outcome", {"status": "ok", "deep": {"kept": 1}}, {"/output": "é", "/deep/value": [1, None]})
    (entry,) = (entry for _, entry in log.entries())
    assert log.plain(seq, "/output") == "é"
    assert log.plain(seq, "/deep/value") == [1, None]
    assert log.plain(seq, "/other") is None
    with closing(sqlite3.connect(folder.plain)) as found:
        rows = {path: (salt, value) for path, salt, value in found.execute("SELECT path, salt, value FROM plain")}
    salt, value = rows["/output"]
    assert (len(salt), value) == (16, '"é"')
    assert entry["output"] == sha256(salt + '"é"'.encode()).hexdigest()
    salt, value = rows["/deep/value"]
    assert entry["deep"] == {"kept": 1, "value": sha256(salt + b"[1,null]").hexdigest()}


def test_the_side_store_may_be_deleted_while_it_is_used(folder: StateFolder) -> None:
    log = opened(folder)
    with folder.lock():
        append_decision(log, 0)
        folder.plain.unlink()
        assert log.plain(0, "/inputs") is None
        append_decision(log, 1)
        assert log.plain(0, "/inputs") is None
        assert log.plain(1, "/inputs")["events"][0]["id"] == "e1"
    assert verify(LogCopy(folder.path)).problems == ()


def test_a_value_without_a_canonical_form_is_refused_before_anything_is_written(folder: StateFolder) -> None:
    log = opened(folder)
    with folder.lock():
        for value in (float("nan"), 2**53, "\ud800", {1: 2}):
            with pytest.raises(StateError, match="cannot be logged"):
                log.append("outcome", {}, {"/output": value})
        with pytest.raises(StateError, match="no place"):
            log.append("outcome", {}, {"output": 1})
        with pytest.raises(StateError, match="as JSON"):
            log.append("outcome", {"status": object()})
        with pytest.raises(StateError, match="more than"):
            log.append("outcome", {"status": "x" * 16_000_001})
    assert folder.log.read_bytes() == b""


# --- the clock -----------------------------------------------------


def test_a_clock_that_goes_back_a_little_stands_still(folder: StateFolder) -> None:
    clock = Clock()
    log = opened(folder, clock=clock)
    append(log, folder)
    clock.now -= CLOCK_SLACK
    append(log, folder)
    assert [entry["at"] for _, entry in log.entries()] == [text_of(BEGIN + 1000)] * 2


def test_a_clock_that_goes_back_further_cannot_be_judged_by(folder: StateFolder) -> None:
    clock = Clock()
    log = opened(folder, clock=clock)
    append(log, folder)
    clock.now -= CLOCK_SLACK + 2000
    with pytest.raises(StateError, match="the clock went back"):
        append(log, folder)
    assert len(lines(folder)) == 1


def test_a_new_process_knows_the_time_of_the_last_entry(folder: StateFolder) -> None:
    clock = Clock()
    append(opened(folder, clock=clock), folder)
    clock.now -= CLOCK_SLACK * 2
    with pytest.raises(StateError, match="the clock went back"):
        append(opened(folder, clock=clock), folder)


# --- faults of the disk -----------------------------------------------------


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_a_failed_write_leaves_the_log_as_it_was(
    folder: StateFolder, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    log = opened(folder)
    append(log, folder)
    before, root = folder.log.read_bytes(), log.root()

    def fails(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as broken:
        broken.setattr(log_module.os, "write", fails)
        with pytest.raises(StateError, match=os.strerror(code)):
            append(log, folder)
    assert (folder.log.read_bytes(), log.root(), log.size) == (before, root, 1)
    assert append(log, folder) == 1


def test_a_short_write_is_taken_back(folder: StateFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    log = opened(folder)
    append(log, folder)
    before, write = folder.log.read_bytes(), os.write
    with monkeypatch.context() as broken:
        broken.setattr(log_module.os, "write", lambda file, data: write(file, data[:7]))
        with pytest.raises(StateError, match="7 of"):
            append(log, folder)
    assert folder.log.read_bytes() == before
    assert append(log, folder) == 1


def test_a_failed_sync_is_no_entry(folder: StateFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    log = opened(folder, durability="power")
    append(log, folder)
    before = folder.log.read_bytes()
    calls = iter([OSError(errno.EIO, "I/O error")])

    def fails(_: int) -> None:
        for error in calls:
            raise error

    with monkeypatch.context() as broken:
        broken.setattr(log_module.os, "fdatasync", fails)
        with pytest.raises(StateError, match="I/O error"):
            append(log, folder)
    assert folder.log.read_bytes() == before


def test_what_could_not_be_taken_back_is_dropped_next_time(
    folder: StateFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = opened(folder)
    append(log, folder)
    write = os.write

    def fails(*_: object) -> None:
        raise OSError(errno.EIO, "I/O error")

    with monkeypatch.context() as broken:
        broken.setattr(log_module.os, "write", lambda file, data: write(file, data[:7]))
        broken.setattr(log_module.os, "ftruncate", fails)
        with pytest.raises(StateError):
            append(log, folder)
        with folder.lock(), pytest.raises(StateError, match="was not read"):
            log.append("signal", {})
    assert append(log, folder) == 2
    assert [entry["kind"] for _, entry in log.entries()] == ["signal", "recovered", "signal"]
    assert verify(LogCopy(folder.path)).problems == ()


def test_a_full_disk_leaves_the_log_as_it_was(folder: StateFolder) -> None:
    """In a process of its own, which may not write files beyond a size."""
    log = opened(folder)
    for _ in range(3):
        append(log, folder)
    before = folder.log.read_bytes()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, len(before) + 20))
            other = opened(folder)
            try:
                append(other, folder, text="x" * 100)
            except StateError:
                status = 0 if folder.log.read_bytes() == before else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert folder.log.read_bytes() == before
    assert append(log, folder) == 3


def test_a_side_store_that_cannot_be_written_is_no_entry(folder: StateFolder) -> None:
    log = opened(folder)
    folder.plain.write_bytes(b"no database at all, but a text that is long enough to be taken for one" * 20)
    with folder.lock(), pytest.raises(StateError, match="side store"):
        append_decision(log, 0)
    with pytest.raises(StateError, match="side store"):
        log.plain(0, "/inputs")
    assert folder.log.read_bytes() == b""


# --- what is there already -----------------------------------------------------


def test_two_that_append_in_turn_see_each_others_entries(folder: StateFolder) -> None:
    one, other = opened(folder, clock=(clock := Clock())), opened(folder, clock=clock)
    for turn in range(6):
        assert append(one if turn % 2 else other, folder) == turn
    one.refresh()
    other.refresh()
    assert one.root() == other.root() == opened(folder).root()


def test_a_torn_last_line_is_dropped_and_told(folder: StateFolder) -> None:
    log = opened(folder)
    append(log, folder)
    with folder.log.open("ab") as stream:
        stream.write(b'{"v":1,"at":"20')
    opened(folder)
    entries = [json.loads(line) for line in lines(folder)]
    assert [entry["kind"] for entry in entries] == ["signal", "recovered"]
    assert entries[1]["bytes"] == 15
    assert append(log, folder) == 2  # it takes in what another recovered


def test_a_torn_line_that_a_checkpoint_covers_is_a_cut_log(folder: StateFolder) -> None:
    log = opened(folder)
    append(log, folder)
    with folder.lock():
        log.checkpoint()
    data = folder.log.read_bytes()
    folder.log.write_bytes(data[:-5])
    with pytest.raises(StateError, match="was cut"):
        opened(folder)
    with pytest.raises(StateError, match="was cut"):
        log.refresh()
    assert folder.log.read_bytes() == data[:-5]
    assert [each.kind for each in verify(LogCopy(folder.path)).problems] == ["cut"]


@pytest.mark.parametrize(
    "damage", [b"x\n", b"\n", b"[]\n", b'{"at":1}\n', b'{"kind":"x","at":"yesterday"}\n', b"\xff\n"]
)
def test_any_other_bad_line_cannot_be_judged(folder: StateFolder, damage: bytes) -> None:
    append(opened(folder), folder)
    with folder.log.open("ab") as stream:
        stream.write(damage)
    with pytest.raises(StateError, match="entry 1 of the log is damaged"):
        opened(folder)
    audit = verify(LogCopy(folder.path))
    assert [(each.seq, each.kind) for each in audit.problems][:1] == [(1, "unreadable")]
    assert audit.cannot_judge


def test_a_log_that_was_changed_under_a_checkpoint_cannot_be_judged(tmp_path: Path) -> None:
    folder = filled(tmp_path / "state", entries=20)
    data = folder.log.read_bytes()
    folder.log.write_bytes(data.replace(b"mailer", b"failer", 1))
    with pytest.raises(StateError, match="was changed"):
        opened(folder)


def test_a_long_log_is_read_from_its_newest_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = filled(tmp_path / "state", entries=30, tail=4)
    whole = opened(folder)
    monkeypatch.setattr(log_module, "WHOLE_BYTES", 100)
    read: list[bytes] = []
    monkeypatch.setattr(log_module, "leaf_hash", lambda line: read.append(line) or leaf_hash(line))
    clock = Clock()
    clock.now = whole.at()
    log = opened(folder, clock=clock)
    assert len(read) == 4
    assert (log.size, log.root(), log.at()) == (whole.size, whole.root(), whole.at())
    assert list(log.entries()) == list(whole.entries())
    assert list(log.entries(34)) == list(whole.entries(34))
    assert append(log, folder) == whole.size
    (folder.path / "frontier").write_text("{}")
    assert opened(folder, clock=clock).root() == log.root()


def test_a_log_that_was_cut_while_it_was_open_cannot_be_judged(folder: StateFolder) -> None:
    log = opened(folder)
    append(log, folder)
    append(log, folder)
    os.truncate(folder.log, len(lines(folder)[0]) + 1)
    with pytest.raises(StateError, match="was cut"):
        log.refresh()


def test_a_log_is_a_file_of_its_own(tmp_path: Path, folder: StateFolder) -> None:
    with pytest.raises(StateError, match="already"):
        create_log(folder)
    folder.log.chmod(0o644)
    with pytest.raises(StateError, match="only its user"):
        opened(folder)
    folder.log.rename(tmp_path / "elsewhere")
    with pytest.raises(StateError, match="cannot be opened"):
        Log(FolderStorage(folder), LogSettings())
    folder.log.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StateError, match="cannot be opened"):
        Log(FolderStorage(folder), LogSettings())


# --- checkpoints -----------------------------------------------------


def test_checkpoints_are_made_at_the_end_of_a_run_and_every_so_often(folder: StateFolder) -> None:
    clock = Clock()
    log = Log(
        FolderStorage(folder), LogSettings(durability="process", checkpoint_entries=4, checkpoint_seconds=60), clock
    )
    for _ in range(5):
        append(log, folder)
    append(log, folder, "run_end", run="r1")
    append(log, folder)
    clock.now += 61_000_000
    append(log, folder)
    sizes = sorted(int(path.name) for path in folder.checkpoints.iterdir())
    assert sizes == [4, 6, 8]
    key = folder.log_vkey.read_text()
    leaves = [leaf_hash(line) for line in lines(folder)]
    for size in sizes:
        origin, told, root = signed_notes.checkpoint((folder.checkpoints / str(size)).read_bytes(), key)
        assert origin.startswith("vigil.local/")
        assert len(origin) == 12 + 32
        assert (told, root) == (size, root_of(leaves[:size]))
    assert folder.checkpoint.read_bytes() == (folder.checkpoints / "8").read_bytes()


def test_a_checkpoint_is_never_made_twice(folder: StateFolder) -> None:
    log = opened(folder)
    append(log, folder)
    with folder.lock():
        note = log.checkpoint()
        (folder.checkpoints / "1").write_text(note + "— example.com/w AAAAAAAA\n")
        assert log.checkpoint() == note + "— example.com/w AAAAAAAA\n"


@pytest.mark.parametrize("stage", [1, 2])
def test_a_crash_between_a_checkpoint_and_its_copy_is_healed(
    folder: StateFolder, monkeypatch: pytest.MonkeyPatch, stage: int
) -> None:
    log = opened(folder)
    append(log, folder)
    with folder.lock():
        log.checkpoint()
    append(log, folder)
    done: list[str] = []
    replace = folder_module.replace

    def crashing(path: Path, data: bytes, *, sync: bool = True) -> None:
        if len(done) == stage:
            raise OSError(errno.EIO, "the power is gone")
        done.append(path.name)
        replace(path, data, sync=sync)
        if len(done) == stage == 2:
            raise OSError(errno.EIO, "the power is gone")

    with monkeypatch.context() as broken:
        broken.setattr(folder_module, "replace", crashing)
        with folder.lock(), pytest.raises(StateError, match="cannot be signed"):
            log.checkpoint()
    assert done == ["checkpoint.next", "2"][:stage]
    assert verify(LogCopy(folder.path)).problems == ()
    again = opened(folder)
    assert not (folder.path / "checkpoint.next").exists()
    assert verify(LogCopy(folder.path)).signed_to == stage
    assert append(again, folder) == 2
    assert verify(LogCopy(folder.path)).problems == ()


def test_without_its_key_the_log_does_not_go_on_unsigned(folder: StateFolder) -> None:
    log = opened(folder, every=2)
    folder.log_key.rename(folder.path / "gone")
    assert [append(log, folder), append(log, folder)] == [0, 1]
    with pytest.raises(StateError, match="cannot be signed"):
        append(log, folder)
    (folder.path / "gone").rename(folder.log_key)
    assert append(log, folder) == 2


@pytest.mark.parametrize("damage", [b"", b"x", b"a\n1\nb\n\n\n"])
def test_a_damaged_checkpoint_cannot_be_judged(folder: StateFolder, damage: bytes) -> None:
    log = opened(folder)
    append(log, folder)
    with folder.lock():
        log.checkpoint()
    folder.checkpoint.write_bytes(damage)
    with pytest.raises(StateError, match="checkpoint is damaged"):
        opened(folder)


# --- many at once, killed at any moment -----------------------------------------------------


def _appends(folder: StateFolder, number: int, told: int, durability: Any) -> None:
    """Append until killed; after each answer its number goes through the pipe."""
    settings = LogSettings(durability=durability, checkpoint_entries=25)
    log = Log(FolderStorage(StateFolder(folder.path)), settings)
    count = 0
    while True:
        name = number * 1_000_000 + count
        lock = log._storage.lock()
        try:
            with lock:
                log.refresh()
                log.append("outcome", {"run": f"r{number}", "name": name}, {"/output": "x" * (count % 300)})
        except StateError:
            continue  # the lock was not to be had in time
        os.write(told, struct.pack("<q", name))
        count += 1


@pytest.mark.slow
@pytest.mark.parametrize(("durability", "workers", "seconds"), [("process", 32, 3.0), ("power", 8, 2.0)])
def test_what_was_answered_is_there_whoever_is_killed_when(
    folder: StateFolder, durability: str, workers: int, seconds: float
) -> None:
    rng = random.Random(workers)
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    children: dict[int, int] = {}
    answered: set[int] = set()
    started = 0

    def begin() -> None:
        nonlocal started
        started += 1
        child = os.fork()
        if child == 0:
            try:
                os.close(reader)
                _appends(folder, started, writer, durability)
            finally:
                os._exit(1)
        children[child] = started

    def collect() -> None:
        try:
            while data := os.read(reader, 8 * 512):
                answered.update(struct.unpack(f"<{len(data) // 8}q", data))
        except BlockingIOError:
            pass

    try:
        for _ in range(workers):
            begin()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(rng.uniform(0.005, 0.05))
            collect()
            victim = rng.choice(list(children))
            os.kill(victim, signal.SIGKILL)
            os.waitpid(victim, 0)
            del children[victim]
            begin()
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
        for child in children:
            os.waitpid(child, 0)
        os.close(writer)
        collect()
        os.close(reader)
    log = Log(FolderStorage(StateFolder(folder.path)), LogSettings())
    log.refresh()
    written = [entry["name"] for _, entry in log.entries() if entry["kind"] == "outcome"]
    assert len(written) == len(set(written))
    assert answered <= set(written)
    assert len(answered) > 20
    audit = verify(LogCopy(folder.path))
    assert audit.problems == ()
    assert audit.entries == log.size

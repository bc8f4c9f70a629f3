"""Threads of one process share a sync: nobody is answered before what he wrote is on disk, or where that failed."""

from __future__ import annotations

import errno
import os
import threading
import time
from typing import TYPE_CHECKING

import pytest
from gate_support import World
from log_support import new_folder, opened

from vigil_lang.gate.log.reading import LogCopy
from vigil_lang.gate.log.verifying import verify
from vigil_lang.gate.state import StateError, StateFolder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vigil_lang.gate.log.log import Log


@pytest.fixture
def folder(tmp_path: Path) -> StateFolder:
    return new_folder(tmp_path / "state")


class Disk:
    """What `fdatasync` does in a test: it takes its time, remembers what is on disk then, or fails."""

    def __init__(self, folder: StateFolder) -> None:
        self.log = folder.log
        self.count = self.on_disk = 0
        self.fails = 0

    def __call__(self, _: int) -> None:
        size = self.log.stat().st_size
        time.sleep(0.005)
        self.count += 1
        if self.fails:
            self.fails -= 1
            raise OSError(errno.EIO, "I/O error")
        self.on_disk = size


@pytest.fixture
def disk(folder: StateFolder, monkeypatch: pytest.MonkeyPatch) -> Disk:
    found = Disk(folder)
    monkeypatch.setattr(os, "fdatasync", found)
    return found


def deferred(log: Log, folder: StateFolder, mutex: threading.Lock) -> int:
    """Append an entry as the gate does; gives the place behind it."""
    with mutex, folder.lock():
        log.refresh()
        with log.deferred():
            log.append("signal", {"run": "r"})
        return log.place


def in_threads(count: int, work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


def test_nobody_is_answered_before_his_entry_is_on_disk(folder: StateFolder, disk: Disk) -> None:
    log, mutex = opened(folder, durability="power"), threading.Lock()
    wrong: list[int] = []

    def work() -> None:
        for _ in range(10):
            place = deferred(log, folder, mutex)
            log.on_disk(place)
            if disk.on_disk < place:
                wrong.append(place)

    in_threads(10, work)
    assert not wrong
    assert log.size == 100
    assert disk.count < 60


def test_a_failing_sync_is_told_to_all_who_waited_and_nothing_is_lost(folder: StateFolder, disk: Disk) -> None:
    log, mutex = opened(folder, durability="power"), threading.Lock()
    barrier = threading.Barrier(8)
    told: list[str] = []
    disk.fails = 1

    def work() -> None:
        place = deferred(log, folder, mutex)
        barrier.wait()
        try:
            log.on_disk(place)
        except StateError as error:
            told.append(str(error))

    in_threads(8, work)
    assert len(told) == 8
    assert "I/O error" in told[0]
    with pytest.raises(StateError, match="I/O error"):  # that the next sync goes well says nothing of those before
        log.on_disk(log.place)
    disk.fails = 1
    with pytest.raises(StateError, match="I/O error"):
        deferred(log, folder, mutex)
    before = folder.log.read_bytes()
    place = deferred(log, folder, mutex)
    log.on_disk(place)
    assert folder.log.read_bytes()[: len(before)] == before
    assert disk.on_disk == place
    assert opened(folder).size == log.size == 9


def test_what_another_process_wrote_is_on_disk_before_it_is_told(folder: StateFolder, disk: Disk) -> None:
    first, second, mutex = opened(folder, durability="power"), opened(folder, durability="power"), threading.Lock()
    place = deferred(first, folder, mutex)
    with folder.lock():
        second.refresh()
    second.on_disk(second.place)
    assert disk.on_disk == place


def test_a_gate_answers_threads_after_one_sync_and_blocks_where_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    assert world.ask("get_invoice", invoice="i").decision.mode == "pass"
    disk = Disk(world.gate.folder)
    monkeypatch.setattr(os, "fdatasync", disk)
    modes: list[tuple[str, bool]] = []

    def work() -> None:
        for at in range(4):
            answer = world.ask("get_invoice", invoice=f"i{at}")
            modes.append((answer.decision.mode, disk.on_disk > 0))

    in_threads(8, work)
    assert modes == [("pass", True)] * 32
    assert disk.count < 25
    disk.fails = 1
    blocked = world.ask("get_invoice", invoice="i")
    assert (blocked.decision.mode, blocked.seq) == ("block", None)
    assert "I/O error" in blocked.decision.reasons[0].message
    assert world.kinds()[-2:] == ["decision", "fault"]
    assert world.ask("get_invoice", world.opened(), invoice="i").decision.mode == "pass"
    assert not verify(LogCopy(world.state)).problems

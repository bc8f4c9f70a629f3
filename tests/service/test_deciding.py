"""Group commit: one lock and one sync, each request for itself, and a late answer is a block."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from gate_support import World, request

from vigil_lang.gate.state import StateError
from vigil_lang.service.deciding import Decider
from vigil_lang.service.metrics import Metrics

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from vigil_lang.gate.answer import Answer


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def modes(answers: list[Answer]) -> list[str]:
    return [each.decision.mode for each in answers]


def test_many_are_decided_as_each_would_be(world: World, tmp_path: Path) -> None:
    asked = [
        request("get_invoice", invoice="a"),
        request("pay_invoice", invoice="a", amount=10),
        request("pay_invoice", invoice="b", amount=10),
        request("pay", amount=600, to="x"),
        request("pay", amount=600, to="x"),
        request("pay", amount=20_000, to="x"),
        request("get_invoice", run="r2", agent="other", invoice="a"),
    ]
    other = tmp_path / "other"
    other.mkdir()
    alone = World(other)
    one_by_one = [alone.gate.decide(each) for each in asked]
    together = world.gate.decide_many(iter(asked))
    assert modes(together) == modes(one_by_one)
    assert [each.seq for each in together] == [each.seq for each in one_by_one]
    assert together[3].hold is not None
    assert together[4].hold is not None
    assert together[3].hold.id == together[4].hold.id
    same = ("kind", "mode", "action_digest", "run", "agent")
    assert [{name: each.get(name) for name in same} for each in world.entries()] == [
        {name: each.get(name) for name in same} for each in alone.entries()
    ]


def test_one_sync_for_all(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    calls = []
    real = os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda file: calls.append(file) or real(file))
    answers = world.gate.decide_many(request("get_invoice", invoice=f"i{at}") for at in range(20))
    assert modes(answers) == ["pass"] * 20
    assert len(calls) == 1


def test_an_approval_is_used_once_in_a_batch(world: World) -> None:
    held = world.ask("pay", amount=700, to="x")
    world.confirm(held)
    answers = world.gate.decide_many(request("pay", amount=700, to="x") for _ in range(3))
    assert modes(answers) == ["pass", "hold", "hold"]
    assert modes([world.opened().decide(request("get_invoice", invoice="later"))]) == ["pass"]  # the log holds


def test_what_goes_wrong_with_one_is_no_others_fault(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    real = world.gate._decided

    def decided(asked: Any, heard: Any) -> Answer:
        if asked.tool == "boom":
            raise RuntimeError("boom")
        return real(asked, heard)

    monkeypatch.setattr(world.gate, "_decided", decided)
    tools = ("get_invoice", "boom", "get_invoice")
    answers = world.gate.decide_many(request(tool, invoice=f"{at}") for at, tool in enumerate(tools))
    assert modes(answers) == ["pass", "block", "pass"]
    assert [each.is_fault for each in answers] == [False, True, False]
    assert world.kinds().count("fault") == 1


def test_where_nothing_can_be_written_all_block(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def on_disk(_: int) -> None:
        raise StateError("the disk is gone")

    monkeypatch.setattr(world.gate.log, "on_disk", on_disk)
    answers = world.gate.decide_many(request("get_invoice", invoice=f"i{at}") for at in range(3))
    assert modes(answers) == ["block"] * 3
    assert all(each.is_fault for each in answers)


# --- the queue ------------------------------------------------------------------------------------------------------


@contextmanager
def deciding(world: World, *, queue: int = 100, deadline: float = 5.0) -> Iterator[Decider]:
    decider = Decider(world.gate, Metrics(), queue=queue, deadline=deadline)
    decider.start()
    try:
        yield decider
    finally:
        decider.stop()


def test_all_that_wait_are_answered(world: World) -> None:
    async def ask(decider: Decider) -> list[Answer]:
        asked = [request("get_invoice", run=f"r{at % 5}", invoice=f"i{at}") for at in range(100)]
        return await asyncio.gather(*(decider.decide(each) for each in asked))

    with deciding(world) as decider:
        answers = asyncio.run(ask(decider))
    assert modes(answers) == ["pass"] * 100
    assert len({each.seq for each in answers}) == 100


@contextmanager
def stalled(world: World, seconds: float) -> Iterator[None]:
    """Another thread keeps the gate for a while."""
    taken, done = threading.Event(), threading.Event()

    def keep() -> None:
        with world.gate.holds.transaction():
            taken.set()
            done.wait(seconds)

    thread = threading.Thread(target=keep)
    thread.start()
    taken.wait(5)
    try:
        yield
    finally:
        done.set()
        thread.join()


def test_beyond_the_queue_is_a_block_that_says_so(world: World) -> None:
    async def ask(decider: Decider) -> list[Answer]:
        asked = [request("get_invoice", invoice=f"i{at}") for at in range(10)]
        return await asyncio.gather(*(decider.decide(each) for each in asked))

    with deciding(world, queue=4) as decider, stalled(world, 0.3):
        answers = asyncio.run(ask(decider))
    assert sorted(modes(answers)) == ["block"] * 6 + ["pass"] * 4
    refused = [each for each in answers if each.is_fault]
    assert all("4 requests wait already" in each.decision.reasons[0].message for each in refused)
    assert world.kinds().count("decision") == 4


def test_what_is_late_is_blocked_and_never_decided(world: World) -> None:
    async def ask(decider: Decider) -> list[Answer]:
        return await asyncio.gather(*(decider.decide(request("get_invoice", invoice=f"i{at}")) for at in range(5)))

    with deciding(world, deadline=0.2) as decider:
        with stalled(world, 5.0):
            began = time.monotonic()
            answers = asyncio.run(ask(decider))
            assert time.monotonic() - began < 2
        assert modes(answers) == ["block"] * 5
        assert all("within 0.2 s" in each.decision.reasons[0].message for each in answers)
        asyncio.run(ask_one(decider))
    assert world.kinds().count("decision") == 1


async def ask_one(decider: Decider) -> Answer:
    return await decider.decide(request("get_invoice", run="after", invoice="x"))


def test_a_pass_that_comes_too_late_is_withdrawn(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was judged in time, but the disk was slow: whoever asked was told a block, and the call was not made."""
    real, slow = world.gate.log.on_disk, [0.5]

    def on_disk(place: int) -> None:
        if slow:
            time.sleep(slow.pop())
        real(place)

    monkeypatch.setattr(world.gate.log, "on_disk", on_disk)
    with deciding(world, deadline=0.1) as decider:
        assert asyncio.run(ask_one(decider)).decision.mode == "block"
    *_, decision, outcome = world.entries()
    assert (decision["kind"], decision["mode"]) == ("decision", "pass")
    assert (outcome["kind"], outcome["decision"], outcome["executed"]) == ("outcome", world.gate.log.size - 2, False)
    assert len(world.gate.trace("after").events) == 0


def test_who_is_gone_is_not_decided_about(world: World) -> None:
    async def ask(decider: Decider) -> None:
        task = asyncio.create_task(ask_one(decider))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    with deciding(world) as decider, stalled(world, 0.3):
        asyncio.run(ask(decider))
    assert world.kinds().count("decision") == 0


def test_at_the_end_what_waits_is_decided(world: World) -> None:
    async def ask(decider: Decider) -> list[Answer]:
        asked = [asyncio.create_task(decider.decide(request("get_invoice", invoice=f"i{at}"))) for at in range(20)]
        await asyncio.sleep(0)
        await asyncio.get_running_loop().run_in_executor(None, decider.stop)
        return [*await asyncio.gather(*asked), await ask_one(decider)]

    decider = Decider(world.gate, Metrics(), queue=100, deadline=5.0)
    decider.start()
    answers = asyncio.run(ask(decider))
    assert modes(answers) == ["pass"] * 20 + ["block"]

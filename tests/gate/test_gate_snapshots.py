"""A process takes runs up from their snapshots: one that was edited or does not fit is not believed."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from gate_support import World
from hypothesis import given, settings
from hypothesis import strategies as st

from vigil_lang.enforce.run import PolicyMonitor
from vigil_lang.gate import following, run_snapshots
from vigil_lang.gate.entering import Ended, Entering
from vigil_lang.gate.request import request_of
from vigil_lang.trace.record import Message

if TYPE_CHECKING:
    from vigil_lang.gate.answer import Answer
    from vigil_lang.gate.gate import Gate

SKILL = "statement once: atmost[1](get_weather())"


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(following, "EVERY", 4)
    return World(tmp_path)


def place(world: World, run: str = "r1") -> Path:
    return world.state / "runs" / sha256(run.encode()).hexdigest()


def filled(world: World, run: str = "r1") -> None:
    """A run with an invoice that was looked at, and a snapshot behind that."""
    answer = decided(world.gate, run, "get_invoice", {"invoice": "i1"})
    assert answer.seq is not None
    world.gate.outcome(run, answer.seq, "ok", "secret words")
    for _ in range(4):
        decided(world.gate, run, "get_weather", {})
    assert place(world, run).exists()


def decided(gate: Gate, run: str, tool: str, given: dict[str, Any], **more: Any) -> Answer:
    action = {"tool": tool, "input": given}
    return gate.decide(request_of({"run": run, "agent": "a", "outcomes": "reported", "action": action, **more}))


def mode(gate: Gate) -> str:
    """`pass` where the gate knows that the invoice was looked at."""
    return decided(gate, "r1", "pay_invoice", {"invoice": "i1", "amount": 5}).decision.mode


def entries_read(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the entries that a gate reads when it takes up the run."""
    found: list[int] = []
    of_run = gate.store.of_run
    with monkeypatch.context() as patched:

        def noted(run: str, after: int) -> Any:
            for seq, entry in of_run(run, after):
                found.append(seq)
                yield seq, entry

        patched.setattr(gate.store, "of_run", noted)
        assert mode(gate) == "pass"
    return found


def test_a_new_process_reads_only_what_follows_the_snapshot(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(world)
    assert place(world).stat().st_mode & 0o777 == 0o600
    assert place(world).parent.stat().st_mode & 0o777 == 0o700
    assert len(entries_read(world.opened(), monkeypatch)) <= 4


def test_a_run_is_no_path(world: World) -> None:
    filled(world, "../../etc/passwd")
    assert {path.name for path in world.state.parent.iterdir()} == {"state", "work", "organisation.vgl", "personal.vgl"}


def test_a_snapshot_that_was_edited_or_is_another_is_not_believed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(world)
    filled(world, "r2")
    right = place(world).read_bytes()
    for at in range(0, len(right), max(1, len(right) // 40)):
        place(world).write_bytes(right[:at] + bytes([right[at] ^ 1]) + right[at + 1 :])
        assert world.opened()._following._stored("r1") is None
    for wrong in (b"", b"\n\n", b"\xff" * 100, right[:-1], place(world, "r2").read_bytes()):
        place(world).write_bytes(wrong)
        assert entries_read(world.opened(), monkeypatch)[0] <= 2, "it is read from the log"
        place(world).write_bytes(wrong)
    place(world).unlink()
    place(world).symlink_to(place(world, "r2"))
    assert mode(world.opened()) == "pass"


def test_an_old_snapshot_that_is_put_back_hides_nothing(world: World) -> None:
    filled(world)
    before = place(world).read_bytes()
    answer = decided(world.gate, "r1", "get_invoice", {"invoice": "i2"})
    assert answer.seq is not None
    world.gate.outcome("r1", answer.seq, "error", "gone")
    for _ in range(8):
        decided(world.gate, "r1", "get_weather", {})
    place(world).write_bytes(before)
    assert world.opened().trace("r1") == world.gate.trace("r1")


def test_other_policies_another_program_or_deleted_arguments_make_it_unfit(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(world)
    with monkeypatch.context() as patched:
        patched.setattr(run_snapshots, "__version__", "0.0.0")
        assert world.opened()._following._stored("r1") is None
    (world.folder / "personal.vgl").write_text("policy ann rule mail: when message.send() then hold", encoding="utf-8")
    other = world.opened()
    assert other._following._stored("r1") is None
    assert mode(other) == "pass"
    (world.state / "args.sqlite").unlink()
    assert "were deleted" in decided(world.opened(), "r1", "get_weather", {}).decision.reasons[0].message


def test_a_run_that_ended_has_none(world: World) -> None:
    filled(world)
    world.gate.end("r1")
    assert not place(world).exists()


def test_old_ones_and_those_beyond_the_bound_are_swept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for run in ("r1", "r2", "r3"):
        filled(world, run)
    snapshots, now = world.gate._snapshots, place(world).stat().st_mtime
    os.utime(place(world, "r1"), (now - run_snapshots.LONGEST - 9, now - run_snapshots.LONGEST - 9))
    os.utime(place(world, "r2"), (now - 60, now - 60))
    snapshots.sweep(now)
    assert [place(world, run).exists() for run in ("r1", "r2", "r3")] == [False, True, True]
    monkeypatch.setattr(run_snapshots, "MOST", place(world, "r3").stat().st_size)
    snapshots.sweep(now)
    assert [place(world, run).exists() for run in ("r2", "r3")] == [False, True]


def test_a_process_keeps_so_many_runs_in_memory(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "MOST", 2)
    for run in ("r1", "r2", "r3"):
        filled(world, run)
    assert list(world.gate._following._live) == ["r2", "r3"]
    assert world.gate._following.names() == ("r1", "r2", "r3")
    assert mode(world.gate) == "pass"
    assert list(world.gate._following._live) == ["r3", "r1"]


def test_a_full_disk_takes_no_answer_away(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run_snapshots, "replace", fails)
    for _ in range(9):
        assert decided(world.gate, "r1", "get_weather", {}).decision.mode == "pass"
    assert not place(world).exists()


def test_a_new_policy_judges_the_run_without_reading_it_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(world)
    (skill := world.folder / "skill.vgl").write_text(SKILL, encoding="utf-8")
    calls: list[int] = []
    restore = PolicyMonitor.restore
    monkeypatch.setattr(PolicyMonitor, "restore", lambda *given: (calls.append(1), restore(*given))[1])
    assert world.gate.extend("r1", [str(skill)])
    assert not world.gate.changes("r1")
    assert len(calls) == 1
    for gate in (world.gate, world.opened()):
        assert decided(gate, "r1", "get_weather", {}).decision.mode == "block"
    assert world.opened().trace("r1") == world.gate.trace("r1")


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "ask", "asked", "end", "end", "unasked", "say", "turn", "halt", "resume", "skill"]),
        st.sampled_from(["get_invoice", "pay_invoice", "Bash", "get_weather"]),
        st.sampled_from(["ok", "error", "unknown", "never"]),
        st.integers(0, 3),
    ),
    max_size=16,
)


def stepped(gate: Gate, skill: Path, at: int, step: tuple[str, str, Any, int]) -> object:
    act, tool, status, which = step
    session = "sub" if which == 3 else ""
    inputs: dict[str, Any] = (
        {"command": f"cd d{which}; cat x > y; pytest"} if tool == "Bash" else {"invoice": f"i{which}"}
    )
    match act:
        case "ask" | "asked":
            call = f"h{which}" if act == "asked" else f"c{at}"
            found = decided(gate, "r", tool, inputs, call=call, session=session)
            return found.seq, found.decision.mode, [each.name for each in found.decision.reasons]
        case "end" | "unasked":
            executed = status != "never"
            given = Ended(
                tool, inputs, status if executed else "unknown", f"out {at}", executed=executed, session=session
            )
            return [each.message for each in gate.ended("r", given)]
        case "say":
            return [each.message for each in gate.say("r", Message("user", f"go on {at}"))]
        case "turn":
            return [each.message for each in gate.turn_ended("r", session)]
        case "halt":
            return gate.halt("r", "stop")
        case "resume":
            return gate.resume("r")
    return gate.extend("r", [str(skill)])


@settings(max_examples=25, deadline=None)
@given(STEPS)
def test_processes_with_snapshots_answer_as_one_that_lived_on(steps: list[tuple[str, str, Any, int]]) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(following, "EVERY", 1)
        worlds = []
        for name in ("lived", "started"):
            (Path(folder) / name).mkdir()
            worlds.append(World(Path(folder) / name))
        (skill := Path(folder) / "skill.vgl").write_text(SKILL, encoding="utf-8")
        lived, started = worlds
        entering = Entering("r", "a", None, str(lived.workspace), (), (), (), None)
        for each in worlds:
            each.gate.enter(entering)
        patched.setattr(lived.gate._following, "due", list)
        for at, step in enumerate(steps):
            started.gate = started.opened()
            assert stepped(lived.gate, skill, at, step) == stepped(started.gate, skill, at, step)
        assert lived.kinds() == started.kinds()
        assert lived.gate.trace("r") == started.opened().trace("r")
        for each in started.state.glob("runs/*"):
            each.unlink()
        assert lived.gate.trace("r") == started.opened().trace("r")

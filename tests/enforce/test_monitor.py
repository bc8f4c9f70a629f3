"""Runs that a program follows itself: what is taken, what is refused, and snapshots."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

import vigil_lang as vigil

POLICY = vigil.parse_policy("statement checked: prec(pay(invoice = x), check(invoice = x, status = ok))")
PAY = vigil.Call("pay", {"invoice": "12"})


def named(found: tuple[Any, ...]) -> list[str]:
    return [broken.statement.name for broken in found]


def test_steps_say_what_is_newly_violated() -> None:
    run = vigil.Monitor(POLICY).run()
    assert named(run.propose(PAY).broken) == ["checked"]
    assert named(run.step(vigil.Call("pay", {"invoice": "12"}, status="ok"))) == ["checked"]
    assert run.step(vigil.Call("check", {"invoice": "13"}, status="ok")) == ()
    assert run.step(vigil.Call("pay", {"invoice": "13"}, status="ok")) == ()
    outcome = run.close()
    assert [broken.offence.event for broken in outcome.broken] == ["e1"]
    assert len(outcome.trace) == 3


def test_a_call_that_was_not_executed_leaves_nothing() -> None:
    run = vigil.Monitor(POLICY).run()
    assert run.step(vigil.Call("pay", {"invoice": "12"}, executed=False)) == ()
    key = run.begin(PAY)
    assert run.end(key, "error", executed=False) == ()
    assert run.trace().events == ()


def test_events_that_have_not_ended() -> None:
    run = vigil.Monitor(POLICY).run()
    check = vigil.Event.of("check", {"invoice": "12"}, id="c")
    pay = vigil.Event.of("pay", {"invoice": "12"})
    run.step(check, ended=False)
    run.step(vigil.Event.of("wait"), ended=False)
    assert named(run.propose(pay).broken) == ["checked"]
    run.step([vigil.Event.of("check", {"invoice": "12"}, id="c", status="ok")])
    assert run.propose([pay]).decision == "pass"
    assert [event.id for event in run.trace().events] == ["c", "e2"]
    with pytest.raises(ValueError, match="the id c is that of another event"):
        run.step(check)
    with pytest.raises(ValueError, match="calls or events"):
        run.step(PAY)


def test_what_is_refused() -> None:
    run = vigil.Monitor([POLICY]).run(name="r", cwd="/")
    wrong: Any
    for wrong in (3, "pay", [3], None, {"tool": "pay"}):
        with pytest.raises(TypeError, match="`call` takes a `Call`, an event or several"):
            run.propose(wrong)
        with pytest.raises(TypeError, match="`what` takes"):
            run.step(wrong)
        with pytest.raises(TypeError, match="`call` takes a `Call`"):
            run.begin(wrong)
    with pytest.raises(ValueError, match="`call` has no event"):
        run.propose([])
    with pytest.raises(ValueError, match="no such call"):
        run.end("call-9", "ok")
    key = run.begin(PAY)
    with pytest.raises(ValueError, match="`status` takes"):
        run.end(key, "done")  # type: ignore[arg-type]
    run.end(key, "ok")
    with pytest.raises(ValueError, match="has ended already"):
        run.end(key, "ok")
    deep: Any = 1
    for _ in range(99):
        deep = [deep]
    with pytest.raises(ValueError, match="nested more than"):
        run.propose(vigil.Call("pay", {"a": {"b": deep}}))
    with pytest.raises(TypeError, match=r"ask for `proposal\.decision`"):
        bool(run.propose(PAY))
    with pytest.raises(TypeError, match="`policies` takes"):
        vigil.Monitor(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`name` takes"):
        vigil.Monitor(POLICY).run(name=3)  # type: ignore[arg-type]


def test_a_snapshot_is_the_whole_run() -> None:
    monitor = vigil.Monitor(POLICY)
    run = monitor.run(cwd="/home/ann")
    run.step(vigil.Message("user", "go \ud800 on"))
    run.step(vigil.Call("check", {"invoice": "12", "n": [Decimal("1.50"), 2**80, None, "\ud800"]}, status="ok"))
    run.step(vigil.Call("Bash", {"command": "cd shop"}, status="ok", output="\ud800"))
    key = run.begin(vigil.Call("check", {"invoice": "13"}))
    run.end(run.begin(vigil.Call("check", {"invoice": "14"})), "error", executed=False)
    restored = monitor.restore(run.snapshot())
    assert restored.trace() == run.trace()
    assert restored.snapshot() == run.snapshot()
    for each in (run, restored):
        each.end(key, "ok", "done")
        assert each.begin(PAY) not in (key, None)
    assert restored.trace() == run.trace()
    other = vigil.Monitor(vigil.parse_policy("statement S: abs(check())")).restore(run.snapshot())
    assert named(other.close().broken) == ["S", "S"]


def test_a_snapshot_of_events() -> None:
    monitor = vigil.Monitor(POLICY)
    run = monitor.run()
    run.step(vigil.Event.of("check", {"invoice": "12"}, status="ok"))
    run.step(vigil.Event.of("wait"), ended=False)
    restored = monitor.restore(run.snapshot())
    assert restored.trace() == run.trace()
    assert restored.propose(vigil.Event.of("pay", {"invoice": "12"})).decision == "pass"


@pytest.mark.parametrize(
    "state",
    [
        b"", b"{}", b"[]", b"null", b"\xff", b'[["start",{"path":"r"}],["fly",{}]]', b'[["begin",{"path":"r"}]]',
        b'[["start",{"path":"r"}],["begin",{"key":1}]]', b'[["start",{"path":"r"}],["end",{"key":"c"}]]',
        b'[["start",{"path":"r"}],["begin",{"key":"c","name":"pay","args":' + b"[" * 100_000, b'[["start",3]]',
        b'[["start",{"path":"r"}],["begin events",[{"id":"e","action":"a","call":"e","args":{"a":"text"}}]]]',
    ],
)  # fmt: skip
def test_what_is_no_snapshot_is_refused(state: bytes) -> None:
    with pytest.raises(ValueError, match="is no snapshot"):
        vigil.Monitor(POLICY).restore(state)
    with pytest.raises(TypeError, match="takes the bytes"):
        vigil.Monitor(POLICY).restore("text")  # type: ignore[arg-type]

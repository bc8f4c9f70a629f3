"""One run at an enforcement point, as adapters use it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from vigil_lang.gate.authority.keys import load_key
from vigil_lang.gate.entering import Ended, Entering
from vigil_lang.gate.gate import Gate
from vigil_lang.gate.setup import ensure
from vigil_lang.gate.state import StateError
from vigil_lang.points.session import Session
from vigil_lang.trace.record import Message

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vigil_lang.gate.answer import Answer

POLICY = """
policy payments

/// Somebody confirms a payment.
rule payment: when Pay() then hold

/// What is opened is closed again.
statement closed: resp(Open(file = x), Close(file = x))

/// What is deployed was tested.
statement tested: prec(Deploy(), Test(status = ok))
"""


@pytest.fixture
def session(tmp_path: Path) -> Callable[..., Session]:
    (tmp_path / "payments.vgl").write_text(POLICY, encoding="utf-8")
    ensure(tmp_path / "state")

    def begin(policy: str = "payments", **more: object) -> Session:
        entering = Entering("r1", "agent", policies=(str(tmp_path / f"{policy}.vgl"),))
        return Session(Gate(tmp_path / "state"), entering, **more)  # type: ignore[arg-type]

    return begin


def decided(session: Session, what: str) -> Answer:
    """Somebody approves or denies the payment while the agent waits."""

    def somebody() -> None:
        gate = Gate(session.gate.folder.path)
        while not (holds := gate.holds.listed()):
            pass
        key = load_key(gate.folder.keys / "approver.pem")
        if what == "approve":
            gate.holds.approve(gate.holds.signed([holds[0].id], key))
        else:
            gate.holds.deny(gate.holds.signed_denials([holds[0].id], key))

    person = threading.Thread(target=somebody)
    person.start()
    answer = session.before("Pay", {"amount": 1}, call="c1")
    person.join()
    return answer


def test_calls_pass_block_and_end(session: Callable[..., Session]) -> None:
    run = session()
    assert run.before("Deploy", {}, call="c1").decision.mode == "block"
    assert run.before("Test", {}, call="c2").decision.mode == "pass"
    assert run.after(Ended("Test", {}, "ok", "1 passed", call="c2")) == ()
    assert run.before("Deploy", {}, call="c3").decision.mode == "pass"
    assert run.said(Message("user", "thanks")) == ()
    assert run.turn_ended() == ()
    run.before("Open", {"file": "f"}, call="c4")
    assert [owed.name for owed in run.turn_ended()] == ["closed"]
    run.close()
    assert run.gate.store.runs() == []


def test_a_held_call_passes_once_it_is_confirmed(session: Callable[..., Session]) -> None:
    assert decided(session(wait=30), "approve").decision.mode == "pass"


def test_a_call_that_is_denied_stays_held_and_is_not_asked_for_again(session: Callable[..., Session]) -> None:
    run = session(wait=30)
    answer = decided(run, "deny")
    assert answer.decision.mode == "hold"
    assert answer.hold is not None
    assert answer.hold.state == "denied"
    assert len(run.gate.holds.listed(every=True)) == 1


def test_nobody_waits_unless_asked_to(session: Callable[..., Session]) -> None:
    answer = session().before("Pay", {"amount": 1})
    assert answer.hold is not None
    assert (answer.decision.mode, answer.hold.state) == ("hold", "pending")


def test_what_is_observed_goes_on(session: Callable[..., Session]) -> None:
    run = session(observe=True)
    assert run.before("Deploy", {}, call="c1").decision.mode == "block"
    (broken,) = run.after(Ended("Deploy", {}, "ok", call="c1"))
    assert broken.name == "tested"
    assert [event.status for event in run.gate.trace("r1").events] == ["ok"]


def test_what_fails_blocks_and_raises_nothing(session: Callable[..., Session]) -> None:
    run = session("absent")
    for _ in range(2):
        answer = run.before("Look", {})
        assert (answer.decision.mode, answer.is_fault) == ("block", True)
        assert "absent.vgl" in answer.decision.reasons[0].message
    with pytest.raises(StateError, match=r"absent\.vgl"):
        run.after(Ended("Look", {}))
    assert session().before("Look", {"n": float("nan")}).decision.mode == "block"


def test_threads_may_share_one(session: Callable[..., Session]) -> None:
    run = session()
    failed: list[BaseException] = []

    def call(name: str) -> None:
        try:
            assert run.before("Look", {"at": name}, call=name).decision.mode == "pass"
            run.after(Ended("Look", {"at": name}, "ok", call=name))
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=call, args=(f"c{at}",)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert [event.status for event in run.gate.trace("r1").events] == ["ok"] * 8

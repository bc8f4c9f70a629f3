"""What a monitor remembers has bounds: beyond one, the rule is not judged any more, and says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.engines.interface import Outcome, Rule, Unjudged
from vigil_lang.engines.monitor import MonitorEngine, leaves, memory, monitor, obligations, rules, tables, unrolled
from vigil_lang.semantics import views
from vigil_lang.semantics.policy import read_policy
from vigil_lang.trace import Event

if TYPE_CHECKING:
    from vigil_lang.engines.monitor import RunMonitor

ALWAYS_HOLDS = "statement other: abs(never())"


def following(text: str) -> RunMonitor:
    policy = read_policy(Source("policy.vgl", f"{text}\n{ALWAYS_HOLDS}\n"))
    assert not policy.errors
    return MonitorEngine([Rule(s.name, s.requirement) for s in policy.statements]).run()


def event(number: int, action: str, time: int | None = None, **args: object) -> Event:
    made = Event.of(action, args, id=f"e{number}", call=f"c{number}", status="ok")
    return made if time is None else Event.of(action, args, id=f"e{number}", call=f"c{number}", status="ok", time=time)


def gives_up(run: RunMonitor, events: list[Event], why: str) -> None:
    """The first rule is given up at the last event, with this reason; the other one is judged on."""
    for each in events[:-1]:
        assert not run.step([each]).unjudged
    assert run.propose(events[-1:]).unjudged in ((), (Unjudged(0, why),))
    progress = run.step(events[-1:])
    assert progress.unjudged == (Unjudged(0, why),)
    assert run.verdicts() == (None, "holding")
    assert run.propose([event(1000, "anything")]).unjudged == (Unjudged(0, why),)
    again = run._engine.restore(run.snapshot())
    assert again.verdicts() == (None, "holding")
    refused, other = run.close()
    assert refused == Unjudged(0, why)
    assert isinstance(other, Outcome)


def test_the_values_a_guard_has_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_KEYS", 3)
    run = following("statement S: prec(use(file = x), check(file = x))")
    events = [event(n, "check", file=f"f{n}") for n in range(4)]
    gives_up(run, events, "more than 3 values are to be remembered")


def test_the_values_that_a_count_tells_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_KEYS", 3)
    run = following("statement S: atmost[2](send(to = x))")
    gives_up(run, [event(n, "send", to=f"t{n}") for n in range(4)], "more than 3 values are to be remembered")


def test_the_events_that_have_to_be_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_EVENTS", 3)
    run = following("statement S: prec(cite(quote = x), read(text contains x))")
    why = "more than 3 events, or 20,000,000 characters, are to be remembered whole"
    gives_up(run, [event(n, "read", text="a") for n in range(4)], why)


def test_the_text_that_has_to_be_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_CHARACTERS", 10)
    run = following("statement S: prec(cite(quote = x), read(text contains x))")
    why = "more than 20,000 events, or 10 characters, are to be remembered whole"
    gives_up(run, [event(n, "read", text="abcd") for n in range(3)], why)


def test_the_obligations_that_are_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(obligations, "MOST_OPEN", 3)
    run = following("statement S: resp(open(file = x), close(file = x))")
    gives_up(run, [event(n, "open", file=f"f{n}") for n in range(4)], "more than 3 obligations are open")


def test_the_intervals_that_each_event_may_break(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(obligations, "MOST_UNDECIDED", 3)
    run = following("statement S: until(freeze(), thaw(file = x), edit(file = x))")
    gives_up(run, [event(n, "freeze") for n in range(4)], "more than 3 intervals are open")


def test_the_lists_of_one_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaves, "MOST_COMBINATIONS", 8)
    run = following("statement S: prec(send(to = x, about = y), allow(to = x, about = y))")
    why = "the lists of the event `e1` can be combined in more than 8 ways"
    gives_up(run, [event(1, "send", to=["a", "b", "c"], about=["d", "e", "f"])], why)


def test_runs_that_are_unrolled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unrolled, "MOST_EVENTS", 3)
    run = following("statement S: always a() implies later (b() and later c())")
    why = "it relates events in a way that is judged for runs of up to 3 events"
    gives_up(run, [event(n, "d") for n in range(4)], why)


def test_the_work_of_unrolling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unrolled, "MOST_STEPS", 5)
    run = following("statement S: always a() implies later (b() and later c())")
    gives_up(run, [event(n, "a") for n in range(2)], "it relates events, and values, in too many ways")


def test_what_unrolling_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unrolled, "MOST_KEPT", 12)
    run = following("statement S: always a(f = x) implies later (b(f = x) and later c(f = x))")
    gives_up(run, [event(n, "a", f=f"f{n}") for n in range(3)], "it relates events, and values, in too many ways")


def test_the_work_of_unrolling_is_the_same_after_a_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "statement S: always a(f = x) implies later (b(f = x) and later c(f = x))"
    events = [event(n, "abc"[n % 3], f=f"f{n // 3 % 2}") for n in range(30)]
    for most in range(40, 240, 40):
        monkeypatch.setattr(unrolled, "MOST_STEPS", most)
        run, restored = following(text), following(text)
        for each in events:
            restored = restored._engine.restore(restored.snapshot())
            restored.propose([event(99, "b", f="f1"), event(98, "a", f="new")])
            assert run.step([each]) == restored.step([each])
            assert run.snapshot() == restored.snapshot()


def test_the_events_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST_ENTRIES", 3)
    run = following("statement S: atmost[9](send()) in 10 calls")
    gives_up(run, [event(n, "send") for n in range(4)], "more than 3 events are within the bound")


def test_the_events_at_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MOST_VIOLATIONS", 3)
    gives_up(
        following("statement S: abs(send())"), [event(n, "send") for n in range(4)], "more than 3 events are at fault"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "prec(send(text:find(/a/) = x), check(of = x))",
        "prec(send(of = x), read(text:find(/a/) = x))",
        "resp(open(of = x), send(text:find(/a/) = x))",
        'always open() implies later (send(text:find(/a/) = "a") and later read())',
    ],
)
def test_a_text_that_a_view_does_not_look_at(statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "MAX_SEARCHED", 5)
    run = following(f"statement S: {statement}")
    assert not run.step([event(1, "open", of="a")]).unjudged
    too_long = event(2, "send" if "send(text" in statement else "read", text="aaaaaaaaaa")
    why = "a run cannot be judged: `find` looks at texts of at most 5 characters"
    assert run.propose([too_long]).unjudged in ((), (Unjudged(0, why),))
    assert run.step([too_long]).unjudged == (Unjudged(0, why),)
    assert run.step([event(3, "never")]).breaches[0][:3] == (1, 2, "e3")
    assert run.close()[0] == Unjudged(0, why)


def test_two_events_of_one_id_are_refused_and_leave_nothing() -> None:
    run = following("statement S: prec(use(file = x), check(file = x))")
    before = run.snapshot()
    for ended in (True, False):
        with pytest.raises(ValueError, match="two of the events have one id"):
            run.step([event(1, "check", file="a"), event(1, "check", file="b")], ended=ended)
    assert run.snapshot() == before


def test_an_event_out_of_order_that_concerns_nothing_is_no_fault() -> None:
    run = following("statement S: always deploy(file = x) implies not later[10s] stop(file = x)")
    run.step([event(1, "deploy", 0, file="a"), event(2, "wait", 20)])
    assert not run.step([event(3, "wait", 5)]).unjudged
    why = "the event `e4` comes out of order, within a bound that had passed"
    assert run.step([event(4, "stop", 6, file="a")]).unjudged == (Unjudged(0, why),)


def test_an_event_within_a_bound_that_had_passed() -> None:
    run = following("statement S: bresp[10s](deploy(file = x), test(file = x))")
    events = [event(1, "deploy", 0, file="a"), event(2, "wait", 20), event(3, "test", 5, file="a")]
    assert not run.step(events[:1]).breaches
    assert [breach.id for breach in run.step(events[1:2]).breaches] == ["e1"]
    why = "the event `e3` comes out of order, within a bound that had passed"
    assert run.step(events[2:]).unjudged == (Unjudged(0, why),)


def test_an_event_within_a_bound_of_what_was_forgotten() -> None:
    run = following("statement S: atmost[1](send()) in 10s")
    run.step([event(1, "send", 0), event(2, "send", 5_000)])
    assert not run.step([event(3, "send", 4_900)]).unjudged
    why = "events come out of order, further than is remembered"
    assert run.step([event(4, "send", 3)]).unjudged == (Unjudged(0, why),)


def test_ids_and_calls_of_long_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor, "IDS", 2)
    monkeypatch.setattr(monitor, "CALLS", 2)
    run = following("statement S: prec(use(file = x), check(file = x))")
    for number in range(6):
        run.step([event(number, "check", file="a")])
    with pytest.raises(ValueError, match="'e5' has been judged already"):
        run.step([event(5, "check", file="a")])
    assert not run.step([event(0, "check", file="a")]).breaches


def test_values_beyond_those_that_are_ranked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor, "RANKED", 2)
    run = following("statement S: abs(send(to = x))")
    run.step([event(1, "note", text=["b", "a"])])
    assert run.step([event(2, "send", to=["c", "a"])]).breaches[0].binding == ("a",)
    assert run.step([event(3, "send", to=["z", "y"])]).breaches[0].binding == ("z",)


@pytest.mark.parametrize("state", [b"", b"[]", b"{}", b'{"rules":"x"}', b"\xff"])
def test_what_is_no_snapshot(state: bytes) -> None:
    with pytest.raises(ValueError, match="snapshot"):
        following("statement S: abs(a())")._engine.restore(state)


def test_a_snapshot_of_other_rules() -> None:
    state = following("statement S: abs(a())").snapshot()
    with pytest.raises(ValueError, match="the snapshot is one of other rules"):
        following("statement S: abs(b())")._engine.restore(state)
    with pytest.raises(ValueError, match="the snapshot is damaged"):
        following("statement S: abs(a())")._engine.restore(state.replace(b'"judged":[[', b'"judged":[[1,'))

"""A run in progress: what is proposed, begun, ended, denied and said, and what it comes to."""

from __future__ import annotations

import pytest

from vigil_lang.api import parse_policy
from vigil_lang.enforce.run import MonitoredRun, PolicyMonitor
from vigil_lang.trace import Event, Run
from vigil_lang.trace.record import Call, Message, Result

CHECKED = "statement checked: prec(pay(invoice = x), check(invoice = x, status = ok))"


def started(*statements: str) -> MonitoredRun:
    return PolicyMonitor([parse_policy("\n".join(statements))]).run(Run("r", cwd="/home/ann/shop"))


def made(run: MonitoredRun, key: str, name: str, **args: object) -> None:
    run.begin(Call(key, name, args))
    run.end(Result(key, "ok"))


def names(run: MonitoredRun, name: str, **args: object) -> list[str]:
    return [broken.statement.name for broken in run.propose(Call("pending", name, args)).broken]


def test_a_proposal_says_what_the_call_would_break() -> None:
    run = started(CHECKED)
    proposal = run.propose(Call("c1", "pay", {"invoice": "12"}))
    (broken,) = proposal.broken
    assert (broken.statement.name, broken.offence.event, broken.offence.bindings) == ("checked", "e1", {"x": "12"})
    assert broken.offence.message == "nothing earlier met `check(invoice = x, status = ok)` with `x` = `12`"
    assert proposal.decision == "block"
    assert run.trace.events == ()
    made(run, "c1", "check", invoice="12")
    assert run.propose(Call("c2", "pay", {"invoice": "12"})).decision == "pass"


def test_a_call_in_flight_or_failed_guards_nothing() -> None:
    run = started(CHECKED)
    run.begin(Call("c1", "check", {"invoice": "12"}))
    assert names(run, "pay", invoice="12") == ["checked"]
    run.end(Result("c1", "error"))
    assert names(run, "pay", invoice="12") == ["checked"]


def test_calls_in_flight_end_in_any_order() -> None:
    run = started(CHECKED)
    run.begin(Call("c1", "wait", {}))
    run.begin(Call("c2", "check", {"invoice": "12"}))
    run.end(Result("c2", "ok", "done"))
    assert names(run, "pay", invoice="12") == []
    run.end(Result("c1", "ok"))
    assert [(e.id, e.action, e.status, e.output) for e in run.trace.events] == [
        ("e1", "wait", "ok", None),
        ("e2", "check", "ok", "done"),
    ]


def test_a_denied_call_leaves_nothing() -> None:
    run = started('statement S: abs(action = rm and path ~ "/home/ann/shop/*")')
    run.propose(Call("c1", "Bash", {"command": "cd /srv"}))
    run.deny("c1")
    proposal = run.propose(Call("c2", "Bash", {"command": "rm x"}))
    assert [event.id for event in proposal.events] == ["e1", "e1.1"]
    assert proposal.decision == "block"
    run.begin(Call("c3", "Bash", {"command": "cd /srv"}))
    run.deny("c3")
    assert run.trace.events == ()
    assert run.propose(Call("c4", "Bash", {"command": "rm x"})).decision == "block"


def test_the_strongest_reaction_decides() -> None:
    run = started(
        "@on_violation(warn)\nstatement W: abs(a() or b() or c())",
        "@on_violation(hold)\nstatement H: abs(b() or c())",
        "statement B: abs(c())",
    )
    assert [run.propose(Call("p", name, {})).decision for name in "abcd"] == ["warn", "hold", "block", "pass"]


def test_what_is_told_on_the_way_does_not_take_the_whole_run_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    run = started(CHECKED, "statement few: atmost[1](pay())")
    with monkeypatch.context() as patched:
        patched.setattr("vigil_lang.enforce.run.RunIndex", None)
        made(run, "c1", "pay", invoice="1")
        assert names(run, "pay", invoice="2") == ["checked", "few"]
        made(run, "c2", "pay", invoice="2")
    on_the_way = {(b.statement.name, b.offence.event, b.offence.message) for b in run.broken}
    assert {(b.statement.name, b.offence.event, b.offence.message) for b in run.close().broken} == on_the_way


def test_what_is_owed_is_told_in_words() -> None:
    run = started("statement closed: resp(open(file = x), close(file = x))")
    made(run, "c1", "open", file="a")
    (owed,) = run.pending()
    assert owed.message == "`close(file = x)` with `x` = `a` is owed since `e1`, before the run ends"
    outcome = run.close()
    assert [(b.statement.name, b.offence.event) for b in outcome.broken] == [("closed", "e1")]
    with pytest.raises(ValueError, match="the run is closed"):
        run.propose(Call("c2", "close", {}))


def test_a_message_settles_calls_where_no_call_has_a_result() -> None:
    run = started("statement S: abs(b()) after a()")
    run.begin(Call("c1", "a", {}))
    run.begin(Call("c2", "b", {}))
    found = run.say(Message("user", "go on"))
    assert [broken.statement.name for broken in found] == ["S"]
    assert [event.action for event in run.trace.events] == ["a", "b", "user.message"]
    run.end(Result("c1", "ok", "late"))
    assert run.trace.events[0].output == "late"


def test_a_call_may_have_the_key_of_a_message() -> None:
    run = started("statement S: abs(b()) after a()")
    run.say(Message("user", "hello"))
    made(run, "m1", "a")
    made(run, "m2", "b")
    run.say(Message("user", "and?"))
    assert [event.id for event in run.trace.events] == ["m1", "e1", "e2", "m2"]
    assert [broken.offence.event for broken in run.close().broken] == ["e2"]


def test_a_message_never_takes_the_id_of_an_event() -> None:
    run = started("statement S: abs(b())")
    run.begin([Event.of("a", {}, id="m1", status="ok")])
    with pytest.raises(ValueError, match="the id m1 is that of another event"):
        run.say(Message("user", "hello"))
    assert [event.action for event in run.trace.events] == ["a"]
    assert run.propose([Event.of("c", {})]).decision == "block"


def test_events_of_one_call_have_ids_of_their_own() -> None:
    run = started("statement S: abs(b())")
    twice = [Event.of("a", {}, id="x"), Event.of("b", {}, id="x")]
    for take_in in (run.propose, run.begin):
        with pytest.raises(ValueError, match="the id x is that of another event"):
            take_in(twice)
    assert len(run.trace) == 0


def test_events_take_the_place_of_calls() -> None:
    run = started(CHECKED)
    check = Event.of("check", {"invoice": "12"})
    run.begin([check])
    (event,) = run.trace.events
    assert event.id == "e1"
    run.end([Event.of("check", {"invoice": "12"}, id="e1", status="ok")])
    assert run.propose([Event.of("pay", {"invoice": "12"})]).decision == "pass"
    with pytest.raises(ValueError, match="calls or events"):
        run.propose(Call("c", "pay", {}))


def test_all_that_can_happen_is_in_a_snapshot() -> None:
    run = started(CHECKED)
    run.learn(Run("r", cwd="/srv"))
    run.refuse(Call("c1", "Bash", {"command": "cd /tmp"}))
    run.begin(Call("c2", "Bash", {"command": "rm x"}))
    run.deny("c2")
    made(run, "c3", "Bash", command="rm x")
    run.say(Message("agent", "done"))
    assert [(event.id, event.args.get("path")) for event in run.trace.events] == [
        ("e3", None),
        ("e3.1", ("/srv/x",)),
        ("m1", None),
    ]
    snapshot = run.snapshot()
    for policies in ([parse_policy(CHECKED)], []):
        restored = PolicyMonitor(policies).restore(snapshot)
        assert restored.trace == run.trace
        assert (restored.snapshot() == snapshot) is bool(policies)


def test_denied_events_are_forgotten() -> None:
    run = started("statement S: atmost[1](a())")
    run.begin([Event.of("a", id="one")])
    run.deny("one")
    assert run.propose([Event.of("a")]).decision == "pass"
    run.begin([Event.of("a", id="two")])
    restored = PolicyMonitor([parse_policy("statement S: atmost[1](a())")]).restore(run.snapshot())
    assert [run.propose([Event.of("a")]).decision for run in (run, restored)] == ["block", "block"]


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("pytest && git push", "pass"),
        ("set -e; pytest; git push", "pass"),
        ("cd a; pytest && git push", "pass"),
        ("pytest && (git status; git push)", "pass"),
        ("pytest; ls", "pass"),
        ("pytest; git push", "block"),
        ("pytest || git push", "block"),
        ("pytest | tail; git push", "block"),
        ("pytest & git push", "block"),
        ("if pytest; then :; fi; git push", "block"),
        ("bash -c 'pytest; git push'", "block"),
        ("pytest || " + "make x || " * 40 + "git push", "block"),
    ],
)
def test_a_step_that_may_fail_unnoticed_guards_nothing_after_it(command: str, decision: str) -> None:
    """Where the call succeeds, it has to follow that the guard did; and that a step may fail is not held against it."""
    text = (
        "policy p\nstatement t: prec(git.push(), test.run(status = ok))\nstatement f: abs(test.run(status = error))\n"
    )
    run = PolicyMonitor([parse_policy(text)]).run()
    assert run.propose(Call("c", "Bash", {"command": command})).decision == decision

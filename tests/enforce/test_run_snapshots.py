"""A run that was stored and taken up again goes on as the one that lived on; what is no snapshot is refused."""

from __future__ import annotations

import time
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vigil_lang.api import parse_policy
from vigil_lang.enforce.run import MonitoredRun, PolicyMonitor
from vigil_lang.trace import Event, Run
from vigil_lang.trace.record import Call, Message, Result

if TYPE_CHECKING:
    from collections.abc import Callable

POLICY = parse_policy(
    """
    statement tested: prec(git.push(), test.run(status = ok))
    statement tidy: resp(file.write(path = x), file.delete(path = x))
    @on_violation(warn)
    statement few: atmost[2](file.delete())
    statement calm: until(file.delete(path = x), user.message(), file.write(path = x))
    """
)
MONITOR = PolicyMonitor([POLICY])
COMMANDS = (
    "cd sub",
    "cd /tmp; pushd x",
    "cd -",
    "rm x",
    "rm *.sh",
    "echo 'rm y' > x.sh",
    "echo 'git push' >> x.sh",
    "bash x.sh",
    "cat x.sh",
    "A=b; B=(1 2); f() { rm $A; }",
    "f; rm $A ${B[1]}",
    "set -e; git push | cat",
    "pytest -q",
    "git checkout main",
    "'unclosed",
    "echo \ud800 > \ud800.sh",
)
ACTS = ("propose", "begin", "begin", "end", "end", "late", "refuse", "deny", "say", "learn", "fail")
steps = st.lists(
    st.tuples(
        st.sampled_from(ACTS),
        st.sampled_from(COMMANDS),
        st.sampled_from(("ok", "error", "unknown", "not executed")),
        st.sampled_from(("", "sub")),
        st.integers(0, 5),
    ),
    max_size=14,
)


class Played:
    """One run along the steps; `keys` are those of the calls that were ever begun, `open` those that wait."""

    def __init__(self, run: MonitoredRun) -> None:
        self.run = run
        self.keys: list[str] = []
        self.open: list[str] = []

    def step(self, at: int, act: str, command: str, status: Any, session: str, which: int) -> object:
        call = Call(f"c{at}", "Bash", {"command": command}, at, session=session)
        match act:
            case "propose":
                return self.run.propose(call)
            case "begin":
                self.keys.append(call.key)
                self.open.append(call.key)
                return self.run.begin(call)
            case "end" if self.open:
                key = self.open.pop(which % len(self.open))
                if status == "not executed":
                    return self.run.end(Result(key, executed=False))
                shown = ("rm z\n", "1 failed, 2 passed", "x.sh: command not found", "")[which % 4]
                file = ("x.sh", "git push\n") if which == 5 else None
                return self.run.end(
                    Result(key, status, shown, exit_code=which, cwd="/srv" if which == 4 else None, file=file)
                )
            case "late" if self.keys:
                return failure(lambda: self.run.end(Result(self.keys[which % len(self.keys)], status="ok")))
            case "deny" if self.open:
                return self.run.deny(self.open.pop(which % len(self.open)))
            case "refuse":
                return self.run.refuse(call)
            case "say":
                return self.run.say(Message("user" if which % 2 else "agent", f"go on {which}", at))
            case "learn" if which == 0:
                return self.run.learn(Run("r", cwd="/home/ann/other"))
            case "fail":
                deep: Any = 1
                for _ in range(200 if which == 0 else 1):
                    deep = [deep]
                return failure(lambda: self.run.begin(Call(f"c{at}", "Bash", {"command": deep})))
        return None


def failure(act: Callable[[], object]) -> object:
    try:
        return act()
    except ValueError as error:
        return str(error)


def state_of(run: MonitoredRun) -> tuple[object, ...]:
    return run.broken, run.pending(), run.trace, run.length, run.reports_results


@settings(deadline=None, max_examples=150)
@given(steps, st.integers(0, 3), st.sampled_from([None, "/home/ann/shop"]))
def test_a_run_taken_up_again_answers_as_the_one_that_lived_on(
    script: list[tuple[str, str, str, str, int]], every: int, cwd: str | None
) -> None:
    lived = Played(MONITOR.run(Run("r", cwd=cwd)))
    other = Played(MONITOR.run(Run("r", cwd=cwd)))
    for at, step in enumerate(script):
        assert failure(lambda: lived.step(at, *step)) == failure(lambda: other.step(at, *step))  # noqa: B023
        if at % (every + 1) == 0:
            state = other.run.snapshot()
            other.run = MONITOR.restore(state)
            assert other.run.snapshot() == state
    assert lived.run.snapshot() == other.run.snapshot()
    assert state_of(lived.run) == state_of(other.run)
    assert lived.run.close() == other.run.close()


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y"]), st.booleans(), st.booleans()), max_size=9)
)
def test_a_run_of_events_is_taken_up_again(given_: list[tuple[str, str, bool, bool]]) -> None:
    monitor = PolicyMonitor(
        [parse_policy("statement s: prec(a(v = x), b(v = x)) statement t: resp(b(v = x), c(v = x))")]
    )
    lived, other = monitor.run(), monitor.run()
    for at, (action, value, ends, cut) in enumerate(given_):
        event = Event.of(action, {"v": value}, id=f"n{at}", time=at)
        done = Event.of(action, {"v": value}, id=f"n{at}", time=at, status="ok")
        for run in (lived, other):
            run.begin([event])
        if ends:
            assert lived.end([done]) == other.end([done])
        if cut:
            other = monitor.restore(other.snapshot())
    assert lived.snapshot() == other.snapshot()
    assert state_of(lived) == state_of(other)
    assert lived.close() == other.close()


def some_run() -> MonitoredRun:
    run = MONITOR.run(Run("r", cwd="/home/ann/shop"))
    for at, command in enumerate(COMMANDS):
        run.begin(Call(f"c{at}", "Bash", {"command": command}))
        if at % 3:
            run.end(Result(f"c{at}", "ok", "shown"))
    run.say(Message("user", "go on"))
    return run


def test_a_closed_run_has_no_snapshot() -> None:
    run = some_run()
    run.close()
    with pytest.raises(ValueError, match="the run is closed"):
        run.snapshot()


def test_under_other_policies_the_events_are_judged_anew() -> None:
    other = PolicyMonitor([parse_policy("statement S: abs(git.push())")])
    restored = other.restore(some_run().snapshot())
    pushes = [event.id for event in restored.trace.events if event.action == "git" and "push" in event.args["argv"]]
    assert pushes
    assert [broken.offence.event for broken in restored.close().broken] == pushes
    lost = some_run()
    lost.lose_track("it burnt")
    (doubt,) = other.restore(lost.snapshot()).propose(Call("n", "Bash", {"command": "ls"})).unjudged
    assert doubt.why == "it burnt"


def test_a_damaged_snapshot_is_refused() -> None:
    state = some_run().snapshot()
    for at in range(0, len(state), 7):
        for damaged in (
            state[:at],
            state[:at] + bytes([state[at] ^ 1]) + state[at + 1 :],
            state[:at] + state[at + 1 :],
        ):
            with pytest.raises(ValueError, match="is no snapshot"):
                MONITOR.restore(damaged)


WRONG: tuple[Any, ...] = (None, -1, 10**30, "", "x", [], [[]], {}, {"": 0}, [1, 2], True)


def paths(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    return [way, *(path for key, item in items for path in paths(item, (*way, key)))]


def put(value: Any, way: tuple[Any, ...], what: Any) -> Any:
    if not way:
        return what
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[way[0]] = put(value[way[0]], way[1:], what)
    return copy


def test_a_forged_snapshot_gives_no_other_error_than_that_it_is_none() -> None:
    _, line, lines = some_run().snapshot().split(b"\n", 2)
    state, restored = msgspec.json.decode(line), 0
    for at, way in enumerate(paths(state)[::5]):
        for wrong in WRONG[at % 2 :: 2]:
            head = msgspec.json.encode(put(state, way, wrong))
            hashed = blake2b(lines, digest_size=32)
            hashed.update(hashed.digest() + head)
            forged = b"\n".join([hashed.hexdigest().encode(), head, lines])
            try:
                MONITOR.restore(forged)
                restored += 1
            except ValueError as error:
                assert "is no snapshot" in str(error)  # noqa: PT017 - it may be none, or another run's
    assert restored  # the digest is right


def test_taking_a_run_up_again_costs_hardly_anything_for_each_earlier_call() -> None:
    def took(calls: int) -> float:
        run = MONITOR.run(Run("r", cwd="/home/ann/shop"))
        for at in range(calls):
            run.begin(Call(f"c{at}", "Bash", {"command": f"cat file{at % 50}.txt; pytest"}))
            run.end(Result(f"c{at}", "ok", f"shown {at}"))
        state = run.snapshot()
        best = 1e9
        for _ in range(3):
            began = time.perf_counter()
            MONITOR.restore(state).propose(Call("next", "Bash", {"command": "git push"}))
            best = min(best, time.perf_counter() - began)
        return best

    assert took(2000) - took(10) < 0.1

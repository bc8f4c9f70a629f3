"""Runs at enforcement points, whatever happens in them: docs/gate.md, "Runs at enforcement points".

A process that starts answers as one that lived on; what is told twice changes nothing; and the run that the gate
follows is what really happened.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st
from runs_support import HELD, SKILL, TESTED, Point, names

from vigil_lang.enforce.run import PolicyMonitor
from vigil_lang.gate.entering import Ended
from vigil_lang.gate.request import Request
from vigil_lang.semantics.policy import load_policy
from vigil_lang.trace import Event, Run
from vigil_lang.trace.record import Call, Message, Result

if TYPE_CHECKING:
    from collections.abc import Callable

SKILLS = {"skill": SKILL, "other": 'policy other\nrule payment: when Test(target = "b") then block\n'}
CALLS = st.sampled_from(
    [
        ("Test", {"target": "a"}),
        ("Test", {"target": "b"}),
        ("Deploy", {"target": "a"}),
        ("Pay", {"amount": 1.5}),
        ("Open", {"file": "f"}),
        ("Close", {"file": "f"}),
        ("Read", {"file": "secret"}),
        ("Send", {}),
        ("Bash", {"command": "cd sub && rm x"}),
    ]
)
ENDS = st.sampled_from(["ok", "error", "unknown"])
STEPS = st.lists(
    st.tuples(
        st.just("ask"), CALLS, st.fixed_dictionaries(
            {"named": st.booleans(), "observe": st.booleans(), "session": st.sampled_from(["", "", "sub"])}
        )
    )
    | st.tuples(st.just("run"), ENDS, st.sampled_from(["", "", "never", "other"]))
    | st.tuples(st.just("bypass"), CALLS, st.booleans())
    | st.tuples(st.just("say"), st.sampled_from(["user", "agent"]), st.sampled_from(["go on", "stop"]))
    | st.tuples(st.just("turn"), st.sampled_from(["", "sub"]), st.none())
    | st.tuples(st.sampled_from(["halt", "resume", "enter", "change", "confirm", "deny"]), st.none(), st.none())
    | st.tuples(st.just("extend"), st.sampled_from(list(SKILLS)), st.none()),
    max_size=14,
)  # fmt: skip


class Played:
    """A host along the steps, and what really happened there."""

    def __init__(self, folder: Path, *, restarts: bool = False, times: int = 1) -> None:
        folder.mkdir()
        self.point = Point(folder, tested=TESTED, held=HELD)
        self._restarts = restarts
        self._times = times
        self._asked = 0
        self._running: list[tuple[str, Request]] = []
        self._late: list[Request] = []
        self._held: Any = None
        policies = [load_policy(folder / "work" / f"{name}.vgl") for name in ("tested", "held")]
        self._cwd = str(folder / "work")
        self.happened = PolicyMonitor(policies).run(Run("r1", cwd=self._cwd))
        self.happened.reports_results = True
        self.step("enter", None, None)

    def step(self, what: str, how: Any, more: Any) -> object:
        if self._restarts:
            self.point.gate = self.point.opened()
        return getattr(self, f"_{what}")(how, more)

    def _enter(self, _: Any, __: Any) -> object:
        entering = self.point.entering("tested", "held")
        return first(self._times, lambda: self.point.gate.enter(entering))

    def _ask(self, call: Any, how: Any) -> object:
        self._asked += 1
        (tool, arguments), name = call, f"c{self._asked}"
        named = name if how["named"] else None
        request = Request(
            "r1", "claude", tool, arguments, cwd=self._cwd, call=named, session=how["session"], observe=how["observe"]
        )
        for _ in range(self._times if how["named"] else 1):
            answer = self.point.gate.decide(request)
        if answer.hold is not None:
            self._held = answer.hold
        if answer.decision.mode == "pass" or how["observe"]:
            self.happened.begin(Call(name, tool, arguments, session=how["session"]))
            self._running.append((name, request))
        reasons = [(each.name, each.asks, each.message) for each in answer.decision.reasons]
        return answer.decision.mode, reasons, [(event.action, event.args) for event in answer.events]

    def _run(self, status: Any, how: str) -> object:
        """The oldest call that runs ends; where nobody named it, as the oldest of its kind."""
        if not self._running:
            return None
        name, request = self._running.pop(0)
        given: Any = request.input
        if how == "never":
            self.happened.end(Result(name, executed=False))
        elif how == "other" and request.call is not None:
            given = {"other": name}
            self.happened.end(Result(name, executed=False))
            self.happened.begin(Call(f"{name} as made", request.tool, given, session=request.session))
            self.happened.end(Result(f"{name} as made", status, name))
        else:
            self.happened.end(Result(name, status, name))
        ended = Ended(request.tool, given, status, name, request.call, executed=how != "never", session=request.session)
        return first(self._times if request.call else 1, lambda: names(self.point.gate.ended("r1", ended)))

    def _bypass(self, call: Any, named: bool) -> object:
        """A call is made that nobody asked about."""
        (tool, arguments), self._asked = call, self._asked + 1
        waiting = [*(one for _, one in self._running), *self._late]
        if any((one.tool, one.input) == call and (one.call is None or not named) for one in waiting):
            return None  # it cannot be told from one that was asked about
        name = f"c{self._asked}"
        self.happened.begin(Call(name, tool, arguments))
        self.happened.end(Result(name, "ok", "done"))
        ended = Ended(tool, arguments, "ok", "done", name if named else None)
        return first(self._times if named else 1, lambda: names(self.point.gate.ended("r1", ended)))

    def _say(self, role: Any, text: str) -> object:
        self.happened.say(Message(role, text))
        return names(self.point.gate.say("r1", Message(role, text)))

    def _turn(self, session: str, _: Any) -> object:
        for name, request in self._running:
            if request.session == session:
                self.happened.end(Result(name))
        self._late += [request for _, request in self._running if request.session == session]
        self._running = [one for one in self._running if one[1].session != session]
        return first(self._times, lambda: [each.message for each in self.point.gate.turn_ended("r1", session)])

    def _halt(self, _: Any, __: Any) -> object:
        return [self.point.gate.halt("r1", "enough") for _ in range(self._times)]

    def _resume(self, _: Any, __: Any) -> object:
        return [self.point.gate.resume("r1") for _ in range(self._times)]

    def _change(self, _: Any, __: Any) -> object:
        self.point.write("held", "policy held")
        return first(self._times, lambda: [Path(path).name for path in self.point.gate.changes("r1")])

    def _extend(self, name: str, _: Any) -> object:
        path = self.point.write(name, SKILLS[name])
        return first(self._times, lambda: self.point.gate.extend("r1", [path]))

    def _confirm(self, _: Any, __: Any) -> object:
        return self._decide_hold("approve", "signed")

    def _deny(self, _: Any, __: Any) -> object:
        return self._decide_hold("deny", "signed_denials")

    def _decide_hold(self, what: str, signed: str) -> object:
        held, self._held = self._held, None
        holds = self.point.gate.holds
        if held is None or holds.look(held.id).state != "pending":
            return None
        getattr(holds, what)(getattr(holds, signed)([held.id], self.point.key("approver")))
        return holds.look(held.id).state

    def trace(self) -> list[tuple[object, ...]]:
        return [told(event) for event in self.point.gate.trace("r1").events]

    def really(self) -> list[tuple[object, ...]]:
        return [told(event) for event in self.happened.trace.events]


def first(times: int, tell: Callable[[], object]) -> object:
    """What is said the first time."""
    return [tell() for _ in range(times)][:1]


def told(event: Event) -> tuple[object, ...]:
    """All of an event but its time and the key of its call."""
    return event.id, event.action, event.args, event.status, event.output, event.kinds


@settings(max_examples=15, deadline=None)
@given(STEPS)
def test_a_process_that_starts_goes_on_as_one_that_lived(steps: list[tuple[str, Any, Any]]) -> None:
    with TemporaryDirectory() as folder:
        lived = Played(Path(folder) / "lived")
        started = Played(Path(folder) / "started", restarts=True)
        for step in steps:
            assert unplaced(lived.step(*step), "lived") == unplaced(started.step(*step), "started"), step
        assert lived.point.kinds() == started.point.kinds()
        for each in (lived, started):
            assert each.trace() == each.really()
            each.point.check()


@settings(max_examples=15, deadline=None)
@given(STEPS)
def test_what_is_told_twice_changes_nothing(steps: list[tuple[str, Any, Any]]) -> None:
    with TemporaryDirectory() as folder:
        once = Played(Path(folder) / "once")
        twice = Played(Path(folder) / "twice", times=2)
        for step in steps:
            once.step(*step)
            twice.step(*step)
        assert twice.trace() == twice.really()
        assert [event[:4] for event in unplaced(once.trace(), "once")] == [
            event[:4] for event in unplaced(twice.trace(), "twice")
        ]
        may_repeat = ("decision", "turn_end")
        assert [kind for kind in once.point.kinds() if kind not in may_repeat] == [
            kind for kind in twice.point.kinds() if kind not in may_repeat
        ]
        twice.point.check()


def unplaced(value: Any, folder: str) -> Any:
    """A value without the name of the folder that it comes from."""
    match value:
        case str():
            return value.replace(f"/{folder}/", "/")
        case list() | tuple():
            return type(value)(unplaced(each, folder) for each in value)
        case dict():
            return {name: unplaced(each, folder) for name, each in value.items()}
    return value

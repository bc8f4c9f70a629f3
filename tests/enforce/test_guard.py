"""Guarded callables: what runs, what does not, and what a run remembers of it."""

# ruff: noqa: ARG001, ARG005 - tools have arguments for policies to see

from __future__ import annotations

import asyncio
import contextvars
import functools
import gc
import inspect
import math
import pickle
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import vigil_lang as vigil
from vigil_lang.enforce.run import MonitoredRun

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

CHECKED = "statement checked: prec(pay(invoice = x), check(invoice = x, status = ok))"
ONCE = "statement once: atmost[1](pay())"


def guarding(*statements: str, **options: Any) -> vigil.Guard:
    return vigil.guard(vigil.parse_policy("\n".join(statements)), **options)


def events(guard: vigil.Guard) -> list[tuple[str, str, str | None]]:
    return [(event.action, event.status, event.output) for event in guard.trace().events]


def pay(invoice: str, amount: float = 1) -> str:
    return f"paid {invoice}: {amount}"


def check(invoice: str) -> str:
    return f"checked {invoice}"


# --- what runs and what does not ---------------------------------------------------------------------------


def test_a_blocked_tool_does_not_run() -> None:
    ran: list[str] = []
    guard = guarding(CHECKED)
    guarded = guard.wrap(lambda invoice: ran.append(invoice), name="pay")
    with pytest.raises(vigil.Blocked) as caught:
        guarded("12")
    blocked = caught.value
    assert ran == []
    assert (blocked.tool, blocked.kind, blocked.decision) == ("pay", "statement", "block")
    assert blocked.statements == ("checked",)
    assert blocked.broken[0].offence.bindings == {"x": "12"}
    assert [event.action for event in blocked.events] == ["pay"]
    assert str(blocked) == (
        "`pay` was not called: checked: nothing earlier met `check(invoice = x, status = ok)` with `x` = `12` "
        "(it needs `check(invoice = x, status = ok)` with `x` = `12` first)"
    )
    assert guard.trace().events == ()
    assert str(pickle.loads(pickle.dumps(vigil.Blocked("pay", "fault", why="w")))) == "`pay` was not called: w"


def test_arguments_go_by_the_names_of_parameters_with_defaults() -> None:
    guard = guarding(CHECKED)
    guard.wrap(check)("12")
    assert guard.wrap(pay)(invoice="12") == "paid 12: 1"
    (_, event) = guard.trace().events
    assert event.args == {"invoice": ("12",), "amount": ("1",)}
    assert event.time is not None
    assert events(guard)[1] == ("pay", "ok", "paid 12: 1")


def test_wrong_arguments_are_no_call() -> None:
    guard = guarding(ONCE)
    with pytest.raises(TypeError, match="missing a required argument"):
        guard.wrap(pay)()  # type: ignore[call-arg]
    assert guard.trace().events == ()


def test_a_failed_guard_is_no_guard() -> None:
    guard = guarding(CHECKED)

    @guard.tool(name="check")
    def failing(invoice: str) -> str:
        raise LookupError(f"no {invoice}")

    with pytest.raises(LookupError):
        failing("12")
    assert events(guard) == [("check", "error", "no 12")]
    with pytest.raises(vigil.Blocked):
        guard.wrap(pay)("12")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, asyncio.CancelledError, GeneratorExit])
def test_an_interrupted_call_is_over_and_no_guard(error: type[BaseException]) -> None:
    guard = guarding(CHECKED)

    def interrupted(invoice: str) -> str:
        raise error

    with pytest.raises(error):
        guard.wrap(interrupted, name="check")("12")
    assert events(guard) == [("check", "unknown", None)]
    with pytest.raises(vigil.Blocked):
        guard.wrap(pay)("12")


def test_kinds_are_what_a_tool_does_besides() -> None:
    guard = guarding("statement offline: abs(net.request())")

    @guard.tool(kinds=("net.request",))
    def fetch(url: str) -> str:
        return url

    with pytest.raises(vigil.Blocked, match="offline"):
        fetch("https://example.org")


def test_shell_tools_are_what_their_commands_do() -> None:
    guard = guarding('statement keep: abs(rm(path ~ "/home/ann/keep/*"))', cwd="/home/ann")

    @guard.tool(name="Bash")
    def shell(command: str) -> str:
        return ""

    with pytest.raises(vigil.Blocked, match="keep"):
        shell("cd keep; rm x")
    shell("rm x")
    shell("cd keep")
    with pytest.raises(vigil.Blocked, match="keep"):
        shell("rm x")
    assert [event.id for event in guard.trace().events] == ["e1", "e1.1", "e2", "e2.1"]


# --- reactions ---------------------------------------------------------------------------------------------


def test_a_warning_lets_the_call_pass() -> None:
    told: list[str] = []
    statement = "@on_violation(warn)\nstatement S: abs(pay())"
    guard = guarding(statement, warn=told.append)
    assert guard.wrap(pay)("12").startswith("paid")
    assert told == ["`pay` is called, and S: `pay()` must not happen"]
    assert [broken.statement.name for broken in guard.broken] == ["S"]
    with pytest.warns(vigil.PolicyWarning, match="must not happen"):
        guarding(statement).wrap(pay)("12")


def test_a_warning_that_raises_blocks() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        guard = guarding("@on_violation(warn)\nstatement S: abs(pay())")
        with pytest.raises(vigil.Blocked) as caught:
            guard.wrap(pay)("12")
    assert caught.value.kind == "fault"
    assert guard.trace().events == ()


HOLD = "@on_violation(hold)\nstatement big: abs(pay(amount > 10))"


@pytest.mark.parametrize("answer", [False, None, 1, "yes"])
def test_only_true_lets_a_held_call_pass(answer: object) -> None:
    guard = guarding(HOLD, ask=lambda blocked: answer)
    with pytest.raises(vigil.Blocked) as caught:
        guard.wrap(pay)("12", 20)
    assert caught.value.decision == "hold"
    assert guard.trace().events == ()


def test_a_held_call_is_blocked_where_nobody_can_be_asked() -> None:
    with pytest.raises(vigil.Blocked, match="there is nobody to ask"):
        guarding(HOLD).wrap(pay)("12", 20)


def test_whoever_is_asked_is_told_what_would_be_raised() -> None:
    asked: list[vigil.Blocked] = []

    def ask(blocked: vigil.Blocked) -> bool:
        asked.append(blocked)
        return True

    guard = guarding(HOLD, ask=ask)
    assert guard.wrap(pay)("12", 20) == "paid 12: 20"
    assert [blocked.statements for blocked in asked] == [("big",)]


def test_a_call_that_was_allowed_is_judged_anew() -> None:
    """While somebody is asked, another call uses up what there is."""

    def ask(blocked: vigil.Blocked) -> bool:
        guarded("other", 1)
        return True

    guard = guarding(HOLD, ONCE, ask=ask)
    guarded = guard.wrap(pay)
    with pytest.raises(vigil.Blocked, match="once"):
        guarded("12", 20)
    assert len(guard.trace().events) == 1


def test_nobody_waits_for_an_answer_to_another_call() -> None:
    other = threading.Event()

    def ask(blocked: vigil.Blocked) -> bool:
        return other.wait(10)

    guard = guarding(HOLD, ask=ask)
    guarded = guard.wrap(pay)
    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(guarded, "12", 20)
        guard.wrap(check)("12")
        other.set()
        assert held.result() == "paid 12: 20"


def test_an_answer_that_fails_blocks() -> None:
    def ask(blocked: vigil.Blocked) -> bool:
        raise OSError("no terminal")

    with pytest.raises(vigil.Blocked, match="no terminal") as caught:
        guarding(HOLD, ask=ask).wrap(pay)("12", 20)
    assert caught.value.kind == "fault"


def test_an_awaitable_answer_is_for_asynchronous_tools() -> None:
    async def ask(blocked: vigil.Blocked) -> bool:
        await asyncio.sleep(0)
        return True

    async def paying(amount: int) -> int:
        return amount

    guard = guarding(HOLD, ask=ask)
    assert asyncio.run(guard.wrap(paying, name="pay")(20)) == 20
    with pytest.raises(vigil.Blocked, match="not asynchronous"):
        guard.wrap(pay)("12", 20)


# --- kinds of callables ------------------------------------------------------------------------------------


class Till:
    def __init__(self) -> None:
        self.paid: list[str] = []

    def pay(self, invoice: str) -> None:
        self.paid.append(invoice)

    @classmethod
    def of(cls, invoice: str) -> str:
        return invoice

    @staticmethod
    def refund(invoice: str) -> str:
        return invoice

    def __call__(self, invoice: str) -> str:
        return invoice


class Shop:
    guard = guarding(CHECKED)

    @guard.tool()
    def pay(self, invoice: str) -> str:
        return invoice

    @staticmethod
    @guard.tool()
    def check(invoice: str) -> str:
        return invoice


def test_methods_have_no_argument_for_their_object() -> None:
    shop = Shop()
    with pytest.raises(vigil.Blocked, match="`x` = `12`"):
        shop.pay("12")
    assert (shop.check("12"), shop.pay("12")) == ("12", "12")
    assert [event.args for event in Shop.guard.trace().events] == [{"invoice": ("12",)}] * 2


def test_callables_of_all_sorts() -> None:
    guard = guarding(ONCE)
    till = Till()
    guard.wrap(till.pay, name="bank")("1")
    guard.wrap(Till.of)("2")
    guard.wrap(Till.refund)("3")
    guard.wrap(till)("4")
    guard.wrap(functools.partial(check, "5"))()
    guard.wrap(Path)("/tmp")
    guard.wrap(len)([1, 2])
    guard.wrap(max, name="max")(1, 2)
    found = [(event.action, event.args) for event in guard.trace().events]
    assert found == [
        ("bank", {"invoice": ("1",)}),
        ("of", {"invoice": ("2",)}),
        ("refund", {"invoice": ("3",)}),
        ("Till", {"invoice": ("4",)}),
        ("check", {"invoice": ("5",)}),
        ("Path", {"args": ("/tmp",)}),
        ("len", {"obj": ("1", "2")}),
        ("max", {"args": ("1", "2")}),
    ]
    assert till.paid == ["1"]


def test_arguments_by_place_and_further_ones() -> None:
    def tool(first: int, /, *rest: int, only: str, **further: object) -> None:
        pass

    guard = guarding(ONCE)
    guarded = guard.wrap(tool)
    guarded(1, 2, 3, only="a", more="b")
    guarded(1, only="a", first="clash")
    assert [event.args for event in guard.trace().events] == [
        {"first": ("1",), "rest": ("2", "3"), "only": ("a",), "more": ("b",)},
        {"first": ("1",), "rest": (), "only": ("a",), "further.first": ("clash",)},
    ]


def test_an_argument_named_like_a_parameter_hides_no_other() -> None:
    def tool(first: int, /, **further: object) -> None:
        pass

    guard = guarding('statement s: abs(tool(path = "/etc")) statement t: abs(tool(further = "x"))')
    guarded = guard.wrap(tool)
    for hidden in ({"path": "/etc"}, {"further": "x"}):
        with pytest.raises(vigil.Blocked):
            guarded(1, first="clash", **hidden)
    guarded(1, first="clash", path="/tmp", further="y")
    (event,) = guard.trace().events
    assert event.args == {
        "first": ("1",), "path": ("/tmp",), "further": ("y", "clash"), "further.first": ("clash",),
    }  # fmt: skip


def test_what_a_class_has_beside_the_fields_that_it_inherits_is_not_passed_over() -> None:
    @dataclass
    class Mail:
        to: str

    class Copied(Mail):
        def __init__(self, to: str, copy: str) -> None:
            super().__init__(to)
            self.copy = copy

    def send(mail: Mail) -> None:
        pass

    send = guarding('statement s: abs(send(mail.copy = "eve"))').wrap(send)
    send(Mail("ann"))
    with pytest.raises(vigil.Blocked, match="takes values as JSON has them"):
        send(Copied("ann", "eve"))


def test_the_signature_is_kept() -> None:
    guarded = guarding(ONCE).wrap(pay)
    assert inspect.signature(guarded) == inspect.signature(pay)
    assert (guarded.__name__, guarded.__doc__) == (pay.__name__, pay.__doc__)


@pytest.mark.parametrize("tool", [3, None, "pay", staticmethod(pay), classmethod(pay)])
def test_what_is_no_callable_is_refused(tool: Any) -> None:
    with pytest.raises(TypeError, match="`tool` takes a callable"):
        guarding(ONCE).wrap(tool)


def test_what_is_given_is_checked() -> None:
    guard = guarding(ONCE)
    with pytest.raises(ValueError, match="no name of its own"):
        guard.wrap(lambda: None)
    for more in ({"name": "user.message"}, {"kinds": ["agent.message"]}):
        with pytest.raises(ValueError, match="no tool's call is one"):
            guard.wrap(pay, **more)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="`kinds` takes"):
        guard.wrap(pay, kinds="net.request")
    with pytest.raises(TypeError, match="`ask` takes"):
        guarding(ONCE, ask=3)
    with pytest.raises(TypeError, match="`options` takes"):
        guarding(ONCE, options=3)
    with pytest.raises(ValueError, match="nothing to judge by"):
        vigil.guard([])


# --- values ------------------------------------------------------------------------------------------------


class Colour(Enum):
    RED = "red"


@dataclass
class Order:
    item: str
    lines: tuple[int, ...]


class Sly(str):
    """A text that says it is another."""

    __slots__ = ()

    def __str__(self) -> str:
        return "harmless"

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


def test_values_are_what_json_has_of_them() -> None:
    guard = guarding(ONCE)
    tool = guard.wrap(lambda value: [value][:0], name="tool")
    given = [Colour.RED, Order("tea", (1, 2)), Path("/tmp/x"), b"\xff!", {"b", "a"}, 1.50, Sly("rm"), None, True]
    for value in given:
        tool(value)
    assert [event.args for event in guard.trace().events] == [
        {"value": ("red",)},
        {"value.item": ("tea",), "value.lines": ("1", "2")},
        {"value": ("/tmp/x",)},
        {"value": ("\\xff!",)},
        {"value": ("a", "b")},
        {"value": ("1.5",)},
        {"value": ("rm",)},
        {},
        {"value": ("true",)},
    ]


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no")

    __str__ = __repr__

    def __getattr__(self, name: str) -> object:
        raise RuntimeError("no")


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    "value", [object(), Hostile(), math.nan, nested(200), endless(), {1: 2}, open, (i for i in "ab")], ids=type
)
def test_what_json_has_not_is_not_judged_and_blocked(value: object) -> None:
    ran: list[object] = []
    guard = guarding(ONCE)
    with pytest.raises(vigil.Blocked) as caught:
        guard.wrap(ran.append, name="tool")(value)
    assert caught.value.kind == "fault"
    assert "could not be judged" in str(caught.value)
    assert ran == []
    assert guard.trace().events == ()


def test_what_is_seen_of_arguments_can_be_said() -> None:
    guard = guarding('statement S: abs(send(to = "eve"))')
    mails: list[object] = []

    @guard.tool(name="send", arguments=lambda given: {"to": given["mail"].item})
    def send(mail: Order, connection: object) -> None:
        mails.append(mail)

    send(Order("bob", ()), object())
    with pytest.raises(vigil.Blocked, match="S:"):
        send(Order("eve", ()), object())
    with pytest.raises(vigil.Blocked, match="AttributeError"):
        send("eve", object())  # type: ignore[arg-type]
    assert len(mails) == 1


def test_a_huge_argument_is_judged() -> None:
    guard = guarding('statement S: abs(send(text contains "secret"))')
    guarded = guard.wrap(lambda text: len(text), name="send")
    assert guarded("x" * 3_000_000) == 3_000_000
    with pytest.raises(vigil.Blocked):
        guarded("x" * 3_000_000 + "secret")
    guard.wrap(check)(int("9" * 4000))  # type: ignore[arg-type]
    guard.wrap(check)("\ud800")


def test_a_result_that_cannot_be_read_leaves_a_run_that_cannot_be_judged() -> None:
    guard = guarding(ONCE)
    hostile = Hostile()
    assert guard.wrap(lambda: hostile, name="odd")() is hostile
    with pytest.raises(vigil.Blocked, match="once cannot be judged") as caught:
        guard.wrap(check)("12")
    assert (caught.value.kind, caught.value.unjudged[0].statement.name) == ("fault", "once")
    with pytest.warns(vigil.PolicyWarning, match="once cannot be judged"), guard:
        pass
    assert guard.outcome is not None
    assert not guard.outcome.safe


class HostileError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__


def test_an_error_that_cannot_be_read_is_raised_all_the_same() -> None:
    guard = guarding(ONCE)

    def fails() -> None:
        raise HostileError

    with pytest.raises(HostileError):
        guard.wrap(fails)()
    with pytest.raises(vigil.Blocked, match="could not be read"):
        guard.wrap(check)("12")


def test_recursion_without_end_lets_nothing_pass() -> None:
    guard = guarding("statement S: abs(pay())")

    @guard.tool()
    def down() -> None:
        down()

    with pytest.raises((RecursionError, vigil.Blocked)):
        down()
    with pytest.raises(vigil.Blocked):
        guard.wrap(pay)("12")


def test_outputs() -> None:
    guard = guarding(ONCE)
    results = ["text", None, {"a": [1, 1.5]}, b"bytes", Order("tea", ()), complex(1, 2)]
    for result in results:
        guard.wrap(lambda result=result: result, name="tool", arguments=lambda _: {})()
    assert [output for _, _, output in events(guard)] == [
        "text", None, '{"a":[1,1.5]}', "bytes", '{"item":"tea","lines":[]}', "(1+2j)"
    ]  # fmt: skip


# --- failures of ours --------------------------------------------------------------------------------------


def test_a_failure_to_judge_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = guarding(ONCE)

    def broken(*_: object) -> None:
        raise ZeroDivisionError("bug")

    with monkeypatch.context() as patched:
        patched.setattr(MonitoredRun, "propose", broken)
        with pytest.raises(vigil.Blocked, match="ZeroDivisionError: bug") as caught:
            guard.wrap(pay)("12")
        assert caught.value.kind == "fault"
    guard.wrap(pay)("12")


def test_after_a_failure_to_take_in_nothing_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = guarding(ONCE)

    def broken(*_: object) -> None:
        raise ZeroDivisionError("bug")

    with monkeypatch.context() as patched:
        patched.setattr(MonitoredRun, "_begin", broken)
        with pytest.raises(vigil.Blocked, match="ZeroDivisionError"):
            guard.wrap(check)("12")
    with pytest.raises(vigil.Blocked, match="could not be taken in"):
        guard.wrap(check)("12")


# --- generators --------------------------------------------------------------------------------------------


def test_a_generator_is_called_when_it_starts_and_over_when_it_ends() -> None:
    guard = guarding(CHECKED)

    @guard.tool(name="check")
    def checks(invoice: str) -> Iterator[str]:
        yield "one, "
        yield "two"

    assert inspect.isgeneratorfunction(checks)
    stream = checks("12")
    assert guard.trace().events == ()
    assert next(stream) == "one, "
    with pytest.raises(vigil.Blocked):
        guard.wrap(pay)("12")
    assert list(stream) == ["two"]
    guard.wrap(pay)("12")
    assert events(guard)[0] == ("check", "ok", "one, two")
    with pytest.raises(vigil.Blocked):
        list(guard.tool(name="pay")(checks)("13"))


def test_a_generator_closed_early_has_no_status_and_shows_what_it_yielded() -> None:
    guard = guarding(CHECKED)
    closed: list[str] = []

    @guard.tool(name="check")
    def checks(invoice: str) -> Iterator[dict[str, int]]:
        try:
            yield {"n": 1}
            yield {"n": 2}
            yield {"n": 3}
        finally:
            closed.append(invoice)

    for row in checks("12"):
        if row["n"] == 2:
            break
    gc.collect()
    assert closed == ["12"]
    assert events(guard) == [("check", "unknown", '{"n":1}\n{"n":2}')]


def test_a_generator_is_driven_as_without_a_guard() -> None:
    guard = guarding(ONCE)

    def talks() -> Any:
        got = yield "first"
        try:
            yield got
        except LookupError:
            yield "caught"
        return "done"

    def driven(tool: Callable[[], Any]) -> list[object]:
        stream = tool()
        found = [next(stream), stream.send("sent"), stream.throw(LookupError())]
        with pytest.raises(StopIteration) as stop:
            next(stream)
        return [*found, stop.value.value]

    assert driven(guard.wrap(talks)) == driven(talks)
    assert events(guard) == [("talks", "ok", "firstsentcaughtdone")]


def test_a_generator_that_fails() -> None:
    guard = guarding(ONCE)

    @guard.tool()
    def fails() -> Iterator[str]:
        yield "some"
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        list(fails())
    assert events(guard) == [("fails", "error", "some\ngone")]


# --- asynchronous tools ------------------------------------------------------------------------------------


def test_asynchronous_tools() -> None:
    guard = guarding(CHECKED)

    async def work() -> None:
        @guard.tool(name="check")
        async def checking(invoice: str) -> str:
            await asyncio.sleep(0)
            return invoice

        @guard.tool(name="pay")
        async def paying(invoice: str) -> str:
            return invoice

        assert inspect.iscoroutinefunction(checking)
        begun = asyncio.ensure_future(checking("12"))
        await asyncio.sleep(0)
        with pytest.raises(vigil.Blocked):
            await paying("12")
        await begun
        assert await paying("12") == "12"

    asyncio.run(work())


def test_of_tasks_at_once_only_one_passes() -> None:
    guard = guarding(ONCE)

    @guard.tool(name="pay")
    async def paying(at: int) -> int:
        await asyncio.sleep(0.001)
        return at

    async def work() -> list[object]:
        return await asyncio.gather(*map(paying, range(20)), return_exceptions=True)

    found = asyncio.run(work())
    assert sum(isinstance(each, vigil.Blocked) for each in found) == 19


def test_a_cancelled_task_is_no_guard() -> None:
    guard = guarding(CHECKED)

    @guard.tool(name="check")
    async def checking(invoice: str) -> None:
        await asyncio.sleep(10)

    async def work() -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(checking("12"), 0.01)

    asyncio.run(work())
    assert events(guard) == [("check", "unknown", None)]


def test_asynchronous_generators() -> None:
    guard = guarding(CHECKED)

    @guard.tool(name="check")
    async def checks(invoice: str) -> AsyncIterator[str]:
        yield "one"
        yield "two"

    @guard.tool(name="fails")
    async def fails() -> AsyncIterator[str]:
        yield "some"
        raise OSError("gone")

    async def work() -> None:
        assert inspect.isasyncgenfunction(checks)
        early = checks("11")
        assert await anext(early) == "one"
        await early.aclose()
        assert [each async for each in checks("12")] == ["one", "two"]
        with pytest.raises(OSError, match="gone"):
            [each async for each in fails()]

    asyncio.run(work())
    assert events(guard) == [("check", "unknown", "one"), ("check", "ok", "onetwo"), ("fails", "error", "some\ngone")]
    with pytest.raises(vigil.Blocked):
        guard.wrap(pay)("11")
    guard.wrap(pay)("12")


def test_a_function_that_returns_what_is_awaited() -> None:
    guard = guarding(CHECKED)

    async def inner(invoice: str) -> str:
        return invoice

    guarded = guard.wrap(lambda invoice: inner(invoice), name="check")
    later = guarded("12")
    with pytest.raises(vigil.Blocked):
        guard.wrap(pay)("12")
    assert asyncio.run(later) == "12"
    guard.wrap(pay)("12")


# --- threads, nesting, runs --------------------------------------------------------------------------------


def test_of_threads_at_once_only_one_passes() -> None:
    guard = guarding(ONCE)
    ran: list[int] = []
    together = threading.Barrier(8)
    guarded = guard.wrap(ran.append, name="pay")

    def work(at: int) -> bool:
        together.wait()
        try:
            guarded(at)
        except vigil.Blocked:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(8))) == 1
    assert len(ran) == 1


def test_guarded_tools_call_each_other_and_themselves() -> None:
    guard = guarding("statement shallow: atmost[3](down())", CHECKED)

    @guard.tool()
    def down(depth: int) -> int:
        return depth if depth == 0 else down(depth - 1)

    assert down(2) == 0
    with pytest.raises(vigil.Blocked):
        down(0)

    @guard.tool(name="check")
    def outer(invoice: str) -> str:
        return guard.wrap(pay)(invoice)

    with pytest.raises(vigil.Blocked, match="checked"):
        outer("12")
    assert events(guard)[-1][:2] == ("check", "error")


def test_what_was_decided_of_a_call_in_flight_is_not_asked_of_those_within_it() -> None:
    asked: list[tuple[str, ...]] = []

    def ask(blocked: vigil.Blocked) -> bool:
        asked.append(blocked.statements)
        return True

    guard = guarding("@on_violation(hold)\nstatement S: abs(outer())", CHECKED, ask=ask)

    @guard.tool()
    def outer() -> str:
        guard.wrap(check)("12")
        return guard.wrap(pay)("12")

    assert outer() == "paid 12: 1"
    assert asked == [("S",)]


def test_a_guard_within_a_guard() -> None:
    outer, inner = guarding(ONCE), guarding(CHECKED)
    both = outer.wrap(inner.wrap(pay))
    with pytest.raises(vigil.Blocked, match="checked"):
        both("12")
    assert (len(outer.trace()), len(inner.trace())) == (1, 0)
    inner.wrap(check)("13")
    with pytest.raises(vigil.Blocked, match="once"):
        both("13")
    assert (len(outer.trace()), len(inner.trace())) == (1, 1)


def test_runs_of_their_own() -> None:
    guard = guarding(ONCE)
    guarded = guard.wrap(pay)

    async def conversation(at: int) -> int:
        with guard.run(name=f"run {at}") as run:
            guarded(str(at))
            await asyncio.sleep(0)
            with pytest.raises(vigil.Blocked):
                guarded(str(at))
        assert run.outcome is not None
        return len(run.outcome.trace)

    async def work() -> list[int]:
        return await asyncio.gather(*map(conversation, range(5)))

    assert asyncio.run(work()) == [1] * 5
    assert guard.trace().events == ()
    guarded("own")


def test_a_thread_takes_part_in_a_run_by_its_context() -> None:
    guard = guarding(ONCE)
    guarded = guard.wrap(check)
    with ThreadPoolExecutor(1) as pool, guard.run() as run:
        pool.submit(guarded, "own").result()
        pool.submit(contextvars.copy_context().run, guarded, "run").result()
        assert [event.args["invoice"] for event in run.trace().events] == [("run",)]
    assert [event.args["invoice"] for event in guard.trace().events] == [("own",)]


def test_a_call_in_a_finaliser_during_a_decision_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = guarding(ONCE)
    guarded = guard.wrap(check)
    propose = MonitoredRun.propose
    found: list[BaseException] = []

    def interrupted(self: MonitoredRun, call: Any) -> Any:
        try:
            guarded("from a finaliser")
        except vigil.Blocked as blocked:
            found.append(blocked)
        return propose(self, call)

    monkeypatch.setattr(MonitoredRun, "propose", interrupted)
    guarded("12")
    assert [str(each) for each in found] == [
        "`check` was not called: it could not be judged (RuntimeError: it was called while another call was being "
        "judged)"
    ]
    assert len(guard.trace()) == 1


# --- the end -----------------------------------------------------------------------------------------------

CLOSED = "statement closed: resp(open_file(file = x), close_file(file = x))"


def test_what_is_owed_at_the_end_is_told() -> None:
    told: list[str] = []
    with guarding(CLOSED, warn=told.append) as guard:
        guard.wrap(lambda file: file, name="open_file")("a")
        assert [owed.message for owed in guard.pending()] == [
            "`close_file(file = x)` with `x` = `a` is owed since `e1`, before the run ends"
        ]
    assert told == ["the run is over, and closed: nothing later met `close_file(file = x)` with `x` = `a`"]
    assert guard.outcome is not None
    assert [broken.statement.name for broken in guard.outcome.broken] == ["closed"]


def test_leaving_never_masks_an_error() -> None:
    def warn(_: str) -> None:
        raise OSError

    guard = guarding(CLOSED, warn=warn)

    def body() -> None:
        with guard:
            guard.wrap(check, name="open_file", arguments=lambda _: {"file": "a"})("a")
            raise LookupError

    with pytest.raises(LookupError):
        body()
    assert guard.outcome is not None


def test_nothing_runs_after_the_end() -> None:
    with guarding(ONCE) as guard:
        guarded = guard.wrap(check)
    with pytest.raises(vigil.Blocked, match="the run is closed"):
        guarded("12")


def test_a_violation_that_only_the_result_shows_is_told_afterwards() -> None:
    guard = guarding('statement S: abs(read(output contains "secret"))')
    assert guard.wrap(lambda: "a secret", name="read")() == "a secret"
    assert [broken.offence.event for broken in guard.broken] == ["e1"]
    with pytest.warns(vigil.PolicyWarning, match="the run is over, and S: "), guard:
        pass


def test_what_was_told_before_is_not_told_at_the_end() -> None:
    told: list[str] = []
    with guarding(HOLD, "@on_violation(warn)\nstatement S: abs(pay())", ask=lambda _: True, warn=told.append) as guard:
        guard.wrap(pay)("12", 20)
    assert len(told) == 1
    assert guard.outcome is not None
    assert len(guard.outcome.broken) == 2


def test_a_run_can_be_left_in_another_context() -> None:
    guard = guarding(ONCE)
    run = guard.run()
    contextvars.copy_context().run(run.__enter__)
    run.__exit__(None, None, None)
    assert run.outcome is not None


def test_a_failure_to_close_masks_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = guarding(ONCE)
    monkeypatch.setattr(MonitoredRun, "close", lambda _: 1 / 0)

    def body(error: type[Exception] | None) -> None:
        with guard:
            if error is not None:
                raise error

    with pytest.raises(LookupError):
        body(LookupError)
    with pytest.raises(ZeroDivisionError):
        body(None)


def test_what_is_said_is_part_of_the_run() -> None:
    guard = guarding('statement told: prec(pay(), user.message(text contains "please"))')
    with pytest.raises(vigil.Blocked):
        guard.wrap(pay)("12")
    guard.say("user", "please pay")
    guard.wrap(pay)("12")
    with pytest.raises(ValueError, match="`role` takes"):
        guard.say("system", "no")  # type: ignore[arg-type]


def test_what_decides_on_calls_imports_no_solver_and_no_network() -> None:
    program = """
import sys
before = set(sys.modules)
import vigil_lang as vigil
assert len([m for m in sys.modules if m.startswith("vigil_lang")]) == 1
g = vigil.guard(vigil.parse_policy("statement S: prec(pay(a = x), check(a = x))"))
try:
    g.wrap(lambda a: a, name="pay")(1)
except vigil.Blocked as blocked:
    str(blocked)
network = {"socket", "ssl", "http.client", "urllib.request", "httpx", "anthropic"}
found = {"z3", "pysmt", *network} & (set(sys.modules) - before)
assert not found, found
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)

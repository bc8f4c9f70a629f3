"""What an offence says: why, with which values, and what nearly met what was missing."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.engines.smt.verify import verify
from vigil_lang.runs import read_trace
from vigil_lang.semantics.policy import read_policy

if TYPE_CHECKING:
    from vigil_lang.verdict import Offence


def offences(form: str, *events: dict[str, object], notes: str = "") -> list[Offence]:
    """The offences of one statement on a run of these events, named e1, e2, …"""
    policy = read_policy(Source("p.vgl", f"{notes}\nstatement S: {form}"))
    assert not policy.errors
    lines = [json.dumps(event).encode() + b"\n" for event in events]
    verdict = verify([policy], read_trace(lines, "run.jsonl", "vigil"))
    return [offence for _, offence in verdict.offences()]


def call(action: str, status: str = "ok", **args: object) -> dict[str, object]:
    return {"action": action, "args": args, "status": status}


def misses(offence: Offence) -> list[tuple[str, str]]:
    return [(miss.event, miss.why) for miss in offence.near_misses]


@pytest.mark.parametrize("actions", list(product(["build", "test", "deploy"], repeat=4)))
def test_what_is_said_to_be_missing_is_missing(actions: tuple[str, ...]) -> None:
    form = "always deploy() implies earlier build() and earlier[2] test() and (later test() or later build())"
    for offence in offences(form, *map(call, actions)):
        before, after = actions[: offence.index], actions[offence.index + 1 :]
        lacking = {
            "nothing earlier met `build()`": "build" not in before,
            "nothing earlier met `test()` within 2 calls": "test" not in before[-2:],
            "nothing later met `test()` and nothing later met `build()`": not {"test", "build"} & {*after},
        }
        assert offence.message.split(", or ") == [said for said, is_so in lacking.items() if is_so]


def test_a_least_distance_is_no_nearness() -> None:
    for bound, said in (("3", "within 3 calls"), ("1..1", "exactly 1 call away"), ("2..3", "2 to 3 calls away")):
        (offence,) = offences(f"always deploy() implies earlier[{bound}] test()", call("deploy"))
        assert offence.message == f"nothing earlier met `test()` {said}"


@pytest.mark.parametrize(
    ("form", "events", "why"),
    [
        ("abs(rm())", [call("rm")], "`rm()` must not happen"),
        ("prec(use(f = x), check(f = x))", [call("use", f="M")], "nothing earlier met `check(f = x)` with `x` = `M`"),
        ("resp(use(), check())", [call("use")], "nothing later met `check()`"),
        ("bresp[2](use(), check())", [call("use")], "nothing within 2 calls met `check()`"),
        ("bresp[1](use(), check())", [call("use")], "nothing within 1 call met `check()`"),
        ("bresp[90s](use(), check())", [call("use")], "nothing within 90s met `check()`"),
        ("bresp[2h](use(), check())", [call("use")], "nothing within 2h met `check()`"),
        ("rslv(use(), check())", [call("use")], "the run ended without `check()`"),
        ("until(use(), check(), rm())", [call("use"), call("rm")], "`e2` met `rm()` before anything met `check()`"),
        ("atmost[1](use(f = x))", [call("use", f="M")] * 2, "more than 1 call met `use(f = x)` with `x` = `M`"),
        ("atmost[1](use()) in 5 calls", [call("use")] * 2, "more than 1 call within 5 calls met `use()`"),
        ("atmost[1](use(), distinct f)", [call("use", f=1), call("use", f=2)], "more than 1 value of `f` met `use()`"),
        ("atleast[2](use())", [call("use")], "the run ended with fewer than 2 calls that met `use()`"),
        ("budget[5](pay(), f)", [call("pay", f=6)], "the amounts of `pay()` add up to more than 5"),
        ("budget[5](pay(), f)", [call("pay", f="x")], "`f` is no number, so the total is not known"),
        (
            "until(use(), check(), rm())",
            [call("use"), *[call("rm")] * 3],
            "`e2` and 2 more met `rm()` before anything met `check()`",
        ),
        ("always (use() implies earlier check())", [call("use")], "nothing earlier met `check()`"),
        (
            "always (use() implies (earlier check() or later undo()))",
            [call("use")],
            "nothing earlier met `check()` and nothing later met `undo()`",
        ),
        (
            "always (use() implies (earlier check() and not later rm()))",
            [call("use"), call("rm")],
            "nothing earlier met `check()`, or something later met `rm()`",
        ),
        ("always not (use() and not later check())", [call("use")], "nothing later met `check()`"),
        ("always not (use() and not earlier check())", [call("use")], "nothing earlier met `check()`"),
        ("always (not use() or earlier check())", [call("use")], "nothing earlier met `check()`"),
        (
            "always not (use() and not earlier check() and later rm())",
            [call("use"), call("rm")],
            "nothing earlier met `check()` and something later met `rm()`",
        ),
        (
            "always (use() implies (not rm() since check()))",
            [call("check"), call("rm"), call("use")],
            "nothing earlier met `check()` without `rm()` in between",
        ),
        (
            "always (use() implies (read() until check()))",
            [call("use"), call("rm"), call("check")],
            "nothing later met `check()` with only `read()` in between",
        ),
        # Whether the event itself should have been another is not said where nothing else would have helped.
        ("always not (use() and not f = 1)", [call("use", f=2)], "`not (use() and not f = 1)` does not hold here"),
    ],
)
def test_why_in_words(form: str, events: list[dict[str, object]], why: str) -> None:
    (offence,) = offences(form, *events)
    assert offence.why == offence.message == why


def test_the_policys_own_message_with_its_variables() -> None:
    notes = '@message("`{x}` came too early; {y} and {event} stay")'
    (offence,) = offences("prec(use(f = x), check(f = x))", call("use", f="M"), notes=notes)
    assert offence.message == "`M` came too early; {y} and {event} stay"


def test_until_names_the_forbidden_event_and_looks_for_the_resolver_in_between() -> None:
    (offence,) = offences(
        "until(lock(f = x), unlock(f = x), edit(f = x))",
        call("unlock", f="a"),
        call("lock", f="a"),
        call("unlock", f="b"),
        call("edit", f="a"),
        call("unlock", f="a"),
    )
    assert (offence.event, offence.forbidden) == ("e2", ("e4",))
    assert misses(offence) == [
        ("e5", "meets `unlock(f = x)`, but only after `e4`"),
        ("e3", "f is `b`, not `a`"),
    ]


def test_what_came_on_the_wrong_side_or_too_far_away() -> None:
    (early,) = offences("prec(use(f = x), check(f = x))", call("use", f="M"), call("check", f="M"))
    assert misses(early) == [("e2", "meets `check(f = x)`, but only after `e1`")]
    (late,) = offences("resp(use(f = x), check(f = x))", call("check", f="M"), call("use", f="M"))
    assert misses(late) == [("e1", "meets `check(f = x)`, but only before `e2`")]
    (itself,) = offences("prec(use(), use())", call("use"))
    assert misses(itself) == [("e1", "meets `use()` itself, but a strictly earlier event has to")]
    (far, *_) = offences("bresp[1](use(), check())", call("use"), call("wait"), call("check"))
    assert misses(far) == [("e3", "meets `check()`, but 2 calls away; the bound is 1 call")]


def test_distances_in_time() -> None:
    def at(second: str | None, action: str) -> dict[str, object]:
        return {"action": action} | ({"time": f"2026-01-05T10:00:{second}Z"} if second else {})

    (slow,) = offences("bresp[5s](use(), check())", at("00", "use"), at("07.5", "check"))
    assert misses(slow) == [("e2", "meets `check()`, but 7500ms away; the bound is 5s")]
    (timeless,) = offences("bresp[5s](use(), check())", at("00", "use"), at(None, "check"))
    assert misses(timeless) == [("e2", "meets `check()`, but without a time, and the bound is 5s")]


@pytest.mark.parametrize(
    ("guard", "event", "why"),
    [
        ("check(f = x)", call("check", f="N"), "f is `N`, not `M`"),
        ("check(f = x)", call("check", f=["N", "O"]), "f is `N` and `O`, not `M`"),
        ("check(f = x)", call("check"), "carries no f"),
        ("check(f = x and status = ok)", call("check", "error", f="M"), "its status is error, not ok"),
        ("check(f = x and has g)", call("check", f="M"), "carries no g"),
        ("check(f = x and g = 1)", call("check", f="M", g=2), "g is `2`, not `1`"),
        ("check(f = x and g in {a, b})", call("check", f="M", g="c"), "g is `c`, not `a` or `b`"),
        ("check(f = x and g not in {a, b})", call("check", f="M", g="a"), "g is `a`, which is excluded"),
        ("check(f = x and g > 3)", call("check", f="M", g=2), "g is `2`, not > 3"),
        ('check(f = x and g ~ "*.csr")', call("check", f="M", g="a"), "g is `a`, which does not match `*.csr`"),
        ("check(f = x and g !~ /^a/i)", call("check", f="M", g="a"), "g is `a`, which matches `/^a/i`"),
        ('check(f = x and g contains "z")', call("check", f="M", g="a"), "g does not contain `z`"),
        ("check(g contains x)", call("check", g="N"), "g does not contain `M`"),
        ("check(f = x and not g = 1)", call("check", f="M", g=1), "g is `1`, which is excluded"),
        ("check(f = x and not has g)", call("check", f="M", g=1), "it carries g, which is excluded"),
        ("check(f = x and not status = ok)", call("check", f="M"), "its status is ok, which is excluded"),
        ("f = x and action = check", call("look", f="M"), "is `look`, not `check`"),
        ('f = x and action ~ "ch*"', call("look", f="M"), "is `look`, which does not match `ch*`"),
        ("f = x and not action = look", call("look", f="M"), "it is `look`, which is excluded"),
        ("check(f = x) or look(f = x)", call("check", f="N"), "f is `N`, not `M`"),
    ],
)
def test_what_kept_an_event_from_being_the_guard(guard: str, event: dict[str, object], why: str) -> None:
    (offence,) = offences(f"prec(use(f = x), {guard})", event, call("use", f="M"))
    assert ("e1", why) in misses(offence)


@pytest.mark.parametrize(
    ("guard", "event"),
    [
        ("check(f = x)", call("look", f="N")),  # another action that touched nothing of interest
        ("check(f = x and g = 1)", call("check", f="N", g=2)),  # two things are wrong
        ("check(f = x and not (g = 1 and h = 1))", call("check", f="M", g=1, h=1)),  # no one thing to name
    ],
)
def test_what_is_no_near_miss(guard: str, event: dict[str, object]) -> None:
    (offence,) = offences(f"prec(use(f = x), {guard})", event, call("use", f="M"))
    assert misses(offence) == []


def test_long_texts_are_cut_and_many_values_counted() -> None:
    (offence,) = offences(
        "prec(use(f = x), check(f = x))", call("check", f=["a", "b", "c", "d", "e"]), call("use", f="M" * 200)
    )
    assert misses(offence) == [("e1", f"f is `a`, `b`, `c` and 2 more, not `{'M' * 40}…{'M' * 39}`")]


def test_what_came_in_between_and_what_was_not_counted() -> None:
    edited = [call("test"), call("edit"), call("test", "error"), call("commit")]
    [offence] = offences("always commit() implies not edit() since test(status = ok)", *edited)
    assert misses(offence) == [
        ("e1", "meets `test(status = ok)`, but `e2` in between is not as asked for"),
        ("e3", "its status is error, not ok"),
    ]
    [offence] = offences("atleast[2](review(status = ok))", call("review", "error"), call("review"))
    assert misses(offence) == [("e1", "its status is error, not ok")]

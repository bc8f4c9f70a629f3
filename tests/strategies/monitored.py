"""Statements and runs on which it can be found out what is known for certain: few events meet every condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st
from msgspec.structs import replace

from vigil_lang.trace import Event

if TYPE_CHECKING:
    from collections.abc import Iterable

VALUES = ("M", "N")
TRIGGERS = (
    "a(f = x)",
    "a(f = x)",
    "a()",
    'a(f = "M")',
    "a(f = x, status = ok)",
    "a(f = x, g = y)",
    "a(f contains x, g = x)",
)
GUARDS = ("b(f = x)", "b(f = x)", "b()", 'b(f = "M")', "b(f = x, status = ok)", "b(g = x)", "b(f = x, g = y)")
FORBIDDEN = ("c(f = x)", "c()", 'c(g = "M")')
SCOPES = ("", "", "", " after d()", " after d(f = x)", ' after d(g = "M")')
BOUNDS = ("1", "2", "3", "1 steps", "2 steps")
TIMES = ("1s", "30s")


@st.composite
def plain_policies(draw: st.DrawFn, *, timed: bool = True) -> str:
    """One statement of a form whose conditions can be met at any time, under any value, and be missed."""
    trigger, guard, forbidden, scope = (draw(st.sampled_from(some)) for some in (TRIGGERS, GUARDS, FORBIDDEN, SCOPES))
    bound = draw(st.sampled_from((*BOUNDS, *TIMES) if timed else BOUNDS))
    # What takes more than three events to be violated is not found by trying what may follow.
    count = "1" if scope else draw(st.sampled_from("12"))
    distinct = draw(st.sampled_from(("", "", ", distinct g")))
    span = draw(st.sampled_from(("", "", " in 2 calls", " in 3 steps", f" since {guard}")))
    form = draw(
        st.sampled_from(
            (
                f"abs({trigger})",
                f"prec({trigger}, {guard})",
                f"resp({trigger}, {guard})",
                f"rslv({trigger}, {guard})",
                f"bresp[{bound}]({trigger}, {guard})",
                f"until({trigger}, {guard}, {forbidden})",
                f"atmost[{count}]({trigger}{distinct}){span}",
                f"budget[5]({trigger}, n){span}",
                f"atleast[{count}]({trigger}{distinct})",
            )
        )
    )
    # Variables that only what is asked for has are bound where it is asked for.
    free = [x for x in "xy" if f"= {x}" in form + scope and f"= {x}" not in trigger]
    if form.startswith("atleast"):
        free = [x for x in "xy" if f"= {x}" in form + scope]
        binding = ", ".join(f"{field} = {x}" for field, x in zip("gf", free, strict=False))
        scope = f" after d({binding})" if free else scope
    elif free:
        binding = ", ".join(f"g = {x}" for x in free)
        form = form.replace(trigger, f"{trigger[:-1]}{', ' if trigger[-2] != '(' else ''}{binding})")
    return f"statement S: {form}{scope}"


@st.composite
def plain_runs(draw: st.DrawFn, *, timed: bool = True, max_size: int = 5) -> tuple[Event, ...]:
    """A run in order: calls one after another, times that do not run backwards."""
    events: list[Event] = []
    call = time = 0
    for at in range(draw(st.integers(0, max_size))):
        call += draw(st.integers(0, 2)) > 0
        time += draw(st.sampled_from((0, 1_000_000, 40_000_000)))
        names = [name for name in "fg" if draw(st.integers(0, 3))]
        args = {name: draw(st.sampled_from((("M",), ("N",), ("M", "N"), ("M",)))) for name in names}
        if draw(st.booleans()):
            args["n"] = (draw(st.sampled_from(("1", "3", "9"))),)
        status = draw(st.sampled_from(("ok", "ok", "error")))
        action = draw(st.sampled_from("aabbcde"))
        events.append(Event(f"e{at}", action, f"c{call}", args, status, None, (), time if timed else None))
    return tuple(events)


def in_order(runs: st.SearchStrategy[tuple[Event, ...]]) -> st.SearchStrategy[tuple[Event, ...]]:
    """Runs in which each event is a call of its own."""
    return runs.map(lambda events: tuple(_apart(events)))


def _apart(events: Iterable[Event]) -> Iterable[Event]:
    return (replace(event, call=event.id) for event in events)

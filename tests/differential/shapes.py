"""Every preset form, ground and bound to a value, and long runs that stress them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.strategies.policies import policy_of
from vigil_lang.trace import Event, Trace

if TYPE_CHECKING:
    from vigil_lang.semantics.core import Requirement

FORMS = {
    "abs": "abs({t})",
    "prec": "prec({t}, {g})",
    "resp": "resp({t}, {g})",
    "bresp calls": "bresp[5]({t}, {g})",
    "bresp many calls": "bresp[100000]({t}, {g})",
    "bresp seconds": "bresp[5s]({t}, {g})",
    "bresp days": "bresp[30d]({t}, {g})",
    "rslv": "rslv({t}, {g})",
    "until": "until({t}, {g}, {b})",
    "atmost": "atmost[2]({t})",
}
CONDITIONS = {
    "ground": {"t": "use()", "g": "check()", "b": "drop()", "after": "begin()"},
    "bound": {"t": "use(f = x)", "g": "check(g = x)", "b": "drop(h = x)", "after": "begin(k = x)"},
}


def requirement_of(form: str) -> Requirement:
    """The requirement of one statement's text."""
    (statement,) = policy_of(f"statement S: {form}").statements
    return statement.requirement


def preset(form: str, binding: str = "bound", *, scoped: bool = False) -> Requirement:
    """A preset form over `use`, `check`, `drop`, judged only after `begin` where it is scoped."""
    names = CONDITIONS[binding]
    return requirement_of(FORMS[form].format(**names) + (f" after {names['after']}" if scoped else ""))


KINDS = {
    "in turn": (("begin",), ("check",), ("use",), ("drop",)),
    "everything at once": (("begin", "check", "use", "drop"),),
}


def long_run(size: int, values: str = "distinct", kinds: str = "in turn", *, clock: str = "even") -> Trace:
    """A run of `size` one-event calls, an event a second.

    `values`: each four events share a value of their own (`distinct`), or all events share one (`equal`).
    `kinds`: an event is each of the four actions in turn, or all of them (`everything at once`).
    """
    cycle = KINDS[kinds]
    width = len(KINDS["in turn"]) if kinds == "in turn" else 1
    events = []
    for at in range(size):
        value = ("M" if values == "equal" else f"v{at // width}",)
        time = None if clock == "none" or (clock == "gap" and at == size // 2) else 1_000_000 * at
        args = {"f": value, "g": value, "h": value, "k": value}
        events.append(Event(f"e{at}", "step", f"c{at}", args, "ok", None, cycle[at % len(cycle)], time))
    return Trace(tuple(events))

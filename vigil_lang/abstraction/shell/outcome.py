"""How a piece of a text may end, and what is then known of the commands so far.

This is what statuses rest on. An outcome has a way for each end that is possible, and a way knows the commands that
ran and those that succeeded or failed *whenever* the piece ends like that. What holds for several ways is what holds
for each. Commands are bits of an integer, by their index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from vigil_lang.abstraction.shell.state import UNKNOWN

if TYPE_CHECKING:
    from vigil_lang.abstraction.shell.state import ShellState

OK, FAIL = "ok", "fail"
"""The ends of a piece after which the next one runs."""
EXIT_OK, EXIT_FAIL = "exit ok", "exit fail"
RETURN_OK, RETURN_FAIL = "return ok", "return fail"
"""Other ends are ``break`` and ``continue`` with the number of loops."""


class Facts(NamedTuple):
    """Sets of commands as bits: those that ran, that succeeded, that failed."""

    ran: int = 0
    ok: int = 0
    error: int = 0

    def __or__(self, other: Facts) -> Facts:
        return Facts(self.ran | other.ran, self.ok | other.ok, self.error | other.error)

    def __and__(self, other: Facts) -> Facts:
        return Facts(self.ran & other.ran, self.ok & other.ok, self.error & other.error)


class Way(NamedTuple):
    """One way to come to a point: what is known of the commands, and the shell's state.

    A way that is not `likely` is the failure of a `cd`: its state is passed over where another way leads to the
    same point, as nobody writes ``cd x; ls`` for the case that there is no x.
    """

    facts: Facts
    state: ShellState
    likely: bool = True


Outcome = dict[str, Way]


def join(*ways: Way | None) -> Way | None:
    """What holds whichever way was taken; None for none."""
    joined: Way | None = None
    for way in ways:
        if way is None:
            continue
        if joined is None:
            joined = way
            continue
        if joined.likely == way.likely:
            state = join_states(joined.state, way.state)
        else:
            state = joined.state if joined.likely else way.state
        joined = Way(joined.facts & way.facts, state, joined.likely or way.likely)
    return joined


def join_states(one: ShellState, other: ShellState) -> ShellState:
    """What is the same in both; a variable or a function that is not becomes unknown."""
    if one is other:
        return one
    variables = one.variables
    if variables is not other.variables:
        names = dict.fromkeys((*variables, *other.variables))
        variables = {
            name: variables[name] if name in variables and variables[name] == other.variables.get(name) else UNKNOWN
            for name in names
        }
    functions = one.functions
    if functions is not other.functions:
        known = other.functions
        names = dict.fromkeys((*functions, *known))
        functions = {name: functions.get(name) if functions.get(name) == known.get(name) else None for name in names}
    return replace(
        one,
        cwd=one.cwd if one.cwd == other.cwd else None,
        variables=variables,
        functions=functions,
        previous=one.previous if one.previous == other.previous else None,
        pushed=one.pushed if one.pushed == other.pushed else (),
        arguments=one.arguments if one.arguments == other.arguments else None,
        errexit=one.errexit if one.errexit == other.errexit else None,
        pipefail=one.pipefail if one.pipefail == other.pipefail else None,
    )


def add(outcome: Outcome, end: str, way: Way | None) -> None:
    """Note another way to an end."""
    joined = join(outcome.get(end), way)
    if joined is not None:
        outcome[end] = joined


def merge(*outcomes: Outcome) -> Outcome:
    """What may come of any of several pieces."""
    merged: Outcome = {}
    for outcome in outcomes:
        for end, way in outcome.items():
            add(merged, end, way)
    return merged


def enclosed(outcome: Outcome, state: ShellState) -> Outcome:
    """An outcome of a subshell: it ends there, and its state with it."""
    ended: Outcome = {}
    for end, way in outcome.items():
        outer = way._replace(state=state, likely=True)
        if end.endswith("ok") or not end.endswith("fail"):
            add(ended, OK, outer)
        else:
            add(ended, FAIL, outer)
    return ended


def only_ran(way: Way, outcome: Outcome) -> Facts:
    """The facts before and the commands that run in any case, without how they end."""
    after = join(*outcome.values())
    return way.facts if after is None else way.facts | Facts(after.facts.ran)


def forget(state: ShellState, outcome: Outcome) -> ShellState:
    """A state in which whatever a piece changes is unknown."""
    for way in outcome.values():
        state = join_states(state, way.state)
    return state

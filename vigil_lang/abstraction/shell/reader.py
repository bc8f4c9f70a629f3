"""The way in: a text and a state give the commands."""

from __future__ import annotations

from vigil_lang.abstraction.shell.limits import MAX_TEXT, Budget, Exceeded
from vigil_lang.abstraction.shell.outcome import EXIT_FAIL, EXIT_OK, OK, Facts, Outcome, Way, join, join_states
from vigil_lang.abstraction.shell.state import Command, Reading, ShellState
from vigil_lang.abstraction.shell.walk import Draft, Walker

_MAX_TRAPS = 20
_UNKNOWN = ShellState(cwd=None, errexit=None, pipefail=None)


def read_shell(text: str, state: ShellState, *, fed: bool = False) -> Reading:
    """The commands that a text runs in a shell of that state, in order; `fed` where it has something to read.

    Commands in substitutions come before the command they stand in. Assignments alone are no commands. A call of a
    function, and `eval` of a known text, is the commands in it.
    """
    if len(text) > MAX_TEXT:
        return Reading((), _UNKNOWN, _UNKNOWN, (f"longer than {MAX_TEXT:,} characters: not read",))
    budget = Budget()
    if "\0" in text:
        budget.tell("it has NUL bytes, which no shell can be given")
        text = text.replace("\0", "")
    walker = Walker(state, budget, fed)
    outcome: Outcome = {}
    try:
        outcome = walker.walk(walker.parse(" " + text.replace("\r\n", "\n"), 1), Way(Facts(), state))
        outcome = _traps(walker, outcome, state)
    except Exceeded as limit:
        budget.tell(f"read only in part: {limit}")
        walker.cut = True
    if walker.cut:
        outcome = {}
    last = join(outcome.get(OK), outcome.get(EXIT_OK)) or join(*outcome.values())
    after = last.state if last else _UNKNOWN
    if budget.malformed:
        outcome, after = {}, join_states(state, after)
    statuses = _Statuses(outcome)
    commands = tuple(statuses.command(index, draft) for index, draft in enumerate(walker.drafts))
    partly = _UNKNOWN if walker.cut else join_states(walker.partly, after)
    return Reading(commands, after, partly, tuple(budget.trouble))


def _traps(walker: Walker, outcome: Outcome, state: ShellState) -> Outcome:
    """What traps would run, at the end: whether it does is not known. One that exits decides how the line ends."""
    end = join(*outcome.values()) or Way(Facts(), state)
    decided = False
    at = 0
    while at < len(walker.traps):  # what a trap runs may set another
        if at == _MAX_TRAPS:
            walker.budget.tell(f"more than {_MAX_TRAPS} traps")
            break
        text, at = walker.traps[at], at + 1
        ends = walker.walk(walker.parse(text, 1), end)
        decided = decided or EXIT_OK in ends or EXIT_FAIL in ends
    if decided:
        return {kind: way._replace(facts=Facts(way.facts.ran)) for kind, way in outcome.items()}
    return outcome


class _Statuses:
    """What the ends of a line say of its commands."""

    def __init__(self, outcome: Outcome) -> None:
        nothing = Way(Facts(), _UNKNOWN)
        plain = [way for end, way in outcome.items() if not end.startswith("exit")]
        self.ok = (join(*(way for end, way in outcome.items() if not end.endswith("fail"))) or nothing).facts
        self.error = (join(*(way for end, way in outcome.items() if end.endswith("fail"))) or nothing).facts
        self.ran = (join(*(plain or outcome.values())) or nothing).facts.ran

    def command(self, index: int, draft: Draft) -> Command:
        bit = 1 << index
        return Command(
            draft.words,
            draft.assignments,
            draft.redirects,
            draft.cwd,
            draft.excerpt,
            "ok" if self.ok.ok & bit else "error" if self.ok.error & bit else "unknown",
            "ok" if self.error.ok & bit else "error" if self.error.error & bit else "unknown",
            bool(self.ran & bit),
            draft.piped_from,
            draft.piped_to,
            draft.line,
            draft.rebound,
            draft.variables,
            draft.after,
            draft.fed,
        )

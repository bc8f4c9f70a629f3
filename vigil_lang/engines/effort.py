"""Limits on the time and memory of a verdict, in proportion to the size of its run.

Beyond them the verdict is refused with a finding; a statement is never judged on a part of its bindings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vigil_lang.base.structs import Mutable
from vigil_lang.diagnostics import Diagnostic, Source, TooCostly

if TYPE_CHECKING:
    from vigil_lang.trace import Trace

MAX_STEPS: Final = 6_000_000
"""Steps, a few microseconds each, that all statements may take on the runs of one recording; more for a large one:"""
STEPS_PER_EVENT: Final = 120
STEPS_PER_RUN: Final = 200

MAX_PARTS: Final = 250_000
"""Facts, definitions and bindings of one statement on one run, a few kilobytes each; more for a large one:"""
CHARACTERS_A_PART: Final = 4

SOLVED: Final = 2
"""What a definition or a condition counts for: the solver keeps them, too."""

RUN: Final = 250
STATEMENT: Final = 70
VIOLATION: Final = 400
SHOWN: Final = 4
OFFENCE: Final = 30
"""Steps that a run takes, a statement on it (and one for each of its tests), a violated one until it is shown (and more
for each of its tests), an offence until it is explained."""


class Effort(Mutable):
    """Steps that were taken on the runs of one recording, and that may be."""

    taken: int = 0
    most: int = MAX_STEPS
    _for_runs: int = 0

    def begin(self, trace: Trace) -> None:
        """Go on to the next run."""
        self.taken += RUN
        self._for_runs += STEPS_PER_RUN + STEPS_PER_EVENT * len(trace)
        self.most = max(MAX_STEPS, self._for_runs)


class Work:
    """The work on one statement on one run."""

    def __init__(self, effort: Effort, trace: Trace, name: str) -> None:
        self.at = 0
        """The index of the event that is looked at: what a refusal names."""
        self._effort = effort
        self._trace = trace
        self._name = name
        self._room = max(MAX_PARTS, trace.characters // CHARACTERS_A_PART)

    def spend(self, steps: int) -> None:
        """Take so many steps.

        Raises:
            TooCostly: VGL003, they are too many.
        """
        effort = self._effort
        effort.taken += steps
        if effort.taken > effort.most:
            help_text = "judge fewer statements at a time (`--statement`), or some that join fewer values"
            raise self._refusal(f"it takes more than {effort.most:,} steps", help_text)

    def make(self, parts: int) -> None:
        """Reserve memory for so many facts, definitions or bindings; each counts as a step, too.

        Raises:
            TooCostly: VGL003, they are too many.
        """
        self._room -= parts
        if self._room < 0:
            raise self._no_room()
        effort = self._effort
        effort.taken += parts
        if effort.taken > effort.most:
            self.spend(0)

    def hold(self, parts: int) -> None:
        """Reserve memory for so many for a while. Raises as `make`."""
        if parts > self._room:
            raise self._no_room()

    def _no_room(self) -> TooCostly:
        help_text = "use fewer variables, or values in their place"
        return self._refusal("the values of its variables can be combined in too many ways", help_text)

    def _refusal(self, why: str, help_text: str) -> TooCostly:
        events = self._trace.events
        where = f" at `{events[self.at].id}`" if self.at < len(events) else ""
        shown = f"`{self._name}`" if self._name else "a statement"
        message = f"{shown} cannot be judged{where}: {why}"
        return TooCostly([Diagnostic.of("VGL003", message, Source(self._trace.run.path, ""), help=help_text)])

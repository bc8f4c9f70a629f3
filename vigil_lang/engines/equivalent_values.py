"""Values that no test of a statement can tell apart on a run: one of them speaks for all.

Two texts that the same events carry in the same fields have the same truth under every condition that compares a
variable with these fields. The first of them in the run's order is the one that a first failing binding has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vigil_lang.trace import Trace


class EquivalentValues:
    """For each variable of a requirement the values of a run by those that stand for them."""

    def __init__(
        self,
        theta: core.Theta,
        variables: Iterable[str],
        conditions: Iterable[core.Holds],
        trace: Trace,
        values: Sequence[str],
    ) -> None:
        """`values` are those a variable can have, in the order of bindings."""
        tests = [t for holds in conditions for t in core.tests(holds.condition)]
        searched = {t.variable for t in tests if isinstance(t, core.Contains | core.ComparesWith)}
        for body in core.bodies(theta):
            if isinstance(body, core.Where):
                searched.update(core.named_in_where(body.condition))
        rank = {value: at for at, value in enumerate(values)}
        self._first: dict[str, dict[str, str]] = {}
        for variable in variables:
            if variable not in searched:
                equal = (t for t in tests if isinstance(t, core.Equals) and t.variable == variable)
                fields = dict.fromkeys(t.field for t in equal)
                self._first[variable] = _first_alike(list(fields), trace, rank)

    def one_for(self, variable: str, value: str) -> str:
        """The value that stands for another; itself where `contains`, an order test or `where` looks at it."""
        return self._first.get(variable, {}).get(value, value)


def _first_alike(fields: list[core.Reads], trace: Trace, rank: dict[str, int]) -> dict[str, str]:
    """Each value that some event carries in one of the fields, with the first that stands in all the same places."""
    group: dict[str, int] = {}  # a number that only values share which stood in the same places so far
    numbers: dict[tuple[int, int], int] = {}
    for place, (event, field) in enumerate((event, field) for event in trace.events for field in fields):
        for value in dict.fromkeys(texts(field, event)):
            group[value] = numbers.setdefault((group.get(value, 0), place), len(numbers) + 1)
    first: dict[int, str] = {}
    for value in sorted(group, key=rank.__getitem__):
        first.setdefault(group[value], value)
    return {value: first[number] for value, number in group.items()}

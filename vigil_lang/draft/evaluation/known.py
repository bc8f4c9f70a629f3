"""Values worth a try: those that tests name, that patterns match, and that tell patterns apart."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from vigil_lang.engines.smt.outcomes import texts_apart
from vigil_lang.semantics import core
from vigil_lang.testing.sample_events import matching
from vigil_lang.trace.values import canonical

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from decimal import Decimal

_EACH: Final = 24
"""Texts of one test."""

_PATTERNS: Final = 8
"""Patterns of one argument for which texts are sought that some match and others do not."""


@dataclass(frozen=True, slots=True)
class Known:
    """Values by argument, and those of outputs."""

    arguments: Mapping[str, Sequence[str]]
    outputs: Sequence[str]


def known_values(tests: Iterable[core.Test], whole: Collection[str] = ()) -> Known:
    """The values that some tests suggest; those of `whole` arguments are whole numbers where they are numbers."""
    by_field: dict[tuple[str, bool], list[core.Test]] = {}
    for test in tests:
        if not isinstance(test, core.ActionIn | core.ActionMatches | core.StatusIs | core.Equals | core.Contains):
            by_field.setdefault((test.field.name, test.field.output), []).append(test)
    found = {field: _values(list(dict.fromkeys(own)), field[0] in whole) for field, own in by_field.items()}
    arguments = {name: values for (name, output), values in found.items() if not output}
    return Known(arguments, [value for (_, output), values in found.items() if output for value in values])


def _values(tests: Sequence[core.Test], whole: bool) -> list[str]:
    found: dict[str, None] = {}
    patterns = tuple([test.matcher for test in tests if isinstance(test, core.Matches)])
    if len(patterns) > 1:
        found.update(dict.fromkeys(texts_apart(patterns[:_PATTERNS])))
    for test in tests:
        match test:
            case core.In(_, values):
                found.update(dict.fromkeys(sorted(values)[:_EACH]))
            case core.Matches(_, matcher):
                found.update(dict.fromkeys(matching(matcher)[:_EACH]))
            case core.ContainsText(_, text):
                found.update(dict.fromkeys((text, f"see {text}")))
            case _:
                pass
    limits = sorted({test.number for test in tests if isinstance(test, core.Compares)})
    return list(dict.fromkeys([*found, *map(canonical, _around(limits, whole))]))


def _around(limits: Sequence[Decimal], whole: bool) -> Iterator[Decimal]:
    """The limits, what lies beside each, and what lies between two; no fractions where all limits are `whole`."""
    for limit in limits:
        yield from (limit - 1, limit, limit + 1)
    if not whole or any(limit % 1 for limit in limits):
        yield from ((one + two) / 2 for one, two in pairwise(limits))

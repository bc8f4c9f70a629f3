"""Runs that tell two requirements apart: invented, short, and judged as any run is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice, product
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec.structs import replace

from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import Judgement
from vigil_lang.semantics import core
from vigil_lang.testing.sample_events import FILLER, distinct, near_misses, samples, values_for
from vigil_lang.trace.event import Trace
from vigil_lang.trace.values import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.semantics.denotation import Binding
    from vigil_lang.trace.event import Event

Line: TypeAlias = "tuple[Event, ...]"

MAX_EVENTS: Final = 2_500
"""Events of the runs tried for one pair."""

MAX_TESTS: Final = 200
MAX_VARIABLES: Final = 5
"""Statements with more of them are not searched: each run would take too long."""

_MORE: Final = 600
"""Events of runs tried for a verdict that differs once a run is known of which only the events at fault do."""

_POOL: Final = 12
_LONGEST: Final = 60
"""Repetitions or calls in between that a bound may ask for."""

SECOND: Final = 1_000_000
"""In microseconds."""


@dataclass(frozen=True, slots=True)
class Telling:
    """A run of which two requirements say different things: the indices of the events at fault, by each."""

    trace: Trace
    before: tuple[int, ...]
    after: tuple[int, ...]


Verdict: TypeAlias = Telling | Literal["same", "unknown"]


def tell(before: core.Requirement, after: core.Requirement, most: int = MAX_EVENTS) -> Verdict:
    """A run that tells the requirements apart; `same` where the solver says there is none, else `unknown`.

    `most` is how many events all runs that are tried may have.
    """
    tests = sum(len(core.tests(h.condition)) for h in core.conditions(before.theta))
    if tests > MAX_TESTS or len(before.variables) > MAX_VARIABLES:
        return "unknown"
    pairs = _changed(before.theta, after.theta)
    found = _Search(before, after, pairs, most).found()
    if found is None and pairs and all(_same(one, two) for one, two in pairs):
        return "same"
    return found or "unknown"


def _changed(before: core.Theta, after: core.Theta) -> list[tuple[core.Condition, core.Condition]] | None:
    """The conditions that differ where the bodies are built alike; None where they are not."""
    one, two = core.conditions(before), core.conditions(after)
    if _shape(before) != _shape(after) or len(one) != len(two):
        return None
    pairs = ((a.condition, b.condition) for a, b in zip(one, two, strict=True))
    return list(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))


def _shape(theta: core.Theta) -> object:
    match theta:
        case core.Holds():
            return "holds"
        case core.Not(body):
            return "not", _shape(body)
        case core.And(items) | core.Or(items):
            return type(theta).__name__, *map(_shape, items)
        case core.Implies(left, right) | core.Clear(left, right):
            return type(theta).__name__, _shape(left), _shape(right)
        case core.Earlier(body, bound) | core.Later(body, bound):
            return type(theta).__name__, bound, _shape(body)
        case core.Since(left, right, bound, weak) | core.Until(left, right, bound, weak):
            return type(theta).__name__, bound, weak, _shape(left), _shape(right)
        case core.Repeated(count, body, bound, reset, distinct):
            return "repeated", count, bound, distinct, _shape(body), reset and _shape(reset)
        case core.Exceeds(limit, field, body, bound, reset):
            return "exceeds", limit, bound, field, _shape(body), reset and _shape(reset)
        case core.Where() | core.Last():
            return theta


def _same(one: core.Condition, two: core.Condition) -> bool:
    """Whether the solver is certain that no event tells two conditions apart."""
    from vigil_lang.analysis.satisfiable import contradiction  # imports the solver

    both = ((one, core.NotC(two)), (core.NotC(one), two))
    return all((found := contradiction(pair)) is not None and not found.only_lists for pair in both)


class _Search:
    """Short runs made of events that the conditions suggest, shortest first."""

    def __init__(
        self,
        before: core.Requirement,
        after: core.Requirement,
        pairs: list[tuple[core.Condition, core.Condition]] | None,
        most: int,
    ) -> None:
        self.before, self.after = before, after
        variables = tuple(dict.fromkeys((*before.variables, *after.variables)))
        self._holds = list(dict.fromkeys((*core.conditions(before.theta), *core.conditions(after.theta))))
        tests = [t for h in self._holds for t in core.tests(h.condition)]
        one, two = _tests_in_where(before.theta), _tests_in_where(after.theta)
        missed = [test for test in dict.fromkeys((*one, *two)) if (test in one) != (test in two)]
        values = {x: values_for(x, tests, [*one, *two], missed) for x in variables}
        self._named: list[Binding] = [{x: values[x][at] for x in variables} for at in (0, 1)[: len(variables) + 1]]
        self._left = most
        self._telling = self._where_they_differ(pairs) if pairs else []
        self._pool = self._events()

    def found(self) -> Telling | None:
        """The first run of which the verdicts differ, else of which the events at fault do."""
        second: Telling | None = None
        for line in self._lines():
            for trace in self._timed(line):
                self._left -= 1 + len(trace.events)
                if self._left < 0:
                    return second
                told = self._compared(trace)
                if told is None:
                    continue
                if bool(told.before) != bool(told.after):
                    return told
                if second is None:
                    second = told
                    self._left = min(self._left, _MORE)
        return second

    def _compared(self, trace: Trace) -> Telling | None:
        index = RunIndex(trace)
        before, after = (offending(requirement, index) for requirement in (self.before, self.after))
        return Telling(trace, before, after) if before != after else None

    # --- events ---

    def _where_they_differ(self, pairs: Iterable[tuple[core.Condition, core.Condition]]) -> list[Event]:
        found: list[Event] = []
        for one, two in pairs:
            for binding in self._named:
                found += islice(samples(core.AndC((one, core.NotC(two))), binding), 3)
                found += islice(samples(core.AndC((two, core.NotC(one))), binding), 3)
        return distinct(found)[: _POOL // 2]

    def _events(self) -> list[Event]:
        met = (event for b in self._named for h in self._holds for event in islice(samples(h.condition, b), 2))
        missed = (e for b in self._named[:1] for h in self._holds for e in islice(near_misses(h.condition, b), 4))
        return distinct(chain(self._telling, self._counted(), met, missed))[:_POOL]

    def _counted(self) -> Iterator[Event]:
        """Events of which the amounts, or the values that are counted, matter."""
        for theta in (self.before.theta, self.after.theta):
            for body in core.bodies(theta):
                if isinstance(body, core.Exceeds):
                    texts = [canonical(body.limit), canonical(body.limit + 1), "1"]
                    yield from self._with_values(body.body, body.field, texts)
                elif isinstance(body, core.Repeated) and body.distinct is not None:
                    yield from self._with_values(body.body, body.distinct, [f"v{n}" for n in range(2)])

    def _with_values(self, body: core.Theta, field: core.Reads, texts: Iterable[str]) -> Iterator[Event]:
        """One event for each text: it meets the first condition of a body, and has the text in a field."""
        for text, holds in product(texts, core.conditions(body)[:1]):
            wanted = core.AndC((holds.condition, core.In(field, frozenset({text}))))
            yield from islice(samples(wanted, self._named[0]), 1)

    # --- runs ---

    def _lines(self) -> Iterator[Line]:
        prefixes = self._prefixes()
        for length in (1, 2, 3):
            for prefix in prefixes:
                for chosen in product(self._pool, repeat=length):
                    # Where conditions differ, a run without an event that shows it says the same of both.
                    if not self._telling or any(event in self._telling for event in (*prefix, *chosen)):
                        yield (*prefix, *chosen)
                        yield from self._stretched(prefix, chosen)

    def _prefixes(self) -> list[Line]:
        """What may have to come first: the event that a scope waits for, as many calls as are allowed."""
        found: list[Line] = [()]
        scopes = [h for h in self._holds if h.role == "scope"]
        if scopes:
            found += [(event,) for event in islice(samples(scopes[0].condition, self._named[0]), 1)]
        for count in dict.fromkeys(repetitions(self.before.theta) + repetitions(self.after.theta)):
            if 1 < count <= _LONGEST:
                triggers = [h for h in self._holds if h.role in ("trigger", "counted")] or self._holds[:1]
                events = [*islice(samples(triggers[0].condition, self._named[0]), 1)] if triggers else []
                found += [(*start, *[event] * (count - 1)) for event in events for start in tuple(found)]
        for body in dict.fromkeys((*core.bodies(self.before.theta), *core.bodies(self.after.theta))):
            if isinstance(body, core.Repeated) and body.distinct is not None and body.count <= _LONGEST:
                texts = [f"v{n}" for n in range(1, body.count)]
                found.append(tuple(self._with_values(body.body, body.distinct, texts)))
        return found

    def _stretched(self, prefix: Line, chosen: Line) -> Iterator[Line]:
        """Calls between the first and the second event, as many as some bound counts."""
        if len(chosen) != 2:
            return
        limits = self._limits(core.Calls) + self._limits(core.Steps)
        for count in dict.fromkeys(n for limit in limits for n in (limit - 1, limit)):
            if 0 < count <= _LONGEST:
                yield (*prefix, chosen[0], *[FILLER] * count, chosen[1])

    def _limits(self, kind: type[core.Calls | core.Steps | core.Within]) -> list[int]:
        known = [b for theta in (self.before.theta, self.after.theta) for b in bounds(theta) if isinstance(b, kind)]
        ends = {end for b in known for end in (b.microseconds if isinstance(b, core.Within) else b.count, b.least)}
        return sorted(ends - {0, core.FAR})

    def _timed(self, line: Line) -> Iterator[Trace]:
        """The run, and where a bound is a time, with every event as much later than the one before."""
        gaps: Sequence[int | None] = self._limits(core.Within) or [None]
        for gap in gaps if gaps == [None] else [*gaps, gaps[-1] + SECOND]:  # type: ignore[operator]
            yield Trace(
                tuple(
                    replace(e, id=f"e{at + 1}", call=f"e{at + 1}", time=None if gap is None else at * gap)
                    for at, e in enumerate(line)
                )
            )


def offending(requirement: core.Requirement, index: RunIndex) -> tuple[int, ...]:
    """The indices of a run's events at fault by a requirement."""
    return tuple(violation.event for violation in Judgement(requirement, index).violations())


def _tests_in_where(theta: core.Theta) -> list[core.Test]:
    return [test for body in core.bodies(theta) if isinstance(body, core.Where) for test in core.tests(body.condition)]


_BOUNDED = (core.Earlier, core.Later, core.Since, core.Until, core.Repeated, core.Exceeds)


def bounds(theta: core.Theta) -> list[core.Bound]:
    """The bounds of the operators in a body; None for one without."""
    return [body.bound for body in core.bodies(theta) if isinstance(body, _BOUNDED)]


def repetitions(theta: core.Theta) -> list[int]:
    """How many calls are counted in a body."""
    return [body.count for body in core.bodies(theta) if isinstance(body, core.Repeated)]

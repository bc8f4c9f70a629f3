"""The part of a run that decides whether one event fails a requirement under one binding.

Θ is evaluated at the event; each operator in it asks its bodies at other places, within a range that its bound and
the place determine. The slice keeps, of each such range, the events at which a condition of the body holds; where a
body can be true although none of its conditions holds, it keeps the whole range.

On the slice every body has the truth it has on the run, wherever it is asked at a kept event. By induction on the
body:

- Conditions, and tests of the variables, speak of the event or the binding alone; where *last* is asked for, the last
  event is kept. `not`, `and`, `or` and `implies` ask their bodies at the same event.
- Every other operator asks whether a body holds at some place within its range (of `Θ since Θ′`, what breaks Θ), or
  counts such places. A place in the range that is not kept meets no condition of the body, which is then false there:
  it neither makes nor breaks anything. A kept place has the same truth by induction; one outside the range is as far
  away as in the run.
- Distances stay what they are. Times stand in the events. Where some bound counts events, all between the first and the
  last that are kept are kept; where one counts calls, so is the first event of each call from the first that is kept
  on: calls are numbered by these.
- Asked at one place only, `earlier ψ` and `later ψ` need one event that meets ψ, or none, and the interval of `until`
  the next forbidden event and the next resolver.

Whatever else is kept (near misses) changes none of this: the induction never asks that a kept event matters.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from vigil_lang.semantics import core
from vigil_lang.trace import Trace
from vigil_lang.trace.event import MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lang.engines.index import Key
    from vigil_lang.engines.indexed import Judgement


def deciding(judgement: Judgement, at: int, binding: Key, also: Iterable[int] = ()) -> list[int]:
    """The events, by their indices in order, that decide about an event under a binding, and some others.

    On the run of these alone the requirement holds at that event under that binding exactly if it does on the whole.

    Raises:
        TooCostly: as the judgement does.
    """
    slicing = _Slicing(judgement, binding)
    slicing.kept |= {at, *also}
    slicing.ask(judgement.requirement.theta, at, at)
    slicing.keep_distances()
    return sorted(slicing.kept)


def subrun(trace: Trace, places: Iterable[int]) -> Trace:
    """The run of these events alone, given by their indices in order; ids stay what they are."""
    return Trace(tuple([trace.events[place] for place in places]), trace.run)


class _Slicing:
    """The events kept so far."""

    def __init__(self, judgement: Judgement, binding: Key) -> None:
        self._judgement = judgement
        self._binding = binding
        self._trace = judgement.trace
        self._end = len(judgement.trace) - 1
        self.kept: set[int] = set()

    def ask(self, theta: core.Theta, low: int, high: int) -> None:
        """Keep what the truth of a body at the kept events among [low, high] depends on."""
        match theta:
            case core.Holds() | core.Where():
                pass
            case core.Last():
                self.kept.add(self._end)
            case core.Earlier(core.Holds() as body, bound) | core.Later(core.Holds() as body, bound) if low == high:
                self._witness(body, bound, low, past=isinstance(theta, core.Earlier))
            case core.Clear(core.Holds() as resolver, core.Holds() as forbidden) if low == high:
                self._witness(resolver, None, low, past=False)
                self._witness(forbidden, None, low, past=False)
            case core.Earlier(body, bound):
                self._elsewhere(body, self._first(bound, low), high - 1)
            case core.Later(body, bound):
                self._elsewhere(body, low + 1, self._last(bound, high))
            case core.Clear():
                for body in core.children(theta):
                    self._elsewhere(body, low + 1, self._end)
            case core.Since(_, right, bound):
                for body in (right, self._judgement.breakers(theta)):
                    self._elsewhere(body, self._first(bound, low), high - 1)
            case core.Until(_, right, bound):
                for body in (right, self._judgement.breakers(theta)):
                    self._elsewhere(body, low + 1, self._last(bound, high))
            case core.Repeated(bound=bound) | core.Exceeds(bound=bound):
                for body in core.children(theta):
                    self._elsewhere(body, self._first(bound, low), high)
            case _:
                for body in core.children(theta):
                    self.ask(body, low, high)

    def _elsewhere(self, body: core.Theta, low: int, high: int) -> None:
        """Keep what a body that is asked at [low, high] depends on, of these places too."""
        if low > high:
            return
        if _silent(body) is False:
            for holds in _own(body):
                places = self._judgement.positions(holds, self._binding)
                self.kept.update(places[bisect_left(places, low) : bisect_right(places, high)])
        else:
            self.kept.update(range(low, high + 1))
        self.ask(body, low, high)

    def _witness(self, body: core.Holds, bound: core.Bound, at: int, *, past: bool) -> None:
        """Keep the nearest event on one side at which a condition holds, or with a bound one that is within it."""
        places = self._judgement.positions(body, self._binding)
        low, high = (0, bisect_left(places, at)) if past else (bisect_right(places, at), len(places))
        ranks = self._judgement.near(bound, places, low, high, at)
        nearest = reversed(ranks) if past and isinstance(ranks, range) else iter(ranks)
        self.kept.update(places[rank] for rank in (next(nearest, None),) if rank is not None)

    def _first(self, bound: core.Bound, at: int) -> int:
        """The first place that may be within a bound of a place, or of a later one."""
        index, trace = self._judgement.index, self._trace
        match bound:
            case core.Steps(count):
                return max(0, at - count)
            case core.Calls(count) if index.calls_ordered:
                return bisect_left(trace.call_index, trace.call_index[at] - count)
            case core.Within(microseconds) if index.times_ordered:
                return bisect_left(range(at), self._time(at) - microseconds, key=self._time)
        return 0

    def _last(self, bound: core.Bound, at: int) -> int:
        """The last place that may be within a bound of a place, or of an earlier one."""
        index, trace = self._judgement.index, self._trace
        match bound:
            case core.Steps(count):
                return min(self._end, at + count)
            case core.Calls(count) if index.calls_ordered:
                return bisect_right(trace.call_index, trace.call_index[at] + count) - 1
            case core.Within(microseconds) if index.times_ordered:
                places = range(len(trace))
                return bisect_right(places, self._time(at) + microseconds, key=self._time) - 1
        return self._end

    def _time(self, at: int) -> int:
        time = self._trace.events[at].time
        assert time is not None, "times are ordered only where every event has one"
        return time

    def keep_distances(self) -> None:
        """Keep the events without which those kept would be nearer to each other in a unit that the rule counts in."""
        theta = self._judgement.requirement.theta
        units = {type(getattr(body, "bound", None)) for body in core.bodies(theta)}
        size = 0
        while size < len(self.kept):
            size = len(self.kept)
            if core.Steps in units:
                self.kept.update(range(min(self.kept), max(self.kept) + 1))
            if core.Calls in units:
                self.kept.update(self._firsts_of_calls())

    def _firsts_of_calls(self) -> Iterator[int]:
        """The first event of each call from the first that is kept to the last."""
        ordinals = self._trace.call_index
        first, last = min(ordinals[at] for at in self.kept), max(ordinals[at] for at in self.kept)
        next_call = max(first, 0)
        for at, ordinal in enumerate(ordinals):
            if ordinal >= next_call and self._trace.events[at].action not in MESSAGES:
                if ordinal > last:
                    return
                next_call = ordinal + 1
                yield at


def _silent(theta: core.Theta) -> bool | None:
    """What a body is at an event at which none of its conditions on that event holds; None where that depends."""
    match theta:
        case core.Holds():
            return False
        case core.Not(body):
            inner = _silent(body)
            return None if inner is None else not inner
        case core.And(items) | core.Or(items):
            decisive = isinstance(theta, core.Or)
            found = [_silent(item) for item in items]
            return decisive if decisive in found else None if None in found else not decisive
        case core.Implies(left, right):
            return _silent(core.Or((core.Not(left), right)))
        case _:
            return None


def _own(theta: core.Theta) -> Iterator[core.Holds]:
    """The conditions of a body on the event at which it is asked."""
    match theta:
        case core.Holds():
            yield theta
        case core.Not() | core.And() | core.Or() | core.Implies():
            for body in core.children(theta):
                yield from _own(body)

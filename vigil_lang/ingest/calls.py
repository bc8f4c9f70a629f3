"""Pairing results with their calls by the ids a recording gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import field

from vigil_lang.base.structs import Mutable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.trace.record import Call, Record, Result

_RECENT = 64
"""Calls whose result can still be added to: more would keep the outputs of a long run in memory."""

MAX_EARLY = 1000
"""Results that may wait for their call."""


class Keys(Mutable):
    """Makes keys that are unique in a run out of ids that may be used again: ``a``, ``a#2``, …"""

    _next: dict[str, int] = field(default_factory=dict)
    """By key, the number that the next one made out of it would get."""

    def new(self, base: str) -> str:
        """The id itself if no key is equal to it, else with a number behind it."""
        key, number = base, self._next.get(base, 1)
        while key in self._next:
            key, number = f"{base}#{number}", number + 1
        self._next[base] = max(number, 2)
        self._next.setdefault(key, 2)
        return key


class Calls(Mutable):
    """The calls read so far. An id used again is another call; results may come early, in parts or repeatedly."""

    _made: Keys = field(default_factory=Keys)
    _keys: dict[str, str] = field(default_factory=dict)
    """The key of the latest call of each id."""
    _early: dict[str, Result] = field(default_factory=dict)
    _recent: dict[str, Result] = field(default_factory=dict)
    """The results of the latest calls by key."""

    def issue(self, given: str | None, call: Call) -> Iterator[Record]:
        """A call under its recorded id, with a key of its own, and its result where that came first."""
        call.key = self._made.new(given or call.name)
        yield call
        if given:
            self._keys[given] = call.key
            early = self._early.pop(given, None)
            if early:
                yield from self.settle(given, early)

    def settle(self, given: str, result: Result) -> Iterator[Record]:
        """A result under its call's recorded id. What it does not say stays as an earlier one said it."""
        if given not in self._keys:
            self._early[given] = _merged(self._early.get(given), result)
            if len(self._early) > MAX_EARLY:
                del self._early[next(iter(self._early))]
            return
        result.key = self._keys[given]
        result = _merged(self._recent.pop(result.key, None), result)
        self._recent[result.key] = result
        if len(self._recent) > _RECENT:
            del self._recent[next(iter(self._recent))]
        yield result

    def knows(self, given: str | None) -> bool:
        """Whether a call with that id was issued."""
        return given in self._keys

    def key(self, given: str) -> str:
        """The key of the latest call with that id; the id itself where there is none."""
        return self._keys.get(given, given)

    def so_far(self, given: str) -> Result | None:
        """What is known of the result of a recent call."""
        return self._recent.get(self._keys.get(given, "")) or self._early.get(given)


def _merged(before: Result | None, result: Result) -> Result:
    """The later result, completed by the earlier one. A new object: the earlier was handed out."""
    if before:
        result.status = before.status if result.status == "unknown" else result.status
        result.output = before.output if result.output is None else result.output
        result.exit_code = before.exit_code if result.exit_code is None else result.exit_code
        result.cwd = result.cwd or before.cwd
        result.file = result.file or before.file
        result.executed = result.executed and before.executed
    return result

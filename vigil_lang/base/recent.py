"""A memory of what was used lately."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

_Key = TypeVar("_Key", bound="Hashable")
_Value = TypeVar("_Value")


class Recent(Generic[_Key, _Value]):
    """The last `room` things that were put in or asked for, at least, and never more than twice as many."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._now: dict[_Key, _Value] = {}
        self._before: dict[_Key, _Value] = {}

    def get(self, key: _Key) -> _Value | None:
        """What was put in under a key; None where that is forgotten."""
        found = self._now.get(key)
        if found is None and (found := self._before.get(key)) is not None:
            self.put(key, found)
        return found

    def put(self, key: _Key, value: _Value) -> None:
        """Remember something."""
        if len(self._now) >= self._room:
            self._before, self._now = self._now, {}
        self._now[key] = value

    def __len__(self) -> int:
        return len(self._now.keys() | self._before.keys())

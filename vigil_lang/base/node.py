"""The base of trees: immutable records that are cheap to define, to make and to match on.

A policy's tree and its core have some sixty node types. `msgspec.Struct` defines each in C; generating the methods of
as many dataclasses takes longer than reading and checking a policy.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct


class Node(Struct, frozen=True, eq=False, gc=False):
    """An immutable record. Fields in `_ASIDE` say where a node came from and take no part in equality.

    The garbage collector is spared them: what cannot change is made of what was there before, never of itself.
    """

    _ASIDE: ClassVar[frozenset[str]] = frozenset({"span"})

    def _meaning(self) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in self.__struct_fields__ if name not in self._ASIDE])

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self._meaning() == other._meaning())

    def __ne__(self, other: object) -> bool:  # Struct has one of its own, by identity
        return not self == other

    def __hash__(self) -> int:
        return hash((type(self), self._meaning()))


class Plain(Struct, frozen=True, cache_hash=True, gc=False, tag=True, tag_field="is"):
    """An immutable record that is data through and through: as JSON it says by its member `is` what it is.

    Equality and hash are those of the type and all fields, each hash worked out once.
    """

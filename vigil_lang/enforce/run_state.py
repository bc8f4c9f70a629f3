"""A run in progress as it is stored: a digest, what its later calls need, and the events of calls that are over.

The digest (of all that follows) and the state are a line each, and each such call is another: they are read when they
are needed first, so that taking a run up again costs hardly anything for each call that it had.
"""

from __future__ import annotations

from decimal import Decimal
from hashlib import blake2b
from typing import Literal, TypeAlias

import msgspec

from vigil_lang.abstraction.state import AbstractionState
from vigil_lang.enforce.values import encoded
from vigil_lang.trace import Event
from vigil_lang.verdict import Offence

Hashed: TypeAlias = "blake2b"
Key: TypeAlias = str | int
Group: TypeAlias = tuple[Key, tuple[Event, ...]]
"""The key of a call and its events."""


class RunState(msgspec.Struct, array_like=True):
    """What `MonitoredRun` needs of what happened, but for the events of calls that are over."""

    policies: str
    engine: msgspec.Raw
    abstraction: AbstractionState
    order: list[tuple[Key, tuple[str, ...]]]
    in_flight: list[Group]
    found: list[tuple[int, Offence, str | None]]
    unjudged: dict[int, str]
    lost: str | None
    takes: Literal["calls", "events"] | None
    length: int
    reports_results: bool

    def stored(self, past: bytes | bytearray, hashed: Hashed) -> bytes:
        """The snapshot; `past` has a line for each call that is over, and `hashed` has taken it in."""
        line = written(self)
        return b"\n".join([_digest(line, hashed), line, past])


def read(state: bytes) -> tuple[RunState, bytes, Hashed]:
    """What is stored in a snapshot, the lines of the calls that are over, and what has taken those in.

    Raises:
        ValueError: it is none, or is damaged.
    """
    view, first = memoryview(state), state.find(b"\n") + 1
    second = state.find(b"\n", first) + 1
    line, past = view[first : second - 1], view[second:]
    hashed = hasher()
    hashed.update(past)
    if not 0 < first < second or state[: first - 1] != _digest(line, hashed):
        raise ValueError("it has another digest than it says")
    return _STATE.decode(line), bytes(past), hashed


def hasher() -> Hashed:
    """What takes in the lines of calls that are over."""
    return blake2b(digest_size=32)


def groups_of(past: bytes | bytearray) -> list[Group]:
    """The calls of these lines, in the order in which they ended.

    Raises:
        ValueError: a line is none.
    """
    try:
        return _GROUP.decode_lines(past)
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error


def written(value: object) -> bytes:
    """A line without its line feed. Half a character, which no JSON text can hold, is replaced."""
    try:
        return _ENCODE(value)
    except UnicodeEncodeError:
        return encoded(msgspec.to_builtins(value, builtin_types=(Decimal, bytes)))


def _digest(line: bytes | memoryview, hashed: Hashed) -> bytes:
    found = hashed.copy()
    found.update(hashed.digest() + line)
    return found.hexdigest().encode()


_STATE = msgspec.json.Decoder(RunState, float_hook=Decimal)
_GROUP = msgspec.json.Decoder(Group, float_hook=Decimal)
_ENCODE = msgspec.json.Encoder(decimal_format="number").encode

"""What the server and the process that knows the runs say to each other, and how it is framed.

A message is a pickle behind its length. Pickles are safe between these two: one started the other, over pipes that
nobody else has an end of. Whatever comes from policies, recordings or the client is text inside the messages.
"""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lsp.recordings.results import RunsSummary
    from vigil_lsp.recordings.run_sources import TrackedPolicy


_LENGTH = struct.Struct(">Q")
HEAD = _LENGTH.size

QuestionKind: TypeAlias = Literal["witness", "timeline", "views", "explanation", "tests", "suite", "test run"]


# --- from the server ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Policies:
    """Policies to track, new or changed. `number` counts what was said of policies."""

    policies: tuple[TrackedPolicy, ...]
    number: int = 0


@dataclass(frozen=True, slots=True)
class Forget:
    """Policies that are no longer tracked. `number` as in `Policies`."""

    paths: tuple[str, ...]
    number: int = 0


@dataclass(frozen=True, slots=True)
class Rescan:
    """Files may have changed: check them now."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with a number, answered by `Answer` or `Failure`."""

    number: int
    what: QuestionKind
    about: tuple[Any, ...]
    texts: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Nobody waits for the answer to a question any more."""

    number: int


# --- from the process, beside `Judged` ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunsLoaded:
    """Runs were loaded or are gone: their summary, for the policies at these paths.

    `files` are the recordings that were read again.
    """

    summary: RunsSummary
    policies: tuple[str, ...]
    files: frozenset[str]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far something that takes long has come. `percentage` is from 0 to 100; `done`: it is over."""

    title: str
    message: str = ""
    percentage: int | None = None
    done: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question."""

    number: int
    value: Any


@dataclass(frozen=True, slots=True)
class QuestionFailed:
    """Why a question has no answer."""

    number: int
    message: str


def frame(message: object) -> bytes:
    """A message as it is sent."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(data)) + data


def length_of(head: bytes) -> int:
    """The length of the message behind a head."""
    return int(_LENGTH.unpack(head)[0])


def message_of(data: bytes) -> Any:
    """The message behind a head."""
    return pickle.loads(data)


def read_frame(stream: BinaryIO) -> Any | None:
    """The next message of a stream that waits; None at its end."""
    head = stream.read(HEAD)
    if len(head) < HEAD:
        return None
    data = stream.read(length_of(head))
    return message_of(data)

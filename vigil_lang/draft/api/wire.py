"""What the Messages API answers, read strictly: a message as a whole, or as the events of a stream."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Protocol, TypeAlias, TypeVar

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")


class Garbled(Exception):
    """What was answered is not what the Messages API sends."""


class Silent(Exception):
    """Signs of life came, but for too long no word of the reply."""


class StreamError(Exception):
    """An error within a stream; `type` is such as `overloaded_error`."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.type = kind


Tokens: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=10**12)]
"""A count that can be one: whoever answers in the API's place may say anything."""


class _Usage(msgspec.Struct):
    input_tokens: Tokens | None = None
    output_tokens: Tokens = 0
    cache_creation_input_tokens: Tokens | None = None
    cache_read_input_tokens: Tokens | None = None


class _Details(msgspec.Struct):
    category: str | None = None
    explanation: str | None = None


class _Block(msgspec.Struct):
    type: str
    text: str = ""


class _Message(msgspec.Struct):
    model: str
    content: list[_Block]
    usage: _Usage
    stop_reason: str | None = None
    stop_details: _Details | None = None


class _Delta(msgspec.Struct):
    type: str = ""
    text: str = ""
    thinking: str = ""
    stop_reason: str | None = None
    stop_details: _Details | None = None


class _Error(msgspec.Struct):
    type: str
    message: str = ""


class _Event(msgspec.Struct):
    type: str
    message: _Message | None = None
    delta: _Delta | None = None
    usage: _Usage | None = None
    error: _Error | None = None


class _Count(msgspec.Struct):
    input_tokens: Tokens


class ServerSent(Protocol):
    """An event as it is sent, before it is decoded."""

    @property
    def data(self) -> str:
        """Its data, in JSON."""
        ...


@dataclass(slots=True)
class Heard:
    """What came of a reply so far. `input_tokens` is None until the API says how many there were."""

    text: list[str] = field(default_factory=list)
    model: str = ""
    stop: str | None = None
    refused: str = ""
    input_tokens: int | None = None
    output_tokens: int = 0
    cache_read: int = 0
    cache_write: int = 0
    request_id: str | None = None
    over: bool = False

    def whole(self, body: bytes, told: Callable[[int], None]) -> None:
        """Take in a message; `told` gets how many characters it has.

        Raises:
            Garbled: it is none.
        """
        self._start(_decode(body, _Message))
        if self.stop is None:
            raise Garbled("it does not say why it stops")
        self.over = True
        told(sum(map(len, self.text)))

    def stream(self, events: Iterable[ServerSent], silence: float, told: Callable[[int], None]) -> None:
        """Take in a message as it comes; `told` gets how many characters there are.

        Raises:
            Garbled: an event is none of the API's, or the stream ends before the message does.
            Silent: no word of it came for `silence` seconds.
            StreamError: the API says that it fails.
        """
        characters = 0
        last = time.monotonic()
        for sent in events:
            if not sent.data:
                continue
            event = _decode(sent.data, _Event)
            if event.type == "ping":
                if time.monotonic() - last > silence:
                    raise Silent
                continue
            last = time.monotonic()
            characters += self._event(event)
            told(characters)
        if not self.over:
            raise Garbled("the stream ends before the message does")

    def _event(self, event: _Event) -> int:
        """Take in an event: how many characters it adds."""
        match event:
            case _Event(type="error"):
                raise StreamError(event.error.type, event.error.message) if event.error else Garbled("an empty error")
            case _Event(type="message_start", message=_Message() as message):
                self._start(message)
            case _Event(type="content_block_delta", delta=_Delta() as delta):
                self.text.append(delta.text)
                return len(delta.text) + len(delta.thinking)
            case _Event(type="message_delta", delta=_Delta() as delta, usage=_Usage() as usage):
                self._stopped(delta.stop_reason, delta.stop_details)
                self._count(usage)
            case _Event(type="message_stop"):
                self.over = self.stop is not None
        return 0

    def _start(self, message: _Message) -> None:
        self.model = message.model
        self.text += [block.text for block in message.content if block.type == "text"]
        self._stopped(message.stop_reason, message.stop_details)
        self._count(message.usage)

    def _stopped(self, reason: str | None, details: _Details | None) -> None:
        self.stop = reason or self.stop
        if details is not None:
            self.refused = details.explanation or details.category or ""

    def _count(self, usage: _Usage) -> None:
        """Take in counts, which are totals; those that do not apply are left out."""
        self.output_tokens = usage.output_tokens
        if usage.input_tokens is not None:
            self.input_tokens = usage.input_tokens
        if usage.cache_read_input_tokens is not None:
            self.cache_read = usage.cache_read_input_tokens
        if usage.cache_creation_input_tokens is not None:
            self.cache_write = usage.cache_creation_input_tokens


def counted(body: bytes) -> int:
    """The answer to a request to count tokens.

    Raises:
        Garbled: it is none.
    """
    return _decode(body, _Count).input_tokens


def _decode(data: bytes | str, form: type[T]) -> T:
    try:
        return msgspec.json.decode(data, type=form)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise Garbled(str(error)) from None

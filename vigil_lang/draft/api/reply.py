"""A reply of the Messages API, read strictly: a message as a whole, or as the events of a stream."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import msgspec

from vigil_lang.draft.api.failures import garbled, of_stream, timed_out
from vigil_lang.draft.clause_result import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")

Tokens: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=10**12)]
"""A plausible count: whoever answers in the API's place may say anything."""


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


class _Delta(msgspec.Struct):
    text: str = ""
    thinking: str = ""
    stop_reason: str | None = None
    stop_details: _Details | None = None


class _Message(msgspec.Struct):
    model: str
    content: list[_Block]
    usage: _Usage
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


@dataclass(slots=True)
class ReplyReader:
    """Collects a reply as it comes. `input_tokens` is None until the API says how many there were.

    The SDK's own reader takes whatever comes for an event, takes a stream that ends early for a whole message, and
    passes over pings, so that a reply may stay silent for ever.
    """

    model: str
    content_type: str = ""
    request_id: str | None = None
    text: str = ""
    stop: str = ""
    refused: str = ""
    input_tokens: int | None = None
    output_tokens: int = 0
    cache_read: int = 0
    cache_write: int = 0
    _over: bool = field(default=False, repr=False)

    @property
    def usage(self) -> Usage:
        """The tokens counted so far."""
        return Usage(
            input_tokens=self.input_tokens or 0,
            output_tokens=self.output_tokens,
            cache_read_tokens=self.cache_read,
            cache_write_tokens=self.cache_write,
        )

    def read_whole(self, body: bytes, received: Callable[[int], None]) -> None:
        """Read a message; `received` gets the number of its characters.

        Raises:
            Failure: the body is no message.
        """
        self._start(self._decode(body, _Message))
        if not self.stop:
            raise garbled(self.content_type, "it does not say why it stops")
        received(len(self.text))

    def read_stream(self, events: Iterable[str], silence: float, received: Callable[[int], None]) -> None:
        """Read a message from the data of its events; `received` gets the number of characters so far.

        Raises:
            Failure: an event is none of the API's or reports an error, nothing but pings came for `silence` seconds,
                or the stream ends before the message does.
        """
        characters, last = 0, time.monotonic()
        for data in filter(None, events):
            event = self._decode(data, _Event)
            if event.type != "ping":
                last = time.monotonic()
                characters += self._event(event)
                received(characters)
            elif time.monotonic() - last > silence:
                raise timed_out(silence, billed=True)
        if not self._over:
            raise garbled(self.content_type, "the stream ends before the message does")

    def read_count(self, body: bytes) -> int:
        """The answer to a request to count tokens.

        Raises:
            Failure: it is none.
        """
        return self._decode(body, _Count).input_tokens

    def _event(self, event: _Event) -> int:
        """Take in an event: how many characters it adds."""
        match event:
            case _Event(type="error", error=_Error() as error):
                raise of_stream(error.type, error.message, self.model)
            case _Event(type="error"):
                raise garbled(self.content_type, "an empty error")
            case _Event(type="message_start", message=_Message() as message):
                self._start(message)
            case _Event(type="content_block_delta", delta=_Delta() as delta):
                self.text += delta.text
                return len(delta.text) + len(delta.thinking)
            case _Event(type="message_delta", delta=_Delta() as delta, usage=_Usage() as usage):
                self._end(delta, usage)
            case _Event(type="message_stop"):
                self._over = bool(self.stop)
        return 0

    def _start(self, message: _Message) -> None:
        self.model = message.model
        self.text += "".join(block.text for block in message.content if block.type == "text")
        self._end(message, message.usage)

    def _end(self, said: _Message | _Delta, usage: _Usage) -> None:
        """Take in why the reply stops, if it does, and the counts: totals, where those that do not apply are absent."""
        self.stop = said.stop_reason or self.stop
        if said.stop_details is not None:
            self.refused = said.stop_details.explanation or said.stop_details.category or ""
        self.output_tokens = usage.output_tokens
        if usage.input_tokens is not None:
            self.input_tokens = usage.input_tokens
        if usage.cache_read_input_tokens is not None:
            self.cache_read = usage.cache_read_input_tokens
        if usage.cache_creation_input_tokens is not None:
            self.cache_write = usage.cache_creation_input_tokens

    def _decode(self, data: bytes | str, form: type[T]) -> T:
        try:
            return msgspec.json.decode(data, type=form)
        except (msgspec.DecodeError, UnicodeError) as error:
            raise garbled(self.content_type, str(error)) from None

"""A model that is asked for answers in a given form, by the Messages API."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from vigil_lang.draft.api.budget import Budget, Reserved
from vigil_lang.draft.api.connection import Connection
from vigil_lang.draft.api.wire import Heard
from vigil_lang.draft.clause_result import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vigil_lang.draft.api.failures import Failure
    from vigil_lang.draft.api.models import ModelSettings

Stop: TypeAlias = str
"""Why a reply ended: `end_turn`, `max_tokens`, `refusal`, `model_context_window_exceeded`, or another the API has."""

_CACHED: dict[str, str] = {"type": "ephemeral"}


@dataclass(frozen=True, slots=True)
class Message:
    """A turn of the conversation. `before` is what comes first in it and is the same in many conversations."""

    role: Literal["user", "assistant"]
    text: str
    before: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said. `usage` is of all attempts; `refused` says why a `refusal` is one, where the API does."""

    text: str
    stop: Stop
    usage: Usage
    model: str
    request_id: str | None = None
    refused: str = ""


class Client:
    """Asks a model. Threads may share it; to be closed.

    It makes retries itself rather than have the SDK make them, which makes none once a stream began: so each attempt
    is within the budget and is counted. `pause` waits for so many seconds between attempts, until closed if None, and
    `delayed` is told before it why and for how long.

    Raises:
        InputError: VGL612, the SDK is missing, or the key or the address cannot be used.
    """

    def __init__(
        self,
        settings: ModelSettings,
        budget: Budget | None = None,
        *,
        pause: Callable[[float], object] | None = None,
        delayed: Callable[[str, float], None] | None = None,
    ) -> None:
        self._settings = settings
        self._budget = budget or Budget()
        self._closed = threading.Event()
        self._pause = pause or self._closed.wait
        self._delayed = delayed
        self._connection = Connection(settings)
        self._usage = Usage(cost=self._cost(Usage()))
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections. Requests that other threads make end in an error soon."""
        self._closed.set()
        self._connection.close()

    @property
    def usage(self) -> Usage:
        """What all requests took so far, those that failed among them."""
        return self._usage

    def ask(
        self,
        system: str,
        messages: Sequence[Message],
        schema: Mapping[str, object],
        max_tokens: int,
        told: Callable[[int], None] = lambda _: None,
    ) -> Reply:
        """The model's next turn, whose text is JSON of the form `schema` unless it stopped before its end.

        It has `max_tokens` at most, and no more than the settings and the budget allow. `told` gets how many
        characters there are, again from 0 with each attempt. The system prompt and the beginning of the first turn
        are cached by the API for some minutes.

        Raises:
            InputError: VGL612, the API could not be asked, or not within `retries` further attempts.
            budget.Exhausted: the next attempt could pass the limit.
        """
        request = self._request(system, messages, schema)
        counted = self._connection.count(request) if self._budget.limit is not None else None
        # The count is an estimate.
        most_input = _bytes(request) if counted is None else int(counted * 1.02) + 100
        total = Usage(cost=self._cost(Usage()))
        attempt = 1
        while True:
            heard, failure, used = self._attempt(request, most_input, max_tokens, told, attempt)
            total = _sum(total, used)
            if failure is None:
                return Reply("".join(heard.text), heard.stop or "", total, heard.model, heard.request_id, heard.refused)
            if not failure.again or attempt > self._settings.retries or self._closed.is_set():
                raise failure.error(self._connection.where, attempt, self._connection.hidden)
            seconds = failure.pause(attempt)
            if self._delayed is not None:
                self._delayed(failure.shown(self._connection.hidden), seconds)
            self._pause(seconds)
            attempt += 1

    def _attempt(
        self, request: dict[str, Any], most_input: int, max_tokens: int, told: Callable[[int], None], attempt: int
    ) -> tuple[Heard, Failure | None, Usage]:
        """One request: what came of it, why it failed if it did, and what it took."""
        reserved = self._budget.reserve(most_input, min(max_tokens, self._settings.max_tokens))
        heard, began = Heard(), time.monotonic()
        used = None
        try:
            failure = self._connection.send({**request, "max_tokens": reserved.tokens}, heard, told)
            if failure is None:
                used = _used(heard)
            elif not failure.billed:
                used = Usage()
        finally:  # Ctrl-C, too, leaves a request that may have to be paid for
            used = replace(
                used or _worst(reserved, most_input, heard),
                requests=1,
                retries=int(attempt > 1),
                seconds=time.monotonic() - began,
            )
            used = replace(used, cost=self._cost(used))
            self._budget.settle(reserved, self._budget.cost(used))
            with self._lock:
                self._usage = _sum(self._usage, used)
        return heard, failure, used

    def _request(self, system: str, messages: Sequence[Message], schema: Mapping[str, object]) -> dict[str, Any]:
        """The request but for `max_tokens`. It offers no tools."""
        output: dict[str, Any] = {"format": {"type": "json_schema", "schema": dict(schema)}}
        if self._settings.effort is not None:
            output["effort"] = self._settings.effort
        return {
            "model": self._settings.model,
            "system": [{**_block(system), "cache_control": _CACHED}],
            "messages": [_turn(m, first=m is messages[0]) for m in messages if (m.before + m.text).strip()],
            "output_config": output,
        }

    def _cost(self, usage: Usage) -> float | None:
        return None if self._settings.prices is None else self._settings.prices.cost(usage)


def _turn(message: Message, *, first: bool) -> dict[str, Any]:
    blocks = [_block(text) for text in (message.before, message.text) if text.strip()]
    if first:
        blocks[0]["cache_control"] = _CACHED
    return {"role": message.role, "content": blocks}


def _block(text: str) -> dict[str, Any]:
    # A lone surrogate, which JSON from anywhere may hold, cannot be sent.
    return {"type": "text", "text": text.encode("utf-8", "replace").decode("utf-8")}


def _bytes(request: dict[str, Any]) -> int:
    """The size of a request, and some more: a token is a byte at least."""
    return len(json.dumps(request, ensure_ascii=False).encode("utf-8", "replace")) + 1000


def _used(heard: Heard) -> Usage:
    return Usage(
        input_tokens=heard.input_tokens or 0,
        output_tokens=heard.output_tokens,
        cache_read_tokens=heard.cache_read,
        cache_write_tokens=heard.cache_write,
    )


def _worst(reserved: Reserved, most_input: int, heard: Heard) -> Usage:
    """The most that an attempt can have taken that broke off."""
    if heard.input_tokens is None:
        return Usage(cache_write_tokens=most_input, output_tokens=reserved.tokens, estimated=True)
    return replace(_used(heard), output_tokens=reserved.tokens, estimated=True)


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        requests=one.requests + other.requests,
        retries=one.retries + other.retries,
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cache_read_tokens=one.cache_read_tokens + other.cache_read_tokens,
        cache_write_tokens=one.cache_write_tokens + other.cache_write_tokens,
        cost=None if one.cost is None or other.cost is None else one.cost + other.cost,
        seconds=one.seconds + other.seconds,
        estimated=one.estimated or other.estimated,
    )

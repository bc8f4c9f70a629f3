"""A model that is asked for answers in a given form, by the Messages API. No other module knows its SDK.

No tools are offered to a model, no address but that of the API is spoken to, and nothing is reported to anybody.
"""

from __future__ import annotations

import json
import ssl
import threading
import time
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, Self

from vigil_lang.draft.api.budget import Budget
from vigil_lang.draft.api.discretion import DiscreetLogs, Secrets, secrets
from vigil_lang.draft.api.failures import ADDRESS, Failure, garbled, of_status, timed_out
from vigil_lang.draft.api.reply import ReplyReader
from vigil_lang.draft.clause_result import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import anthropic
    import httpx2

    from vigil_lang.diagnostics import InputError
    from vigil_lang.draft.api.models import ModelSettings

_CONNECT, _COUNT = 10.0, 60.0
"""Seconds that connecting, and counting tokens, may take."""

_CACHED: dict[str, str] = {"type": "ephemeral"}
_NO_KEY = "set ANTHROPIC_API_KEY, or draft without a model: --skeleton, --from-json, --offline"


@dataclass(frozen=True, slots=True)
class Message:
    """A turn of the conversation. `before` is what comes first in it and is the same in many conversations."""

    role: Literal["user", "assistant"]
    text: str
    before: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said.

    `stop` says why it ended: `end_turn`, `max_tokens`, `refusal`, `model_context_window_exceeded`, or another reason
    of the API. `usage` is of all attempts; `refused` says why a `refusal` is one, where the API does.
    """

    text: str
    stop: str
    usage: Usage
    model: str
    request_id: str | None = None
    refused: str = ""


class Client:
    """Asks a model. Threads may share it; to be closed.

    It retries itself. The SDK retries only until a reply begins, waits as long as the API asks for where nobody can
    interrupt it, and takes `retry-after: 0` for no answer; here each attempt is within the budget and is counted.
    `pause` waits for so many seconds between attempts, until closed if None, and `delayed` is told before it why and
    for how long.

    Raises:
        InputError: VGL612, the SDK is missing, or the key or the address cannot be used.
    """

    def __init__(
        self,
        settings: ModelSettings,
        budget: Budget | None = None,
        *,
        pause: Callable[[float], object] | None = None,
        delayed: Callable[[str, float], None] = lambda *_: None,
    ) -> None:
        self._settings = settings
        self._budget = budget or Budget()
        self._closed = threading.Event()
        self._pause = pause or self._closed.wait
        self._delayed = delayed
        self._sdk = _open(settings)
        self._hidden = _hidden(self._sdk)
        self._logs = DiscreetLogs(self._hidden)
        self._logs.attach()
        self._usage = self._priced(Usage())
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections. Requests that other threads make end in an error soon."""
        self._closed.set()
        self._sdk.close()
        self._logs.detach()

    @property
    def usage(self) -> Usage:
        """What all requests took so far, including those that failed."""
        return self._usage

    def ask(
        self,
        system: str,
        messages: Sequence[Message],
        schema: Mapping[str, object],
        max_tokens: int,
        received: Callable[[int], None] = lambda _: None,
    ) -> Reply:
        """The model's next turn, whose text is JSON of the form `schema` unless it stopped before its end.

        It has `max_tokens` at most, and no more than the settings and the budget allow. `received` gets the number of
        characters so far, again from 0 with each attempt. The system prompt and the beginning of the first turn are
        cached by the API for some minutes.

        Raises:
            InputError: VGL612, the API could not be asked, or not within `retries` further attempts.
            budget.Exhausted: the next attempt could pass the limit.
        """
        request = self._request(system, messages, schema)
        most_input = self._most_input(request)
        total = self._priced(Usage())
        for attempt in count(1):
            reader = ReplyReader(self._settings.model)
            failure, used = self._attempt(request, most_input, max_tokens, reader, received)
            used = replace(used, retries=int(attempt > 1))
            total += used
            with self._lock:
                self._usage += used
            if isinstance(failure, Failure):
                if not failure.again or attempt > self._settings.retries or self._closed.is_set():
                    raise failure.error(_origin(self._sdk.base_url), attempt, self._hidden)
                seconds = failure.pause(attempt)
                self._delayed(failure.shown(self._hidden), seconds)
                self._pause(seconds)
            elif failure is not None:
                raise failure
            else:
                break
        return Reply(reader.text, reader.stop, total, reader.model, reader.request_id, reader.refused)

    def _attempt(
        self,
        request: dict[str, Any],
        most_input: int,
        max_tokens: int,
        reader: ReplyReader,
        received: Callable[[int], None],
    ) -> tuple[BaseException | None, Usage]:
        """One request: what it raised, and what it took. Ctrl-C, too, leaves one that may have to be paid for."""
        reserved = self._budget.reserve(most_input, min(max_tokens, self._settings.max_tokens))
        began = time.monotonic()
        raised: BaseException | None = None
        try:
            self._send({**request, "max_tokens": reserved.tokens}, reader, received)
        except BaseException as error:
            raised = error
        if isinstance(raised, Failure):
            raised.request_id = raised.request_id or reader.request_id
        used = reader.usage
        if isinstance(raised, Failure) and not raised.billed:
            used = Usage()
        elif raised is not None and reader.input_tokens is None:
            used = Usage(cache_write_tokens=most_input, output_tokens=reserved.tokens, estimated=True)
        elif raised is not None:
            used = replace(used, output_tokens=reserved.tokens, estimated=True)
        self._budget.settle(reserved, self._budget.cost(used))
        return raised, self._priced(replace(used, requests=1, seconds=time.monotonic() - began))

    def _send(self, request: dict[str, Any], reader: ReplyReader, received: Callable[[int], None]) -> None:
        """Make a request once; `reader` gets what is answered.

        Raises:
            Failure: that is no whole message.
        """
        import anthropic
        import httpx2

        silence = self._settings.timeout
        try:
            with self._sdk.messages.with_streaming_response.create(
                **request, stream=self._settings.stream, timeout=_timeout(silence)
            ) as response:
                reader.request_id = response.request_id
                reader.content_type = response.headers.get("content-type", "of no type")
                if self._settings.stream:
                    events = anthropic.Stream.raw_events(response.http_response)
                    reader.read_stream((event.data for event in events), silence, received)
                else:
                    reader.read_whole(response.read(), received)
        except anthropic.APIStatusError as error:
            said = str(error.api_message or error.message)
            failure = of_status(
                error.status_code, said, self._settings.model, code=error.error_code, headers=error.response.headers
            )
            failure.request_id = error.request_id
            raise failure from None
        except anthropic.APIConnectionError as error:
            raise self._unconnected(error.__cause__ or error) from None
        except httpx2.HTTPError as error:  # the SDK does not wrap those of a reply that began
            raise self._unconnected(error) from None
        except anthropic.AnthropicError as error:
            raise Failure(f"the key cannot be had: {error}", _NO_KEY) from None
        except UnicodeDecodeError as error:
            raise garbled(reader.content_type, str(error)) from None

    def _unconnected(self, cause: BaseException) -> Failure:
        """A connection that was not made, or broke off."""
        import httpx2

        if isinstance(cause, httpx2.TimeoutException):
            unsent = isinstance(cause, httpx2.ConnectTimeout | httpx2.PoolTimeout)
            return timed_out(self._settings.timeout, billed=not unsent)
        if any(isinstance(one, ssl.SSLError) for one in _causes(cause)):
            help_text = "SSL_CERT_FILE names the certificates that are trusted"
            return Failure(f"there is no secure connection to the API: {cause}", help_text)
        if isinstance(cause, httpx2.ConnectError | httpx2.ProxyError):
            return Failure(f"there is no connection to the API: {cause}", ADDRESS, again=True)
        return Failure(f"the connection to the API broke off: {cause}", again=True, billed=True, single=True)

    def _most_input(self, request: dict[str, Any]) -> int:
        """The most tokens that a request can have: the API's estimate and a little more, else its size in bytes."""
        import anthropic
        import httpx2

        if self._budget.limit is not None:
            seconds = min(self._settings.timeout, _COUNT)
            try:
                said = self._sdk.messages.with_raw_response.count_tokens(**request, timeout=_timeout(seconds))
                counted = ReplyReader(self._settings.model).read_count(said.http_response.content)
                return int(counted * 1.02) + 100
            except (anthropic.AnthropicError, httpx2.HTTPError, Failure):
                pass
        return len(json.dumps(request, ensure_ascii=False).encode("utf-8", "replace")) + 1000

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

    def _priced(self, usage: Usage) -> Usage:
        prices = self._settings.prices
        return replace(usage, cost=None if prices is None else prices.cost(usage))


def _turn(message: Message, *, first: bool) -> dict[str, Any]:
    blocks = [_block(text) for text in (message.before, message.text) if text.strip()]
    if first:
        blocks[0]["cache_control"] = _CACHED
    return {"role": message.role, "content": blocks}


def _block(text: str) -> dict[str, Any]:
    # A lone surrogate, which JSON from anywhere may hold, cannot be sent.
    return {"type": "text", "text": text.encode("utf-8", "replace").decode("utf-8")}


# --- the SDK -------------------------------------------------------------------------------------------------------


def _open(settings: ModelSettings) -> anthropic.Anthropic:
    """The SDK's client; that a request could be sent is seen to here, since the SDK finds out only when one is."""
    try:
        import anthropic
        import httpx2
    except ImportError:
        message = "drafting with a model needs the package `anthropic`, 2.12 or newer"
        help_text = 'pip install "vigil-lang[draft]"; --skeleton and --from-json need no model'
        raise _unusable(message, help_text, settings) from None
    try:
        sdk = anthropic.Anthropic(
            base_url=settings.base_url,
            max_retries=0,
            timeout=_timeout(settings.timeout),
            http_client=anthropic.DefaultHttpxClient(follow_redirects=False),
            open_telemetry=False,
        )
    except anthropic.AnthropicError as error:
        raise _unusable(f"the key cannot be had: {error}", _NO_KEY, settings) from None
    except (httpx2.InvalidURL, ImportError, OSError, ValueError) as error:
        # An address that is none, of the API or of a proxy; a proxy of a kind that needs a package; certificates that
        # cannot be read.
        raise _unusable(f"the API cannot be asked: {error}", ADDRESS, settings) from None
    if sdk.base_url.scheme not in ("http", "https") or not sdk.base_url.host:
        raise _unusable("the base URL is no address of HTTP", ADDRESS, settings)
    headers = {name.lower(): value for name, value in sdk.default_headers.items() if isinstance(value, str)}
    if sdk.credentials is None and not {"authorization", "x-api-key"} & set(headers):
        raise _unusable("there is no key for the API", _NO_KEY, settings, sdk)
    if not all(text.isascii() and text.isprintable() for item in headers.items() for text in item):
        message = "the key, or a header of ANTHROPIC_CUSTOM_HEADERS, has characters that cannot be sent"
        raise _unusable(message, "there may be a line end in it", settings, sdk)
    return sdk


def _unusable(
    message: str, help_text: str, settings: ModelSettings, sdk: anthropic.Anthropic | None = None
) -> InputError:
    """The error where no request can be made at all."""
    where = settings.model if sdk is None else _origin(sdk.base_url)
    hidden = secrets(settings.base_url or "", ()) if sdk is None else _hidden(sdk)
    return Failure(message, help_text).error(where, 0, hidden)


def _hidden(sdk: anthropic.Anthropic) -> Secrets:
    return secrets(str(sdk.base_url), (sdk.api_key, sdk.auth_token))


def _origin(url: httpx2.URL) -> str:
    """An address without what may be secret in it."""
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


def _timeout(seconds: float) -> httpx2.Timeout:
    import httpx2

    return httpx2.Timeout(seconds, connect=min(seconds, _CONNECT))


def _causes(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found

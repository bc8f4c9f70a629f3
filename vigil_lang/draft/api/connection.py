"""The Messages API by its SDK, which no other module knows.

No tools are offered to a model, no address but that of the API is spoken to, and nothing is reported to anybody.
"""

from __future__ import annotations

import email.utils
import math
import ssl
import time
from typing import TYPE_CHECKING, Any

from vigil_lang.draft.api.discretion import DiscreetLogs, Secrets, secrets
from vigil_lang.draft.api.failures import Failure, garbled, of_status, of_type, timed_out, unavailable
from vigil_lang.draft.api.wire import Garbled, Silent, StreamError, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import anthropic
    import httpx2

    from vigil_lang.draft.api.models import ModelSettings
    from vigil_lang.draft.api.wire import Heard

_CONNECT, _COUNT = 10.0, 60.0
"""Seconds that connecting, and counting tokens, may take."""

_ADDRESS = "ANTHROPIC_BASE_URL is where the API is asked for"
_NO_KEY = "set ANTHROPIC_API_KEY, or draft without a model: --skeleton, --from-json, --offline"


class Connection:
    """The API as the settings and the environment say. Threads may share it; to be closed.

    `where` names it to people, and `hidden` is what they must not be shown.

    Raises:
        InputError: VGL612, the SDK is missing, or the key or the address cannot be used.
    """

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._sdk = _open(settings)
        self.hidden = _hidden(self._sdk)
        self.where = _origin(self._sdk.base_url)
        self._logs = DiscreetLogs(self.hidden)
        self._logs.attach()

    def close(self) -> None:
        """Close what is open."""
        self._sdk.close()
        self._logs.detach()

    def send(self, request: dict[str, Any], heard: Heard, told: Callable[[int], None]) -> Failure | None:
        """Make a request once; what is answered goes to `heard`. None if it is a whole message."""
        import anthropic
        import httpx2

        silence = self._settings.timeout
        content_type = ""
        try:
            with self._sdk.messages.with_streaming_response.create(
                **request, stream=self._settings.stream, timeout=_timeout(silence)
            ) as response:
                heard.request_id = response.request_id
                content_type = response.headers.get("content-type", "of no type")
                if self._settings.stream:
                    # The events as they are sent: the SDK would pass over pings, and read whatever comes as an event.
                    heard.stream(anthropic.Stream.raw_events(response.http_response), silence, told)
                else:
                    heard.whole(response.read(), told)
        except StreamError as error:
            return of_type(error.type, str(error), self._settings.model, heard.request_id)
        except Silent:
            return timed_out(silence, heard.request_id, billed=True)
        except (Garbled, UnicodeDecodeError) as error:
            return garbled(content_type, str(error), _ADDRESS, heard.request_id)
        except anthropic.APIStatusError as error:
            return _refused(error, self._settings.model)
        except anthropic.APIConnectionError as error:
            return self._unconnected(error.__cause__ or error, heard)
        except httpx2.HTTPError as error:  # the SDK does not wrap those of a reply that began
            return self._unconnected(error, heard)
        except anthropic.AnthropicError as error:
            return Failure(f"the key cannot be had: {error}", _NO_KEY)
        return None

    def _unconnected(self, cause: BaseException, heard: Heard) -> Failure:
        """A connection that was not made, or broke off."""
        import httpx2

        if isinstance(cause, httpx2.TimeoutException):
            before = isinstance(cause, httpx2.ConnectTimeout | httpx2.PoolTimeout)
            return timed_out(self._settings.timeout, heard.request_id, billed=not before)
        if any(isinstance(one, ssl.SSLError) for one in _causes(cause)):
            help_text = "SSL_CERT_FILE names the certificates that are trusted"
            return Failure(f"there is no secure connection to the API: {cause}", help_text)
        if isinstance(cause, httpx2.ConnectError | httpx2.ProxyError):
            return Failure(f"there is no connection to the API: {cause}", _ADDRESS, again=True)
        message = f"the connection to the API broke off: {cause}"
        return Failure(message, again=True, billed=True, request_id=heard.request_id, single=True)

    def count(self, request: dict[str, Any]) -> int | None:
        """The API's estimate of the tokens of a request, which costs nothing; None where there is none."""
        import anthropic
        import httpx2

        seconds = min(self._settings.timeout, _COUNT)
        try:
            said = self._sdk.messages.with_raw_response.count_tokens(**request, timeout=_timeout(seconds))
            return counted(said.http_response.content)
        except (anthropic.AnthropicError, httpx2.HTTPError, Garbled):
            return None


def _open(settings: ModelSettings) -> anthropic.Anthropic:
    try:
        import anthropic
        import httpx2
    except ImportError:
        message = "drafting with a model needs the package `anthropic`, 2.12 or newer"
        help_text = 'pip install "vigil-lang[draft]"; --skeleton and --from-json need no model'
        raise unavailable(message, help_text, settings.model, Secrets(())) from None
    hidden = secrets(settings.base_url or "", ())
    try:
        sdk = anthropic.Anthropic(
            base_url=settings.base_url,
            max_retries=0,
            timeout=_timeout(settings.timeout),
            http_client=anthropic.DefaultHttpxClient(follow_redirects=False),
            open_telemetry=False,
        )
    except anthropic.AnthropicError as error:
        raise unavailable(f"the key cannot be had: {error}", _NO_KEY, settings.model, hidden) from None
    except (httpx2.InvalidURL, ImportError, OSError, ValueError) as error:
        # An address that is none, of the API or of a proxy; a proxy of a kind that needs a package; certificates that
        # cannot be read.
        raise unavailable(f"the API cannot be asked: {error}", _ADDRESS, settings.model, hidden) from None
    _check(sdk, settings)
    return sdk


def _check(sdk: anthropic.Anthropic, settings: ModelSettings) -> None:
    """See that a request could be sent, which the SDK finds out only when one is, by other errors than its own."""
    hidden = _hidden(sdk)
    if sdk.base_url.scheme not in ("http", "https") or not sdk.base_url.host:
        raise unavailable("the base URL is no address of HTTP", _ADDRESS, settings.model, hidden)
    headers = {name.lower(): value for name, value in sdk.default_headers.items() if isinstance(value, str)}
    if sdk.credentials is None and not {"authorization", "x-api-key"} & set(headers):
        raise unavailable("there is no key for the API", _NO_KEY, _origin(sdk.base_url), hidden)
    if not all(text.isascii() and text.isprintable() for item in headers.items() for text in item):
        message = "the key, or a header of ANTHROPIC_CUSTOM_HEADERS, has characters that cannot be sent"
        raise unavailable(message, "there may be a line end in it", _origin(sdk.base_url), hidden)


def _hidden(sdk: anthropic.Anthropic) -> Secrets:
    return secrets(str(sdk.base_url), (sdk.api_key, sdk.auth_token))


def _origin(url: httpx2.URL) -> str:
    """An address without what may be secret in it."""
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


def _timeout(seconds: float) -> httpx2.Timeout:
    import httpx2

    return httpx2.Timeout(seconds, connect=min(seconds, _CONNECT))


def _refused(error: anthropic.APIStatusError, model: str) -> Failure:
    told = {"true": True, "false": False}.get(error.response.headers.get("x-should-retry", ""))
    said = str(error.api_message or error.message)
    wait = _wait(error.response.headers)
    return of_status(
        error.status_code, said, model, code=error.error_code, wait=wait, told=told, request_id=error.request_id
    )


def _wait(headers: Mapping[str, str]) -> float | None:
    """How long the API asks to wait, in seconds: `retry-after-ms`, else `retry-after` in seconds or as a date."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * scale
        except (KeyError, ValueError):
            continue
        return max(0.0, seconds) if math.isfinite(seconds) else None
    try:
        date = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, date.timestamp() - time.time())
    except (ValueError, OverflowError, OSError):  # no date, or none that there is
        return None


def _causes(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found

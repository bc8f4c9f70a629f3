"""Why a request to the Messages API failed: whether to make it again, after how long, and what a person is told."""

from __future__ import annotations

import email.utils
import math
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, InputError, Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.draft.api.discretion import Secrets

LONGEST_WAIT = 120.0
"""Seconds; where the API asks to wait for longer, its user is told instead. The SDK would wait."""

ADDRESS = "ANTHROPIC_BASE_URL is where the API is asked for"
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
_SHOWN = 370
_ANOTHER_KEY = "ANTHROPIC_API_KEY holds the key"
_REFUSED = "the API refuses the request: {said}"

_STATUSES: dict[int, tuple[str, str, str | None]] = {
    400: ("invalid_request_error", _REFUSED, None),
    401: ("authentication_error", "the API does not accept the key", _ANOTHER_KEY),
    402: ("billing_error", "the account cannot pay for the request: {said}", None),
    403: ("permission_error", "the key does not allow the request: {said}", _ANOTHER_KEY),
    404: (
        "not_found_error",
        "the API has no model `{model}`, or is not at this address: {said}",
        "`model` of `[draft]` or `--model` names the model, ANTHROPIC_BASE_URL where the API is",
    ),
    413: (
        "request_too_large",
        "the request is larger than the API takes",
        "give fewer documents at once, or a smaller `--batch`",
    ),
    422: ("", _REFUSED, None),
    429: ("rate_limit_error", "the API takes no more requests for now", None),
    529: ("overloaded_error", "the API is overloaded", None),
}
"""For each status of HTTP the type of an error within a stream that means the same, the message and the help."""

_BY_TYPE = {kind: status for status, (kind, _, _) in _STATUSES.items()} | {"timeout_error": 504}


class Unanswered(InputError):
    """A request that failed as it may not have done with another text: other requests may well be answered."""


@dataclass(eq=False)
class Failure(Exception):
    """An attempt that failed.

    `again` is whether another attempt may succeed, `wait` how many seconds the API asks to wait before it. `billed` is
    whether the attempt may cost something nevertheless. `single` is whether what was asked may be the reason, as where
    a filter blocks the reply; a key that is not accepted fails every request.
    """

    message: str
    help: str | None = None
    again: bool = False
    wait: float | None = None
    billed: bool = False
    single: bool = False
    request_id: str | None = None

    def pause(self, attempt: int) -> float:
        """Seconds to wait after an attempt, counted from 1: what the API asks for, else longer each time.

        By chance up to a quarter less, lest many callers come back at once.
        """
        if self.wait is not None:
            return self.wait
        return min(_FIRST_PAUSE * 2.0 ** (attempt - 1), _LONGEST_PAUSE) * random.uniform(0.75, 1.0)

    def shown(self, hidden: Secrets) -> str:
        """The message as it may be shown. Secrets are hidden before the cut, or else a part of one would stay."""
        text = " ".join(hidden.hide(self.message).split())
        return text if len(text) <= _SHOWN else text[:_SHOWN] + " …"

    def error(self, where: str, attempts: int, hidden: Secrets) -> InputError:
        """The error to end with after so many attempts; `where` names the API."""
        message = self.shown(hidden) + (f" (after {attempts} attempts)" if attempts > 1 else "")
        parts = [self.help or "", f"the API knows the request as {self.request_id}" if self.request_id else ""]
        help_text = hidden.hide("; ".join(part for part in parts if part)) or None
        kind = Unanswered if self.single else InputError
        return kind([Diagnostic.of("VGL612", message, Source(where, ""), help=help_text)])


def of_status(
    status: int, said: str, model: str, *, code: str | None = None, headers: Mapping[str, str] | None = None
) -> Failure:
    """The failure that a status of HTTP stands for. `said` is the API's message and `code` its finer one."""
    headers = headers or {}
    _, message, help_text = _STATUSES.get(status, ("", f"the API fails with status {status}: {{said}}", None))
    again, wait = status in (408, 409, 429) or status >= 500, _wait(headers)
    if status == 429 and (code or "").endswith("spend_limit_reached"):
        again, message = False, "the account's limit of spending is reached: {said}"
    elif 300 <= status < 400:
        message = f"the address answers with a redirection (status {status}), which is not followed"
    again = {"true": True, "false": False}.get(headers.get("x-should-retry", ""), again)
    if again and wait is not None and wait > LONGEST_WAIT:
        again, help_text = False, f"the API asks to wait for {wait:.0f} seconds"
    single = status in (400, 413, 422) or status >= 500
    return Failure(message.format(said=said, model=model), help_text, again, wait, single=single)


def of_stream(kind: str, said: str, model: str) -> Failure:
    """The failure that an error within a stream stands for, whose status is 200; what came before it is paid for."""
    found = of_status(_BY_TYPE.get(kind, 500), said or kind, model)
    found.billed = True
    return found


def timed_out(seconds: float, *, billed: bool) -> Failure:
    """Nothing came for so long; `billed` unless the request cannot have arrived."""
    help_text = "`timeout` of `[draft]` is how long it may take"
    return Failure(f"the API did not answer for {seconds:g} seconds", help_text, True, billed=billed, single=billed)


def garbled(content_type: str, why: str) -> Failure:
    """An answer that is no message: the page of a proxy, say, or one that was cut off."""
    ours = "json" in content_type or "event-stream" in content_type
    message = f"what came back ({content_type[:100]}) is no message of the API: {why}"
    return Failure(message, None if ours else ADDRESS, ours, billed=ours, single=ours)


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
    except (ValueError, OverflowError, OSError):  # no date, or none that exists
        return None

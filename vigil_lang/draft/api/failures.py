"""Why a request to the Messages API failed: whether to make it again, after how long, and how a person is told."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, InputError, Source

if TYPE_CHECKING:
    from vigil_lang.draft.api.discretion import Secrets

LONGEST_WAIT = 120.0
"""Seconds; where the API asks to wait for longer, its user is told instead."""

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
_SHOWN = 370

# What an error within a stream, which has the status 200, has as a status of its own.
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_ANOTHER_KEY = "ANTHROPIC_API_KEY holds the key"
_SMALLER = "give fewer documents at once, or a smaller `--batch`"


class Unanswered(InputError):
    """A request that failed as it may not have done with another text: other requests may well be answered."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An attempt that failed.

    `again` is whether another attempt may succeed, `wait` how many
    seconds the API asks to wait before it. `billed` is whether the attempt may cost something nevertheless. `single` is
    whether it may be for what is asked, as where a filter blocks the reply; a key that is not accepted is for all.
    """

    message: str
    help: str | None = None
    again: bool = False
    wait: float | None = None
    billed: bool = False
    request_id: str | None = None
    single: bool = False

    def pause(self, attempt: int) -> float:
        """Seconds to wait after an attempt, counted from 1: what the API asks for, else longer each time.

        By chance up to a quarter less, lest many callers come back at once.
        """
        if self.wait is not None:
            return max(0.0, self.wait)
        return min(_FIRST_PAUSE * 2.0 ** (attempt - 1), _LONGEST_PAUSE) * random.uniform(0.75, 1.0)

    def shown(self, hidden: Secrets) -> str:
        """The message as it may be shown. What is secret is hidden before the cut, or else a part of it would stay."""
        text = " ".join(hidden.hide(self.message).split())
        return text if len(text) <= _SHOWN else text[:_SHOWN] + " …"

    def error(self, where: str, attempts: int, hidden: Secrets) -> InputError:
        """The error to end with after so many attempts; `where` names the API."""
        message = self.shown(hidden) + (f" (after {attempts} attempts)" if attempts > 1 else "")
        parts = [self.help or "", f"the API knows the request as {self.request_id}" if self.request_id else ""]
        help_text = hidden.hide("; ".join(part for part in parts if part)) or None
        kind = Unanswered if self.single else InputError
        return kind([Diagnostic.of("VGL612", message, Source(where, ""), help=help_text)])


def unavailable(message: str, help_text: str | None, where: str, hidden: Secrets) -> InputError:
    """The error where no request can be made at all."""
    return Failure(message, help_text).error(where, 0, hidden)


def of_status(
    status: int, said: str, model: str, *, code: str | None = None, wait: float | None = None,
    told: bool | None = None, request_id: str | None = None,
) -> Failure:  # fmt: skip
    """The failure that a status of HTTP stands for.

    `said` is the API's message and `code` its finer one; `wait` comes from `retry-after`; `told` is whether the API
    itself says that the request may be made again.
    """
    spent = status == 429 and (code or "").endswith("spend_limit_reached")
    again = told if told is not None else (status in (408, 409, 429) or status >= 500) and not spent
    message, help_text = _words(status, said, model, spent=spent)
    if again and wait is not None and wait > LONGEST_WAIT:
        again, help_text = False, f"the API asks to wait for {wait:.0f} seconds"
    single = status in (400, 413, 422) or status >= 500
    return Failure(message, help_text, again, wait, request_id=request_id, single=single)


def of_type(kind: str, said: str, model: str, request_id: str | None) -> Failure:
    """The failure that an error within a stream stands for; what was said before it is paid for."""
    found = of_status(_STATUS.get(kind, 500), said or kind, model, request_id=request_id)
    return replace(found, wait=None, billed=True)


def timed_out(seconds: float, request_id: str | None, *, billed: bool) -> Failure:
    """Nothing came for so long; `billed` unless the request cannot have arrived."""
    help_text = "`timeout` of `[draft]` is how long it may take"
    message = f"the API did not answer for {seconds:g} seconds"
    return Failure(message, help_text, again=True, billed=billed, request_id=request_id, single=billed)


def garbled(content_type: str, why: str, address: str, request_id: str | None) -> Failure:
    """An answer that is no message: the page of a proxy, say, or one that was cut off."""
    ours = "json" in content_type or "event-stream" in content_type
    message = f"what came back ({content_type[:100]}) is no message of the API: {why}"
    return Failure(message, None if ours else address, again=ours, billed=ours, request_id=request_id, single=ours)


def _words(status: int, said: str, model: str, *, spent: bool) -> tuple[str, str | None]:
    match status:
        case 400 | 422:
            return f"the API refuses the request: {said}", None
        case 401:
            return "the API does not accept the key", _ANOTHER_KEY
        case 402:
            return f"the account cannot pay for the request: {said}", None
        case 403:
            return f"the key does not allow the request: {said}", _ANOTHER_KEY
        case 404:
            help_text = "`model` of `[draft]` or `--model` names the model, ANTHROPIC_BASE_URL where the API is"
            return f"the API has no model `{model}`, or is not at this address: {said}", help_text
        case 413:
            return "the request is larger than the API takes", _SMALLER
        case 429 if spent:
            return f"the account's limit of spending is reached: {said}", None
        case 429:
            return "the API takes no more requests for now", None
        case 529:
            return "the API is overloaded", None
        case _ if 300 <= status < 400:
            return f"the address answers with a redirection (status {status}), which is not followed", None
    return f"the API fails with status {status}: {said}", None

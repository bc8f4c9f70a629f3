"""No other site makes a person's browser do anything: where a form comes from is checked, and a token that it has."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from vigil_lang.service.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from starlette.requests import HTTPConnection

FIELD = "csrf"
"""The hidden field of every form."""

HEADER = "x-csrf-token"
"""Where a script sends it."""


def token(request: HTTPConnection) -> str:
    """The token of the session that a request is of, for its forms; empty where nobody is signed in.

    `Authentication.principal` has to have looked at the request before.
    """
    found: str | None = getattr(request.state, "csrf", None)
    return found or ""


def check_origin(request: HTTPConnection) -> None:
    """Refuse what another site had a browser send.

    Raises:
        Refused: 403: `Sec-Fetch-Site` says so, or `Origin` is another than the page's.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    own: str | None = getattr(request.state, "own_origin", None)
    if site is not None and site != "same-origin":
        raise Refused(403, "foreign_origin", "another site sent this: nothing was done")
    if origin is not None and origin != own:
        raise Refused(403, "foreign_origin", "another site sent this: nothing was done")


def check(request: HTTPConnection, form: Mapping[str, Any]) -> None:
    """Refuse a request that changes something and was not made from a page of this session.

    A request with the operator's `Authorization: Bearer` passes: no browser adds that by itself.

    Raises:
        Refused: 403: another site sent it, or the session's token is missing (field `csrf`, or header `X-CSRF-Token`).
    """
    check_origin(request)
    if getattr(request.state, "by_bearer", False):
        return
    given, known = form.get(FIELD) or request.headers.get(HEADER), token(request)
    if not known or not isinstance(given, str) or not hmac.compare_digest(given.encode(), known.encode()):
        raise Refused(403, "csrf", "the form is of another session: load the page again")

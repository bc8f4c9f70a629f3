"""What the service refuses, and with which status."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Refused(Exception):
    """A request is refused. It is rendered as JSON by an API and as a page by the page; the message says why."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})


def error_json(code: str, message: str) -> dict[str, object]:
    """The body of every error that is no page and no problem of the access request profile."""
    return {"error": {"code": code, "message": message}}

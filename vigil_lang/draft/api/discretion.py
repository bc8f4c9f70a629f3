"""What must never be shown: keys, and what else a request carries to prove who sends it."""

from __future__ import annotations

import logging
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit
from urllib.request import getproxies

if TYPE_CHECKING:
    from collections.abc import Iterable

_HIDDEN = "[hidden]"
_SHORTEST = 6
"""Characters below which a text is no secret, and taking it out would only garble messages."""

_TOKEN = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.~%+=-]{10,}")
"""What in the path of an address may be a token."""

_LOGGERS = ("", "anthropic", "httpx2", "httpcore2")


class Secrets:
    """Texts to be taken out of whatever is shown."""

    def __init__(self, texts: Iterable[str]) -> None:
        # The longest first, for one may be the beginning of another.
        self._texts = sorted({text for text in texts if len(text) >= _SHORTEST}, key=len, reverse=True)

    def hide(self, text: str) -> str:
        """The text without them."""
        for secret in self._texts:
            text = text.replace(secret, _HIDDEN)
        return text


def secrets(base_url: str, keys: Iterable[str | None]) -> Secrets:
    """The keys, the credentials within the addresses of API and proxies, and the headers that the environment adds."""
    found = [key for key in keys if key]
    for address in (base_url, *getproxies().values()):
        with suppress(ValueError):  # no address at all
            url = urlsplit(address)
            found += [part for part in (url.username, url.password) if part]
            found += [value for _, value in parse_qsl(url.query)]
            found += [part for part in url.path.split("/") if _TOKEN.fullmatch(part)]  # a gateway may be told so
    # The SDK splits this at line ends.
    lines = os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n")
    found += [value.strip() for _, colon, value in (line.partition(":") for line in lines) if colon]
    return Secrets([*found, *map(unquote, found), *(part for text in found for part in text.split(" "))])


class DiscreetLogs(logging.Filter):
    """Takes secrets out of what the SDK logs (`ANTHROPIC_LOG=debug`), from `attach` to `detach`."""

    def __init__(self, hidden: Secrets) -> None:
        super().__init__()
        self._hidden = hidden
        self._handlers: list[logging.Handler] = []

    def attach(self) -> None:
        """Filter what is written by the handlers that there are now."""
        self._handlers = [handler for name in _LOGGERS for handler in logging.getLogger(name).handlers]
        for handler in self._handlers:
            handler.addFilter(self)

    def detach(self) -> None:
        """Leave the handlers as they were."""
        for handler in self._handlers:
            handler.removeFilter(self)
        self._handlers = []

    def filter(self, record: logging.LogRecord) -> bool:
        """Pass every record, its text and its traceback without secrets."""
        text = record.getMessage()
        if record.exc_info:
            text += "\n" + logging.Formatter().formatException(record.exc_info)
        record.msg, record.args, record.exc_info, record.exc_text = self._hidden.hide(text), (), None, None
        return True

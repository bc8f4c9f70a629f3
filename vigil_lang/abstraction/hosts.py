"""The machines that addresses name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Iterable

_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]*://"
_USER = r"(?:[^/?#\\]*@)?"
_HOST = regex(
    _SCHEME + _USER + r"(?P<host>\[[^\]]*\]|[^/?#:\\%@]*)(?=[/?#:]|\Z)"
    r"|" + _USER + r"(?P<bare>\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::[0-9]+)?(?=[/?#]|\Z)|(?P<here>:[0-9]*(?=[/?#]|\Z))"
)
"""The host of an address; of HTTPie's `:8000/path` it is this machine.

A backslash before the path ends the host for some programs, and for others is part of a user; some decode `%65`.
"""
_NOWHERE = regex(r"(?:about|blob|data|file|javascript|mailto|tel):|\Z", re.IGNORECASE)
"""What addresses of no machine begin with."""
_BEGINNING = regex(_SCHEME + r"(?:[\w.%:-]*@)?([A-Za-z0-9.-]+)(?::[0-9]+)?[/?#]")


def hosts_of(urls: Iterable[str], *, schemeless: bool) -> tuple[tuple[str, ...], bool]:
    """The machines of some addresses, each once, and whether all are known.

    `schemeless` says whether an address may begin with its host.
    """
    found: dict[str, None] = {}
    known = True
    for url in urls:
        match = _HOST.match(url) if schemeless or "://" in url else None
        if match and (host := match["host"] or match["bare"] or (match["here"] and "localhost")):
            found[machine(host)] = None
        else:
            known = known and (is_nowhere(url) or not (schemeless or "://" in url))
    return tuple(found), known


def is_nowhere(url: str) -> bool:
    """Whether an address is of no machine: `file:`, `data:`, `about:blank`."""
    return _NOWHERE.match(url) is not None


def host_of_beginning(text: str) -> str | None:
    """The machine of an address some of which is not known, and stands behind a `$`: `https://a.example/$PAGE`."""
    match = _BEGINNING.match(text)
    return match[1] if match else None


def machine(host: str) -> str:
    """The name of a machine, which case and dots at its end do not change."""
    return host.lower().rstrip(".")

"""How often somebody may try to sign in, and what of it is in the log.

Attempts are counted by address and by name. Of refusals the log has one entry a minute for each address and cause, with
how many there were, and at most `MOST_ENTRIES` a minute in all: a flood of wrong tokens does not fill it.
"""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from vigil_lang.service.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

ATTEMPTS = 30
"""Sign-ins, whether they succeed or not, of an address or a name in a minute."""

MOST_ENTRIES = 30
"""Entries of refusals a minute."""

REMEMBERED = 10_000
"""Addresses and names of which attempts are counted; the oldest are forgotten first."""

_MINUTE = 60.0


class Attempts:
    """Counts attempts. `clock` gives seconds. It is used by one thread, the event loop's."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tried: OrderedDict[str, tuple[float, int]] = OrderedDict()
        self._refused: OrderedDict[tuple[str, str], tuple[float, int]] = OrderedDict()
        self._entries: tuple[float, int] = (clock(), 0)

    def check(self, *names: str) -> None:
        """Count an attempt of each name: an address, or who somebody says she is.

        Raises:
            Refused: 429, there were too many in this minute.
        """
        for name in names:
            began, count = self._counted(self._tried, name)
            if count > ATTEMPTS:
                left = str(max(1, int(began + _MINUTE - self._clock()) + 1))
                raise Refused(429, "too_many", "too many attempts: wait a minute", {"Retry-After": left})

    def to_tell(self, what: str, address: str) -> int:
        """A refusal: how many to tell the log of now, this one and those that it was not told of; 0 to tell nothing."""
        key = what, address
        before = self._refused.get(key)
        now = self._clock()
        if before is not None and now < before[0] + _MINUTE:
            self._refused[key] = before[0], before[1] + 1
            return 0
        began, entries = self._entries
        if now >= began + _MINUTE:
            began, entries = now, 0
        untold = 0 if before is None else before[1]
        if entries >= MOST_ENTRIES:
            self._remember(key, (before[0] if before else now - _MINUTE, untold + 1))
            return 0
        self._entries = began, entries + 1
        self._remember(key, (now, 0))
        return untold + 1

    def _remember(self, key: tuple[str, str], value: tuple[float, int]) -> None:
        self._refused[key] = value
        self._refused.move_to_end(key)
        if len(self._refused) > REMEMBERED:
            self._refused.popitem(last=False)

    def _counted(self, table: OrderedDict[str, tuple[float, int]], name: str) -> tuple[float, int]:
        now = self._clock()
        began, count = table.get(name, (now, 0))
        if now >= began + _MINUTE:
            began, count = now, 0
        table[name] = began, count + 1
        table.move_to_end(name)
        if len(table) > REMEMBERED:
            table.popitem(last=False)
        return began, count + 1


def network_of(host: str | None) -> str:
    """What stands for who is at an address: the address itself, for IPv6 its network of 64 bits."""
    try:
        found = ipaddress.ip_address(host or "")
    except ValueError:
        return "local"
    if isinstance(found, ipaddress.IPv6Address):
        return str(found.ipv4_mapped) if found.ipv4_mapped else str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)

"""Which limits of a chain the next call would exceed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.gate.authority.chain import Chain, Per

WORDS: dict[Per, str] = {"run": "a run", "hour": "an hour", "day": "a day"}


def exhausted(chain: Chain, counters: Mapping[str, Mapping[Per, int]], at: int) -> tuple[str, ...]:
    """Why one more call would exceed the limits of a chain's links, one text a link; empty where it would not.

    `counters` has by a link's id how many calls it let pass, under whatever chain: in the run at hand, the last hour,
    the last 24 hours. A link that is not among them counts as used up. `at` is in POSIX seconds.
    """
    found = []
    for place, (link, limits) in enumerate(zip(chain.links, chain.limits, strict=False)):
        counter = counters.get(link.id)
        if at >= limits.until:
            found.append(f"link {place} lets calls pass until {limits.until} only")
        elif counter is None:
            found.append(f"nobody knows how many calls link {place} let pass")
        elif counter[limits.per] >= limits.calls:
            found.append(f"link {place} lets {limits.calls} calls pass in {WORDS[limits.per]}, and they did")
    return tuple(found)

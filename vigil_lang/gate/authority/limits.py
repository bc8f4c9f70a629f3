"""Which limits of a chain the next call would exceed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.gate.authority.chain import Chain, Per

WORDS: dict[Per, str] = {"run": "this run", "hour": "the last hour", "day": "the last day"}


def exhausted(chain: Chain, counters: Mapping[str, Mapping[Per, int]], at: int) -> tuple[str, ...]:
    """Why one more call is beyond the limits of a chain's links, one text a link; empty where none is.

    `counters` has by a link's id how many calls passed under any chain with that link, in this run, the last hour and
    the last day; `at` is in POSIX seconds. What a link has no counter for counts as used up.
    """
    found = []
    for place, (link, limits) in enumerate(zip(chain.links, chain.limits, strict=False)):
        if at >= limits.until:
            found.append(f"link {place} lets calls pass until {limits.until} only")
            continue
        passed = counters.get(link.id, {}).get(limits.per)
        if passed is None:
            found.append(f"it is not known how many calls passed under link {place}")
        elif passed >= limits.calls:
            found.append(f"link {place} lets {limits.calls} calls pass in {WORDS[limits.per]}; {passed} did")
    return tuple(found)

"""Which limits of a chain the next call would exceed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.gate.authority.chain import Chain, Per

WORDS: dict[Per, str] = {"run": "a run", "hour": "an hour", "day": "a day"}


class Passed(Protocol):
    """How many calls a link let pass, under whatever chain: in the run at hand, the last hour, the last 24 hours."""

    @property
    def run(self) -> int: ...

    @property
    def hour(self) -> int: ...

    @property
    def day(self) -> int: ...


def exhausted(chain: Chain, counters: Mapping[str, Passed], at: int) -> tuple[str, ...]:
    """Why one more call would exceed the limits of a chain's links, one text a link; empty where it would not.

    `counters` has what each link let pass, by its id; a link that is not among them counts as used up. `at` is in
    POSIX seconds.
    """
    found = []
    for place, (link, limits) in enumerate(zip(chain.links, chain.limits, strict=False)):
        counter = counters.get(link.id)
        if at >= limits.until:
            found.append(f"link {place} lets calls pass until {limits.until} only")
        elif counter is None:
            found.append(f"nobody knows how many calls link {place} let pass")
        elif getattr(counter, limits.per) >= limits.calls:
            found.append(f"link {place} lets {limits.calls} calls pass in {WORDS[limits.per]}, and they did")
    return tuple(found)

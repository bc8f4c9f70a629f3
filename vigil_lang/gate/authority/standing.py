"""What an agent may do at a moment: its chain, as far as it counts, and what of it is revoked or used up."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.base.files import open_input
from vigil_lang.gate.authority.chain import MAX_BYTES, Chain, verify_chain
from vigil_lang.gate.authority.grants import grant_condition
from vigil_lang.gate.authority.limits import exhausted
from vigil_lang.gate.decide import Authority

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.gate.authority.chain import Per
    from vigil_lang.gate.request import Request
    from vigil_lang.gate.revocation import Revoked
    from vigil_lang.gate.settings import AuthoritySettings

OPEN = "open"
NONE = "none"
"""What stands for the digest of a chain where authority is open, and where there is no chain."""

MAX_CHAINS = 100
"""Chains that are remembered as verified."""


class Standing(NamedTuple):
    """The chain that an agent acts under, None where there is none; what stands for it in decisions; and why it counts
    for nothing, or what was named in its place."""

    chain: Chain | None
    digest: str
    refused: tuple[str, ...] = ()

    @property
    def links(self) -> list[str]:
        """The ids of its links."""
        return [] if self.chain is None else [link.id for link in self.chain.links]

    @property
    def grants(self) -> tuple[str, ...]:
        """The texts of its grants."""
        return () if self.chain is None else self.chain.grants

    @property
    def holder(self) -> str | None:
        """The key that the agent acts under."""
        return None if self.chain is None else self.chain.holder


class Authorities:
    """Finds and verifies the chains of agents: once, and again when one of their times comes, or something is revoked.

    `audience` is the name of the log.
    """

    def __init__(self, settings: AuthoritySettings, audience: str) -> None:
        self._settings = settings
        self._audience = audience
        self._known: dict[tuple[str, int], tuple[Chain, int]] = {}

    def standing(self, request: Request, at: int, revoked: Revoked) -> Standing:
        """What an agent acts under at a time in POSIX seconds: the chain that the settings name for it."""
        if self._settings.mode == "open":
            return Standing(None, OPEN)
        if request.chain is not None:
            return self._proved(request.chain, self._settings.chains.get(request.agent), at, revoked)
        set_to, presented = self._settings.chains.get(request.agent), request.authority
        if set_to is not None and presented not in (None, set_to):
            return Standing(None, NONE, (f"the settings name another chain for the agent than {presented}",))
        if presented is not None and set_to is None and not self._settings.presented:
            return Standing(None, NONE, ("the settings name no chain for the agent, and take none from requests",))
        path = set_to or presented
        if path is None:
            return Standing(None, NONE)
        try:
            return self._of(_content(path), at, revoked)
        except (OSError, ValueError) as error:
            return Standing(None, NONE, (f"the chain {path} cannot be read: {error}",))

    def _proved(self, data: bytes, set_to: str | None, at: int, revoked: Revoked) -> Standing:
        """What counts of a chain whose holder proved that it is her, where the settings name none or this one."""
        found = self._of(data, at, revoked)
        try:
            if set_to is None or self._of(_content(set_to), at, revoked).digest == found.digest:
                return found
        except (OSError, ValueError) as error:
            return Standing(None, NONE, (f"the chain {set_to} cannot be read: {error}",))
        return Standing(None, NONE, ("the settings name another chain for the agent than it presented",))

    def _of(self, data: bytes, at: int, revoked: Revoked) -> Standing:
        key = hashlib.sha256(data).hexdigest(), revoked.seq
        known = self._known.get(key)
        if known is None or _ages(known[0], known[1], at):
            if len(self._known) >= MAX_CHAINS:
                self._known.clear()
            known = self._known[key] = verify_chain(data, self._settings.roots, self._audience, at, revoked), at
        chain = known[0]
        problems = [f"the chain does not count: {each.message}" for each in chain.problems if each.kind != "revoked"]
        return Standing(chain, chain.digest or NONE, tuple(problems))

    def authority(
        self,
        request: Request,
        standing: Standing,
        revoked: Revoked,
        counted: Mapping[str, Mapping[Per, int]],
        at: int,
    ) -> Authority:
        """What the kernel is told of it; `counted` is how many calls each link let pass."""
        chain = standing.chain
        links = () if chain is None else chain.links
        keys = dict.fromkeys(key for link in links for key in (link.payload.iss, link.payload.sub))
        gone = revoked.reasons(request.agent, request.run, keys, standing.links)
        stale = tuple(filter(None, [revoked.stale(at)]))
        if chain is None:
            return Authority(open=self._settings.mode == "open", refused=standing.refused, revoked=gone, stale=stale)
        beyond = () if chain.problems else exhausted(chain, counted, at)
        grants = tuple(map(grant_condition, chain.grants))
        return Authority(grants, False, standing.refused, gone, beyond, stale)


def _content(path: str) -> bytes:
    with open_input(path) as stream:
        return stream.read(MAX_BYTES + 1)


def _ages(chain: Chain, checked: int, at: int) -> bool:
    """Whether a link began or ended since a chain was verified."""
    early, late = sorted((checked, at))
    return any(early < time <= late for link in chain.links for time in (link.payload.nbf, link.payload.exp))

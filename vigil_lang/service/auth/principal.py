"""Who asks, as the service knows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from vigil_lang.gate import people

Role: TypeAlias = people.Role


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: an agent in one run, which proved that it has its `key`; a person who signed in; or the operator, who
    has the token that the service printed when it started.

    `name` is the agent's, or the person's. `role` is None for an agent, which looks at nothing but its own run.
    """

    kind: Literal["agent", "person", "operator"]
    name: str
    role: Role | None = None
    run: str | None = None
    key: str | None = None
    chain: bytes | None = None
    """The chain that an agent acts under, as it was presented."""
    session: str | None = None
    """What tells this sign-in from others of the person; it is no secret."""
    person: str | None = None
    """The id of the person, in the log."""

    def may(self, role: Role) -> bool:
        """Whether it has a role, or one that may more."""
        return self.role is not None and people.ROLES.index(self.role) >= people.ROLES.index(role)

"""What enforcement points tell the gate beside requests, and what they are told: that a run begins, how its calls
ended, what is violated and what is owed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from vigil_lang.base.structs import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.enforce import run
    from vigil_lang.gate.brought import Brought
    from vigil_lang.trace import Status


class Entering(Frozen, frozen=True):
    """A run of an agent begins at an enforcement point, with the policies that it goes by beside those of the settings.
    A run that began elsewhere, without policies of its own, goes by them from now on.

    `policies` are those that the registration names, by absolute paths or names of standard modules; they count as
    personal. `workspace_policies` are those that the workspace brings: they may add rules, and lower none. `protected`
    are absolute paths, as globs, that the agent neither changes nor removes. With `apply_changes` the run goes by its
    policies as they are now, also where it began with others. `brought` are policies of another machine; they may add
    rules, and lower none. `chain` is the one that the agent acts under, where it proved that to a service.
    """

    run: str
    agent: str
    host: str | None = None
    cwd: str | None = None
    policies: tuple[str, ...] = ()
    workspace_policies: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    user: str | None = None
    apply_changes: bool = False
    brought: tuple[Brought, ...] = ()
    chain: bytes | None = None


class Ended(Frozen, frozen=True):
    """How a call ended.

    `call` is the host's id of it; without one it is the oldest call in flight of this tool with this input. `input` is
    None where the host does not repeat it, which takes a `call`. `executed` is False for a call that was not made after
    all. `cwd` is the directory that the shell is in afterwards; `session`, `parent`, `directory` and `agent` are those
    of the call, needed where nobody asked about it.
    """

    tool: str
    input: Mapping[str, object] | None
    status: Status = "unknown"
    output: str | None = None
    call: str | None = None
    exit_code: int | None = None
    executed: bool = True
    cwd: str | None = None
    session: str = ""
    parent: str | None = None
    directory: str | None = None
    agent: str = ""


class Violation(msgspec.Struct, frozen=True):
    """A statement that is violated for certain; `policy` is the path of its policy."""

    policy: str
    name: str
    message: str

    @classmethod
    def of(cls, broken: run.Broken) -> Violation:
        """What an enforcement point is told of a statement that is broken."""
        return cls(broken.policy, broken.statement.name, broken.offence.message)


class Owed(msgspec.Struct, frozen=True):
    """Something that is owed since an event, under these values of the variables.

    `message` says in words what would meet it, `said` is what the policy's author says of it.
    """

    policy: str
    name: str
    event: str
    bindings: dict[str, str | None]
    message: str
    said: str | None = None

    @classmethod
    def of(cls, obligation: run.Obligation) -> Owed:
        """What an enforcement point is told of an obligation."""
        of = obligation
        said = of.statement.metadata.message
        return cls(of.policy, of.statement.name, of.event, dict(of.bindings), of.message, said)

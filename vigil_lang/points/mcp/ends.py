"""The two ends of a relay, and what its parts ask of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from vigil_lang.points.mcp.link import Link
from vigil_lang.points.mcp.messages import VERSION_KEY, meta

if TYPE_CHECKING:
    from vigil_lang.points.mcp.keeper import Call, Keeper
    from vigil_lang.points.mcp.messages import Id, Message
    from vigil_lang.points.mcp.pins import Pins
    from vigil_lang.points.mcp.servers import Connection
    from vigil_lang.points.mcp.specs import ServerSpec


class Front(Protocol):
    """The connection to the client. `related` is the client's request that a message belongs to, if known."""

    can_ask: bool
    """Whether requests can be sent to the client."""

    async def send(self, message: Message, related: Id | None = None) -> None: ...


@dataclass(frozen=True, slots=True)
class Rules:
    """How the proxy treats what is held: `wait` is how many seconds a call waits for its confirmation, `principal` who
    the client is. With `observe` every call is made, whatever the gate says."""

    wait: float = 0
    principal: str = ""
    observe: bool = False


@dataclass(slots=True)
class Server:
    """One server of a relay, with what is known of it."""

    spec: ServerSpec
    connection: Connection
    link: Link = field(default_factory=Link)
    tools: dict[str, dict[str, Any]] = field(default_factory=dict)
    listed: bool = False
    alive: bool = True
    version: str | None = None
    capabilities: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What policies call it."""
        return self.spec.name


class Router(Protocol):
    """What the parts of a relay ask of it."""

    front: Front
    keeper: Keeper
    pins: Pins
    rules: Rules
    servers: dict[str, Server]
    is_single: bool
    capabilities: Message
    version: str | None

    def initialized(self, message: Message) -> None: ...

    async def ask(self, server: Server, method: str, params: Message | None, related: Id | None = None) -> Message: ...

    async def call(self, server: Server, call: Call, params: Message, related: Id) -> Message: ...

    async def reply(self, number: Id, answer: Message) -> None: ...

    async def ask_client(self, method: str, params: Message, related: Id) -> Message: ...

    async def tool(self, server: Server, name: str, params: Message) -> dict[str, Any] | None: ...

    async def list_tools(self, server: Server, params: Message) -> list[dict[str, Any]]: ...


def era_of(params: Message) -> str | None:
    """The version that a request of the stateless era names; None for one of the handshake era."""
    found = meta(params).get(VERSION_KEY)
    return found if isinstance(found, str) else None


def elicits(capabilities: object) -> bool:
    """Whether a client can show its user a form."""
    found = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return isinstance(found, dict) and (not found or "form" in found)

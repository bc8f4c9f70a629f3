"""Servers as they are named: a command to start, or a URL; and reading them from a client's configuration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vigil_lang.points.mcp.names import is_server_name

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from vigil_lang.points.mcp.messages import Message

    Heard = Callable[[Message], Awaitable[None]]
    """Takes what a server sends."""
    Gone = Callable[[str], Awaitable[None]]
    """Takes why a server is gone."""


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """A server by its name, and how it is reached: a command to start, or a URL with headers."""

    name: str
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


def specs_of(found: Any) -> list[ServerSpec]:
    """The servers in a configuration of the `mcpServers` form, or of VS Code's `servers`.

    Raises:
        ValueError: it is none, or has a server that cannot be behind the proxy; the text says which.
    """
    servers = found.get("mcpServers", found.get("servers")) if isinstance(found, dict) else None
    if not isinstance(servers, dict) or not servers:
        raise ValueError("it has no `mcpServers`")
    specs = []
    for name, each in servers.items():
        if not is_server_name(name):
            raise ValueError(
                f"a server is called {name[:60]!r}: letters, digits, `-` and single `_` between them are allowed"
            )
        if not isinstance(each, dict):
            raise ValueError(f"the server `{name}` is no object")
        specs.append(_spec(name, each))
    return specs


def _spec(name: str, each: dict[str, Any]) -> ServerSpec:
    url = each.get("url", each.get("httpUrl"))
    command, args = each.get("command"), each.get("args", [])
    env, headers, cwd = each.get("env", {}), each.get("headers", {}), each.get("cwd")
    if each.get("type") == "sse":
        raise ValueError(f"the server `{name}` speaks the old HTTP+SSE transport, which the proxy does not")
    if (command is None) == (url is None):
        raise ValueError(f"the server `{name}` needs either `command` or `url`")
    if not all(isinstance(text, str | None) for text in (command, url, cwd)):
        raise ValueError(f"`command`, `url` and `cwd` of the server `{name}` are texts")
    if not isinstance(args, list) or not all(isinstance(arg, str) for arg in args):
        raise ValueError(f"`args` of the server `{name}` is a list of texts")
    for label, table in (("env", env), ("headers", headers)):
        if not isinstance(table, dict) or not all(isinstance(text, str) for text in table.values()):
            raise ValueError(f"`{label}` of the server `{name}` is an object with texts")
    return ServerSpec(name, () if command is None else (command, *args), env, cwd, url, headers)

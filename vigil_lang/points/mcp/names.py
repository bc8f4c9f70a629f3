"""Names of servers and tools: `mcp__SERVER__TOOL` for policies, `SERVER__TOOL` for a client of several servers."""

from __future__ import annotations

import re

_SERVER = re.compile(r"[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*")
_TOOL = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


def is_server_name(name: str) -> bool:
    """Whether a server may have a name: letters, digits, `-`, and single `_` between them.

    So the first `__` in a name always ends the server's, whatever its tool is called.
    """
    return len(name) <= 64 and _SERVER.fullmatch(name) is not None


def server_name(text: str) -> str:
    """A name that a server may have, from any text."""
    return "_".join(part for part in re.split(r"[^A-Za-z0-9-]+", text) if part)[:64].rstrip("_") or "server"


def is_tool_name(name: str) -> bool:
    """Whether policies can tell a tool by its name: no letters that only look like others, and nothing unseen."""
    return _TOOL.fullmatch(name) is not None


def policy_name(server: str, tool: str) -> str:
    """What policies call a tool: as Claude Code names it, so that one policy works behind its hook and the proxy."""
    return f"mcp__{server}__{_OTHER.sub('_', tool)}"


def client_name(server: str, name: str) -> str:
    """What a client of several servers calls a tool or prompt."""
    return f"{server}__{name}"


def split_name(name: str) -> tuple[str, str] | None:
    """The server and its own name of a tool or prompt that a client of several servers names; None where there is no
    server in it."""
    server, mark, rest = name.partition("__")
    return (server, rest) if mark and server and rest else None

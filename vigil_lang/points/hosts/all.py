"""The hosts by the names that `--host` takes. A hook is of one host, and imports no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vigil_lang.points.hosts.host import Host

HOSTS = ("claude", "codex", "gemini", "copilot", "cursor")


def host_of(name: str) -> Host | None:
    """The host of a name; None where there is none."""
    match name:
        case "claude":
            from vigil_lang.points.hosts.claude import HOST
        case "codex":
            from vigil_lang.points.hosts.codex import HOST
        case "gemini":
            from vigil_lang.points.hosts.gemini import HOST
        case "copilot":
            from vigil_lang.points.hosts.copilot import HOST
        case "cursor":
            from vigil_lang.points.hosts.cursor import HOST
        case _:
            return None
    return HOST

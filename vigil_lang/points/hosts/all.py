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
            from vigil_lang.points.hosts import claude

            return claude.HOST
        case "codex":
            from vigil_lang.points.hosts import codex

            return codex.HOST
        case "gemini":
            from vigil_lang.points.hosts import gemini

            return gemini.HOST
        case "copilot":
            from vigil_lang.points.hosts import copilot

            return copilot.HOST
        case "cursor":
            from vigil_lang.points.hosts import cursor

            return cursor.HOST
    return None

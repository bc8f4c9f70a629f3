"""The hosts by the names that `--host` takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.points.hosts import claude, codex, copilot, cursor, gemini

if TYPE_CHECKING:
    from vigil_lang.points.hosts.host import Host

HOSTS: dict[str, Host] = {each.HOST.name: each.HOST for each in (claude, codex, gemini, copilot, cursor)}

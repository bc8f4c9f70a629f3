"""Gemini CLI, measured on 0.61.0: the JSON on standard output decides, whatever the exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.points.hosts.host import Heard, Host, under, upwards, written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.points.invocation import Reply

_TELLING = frozenset({"AfterTool", "BeforeAgent", "SessionStart"})


class Gemini(Host):
    """Gemini CLI. It goes on for ever while a hook blocks the end of a turn."""

    name = "gemini"
    asks = True

    def settings_files(self, folder: str, env: Mapping[str, str]) -> tuple[str, ...]:
        home = under(env.get("GEMINI_CLI_HOME") or env.get("HOME"), ".gemini/settings.json")
        return (*home, *upwards(folder, ".gemini/settings.json"), "/etc/gemini-cli/settings.json")

    def ask(self, heard: Heard, text: str) -> Reply:  # noqa: ARG002 - the event is the only one that asks
        return written({"decision": "ask", "reason": text})

    def halt(self, heard: Heard, text: str) -> Reply:  # noqa: ARG002 - the event is the only one that halts
        return written({"decision": "deny", "reason": text, "continue": False, "stopReason": text})

    def tell(self, heard: Heard, text: str) -> Reply:
        return super().tell(heard, text) if heard.event in _TELLING else written({"systemMessage": text})


HOST = Gemini()

"""GitHub Copilot CLI, measured on 1.0.102: payloads in its own form or Claude Code's, by the name of the event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.points.hosts.host import Heard, Host, under, upwards, written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.points.invocation import Reply

_TELLING = frozenset({"SessionStart", "sessionStart"})


class Copilot(Host):
    """GitHub Copilot CLI. Asked without a person at hand, it denies."""

    name = "copilot"
    asks = True

    def settings_files(self, folder: str, env: Mapping[str, str]) -> tuple[str, ...]:
        names = (".github/hooks/*.json", ".claude/settings.json", ".claude/settings.local.json")
        home = under(env.get("COPILOT_HOME"), "hooks/*.json", "settings.json") or under(
            env.get("HOME"), ".copilot/hooks/*.json", ".copilot/settings.json"
        )
        return (*home, *upwards(folder, *names), "/etc/github-copilot/policy.d/*.json")

    def ask(self, heard: Heard, text: str) -> Reply:  # noqa: ARG002 - the event is the only one that asks
        return written({"permissionDecision": "ask", "permissionDecisionReason": text})

    def tell(self, heard: Heard, text: str) -> Reply:
        return written({"additionalContext": text}) if heard.event in _TELLING else self.nothing(heard)


HOST = Copilot()

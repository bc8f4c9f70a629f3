"""Cursor, by what others observed on 3.9.16: flat answers, and with `failClosed` an empty one blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.points.hosts.host import Heard, Host, under, upwards, written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.points.invocation import Reply


class Cursor(Host):
    """Cursor. It does not ask before a tool, and itself limits how often the end of a turn is put off."""

    name = "cursor"
    caps_stops = True

    def settings_files(self, folder: str, env: Mapping[str, str]) -> tuple[str, ...]:
        home = under(env.get("HOME"), ".cursor/hooks.json")
        return (*home, *upwards(folder, ".cursor/hooks.json"), "/etc/cursor/hooks.json")

    def block(self, heard: Heard, text: str) -> Reply:  # noqa: ARG002 - the same for all events before a call
        return written({"permission": "deny", "user_message": text, "agent_message": text})

    def tell(self, heard: Heard, text: str) -> Reply:
        if heard.kind == "before":
            return written({"permission": "allow", "agent_message": text})
        return written({"additional_context": text}) if heard.kind in ("start", "after") else self.nothing(heard)

    def owed(self, heard: Heard, text: str) -> Reply:  # noqa: ARG002 - the event is the only one at the end of a turn
        return written({"followup_message": text})

    def nothing(self, heard: Heard | None = None) -> Reply:
        if heard is not None and heard.kind == "before":
            return written({"permission": "allow"})
        if heard is not None and heard.kind == "prompt":
            return written({"continue": True})
        return super().nothing(heard)


HOST = Cursor()

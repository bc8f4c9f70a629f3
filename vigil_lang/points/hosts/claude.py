"""Claude Code, measured on 2.1.329: a JSON answer at exit status 0 decides, also where permissions are bypassed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from vigil_lang.base.files import read_bytes
from vigil_lang.ingest.content import obj, objects
from vigil_lang.ingest.json_text import REFUSED, decode
from vigil_lang.points.hosts.host import Heard, Host, under, upwards, written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.points.invocation import Reply

_TELLING = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart"})
_MANAGED = ("/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json")
_LONGEST = 4_000_000


class Claude(Host):
    """Claude Code. It stops telling what is owed after eight times by itself."""

    name = "claude"
    asks = True
    caps_stops = True

    def settings_files(self, folder: str, env: Mapping[str, str]) -> tuple[str, ...]:
        names = (".claude/settings.json", ".claude/settings.local.json")
        home = under(env.get("CLAUDE_CONFIG_DIR"), "settings.json") or under(env.get("HOME"), ".claude/settings.json")
        return (*home, *upwards(folder, *names), *_MANAGED)

    def disarmed(self, heard: Heard, folder: str, env: Mapping[str, str]) -> str | None:
        if heard.source == "policy_settings" or heard.source == "skills" or heard.file is None:
            return None  # those are not ours to refuse, and hold no registration
        changed = _settings(heard.file)
        if changed is None:
            return f"`{heard.file}` cannot be read as settings"
        if changed.get("disableAllHooks"):
            return f"`{heard.file}` would turn all hooks off"
        plugins = changed.get("enabledPlugins")
        if any("vigil" in str(name) and not on for name, on in plugins.items()) if isinstance(plugins, dict) else False:
            return f"`{heard.file}` would turn our plugin off"
        if env.get("CLAUDE_PLUGIN_ROOT"):
            return None
        files = self.settings_files(folder, env)
        if heard.file in files and not any(_registers(_settings(path)) for path in files):
            return f"without what stood in `{heard.file}` the hook is registered no more"
        return None

    def ask(self, heard: Heard, text: str) -> Reply:  # noqa: ARG002 - the event is the only one that asks
        own = {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": text}
        return written({"hookSpecificOutput": own})

    def halt(self, heard: Heard, text: str) -> Reply:
        # Alone, `continue` would let the call through and stop afterwards.
        return written({"continue": False, "stopReason": text} | json.loads(self.block(heard, text).stdout))

    def tell(self, heard: Heard, text: str) -> Reply:
        return super().tell(heard, text) if heard.event in _TELLING else self.nothing(heard)


HOST = Claude()


def _settings(path: str) -> dict[str, Any] | None:
    """The settings in a file; none where it is gone, None where it holds something else."""
    try:
        found = decode(read_bytes(path, _LONGEST))
    except FileNotFoundError:
        return {}
    except (OSError, *REFUSED):
        return None
    return found if isinstance(found, dict) else None


def _registers(settings: dict[str, Any] | None) -> bool:
    hooks = obj((settings or {}).get("hooks")).get("PreToolUse")
    commands = [hook for group in objects(hooks) for hook in objects(group.get("hooks"))]
    return any("vigil" in f"{hook.get('command')} {hook.get('args')}".lower() for hook in commands)

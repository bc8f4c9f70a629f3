"""Each host as `vigil hook install` knows it: its settings files, its events, and the form of a registered hook.

Measured on Claude Code 2.1.329, Codex 0.169.0, Gemini CLI 0.61.0 and Copilot CLI 1.0.102; Cursor is as documented.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

Scope: TypeAlias = Literal["user", "project", "managed"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

Moment: TypeAlias = Literal["before", "change", "other"]
"""Whether a host's event comes before a call or before a change of its settings: where it does, a fault blocks."""

NO_ANSWER = (
    "Vigil did not answer, so this was blocked. It is not this call that is at fault: a person has to run "
    "`vigil hook status`."
)
"""What the agent is told where our program fails."""


@dataclass(frozen=True, slots=True)
class Host:
    """A host. `files` are its settings by scope, `%` standing for its folder: the home's or the project's.

    `home` is the variable of the environment that names its folder of the user's, `folder` that folder in the home.
    `grouped` hooks stand in groups, as Claude Code has them. `unit` is how many units of its timeouts a second has.
    `version` is the newest that the project's end-to-end tests ran.
    """

    name: str
    title: str
    program: str
    folder: str
    home: str
    files: Mapping[Scope, str]
    mac: str
    events: Mapping[str, Moment]
    version: str | None
    grouped: bool = True
    exec_form: bool = False
    comments: bool = False
    unit: int = 1
    numbered: bool = False
    command: str = "command"
    timeout: str = "timeout"
    strict: Mapping[str, object] = field(default_factory=dict)
    """What a hook has beside, where a fault of it has to block."""

    def path(self, scope: Scope, project: Path, env: Mapping[str, str]) -> Path:
        """The settings file of a scope."""
        if scope == "project":
            return project / self.files[scope]
        if scope == "managed":
            return Path(self.mac if sys.platform == "darwin" else self.files[scope])
        named = env.get(self.home)
        base = Path(named) if named else Path(env.get("HOME") or "~").expanduser() / self.folder
        return base / self.files[scope]

    def fault(self, moment: Moment) -> str:
        """What is printed where our program fails, one line; empty where the host is to go on."""
        if moment == "other":
            return ""
        if self.name == "cursor":
            return _json({"permission": "deny", "user_message": NO_ANSWER, "agent_message": NO_ANSWER})
        blocked: dict[str, object] = {"decision": "block", "reason": NO_ANSWER}
        if moment == "before":
            blocked["hookSpecificOutput"] = {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": NO_ANSWER,
            }
        return _json(blocked)

    def blocks(self, answer: str) -> bool:
        """Whether an answer before a call keeps it from being made."""
        try:
            found = json.loads(answer)
        except ValueError:
            return False
        if not isinstance(found, dict):
            return False
        nested = found.get("hookSpecificOutput")
        own = nested.get("permissionDecision") if isinstance(nested, dict) else None
        return "deny" in (own, found.get("permission")) or found.get("decision") in ("block", "deny")

    def hook(self, command: list[str], moment: Moment, seconds: int, *, observe: bool) -> dict[str, Any]:
        """A registered hook that runs a command and has some seconds."""
        hook: dict[str, Any] = {} if self.name == "cursor" else {"type": "command"}
        if self.exec_form:
            hook |= {"command": command[0], "args": command[1:]}
        else:
            hook[self.command] = shlex.join(command)
        hook[self.timeout] = seconds * self.unit
        return hook if moment == "other" or observe else hook | dict(self.strict)

    def command_of(self, hook: Mapping[str, Any]) -> list[str] | None:
        """The command that a registered hook runs; None where it has another form."""
        command, args = hook.get(self.command), hook.get("args")
        if not isinstance(command, str):
            return None
        if self.exec_form:
            return [command, *args] if isinstance(args, list) and all(isinstance(a, str) for a in args) else None
        try:
            return shlex.split(command)
        except ValueError:
            return None


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


_CLAUDE: dict[str, Moment] = {
    "SessionStart": "other",
    "UserPromptSubmit": "other",
    "PreToolUse": "before",
    "PostToolUse": "other",
    "PostToolUseFailure": "other",
    "PermissionDenied": "other",
    "PostToolBatch": "other",
    "Stop": "other",
    "SubagentStop": "other",
    "SessionEnd": "other",
    "ConfigChange": "change",
}
_CODEX: dict[str, Moment] = {
    "SessionStart": "other",
    "UserPromptSubmit": "other",
    "PreToolUse": "before",
    "PostToolUse": "other",
    "Stop": "other",
    "SubagentStop": "other",
    "SessionEnd": "other",
}
_GEMINI: dict[str, Moment] = {
    "SessionStart": "other",
    "BeforeAgent": "other",
    "BeforeTool": "before",
    "AfterTool": "other",
    "AfterAgent": "other",
    "SessionEnd": "other",
}
_COPILOT: dict[str, Moment] = {
    "SessionStart": "other",
    "UserPromptSubmit": "other",
    "PreToolUse": "before",
    "PostToolUse": "other",
    "PostToolUseFailure": "other",
    "Stop": "other",
    "SubagentStop": "other",
    "SessionEnd": "other",
}
_CURSOR: dict[str, Moment] = {
    "sessionStart": "other",
    "beforeSubmitPrompt": "other",
    "preToolUse": "before",
    "postToolUse": "other",
    "postToolUseFailure": "other",
    "stop": "other",
    "subagentStop": "other",
    "sessionEnd": "other",
}

HOSTS: Mapping[str, Host] = {
    each.name: each
    for each in (
        Host(
            "claude",
            "Claude Code",
            "claude",
            ".claude",
            "CLAUDE_CONFIG_DIR",
            {
                "user": "settings.json",
                "project": ".claude/settings.json",
                "managed": "/etc/claude-code/managed-settings.json",
            },
            "/Library/Application Support/ClaudeCode/managed-settings.json",
            _CLAUDE,
            "2.1.330",
            exec_form=True,
            strict={"onFailure": "block"},
        ),
        Host(
            "codex",
            "Codex CLI",
            "codex",
            ".codex",
            "CODEX_HOME",
            {"user": "hooks.json", "project": ".codex/hooks.json", "managed": "/etc/codex/requirements.toml"},
            "/etc/codex/requirements.toml",
            _CODEX,
            "0.169.0",
        ),
        Host(
            "gemini",
            "Gemini CLI",
            "gemini",
            ".gemini",
            "",
            {
                "user": "settings.json",
                "project": ".gemini/settings.json",
                "managed": "/etc/gemini-cli/settings.json",
            },
            "/Library/Application Support/GeminiCli/settings.json",
            _GEMINI,
            "0.61.0",
            comments=True,
            unit=1000,
        ),
        Host(
            "copilot",
            "GitHub Copilot CLI",
            "copilot",
            ".copilot",
            "COPILOT_HOME",
            {
                "user": "hooks/vigil.json",
                "project": ".github/hooks/vigil.json",
                "managed": "/etc/github-copilot/policy.d/vigil.json",
            },
            "/etc/github-copilot/policy.d/vigil.json",
            _COPILOT,
            "1.0.102",
            grouped=False,
            numbered=True,
            command="bash",
            timeout="timeoutSec",
        ),
        Host(
            "cursor",
            "Cursor",
            "cursor",
            ".cursor",
            "",
            {"user": "hooks.json", "project": ".cursor/hooks.json", "managed": "/etc/cursor/hooks.json"},
            "/Library/Application Support/Cursor/hooks.json",
            _CURSOR,
            None,
            grouped=False,
            comments=True,
            numbered=True,
            strict={"failClosed": True},
        ),
    )
}


def environment() -> Mapping[str, str]:
    """The variables that say where hosts keep their settings."""
    return os.environ

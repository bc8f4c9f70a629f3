"""The hosts: how each is set up in a home of its own, trusted, started without a person, and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tests.e2e import install_hosts, models

VIGIL = Path(sys.executable).parent / "vigil"
SECONDS = 150
"""How long a host may run."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run of a host ended; the status is None where it did not end in time and was killed."""

    status: int | None
    stdout: str
    stderr: str


class Host(ABC):
    """A host in a home, a workspace and a state folder of its own, all below one folder."""

    name: ClassVar[str]
    """What `vigil hook` calls it."""
    program: ClassVar[str]
    """What the installer calls it."""
    title: ClassVar[str]
    model: ClassVar[type[models.Model]]
    registered: ClassVar[str]
    """Where its hooks are registered, below the home."""
    compacts: ClassVar[str | None] = None
    """The prompt that has it compact the conversation; None where it does so by itself, as soon as that is long."""

    def __init__(self, folder: Path) -> None:
        self.command = install_hosts.find(self.program).command
        self.home = folder / "home"
        self.workspace = folder / "shop"
        self.state = folder / "state"
        for made in (self.home, self.workspace):
            made.mkdir(parents=True)

    @property
    def settings(self) -> Path:
        """The file in which its hooks are registered."""
        return self.home / self.registered

    @abstractmethod
    def prepare(self, url: str) -> None:
        """Writes the host's settings: where the model is, that the workspace is trusted, that its tools may run."""

    @abstractmethod
    def arguments(self, prompt: str, *, bypass: bool, again: bool) -> list[str]:
        """The command line of a run without a person; `again` goes on with the last one, `bypass` asks nobody."""

    def environment(self, url: str) -> dict[str, str]:  # noqa: ARG002 - the hosts' own need it
        """Only what is needed: nothing of the developer's own settings reaches a host."""
        node = os.environ.get("NVM_BIN", "")
        path = os.pathsep.join(part for part in (str(VIGIL.parent), node, os.environ["PATH"]) if part)
        return {"HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8", "TERM": "dumb", "NO_PROXY": "*"}

    def run(self, model: models.Model, prompt: str = "Go on.", *, bypass: bool = False, again: bool = False) -> Ran:
        """Runs the host until it ends, and kills what it leaves behind."""
        process = self.start(model, prompt, bypass=bypass, again=again)
        return finish(process)

    def start(
        self, model: models.Model, prompt: str = "Go on.", *, bypass: bool = False, again: bool = False
    ) -> subprocess.Popen[str]:
        """Starts the host in a session of its own."""
        return subprocess.Popen(
            [*self.command, *self.arguments(prompt, bypass=bypass, again=again)],
            cwd=self.workspace,
            env=self.environment(model.url),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )

    def vigil(self, *arguments: str, url: str = "") -> subprocess.CompletedProcess[str]:
        """Runs a verb of Vigil as the user of the host would."""
        return subprocess.run(
            [VIGIL, *arguments],
            cwd=self.workspace,
            env={**self.environment(url), "VIGIL_STATE": str(self.state)},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )


def finish(process: subprocess.Popen[str], seconds: float = SECONDS) -> Ran:
    """Waits for a host, and kills what it leaves behind."""
    status: int | None
    try:
        stdout, stderr = process.communicate(timeout=seconds)
        status = process.returncode
    except subprocess.TimeoutExpired:
        kill(process)
        stdout, stderr = process.communicate()
        status = None
    kill(process)
    return Ran(status, stdout, stderr)


def kill(process: subprocess.Popen[str]) -> None:
    """Kills a host with all that it started and that did not leave its session."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


class Claude(Host):
    name = "claude"
    program = "claude"
    title = "Claude Code"
    registered = ".claude/settings.json"
    compacts = "/compact"
    model = models.Anthropic

    def prepare(self, url: str) -> None:  # noqa: ARG002 - others need it
        settings = {"permissions": {"allow": ["Bash", "Write", "Read", "Edit", "Agent"]}}
        _write(self.home / ".claude" / "settings.json", settings)

    def environment(self, url: str) -> dict[str, str]:
        return {
            **super().environment(url),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",  # else the bypass mode is refused to root
        }

    def arguments(self, prompt: str, *, bypass: bool, again: bool) -> list[str]:
        return [
            *(["--continue"] if again else []),
            *(["--dangerously-skip-permissions"] if bypass else []),
            *("--output-format", "stream-json", "--verbose"),
            *("-p", prompt),
        ]


class Codex(Host):
    name = "codex"
    program = "codex"
    title = "Codex CLI"
    registered = ".codex/hooks.json"
    model = models.OpenAI
    speaks: ClassVar[str] = "gpt-5.5"
    """The model: which tools Codex offers goes by its name."""

    def prepare(self, url: str) -> None:
        config = f"""\
model = "{self.speaks}"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"
model_context_window = 100000
model_auto_compact_token_limit = 50000
check_for_update_on_startup = false

[model_providers.mock]
name = "mock"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
request_max_retries = 0
stream_max_retries = 0

[projects."{self.workspace}"]
trust_level = "trusted"
"""
        (self.home / ".codex").mkdir(parents=True, exist_ok=True)
        (self.home / ".codex" / "config.toml").write_text(config, encoding="utf-8")

    def environment(self, url: str) -> dict[str, str]:
        return {**super().environment(url), "MOCK_KEY": "none"}

    def arguments(self, prompt: str, *, bypass: bool, again: bool) -> list[str]:
        options = ["--json", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
        options += ["--dangerously-bypass-approvals-and-sandbox"] if bypass else []
        return ["exec", *(["resume", *options, "--last"] if again else options), prompt]


class CodexCodeMode(Codex):
    title = "Codex CLI, code mode"
    model = models.CodeMode
    speaks = "gpt-6-sol"


class Gemini(Host):
    name = "gemini"
    program = "gemini"
    title = "Gemini CLI"
    registered = ".gemini/settings.json"
    model = models.Gemini

    def prepare(self, url: str) -> None:  # noqa: ARG002 - others need it
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "model": {"compressionThreshold": 0.01},
        }
        _write(self.home / ".gemini" / "settings.json", settings)
        rules = "".join(
            f'[[rule]]\ntoolName = "{tool}"\ndecision = "allow"\npriority = 100\nallowRedirection = true\n'
            for tool in ("run_shell_command", "write_file", "read_file", "invoke_agent")
        )
        policies = self.home / ".gemini" / "policies"
        policies.mkdir(parents=True, exist_ok=True)
        (policies / "tests.toml").write_text(rules, encoding="utf-8")

    def environment(self, url: str) -> dict[str, str]:
        return {
            **super().environment(url),
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_API_KEY": "none",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }

    def arguments(self, prompt: str, *, bypass: bool, again: bool) -> list[str]:
        return [
            *(["--resume", "latest"] if again else []),
            *(["--yolo"] if bypass else []),
            *("--output-format", "stream-json", "-m", "gemini-2.5-pro", "-p", prompt),
        ]


class Copilot(Host):
    name = "copilot"
    program = "copilot"
    title = "Copilot CLI"
    registered = ".copilot/hooks/vigil.json"
    model = models.Copilot

    def prepare(self, url: str) -> None:  # noqa: ARG002 - others need it
        _write(self.home / ".copilot" / "config.json", {"trusted_folders": [str(self.workspace)], "banner": "never"})

    def environment(self, url: str) -> dict[str, str]:
        return {
            **super().environment(url),
            "COPILOT_PROVIDER_BASE_URL": url,
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "mock",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "50000",
        }

    def arguments(self, prompt: str, *, bypass: bool, again: bool) -> list[str]:
        return [
            *(["--continue"] if again else []),
            "--yolo" if bypass else "--allow-all-tools",
            *("--output-format", "json", "-p", prompt),
        ]


HOSTS: dict[str, type[Host]] = {
    "claude": Claude,
    "codex": Codex,
    "codex-code": CodexCodeMode,
    "gemini": Gemini,
    "copilot": Copilot,
}
"""The columns of the table."""


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2), encoding="utf-8")

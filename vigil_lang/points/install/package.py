"""The hook as a plugin: files that Claude Code, Gemini CLI and Copilot CLI install by themselves, here or for a team.

A plugin finds `vigil` on the PATH, for it does not know where a team has it; where it is not, every call is blocked.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from vigil_lang.base.outputs import write_text
from vigil_lang.points.install.hosts import HOSTS
from vigil_lang.points.install.registration import Registration, installed
from vigil_lang.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

NAME = "vigil-gate"
_DESCRIPTION = "Decides about an agent's tool calls by policies, before they are made: pass, hold or block."
_ABOUT: dict[str, Any] = {"name": NAME, "version": __version__, "description": _DESCRIPTION, "license": "Apache-2.0"}
_KEYWORDS = ["policy", "guardrails", "permissions", "audit"]
_LSP = {"vigil": {"command": "vigil", "args": ["lsp"], "extensionToLanguage": {".vgl": "vigil"}}}


def package(host: str) -> dict[str, str]:
    """The files of a host's plugin, by their paths in its folder."""
    return _PACKAGES[host]()


def write_package(host: str, folder: Path) -> list[Path]:
    """Write a host's plugin into a folder; gives the files.

    Raises:
        InputError: one cannot be written.
        OSError: a folder cannot be made.
    """
    written = []
    for name, text in package(host).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(str(path), text)
        written.append(path)
    return written


def _claude() -> dict[str, str]:
    about = {**_ABOUT, "keywords": _KEYWORDS, "author": {"name": "Vigil"}}
    return {
        ".claude-plugin/marketplace.json": _market(),
        f"{NAME}/.claude-plugin/plugin.json": _json({**about, "lspServers": _LSP}),
        f"{NAME}/hooks/hooks.json": _hooks("claude"),
        f"{NAME}/README.md": _readme(
            "Claude Code", "claude plugin marketplace add DIR\nclaude plugin install vigil-gate@vigil"
        ),
    }


def _gemini() -> dict[str, str]:
    about = {key: _ABOUT[key] for key in ("name", "version", "description")}
    return {
        "gemini-extension.json": _json(about),
        "hooks/hooks.json": _hooks("gemini"),
        "README.md": _readme("Gemini CLI", "gemini extensions install DIR"),
    }


def _copilot() -> dict[str, str]:
    server = {"command": "vigil", "args": ["lsp"], "fileExtensions": {".vgl": "vigil"}}
    about = {**_ABOUT, "keywords": _KEYWORDS, "hooks": "hooks.json", "lspServers": "lsp.json"}
    return {
        ".github/plugin/marketplace.json": _market(),
        f"{NAME}/plugin.json": _json(about),
        f"{NAME}/hooks.json": _hooks("copilot"),
        f"{NAME}/lsp.json": _json({"lspServers": {"vigil": server}}),
        f"{NAME}/README.md": _readme(
            "GitHub Copilot CLI", "copilot plugin marketplace add DIR\ncopilot plugin install vigil-gate@vigil"
        ),
    }


def _market() -> str:
    plugin = {"name": NAME, "source": f"./{NAME}", "description": _DESCRIPTION, "version": __version__}
    owner = {"name": "Vigil"}
    return _json({"name": "vigil", "owner": owner, "description": _DESCRIPTION, "plugins": [plugin]})


_PACKAGES: Mapping[str, Callable[[], dict[str, str]]] = {"claude": _claude, "gemini": _gemini, "copilot": _copilot}
PACKAGED = tuple(_PACKAGES)
"""The hosts that plugins are made for."""


def _hooks(host: str) -> str:
    registration = Registration(HOSTS[host], ("vigil", "hook"), ("--host", host))
    return installed(HOSTS[host], "", registration.hooks())


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _readme(title: str, install: str) -> str:
    return f"""\
# Vigil for {title}

This plugin asks Vigil about each tool call before it is made. Policies decide: a call passes, is held until a person
confirms it, or is blocked, and the agent is told why and what would satisfy the rule. Where Vigil does not answer,
because it is missing, killed, slow or broken, the call is blocked.

Vigil itself has to be installed, so that `vigil` is on the PATH of {title}: `pip install vigil-lang`. Then:

```
{install}
```

DIR is the folder that `vigil hook package` wrote. `vigil.toml` in the project and the settings of the gate say which
policies apply. `vigil hook install` does the same without a plugin, and names policies of your own.
"""

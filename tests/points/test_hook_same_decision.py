"""One policy decides alike about the same action on every host, however the host calls its tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from points_support import HOSTS, Hooks, before, blocked

if TYPE_CHECKING:
    from pathlib import Path

POLICY = """
policy everywhere

rule no_force: when action in {git.push} and has force then block
rule no_delete: when action in {file.delete} and has path and path ~ "**/data/**" then block
rule no_write: when action in {file.write, file.edit} and has path and path ~ "**/secret.txt" then block
rule no_read: when action in {file.read} and has path and path ~ "**/key.pem" then block
rule no_issue: when review.write() then hold
rule no_search: when web.search(query ~ "*password*") then block
rule no_delegate: when agent.delegate() then hold
"""

Call = tuple[str, dict[str, Any]]


def _shell(command: str) -> dict[str, Call]:
    return {
        "claude": ("Bash", {"command": command, "description": "x"}),
        "codex": ("Bash", {"command": command}),
        "gemini": ("run_shell_command", {"command": command, "description": "x"}),
        "copilot": ("bash", {"command": command, "description": "x"}),
        "cursor": ("Shell", {"command": command}),
    }


def _write(path: str) -> dict[str, Call]:
    return {
        "claude": ("Write", {"file_path": path, "content": "a\n"}),
        "codex": ("apply_patch", {"command": f"*** Begin Patch\n*** Add File: {path}\n+a\n*** End Patch"}),
        "gemini": ("write_file", {"file_path": path, "content": "a\n"}),
        "copilot": ("create", {"path": path, "file_text": "a\n"}),
        "cursor": ("Write", {"file_path": path, "content": "a\n"}),
    }


def _edit(path: str) -> dict[str, Call]:
    patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch"
    return {
        "claude": ("Edit", {"file_path": path, "old_string": "a", "new_string": "b"}),
        "codex": ("apply_patch", {"command": patch}),
        "gemini": ("replace", {"file_path": path, "old_string": "a", "new_string": "b"}),
        "copilot": ("edit", {"path": path, "old_str": "a", "new_str": "b"}),
        "cursor": ("Write", {"file_path": path, "content": "b\n"}),
    }


def _read(path: str) -> dict[str, Call]:
    return {
        "claude": ("Read", {"file_path": path}),
        "codex": ("Bash", {"command": f"cat {path}"}),
        "gemini": ("read_file", {"absolute_path": path}),
        "copilot": ("view", {"path": path}),
        "cursor": ("Read", {"file_path": path}),
    }


def _issue(title: str) -> dict[str, Call]:
    given = {"owner": "o", "repo": "r", "title": title}
    names = ("mcp__github__create_issue", "mcp__github__create_issue", "mcp_github_create_issue", "github-create_issue")
    return {host: (name, given) for host, name in zip(HOSTS, (*names, "MCP:create_issue"), strict=True)}


def _search(query: str) -> dict[str, Call]:
    names = ("WebSearch", "web_search", "google_web_search", "web_search", "web_search")
    return {host: (name, {"query": query}) for host, name in zip(HOSTS, names, strict=True)}


def _delegate(text: str) -> dict[str, Call]:
    names = ("Agent", "spawn_agent", "delegate_to_agent", "task", "Task")
    keys = ("prompt", "message", "objective", "prompt", "prompt")
    return {host: (name, {key: text}) for host, name, key in zip(HOSTS, names, keys, strict=True)}


TABLE: dict[str, tuple[dict[str, Call], str | None]] = {
    "a command": (_shell("make"), None),
    "a forced push": (_shell("git push --force origin main"), "no_force"),
    "a forced push, wrapped": (_shell("sh -c 'cd x && git push -f'"), "no_force"),
    "a plain push": (_shell("git push origin main"), None),
    "files deleted": (_shell("rm -rf ./data/raw"), "no_delete"),
    "a file written by a command": (_shell("echo a > secret.txt"), "no_write"),
    "a file written": (_write("/repo/secret.txt"), "no_write"),
    "a file edited": (_edit("/repo/secret.txt"), "no_write"),
    "another file written": (_write("/repo/notes.txt"), None),
    "another file edited": (_edit("/repo/notes.txt"), None),
    "a key read": (_read("/repo/key.pem"), "no_read"),
    "another file read": (_read("/repo/notes.txt"), None),
    "an issue": (_issue("hello"), "no_issue"),
    "a search": (_search("the weather"), None),
    "a search for a password": (_search("my password"), "no_search"),
    "a sub-agent": (_delegate("look around"), "no_delegate"),
}


@pytest.mark.parametrize("host", HOSTS)
def test_the_same_action_is_decided_alike(host: str, tmp_path: Path) -> None:
    hooks = Hooks(tmp_path, host)
    hooks.policy(POLICY)
    for at, (action, (calls, rule)) in enumerate(TABLE.items()):
        tool, args = calls[host]
        reason = blocked(host, hooks.ask(before(host, tool, args, f"t{at}")))
        assert (reason is None) == (rule is None), (host, action, reason)
        if rule is not None:
            assert f"(rule `{rule}`)" in str(reason)


def test_every_host_has_every_action() -> None:
    assert all(set(calls) == set(HOSTS) for calls, _ in TABLE.values())

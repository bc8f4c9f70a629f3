"""Which policies a run goes by: the registration's, the project's, and those beside the skills that it loads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from points_support import HOSTS, Hooks, before, blocked, event

from vigil_lang.points.policies import PoliciesUnknown, asked_policies, skill_policies
from vigil_lang.points.projects import project_policies

if TYPE_CHECKING:
    from pathlib import Path

NO_PUSH = "policy push\nrule no_push: when git.push() then block\n"
NO_RM = "policy rm\nrule no_rm: when file.delete() then block\n"


def write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def bash(command: str, key: str) -> dict[str, Any]:
    return before("claude", "Bash", {"command": command}, key)


def test_the_project_names_policies(tmp_path: Path) -> None:
    write(tmp_path / "vigil.toml", '[hook]\npolicies = ["rules/", "std.guard"]\n')
    first = write(tmp_path / "rules" / "a.vgl", NO_PUSH)
    write(tmp_path / "rules" / "a_test.vgl", 'test "t" {}')
    (tmp_path / "deep" / "er").mkdir(parents=True)
    assert project_policies(str(tmp_path / "deep" / "er")) == (str(first), "std.guard")
    assert project_policies(str(tmp_path)) == (str(first), "std.guard")


@pytest.mark.parametrize("text", ["[hook", '[hook]\npolicies = ["gone.vgl"]', "[hook]\npolicies = 3"])
def test_a_project_that_cannot_be_read_blocks_its_calls(text: str, tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    write(hooks.work / "vigil.toml", text)
    with pytest.raises(PoliciesUnknown):
        project_policies(str(hooks.work))
    assert "vigil.toml" in str(blocked("claude", hooks.ask(bash("ls", "t1"))))
    assert hooks.ask(event("claude", "Stop")).stdout == b""


def test_a_run_keeps_the_policies_that_it_began_with(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    write(hooks.work / ".git" / "HEAD")
    config = write(hooks.work / "vigil.toml", '[hook]\npolicies = ["p.vgl"]')
    policy = write(hooks.work / "p.vgl", NO_PUSH)
    assert blocked("claude", hooks.ask(bash("git push", "t1"))) is not None
    policy.write_text(NO_RM, encoding="utf-8")
    config.write_text("[hook", encoding="utf-8")
    assert blocked("claude", hooks.ask(bash("git push", "t2"))) is not None
    assert blocked("claude", hooks.ask(bash("rm x", "t3"))) is None
    assert hooks.ask(event("claude", "UserPromptSubmit", prompt="go on")).stdout == b""
    assert b'"policy_change"' in (hooks.state / "log.jsonl").read_bytes()
    told = json.loads(hooks.ask(event("claude", "SessionStart", source="resume")).stdout)
    assert "p.vgl" in told["hookSpecificOutput"]["additionalContext"]


def test_what_a_project_may_not_say_is_told(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    hooks.policy(NO_PUSH)
    write(hooks.work / ".git" / "HEAD")
    write(hooks.work / "vigil.toml", '[hook]\npolicies = ["p.vgl"]')
    write(hooks.work / "p.vgl", "policy p\nrule fine: when git.push() then pass\n")
    told = json.loads(hooks.ask(event("claude", "SessionStart", source="startup")).stdout)
    assert "fine" in told["hookSpecificOutput"]["additionalContext"]
    assert blocked("claude", hooks.ask(bash("git push", "t1"))) is not None


@pytest.mark.parametrize("way", ["tool", "read", "shell", "relative", "prompt"])
def test_the_policy_of_a_skill_joins_when_it_is_loaded(way: str, tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    folder = hooks.work / ".claude" / "skills" / "ship"
    write(folder / "policy.vgl", NO_PUSH)
    write(folder / "SKILL.md", "Ship it.")
    assert blocked("claude", hooks.ask(bash("git push", "t0"))) is None
    loading = {
        "tool": before("claude", "Skill", {"skill": "ship"}, "t1"),
        "read": before("claude", "Read", {"file_path": str(folder / "SKILL.md")}, "t1"),
        "shell": bash(f"head -5 '{folder}/SKILL.md'", "t1"),
        "relative": bash("cat .claude/skills/ship/SKILL.md", "t1"),
        "prompt": event("claude", "UserPromptSubmit", prompt="/ship now"),
    }
    assert hooks.ask(loading[way]).stdout == b""
    assert blocked("claude", hooks.ask(bash("git push", "t2"))) is not None


def test_a_skill_with_a_policy_that_means_nothing_is_not_loaded(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    write(hooks.work / ".claude" / "skills" / "ship" / "policy.vgl", "statement")
    assert blocked("claude", hooks.ask(before("claude", "Skill", {"skill": "ship"}))) is not None


def test_where_skills_are_looked_for(tmp_path: Path) -> None:
    folders = {"claude": ".claude", "codex": ".codex", "gemini": ".gemini", "copilot": ".github", "cursor": ".cursor"}
    home, work = tmp_path / "home", tmp_path / "work" / "deep"
    work.mkdir(parents=True)
    for host in HOSTS:
        own = write(tmp_path / "work" / folders[host] / "skills" / "a" / "policy.vgl")
        assert str(own) in skill_policies(host, "activate_skill", {"name": "a"}, str(work), {})
        users = write(home / folders[host] / "skills" / "b" / "policy.vgl")
        assert str(users) in skill_policies(host, "Skill", {"skill": "b"}, str(work), {"HOME": str(home)})
        assert str(users) in asked_policies(host, "$b please", str(work), {"HOME": str(home)})
    plugin = write(home / ".claude" / "plugins" / "cache" / "m" / "team" / "1.0" / "skills" / "c" / "policy.vgl")
    env = {"HOME": str(home)}
    assert skill_policies("claude", "Skill", {"skill": "team:c"}, str(work), env) == [str(plugin)]
    assert skill_policies("claude", "Skill", {"skill": "other:c"}, str(work), env) == []
    for odd in ("../../etc", "", "a/b", "..", "x" * 300, 5):
        assert skill_policies("claude", "Skill", {"skill": odd}, str(work), env) == []


def test_the_agent_does_not_disarm_it(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    config = write(hooks.work / "vigil.toml", "")
    for at, path in enumerate((hooks.state / "log.jsonl", hooks.work / ".claude" / "settings.local.json", config)):
        payload = before("claude", "Write", {"file_path": str(path), "content": ""}, f"w{at}")
        assert "registration" in str(blocked("claude", hooks.ask(payload))), path
        assert blocked("claude", hooks.ask(bash(f"rm -f {path}", f"r{at}"))) is not None
    assert blocked("claude", hooks.ask(bash("echo {} > .claude/settings.json", "s"))) is not None


def test_changes_of_settings_that_take_the_hook_away(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    settings = hooks.work / ".claude" / "settings.json"

    def changed(text: str, **more: Any) -> bytes:
        write(settings, text)
        given = {"source": "project_settings", "file_path": str(settings)} | more
        return hooks.ask(event("claude", "ConfigChange", **given)).stdout

    ours = {"PreToolUse": [{"hooks": [{"type": "command", "command": "vigil hook --host claude"}]}]}
    assert changed(json.dumps({"hooks": ours})) == b""
    for text in ("{}", '{"disableAllHooks": true}', "{", "[]", '{"enabledPlugins": {"vigil-gate@m": false}}'):
        assert json.loads(changed(text))["decision"] == "block", text
    assert changed("{}", source="policy_settings") == b""
    assert changed("{}", file_path="/elsewhere/settings.json") == b""
    write(hooks.home / ".claude" / "settings.json", json.dumps({"hooks": ours}))
    assert changed("{}") == b""

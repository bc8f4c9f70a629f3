"""`vigil init`: everything that holds an agent to policies, made in one step and taken back in one."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from vigil_lang.points.hook import Gates, handle
from vigil_lang.points.install.hosts import HOSTS
from vigil_lang.points.install.starter import CONFIGURATION, POLICY, STARTER
from vigil_lang.points.invocation import Invocation

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import World


def tree(folder: Path) -> dict[str, bytes | None]:
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None for p in folder.rglob("*")}


def test_what_it_makes_holds_the_agent_at_once(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    (world.home / ".claude").mkdir()
    assert world.vigil("init") == 0
    out = capsys.readouterr().out
    for told in ("vigil.toml", "policies/agent.vgl", "Claude Code", "vigil hold list", "vigil init --undo"):
        assert told in out
    assert "Codex" not in out
    assert world.vigil("lint") == 0
    assert world.vigil("hook", "status", "--host", "claude", "--user") == 0
    gates = Gates()

    def asked(command: str) -> str:
        payload = {
            "hook_event_name": "PreToolUse",
            "session_id": "s",
            "cwd": str(world.project),
            "tool_name": "Bash",
            "tool_use_id": command,
            "tool_input": {"command": command},
        }
        args = ("--host", "claude", "--state", str(world.state))
        reply = handle(
            Invocation(args, json.dumps(payload).encode(), str(world.project), {"HOME": str(world.home)}), gates
        )
        return reply.stdout.decode()

    assert asked("ls") == ""
    assert "held" in asked("git push origin main")
    assert "no_force_push" in asked("git push --force")
    assert "registration_protected" in asked("rm vigil.toml")
    assert "registration_protected" in asked("echo > policies/agent.vgl")
    assert "registration_protected" in asked("echo > ~/.claude/settings.json")
    assert "registration_protected" in asked("echo > $HOME/.claude/settings.json")
    assert "registration_enclosing" in asked("rm -rf ~/.claude ../project")
    assert "registration_enclosing" in asked("cd .. && rm -rf project")
    assert "registration_private" in asked(f"cat {world.state}/keys/approver.pem")
    assert "registration_verbs" in asked("vigil init --undo")
    assert "tested_before_commit" in asked("git commit -m x")


def test_twice_changes_nothing(world: World) -> None:
    for host in HOSTS.values():
        (world.home / host.folder).mkdir()
    assert world.vigil("init") == 0
    first = tree(world.project) | tree(world.home)
    assert world.vigil("init") == 0
    assert tree(world.project) | tree(world.home) == first


def test_it_is_undone(world: World) -> None:
    settings = world.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model":"x"}', "utf-8")
    (world.project / ".codex").mkdir()
    before = tree(world.project), tree(world.home)
    assert world.vigil("init", "--host", "claude", "--host", "codex", "--project") == 0
    assert world.vigil("init", "--host", "claude", "--host", "codex", "--project", "--undo") == 0
    assert (tree(world.project), tree(world.home)) == before
    assert world.vigil("init", "--host", "claude") == 0
    assert world.vigil("init", "--undo", "--dry-run") == 0
    assert tree(world.project) != before[0]
    assert world.vigil("init", "--undo") == 0
    assert (tree(world.project), tree(world.home)) == before
    assert (world.state / "log.jsonl").exists()


def test_what_people_wrote_stays(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    (world.project / CONFIGURATION).write_text('[hook]\npolicies = ["std.git"]\n', "utf-8")
    assert world.vigil("init") == 0
    assert "`[hook] policies`" in capsys.readouterr().out
    assert tree(world.project).keys() == {CONFIGURATION}
    (world.project / CONFIGURATION).unlink()
    assert world.vigil("init") == 0
    own = STARTER[POLICY] + "\n// mine\n"
    (world.project / POLICY).write_text(own, "utf-8")
    assert world.vigil("init") == 0
    assert world.vigil("init", "--undo") == 0
    assert (world.project / POLICY).read_text("utf-8") == own
    assert not (world.project / CONFIGURATION).exists()


def test_a_dry_run_does_nothing(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    (world.home / ".claude").mkdir()
    assert world.vigil("init", "--dry-run") == 0
    assert "Nothing was done" in capsys.readouterr().out
    assert tree(world.project) == {}
    assert list((world.home / ".claude").iterdir()) == []
    assert not world.state.exists()


def test_without_a_host_it_says_so(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert world.vigil("init") == 0
    out = capsys.readouterr().out
    assert "vigil init --host NAME" in out
    assert "Start " not in out, "nothing is asked about yet"


def test_settings_that_cannot_be_read_are_said_before_anything_is_done(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (".gemini", ".claude"):
        (world.home / folder).mkdir()
    gemini, claude = (world.home / folder / "settings.json" for folder in (".gemini", ".claude"))
    gemini.write_text('{"ui": {}, // mine\n}', "utf-8")
    claude.write_text('{\n  // mine\n  "model": "x"}', "utf-8")
    before = tree(world.project), tree(world.home)
    for args in (["init"], ["init", "--dry-run"]):
        assert world.vigil(*args) == 2
        assert "line 2, column 3: a comment, which Claude Code is not known to read" in capsys.readouterr().err
        assert (tree(world.project), tree(world.home), world.state.exists()) == (*before, False)
    assert world.vigil("init", "--host", "gemini") == 0
    held = tree(world.project), tree(world.home)
    assert held != before
    assert world.vigil("init", "--undo") == 2
    assert (tree(world.project), tree(world.home)) == held
    assert world.vigil("init", "--undo", "--host", "gemini") == 0
    assert (tree(world.project), tree(world.home)) == before


@pytest.mark.parametrize("options", [[], ["--project"]])
def test_the_screen_fits_and_its_last_step_undoes_it(
    options: list[str], world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    for host in HOSTS.values():
        (world.home / host.folder).mkdir()
    before = tree(world.project), tree(world.home)
    assert world.vigil("init", *options) == 0
    out = capsys.readouterr().out.replace(str(world.state), "STATE")
    assert max(map(len, out.splitlines())) <= 80
    undo = next(line for line in out.splitlines() if line.startswith("Undo it all:")).split("vigil ")[1]
    assert world.vigil(*undo.split()) == 0
    assert (tree(world.project), tree(world.home)) == before


def test_a_state_in_the_project_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIGIL_STATE", str(world.project / "state"))
    assert world.vigil("init") == 2
    assert not (world.project / "state").exists()


def test_a_hook_that_other_folders_use_stays_until_the_last_of_them_undoes_it(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, other = world.home / ".claude" / "settings.json", world.project.parent / "other"
    settings.parent.mkdir()
    before = tree(world.home)
    other.mkdir()
    assert world.vigil("init") == 0
    monkeypatch.chdir(other)
    assert world.vigil("init") == 0
    hooked = settings.read_bytes()
    capsys.readouterr()
    assert world.vigil("init", "--undo") == 0
    out = capsys.readouterr().out
    assert f"kept      Claude Code                    {world.project}: `vigil init` ran there, too\n" in out
    assert (settings.read_bytes(), tree(other)) == (hooked, {})
    monkeypatch.chdir(world.project)
    assert world.vigil("init", "--undo", "--dry-run") == 0
    assert settings.read_bytes() == hooked
    assert world.vigil("init", "--undo") == 0
    assert tree(world.home) == before


def test_a_folder_that_is_gone_keeps_no_hook(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (world.home / ".claude").mkdir()
    before, other = tree(world.home), world.project.parent / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    assert world.vigil("init") == 0
    monkeypatch.chdir(world.project)
    assert world.vigil("init") == 0
    shutil.rmtree(other)
    assert world.vigil("init", "--undo") == 0
    assert tree(world.home) == before


def test_a_hook_that_was_there_before_stays(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    settings = world.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    assert world.vigil("hook", "install", "--host", "claude", "--user") == 0
    hooked = settings.read_bytes()
    assert world.vigil("init") == 0
    capsys.readouterr()
    assert world.vigil("init", "--undo") == 0
    assert settings.read_bytes() == hooked
    out = capsys.readouterr().out
    assert "`vigil init` did not put it there: vigil hook uninstall --host claude --user\n" in out
    # Nor is one undone that was taken out, and put in again by hand.
    assert world.vigil("hook", "uninstall", "--host", "claude", "--user") == 0
    assert world.vigil("init") == 0
    assert world.vigil("hook", "uninstall", "--host", "claude", "--user") == 0
    assert world.vigil("hook", "install", "--host", "claude", "--user") == 0
    assert world.vigil("init", "--undo") == 0
    assert settings.read_bytes() == hooked

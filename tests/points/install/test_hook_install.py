"""`vigil hook install`, `uninstall` and `status`: other settings stay as they are, and ours are what would block."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from vigil_lang.points.install import hosts as table
from vigil_lang.points.install.hosts import HOSTS, Host
from vigil_lang.points.install.registration import program_of, standing

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import World

NAMES = tuple(HOSTS)
OTHER: dict[str, Any] = {
    "model": "x",
    "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}]},
    "z": [1, {"a": None}],
}


def settings(world: World, host: str, scope: str = "user") -> Path:
    root = world.home / HOSTS[host].folder if scope == "user" else world.project
    return root / HOSTS[host].files[scope]  # type: ignore[index]


def written(world: World, host: str, text: str, scope: str = "user") -> Path:
    path = settings(world, host, scope)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("host", NAMES)
def test_every_event_is_registered_once(host: str, scope: str, world: World) -> None:
    for _ in range(2):
        assert (
            world.vigil("hook", "install", "--host", host, f"--{scope}", "--policy", "std.guard", "--wait", "60") == 0
        )
    text = settings(world, host, scope).read_text("utf-8")
    found = standing(HOSTS[host], text)
    assert [each.event for each in found] == list(HOSTS[host].events)
    for each in found:
        parts = program_of(HOSTS[host], each.hook)
        assert parts is not None
        seconds, fault, program = parts
        before = HOSTS[host].events[each.event] == "before"
        assert program[program.index("--state") + 1] == str(world.state)
        assert program[program.index("--policy") + 1] == "std.guard"
        assert seconds == 30 + 60 * before
        assert each.hook[HOSTS[host].timeout] == (seconds + 5) * HOSTS[host].unit
        assert bool(fault) == (HOSTS[host].events[each.event] != "other")
        assert os.access(program[0], os.X_OK)


@pytest.mark.parametrize("host", NAMES)
def test_uninstalling_leaves_nothing_where_nothing_was(host: str, world: World) -> None:
    assert world.vigil("hook", "install", "--host", host) == 0
    assert world.vigil("hook", "uninstall", "--host", host) == 0
    assert list(world.home.iterdir()) == []


TEXTS = {
    "indented": json.dumps(OTHER, indent=2) + "\n",
    "with tabs, CRLF and no last line end": json.dumps(OTHER, indent="\t").replace("\n", "\r\n"),
    "on one line": json.dumps(OTHER),
    "empty": "{}",
    "hooks that are empty": '{\n  "hooks": {\n    "PreToolUse": []\n  }\n}\n',
    "spaced oddly": '{ "a" :1 ,\n\n "hooks":{  } }\n\n',
    "beyond ASCII": '{"ä": "\\u00e4 \U0001f600"}\n',
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("host", NAMES)
def test_uninstalling_gives_the_bytes_back(host: str, name: str, world: World) -> None:
    path = written(world, host, TEXTS[name])
    path.chmod(0o640)
    before = path.read_bytes()
    assert world.vigil("hook", "install", "--host", host) == 0
    assert world.vigil("hook", "install", "--host", host, "--wait", "9", "--policy", "std.guard") == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert world.vigil("hook", "uninstall", "--host", host) == 0
    assert path.read_bytes() == before
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert not list((world.state / "installed").iterdir())


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("host", NAMES)
def test_other_settings_stay_and_keep_their_order(host: str, name: str, world: World) -> None:
    path = written(world, host, TEXTS[name])
    assert world.vigil("hook", "install", "--host", host) == 0
    value, before = json.loads(path.read_text("utf-8")), json.loads(TEXTS[name])
    assert [key for key in value if key in before] == list(before)
    for key in before.keys() - {"hooks"}:
        assert value[key] == before[key]
    for event, entries in before.get("hooks", {}).items():
        assert value["hooks"][event][: len(entries)] == entries


@pytest.mark.parametrize("host", NAMES)
def test_what_others_changed_meanwhile_stays(host: str, world: World) -> None:
    path = written(world, host, TEXTS["indented"])
    assert world.vigil("hook", "install", "--host", host) == 0
    path.write_text(path.read_text("utf-8").replace('"model": "x"', '"model": "another"'), "utf-8")
    assert world.vigil("hook", "uninstall", "--host", host) == 0
    left = json.loads(path.read_text("utf-8"))
    left.pop("version", None)
    assert left == {**OTHER, "model": "another"}


@pytest.mark.parametrize("host", ["gemini", "cursor"])
def test_comments_and_last_commas_stay(host: str, world: World) -> None:
    text = '// mine\n{\n  "version": 1,\n  /* one */ "a": 1, // of a\n  "b": [1, 2,] // of b\n  // the end\n}\n'
    path = written(world, host, text)
    assert world.vigil("hook", "install", "--host", host) == 0
    now = path.read_text("utf-8")
    for kept in ("// mine\n", '/* one */ "a": 1, // of a\n', "// of b\n", "// the end\n"):
        assert kept in now
    path.write_text(now.replace("// mine", "// ours"), "utf-8")
    assert world.vigil("hook", "uninstall", "--host", host) == 0
    assert path.read_text("utf-8").replace("// ours", "// mine") == text


BAD = {
    "no JSON": "{",
    "an array": "[]",
    "hooks that are none": '{"hooks": []}',
    "an event that is none": '{"hooks": {"PreToolUse": {}, "BeforeTool": {}, "preToolUse": {}}}',
    "a name twice": '{"hooks": {}, "hooks": {}}',
    "something after it": "{} {}",
    "too deep": '{"a":' + "[" * 5000 + "]" * 5000 + "}",
    "not UTF-8": b"{\xff}",
    "a number that is none": '{"a": 01}',
    "a string that does not end": '{"a": "',
}


@pytest.mark.parametrize("verb", ["install", "uninstall", "status"])
@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("host", NAMES)
def test_settings_that_cannot_be_read_stay_as_they_are(
    host: str, name: str, verb: str, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(world, host, "")
    bad = BAD[name]
    path.write_bytes(bad if isinstance(bad, bytes) else bad.encode())
    before = path.read_bytes()
    assert world.vigil("hook", verb, "--host", host) == 2
    assert path.read_bytes() == before
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    assert str(path) in out + err


@pytest.mark.parametrize("host", ["claude", "codex"])
def test_comments_are_no_json_where_the_host_reads_none(host: str, world: World) -> None:
    path = written(world, host, "{} // a comment")
    assert world.vigil("hook", "install", "--host", host) == 2
    assert path.read_text("utf-8") == "{} // a comment"


@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_links_folders_and_pipes_are_refused(verb: str, world: World) -> None:
    path = written(world, "claude", "{}")
    other = path.with_name("other.json")
    path.rename(other)
    path.symlink_to(other)
    assert world.vigil("hook", verb, "--host", "claude") == 2
    assert (path.is_symlink(), other.read_text("utf-8")) == (True, "{}")
    path.unlink()
    os.mkfifo(path)
    assert world.vigil("hook", verb, "--host", "claude") == 2
    path.unlink()
    path.mkdir()
    assert world.vigil("hook", verb, "--host", "claude") == 2


def test_a_dry_run_writes_nothing(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert world.vigil("hook", "install", "--host", "claude", "--dry-run") == 0
    assert "+++ " in capsys.readouterr().out
    assert list(world.home.iterdir()) == []
    assert not world.state.exists()


def test_a_policy_without_a_meaning_is_refused(world: World) -> None:
    (world.project / "bad.vgl").write_text("policy p\nstatement s: abs(", "utf-8")
    assert world.vigil("hook", "install", "--host", "claude", "--policy", "bad.vgl") == 2
    assert world.vigil("hook", "install", "--host", "claude", "--policy", "missing.vgl") == 2
    assert list(world.home.iterdir()) == []


def test_a_state_in_no_place_to_write_is_refused(world: World) -> None:
    world.state.write_text("", "utf-8")
    assert world.vigil("hook", "install", "--host", "claude") == 2
    assert list(world.home.iterdir()) == []


def test_two_scopes_at_once_make_no_sense(world: World) -> None:
    assert world.vigil("hook", "install", "--host", "claude", "--user", "--project") == 2
    assert world.vigil("hook", "install", "--host", "emacs") == 2


# --- observing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", NAMES)
def test_a_hook_that_observes_blocks_nothing_where_it_fails(host: str, world: World) -> None:
    assert world.vigil("hook", "install", "--host", host, "--observe") == 0
    for each in standing(HOSTS[host], settings(world, host).read_text("utf-8")):
        parts = program_of(HOSTS[host], each.hook)
        assert parts is not None
        assert parts[1] == ""
        assert not {"onFailure", "failClosed"} & each.hook.keys()


# --- managed settings -------------------------------------------------------------------------------------------------


@pytest.fixture
def machine(world: World, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of the machine's root, for managed settings."""
    root = world.home.parent / "machine"
    real = Host.path

    def path(self: Host, scope: Any, project: Path, env: Any) -> Path:
        found = real(self, scope, project, env)
        return root / found.relative_to("/") if scope == "managed" else found

    monkeypatch.setattr(Host, "path", path)
    return root


@pytest.mark.parametrize("host", [name for name in NAMES if name != "codex"])
def test_managed_settings_have_the_same_form(host: str, machine: Path, world: World) -> None:
    assert world.vigil("hook", "install", "--host", host, "--managed") == 0
    [path] = [each for each in machine.rglob("*") if each.is_file()]
    assert [each.event for each in standing(HOSTS[host], path.read_text("utf-8"))] == list(HOSTS[host].events)
    assert world.vigil("hook", "uninstall", "--host", host, "--managed") == 0
    assert not machine.exists()


def test_codex_has_managed_settings_in_toml(machine: Path, world: World) -> None:
    path = machine / "etc/codex/requirements.toml"
    path.parent.mkdir(parents=True)
    text = '# ours\nallowed_approval_policies = ["never"] # why\n\n[rules]\nx = 1'
    path.write_text(text, "utf-8")
    for wait in ("0", "5", "5"):
        assert world.vigil("hook", "install", "--host", "codex", "--managed", "--wait", wait) == 0
    now = path.read_text("utf-8")
    assert now.startswith(text)
    hooks = tomllib.loads(now)["hooks"]
    assert list(hooks) == list(HOSTS["codex"].events)
    assert all(len(groups) == 1 and program_of(HOSTS["codex"], groups[0]["hooks"][0]) for groups in hooks.values())
    assert world.vigil("hook", "status", "--host", "codex", "--managed", "--no-trial") == 0
    path.write_text(now.replace("# ours", "# yours"), "utf-8")
    assert world.vigil("hook", "uninstall", "--host", "codex", "--managed") == 0
    assert path.read_text("utf-8").rstrip() == text.replace("# ours", "# yours")
    path.write_text("x = [", "utf-8")
    assert world.vigil("hook", "install", "--host", "codex", "--managed") == 2
    assert path.read_text("utf-8") == "x = ["


# --- status -----------------------------------------------------------------------------------------------------------


def reported(world: World, capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    status = world.vigil("hook", "status", "--format", "json", "--user", *args)
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "vigil.hooks/1"
    return status, {each["host"]: each for each in found["hooks"]}


@pytest.mark.parametrize("host", NAMES)
def test_status_runs_what_is_registered(host: str, world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert world.vigil("hook", "install", "--host", host, "--policy", "std.guard") == 0
    status, found = reported(world, capsys)
    assert status == 0
    assert {name: each["state"] for name, each in found.items()} == {
        name: "installed" if name == host else "not installed" for name in NAMES
    }
    assert found[host]["blocks"] is True
    assert "not on the PATH" in found[host]["version"]
    assert not (world.state / "runs").exists() or not list((world.state / "runs").iterdir())


def test_damage_is_told(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    policy = world.project / "p.vgl"
    policy.write_text("/// P.\npolicy p\n", "utf-8")
    assert world.vigil("hook", "install", "--host", "claude", "--policy", str(policy)) == 0
    path = settings(world, "claude")
    whole = path.read_text("utf-8")
    value = json.loads(whole)
    damages: dict[str, Any] = {}
    for event in ("PreToolUse", "Stop"):
        damages[f"no {event}"] = {**value, "hooks": {k: v for k, v in value["hooks"].items() if k != event}}
    for name, text in {
        "no onFailure": whole.replace('"onFailure"', '"onfailure"', 1),
        "another timeout": whole.replace('"timeout": 35', '"timeout": 1', 1),
        "another fault": whole.replace("permissionDecision", "x", 1),
        "narrowed": whole.replace('"PreToolUse": [\n      {', '"PreToolUse": [\n      {"matcher": "Bash",'),
        "a program that is gone": whole.replace("client.py", "nothing.py"),
    }.items():
        damages[name] = json.loads(text)
    for name, damaged in damages.items():
        path.write_text(json.dumps(damaged), "utf-8")
        status, found = reported(world, capsys, "--no-trial")
        assert (status, found["claude"]["state"]) == (1, "damaged"), name
        assert found["claude"]["remarks"], name
    path.write_text(whole, "utf-8")
    policy.unlink()
    status, found = reported(world, capsys, "--no-trial")
    assert (status, found["claude"]["state"]) == (1, "damaged")
    assert any(str(policy) in remark for remark in found["claude"]["remarks"])
    assert world.vigil("hook", "install", "--host", "claude") == 0
    assert reported(world, capsys, "--no-trial")[0] == 0


def test_settings_that_keep_hooks_from_running_are_told(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    written(world, "claude", '{"disableAllHooks": true}')
    assert world.vigil("hook", "install", "--host", "claude") == 0
    _, found = reported(world, capsys, "--no-trial")
    assert any("disableAllHooks" in remark for remark in found["claude"]["remarks"])


def test_a_program_that_does_not_answer_is_told(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert world.vigil("hook", "install", "--host", "codex") == 0
    path = settings(world, "codex")
    path.write_text(path.read_text("utf-8").replace("client.py", "__init__.py"), "utf-8")
    status, found = reported(world, capsys)
    assert (status, found["codex"]["blocks"]) == (1, False)
    assert "does not answer" in " ".join(found["codex"]["problems"])


def test_what_a_host_says_of_its_version_is_told(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = world.home.parent / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:{os.defpath}")
    assert world.vigil("hook", "install", "--host", "claude") == 0
    said = {
        "echo '2.1.330 (Claude Code)'": "with which Vigil was tried",
        "echo 1.0.0": "Vigil was tried with 2.1.330",
        "exit 1": "does not say",
    }
    for program, expected in said.items():
        (programs / "claude").write_text(f"#!/bin/sh\n{program}\n", "utf-8")
        (programs / "claude").chmod(0o755)
        _, found = reported(world, capsys)
        assert expected in found["claude"]["version"]


def test_a_program_of_the_project_is_not_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (world.project / "claude").write_text("#!/bin/sh\ntouch ran\n", "utf-8")
    (world.project / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{world.project}:{os.defpath}")
    assert world.vigil("hook", "install", "--host", "claude") == 0
    assert world.vigil("hook", "status", "--host", "claude") == 0
    assert not (world.project / "ran").exists()


def test_every_host_is_in_the_table() -> None:
    from vigil_lang.cli.hook_install import HOSTS as OFFERED
    from vigil_lang.points.hosts.all import HOSTS as ANSWERING

    assert set(OFFERED) == set(table.HOSTS) == set(ANSWERING)

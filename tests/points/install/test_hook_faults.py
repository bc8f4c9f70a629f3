"""The registered command with our own program in it, where its state, its policies or its payload are at fault."""

from __future__ import annotations

import importlib
import json
import os
import resource
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from vigil_lang.points.install.hosts import HOSTS
from vigil_lang.points.install.registration import standing
from vigil_lang.points.install.wrapper import unwrapped, wrapped

if TYPE_CHECKING:
    from conftest import World

FAULTS = {
    "the log is garbage": lambda world: (world.state / "log.jsonl").write_bytes(b"garbage\n" * 9),
    "the log is gone": lambda world: (world.state / "log.jsonl").unlink(),
    "the settings are garbage": lambda world: (world.state / "gate.toml").write_text("x = [", "utf-8"),
    "the settings are gone": lambda world: (world.state / "gate.toml").unlink(),
    "the key is gone": lambda world: shutil.rmtree(world.state / "keys"),
    "others may look into the state": lambda world: world.state.chmod(0o755),
    "the state is a file": lambda world: (shutil.rmtree(world.state), world.state.write_text("", "utf-8")),
    "the state is a link": lambda world: (
        world.state.rename(world.home / "elsewhere"),
        world.state.symlink_to(world.home / "elsewhere"),
    ),
    "the policy is gone": lambda world: (world.project / "p.vgl").unlink(),
    "the policy has no meaning": lambda world: (world.project / "p.vgl").write_text("policy p\nrule", "utf-8"),
    "the index is garbage": lambda world: (world.state / "index.sqlite").write_bytes(b"\0" * 99),
    "the arguments are garbage": lambda world: (world.state / "args.sqlite").write_bytes(b"\0" * 99),
    "the log's key is garbage": lambda world: (world.state / "log.vkey").write_bytes(b"\0" * 99),
    "the lock is a folder": lambda world: ((world.state / "lock").unlink(), (world.state / "lock").mkdir()),
    "the project's settings are garbage": lambda world: (world.project / "vigil.toml").write_text("x", "utf-8"),
}
LIMITS = {
    "the disk is full": (resource.RLIMIT_FSIZE, 100),
    "nothing can be written": (resource.RLIMIT_FSIZE, 0),
    "no file can be opened": (resource.RLIMIT_NOFILE, 3),
    "few files can be opened": (resource.RLIMIT_NOFILE, 6),
    "little memory": (resource.RLIMIT_AS, 24 << 20),
    "no time": (resource.RLIMIT_CPU, 0),
}
PAYLOADS = {
    "an empty payload": b"",
    "half a payload": b'{"hook_event_name": "PreTool',
    "a payload that is no UTF-8": b'{"hook_event_name": "PreToolUse\xff"}',
    "a payload that is no object": b"[1]",
    "a payload nested deeply": b"[" * 100_000,
    "a payload that is huge": b'{"hook_event_name":"PreToolUse","x":"' + b"x" * 20_000_000 + b'"}',
}


def asked(world: World, host: str, payload: bytes, limit: tuple[int, int] | None = None) -> str:
    """What the registered command answers; with `limit` on what its program may use."""
    event = next(event for event, moment in HOSTS[host].events.items() if moment == "before")
    text = next(p for p in (world.home / HOSTS[host].folder).rglob("*.json")).read_text("utf-8")
    hook = next(each.hook for each in standing(HOSTS[host], text) if each.event == event)
    command = HOSTS[host].command_of(hook)
    assert command is not None
    if limit is not None:  # the shell around our program has what it needs
        parts = unwrapped(command)
        assert parts is not None
        seconds, fault, program = parts
        code = (
            "import os, resource, sys; kind, most = map(int, sys.argv[1:3]); resource.setrlimit(kind, (most, most)); "
        )
        limited = [sys.executable, "-I", "-S", "-c", code + "os.execv(sys.argv[3], sys.argv[3:])", *map(str, limit)]
        command = wrapped([*limited, *program], seconds, fault)
    done = subprocess.run(command, input=payload, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0
    return done.stdout.decode()


def payload(world: World, host: str) -> bytes:
    event = next(event for event, moment in HOSTS[host].events.items() if moment == "before")
    given = {"session_id": "s", "conversation_id": "s", "cwd": str(world.project), "tool_name": "Bash"}
    given |= {"hook_event_name": event, "tool_use_id": "t"}
    return json.dumps({**given, "tool_input": {"command": "ls"}}).encode()


@pytest.fixture
def installed(world: World) -> World:
    (world.project / "p.vgl").write_text("/// P.\npolicy p\n", "utf-8")
    return world


def install(world: World, host: str) -> None:
    assert world.vigil("hook", "install", "--host", host, "--policy", "p.vgl") == 0


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_state_or_of_policies_blocks(name: str, installed: World) -> None:
    install(installed, "claude")
    assert not HOSTS["claude"].blocks(asked(installed, "claude", payload(installed, "claude")))
    FAULTS[name](installed)
    given = payload(installed, "claude").replace(b'"s"', b'"another"')
    assert HOSTS["claude"].blocks(asked(installed, "claude", given))


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("host", ["claude", "codex"])
def test_a_machine_that_gives_too_little_blocks(host: str, name: str, installed: World) -> None:
    install(installed, host)
    before = {path: path.read_bytes() for path in installed.state.rglob("*") if path.is_file()}
    assert HOSTS[host].blocks(asked(installed, host, payload(installed, host), LIMITS[name]))
    given = payload(installed, host).replace(b'"s"', b'"another"')
    assert not HOSTS[host].blocks(asked(installed, host, given)), "nothing is left half-written"
    assert all(
        (installed.state / path).read_bytes().startswith(text)
        for path, text in before.items()
        if path.name == "log.jsonl"
    )


def test_what_a_run_goes_by_that_is_garbage_blocks_it(installed: World) -> None:
    install(installed, "claude")
    given = payload(installed, "claude")
    assert not HOSTS["claude"].blocks(asked(installed, "claude", given))
    for path in (installed.state / "policies").iterdir():
        path.write_bytes(b"\0" * 99)
    assert HOSTS["claude"].blocks(asked(installed, "claude", given.replace(b'"t"', b'"t2"')))


def test_there_are_enough_of_them() -> None:
    wrapper = importlib.import_module("test_wrapper")
    assert len(FAULTS) + len(LIMITS) + len(PAYLOADS) + len(wrapper.FAULTS) + len(wrapper.SLOW) >= 40


@pytest.mark.skipif(os.geteuid() != 0, reason="another user's folder is made by root alone")
def test_a_state_that_belongs_to_another_user_blocks(installed: World) -> None:
    install(installed, "codex")
    os.chown(installed.state, 12345, 12345)
    assert HOSTS["codex"].blocks(asked(installed, "codex", payload(installed, "codex")))


@pytest.mark.parametrize("name", PAYLOADS)
@pytest.mark.parametrize("host", ["claude", "cursor"])
def test_a_fault_of_the_payload_blocks(host: str, name: str, installed: World) -> None:
    install(installed, host)
    assert HOSTS[host].blocks(asked(installed, host, PAYLOADS[name]))


@pytest.mark.parametrize("host", HOSTS)
def test_without_a_fault_the_call_is_made(host: str, installed: World) -> None:
    install(installed, host)
    said = asked(installed, host, payload(installed, host))
    assert said == ('{"permission":"allow"}\n' if host == "cursor" else "")

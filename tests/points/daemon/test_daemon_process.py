"""The daemon as a process: hooks start it, signals end it, and several at once are one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.points.daemon.kills import CLIENT, daemon_of
from vigil_lang.gate.log.reading import LogCopy
from vigil_lang.gate.log.verifying import verify
from vigil_lang.points.daemon.server import stop

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="who answers at a socket is asked as Linux tells it")


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "state"
    yield folder
    stop(folder)


def hook(state: Path, call: str) -> None:
    """A hook before a call, which passes."""
    payload = {"session_id": "r", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": call}
    payload |= {"tool_input": {"command": "ls"}, "cwd": str(state.parent)}
    line = [sys.executable, "-I", "-S", str(CLIENT), "--host", "claude", "--state", str(state)]
    done = subprocess.run(line, input=json.dumps(payload).encode(), capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, b""), done


def up(state: Path, other: int | None = None) -> int:
    """The daemon, once there is one that is not the `other`."""
    end = time.monotonic() + 60
    while (pid := daemon_of(state)) in (None, other):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert pid is not None
    return pid


def test_a_hook_starts_it_and_one_that_was_killed_is_followed_by_another(state: Path) -> None:
    hook(state, "1")
    first = up(state)
    assert os.getsid(first) == first
    assert Path(f"/proc/{first}/cwd").readlink() == Path("/")
    hook(state, "2")
    os.kill(first, signal.SIGKILL)
    hook(state, "3")
    second = up(state, first)
    hook(state, "4")
    os.kill(second, signal.SIGTERM)
    end = time.monotonic() + 60
    while daemon_of(state) is not None or not (state / "checkpoint").exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    audit = verify(LogCopy(state))
    assert (audit.problems, audit.signed_to) == ((), audit.entries)


@pytest.mark.processes
def test_several_that_start_at_once_are_one(state: Path) -> None:
    hook(state, "1")
    up(state)
    assert stop(state)
    line = [sys.executable, "-I", "-S", str(CLIENT), "serve", "--state", str(state)]
    started = [subprocess.Popen(line) for _ in range(3)]
    one = up(state)
    others = [each for each in started if each.pid != one]
    assert [each.wait(60) for each in others] == [2, 2]
    assert stop(state)
    assert [each.wait(60) for each in started if each.pid == one] == [0]

"""Whether a registration would really block: its own command, run on payloads that have to be blocked."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.base.files import real_path
from vigil_lang.points.install.registration import DEADLINE, GRACE
from vigil_lang.points.install.wrapper import wrapped

if TYPE_CHECKING:
    from vigil_lang.points.install.hosts import Host
    from vigil_lang.points.install.registration import Registration

_VERSION = re.compile(r"\d+(?:\.\d+)+")


def trial(registration: Registration) -> tuple[str, ...]:
    """What goes wrong where the hook is asked about a write to its own state, and where its program is missing.

    It works on a state folder of its own, so that nothing gets into the user's log. Empty where all was blocked.
    """
    with tempfile.TemporaryDirectory(prefix="vigil-trial-") as folder:
        state = Path(real_path(folder), "state")
        options = list(registration.options)
        if "--state" in options:
            options[options.index("--state") + 1] = str(state)
        problems = []
        fault = registration.host.fault("before")
        target = str(state / "gate.toml")
        program = [*registration.program, *options, "--deadline", str(DEADLINE)]
        answer = _ask(wrapped(program, DEADLINE + GRACE, fault), registration.host, target, folder)
        if registration.observe:
            return ("it only observes: it blocks nothing",)
        if not registration.host.blocks(answer):
            problems.append("it did not block a write to its own state")
        elif answer.strip() == fault:
            problems.append("its program does not answer, so every call is blocked")
        missing = wrapped([str(Path(folder) / "missing")], GRACE, fault)
        if not registration.host.blocks(_ask(missing, registration.host, target, folder)):
            problems.append("`/bin/sh` does not block where the program is missing")
        return tuple(problems)


def _ask(command: list[str], host: Host, target: str, folder: str) -> str:
    payload = {
        "hook_event_name": next(event for event, moment in host.events.items() if moment == "before"),
        "session_id": "vigil-hook-status",
        "conversation_id": "vigil-hook-status",
        "cwd": folder,
        "tool_name": "write_file" if host.name == "gemini" else "Write",
        "tool_use_id": "trial",
        "tool_input": {"file_path": target, "content": ""},
    }
    try:
        done = subprocess.run(
            command,
            input=json.dumps(payload),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            cwd=folder,
            env={**os.environ, "VIGIL_DAEMON": "off"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def version(program: Path) -> str | None:
    """What a host's program says its version is; None where it does not say."""
    try:
        done = subprocess.run(
            [str(program), "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    found = _VERSION.search(done.stdout)
    return found[0] if found else None

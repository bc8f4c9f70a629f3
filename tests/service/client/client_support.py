"""A real gate service on loopback, in a process of its own, and state folders of machines that use it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING
from uuid import uuid4

from vigil_lang.gate.authority.keys import Key, write_key
from vigil_lang.gate.gate import Gate
from vigil_lang.gate.setup import make_state

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ORGANISATION = """
policy org

/// Money is confirmed.
rule payment: when Pay() then hold

/// Nobody formats disks.
rule format_disk: when Format() then block

/// What is opened is closed again.
statement closed: resp(Open(file = x), Close(file = x))
"""


class Service:
    """`vigil gate serve` over a state folder of its own; `start` again after `stop`, at the same port."""

    def __init__(self, folder: Path, *, agents: Sequence[str] = ("mailer", "clerk"), more: str = "") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.state = folder / "service"
        policy = folder / "org.vgl"
        policy.write_text(ORGANISATION, "utf-8")
        make_state(self.state, folder / "nowhere", [str(policy)], is_open=True)
        self.keys: dict[str, str] = {}
        lines = ["", "[service]", more, "[service.agents]"]
        for agent in agents:
            key = Key.new()
            self.keys[agent] = str(folder / f"{agent}.pem")
            write_key(key, self.keys[agent])
            lines.append(f'{agent} = "{key.public}"')
        with (self.state / "gate.toml").open("a", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        self.port = 0
        self.url = self.token = ""
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Serve; returns when it answers."""
        command = [sys.executable, "-m", "vigil_lang", "gate", "serve", "--state", str(self.state)]
        command += ["--port", str(self.port)]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONWARNINGS": "error"}
        )
        watchdog = threading.Timer(60, self._process.kill)
        watchdog.daemon = True
        watchdog.start()
        assert self._process.stdout is not None
        for line in self._process.stdout:
            name, _, value = line.strip().partition(" ")
            if name == "data":
                self.url, self.port = value, int(value.rpartition(":")[2])
            elif name == "token":
                self.token = value
            elif name == "sign-in":
                break
        watchdog.cancel()
        assert self.token, "the service did not start"

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End it."""
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(number)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            assert process.stdout is not None
            process.stdout.close()

    def gate(self) -> Gate:
        """The gate itself, as an operator on its machine has it."""
        return Gate(self.state)


class Machine:
    """A machine where an agent works: its own state folder, whose settings name the service."""

    def __init__(self, folder: Path, service: Service, agent: str = "mailer") -> None:
        self.folder = folder
        self.run = f"run-{uuid4()}"
        self.state = folder / "state"
        self.work = folder / "work"
        self.home = folder / "home"
        for each in (self.work, self.home):
            each.mkdir(parents=True, exist_ok=True)
        make_state(self.state, folder / "nowhere", is_open=True)
        with (self.state / "gate.toml").open("a", encoding="utf-8") as file:
            file.write(f'\n[remote]\nurl = "{service.url}"\nkey = "{service.keys[agent]}"\n')

    def policy(self, text: str, name: str = "p.vgl") -> str:
        """Write a policy on this machine."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

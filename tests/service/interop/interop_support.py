"""`vigil gate serve` as a process of its own, as an operator starts it."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from authzen_client import AuthZenClient

from vigil_lang.gate.setup import make_state

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
VIGIL = [sys.executable, "-m", "vigil_lang"]


@dataclass(frozen=True)
class Served:
    """A running service: its data address, the operator's token and its state folder."""

    url: str
    token: str
    state: Path

    def client(self, token: str | None = None) -> AuthZenClient:
        return AuthZenClient(self.url, self.token if token is None else token)

    def vigil(self, *words: str) -> str:
        """What a verb on the state folder prints."""
        command = [*VIGIL, *words, "--state", str(self.state)]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def written(folder: Path, policy: str) -> Path:
    """The file of a policy."""
    path = folder / "policy.vgl"
    path.write_text(policy, encoding="utf-8")
    return path


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
    return port


@contextmanager
def serving(folder: Path, policy: Path, settings: str = "", port: int = 0) -> Iterator[Served]:
    """Serve a policy of the organisation, everything granted; `settings` are added to `gate.toml`."""
    state, work = folder / "state", folder / "work"
    work.mkdir()
    make_state(state, work, [str(policy)], is_open=True)
    with (state / "gate.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n{settings}")
    command = [*VIGIL, "gate", "serve", "--port", str(port), "--state", str(state)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = {}
        try:
            for line in process.stdout:
                name, _, said[name] = line.strip().partition(" ")
                if name == "sign-in":
                    break
            yield Served(said["data"], said["token"], state)
        finally:
            process.terminate()
            try:
                process.wait(30)
            finally:
                process.kill()

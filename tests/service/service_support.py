"""A service in a process of its own, on a state folder of a module's own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from tests.gate.gate_support import ORGANISATION, PERSONAL
from vigil_lang.gate.authority.keys import Key, load_key
from vigil_lang.gate.gate import Gate
from vigil_lang.gate.setup import make_state

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[2]
SECONDS = 240
"""No service of a test lives longer."""


def made_state(folder: Path, *, settings: str = "", organisation: str = ORGANISATION, personal: str = PERSONAL) -> Path:
    """A state folder with two policies, everything granted, and further settings."""
    (folder / "work").mkdir(parents=True)
    for name, text in {"organisation": organisation, "personal": personal}.items():
        (folder / f"{name}.vgl").write_text(text, encoding="utf-8")
    named = [[str(folder / f"{name}.vgl")] for name in ("organisation", "personal")]
    state = folder / "state"
    make_state(state, folder / "work", *named, is_open=True)
    file = state / "gate.toml"
    text = file.read_text(encoding="utf-8").replace("default = true", "default = false")
    file.write_text(f"{text}\n{settings}", encoding="utf-8")
    return state


class Served:
    """`vigil gate serve` on a state folder, until `stop`."""

    def __init__(self, state: Path, *options: str) -> None:
        self.state = state
        command = [sys.executable, "-m", "vigil_lang", "gate", "serve", "--state", str(state), *options]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ}
        )
        self._timer = threading.Timer(SECONDS, self.process.kill)
        self._timer.daemon = True
        self._is_told = False
        self._timer.start()
        assert self.process.stdout is not None
        self.said: dict[str, str] = {}
        for line in self.process.stdout:
            name, _, value = line.strip().partition(" ")
            self.said[name] = value
            if name == ("control" if "--no-auth" in options else "sign-in"):
                break

    @property
    def data(self) -> str:
        return self.said["data"]

    @property
    def control(self) -> str:
        return self.said["control"]

    @property
    def token(self) -> str:
        return self.said.get("token", "")

    def headers(self, **more: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", **more}

    def post(self, path: str, body: object = None, *, control: bool = False, **more: Any) -> httpx.Response:
        address = self.control if control else self.data
        given = {"json": body} if "content" not in more else {}
        return httpx.post(address + path, headers=self.headers(**more.pop("headers", {})), timeout=30, **given, **more)

    def get(self, path: str, *, control: bool = True, **more: Any) -> httpx.Response:
        address = self.control if control else self.data
        return httpx.get(address + path, headers=self.headers(**more.pop("headers", {})), timeout=30, **more)

    def key(self, role: str) -> Key:
        return load_key(self.state / "keys" / f"{role}.pem")

    def gate(self) -> Gate:
        """Another gate over the same folder, as another process has it."""
        return Gate(self.state)

    def words(self, hold: str) -> dict[str, Any]:
        """The approver's approval of a hold, as the service takes it."""
        gate = self.gate()
        try:
            (word,) = gate.holds.signed([hold], self.key("approver"))
        finally:
            gate.close()
        return {"words": [{"hold": word.hold, "by": word.by, "signature": word.signature, "uses": word.uses}]}

    def approve(self, hold: str) -> None:
        answer = self.post("/v1/holds/approve", self.words(hold), control=True)
        assert answer.status_code == 200, answer.text

    def signal(self, number: int = signal.SIGTERM) -> None:
        self._is_told = True
        self.process.send_signal(number)

    def stop(self) -> int:
        """End it, where it was not told to end already, and give its exit status."""
        if self.process.poll() is None and not self._is_told:
            self.signal()
        try:
            return self.process.wait(30)
        finally:
            self._timer.cancel()
            self.process.kill()
            for stream in (self.process.stdout, self.process.stderr):
                if stream is not None:
                    stream.close()


def asked(
    tool: str = "get_invoice",
    properties: Mapping[str, Any] | None = None,
    *,
    run: str = "r1",
    agent: str = "payer",
    **context: Any,
) -> dict[str, Any]:
    """An evaluation of a call of a tool."""
    return {
        "subject": {"type": "agent", "id": agent},
        "action": {"name": tool, "properties": dict(properties or {"invoice": "i1"})},
        "resource": {"type": "tool", "id": tool},
        "context": {"run": run, **context},
    }


EVALUATION = "/access/v1/evaluation"
EVALUATIONS = "/access/v1/evaluations"
REQUESTS = "/access/v1/requests"

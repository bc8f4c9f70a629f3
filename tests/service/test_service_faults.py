"""What happens when a part is down, tried on a running service (docs/deployment.md names these tests)."""

from __future__ import annotations

import json
import resource
import signal
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import called
from service_support import EVALUATION, Served, asked, made_state

from vigil_lang.gate.log.notes import Note, VerifierKey

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PAYMENT = asked("pay", {"amount": 900, "currency": "EUR", "to": "Paper Ltd"})


def until(true: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def decided(served: Served, body: dict[str, Any]) -> dict[str, Any]:
    answer = served.post(EVALUATION, body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def held(served: Served) -> str:
    """An action that is held, and its hold."""
    found: str = decided(served, PAYMENT)["context"]["access_request"]["id"]
    return found


class Receiver(HTTPServer):
    """Keeps the notices that it is told."""

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.told: list[tuple[str, dict[str, Any]]] = []
        self._thread = Thread(target=self.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.told.append((self.headers["webhook-id"], json.loads(body)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing is written to the screen."""


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, int]:
    """A state folder that tells a webhook where nobody listens yet, and its port."""
    found = Receiver()
    port = found.server_port
    found.close()
    secret = tmp_path / "secret"
    secret.write_text("whsec_c2VjcmV0")
    notify = f'[notify]\nwebhook = "http://127.0.0.1:{port}/hook"\nsecret = "{secret}"\n'
    return made_state(tmp_path / "gate", settings=notify), port


def test_a_receiver_that_is_down_delays_no_decision_and_is_told_when_it_is_back(place: tuple[Path, int]) -> None:
    state, port = place
    served = Served(state)
    try:
        hold = held(served)
        until(lambda: '"kind":"fault"' in (state / "log.jsonl").read_text())
        assert decided(served, asked())["decision"] is True
        receiver = Receiver(port)
        try:
            until(lambda: bool(receiver.told))
        finally:
            receiver.close()
        ((name, notice),) = receiver.told
        assert name == f"{hold}.opened"
        assert notice["link"] == f"{served.control}/holds/{hold}"
    finally:
        served.stop()


def test_a_service_that_was_killed_goes_on_where_it_was(place: tuple[Path, int]) -> None:
    state, port = place
    first = Served(state)
    hold = held(first)
    first.signal(signal.SIGKILL)
    first.stop()
    receiver = Receiver(port)
    served = Served(state)
    try:
        assert held(served) == hold  # it still waits, and the same action joins it
        until(lambda: bool(receiver.told))  # what was not told before is told now
        assert {name for name, _ in receiver.told} == {f"{hold}.opened"}
        served.approve(hold)
        assert decided(served, PAYMENT)["decision"] is True
    finally:
        served.stop()
        receiver.close()
    assert called("audit", "verify", "--state", str(state)).status == 0


def test_a_disk_that_is_full_blocks_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    served = Served(made_state(tmp_path))
    try:
        assert decided(served, asked())["decision"] is True
        size = (served.state / "log.jsonl").stat().st_size
        soft, hard = resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (size, hard))  # no file grows beyond it
        blocked = decided(served, asked())
        assert blocked["decision"] is False
        assert blocked["context"]["reason"] == "cannot_judge"
        resource.prlimit(served.process.pid, resource.RLIMIT_FSIZE, (soft, hard))
        assert decided(served, asked())["decision"] is True
    finally:
        served.stop()
    assert called("audit", "verify", "--state", str(served.state)).status == 0


def test_without_the_key_of_the_log_it_does_not_begin(tmp_path: Path) -> None:
    state = made_state(tmp_path)
    (state / "keys" / "log.pem").unlink()
    served = Served(state)
    try:
        assert served.process.wait(30) == 2
        assert served.process.stderr is not None
        assert "the key of the log" in served.process.stderr.read()
    finally:
        served.stop()


def test_the_key_of_the_log_is_rotated_while_it_decides(tmp_path: Path) -> None:
    served = Served(made_state(tmp_path))
    vkey = served.state / "log.vkey"
    old = vkey.read_text()
    try:
        decided(served, asked())
        assert called("gate", "rotate-key", "--state", str(served.state)).status == 0
        assert decided(served, asked())["decision"] is True
        assert called("gate", "checkpoint", "--state", str(served.state)).status == 0
    finally:
        assert served.stop() == 0
    new = VerifierKey.parse(vkey.read_text())
    assert Note.parse((served.state / "checkpoint").read_bytes()).signed_by(new)
    for key in (old.strip(), str(new)):
        found = called("audit", "verify", "--key", key, "--state", str(served.state))
        assert (found.status, found.err) == (0, "")

"""People are told after the hold is in the log; whatever fails there changes nothing, and nothing told is dangerous."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from holds_support import Call, World, create

from vigil_lang.gate import notify
from vigil_lang.gate.notices import notice as notices
from vigil_lang.gate.settings import HoldSettings, Notify

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NASTY = "\x1b]0;owned\x07\u202e" + "x" * 5000


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(create(tmp_path / "state"), HoldSettings(escalate_after=10))


def told_of(world: World, call: Call) -> notices.Notice:
    name = world.ask(call).hold
    return world.holds.notice("opened", name or "")


def sent(settings: Notify, told: notices.Notice) -> list[str]:
    """What failed of telling something by every way that is set, in words."""
    tried = [notify.send(settings, way, told) for way in notify.ways(settings)]
    return [failed.message for failed in tried if failed is not None]


def saving(path: Path, more: str = "") -> tuple[str, ...]:
    """A command that keeps what it is told, and its environment."""
    code = (
        f"import os, sys, json; json.dump([sys.stdin.read(), dict(os.environ), os.getcwd()], open({str(path)!r}, 'w'))"
    )
    return sys.executable, "-c", code + more


def texts(value: object) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for item in value.items() for part in item for text in texts(part)]
        case list():
            return [text for part in value for text in texts(part)]
        case _:
            return []


def test_a_command_is_told_what_waits(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIGIL_KEY", "secret")
    told = told_of(world, Call())
    assert sent(Notify(command=saving(tmp_path / "told")), told) == []
    text, environment, folder = json.loads((tmp_path / "told").read_text())
    assert json.loads(text) == told
    assert (told["tool"], told["input"], told["agent"]) == (
        "payment.transfer",
        {"amount": "700", "to": "acct_123"},
        "mailer",
    )
    assert told["reasons"] == [{"name": "personal.transfer", "message": "`transfer` is to be confirmed"}]
    assert "VIGIL_KEY" not in environment
    assert folder == "/"


def test_what_is_told_has_no_control_characters_and_is_bounded(world: World) -> None:
    many = tuple(f"rule{number}" for number in range(100))
    told = told_of(world, Call(tool=f"pay{NASTY}", run=NASTY, agent=NASTY, more=(*many, NASTY)))
    world.ask(Call(more=(NASTY,)))
    assert all(text.isprintable() and len(text) <= notices.LONGEST_TEXT for text in texts(told))
    assert len(json.dumps(told)) < 20_000
    assert len(told["reasons"]) == notices.MOST


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (("/nonexistent/command",), "cannot be started"),
        ((sys.executable, "-c", "raise SystemExit(3)"), "ended with status 3"),
        ((sys.executable, "-c", "import time; time.sleep(60)"), "took longer"),
        (
            (sys.executable, "-c", "import os; os.close(0); import time; time.sleep(60)"),
            "took longer|cannot be written",
        ),
        (("\0",), "cannot be started"),
    ],
)
def test_a_command_that_fails_says_so(
    world: World, command: tuple[str, ...], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "took" in why:
        monkeypatch.setattr(notify, "SECONDS", 0.5)
    (failure,) = sent(Notify(command=command), told_of(world, Call()))
    assert re.search(why, failure)
    assert failure.isprintable()


def test_what_a_command_leaves_behind_ends_with_it(world: World, tmp_path: Path) -> None:
    child = f"import time; time.sleep(1); open({str(tmp_path / 'late')!r}, 'w')"
    code = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {child!r}])"
    assert sent(Notify(command=(sys.executable, "-c", code)), told_of(world, Call())) == []
    time.sleep(1.3)
    assert not (tmp_path / "late").exists()


def test_a_failure_is_logged_and_changes_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    world = World(create(tmp_path / "state"), HoldSettings(), notified=Notify(command=("/nonexistent/command",)))
    name = world.ask(Call()).hold or ""
    (thread,) = world.holds.tell()
    thread.join()
    world.holds.close()
    *_, (_, entry) = world.log.entries()
    assert (entry["kind"], entry["hold"]) == ("fault", name)
    assert "cannot be started" in entry["message"]
    assert "cannot be started" in caplog.text
    assert world.state(name) == "pending"


def test_an_escalation_is_told_after_it_is_in_the_log(tmp_path: Path) -> None:
    reading = f"; open({str(tmp_path / 'log')!r}, 'w').write(open({str(tmp_path / 'state' / 'log.jsonl')!r}).read())"
    settings = HoldSettings(escalate_after=10, escalate=("ed25519:" + "A" * 43,))
    command = Notify(command=saving(tmp_path / "told", reading))
    world = World(create(tmp_path / "state"), settings, notified=command)
    world.ask(Call())
    world.clock.at += 10
    world.holds.listed()
    for thread in threading.enumerate():
        if thread.name == "vigil-notify":
            thread.join()
    told = json.loads(json.loads((tmp_path / "told").read_text())[0])
    assert [entry["notice"][10:] for _, entry in world.log.entries() if entry["kind"] == "told"] == [
        ".opened",
        ".escalated",
    ]
    assert (told["event"], told["to"]) == ("escalated", list(settings.escalate))
    assert '"escalation"' in (tmp_path / "log").read_text()


# --- webhooks --------------------------------------------------------------------------------------------------------


class Server(HTTPServer):
    """Keeps what it is sent, and answers as it is told to."""

    received: list[tuple[str, dict[str, str], bytes]]
    answer = 204
    delay = 0.0
    drips = False


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append((self.path, {name.lower(): text for name, text in self.headers.items()}, body))
        time.sleep(self.server.delay)
        if self.server.drips:
            with suppress(OSError):
                for _ in range(30):
                    self.wfile.write(b"H")
                    time.sleep(0.1)
            return
        self.send_response(self.server.answer)
        if self.server.answer == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()

    do_GET = do_POST  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """Nothing is written to the screen."""


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server(("127.0.0.1", 0), Handler)
    found.received = []
    thread = threading.Thread(target=found.serve_forever, args=(0.01,))
    thread.start()
    yield found
    found.shutdown()
    thread.join()
    found.server_close()


def hook(server: Server, tmp_path: Path, secret: bytes = b"swordfish") -> Notify:
    (tmp_path / "secret").write_bytes(secret)
    return Notify(webhook=f"http://127.0.0.1:{server.server_port}/hook", secret=os.fspath(tmp_path / "secret"))


@pytest.mark.parametrize("form", [b"swordfish\n", b"whsec_" + base64.b64encode(b"swordfish")])
def test_a_webhook_is_signed(world: World, server: Server, tmp_path: Path, form: bytes) -> None:
    told = told_of(world, Call())
    assert sent(hook(server, tmp_path, form), told) == []
    ((path, headers, body),) = server.received
    assert path == "/hook"
    assert json.loads(body) == told
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(b"swordfish", signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert headers["webhook-id"] == f"{told['hold']}.opened"
    assert abs(int(headers["webhook-timestamp"]) - time.time()) < 30


@pytest.mark.parametrize("answer", [302, 400, 500])
def test_a_webhook_that_answers_otherwise_failed(world: World, server: Server, tmp_path: Path, answer: int) -> None:
    server.answer = answer
    (failure,) = sent(hook(server, tmp_path), told_of(world, Call()))
    assert str(answer) in failure
    assert [path for path, _, _ in server.received] == ["/hook"]


def test_a_webhook_has_a_bounded_time(
    world: World, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notify, "SECONDS", 0.3)
    server.delay = 1.0
    (failure,) = sent(hook(server, tmp_path), told_of(world, Call()))
    assert "the webhook failed" in failure


def test_a_webhook_that_drips_has_a_bounded_time(
    world: World, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notify, "SECONDS", 0.3)
    server.drips = True
    began = time.monotonic()
    (failure,) = sent(hook(server, tmp_path), told_of(world, Call()))
    assert "the webhook failed" in failure
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (Notify(webhook="http://example.org/hook", secret="x"), "https address"),
        (Notify(webhook="ftp://127.0.0.1/hook", secret="x"), "https address"),
        (Notify(webhook="file:///etc/passwd", secret="x"), "https address"),
        (Notify(webhook="http://127.0.0.1:1/hook"), "needs a secret"),
        (Notify(webhook="http://127.0.0.1:1/hook", secret="/nonexistent"), "failed"),
        (Notify(webhook="http://[", secret="x"), "failed"),
    ],
)
def test_a_webhook_that_cannot_be_sent_says_so(world: World, settings: Notify, why: str) -> None:
    (failure,) = sent(settings, told_of(world, Call()))
    assert why in failure


@pytest.mark.parametrize("secret", [b"", b"  \n", b"whsec_!"])
def test_a_webhook_without_a_good_secret_is_not_sent(
    world: World, server: Server, tmp_path: Path, secret: bytes
) -> None:
    (failure,) = sent(hook(server, tmp_path, secret), told_of(world, Call()))
    assert "secret" in failure
    assert server.received == []


def test_nobody_is_told_where_nobody_is_named(world: World) -> None:
    world.ask(Call(run="r2"))
    assert world.holds.tell() == []
    assert sent(Notify(), told_of(world, Call())) == []

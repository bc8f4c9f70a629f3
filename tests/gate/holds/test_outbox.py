"""What was opened is told: tried again while it waits, after a restart too, and by one process of several."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from holds_support import START, Call, Clock, World, create

from vigil_lang.gate.authority.keys import Key
from vigil_lang.gate.notices import outbox
from vigil_lang.gate.settings import HoldSettings, Notify

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = Key.new()
SECRET = b"whsec_" + base64.b64encode(b"a secret of twenty-four b")
NEXT = b"whsec_" + base64.b64encode(b"the secret that comes next")

PROCESS = """
import sys, threading
from vigil_lang.gate.holds import Holds
from vigil_lang.gate.log.log import Log
from vigil_lang.gate.settings import HoldSettings, LogSettings, Notify
from vigil_lang.gate.state import StateFolder
from vigil_lang.gate.storage.folder import FolderStorage
from vigil_lang.gate.store import Store
from pathlib import Path

state, webhook, secret = sys.argv[1:]
storage = FolderStorage(StateFolder(Path(state)))
log = Log(storage, LogSettings(durability="process"))
holds = Holds(storage, log, Store(storage, log), HoldSettings(), Notify(webhook=webhook, secret=secret))
print("ready", flush=True)
sys.stdin.readline()
holds.listed()
for thread in threading.enumerate():
    if thread.name == "vigil-notify":
        thread.join()
holds.close()
"""
"""A process that looks at what waits, once, and ends."""


def verified(headers: dict[str, str], body: bytes, secret: bytes, now: float) -> bool:
    """Standard Webhooks as its specification says it, for a receiver: `whsec_` and base64, `v1,` signatures of
    `id.timestamp.body` separated by spaces, and a timestamp that is no older than five minutes."""
    if abs(now - int(headers["webhook-timestamp"])) > 300:
        return False
    key = base64.b64decode(secret.removeprefix(b"whsec_"))
    content = b".".join((headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body))
    expected = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest())
    given = [each.split(",", 1) for each in headers["webhook-signature"].split(" ")]
    return any(version == "v1" and hmac.compare_digest(expected, text.encode()) for version, text in given)


class Receiver(ThreadingHTTPServer):
    """Keeps what it is sent, and answers as `answers` says, the last one for ever."""

    daemon_threads = True
    answers: list[int]
    retry_after: str | None = None
    delay = 0.0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = [204]
        self.received: list[tuple[dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"

    @property
    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.received]


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append(({name.lower(): text for name, text in self.headers.items()}, body))
        answer = self.server.answers.pop(0) if len(self.server.answers) > 1 else self.server.answers[0]
        time.sleep(self.server.delay)
        self.send_response(answer)
        if self.server.retry_after is not None:
            self.send_header("Retry-After", self.server.retry_after)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing is written to the screen."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    thread = threading.Thread(target=found.serve_forever, args=(0.01,))
    thread.start()
    yield found
    found.shutdown()
    thread.join()
    found.server_close()


@pytest.fixture
def settings(receiver: Receiver, tmp_path: Path) -> Notify:
    (tmp_path / "secret").write_bytes(SECRET)
    return Notify(webhook=receiver.url, secret=os.fspath(tmp_path / "secret"))


@pytest.fixture
def world(tmp_path: Path, settings: Notify, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(outbox, "_LOOK", 0.0)
    found = World(create(tmp_path / "state"), HOLDS, notified=settings)
    yield found
    found.holds.close()


HOLDS = HoldSettings(approvers=(KEY.public,), escalate_after=100)


def tell(world: World) -> None:
    """Tell what is due at this moment of the world's clock."""
    world.log.refresh()
    world.store.catch_up()
    for thread in world.holds.tell():
        thread.join()


def later(world: World, settings: Notify, seconds: int) -> World:
    """Another process on the same folder, some time later."""
    world.holds.close()
    return World(world.folder, HOLDS, Clock(world.clock.at + seconds), settings)


def faults(world: World) -> list[dict[str, Any]]:
    return [entry for _, entry in world.log.entries() if entry["kind"] == "fault"]


# --- once -----------------------------------------------------------------------------------------------------------


def test_what_is_opened_is_told_once(world: World, receiver: Receiver) -> None:
    name = world.ask(Call()).hold
    for _ in range(5):
        tell(world)
    world.ask(Call())  # joins it
    tell(world)
    assert receiver.ids == [f"{name}.opened"]
    assert world.kinds() == ["decision", "telling", "told", "decision"]


def test_what_waits_no_more_is_not_told(world: World, receiver: Receiver) -> None:
    elsewhere = World(world.folder, HOLDS, world.clock)  # a process that tells nobody, so that nothing is told between
    names = [elsewhere.ask(Call(amount=amount)).hold for amount in range(3)]
    elsewhere.approve(KEY, names[0])
    elsewhere.holds.close()
    world.clock.at += 300
    tell(world)
    assert receiver.ids == []


def test_holds_are_told_in_order_and_escalations_once(world: World, receiver: Receiver) -> None:
    names = [world.ask(Call(amount=amount)).hold for amount in range(3)]
    tell(world)
    world.clock.at += 100
    for _ in range(3):
        world.holds.listed()
        for thread in threading.enumerate():
            if thread.name == "vigil-notify":
                thread.join()
    assert receiver.ids == [f"{name}.{event}" for event in ("opened", "escalated") for name in names]


# --- tried again ----------------------------------------------------------------------------------------------------


def test_a_receiver_that_fails_thrice_is_told_the_fourth_time(world: World, receiver: Receiver) -> None:
    receiver.answers = [500, 302, 503, 204]
    name = world.ask(Call()).hold
    pauses = []
    tell(world)
    while len(failed := faults(world)) > len(pauses):
        pauses.append(failed[-1]["again"] - world.clock.at)
        world.clock.at = failed[-1]["again"] - 1
        tell(world)
        assert len(receiver.received) == len(pauses)  # not before
        world.clock.at += 1
        tell(world)
    assert receiver.ids == [f"{name}.opened"] * 4
    assert len({body for _, body in receiver.received}) == 1
    assert [low <= pause <= high for pause, low, high in zip(pauses, (1, 2, 4), (2, 4, 8), strict=True)] == [True] * 3
    assert world.kinds()[-1] == "told"
    assert all(verified(headers, body, SECRET, time.time()) for headers, body in receiver.received)
    assert world.state(name) == "pending"


def test_a_receiver_that_is_down_for_long_is_tried_ever_more_seldom_until_the_hold_ends(
    world: World, receiver: Receiver
) -> None:
    receiver.answers = [500]
    world.ask(Call())
    for _ in range(400):
        tell(world)
        world.clock.at += 1
    assert 6 <= len(receiver.received) <= 14  # of 300 seconds
    assert max(entry["again"] for entry in faults(world)) <= START + 300 + outbox.LONGEST_PAUSE
    assert world.holds.listed() == []


def test_a_process_that_lives_on_tries_again_by_itself(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "SHORTEST_PAUSE", 0.2)
    receiver.answers = [500, 204]
    world.ask(Call())
    tell(world)
    world.clock.at += 2
    end = time.monotonic() + 10
    while len(receiver.received) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    assert len(receiver.received) == 2


@pytest.mark.parametrize(("asked", "low", "high"), [("30", 30, 30), ("100000", 60, 60), ("soon", 1, 2), ("-1", 1, 2)])
def test_a_receiver_may_ask_to_be_left_alone_for_a_while(
    world: World, receiver: Receiver, asked: str, low: int, high: int
) -> None:
    receiver.answers, receiver.retry_after = [429], asked
    world.ask(Call())
    tell(world)
    (failed,) = faults(world)
    assert low <= failed["again"] - world.clock.at <= high


def test_a_receiver_that_is_gone_is_not_told_again(world: World, receiver: Receiver) -> None:
    receiver.answers = [410]
    world.ask(Call())
    for _ in range(10):
        tell(world)
        world.clock.at += 25
    assert len(receiver.received) == 1


def test_one_way_that_hangs_delays_no_other(world: World, settings: Notify, receiver: Receiver, tmp_path: Path) -> None:
    command = (sys.executable, "-c", f"import time; open({str(tmp_path / 'begun')!r}, 'w'); time.sleep(3)")
    other = later(world, Notify(command=command, webhook=settings.webhook, secret=settings.secret), 0)
    other.ask(Call())
    began = time.monotonic()
    threads = other.holds.tell()
    while not receiver.received and time.monotonic() < began + 3:
        time.sleep(0.02)
    assert (len(threads), time.monotonic() - began < 2.5) == (2, True)
    for thread in threads:
        thread.join()
    other.holds.close()


def test_many_holds_take_one_thread_and_no_memory(world: World, receiver: Receiver) -> None:
    receiver.delay = 0.02
    for amount in range(30):
        world.ask(Call(amount=amount))
    threads = [thread for _ in range(30) for thread in world.holds.tell()]
    assert len(threads) == 1
    threads[0].join()
    assert len(set(receiver.ids)) == len(receiver.ids) == 30


# --- a restart, and several processes -------------------------------------------------------------------------------


def test_what_was_not_told_is_told_after_a_restart(world: World, settings: Notify, receiver: Receiver) -> None:
    name = world.ask(Call()).hold  # and the process ends before it tells anybody
    other = later(world, settings, 5)
    tell(other)
    assert receiver.ids == [f"{name}.opened"]
    third = later(other, settings, 5)
    tell(third)
    assert receiver.ids == [f"{name}.opened"]
    third.holds.close()


def test_what_failed_before_a_restart_is_tried_again_when_it_is_due(
    world: World, settings: Notify, receiver: Receiver
) -> None:
    receiver.answers = [500, 204]
    world.ask(Call())
    tell(world)
    tell(later(world, settings, 0))
    assert len(receiver.received) == 1
    other = later(world, settings, 5)
    tell(other)
    assert len(receiver.received) == 2
    other.holds.close()


def test_an_index_that_is_made_anew_knows_what_was_told(world: World, settings: Notify, receiver: Receiver) -> None:
    world.ask(Call())
    tell(world)
    world.store.close()
    world.folder.index.unlink()
    other = later(world, settings, 5)
    tell(other)
    assert len(receiver.received) == 1
    other.holds.close()


def process(world: World, settings: Notify) -> subprocess.Popen[str]:
    assert settings.webhook is not None
    words = [sys.executable, "-c", PROCESS, str(world.folder.path), settings.webhook, str(settings.secret)]
    found = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert found.stdout is not None
    assert found.stdout.readline() == "ready\n"
    return found


def go(started: subprocess.Popen[str]) -> None:
    assert started.stdin is not None
    started.stdin.write("\n")
    started.stdin.flush()


def test_of_processes_that_look_at_once_one_tells(world: World, settings: Notify, receiver: Receiver) -> None:
    world.clock.at = int(time.time())
    names = {f"{world.ask(Call(amount=amount)).hold}.opened" for amount in range(8)}
    started = [process(world, settings) for _ in range(3)]
    for each in started:
        go(each)
    for each in started:
        each.communicate(timeout=60)
        assert each.returncode == 0
    assert sorted(receiver.ids) == sorted(names)


def test_a_process_that_is_killed_while_it_tells_leaves_one_notice_that_may_come_twice(
    world: World, settings: Notify, receiver: Receiver
) -> None:
    world.clock.at = int(time.time())
    name = world.ask(Call()).hold
    receiver.delay = 3.0
    started = process(world, settings)
    go(started)
    end = time.monotonic() + 20
    while not receiver.received and time.monotonic() < end:
        time.sleep(0.02)
    os.kill(started.pid, signal.SIGKILL)
    started.communicate()
    receiver.delay = 0.0
    tell(later(world, settings, 2))
    assert receiver.ids == [f"{name}.opened"]  # it is claimed
    other = later(world, settings, outbox.CLAIM + 5)
    tell(other)
    assert receiver.ids == [f"{name}.opened"] * 2  # the same id: the receiver knows it
    tell(other)
    assert len(receiver.received) == 2
    other.holds.close()


def test_who_slept_beyond_its_claim_leaves_it_to_others(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.ask(Call())
    made = world.holds.notice

    def slept(event: str, name: str) -> Any:
        found = made(event, name)
        world.clock.at += outbox.CLAIM
        return found

    monkeypatch.setattr(world.holds._outbox, "_made", slept)
    monkeypatch.setattr(outbox, "SHORTEST_PAUSE", 60.0)
    thread = threading.Thread(target=tell, args=(world,), daemon=True)
    thread.start()
    thread.join(15)
    assert receiver.ids == []


# --- secrets --------------------------------------------------------------------------------------------------------


def test_with_two_secrets_both_verify(world: World, settings: Notify, receiver: Receiver, tmp_path: Path) -> None:
    (tmp_path / "next").write_bytes(NEXT)
    both = Notify(webhook=settings.webhook, secret=(str(settings.secret), os.fspath(tmp_path / "next")))
    other = later(world, both, 0)
    other.ask(Call())
    tell(other)
    ((headers, body),) = receiver.received
    assert [verified(headers, body, each, time.time()) for each in (SECRET, NEXT, b"whsec_" + b"AAAA")] == [
        True,
        True,
        False,
    ]
    assert not verified(headers, body + b" ", SECRET, time.time())
    assert not verified(headers | {"webhook-id": "x"}, body, SECRET, time.time())
    assert not verified(headers, body, SECRET, time.time() + 301)
    other.holds.close()


def test_the_notice_links_to_the_page(world: World, receiver: Receiver) -> None:
    world.holds.origin = "https://vigil.example.org"
    name = world.ask(Call()).hold
    tell(world)
    told = json.loads(receiver.received[0][1])
    assert told["link"] == f"https://vigil.example.org/holds/{name}"
    assert told["text"].endswith(f": https://vigil.example.org/holds/{name}")

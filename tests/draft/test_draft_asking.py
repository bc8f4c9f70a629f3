"""Several questions are asked at a time; replies come as they are ready, and nobody waits for those that hang."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
import time
from typing import TYPE_CHECKING

from vigil_lang.draft.api.client import Message, Reply
from vigil_lang.draft.clause_result import Usage
from vigil_lang.draft.parallel_requests import Desk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Clerk:
    """Answers with the question's text, after the others it is told to wait for."""

    def __init__(self, *slow: str) -> None:
        self.slow, self.go = slow, threading.Event()
        self.asked: list[str] = []
        self.busy = self.most = 0
        self._lock = threading.Lock()

    @property
    def usage(self) -> Usage:
        return Usage(len(self.asked))

    def ask(self, messages: Sequence[Message], received: Callable[[int], None]) -> Reply:
        text = messages[0].text
        with self._lock:
            self.asked.append(text)
            self.busy += 1
            self.most = max(self.most, self.busy)
        try:
            if text in self.slow:
                self.go.wait(10)
            if text == "raise":
                raise KeyError(text)
            received(len(text))
            time.sleep(0.01)
            return Reply(text, "end_turn", Usage(1), "m")
        finally:
            with self._lock:
                self.busy -= 1


def test_replies_come_as_they_are_ready_and_none_is_lost() -> None:
    clerk = Clerk("q1")
    with Desk[int](clerk, 3) as desk:
        for number in range(10):
            desk.put(number, [Message("user", f"q{number}")])
        found = [desk.next() for _ in range(9)]
        clerk.go.set()
        found.append(desk.next())
        assert not desk.busy
    assert found[0][0] == 0
    assert found[-1][0] == 1
    assert sorted(key for key, _ in found) == list(range(10))
    assert all(isinstance(reply, Reply) and reply.text == f"q{key}" for key, reply in found)
    assert 2 <= clerk.most <= 3


def test_one_thread_asks_in_turn() -> None:
    clerk = Clerk()
    with Desk[int](clerk, 1) as desk:
        for number in range(5):
            desk.put(number, [Message("user", f"q{number}")])
        assert [desk.next()[0] for _ in range(5)] == list(range(5))
        desk.put(7, [Message("user", "q7")])
        assert desk.next()[0] == 7
    assert clerk.most == 1


def test_what_is_raised_comes_back_and_ends_no_thread() -> None:
    with Desk[str](Clerk(), 1) as desk:
        desk.put("a", [Message("user", "raise")])
        desk.put("b", [Message("user", "q")])
        key, error = desk.next()
        assert (key, type(error)) == ("a", KeyError)
        assert desk.next()[0] == "b"


def test_what_waits_is_dropped_when_the_desk_is_closed() -> None:
    clerk = Clerk("q0")
    with Desk[int](clerk, 1) as desk:
        for number in range(5):
            desk.put(number, [Message("user", f"q{number}")])
    clerk.go.set()
    time.sleep(0.1)
    assert clerk.asked in (["q0"], [])


def test_characters_are_counted_over_all_replies() -> None:
    received: list[int] = []
    with Desk[int](Clerk(), 2, received.append) as desk:
        for number in range(6):
            desk.put(number, [Message("user", "four")])
        for _ in range(6):
            desk.next()
    assert received == [4 * n for n in range(1, 7)]


def test_whoever_gives_up_waits_for_no_reply() -> None:
    """Threads that hang in a request do not keep the program from ending."""
    program = """
        import time
        from vigil_lang.draft.parallel_requests import Desk
        class Hangs:
            usage = None
            def ask(self, messages, received):
                time.sleep(60)
        with Desk(Hangs(), 2) as desk:
            desk.put(1, [])
            raise KeyboardInterrupt
    """
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, timeout=50)
    assert b"KeyboardInterrupt" in done.stderr
    assert time.monotonic() - began < 45

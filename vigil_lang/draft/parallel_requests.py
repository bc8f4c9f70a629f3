"""Several questions to a model at a time: threads ask, one thread handles the replies as they arrive."""

from __future__ import annotations

import queue
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from vigil_lang.draft.api.client import Client, Message, Reply
    from vigil_lang.draft.clause_result import Usage

Key = TypeVar("Key")


class Asker(Protocol):
    """Answers questions. Threads may share it."""

    @property
    def usage(self) -> Usage:
        """What all requests took so far."""
        ...

    def ask(self, messages: Sequence[Message], received: Callable[[int], None]) -> Reply:
        """The next turn of a conversation; `received` gets the number of characters so far.

        Raises:
            InputError: there is nobody to ask.
            budget.Exhausted: it could cost more than is left.
        """
        ...


@dataclass(frozen=True, slots=True)
class ModelAsker:
    """A language model, asked with one system prompt for answers of one form, a JSON Schema."""

    client: Client
    max_tokens: int
    system: str
    schema: Mapping[str, Any]

    @property
    def usage(self) -> Usage:
        """What all requests took so far."""
        return self.client.usage

    def ask(self, messages: Sequence[Message], received: Callable[[int], None]) -> Reply:
        """The model's next turn. Raises as `Client.ask` does."""
        return self.client.ask(self.system, messages, self.schema, self.max_tokens, received)


@dataclass
class Desk(Generic[Key]):
    """A queue of questions and the threads that ask them; to be closed.

    The first question is asked alone, so that the API has cached what all of them share before the others are asked.
    Threads are daemons, so that Ctrl-C waits for no reply.
    """

    asker: Asker
    threads: int
    received: Callable[[int], None] = lambda _: None
    """Gets the number of characters of all replies so far; called from any thread, one at a time."""
    _waiting: queue.SimpleQueue[tuple[Key, Sequence[Message]] | None] = field(default_factory=queue.SimpleQueue)
    _ready: queue.SimpleQueue[tuple[Key, Reply | BaseException]] = field(default_factory=queue.SimpleQueue)
    _held: list[tuple[Key, Sequence[Message]]] = field(default_factory=list)
    _heard: dict[int, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _started: int = 0
    _open: int = 0

    def __enter__(self) -> Desk[Key]:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with suppress(queue.Empty):
            while True:
                self._waiting.get_nowait()
        for _ in range(self._started):
            self._waiting.put(None)

    def put(self, key: Key, messages: Sequence[Message]) -> None:
        """Queue a question."""
        self._open += 1
        if self._started == 0:
            self._start()
            self._waiting.put((key, messages))
        elif self._started == 1 and self.threads > 1:
            self._held.append((key, messages))  # until the first reply
        else:
            self._waiting.put((key, messages))

    @property
    def busy(self) -> bool:
        """Whether a reply is still to come."""
        return self._open > 0

    def next(self) -> tuple[Key, Reply | BaseException]:
        """The key of the next question that is done, with its reply or the exception raised instead."""
        while True:
            try:
                found = self._ready.get(timeout=1.0)  # some systems do not hear Ctrl-C while they wait for ever
            except queue.Empty:
                continue
            self._open -= 1
            if self._started == 1 and self.threads > 1:
                for _ in range(1, self.threads):
                    self._start()
                for question in self._held:
                    self._waiting.put(question)
                self._held.clear()
            return found

    def _start(self) -> None:
        self._started += 1
        number = self._started
        threading.Thread(target=self._work, args=(number,), name=f"draft-{number}", daemon=True).start()

    def _work(self, number: int) -> None:
        before = 0

        def received(characters: int) -> None:
            with self._lock:
                self._heard[number] = before + characters
                self.received(sum(self._heard.values()))

        while (question := self._waiting.get()) is not None:
            key, messages = question
            try:
                reply: Reply | BaseException = self.asker.ask(messages, received)
            except BaseException as error:
                reply = error
            before = self._heard.get(number, 0)
            self._ready.put((key, reply))

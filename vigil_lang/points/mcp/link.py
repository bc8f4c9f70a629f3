"""One end of the relay: requests that were sent there and wait for their answers, under ids of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vigil_lang.points.mcp.messages import CONNECTION_CLOSED, SUBSCRIPTION_KEY, Id, Message, error, meta, request

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Reply = Callable[[Message], Awaitable[None]]
    """Takes the answer to a request; its id is not yet that of who asked."""


@dataclass(slots=True)
class Pending:
    """A request that waits for its answer: who takes that, which request of the other end it is for, and the progress
    token that it had there."""

    reply: Reply
    related: Id | None = None
    token: Any = None


class Link:
    """Numbers the requests to one end, so that those of several other ends never meet."""

    def __init__(self) -> None:
        self.pending: dict[Id, Pending] = {}
        self._next = 0

    def number(self, method: str, params: Message | None, pending: Pending) -> Message:
        """A request with a number of this end, also as its progress token where it has one."""
        self._next += 1
        if params is not None and (found := meta(params)) and "progressToken" in found:
            pending.token = found["progressToken"]
            params = {**params, "_meta": {**found, "progressToken": self._next}}
        self.pending[self._next] = pending
        return request(self._next, method, params)

    def answered(self, message: Message) -> Pending | None:
        """The request that a message answers; None where none waits for it."""
        return self.pending.pop(message["id"], None) if isinstance(message.get("id"), str | int) else None

    def restored(self, message: Message) -> tuple[Message, Pending | None]:
        """A notification from this end with the token or id that the other end knows, and the request it belongs to."""
        params = message.get("params", {})
        if message["method"] == "notifications/progress":
            pending = self._waiting(params.get("progressToken"))
            if pending is not None and pending.token is not None:
                return {**message, "params": {**params, "progressToken": pending.token}}, pending
        about = meta(params)
        if SUBSCRIPTION_KEY in about:
            pending = self._waiting(about[SUBSCRIPTION_KEY])
            if pending is not None:
                found = {**about, SUBSCRIPTION_KEY: pending.related}
                return {**message, "params": {**params, "_meta": found}}, pending
        return message, None

    async def fail(self, why: str) -> None:
        """Nothing is answered any more: each request that waits gets an error."""
        while self.pending:
            number, pending = self.pending.popitem()
            await pending.reply(error(number, CONNECTION_CLOSED, why))

    def _waiting(self, number: object) -> Pending | None:
        if isinstance(number, str) and number.isdecimal() and len(number) < 16:
            number = int(number)  # some servers write every token as a text
        return self.pending.get(number) if isinstance(number, int) and not isinstance(number, bool) else None

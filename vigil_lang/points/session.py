"""One run at an enforcement point."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from vigil_lang.gate.answer import faulty
from vigil_lang.gate.request import Request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.gate.answer import Answer
    from vigil_lang.gate.entering import Ended, Entering, Owed, Violation
    from vigil_lang.points.gates import GateLike
    from vigil_lang.trace.record import Message


class Session:
    """One run at an enforcement point, which begins with what is first told of it; several threads may share one.

    `wait` is how many seconds a held call waits for its confirmation. With `observe` calls are decided about and taken
    in, whatever the answer. `remarks` are those of `Gate.enter`.
    """

    def __init__(self, gate: GateLike, entering: Entering, *, wait: float = 0, observe: bool = False) -> None:
        self.gate = gate
        self.entering = entering
        self.remarks: tuple[str, ...] = ()
        self._wait = wait
        self._observe = observe
        self._has_entered = False

    def before(
        self,
        tool: str,
        input: Mapping[str, object],  # noqa: A002 - as requests call it
        *,
        call: str | None = None,
        session: str = "",
        parent: str | None = None,
        directory: str | None = None,
    ) -> Answer:
        """What becomes of a call; one that is held waits for its end first. What fails blocks, and raises nothing.

        Where the hold was denied, expired or still waits, the answer has it as it is then.
        """
        of = self.entering
        request = Request(
            of.run,
            of.agent,
            tool,
            dict(input),
            user=of.user,
            host=of.host,
            cwd=of.cwd,
            outcomes="reported",
            call=call,
            session=session,
            parent=parent,
            directory=directory,
            observe=self._observe,
        )
        try:
            self._enter()
            return self._decided(request)
        except Exception as error:  # whatever went wrong, the call does not pass
            return faulty(error)

    def _decided(self, request: Request) -> Answer:
        end = time.monotonic() + self._wait
        while True:
            answer = self.gate.decide(request)
            while answer.hold is not None and answer.hold.state == "pending" and (left := end - time.monotonic()) > 0:
                answer = replace(answer, hold=self.gate.wait(answer.hold.id, left))
            if answer.hold is None or answer.hold.state != "approved":
                return answer

    def after(self, ended: Ended) -> tuple[Violation, ...]:
        """A call ended; gives what is newly violated for certain.

        Raises:
            StateError: it cannot be written, or a policy has no meaning.
            ValueError: its status is none.
        """
        self._enter()
        return self.gate.ended(self.entering.run, ended)

    def said(self, message: Message) -> tuple[Violation, ...]:
        """The user or the agent said something; gives what is newly violated for certain.

        Raises:
            StateError: it cannot be written, or a policy has no meaning.
        """
        self._enter()
        return self.gate.say(self.entering.run, message)

    def turn_ended(self, session: str = "") -> tuple[Owed, ...]:
        """A turn is over, and so are its calls; gives what is owed.

        Raises:
            StateError: it cannot be written, or a policy has no meaning.
        """
        self._enter()
        return self.gate.turn_ended(self.entering.run, session)

    def close(self) -> None:
        """The run is over.

        Raises:
            StateError: it cannot be written, or a policy has no meaning.
        """
        self._enter()
        self.gate.end(self.entering.run)

    def _enter(self) -> None:
        if not self._has_entered:
            self.remarks = self.gate.enter(self.entering)
            self._has_entered = True

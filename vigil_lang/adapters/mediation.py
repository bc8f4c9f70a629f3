"""What the adapters share: one run of an agent, whose calls are decided about, and how they ended."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
import time
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack
from uuid import uuid4

from vigil_lang.gate.entering import Ended, Entering
from vigil_lang.gate.state import StateError, state_path
from vigil_lang.points.gates import gate_at
from vigil_lang.points.own_files import guarding_files
from vigil_lang.points.session import Session
from vigil_lang.points.words import owed_text, told

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vigil_lang.gate.answer import Answer
    from vigil_lang.gate.store import Hold
    from vigil_lang.points.gates import GateLike
    from vigil_lang.trace import Status

_logger = logging.getLogger(__name__)

TOLD = 2
"""How often the same obligations are told at the end of a turn."""

_PAUSE = 0.25
"""Seconds between two looks at a hold."""


class Options(TypedDict, total=False):
    """What every adapter takes beside the state."""

    policies: Sequence[str | Path]
    """Policies of this run, beside those of the settings, as personal ones: paths, or names of standard modules."""
    run: str
    """The name of the run; by default a fresh one."""
    agent: str
    """Who acts, as grants and `context.agent` name it."""
    wait: float
    """How many seconds a held call waits for its confirmation before the agent is told to ask again."""
    cwd: str
    """The folder that the agent works in; by default that of the process."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call as the SDK makes it: `input` are the arguments that the tool gets, `call` the SDK's id of the call.

    `session` tells sub-agents apart; the agent itself is "". `parent` is the call that the sub-agent began with.
    `batch` are the ids of all calls of the same message, None where the SDK says when a batch is over (`batch_over`):
    none of them counts as done for another.
    """

    tool: str
    input: Mapping[str, object]
    call: str | None = None
    session: str = ""
    parent: str | None = None
    batch: tuple[str | None, ...] | None = ()


class _Batch:
    """The calls of one message: those that are not decided about yet, and how others ended meanwhile."""

    def __init__(self, calls: tuple[str | None, ...] | None) -> None:
        self.calls = calls
        self.undecided = None if calls is None else set(calls)
        self.ended: list[Ended] = []

    @property
    def is_decided(self) -> bool:
        return self.undecided is not None and not self.undecided


@dataclass(frozen=True, slots=True)
class Refused:
    """A call that must not be made now: `text` is for the agent, `hold` the id of the hold where it is one."""

    mode: Literal["hold", "block"]
    text: str
    hold: str | None = None


class Mediation:
    """One run of an agent. Several threads and tasks may share one; the run begins with its first call.

    `state` is a gate or the path of a state folder, by default the user's own; one that is missing is made.

    Raises:
        StateError: the state folder cannot be made or read.
    """

    def __init__(self, host: str, state: GateLike | Path | str | None = None, **options: Unpack[Options]) -> None:
        cwd = options.get("cwd") or os.getcwd()  # noqa: PTH109 - a text, as it is named
        if state is None or isinstance(state, str | Path):
            state = gate_at(state_path() if state is None else Path(state))
        self.gate = state
        self.run = options.get("run") or f"{host}-{uuid4()}"
        policies = tuple(map(_named, options.get("policies", ())))
        files = guarding_files(state.state, (each for each in policies if not each.startswith("std.")))
        agent = options.get("agent") or host
        entering = Entering(self.run, agent, host, cwd, policies, protected=files)
        self._wait = options.get("wait", 0.0)
        self._waiting = Session(state, entering, wait=self._wait)
        self._session = Session(state, entering)
        self._told: Counter[str] = Counter()
        self._batches: dict[str, _Batch] = {}
        self._actions: dict[tuple[str, str], list[object]] = {}
        self._mutex = threading.RLock()

    # --- a call -------------------------------------------------------------------------------------------------

    def before(self, asked: Asked) -> Refused | None:
        """None where a call may be made, with exactly these arguments. One that is held waits first."""
        self._open(asked)
        try:
            return self._decided(asked, self._waiting)
        finally:
            self._settle(asked)

    async def abefore(self, asked: Asked) -> Refused | None:
        """`before`, while the event loop goes on. Where it is cancelled, the call is not made."""
        end = time.monotonic() + self._wait
        await asyncio.to_thread(self._open, asked)
        try:
            while True:
                refused = await self._adecided(asked)
                if refused is None or refused.hold is None or time.monotonic() >= end:
                    return refused
                if ended := await self._aended(asked, refused.hold, end):
                    return ended
        finally:
            await asyncio.shield(asyncio.to_thread(self._settle, asked))

    def after(self, asked: Asked, status: Status, output: object = None, *, executed: bool = True) -> None:
        """How a call ended. Where that cannot be written, its end stays unknown, and it counts for no later call."""
        ended = Ended(
            asked.tool,
            asked.input,
            status,
            _text(output),
            self._id(asked),
            executed=executed,
            session=asked.session,
            parent=asked.parent,
            agent=self._session.entering.agent,
        )
        with self._mutex:
            batch = self._batches.get(asked.session)
            if batch is not None and not batch.is_decided:
                batch.ended.append(ended)
            else:
                self._write(ended)

    async def aafter(self, asked: Asked, status: Status, output: object = None, *, executed: bool = True) -> None:
        """`after`, while the event loop goes on; it is written also where the task is cancelled meanwhile."""
        await asyncio.shield(asyncio.to_thread(self.after, asked, status, output, executed=executed))

    def batch_over(self, session: str = "") -> None:
        """All calls of a message are over: how they ended is known to what comes."""
        with self._mutex:
            batch = self._batches.pop(session, None)
            for ended in () if batch is None else batch.ended:
                self._write(ended)

    async def abatch_over(self, session: str = "") -> None:
        """`batch_over`, while the event loop goes on."""
        await asyncio.to_thread(self.batch_over, session)

    # --- the end of a turn --------------------------------------------------------------------------------------

    def owed(self, session: str = "") -> str:
        """A turn is over, and so are its calls: what is owed, in words for the agent.

        "" where nothing is, where the same was told twice, or where the state cannot be read.
        """
        self.batch_over(session)
        try:
            obligations = self._session.turn_ended(session)
        except (StateError, OSError, ValueError) as error:
            _logger.warning("what is owed could not be read: %s", error)
            return ""
        text = owed_text(obligations) if obligations else ""
        self._told[text] += 1
        return text if self._told[text] <= TOLD else ""

    async def aowed(self, session: str = "") -> str:
        """`owed`, while the event loop goes on."""
        return await asyncio.to_thread(self.owed, session)

    def close(self) -> None:
        """The run is over.

        Raises:
            StateError: it cannot be written.
        """
        for session in tuple(self._batches):
            self.batch_over(session)
        self._session.close()

    # --- deciding -----------------------------------------------------------------------------------------------

    def _open(self, asked: Asked) -> None:
        with self._mutex:
            batch = self._batches.get(asked.session)
            if batch is not None and asked.batch is None and batch.calls is None:
                return
            if batch is None or batch.calls is None or asked.batch is None or asked.call not in batch.calls:
                self.batch_over(asked.session)
                self._batches[asked.session] = _Batch(None if asked.batch is None else (*asked.batch, asked.call))

    def _settle(self, asked: Asked) -> None:
        """A call is decided about; where all of its message are, what is known of them is written."""
        with self._mutex:
            batch = self._batches.get(asked.session)
            if batch is None or batch.undecided is None:
                return
            batch.undecided.discard(asked.call)
            if batch.is_decided:
                for ended in batch.ended:
                    self._write(ended)
                batch.ended.clear()

    def _id(self, asked: Asked) -> str | None:
        """The id of a call in the run: that of the SDK, made one where a sub-agent or another call has the same."""
        if asked.call is None:
            return None
        with self._mutex:
            actions = self._actions.setdefault((asked.session, asked.call), [])
            action = asked.tool, dict(asked.input)
            if action not in actions:
                actions.append(action)
            at = actions.index(action)
        named = f"{asked.session}/{asked.call}" if asked.session else asked.call
        return f"{named}#{at + 1}" if at else named

    def _write(self, ended: Ended) -> None:
        try:
            self._session.after(ended)
        except (StateError, OSError, ValueError) as error:
            _logger.warning("how %s ended could not be written: %s", ended.tool, error)

    def _decided(self, asked: Asked, session: Session) -> Refused | None:
        try:
            plain = json.loads(json.dumps(asked.input), parse_float=Decimal, parse_constant=_no_number)
        except (TypeError, ValueError, RecursionError) as error:
            return Refused("block", f"Vigil blocked {asked.tool}: its arguments are no JSON ({error}).")
        answer = session.before(asked.tool, plain, call=self._id(asked), session=asked.session, parent=asked.parent)
        return _refused(asked, answer)

    async def _adecided(self, asked: Asked) -> Refused | None:
        gone = threading.Event()

        def decided() -> Refused | None:
            refused = self._decided(asked, self._session)
            if refused is None and gone.is_set():
                self.after(asked, "unknown", executed=False)
            return refused

        try:
            return await asyncio.to_thread(decided)
        except asyncio.CancelledError:
            gone.set()
            raise

    async def _aended(self, asked: Asked, hold: str, end: float) -> Refused | None:
        """Wait until a hold is over, or the time is. Gives as `ended` does."""
        while time.monotonic() < end:
            await asyncio.sleep(min(_PAUSE, max(0.0, end - time.monotonic())))
            found = await asyncio.to_thread(self._hold, hold)
            if found is None or found.state != "pending":
                break
        return await asyncio.to_thread(self.ended, asked, hold)

    def ended(self, asked: Asked, hold: str) -> Refused | None:
        """The refusal where a hold ended without its confirmation; None where the call is to be decided about again."""
        found = self._hold(hold)
        return None if found is None or found.state in ("pending", "approved") else _unconfirmed(asked, found)

    def _hold(self, hold: str) -> Hold | None:
        try:
            return self.gate.hold(hold)
        except Exception:  # what is wrong, the next decision says
            return None


def failed(error: BaseException) -> tuple[Status, object]:
    """How a call ended that raised: in error, or in an unknown way where it was cancelled."""
    return ("error", f"{type(error).__name__}: {error}") if isinstance(error, Exception) else ("unknown", None)


def missing(package: str) -> ImportError:
    """The error where the SDK of an adapter is not installed; `package` is also the name of the extra."""
    return ImportError(f"this adapter needs {package}: python -m pip install 'vigil-lang[{package}]'", name=package)


def mcp_tool(server: str, tool: str) -> str:
    """The name of a tool of an MCP server, as policies have it for every host."""
    return f"mcp__{server}__{tool}"


def _refused(asked: Asked, answer: Answer) -> Refused | None:
    mode, hold = answer.decision.mode, answer.hold
    if mode == "pass":
        return None
    if mode == "hold" and hold is not None:
        return Refused(mode, told(answer), hold.id) if hold.state == "pending" else _unconfirmed(asked, hold)
    return Refused(mode, told(answer))


def _unconfirmed(asked: Asked, hold: Hold) -> Refused:
    text = f"Vigil: {asked.tool} was not confirmed (hold {hold.id}: {hold.state}). Do not ask for it again."
    return Refused("block", text)


def _named(policy: str | Path) -> str:
    text = os.fspath(policy)
    return text if text.startswith("std.") else str(Path(text).absolute())


def _text(output: object) -> str | None:
    """An output as policies see it: a text as it is, other values as JSON, or as Python shows them."""
    if output is None or isinstance(output, str):
        return output
    try:
        return json.dumps(output, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(output)


def _no_number(text: str) -> object:
    raise ValueError(f"{text} is no number of JSON")

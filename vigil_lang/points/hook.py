"""`vigil hook`: one payload of a host in, exactly one answer out, in the form that the host obeys.

Nothing is raised. Whatever goes wrong before a call blocks it; anywhere else it is told on standard error alone, for a
host that is blocked at the end of a turn goes on for ever.
"""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from vigil_lang.base.structs import Frozen
from vigil_lang.diagnostics.secrets import one_output
from vigil_lang.gate.entering import Ended, Entering
from vigil_lang.gate.state import StateError, state_path
from vigil_lang.ingest.hook_payloads import OWN_WORDS
from vigil_lang.ingest.json_text import decode
from vigil_lang.points.checkpoints.changing import may_change
from vigil_lang.points.checkpoints.model import CheckpointError, Kind
from vigil_lang.points.gates import gate_at
from vigil_lang.points.hosts.all import HOSTS, host_of
from vigil_lang.points.hosts.host import Heard, guessed
from vigil_lang.points.invocation import Reply
from vigil_lang.points.policies import PoliciesUnknown, asked_policies, skill_policies
from vigil_lang.points.reminders import Reminders
from vigil_lang.points.session import Session
from vigil_lang.points.words import faulted, owed_text, remarked, told, warned
from vigil_lang.trace.record import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.gate.answer import Answer
    from vigil_lang.points.checkpoints.history import History
    from vigil_lang.points.gates import GateLike
    from vigil_lang.points.hosts.host import Host
    from vigil_lang.points.invocation import Invocation
    from vigil_lang.trace.record import Call

AfterBlock: TypeAlias = Literal["deny", "ask", "halt"]

MAX_PAYLOAD = 16_000_000
"""Bytes of a payload."""
REGISTRATION = "registration.vgl"
"""The policy by which the agent does not disarm us: nobody is asked about it."""


class BadCall(ValueError):
    """The hook was called wrongly, or with a payload that nothing can be decided about; the text says why."""


class Options(Frozen, frozen=True):
    """The options of `vigil hook`, as its registration gives them."""

    host: str
    policies: tuple[str, ...] = ()
    state: str | None = None
    agent: str | None = None
    wait: float = 0
    observe: bool = False
    after_block: AfterBlock = "deny"
    checkpoint: Kind | None = None
    apply_changes: bool = False


class Gates:
    """A gate for each state folder, opened again when its settings or policies change; threads may share it."""

    def __init__(self) -> None:
        self._open: dict[Path, tuple[GateLike, tuple[object, ...]]] = {}
        self._mutex = threading.Lock()

    def at(self, state: Path) -> GateLike:
        """The gate of a state folder, which is made where there is none.

        Raises:
            StateError: it cannot be read, or made.
        """
        with self._mutex:
            gate, stamp = self._open.get(state, (None, ()))
            if gate is None or stamp != _stamp(gate):
                gate = gate_at(state)
                self._open[state] = gate, _stamp(gate)
            return gate

    def sign(self) -> None:
        """Sign what the logs are now, for a process that ends; what cannot be signed is left to the next."""
        with self._mutex:
            for gate, _ in self._open.values():
                with suppress(StateError):
                    gate.checkpoint()

    def close(self) -> None:
        """Let go of all gates; they are opened again when they are needed."""
        with self._mutex:
            for gate, _ in self._open.values():
                gate.close()
            self._open.clear()


def handle(invocation: Invocation, gates: Gates) -> Reply:
    """The answer to one call of a hook. Nothing is raised."""
    try:
        with one_output():
            return _Hook(invocation, gates).reply()
    except BaseException as error:  # whatever went wrong, the call does not pass
        return _failed(invocation, error)


def options_of(args: tuple[str, ...]) -> Options:
    """The options in the arguments after `vigil hook`.

    Raises:
        BadCall: one is unknown, lacks its value, or has a wrong one; no host is named.
    """
    found: dict[str, Any] = {"policies": ()}
    waiting = list(args)
    while waiting:
        name, given, value = waiting.pop(0).partition("=")
        if name == "--observe" and not given:
            found["observe"] = True
            continue
        if name not in _VALUED:
            raise BadCall(f"`vigil hook` has no option `{name[:40]}`")
        if not given and not waiting:
            raise BadCall(f"`{name}` lacks its value")
        value = value if given else waiting.pop(0)
        if name == "--policy":
            found["policies"] += (value,)
        else:
            found[name[2:].replace("-", "_")] = _valued(name, value)
    if "host" not in found:
        raise BadCall("`vigil hook` needs `--host`")
    found["apply_changes"] = found.pop("policy_changes", "keep") == "apply"
    return Options(**found)


_VALUED: Mapping[str, tuple[str, ...]] = {
    "--host": HOSTS,
    "--policy": (),
    "--state": (),
    "--agent": (),
    "--wait": (),
    "--after-block": get_args(AfterBlock),
    "--checkpoint": get_args(Kind),
    "--policy-changes": ("keep", "apply"),
}


def _valued(name: str, value: str) -> object:
    if name == "--wait":
        try:
            seconds = float(value)
        except ValueError:
            seconds = -1
        if not 0 <= seconds <= 3600:
            raise BadCall("`--wait` takes seconds, from 0 to 3600")
        return seconds
    if (known := _VALUED[name]) and value not in known:
        raise BadCall(f"`{name}` takes one of {', '.join(known)}")
    if not value:
        raise BadCall(f"`{name}` takes a text that is not empty")
    return value


def payload_of(data: bytes) -> dict[str, Any]:
    """A payload, read strictly: whoever reads it must find the same in it.

    Raises:
        BadCall: it is too large, no UTF-8, no JSON object, nested too deeply, or has a member twice.
    """
    if len(data) > MAX_PAYLOAD:
        raise BadCall(f"the payload has more than {MAX_PAYLOAD:,} bytes")
    try:
        json.loads(data.decode("utf-8"), object_pairs_hook=_members, parse_constant=_no_number)
        found = decode(data)
    except UnicodeDecodeError as error:
        raise BadCall(f"the payload is no UTF-8: byte {error.start} is wrong") from None
    except RecursionError:
        raise BadCall("the payload is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise BadCall(f"the payload is no JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except BadCall:
        raise
    except (ValueError, ArithmeticError):
        raise BadCall("the payload has a number that cannot be read") from None
    if not isinstance(found, dict):
        raise BadCall("the payload is no JSON object")
    return found


def _members(pairs: list[tuple[str, object]]) -> None:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        doubled = next(name for name in names if names.count(name) > 1)
        raise BadCall(f"the payload has the member `{doubled[:40]}` twice")


def _no_number(text: str) -> None:
    raise BadCall(f"{text} is no number of JSON")


class _Place(NamedTuple):
    """Where a run works: its folder, and the state folder."""

    folder: str
    state: Path


class _Hook:
    """One call of the hook."""

    def __init__(self, invocation: Invocation, gates: Gates) -> None:
        self._env = invocation.env
        self._options = options_of(invocation.args)
        host = host_of(self._options.host)
        assert host is not None
        self._host: Host = host
        self._heard = self._host.read(payload_of(invocation.stdin))
        if self._heard.problem is not None and self._heard.kind != "other":
            raise BadCall(f"the payload cannot be judged: {self._heard.problem}")
        folder = self._heard.directory or invocation.cwd
        named = self._options.state or invocation.env.get("VIGIL_STATE")
        state = Path(invocation.cwd, named) if named else state_path()
        self._place = _Place(folder, state)
        self._cwd = invocation.cwd
        self._gates = gates

    def reply(self) -> Reply:
        """What to answer.

        Raises:
            Exception: anything; nothing is decided then.
        """
        match self._heard.kind:
            case "other" | "sub_start" | "compact":
                return self._host.nothing(self._heard)
            case "config":
                return self._config()
        self._gate = self._gates.at(self._place.state)
        self._entering = self._as_entered()
        options = self._options
        self._session = Session(self._gate, self._entering, wait=options.wait, observe=options.observe)
        match self._heard.kind:
            case "start":
                return self._start()
            case "before":
                return self._before()
            case "after" | "refused":
                return self._after()
            case "batch":
                return self._batch()
            case "prompt":
                return self._prompt()
            case "stop":
                return self._stop()
            case "sub_stop":
                self._said()
                self._session.turn_ended(self._heard.agent)
            case "end":
                self._session.close()
                self._reminders.forget()
        return self._host.nothing(self._heard)

    # --- what happens ---------------------------------------------------------------------------------------------

    def _start(self) -> Reply:
        remarks = self._gate.enter(self._entering)
        changed = self._gate.changes(self._entering.run)
        if changed:
            how = "applies from now on" if self._options.apply_changes else "does not apply to this run"
            remarks = (*remarks, *(f"{each} was changed, which {how}" for each in changed))
        return self._host.tell(self._heard, remarked(remarks)) if remarks else self._host.nothing(self._heard)

    def _before(self) -> Reply:
        call = self._call()
        args = call.args
        self._join(skill_policies(self._options.host, call.name, args, self._place.folder, self._env))
        answer = self._session.before(
            call.name,
            args,
            call=call.key or None,
            session=call.session,
            parent=call.parent,
            directory=call.cwd,
        )
        if self._options.checkpoint is not None and (answer.decision.mode == "pass" or self._options.observe):
            self._keep_workspace(answer, call)
        return self._answered(answer)

    def _keep_workspace(self, answer: Answer, call: Call) -> None:
        """Keep the workspace before a call that may change it.

        Raises:
            CheckpointError: it cannot be kept. The call is not made then.
        """
        assert self._options.checkpoint is not None
        if answer.seq is None or not may_change(answer.events):
            return
        folder = Path(self._gate.folder_of(self._entering.run) or self._place.folder)
        try:
            self._checkpoints.take_before(answer.seq, call.key or None, folder, self._options.checkpoint)
        except CheckpointError:
            self._session.after(_ended(call, Result(call.key, executed=False), self._agent))
            raise

    @property
    def _checkpoints(self) -> History:
        from vigil_lang.points.checkpoints.history import History  # late: most registrations keep no workspace

        return History(self._place.state, self._entering.run)

    def _answered(self, answer: Answer) -> Reply:
        mode, reasons = answer.decision.mode, answer.decision.reasons
        if self._options.observe:
            return self._host.nothing(self._heard)
        if mode == "pass":
            warns = any(each.asks == "warn" and each.lifted is None for each in reasons)
            return self._host.tell(self._heard, told(answer)) if warns else self._quiet()
        text = told(answer)
        after = self._options.after_block
        if after == "ask" and self._host.asks and _may_ask(answer):
            return self._host.ask(self._heard, text)
        if after == "halt" and mode == "block" and not answer.is_fault:
            self._gate.halt(self._entering.run, reasons[0].message)
            return self._host.halt(self._heard, text)
        return self._host.block(self._heard, text)

    def _quiet(self) -> Reply:
        """Everything goes on; where the run began just now, the agent is told what of its policies was left out."""
        remarks = self._session.remarks
        return self._host.tell(self._heard, remarked(remarks)) if remarks else self._host.nothing(self._heard)

    def _after(self) -> Reply:
        result = self._heard.result
        assert result is not None
        if self._options.checkpoint is not None:
            self._checkpoints.take_after(self._call().key or None)
        broken = self._session.after(_ended(self._call(), result, self._agent))
        return self._host.tell(self._heard, warned(broken)) if broken else self._host.nothing(self._heard)

    def _batch(self) -> Reply:
        """The calls of a message are over: those that nothing else told the end of end here.

        What ended, or was never made, the gate knows by the id.
        """
        for call, result in self._heard.batch:
            made = result.executed
            self._session.after(Ended(call.name, None, result.status, result.output, call.key, executed=made))
        return self._host.nothing(self._heard)

    def _prompt(self) -> Reply:
        message = self._heard.message
        if message is not None and not message.text.startswith(OWN_WORDS):
            self._reminders.prompted()
            self._join(asked_policies(self._options.host, message.text, self._place.folder, self._env))
            self._session.said(message)
            self._gate.changes(self._entering.run)  # noted in the log; the agent is told when its session starts
        return self._quiet()

    def _stop(self) -> Reply:
        self._said()
        owed = self._session.turn_ended(self._heard.agent)
        if self._options.checkpoint is not None:
            self._checkpoints.end_turn()
        if not owed or self._options.observe:
            return self._host.nothing(self._heard)
        events = self._gate.event_count(self._entering.run)
        if not self._reminders.due(owed, events, capped=self._host.caps_stops):
            return self._host.nothing(self._heard)
        return self._host.owed(self._heard, owed_text(owed))

    def _config(self) -> Reply:
        why = self._host.disarmed(self._heard, self._place.folder, self._env)
        if why is None or self._options.observe:
            return self._host.nothing(self._heard)
        return self._host.refuse_change(self._heard, f"Vigil keeps this change from taking effect: {why}.")

    # --- with what ------------------------------------------------------------------------------------------------

    @property
    def _agent(self) -> str:
        return self._options.agent or self._options.host

    @property
    def _reminders(self) -> Reminders:
        return Reminders(self._place.state, self._entering.run)

    def _call(self) -> Call:
        assert self._heard.call is not None
        return self._heard.call

    def _said(self) -> None:
        if self._heard.message is not None:
            self._session.said(self._heard.message)

    def _join(self, policies: list[str]) -> None:
        if policies:
            self._gate.enter(self._entering)
            self._gate.extend(self._entering.run, policies)

    def _as_entered(self) -> Entering:
        options, (folder, state) = self._options, self._place
        named = tuple(each if each.startswith("std.") else _absolute(self._cwd, each) for each in options.policies)
        assert self._heard.run is not None
        goes_on = not options.apply_changes and self._gate.has_begun(self._heard.run)
        if goes_on:
            return Entering(self._heard.run, self._agent, options.host, folder)
        from vigil_lang.points.own_files import guarding_files  # late: most calls are no first ones
        from vigil_lang.points.projects import configuration_files, project_policies

        brought = project_policies(folder)
        files = self._host.settings_files(folder, self._env)
        policies = [each for each in (*named, *brought) if not each.startswith("std.")]
        return Entering(
            self._heard.run,
            self._agent,
            options.host,
            folder,
            named,
            brought,
            guarding_files(state, (*files, *configuration_files(folder), *policies)),
            apply_changes=options.apply_changes,
        )


def _ended(call: Call, result: Result, agent: str) -> Ended:
    return Ended(
        call.name,
        call.args,
        result.status,
        result.output,
        call.key or None,
        result.exit_code,
        result.executed,
        result.cwd,
        call.session,
        call.parent,
        call.cwd,
        agent,
    )


def _may_ask(answer: Answer) -> bool:
    """Whether the host's user may let a call through: what blocks it are rules, none of the organisation's or ours."""
    standing = [each for each in answer.decision.reasons if each.lifted is None and each.asks in ("hold", "block")]
    if answer.decision.mode == "hold":
        return answer.hold is None or answer.hold.state == "pending"
    return all(
        each.kind in ("rule", "statement") and each.layer != "organisation" and REGISTRATION not in each.at
        for each in standing
    )


def _failed(invocation: Invocation, error: BaseException) -> Reply:
    """The answer where nothing could be judged."""
    known = isinstance(error, BadCall | CheckpointError | StateError | PoliciesUnknown | OSError)
    text = faulted(str(error) if known else f"the hook failed: {type(error).__name__}: {error}".rstrip(": "))
    heard, host, observes = Heard("before", "PreToolUse"), None, False
    with suppress(Exception):
        heard = guessed(invocation.stdin)
        host = _named_host(invocation.args)
        observes = options_of(invocation.args).observe
    if host is None:  # blocks on every host, where it is before a call
        return Reply(stderr=(text + "\n").encode("utf-8", "replace"), status=2 if heard.kind == "before" else 0)
    with suppress(Exception):
        found = host.read(payload_of(invocation.stdin))
        heard = found if found.event else heard
    if observes and heard.kind == "before":
        quiet = host.nothing(heard)
        return Reply(quiet.stdout, (text + "\n").encode("utf-8", "replace"))
    return host.fault(heard, text)


def _named_host(args: tuple[str, ...]) -> Host | None:
    for at, given in enumerate(args):
        if given == "--host":
            return host_of(next(iter(args[at + 1 :]), ""))
        if given.startswith("--host="):
            return host_of(given.partition("=")[2])
    return None


def _stamp(gate: GateLike) -> tuple[object, ...]:
    """What changes when a file does that a gate was made of."""
    found: list[object] = []
    for path in gate.files:
        try:
            status = os.stat(path)  # noqa: PTH116 - texts
        except OSError:
            found.append(None)
        else:
            found.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(found)


def _absolute(folder: str, path: str) -> str:
    return os.path.normpath(os.path.join(folder, path))  # noqa: PTH118 - texts

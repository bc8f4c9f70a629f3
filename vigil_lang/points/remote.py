"""A gate on another machine, as enforcement points ask it: `[remote]` in the settings of the state folder names it.

What is of this machine stays here: what the agent must not touch on its disk, how long somebody waits for a hold, the
checkpoints of a workspace, what was told already. Where the service cannot be asked, nothing passes.
"""

from __future__ import annotations

import hashlib
import os
import time
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec.structs import replace

from vigil_lang.base.files import read_bytes
from vigil_lang.base.outputs import write_private
from vigil_lang.base.resources import resource
from vigil_lang.diagnostics import InputError
from vigil_lang.gate import run_calls as calls
from vigil_lang.gate.answer import faulty
from vigil_lang.gate.brought import bring
from vigil_lang.gate.canonical import NotCanonical, canonical
from vigil_lang.gate.client import Client, ServiceError, Token
from vigil_lang.gate.decide import Action, Authority, Decision, Tier, decide
from vigil_lang.gate.entering import Ended
from vigil_lang.gate.guarding import registration_params
from vigil_lang.gate.holds import HoldError
from vigil_lang.gate.layers import LayeredPolicies, Member, layered, loaded
from vigil_lang.gate.shelf import REGISTRATION, read
from vigil_lang.gate.state import StateError, StateFolder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from vigil_lang.gate.answer import Answer
    from vigil_lang.gate.brought import Brought
    from vigil_lang.gate.entering import Entering, Owed, Violation
    from vigil_lang.gate.request import Request
    from vigil_lang.gate.settings import Remote
    from vigil_lang.gate.store import Hold
    from vigil_lang.trace import Event
    from vigil_lang.trace.record import Message

FOLDER = "remote"
"""Where it is kept what runs began with, in the state folder."""

TIMEOUT = 8.0
"""Seconds from a question to its answer: less than a hook has."""

_LONGEST_BODY = 900_000
_LONGEST_RECORD = 4_000_000
_OUTPUT = 300_000
"""Characters of an output that are sent."""

_A = TypeVar("_A", bound=msgspec.Struct)


class _Kept(msgspec.Struct):
    """What a run began with: the paths that its agent must not touch, the digests of its policies, its token."""

    run: str
    agent: str
    service: str
    cwd: str | None
    protected: tuple[str, ...]
    texts: dict[str, str]
    token: Token | None = None


class RemoteGate:
    """What decides is the service that the settings of a state folder name. Threads may share one.

    Raises:
        StateError: the state folder, the key, the chain or the certificates cannot be read; the address is none.
    """

    def __init__(self, state: Path, remote: Remote) -> None:
        self._folder = StateFolder(state)
        self.url = remote.url
        self.files = (str(self._folder.settings), *(each for each in (remote.key, remote.chain, remote.ca) if each))
        try:
            self._client = Client(remote.url, key=remote.key, chain=remote.chain, ca=remote.ca, timeout=TIMEOUT)
        except InputError as error:
            raise StateError(f"[remote] in the settings: {error.diagnostics[0].message}") from error
        except ValueError as error:
            raise StateError(f"[remote] in the settings: {error}") from error
        self._runs: dict[str, _Kept] = {}
        self._protections: dict[str, _Protection] = {}
        self._holds: dict[str, Hold] = {}
        self._latest: _Kept | None = None

    @property
    def state(self) -> Path:
        """The state folder on this machine."""
        return self._folder.path

    # --- runs -----------------------------------------------------------------------------------------------------

    def enter(self, entering: Entering) -> tuple[str, ...]:
        """A run begins, or goes on; its policies go to the service as texts. Gives remarks on them.

        Raises:
            StateError: the service cannot be asked, or takes none of them.
        """
        known = self._known(entering.run)
        if known is not None and not entering.apply_changes:
            return ()
        brought = bring((*entering.policies, *entering.workspace_policies))
        body = calls.Enter(
            entering.run,
            entering.agent,
            entering.host,
            entering.cwd,
            entering.user,
            brought,
            entering.apply_changes,
        )
        kept = _Kept(entering.run, entering.agent, self.url, entering.cwd, entering.protected, _digests(brought))
        protection = _Protection(kept.protected, self.state)
        remarks = self._call("enter", body, calls.Remarks).remarks
        self._protections[entering.run] = protection
        self._keep(kept)
        return remarks

    def has_begun(self, run: str) -> bool:
        """Whether a run began here, with this service."""
        return self._known(run) is not None

    def extend(self, run: str, policies: Sequence[str]) -> bool:
        """Policies join those of a run. Raises as `enter`."""
        kept = self._of(run)
        brought = bring(policies)
        new = {path: digest for path, digest in _digests(brought).items() if path not in kept.texts}
        if not new and all(each.text is not None for each in brought):
            return False
        joined = self._call("extend", calls.Extend(run, kept.agent, brought), calls.Joined).joined
        self._keep(msgspec.structs.replace(kept, texts={**kept.texts, **new}))
        return joined

    def changes(self, run: str) -> tuple[str, ...]:
        """The policy files on this machine that differ from what the run began with."""
        return tuple(path for path, digest in self._of(run).texts.items() if _digest(read(path)) != digest)

    def decide(self, request: Request) -> Answer:
        """What becomes of an action, by the service and by what is protected on this machine. Nothing is raised."""
        try:
            kept = self._of(request.run)
            answer = self._client.decide(request, begun=True)
            self._keep_token(kept)
            if answer.hold is not None:
                self._holds[answer.hold.id] = answer.hold
            if answer.decision.mode == "block":
                return answer
            found = self._protection(kept).touched(answer.events, request.directory or request.cwd)
        except Exception as error:  # whatever it is, the action does not pass
            return faulty(error)
        if found is None:
            return answer
        self._take_back(request, answer, found)
        return replace(answer, decision=found, hold=None)

    def _take_back(self, request: Request, answer: Answer, found: Decision) -> None:
        """Tell the service that a call is not made after all; where that fails, its end stays unknown there."""
        why = f"not made, for what is protected where the agent runs: {found.reasons[0].message}"
        try:
            self._call("refuse", calls.Why(request.run, request.agent, why[:4096]), calls.Done)
            if answer.hold is not None and answer.hold.state == "pending":
                self.cancel(answer.hold.id, why)
            elif answer.decision.mode == "pass" and not request.observe:
                self.ended(request.run, Ended(request.tool, request.input, call=request.call, executed=False))
        except (StateError, HoldError, OSError):
            return

    def ended(self, run: str, ended: Ended) -> tuple[Violation, ...]:
        """A call ended; gives what is newly violated for certain.

        Raises:
            StateError: the service cannot be asked, or does not know the run.
        """
        kept = self._of(run)
        given = None if ended.input is None else dict(ended.input)
        try:
            if len(canonical(given)) > _LONGEST_BODY // 2:
                given = None
        except NotCanonical:
            given = None
        body = calls.EndedCall(
            run,
            ended.agent or kept.agent,
            ended.tool,
            given,
            ended.status,
            _clipped(ended.output),
            ended.call,
            ended.exit_code,
            ended.executed,
            ended.cwd,
            ended.session,
            ended.parent,
            ended.directory,
        )
        return self._call("ended", body, calls.Violated).violated

    def say(self, run: str, message: Message) -> tuple[Violation, ...]:
        """The user or the agent said something. Gives and raises as `ended`."""
        body = calls.Say(
            run, self._of(run).agent, message.role, _clipped(message.text) or "", message.session, message.parent
        )
        return self._call("say", body, calls.Violated).violated

    def turn_ended(self, run: str, session: str = "") -> tuple[Owed, ...]:
        """A turn is over; gives what the run owes. Raises as `ended`."""
        return self._call("turn_ended", calls.TurnEnded(run, self._of(run).agent, session), calls.OwedNow).owed

    def halt(self, run: str, why: str) -> None:
        """From now on every call of a run blocks. Raises as `ended`."""
        self._call("halt", calls.Why(run, self._of(run).agent, why[:4096]), calls.Done)

    def end(self, run: str) -> None:
        """A run is over. Raises as `ended`."""
        self._call("end", calls.Of(run, self._of(run).agent), calls.Done)
        self._runs.pop(run, None)
        self._protections.pop(run, None)
        self._path(run).unlink(missing_ok=True)

    def refuse(self, message: str) -> None:
        """Note at the service that something was refused, in the run that began here last. Raises as `ended`."""
        if self._latest is not None:
            self._call("refuse", calls.Why(self._latest.run, self._latest.agent, message[:4096]), calls.Done)

    def folder_of(self, run: str) -> str | None:
        """The folder that a run started in."""
        known = self._known(run)
        return None if known is None else known.cwd

    def event_count(self, run: str) -> int:
        """How many events passed in a run. Raises as `ended`."""
        return self._call("status", calls.Of(run, self._of(run).agent), calls.RunStatus).events

    # --- holds ----------------------------------------------------------------------------------------------------

    def hold(self, name: str) -> Hold:
        """A hold of an answer of this gate, as it is now.

        Raises:
            HoldError: there is none.
            StateError: the service cannot be asked.
        """
        of = self._hold(name).opened
        return self._seen(self._client.hold(name, run=of["run"], agent=of["agent"]))

    def wait(self, name: str, seconds: float) -> Hold:
        """A hold when it waits no more, or after so many seconds. While the service cannot be reached it still waits.
        Raises as `hold`."""
        known = self._hold(name)
        of = known.opened
        try:
            return self._seen(self._client.wait(name, seconds, run=of["run"], agent=of["agent"]))
        except ServiceError as error:
            if error.status is not None and error.status < 500:
                raise
            time.sleep(max(0.0, min(1.0, seconds)))
            return known

    def cancel(self, name: str, why: str) -> Hold:
        """Cancel a hold that waits. Raises as `hold`."""
        of = self._hold(name).opened
        return self._seen(self._client.cancel(name, why, run=of["run"], agent=of["agent"]))

    def _hold(self, name: str) -> Hold:
        found = self._holds.get(name)
        if found is None:
            raise HoldError(f"there is no hold `{name[:40]}` of an action that was asked about here")
        return found

    def _seen(self, hold: Hold) -> Hold:
        self._holds[hold.id] = hold
        return hold

    # --- what is kept ---------------------------------------------------------------------------------------------

    def checkpoint(self) -> None:
        """Nothing: the service signs its own log."""

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()

    def _call(self, verb: str, body: calls.Of, answer: type[_A]) -> _A:
        try:
            return self._client.call(verb, body, answer)
        except HoldError:
            raise
        except ValueError as error:
            raise StateError(f"the gate service {self.url} cannot judge this: {error}") from error

    def _of(self, run: str) -> _Kept:
        known = self._known(run)
        if known is None:
            raise StateError(f"the run {run} did not begin here with the gate service {self.url}")
        return known

    def _known(self, run: str) -> _Kept | None:
        if run in self._runs:
            return self._runs[run]
        path = self._path(run)
        try:
            found = msgspec.json.decode(read_bytes(path, _LONGEST_RECORD), type=_Kept)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StateError(f"what the run began with cannot be read ({path}): {error}") from error
        if found.run != run or found.service != self.url:
            return None
        if found.token is not None:
            self._client.remember(run, found.agent, found.token)
        self._runs[run] = self._latest = found
        return found

    def _keep(self, kept: _Kept) -> None:
        kept.token = self._client.known(kept.run, kept.agent)
        path = self._path(kept.run)
        os.makedirs(path.parent, mode=0o700, exist_ok=True)  # noqa: PTH103 - like the rest of the state
        try:
            write_private(str(path), msgspec.json.encode(kept), replace=True)
        except InputError as error:
            raise StateError(f"what the run began with cannot be kept: {error.diagnostics[0].message}") from error
        self._runs[kept.run] = self._latest = kept

    def _keep_token(self, kept: _Kept) -> None:
        if self._client.known(kept.run, kept.agent) != kept.token:
            self._keep(kept)

    def _path(self, run: str) -> Path:
        return self.state / FOLDER / f"{hashlib.sha256(run.encode('utf-8', 'replace')).hexdigest()}.json"

    def _protection(self, kept: _Kept) -> _Protection:
        found = self._protections.get(kept.run)
        if found is None:
            found = self._protections[kept.run] = _Protection(kept.protected, self.state)
        return found


class _Protection:
    """What keeps an agent from the files that guard it, on this machine: the policy of registrations, and the disk."""

    def __init__(self, protected: Sequence[str], state: Path) -> None:
        self._policies: LayeredPolicies | None = None
        if protected:
            given = registration_params(protected, str(state))
            policy = loaded(str(resource("stdlib", *REGISTRATION)), given)
            self._policies = layered([Member("organisation", policy, "registration")])

    def touched(self, events: Sequence[Event], directory: str | None) -> Decision | None:
        """The decision that an action does not pass; None where it touches nothing of that."""
        policies = self._policies
        if policies is None:
            return None
        faults = () if policies.guarded is None else tuple(policies.guarded.touched(events, directory))
        action = Action(tuple(events), {}, "", "", 0, (), faults)
        found = decide(action, Authority(open=True), Tier(), policies.table)
        return None if found.mode == "pass" else found


def _digests(brought: Sequence[Brought]) -> dict[str, str]:
    texts = {path: text for each in brought for path, text in ((each.path, each.text), *each.modules.items())}
    return {path: _digest(text) for path, text in texts.items() if text is not None}


def _digest(text: str | None) -> str:
    return "" if text is None else hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _clipped(text: str | None) -> str | None:
    """As much of a text as is sent: half a character has no place in JSON."""
    if text is None:
        return None
    kept = text[:_OUTPUT].encode("utf-8", "replace").decode()
    while len(msgspec.json.encode(kept)) > _LONGEST_BODY // 2:
        kept = kept[: len(kept) // 2]
    return kept

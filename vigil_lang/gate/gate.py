"""The gate: one decision after the other over a state folder, each an entry of the log before anybody is told."""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import msgspec

from vigil_lang.gate.answer import Answer, decision_json, faulty
from vigil_lang.gate.authority.standing import Authorities
from vigil_lang.gate.binding import binding, likeness
from vigil_lang.gate.canonical import digest
from vigil_lang.gate.decide import Action, Tier, decide
from vigil_lang.gate.following import Following, key_of
from vigil_lang.gate.holds import Holds
from vigil_lang.gate.layers import load_layers
from vigil_lang.gate.log.derivation import KernelInputs, inputs_json
from vigil_lang.gate.log.log import Log
from vigil_lang.gate.moment import Moments
from vigil_lang.gate.revocation import Revocations, watch
from vigil_lang.gate.settings import read_settings
from vigil_lang.gate.state import StateError, StateFolder, refuse_inside, state_path
from vigil_lang.gate.store import Store
from vigil_lang.gate.tier import combine
from vigil_lang.gate.tier.asking import load_sources, observe
from vigil_lang.gate.tier.source import Seen
from vigil_lang.trace import Status, Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vigil_lang.enforce.run import Proposal
    from vigil_lang.gate.authority.standing import Standing
    from vigil_lang.gate.decide import Decision
    from vigil_lang.gate.following import LiveRun
    from vigil_lang.gate.notify import Notice
    from vigil_lang.gate.request import Request
    from vigil_lang.gate.revocation import Revoked
    from vigil_lang.gate.tier.signals import Signal

SETTLED = 20
"""So many holds are expired or escalated beside a decision; the others wait for the next."""


def microseconds() -> int:
    """The time, since 1970 (UTC)."""
    return time.time_ns() // 1000


class _Found(NamedTuple):
    """What came of judging an action, before it is written."""

    inputs: KernelInputs
    decision: Decision
    standing: Standing
    revoked: Revoked
    proposal: Proposal


class Gate:
    """A gate over a state folder; several processes may have one each, and several threads may share one.

    Raises:
        StateError: the folder, its settings or a policy cannot be read, or is not what it has to be.
    """

    def __init__(self, path: Path | None = None, *, clock: Callable[[], int] = microseconds) -> None:
        self.folder = StateFolder(path or state_path())
        self.settings = read_settings(self.folder.settings)
        if self.settings.workspace is not None:
            refuse_inside(self.folder.path, Path(self.settings.workspace))
        self.policies = load_layers(self.settings.layers, self.settings.params, self.settings.workspace)
        self._clock = clock
        self._mutex = threading.RLock()
        self._moments = Moments(self.settings)
        self._policies_kept = False
        with self.folder.lock():
            self.log = Log(self.folder, self.settings.log, clock)
            self.store = Store(self.folder, self.log)
            self.refresh()
        self.holds = Holds(
            self.folder, self.log, self.store, self.settings.holds, self.settings.notify, clock=clock, guard=self._mutex
        )
        self._following = Following(self.policies.monitor, self.store, self.log)
        self._authorities = Authorities(self.settings.authority, self.log.origin)
        self._revocations = Revocations(self.folder, self.settings.revocation)
        self._revocations.known(self.store.revocations())  # an older list may have been put back meanwhile
        self._sources = load_sources(self.settings.tier)

    # --- what programs ask --------------------------------------------------------------------------------------

    def decide(self, request: Request) -> Answer:
        """What becomes of an action. It is in the log before this returns; what cannot be judged blocks."""
        began = time.perf_counter_ns()
        notices: list[Notice] = []
        try:
            said = self._heard(request)
            with self._writing():
                answer = self._decided(request, said, notices)
        except Exception as error:  # whatever went wrong, the action does not pass
            answer = self._fault(error)
        self.holds.tell(notices)
        took = (time.perf_counter_ns() - began) // 1000
        return replace(answer, microseconds=took)

    def refuse(self, message: str) -> None:
        """Note that a request was bad, and nothing decided.

        Raises:
            StateError: it cannot be written.
        """
        with self._writing():
            self.log.append("refusal", {"message": message[:1000]})

    def outcome(self, run: str, seq: int, status: Status, output: str | None = None) -> None:
        """How a call ended that had passed; `seq` is that of its decision.

        Raises:
            StateError: it cannot be written.
            ValueError: no such call passed in the run, its outcome is known, or `status` is none.
        """
        if status not in get_args(Status):
            raise ValueError(f"`{status}` is no status of a call")
        with self._writing():
            live = self._following.run(run)
            if live is None or key_of(seq) not in live.open:
                raise ValueError(f"no call of the run {run} with the number {seq} waits for its outcome")
            members = {"run": run, "decision": seq, "status": status, "output": None}
            self.log.append("outcome", members, {} if output is None else {"/output": output})
        if output is not None and self._sources:
            said = self._asked(Seen(run, live.run.trace.events, output, ()))
            with self._writing():
                self._note_signals(said)

    def end(self, run: str) -> None:
        """A run is over.

        Raises:
            StateError: it cannot be written.
            ValueError: no such run began.
        """
        with self._writing():
            if self._following.run(run) is None:
                raise ValueError(f"no run {run} began")
            self.log.append("run_end", {"run": run})
            self.log.checkpoint()
            self._following.forget(run)

    def checkpoint(self) -> str:
        """Sign what the log is now; gives the signed note.

        Raises:
            StateError: it cannot be signed or written.
        """
        with self._writing():
            return self.log.checkpoint()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Meanwhile acknowledge new revocation lists as soon as they appear, for the runs that this process follows."""
        stop = threading.Event()
        watched = Revocations(self.folder, self.settings.revocation)
        thread = threading.Thread(target=watch, args=(watched, self._acknowledge, stop), name="vigil-revocations")
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def trace(self, run: str) -> Trace:
        """What passed in a run so far.

        Raises:
            StateError: the log cannot be read.
        """
        with self._writing():
            live = self._following.run(run)
            return Trace(()) if live is None else live.run.trace

    def now(self) -> int:
        """The time in microseconds since 1970; it does not go back behind what the log has."""
        return max(self._clock(), self.log.at())

    def revoked(self) -> Revoked:
        """What is revoked now."""
        return self._revocations.current(self.now() // 1_000_000)

    def refresh(self) -> None:
        """Take in what other processes wrote. The caller has the folder locked."""
        self.log.refresh()
        self.store.catch_up()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Nobody else writes meanwhile; what others wrote is taken in before, and what is written here after."""
        with self._mutex, self.folder.lock():
            self.refresh()
            yield
            self.store.catch_up()

    # --- one decision -------------------------------------------------------------------------------------------

    def _decided(self, request: Request, said: Sequence[Signal], notices: list[Notice]) -> Answer:
        notices += self.holds.settle(SETTLED)
        self._note_policies()
        self._note_signals(said)
        moment = self.now()
        at = moment // 1_000_000
        revoked = self._revocations.current(at)
        self._note_revocations(revoked)
        standing = self._authorities.standing(request, at, revoked)
        live = self._entered(request, standing)
        proposal = live.propose(request.action, moment)
        signals = self.store.signals(request.run, at) if self.settings.tier.sources else ()
        level, doubts, why = combine(signals, self.settings.tier, at)
        self._note_changes(request, live, standing, level, why)
        bound = binding(request, self.policies.digest, standing.digest, level)
        alike = likeness(request, proposal.events, self.policies.digest, standing.digest)
        own = frozenset(event.id for event in proposal.events)
        faults = [] if revoked.fault is None else [revoked.fault]
        faults += [f"`{each.statement.name}` cannot be judged: {each.why}" for each in proposal.unjudged]
        action = Action(
            tuple(replace(event, extra={}) if event.extra else event for event in proposal.events),
            self._moments.context(request, moment, live.calls),
            bound,
            alike,
            at,
            tuple(self.policies.broken(each, own) for each in proposal.broken),
            tuple(faults),
        )
        counted = self.store.counters(standing.links, request.run, at)
        authority = self._authorities.authority(request, standing, revoked, counted, at)
        approvals = self.holds.approvals_for(bound, alike, at)
        inputs = KernelInputs(action, authority, Tier(level, doubts), approvals)
        decision = decide(action, authority, inputs.tier, self.policies.table, approvals)
        if decision.mode == "hold" and self._asks_too_much(request.agent, bound, at):
            action = msgspec.structs.replace(action, faults=(*faults, "too many actions of the agent wait already"))
            inputs = inputs._replace(action=action)
            decision = decide(action, authority, inputs.tier, self.policies.table, approvals)
        return self._written(request, _Found(inputs, decision, standing, revoked, proposal), live, notices)

    def _asks_too_much(self, agent: str, bound: str, at: int) -> bool:
        """Whether one more hold of an agent would be more than people are asked to look at."""
        if self.store.pending_for(bound, at) is not None:
            return False
        return self.store.waiting_for(agent) >= self.settings.holds.most_pending

    def _written(self, request: Request, found: _Found, live: LiveRun, notices: list[Notice]) -> Answer:
        """Put a decision into the log, and what it opens, joins and uses up with it."""
        inputs, decision, standing = found.inputs, found.decision, found.standing
        action_digest = digest(request.action)
        members: dict[str, Any] = {"run": request.run, "agent": request.agent, "user": request.user}
        members |= decision_json(decision)
        members |= {
            "action_digest": action_digest,
            "policy_digest": self.policies.digest,
            "authority_digest": standing.digest,
            "tier": inputs.tier.level,
            "binding": inputs.action.binding,
            "likeness": inputs.action.likeness,
            "revocations": found.revoked.seq,
            "links": standing.links if decision.mode == "pass" else [],
            "inputs": None,
        }
        joined = self.store.pending_for(inputs.action.binding, inputs.action.at) if decision.mode == "hold" else None
        if joined is not None:
            members["joined"] = joined.id
        elif decision.mode == "hold":
            members["hold"] = self.holds.opened(decision.who, standing.holder)
        who = {"agent": request.agent, "user": request.user}
        recorded = inputs_json(inputs, standing.grants, request.action, who)
        seq = self.log.append("decision", members, {"/inputs": recorded})
        if decision.mode == "pass":
            live.passed(request.action, inputs.action.events[0].time, seq)
        live.noted(seq, members)
        hold = joined
        if "hold" in members:
            self.store.catch_up()
            hold = self.holds.get(members["hold"]["id"])
            notices.append(self.holds.notice("opened", hold))
        return Answer(
            decision,
            seq,
            action_digest,
            self.policies.digest,
            standing.digest,
            inputs.tier.level,
            hold,
            found.proposal.broken,
            found.proposal.events,
        )

    def _fault(self, error: Exception) -> Answer:
        answer = faulty(error)
        self._following.forget()  # what was followed may be half taken in
        with suppress(Exception), self._writing():  # it may fail for the same reason
            self.log.append("fault", {"message": answer.decision.reasons[0].message[:1000]})
        return replace(answer, policy_digest=self.policies.digest)

    def _entered(self, request: Request, standing: Standing) -> LiveRun:
        """A run as it is so far; one that nobody knows begins."""
        live = self._following.run(request.run)
        if live is not None:
            return live
        members = {
            "run": request.run,
            "agent": request.agent,
            "policy_digest": self.policies.digest,
            "authority_digest": standing.digest,
            "cwd": request.cwd,
            "outcomes": request.outcomes,
        }
        self.log.append("run_start", members)
        self.store.catch_up()
        live = self._following.run(request.run)
        assert live is not None
        return live

    # --- detectors ----------------------------------------------------------------------------------------------

    def _heard(self, request: Request) -> tuple[Signal, ...]:
        """What the sources of signals say of an action, asked while nobody waits for the folder."""
        if not self._sources:
            return ()
        with self._writing():
            live = self._following.run(request.run)
            followed = live or self._following.unknown(request.run, request.cwd)
            proposal = followed.propose(request.action, self.now())
            seen = Seen(request.run, followed.run.trace.events, None, proposal.events)
        return self._asked(seen)

    def _asked(self, seen: Seen) -> tuple[Signal, ...]:
        at = self.now() // 1_000_000
        with self._mutex:
            old = self.store.signals(seen.run, at)
        return observe(self._sources, self.settings.tier, seen, old, at)

    # --- what changed -------------------------------------------------------------------------------------------

    def _note_signals(self, said: Sequence[Signal]) -> None:
        for signal in said:
            self.log.append("signal", signal.members())
        if said:
            self.store.catch_up()

    def _note_policies(self) -> None:
        """Keep the policies in force beside the log, and note where they are others than before."""
        noted = self.store.policy_digest()
        if noted == self.policies.digest and self._policies_kept:
            return
        kept = self.folder.policies / f"{self.policies.digest}.json"
        if noted != self.policies.digest or not kept.exists():
            _keep(kept, self.policies.bundle)
        self._policies_kept = True
        if noted != self.policies.digest:
            self.log.append("policy", {"policy_digest": self.policies.digest})
            self.store.catch_up()

    def _note_revocations(self, revoked: Revoked) -> None:
        """Note a list in force that the log does not know, such as one that was copied here."""
        if revoked.list is not None and revoked.seq > self.store.revocations():
            self.log.append("revocation", revoked.members())
            self.store.catch_up()

    def _note_changes(self, request: Request, live: LiveRun, standing: Standing, tier: int, why: Sequence[str]) -> None:
        """Note where the authority or the tier of a run is another than at its last decision."""
        if standing.digest != live.authority_digest:
            members = {"run": request.run, "agent": request.agent, "authority_digest": standing.digest}
            self.log.append("authority", members | {"problems": list(standing.refused)})
        if tier != live.tier:
            self.log.append("tier", {"run": request.run, "level": tier, "why": list(why)})

    def _acknowledge(self, revoked: Revoked) -> None:
        """Note that the runs of this process are decided about under a list. Where that fails, nobody has seen it."""
        with suppress(StateError, OSError), self._writing():
            seen = {run.name: run.acknowledged or 0 for run in self.store.runs()}
            for name in self._following.names():
                if seen.get(name, revoked.seq) < revoked.seq:
                    self.log.append("acknowledged", {"run": name, "seq": revoked.seq})


def _keep(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, and on disk."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    beside = path.with_suffix(".new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)

"""The gate: one decision after the other over a state folder, each an entry of the log before anybody is told."""

from __future__ import annotations

import hashlib
import os
import secrets
import threading
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from vigil_lang.gate.authority.chain import Chain, exhausted, grant_condition, verify_chain
from vigil_lang.gate.canonical import digest, short_digest
from vigil_lang.gate.decide import Action, Authority, Decision, Reason, Tier
from vigil_lang.gate.decide.conditions import CONTEXT
from vigil_lang.gate.following import Following, key_of
from vigil_lang.gate.holds import Holds
from vigil_lang.gate.inputs import Inputs, plain_decision
from vigil_lang.gate.layers import load_layers
from vigil_lang.gate.log import Log
from vigil_lang.gate.notify import notify
from vigil_lang.gate.revocation import Revocations
from vigil_lang.gate.settings import read_settings
from vigil_lang.gate.state import StateError, StateFolder, refuse_inside, state_path
from vigil_lang.gate.store import Store
from vigil_lang.gate.tier import combine
from vigil_lang.trace import Event, Status
from vigil_lang.trace.values import canonical as canonical_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.enforce.run import Broken, Proposal
    from vigil_lang.gate.following import LiveRun
    from vigil_lang.gate.holds import Hold
    from vigil_lang.gate.request import Request
    from vigil_lang.gate.revocation import Revoked

OPEN = "open"
NONE = "none"
"""What stands for the digest of a chain where authority is open, and where there is no chain."""

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def microseconds() -> int:
    """The time, since 1970 (UTC)."""
    return time.time_ns() // 1000


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision with its place in the log: `seq` is None where nothing could be written, and then it blocks.

    `hold` is the hold that was opened or joined. `broken` has the statements that the action would violate, with what
    would satisfy them.
    """

    decision: Decision
    seq: int | None
    action_digest: str = ""
    policy_digest: str = ""
    authority_digest: str = ""
    tier: int = 0
    hold: Hold | None = None
    broken: tuple[Broken, ...] = ()
    events: tuple[Event, ...] = ()
    microseconds: int = 0

    @property
    def is_fault(self) -> bool:
        """Whether the gate could not judge, and blocks for that."""
        return self.seq is None

    def to_json(self) -> dict[str, Any]:
        """The published form, `vigil.decision/1`."""
        found: dict[str, Any] = {"schema": "vigil.decision/1"} | plain_decision(self.decision)
        found |= {
            "action_digest": self.action_digest,
            "policy_digest": self.policy_digest,
            "authority_digest": self.authority_digest,
            "tier": self.tier,
            "microseconds": self.microseconds,
        }
        if self.hold is not None:
            expires = datetime.fromtimestamp(self.hold.expires, UTC).isoformat().replace("+00:00", "Z")
            found["hold"] = {"id": self.hold.id, "binding": self.hold.binding, "expires": expires}
        if self.seq is not None:
            found["log"] = {"seq": self.seq}
        return found


class Gate:
    """A gate over a state folder; several processes may have one each.

    Raises:
        StateError: the folder, its settings or a policy cannot be read, or is not what it has to be.
    """

    def __init__(self, path: Path | None = None, *, clock: Callable[[], int] = microseconds) -> None:
        self.folder = StateFolder(path or state_path())
        self.settings = read_settings(self.folder.settings)
        if self.settings.workspace is not None:
            refuse_inside(self.folder.path, Path(self.settings.workspace))
        self.policies = load_layers(self.settings.layers, self.settings.params)
        self._clock = clock
        self._mutex = threading.RLock()
        self._zone = _zone(self.settings.timezone)
        with self.folder.lock():
            self.log = Log(self.folder, self.settings.log, clock)
            self.store = Store(self.folder, self.log)
            self.holds = Holds(self.store, self.log, self.settings.holds)
        self._following = Following(self.policies.monitor, self.store, self.log)
        self._revocations = Revocations(self.folder, self.settings.revocation)
        self._chains: dict[tuple[str, int], Chain] = {}

    # --- decisions ---

    def decide(self, request: Request) -> Answer:
        """What becomes of an action. It is in the log before this returns; what cannot be judged blocks."""
        began = time.perf_counter_ns()
        opened: Hold | None = None
        try:
            with self._mutex, self.folder.lock():
                answer, opened = self._decided(request)
        except Exception as error:  # whatever went wrong, the action does not pass
            answer = self._fault(error)
        if opened is not None:
            notify(self.settings.notify, opened)
        took = (time.perf_counter_ns() - began) // 1000
        return replace(answer, microseconds=took)

    def refuse(self, message: str) -> None:
        """Note that a request was bad, and nothing decided.

        Raises:
            StateError: it cannot be written.
        """
        with self._mutex, self.folder.lock():
            self.refresh()
            self.log.append("refusal", {"message": message[:1000]})
            self.store.catch_up()

    def outcome(self, run: str, seq: int, status: Status, output: str | None = None) -> None:
        """How a call ended that had passed; `seq` is that of its decision.

        Raises:
            StateError: it cannot be written.
            ValueError: no such call passed in the run, or its outcome is known.
        """
        with self._mutex, self.folder.lock():
            self.refresh()
            live = self._following.run(run)
            if live is None or key_of(seq) not in live.open:
                raise ValueError(f"no call of the run {run} with the number {seq} waits for its outcome")
            members = {"run": run, "decision": seq, "status": status, "output": None}
            self.log.append("outcome", members, {} if output is None else {"/output": output})
            self.store.catch_up()

    def end(self, run: str) -> None:
        """A run is over.

        Raises:
            StateError: it cannot be written.
        """
        with self._mutex, self.folder.lock():
            self.refresh()
            self.log.append("run_end", {"run": run})
            self.log.checkpoint()
            self.store.catch_up()
            self._following.forget(run)

    # --- one decision ---

    def refresh(self) -> None:
        """Take in what other processes wrote. The caller has the folder locked."""
        self.log.refresh()
        self.store.catch_up()

    def _decided(self, request: Request) -> tuple[Answer, Hold | None]:
        self.refresh()
        moment = max(self._clock(), self.log.at())
        at = moment // 1_000_000
        self.holds.expire(at)
        self._note_policies()
        revoked = self._revocations.current(at)
        chain, authority_digest, doubts = self._chain(request, at, revoked)
        live = self._entered(request, authority_digest)
        level, tier_doubts, _ = combine(self.store.signals(request.run, at), self.settings.tier, at)
        proposal = live.propose(request)
        own = frozenset(event.id for event in proposal.events)
        broken = tuple(self.policies.broken(each, own) for each in proposal.broken)
        faults = tuple(f"`{each.statement.name}` cannot be judged: {each.why}" for each in proposal.unjudged)
        if revoked.fault is not None:
            faults = (revoked.fault, *faults)
        policy = self.policies.digest
        binding = short_digest(
            {
                "subject": {"type": "agent", "id": request.agent, "properties": {"user": request.user}},
                "resource": {"type": "tool", "id": request.tool},
                "action": {"name": request.tool, "properties": _properties(request)},
                "context": {
                    "run": request.run,
                    "agent": request.agent,
                    "policy_digest": policy,
                    "authority_digest": authority_digest,
                    "tier": level,
                },
            }
        )
        names = sorted({name for event in proposal.events for name in event.names()})
        likeness = short_digest(
            {"agent": request.agent, "user": request.user, "tool": request.tool, "does": names, "policy": policy}
        )
        events = tuple(_bare(event) for event in proposal.events)
        context = self._context(request, moment, live.calls)
        action = Action(events, context, binding, likeness, at, broken, faults)
        authority = self._authority(request, chain, doubts, revoked, at)
        approvals = self.store.approvals_for(binding, likeness, at)
        inputs = Inputs(request.action, action, authority, Tier(level, tier_doubts), tuple(approvals))
        decision = inputs.decision(self.policies.table)
        return self._written(request, inputs, decision, proposal, live, authority_digest, revoked, chain)

    def _written(
        self,
        request: Request,
        inputs: Inputs,
        decision: Decision,
        proposal: Proposal,
        live: LiveRun,
        authority_digest: str,
        revoked: Revoked,
        chain: Chain | None,
    ) -> tuple[Answer, Hold | None]:
        """Put a decision into the log; gives it, and the hold where one was opened."""
        action, action_digest = inputs.action, digest(request.action)
        members: dict[str, Any] = {"run": request.run, "agent": request.agent, "user": request.user}
        members |= plain_decision(decision)
        members |= {
            "action_digest": action_digest,
            "policy_digest": self.policies.digest,
            "authority_digest": authority_digest,
            "tier": inputs.tier.level,
            "binding": action.binding,
            "likeness": action.likeness,
            "revocations": revoked.seq,
            "links": list(chain.links) if chain is not None and decision.mode == "pass" else [],
            "inputs": None,
        }
        joined = self.store.pending_for(action.binding) if decision.mode == "hold" else None
        opens = decision.mode == "hold" and joined is None
        if opens:
            members["hold"] = {
                "id": secrets.token_hex(8),
                "nonce": secrets.token_hex(16),
                "expires": action.at + self.settings.holds.timeout,
                "confirm_by": decision.who,
                "quorum": self.settings.holds.quorum,
            }
        elif joined is not None:
            members["joined"] = joined.id
        seq = self.log.append("decision", members, {"/inputs": inputs.plain()})
        self.store.catch_up()
        if decision.mode == "pass":
            live.passed(request, seq)
        live.upto = seq
        hold = self.store.hold(members["hold"]["id"]) if opens else joined
        answer = Answer(
            decision,
            seq,
            action_digest,
            self.policies.digest,
            authority_digest,
            inputs.tier.level,
            hold,
            proposal.broken,
            proposal.events,
        )
        return answer, hold if opens else None

    def _fault(self, error: Exception) -> Answer:
        answer = faulty(error)
        self._following.forget()  # what was followed may be half taken in
        try:
            with self._mutex, self.folder.lock():
                self.refresh()
                self.log.append("fault", {"message": answer.decision.reasons[0].message[:1000]})
                self.store.catch_up()
        except Exception:  # it could not be written for the same reason
            pass
        return replace(answer, policy_digest=self.policies.digest)

    def _note_policies(self) -> None:
        """Keep the policies in force beside the log, and note where they are others than before."""
        kept = self.folder.policies / f"{self.policies.digest}.json"
        if self.store.policy_digest() == self.policies.digest and kept.exists():
            return
        _keep(kept, self.policies.bundle)
        if self.store.policy_digest() != self.policies.digest:
            self.log.append("policy", {"policy_digest": self.policies.digest})
            self.store.catch_up()

    # --- what a decision rests on ---

    def _context(self, request: Request, moment: int, calls: int) -> dict[str, tuple[str, ...]]:
        here = datetime.fromtimestamp(moment / 1_000_000, self._zone)
        found = dict(request.context)
        for name, value in self.settings.context.get(request.agent, {}).items():
            texts = value if isinstance(value, list) else [value]
            found[f"{CONTEXT}user.{name}"] = tuple(canonical_text(text) for text in texts)
        found |= {
            f"{CONTEXT}agent": (request.agent,),
            f"{CONTEXT}run": (request.run,),
            f"{CONTEXT}hour": (str(here.hour),),
            f"{CONTEXT}weekday": (_DAYS[here.weekday()],),
            f"{CONTEXT}calls": (str(calls),),
        }
        for name, given in (("user", request.user), ("host", request.host)):
            if given is not None:
                found[f"{CONTEXT}{name}"] = (given,)
        return found

    def _chain(self, request: Request, at: int, revoked: Revoked) -> tuple[Chain | None, str, tuple[str, ...]]:
        """The chain that the agent acts under, what stands for it in a decision, and why it counts for nothing."""
        if self.settings.authority.mode == "open":
            return None, OPEN, ()
        set_to = self.settings.authority.chains.get(request.agent)
        if set_to is not None and request.authority not in (None, set_to):
            return None, NONE, (f"the settings name another chain for the agent than {request.authority}",)
        path = set_to or request.authority
        if path is None:
            return None, NONE, ()
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            return None, NONE, (f"the chain {path} cannot be read: {error.strerror}",)
        key = hashlib.sha256(data).hexdigest(), revoked.seq
        chain = self._chains.get(key)
        if chain is None or not chain.since <= at < chain.until:
            chain = verify_chain(data, self.settings.authority.roots, self.log.origin, at, revoked)
            self._chains = {key: chain} if len(self._chains) > 100 else {**self._chains, key: chain}
        return chain, chain.digest or NONE, ()

    def _authority(
        self,
        request: Request,
        chain: Chain | None,
        doubts: tuple[str, ...],
        revoked: Revoked,
        at: int,
    ) -> Authority:
        gone = []
        if revoked.everyone:
            gone.append("everyone is revoked")
        if revoked.agent(request.agent):
            gone.append(f"the agent {request.agent} is revoked")
        if revoked.run(request.run):
            gone.append(f"the run {request.run} is revoked")
        stale = ("the revocation list is older than its end",) if revoked.stale(at) else ()
        if chain is None:
            is_open = self.settings.authority.mode == "open"
            return Authority(open=is_open, refused=doubts, revoked=tuple(gone), stale=stale)
        refused = [problem.message for problem in chain.problems if problem.kind != "revoked"]
        gone += [problem.message for problem in chain.problems if problem.kind == "revoked"]
        counted = self.store.counters(chain.links, request.run, at)
        beyond = exhausted(chain, counted, at)
        grants = () if chain.problems else tuple(grant_condition(text) for text in chain.grants)
        return Authority(grants, False, (*doubts, *refused), tuple(gone), beyond, stale)

    def _entered(self, request: Request, authority_digest: str) -> LiveRun:
        """A run as it is so far; one that nobody knows begins."""
        live = self._following.run(request.run)
        if live is not None:
            return live
        members = {
            "run": request.run,
            "agent": request.agent,
            "policy_digest": self.policies.digest,
            "authority_digest": authority_digest,
            "cwd": request.cwd,
            "outcomes": request.outcomes,
        }
        self.log.append("run_start", members)
        self.store.catch_up()
        live = self._following.run(request.run)
        assert live is not None
        return live


def faulty(error: Exception) -> Answer:
    """The answer where nothing could be judged: it blocks, and says why."""
    known = isinstance(error, StateError | OSError | ValueError)
    why = str(error) if known else f"the gate failed: {type(error).__name__}: {error}"
    return Answer(Decision("block", (Reason("fault", "block", "state", why),)), None)


def _properties(request: Request) -> object:
    return request.input if request.input is not None else {"events": request.action["events"]}


def _bare(event: Event) -> Event:
    """What the kernel is shown of an event: what decisions rest on, and nothing that only people read."""
    return replace(event, extra={}, time=None)


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


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise StateError(f"`timezone`: there is no time zone {name}") from error

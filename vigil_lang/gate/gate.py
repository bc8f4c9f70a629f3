"""The gate: one decision after the other over a state folder, each an entry of the log before anybody is told."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from vigil_lang.gate.authority.chain import Chain, verify_chain
from vigil_lang.gate.authority.grants import grant_condition
from vigil_lang.gate.authority.limits import exhausted
from vigil_lang.gate.canonical import digest, short_digest
from vigil_lang.gate.decide import Action, Authority, Decision, Reason, Tier, decide
from vigil_lang.gate.decide.conditions import CONTEXT
from vigil_lang.gate.following import Following, key_of
from vigil_lang.gate.holds import Holds
from vigil_lang.gate.layers import load_layers
from vigil_lang.gate.log.derivation import KernelInputs, inputs_json, reason_json
from vigil_lang.gate.log.log import Log
from vigil_lang.gate.revocation import Revocations, watch
from vigil_lang.gate.settings import read_settings
from vigil_lang.gate.state import StateError, StateFolder, refuse_inside, state_path
from vigil_lang.gate.store import Store
from vigil_lang.gate.tier import combine
from vigil_lang.gate.tier.asking import load_sources, observe
from vigil_lang.gate.tier.source import Seen
from vigil_lang.trace.values import canonical as canonical_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vigil_lang.enforce.run import Broken, Proposal
    from vigil_lang.gate.following import LiveRun
    from vigil_lang.gate.notify import Notice
    from vigil_lang.gate.request import Request
    from vigil_lang.gate.revocation import Revoked
    from vigil_lang.gate.store import Hold
    from vigil_lang.trace import Event, Status

OPEN = "open"
NONE = "none"
"""What stands for the digest of a chain where authority is open, and where there is no chain."""

SETTLED = 20
"""So many holds are expired or escalated beside a decision; the others wait for the next."""

MAX_CHAINS = 100
"""Chains that are remembered as verified."""

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
        found: dict[str, Any] = {"schema": "vigil.decision/1"} | decision_json(self.decision)
        found |= {
            "action_digest": self.action_digest,
            "policy_digest": self.policy_digest,
            "authority_digest": self.authority_digest,
            "tier": self.tier,
            "microseconds": self.microseconds,
        }
        if self.hold is not None:
            expires = datetime.fromtimestamp(self.hold.expires, UTC).isoformat().replace("+00:00", "Z")
            found["hold"] = {"id": self.hold.id, "binding": self.hold.opened["binding"], "expires": expires}
        if self.seq is not None:
            found["log"] = {"seq": self.seq}
        return found


class _Found(NamedTuple):
    """What came of judging an action, before it is written."""

    inputs: KernelInputs
    decision: Decision
    authority_digest: str
    revocations: int
    chain: Chain | None
    proposal: Proposal


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
        self.policies = load_layers(self.settings.layers, self.settings.params, self.settings.workspace)
        self._clock = clock
        self._mutex = threading.RLock()
        self._zone = _zone(self.settings.timezone)
        with self.folder.lock():
            self.log = Log(self.folder, self.settings.log, clock)
            self.store = Store(self.folder, self.log)
            self.log.refresh()
            self.store.catch_up()
        self.holds = Holds(
            self.folder, self.log, self.store, self.settings.holds, self.settings.notify, clock=clock, guard=self._mutex
        )
        self._following = Following(self.policies.monitor, self.store, self.log)
        self._revocations = Revocations(self.folder, self.settings.revocation)
        self._logged_revocations = False
        self._sources = load_sources(self.settings.tier)
        self._chains: dict[tuple[str, int], tuple[Chain, int]] = {}

    # --- decisions ---

    def decide(self, request: Request) -> Answer:
        """What becomes of an action. It is in the log before this returns; what cannot be judged blocks."""
        began = time.perf_counter_ns()
        notices: list[Notice] = []
        try:
            with self._mutex, self.folder.lock():
                answer = self._decided(request, notices)
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
            if output is not None:
                self._listen(run, live, (), output, self.now() // 1_000_000)

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

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Acknowledge new revocation lists meanwhile, for the runs that this process follows, as soon as they appear."""
        stop = threading.Event()
        watched = Revocations(self.folder, self.settings.revocation)
        thread = threading.Thread(target=watch, args=(watched, self._acknowledge, stop), name="vigil-revocations")
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def _acknowledge(self, revoked: Revoked) -> None:
        """Note that the runs of this process are decided about under a list. Where that fails, nobody has seen it."""
        with suppress(StateError, OSError), self._mutex, self.folder.lock():
            self.refresh()
            seen = {run.name: run.acknowledged or 0 for run in self.store.runs()}
            for name in self._following.names():
                if seen.get(name, revoked.seq) < revoked.seq:
                    self.log.append("acknowledged", {"run": name, "seq": revoked.seq})
            self.store.catch_up()

    # --- one decision ---

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

    def _decided(self, request: Request, notices: list[Notice]) -> Answer:
        self.refresh()
        notices += self.holds.settle(SETTLED)
        moment = self.now()
        at = moment // 1_000_000
        self._note_policies()
        if not self._logged_revocations:  # an older list may have been put back since the last process
            self._revocations.known(self.store.revocations())
            self._logged_revocations = True
        revoked = self._revocations.current(at)
        chain, authority_digest, refused = self._chain(request, at, revoked)
        live = self._entered(request, authority_digest)
        proposal = live.propose(request.action, moment)
        self._listen(request.run, live, proposal.events, None, at)
        level, doubts, _ = combine(self.store.signals(request.run, at), self.settings.tier, at)
        binding, likeness = self._digests(request, proposal.events, authority_digest, level)
        own = frozenset(event.id for event in proposal.events)
        faults = [] if revoked.fault is None else [revoked.fault]
        faults += [f"`{each.statement.name}` cannot be judged: {each.why}" for each in proposal.unjudged]
        action = Action(
            tuple(map(_bare, proposal.events)),
            self._context(request, moment, live.calls),
            binding,
            likeness,
            at,
            tuple(self.policies.broken(each, own) for each in proposal.broken),
            tuple(faults),
        )
        authority = self._authority(request, chain, refused, revoked, moment)
        approvals = self.holds.approvals_for(binding, likeness, at)
        inputs = KernelInputs(action, authority, Tier(level, doubts), approvals)
        decision = decide(action, authority, inputs.tier, self.policies.table, approvals)
        found = _Found(inputs, decision, authority_digest, revoked.seq, chain, proposal)
        return self._written(request, found, live, notices)

    def _written(self, request: Request, found: _Found, live: LiveRun, notices: list[Notice]) -> Answer:
        """Put a decision into the log, and what it opens, joins and uses up with it."""
        inputs, decision, chain = found.inputs, found.decision, found.chain
        binding, action_digest = inputs.action.binding, digest(request.action)
        members: dict[str, Any] = {"run": request.run, "agent": request.agent, "user": request.user}
        members |= decision_json(decision)
        members |= {
            "action_digest": action_digest,
            "policy_digest": self.policies.digest,
            "authority_digest": found.authority_digest,
            "tier": inputs.tier.level,
            "binding": binding,
            "likeness": inputs.action.likeness,
            "revocations": found.revocations,
            "links": [link.id for link in chain.links] if chain is not None and decision.mode == "pass" else [],
            "inputs": None,
        }
        joined = self.store.pending_for(binding, inputs.action.at) if decision.mode == "hold" else None
        if joined is not None:
            members["joined"] = joined.id
        elif decision.mode == "hold":
            members["hold"] = self.holds.opened(decision.who, chain.holder if chain is not None else None)
        grants = chain.grants if chain is not None else ()
        recorded = inputs_json(inputs, grants, request.action, {"agent": request.agent, "user": request.user})
        seq = self.log.append("decision", members, {"/inputs": recorded})
        self.store.catch_up()
        if decision.mode == "pass":
            live.passed(request.action, inputs.action.events[0].time, seq)
        live.upto = seq
        hold = joined
        if "hold" in members:
            hold = self.holds.get(members["hold"]["id"])
            notices.append(self.holds.notice("opened", hold))
        return Answer(
            decision,
            seq,
            action_digest,
            self.policies.digest,
            found.authority_digest,
            inputs.tier.level,
            hold,
            found.proposal.broken,
            found.proposal.events,
        )

    def _digests(self, request: Request, events: tuple[Event, ...], authority: str, tier: int) -> tuple[str, str]:
        """The binding of this very action, and its likeness: what it shares with calls of its kind."""
        subject: dict[str, object] = {"type": "agent", "id": request.agent}
        if request.user is not None:
            subject["properties"] = {"user": request.user}
        context = {
            "run": request.run,
            "agent": request.agent,
            "policy_digest": self.policies.digest,
            "authority_digest": authority,
            "tier": tier,
        }
        binding = {
            "subject": subject,
            "resource": {"type": "tool", "id": request.tool},
            "action": {"name": request.tool, "properties": _properties(request)},
            "context": context,
        }
        does = sorted({name for event in events for name in event.names()})
        likeness = {"subject": subject, "tool": request.tool, "does": does, "policy_digest": self.policies.digest}
        return short_digest(binding), short_digest(likeness)

    def _listen(self, run: str, live: LiveRun, events: tuple[Event, ...], output: str | None, at: int) -> None:
        """Ask the sources of signals about what was seen, and note what they say."""
        if not self._sources:
            return
        seen = Seen(run, live.run.trace.events, output, events)
        said = observe(self._sources, self.settings.tier, seen, self.store.signals(run, at), at)
        for signal in said:
            self.log.append("signal", signal.members())
        if said:
            self.store.catch_up()

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
        known = self._chains.get(key)
        if known is None or _ages(known[0], known[1], at):
            if len(self._chains) >= MAX_CHAINS:
                self._chains.clear()
            roots = self.settings.authority.roots
            known = self._chains[key] = verify_chain(data, roots, self.log.origin, at, revoked), at
        return known[0], known[0].digest or NONE, ()

    def _authority(
        self, request: Request, chain: Chain | None, refused: tuple[str, ...], revoked: Revoked, moment: int
    ) -> Authority:
        at = moment // 1_000_000
        links = chain.links if chain is not None else ()
        keys = dict.fromkeys(key for link in links for key in (link.payload.iss, link.payload.sub))
        gone = revoked.reasons(request.agent, request.run, keys, [link.id for link in links])
        stale = tuple(filter(None, [revoked.stale(at)]))
        if chain is None:
            is_open = self.settings.authority.mode == "open"
            return Authority(open=is_open, refused=refused, revoked=gone, stale=stale)
        problems = [f"the chain does not count: {each.message}" for each in chain.problems if each.kind != "revoked"]
        counted = self.store.counters([link.id for link in links], request.run, moment)
        beyond = () if chain.problems else exhausted(chain, counted, at)
        grants = tuple(map(grant_condition, chain.grants))
        return Authority(grants, False, (*refused, *problems), gone, beyond, stale)

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


def decision_json(decision: Decision) -> dict[str, Any]:
    """A decision as its entry and its answer have it: `mode`, `reasons`, `approvals`, `record`."""
    return {
        "mode": decision.mode,
        "reasons": [reason_json(each) for each in decision.reasons],
        "approvals": list(decision.approvals),
        "record": {name: list(values) for name, values in decision.record},
    }


def _ages(chain: Chain, checked: int, at: int) -> bool:
    """Whether a link began or ended since a chain was verified."""
    early, late = sorted((checked, at))
    return any(early < time <= late for link in chain.links for time in (link.payload.nbf, link.payload.exp))


def _properties(request: Request) -> object:
    return request.input if request.input is not None else {"events": request.action["events"]}


def _bare(event: Event) -> Event:
    """What the kernel is shown of an event: what decisions rest on, and nothing that only people read."""
    return replace(event, extra={})


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

"""The gate: one decision after the other over a state folder, each an entry of the log before anybody is told."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import msgspec
from msgspec.structs import replace

from vigil_lang.gate.answer import Answer, answer_of, decision_json, faulty
from vigil_lang.gate.authority.standing import Authorities
from vigil_lang.gate.binding import Asked, asked, binding, likeness
from vigil_lang.gate.decide import Action, Tier, decide
from vigil_lang.gate.entering import Owed, Violation
from vigil_lang.gate.following import Following, is_made
from vigil_lang.gate.holds import Holds
from vigil_lang.gate.layers import load_layers
from vigil_lang.gate.log.derivation import KernelInputs, inputs_json
from vigil_lang.gate.log.log import Log
from vigil_lang.gate.moment import Moments
from vigil_lang.gate.request import Request
from vigil_lang.gate.revocation import Revocations, note_list, watch
from vigil_lang.gate.run_snapshots import RunSnapshots
from vigil_lang.gate.runs import Runs
from vigil_lang.gate.settings import read_settings
from vigil_lang.gate.shelf import Shelf
from vigil_lang.gate.state import StateError, StateFolder, refuse_inside, state_path
from vigil_lang.gate.storage.opening import open_storage
from vigil_lang.gate.store import Store
from vigil_lang.gate.tier import combine
from vigil_lang.trace import Status, Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from vigil_lang.enforce.run import Proposal
    from vigil_lang.gate.authority.standing import Standing
    from vigil_lang.gate.brought import Brought
    from vigil_lang.gate.decide import Decision
    from vigil_lang.gate.entering import Ended, Entering
    from vigil_lang.gate.following import LiveRun
    from vigil_lang.gate.layers import LayeredPolicies
    from vigil_lang.gate.revocation import Revoked
    from vigil_lang.gate.settings import TierSettings
    from vigil_lang.gate.store import Hold
    from vigil_lang.gate.tier.signals import Signal
    from vigil_lang.gate.tier.source import Seen, Source
    from vigil_lang.trace.record import Message

SETTLED = 20
"""So many holds are expired or escalated beside a decision; the others wait for the next."""


UNVERIFIABLE = "the approval that is named does not count for this action, or does not count any more"
"""Why an action blocks that names an approval which the gate does not know to be one of it."""


def microseconds() -> int:
    """The time, since 1970 (UTC)."""
    return time.time_ns() // 1000


class _Found(NamedTuple):
    """What came of judging an action, before it is written."""

    said: Asked
    who: dict[str, Any]
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
        self.storage = open_storage(self.folder, self.settings)
        self._shelf = Shelf(self.storage, self.policies, self.settings.params)
        with self.storage.lock():
            self.log = Log(self.storage, self.settings.log, clock)
            self.store = Store(self.storage, self.log)
            self.refresh()
        self.holds = Holds(
            self.storage,
            self.log,
            self.store,
            self.settings.holds,
            self.settings.notify,
            organisation_role=self.settings.service.organisation_role,
            clock=clock,
            guard=self._mutex,
            origin=self.settings.service.origin,
        )
        self._snapshots = RunSnapshots(self.storage)
        self._following = Following(self._shelf, self.store, self.log, self._snapshots)
        self._runs = Runs(self.log, self.store, self._shelf, self._following)
        self._authorities = Authorities(self.settings.authority, self.log.origin)
        self._revocations = Revocations(self.storage, self.settings.revocation)
        self._revocations.known(self.store.last_revocations())  # an older list may have been put back meanwhile
        self._sources = _sources(self.settings.tier) if self.settings.tier.sources else ()

    # --- what programs ask --------------------------------------------------------------------------------------

    def decide(self, request: Request) -> Answer:
        """What becomes of an action. It is in the log before this returns; what cannot be judged blocks."""
        began = time.perf_counter_ns()
        try:
            heard = self._heard(request)
            with self._writing():
                answer = self._decided(request, heard)
        except Exception as error:  # whatever went wrong, the action does not pass
            answer = self._fault(error)
        self.holds.tell()
        took = (time.perf_counter_ns() - began) // 1000
        return replace(answer, microseconds=took)

    def decide_many(self, requests: Iterable[Request]) -> list[Answer]:
        """What becomes of some actions in their order, as `decide` has it, under one lock and with one sync of the log.

        One that cannot be judged blocks, and the others are judged all the same. Where nothing can be written all of
        them block. A request is taken from the iterator when its turn comes.
        """
        answers: list[Answer] = []
        if self._sources:
            requests = list(requests)
        heard = {id(each): self._heard_or_none(each) for each in requests} if self._sources else {}
        try:
            with self._writing():
                for request in requests:
                    began = time.perf_counter_ns()
                    answer = self._isolated(request, heard.get(id(request), ()))
                    answers.append(replace(answer, microseconds=(time.perf_counter_ns() - began) // 1000))
        except Exception as error:
            fault = self._fault(error)
            answers = [fault for _ in answers] + [fault for _ in requests]
        self.holds.tell()
        return answers

    def withdraw(self, run: str, seq: int) -> None:
        """Note that a call was not made after all, which passed by the entry of that number: whoever asked was told too
        late, and took it for a block.

        Raises:
            StateError: it cannot be written.
            ValueError: no such run began.
        """
        with self._writing():
            self._runs.withdraw(run, seq)

    def refuse(self, message: str) -> None:
        """Note that a request was bad, and nothing decided.

        Raises:
            StateError: it cannot be written.
        """
        with self._writing():
            self.log.append("refusal", {"message": message[:1000]})

    def outcome(self, run: str, call: int | str, status: Status, output: str | None = None) -> None:
        """How a call ended that had passed: by the number of its decision, or by the host's id of the call.

        Raises:
            StateError: it cannot be written.
            ValueError: no such call passed in the run, its outcome is known, or `status` is none.
        """
        _check_status(status)
        with self._writing():
            self._runs.outcome(run, call, status, output)
        self._show(run, output)

    def ended(self, run: str, ended: Ended) -> tuple[Violation, ...]:
        """How a call ended, by the host's id or by what it was; gives what is newly violated for certain.

        A call that was made without a pass becomes part of the run. What is known already changes nothing.

        Raises:
            StateError: it cannot be written.
            ValueError: no such run began, or the status is none.
        """
        _check_status(ended.status)
        with self._writing():
            found = self._runs.ended(run, ended)
        self._show(run, ended.output)
        return tuple(map(Violation.of, found))

    def policies_for(self, entering: Entering) -> LayeredPolicies:
        """The policies that a run would begin by: compiling them may take long, and nobody waits for it.

        Raises:
            StateError: one cannot be read, or something in it has no meaning.
        """
        return self._shelf.entered(entering)

    def enter(self, entering: Entering, policies: LayeredPolicies | None = None) -> tuple[str, ...]:
        """A run begins by policies of its own, or goes on; gives remarks on them where they are new.

        A rule of the workspace that passes or relaxes something is left out, and a remark tells of it. A run that began
        keeps its policies, unless they are to be read again. `policies` are those of `policies_for`, where they are
        known already.

        Raises:
            StateError: it cannot be written; a policy cannot be read, or something in it has no meaning.
        """
        live = self._following.known(entering.run)
        if live is not None and self._runs.keeps(live, entering):
            return ()
        with self._writing():
            at = self.now() // 1_000_000
            request = Request(entering.run, entering.agent, "", chain=entering.chain)
            standing = self._authorities.standing(request, at, self._revocations.current(at))
            return self._runs.enter(entering, standing.digest, policies)

    def has_begun(self, run: str) -> bool:
        """Whether a run is known: it goes on by the policies that it began with.

        Raises:
            StateError: the log cannot be read.
        """
        if self._following.known(run) is not None:
            return True
        with self._writing():
            return self._following.run(run) is not None

    def extend(self, run: str, policies: Sequence[str], brought: Sequence[Brought] = ()) -> bool:
        """Policies join those of a run, as a skill brings them, or as texts of another machine: it is judged by all of
        them from its beginning. Gives whether one of them is new.

        Raises:
            StateError: it cannot be written; a policy cannot be read, or something in it has no meaning.
            ValueError: no such run began.
        """
        with self._writing():
            return self._runs.extend(run, policies, brought)

    def changes(self, run: str) -> tuple[str, ...]:
        """The policy files that have another text than the run goes by; each such text is noted once.

        Raises:
            StateError: it cannot be written.
            ValueError: no such run began.
        """
        with self._writing():
            return self._runs.changes(run)

    def say(self, run: str, message: Message) -> tuple[Violation, ...]:
        """The user or the agent said something; gives what is newly violated for certain.

        Raises:
            StateError: it cannot be written.
            ValueError: no such run began.
        """
        with self._writing():
            return tuple(map(Violation.of, self._runs.say(run, message)))

    def turn_ended(self, run: str, session: str = "") -> tuple[Owed, ...]:
        """A turn of the agent, or of a sub-agent, is over: how its calls in flight ended is not known. Gives what the
        run owes.

        Raises:
            StateError: it cannot be written.
            ValueError: no such run began.
        """
        with self._writing():
            return tuple(map(Owed.of, self._runs.turn_ended(run, session)))

    def halt(self, run: str, why: str) -> None:
        """From now on every call of a run blocks.

        Raises:
            StateError: it cannot be written.
            ValueError: no such run began.
        """
        with self._writing():
            self._runs.halt(run, why)

    def resume(self, run: str) -> bool:
        """A run is no longer halted; gives whether it was.

        Raises:
            StateError: it cannot be written.
            ValueError: no such run began.
        """
        with self._writing():
            return self._runs.resume(run)

    def end(self, run: str) -> None:
        """A run is over.

        Raises:
            StateError: it cannot be written.
            ValueError: no such run began.
        """
        with self._writing():
            self._runs.end(run)

    def checkpoint(self) -> str:
        """Sign what the log is now; gives the signed note.

        Raises:
            StateError: it cannot be signed or written.
        """
        with self._writing():
            return self.log.checkpoint()

    @property
    def state(self) -> Path:
        """The state folder: also of what enforcement points keep on this machine."""
        return self.folder.path

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of the settings and of the policies that they name: a gate is as they were when it was made."""
        return (str(self.folder.settings), *(policy.path for _, policy in self.policies.policies))

    def close(self) -> None:
        """Let go of the files. A process that forks closes its gates before: SQLite's files do not survive a fork."""
        self.holds.close()
        self.log.close()
        self.store.close()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Meanwhile acknowledge new revocation lists as soon as they appear, for the runs that this process follows."""
        stop = threading.Event()
        watched = Revocations(self.storage, self.settings.revocation)
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

    def agent_of(self, run: str) -> str | None:
        """The agent whose run it is; None where no such run began.

        Raises:
            StateError: the log cannot be read.
        """
        with self._writing():
            live = self._following.run(run)
            return None if live is None else live.agent

    def event_count(self, run: str) -> int:
        """How many events passed in a run so far. Raises as `trace`."""
        return len(self.trace(run).events)

    def hold(self, name: str) -> Hold:
        """A hold as it is now. Raises as `Holds.look`."""
        return self.holds.look(name)

    def wait(self, name: str, seconds: float) -> Hold:
        """A hold when it waits no more, or after so many seconds. Raises as `Holds.wait`."""
        return self.holds.wait(name, seconds)

    def cancel(self, name: str, why: str) -> Hold:
        """Cancel a hold that waits. Raises as `Holds.cancel`."""
        return self.holds.cancel([name], why)[0]

    def follow(self, run: str) -> LiveRun:
        """A run as it is now, for who looks at it within `Holds.transaction` and changes nothing.

        Raises:
            StateError: the log, or a policy of the run, cannot be read.
            ValueError: no such run began.
        """
        return self._runs.live(run)

    def folder_of(self, run: str) -> str | None:
        """The folder that a run started in; None where that is not known.

        Raises:
            StateError: the log cannot be read.
        """
        with self._writing():
            _, start = next(self.store.of_run(run, -1), (0, {}))
            return start.get("cwd")

    def policies_of(self, digest: str) -> LayeredPolicies:
        """The policies that a decision was taken by.

        Raises:
            StateError: they are not there, or have no meaning to this version.
        """
        return self.policies if digest == self.policies.digest else self._shelf.policies(digest)

    def now(self) -> int:
        """The time in microseconds since 1970; it does not go back behind what the log has."""
        return max(self._clock(), self.log.at())

    def stamp(self) -> object:
        """Another one whenever the log grew: cheap enough to be asked for many times a second.

        Raises:
            OSError, StateError: the log cannot be reached.
        """
        return self.storage.stamp()

    def revoked(self) -> Revoked:
        """What is revoked now."""
        return self._revocations.current(self.now() // 1_000_000)

    def refresh(self) -> None:
        """Take in what other processes wrote. The caller has the folder locked."""
        self.log.refresh()
        self.store.catch_up()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Nobody else writes meanwhile; what others wrote is taken in before, and what is written here after.

        It is on disk when this ends: for that, others need not wait.
        """
        with self._mutex:
            try:
                with self.storage.lock():
                    self.refresh()
                    with self.log.deferred():
                        yield
                    self.store.catch_up()
            except BaseException:
                self._following.forget()  # what was followed may be half taken in
                raise
            place = self.log.place
        self.log.on_disk(place)
        with self._mutex:
            due = self._following.due()
        for each in due:
            self._snapshots.write(*each)

    # --- one decision -------------------------------------------------------------------------------------------

    def _isolated(self, request: Request, heard: Sequence[Signal] | None) -> Answer:
        """A decision among others: what goes wrong with it is noted, and is no other's fault."""
        try:
            if heard is None:
                raise StateError("the sources of signals cannot be asked")
            return self._decided(request, heard)
        except Exception as error:  # whatever went wrong, the action does not pass
            self._following.forget(request.run)  # it may be half taken in
            answer = replace(faulty(error), policy_digest=self.policies.digest)
            with suppress(StateError):  # it may fail for the same reason
                self.log.append("fault", {"message": answer.decision.reasons[0].message[:1000]})
            return answer

    def _heard_or_none(self, request: Request) -> tuple[Signal, ...] | None:
        """As `_heard`; None where nobody can be asked."""
        try:
            return self._heard(request)
        except Exception:  # the decision says so
            return None

    def _decided(self, request: Request, heard: Sequence[Signal]) -> Answer:
        self.holds.settle(SETTLED)
        self._note_policies()
        self._note_signals(heard)
        moment = self.now()
        at = moment // 1_000_000
        revoked = self._revocations.current(at)
        note_list(revoked, self.log, self.store)
        standing = self._authorities.standing(request, at, revoked)
        live = self._entered(request, standing)
        said, who = asked(request), _who(request)
        known = live.asked.get(request.call, {}) if request.call is not None else {}
        if (passed := live.open.get(known.get(said.digest) or "")) is not None:
            return answer_of(passed.seq, passed.entry, live.events_of(passed))
        proposal = live.propose(said.action, moment, who)
        signals = self.store.signals(request.run, at) if self.settings.tier.sources else ()
        level, doubts, why = combine(signals, self.settings.tier, at)
        self._note_changes(request, live, standing, level, why)
        policies = live.policies
        bound = binding(request, said.given, policies.digest, standing.digest, level)
        alike = likeness(request, proposal.events, policies.digest, standing.digest)
        own = frozenset(event.id for event in proposal.events)
        faults = [] if revoked.fault is None else [revoked.fault]
        faults += [f"`{each.statement.name}` cannot be judged: {each.why}" for each in proposal.unjudged]
        if live.halted is not None:
            faults.append(f"the run is halted: {live.halted}; a person lifts that by `vigil resume`")
        if policies.guarded is not None:
            faults += policies.guarded.touched(proposal.events, request.directory or request.cwd)
        if next(iter(known), said.digest) != said.digest:
            faults.append(f"the id {request.call} is that of another call")
        action = Action(
            tuple(replace(event, extra={}) if event.extra else event for event in proposal.events),
            self._moments.context(request, moment, live.calls),
            bound,
            alike,
            at,
            tuple(policies.broken(each, own) for each in proposal.broken),
            tuple(faults),
        )
        counted = self.store.counters(standing.links, request.run, at)
        authority = self._authorities.authority(request, standing, revoked, counted, at)
        approvals = () if request.observe else self.holds.approvals_for(bound, alike, at)
        if request.approval is not None and all(each.hold != request.approval for each in approvals):
            action = msgspec.structs.replace(action, faults=(*faults, UNVERIFIABLE))
        inputs = KernelInputs(action, authority, Tier(level, doubts), approvals)
        decision = decide(action, authority, inputs.tier, policies.table, approvals)
        if decision.mode == "hold" and not request.observe and self._asks_too_much(request.agent, bound, at):
            action = msgspec.structs.replace(action, faults=(*faults, "too many actions of the agent wait already"))
            inputs = inputs._replace(action=action)
            decision = decide(action, authority, inputs.tier, policies.table, approvals)
        found = _Found(said, who, inputs, decision, standing, revoked, proposal)
        return self._written(request, found, live)

    def _asks_too_much(self, agent: str, bound: str, at: int) -> bool:
        """Whether one more hold of an agent would be more than people are asked to look at."""
        if self.store.pending_for(bound, at) is not None:
            return False
        return self.store.waiting_for(agent) >= self.settings.holds.most_pending

    def _written(self, request: Request, found: _Found, live: LiveRun) -> Answer:
        """Put a decision into the log, and what it opens, joins and uses up with it."""
        inputs, decision, standing = found.inputs, found.decision, found.standing
        members: dict[str, Any] = {"run": request.run, "agent": request.agent, "user": request.user}
        members |= _of_call(request)
        members |= decision_json(decision)
        members |= {
            "action_digest": found.said.digest,
            "policy_digest": live.policies.digest,
            "authority_digest": standing.digest,
            "tier": inputs.tier.level,
            "binding": inputs.action.binding,
            "likeness": inputs.action.likeness,
            "revocations": found.revoked.seq,
            "links": standing.links if decision.mode == "pass" else [],
            "inputs": None,
        }
        waits = decision.mode == "hold" and not request.observe
        joined = self.store.pending_for(inputs.action.binding, inputs.action.at) if waits else None
        if joined is not None:
            members["joined"] = joined.id
        elif waits:
            members["hold"] = self.holds.opened(decision.who, standing.holder)
        recorded = inputs_json(inputs, standing.grants, found.said.written, found.who)
        seq = self.log.append("decision", members, {"/inputs": recorded})
        if members["approvals"] or members["links"]:
            self.store.catch_up()  # for the next one that is decided under the same lock
        entry = {"kind": "decision", **members}
        if is_made(entry):
            live.passed(found.said.action, inputs.action.events[0].time, found.who, seq, entry)
        live.noted(seq, entry)
        hold = joined
        if "hold" in members:
            self.store.catch_up()
            hold = self.holds.get(members["hold"]["id"])
        return Answer(
            decision,
            seq,
            found.said.digest,
            live.policies.digest,
            standing.digest,
            inputs.tier.level,
            hold,
            found.proposal.broken,
            found.proposal.events,
            observed=request.observe,
            remedies={each.statement.name: each.remedy for each in found.proposal.broken if each.remedy},
        )

    def _fault(self, error: Exception) -> Answer:
        answer = faulty(error)
        with suppress(Exception), self._writing():  # it may fail for the same reason
            self.log.append("fault", {"message": answer.decision.reasons[0].message[:1000]})
        return replace(answer, policy_digest=self.policies.digest)

    def _entered(self, request: Request, standing: Standing) -> LiveRun:
        """A run as it is so far; one that nobody knows begins."""
        live = self._following.run(request.run)
        if live is not None:
            return live
        return self._runs.begin(
            {
                "run": request.run,
                "agent": request.agent,
                "policy_digest": self.policies.digest,
                "authority_digest": standing.digest,
                "cwd": request.cwd,
                "outcomes": request.outcomes,
            }
        )

    # --- detectors ----------------------------------------------------------------------------------------------

    def _heard(self, request: Request) -> tuple[Signal, ...]:
        """What the sources of signals say of an action, asked while nobody waits for the folder."""
        if not self._sources:
            return ()
        with self._writing():
            live = self._following.run(request.run)
            followed = live or self._following.unknown(request.run, request.cwd)
            proposal = followed.propose(request.action, self.now(), _who(request))
            from vigil_lang.gate.tier.source import Seen  # as `_sources` has it

            seen = Seen(request.run, followed.run.trace.events, None, proposal.events)
        return self._asked(seen)

    def _show(self, run: str, output: str | None) -> None:
        """Let the sources of signals look at what a call showed."""
        if output is None or not self._sources:
            return
        from vigil_lang.gate.tier.source import Seen  # as `_sources` has it

        said = self._asked(Seen(run, self.trace(run).events, output, ()))
        with self._writing():
            self._note_signals(said)

    def _asked(self, seen: Seen) -> tuple[Signal, ...]:
        from vigil_lang.gate.tier.asking import observe  # as `_sources` has it

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
        self._shelf.keep(self.policies)
        if self.store.policy_digest() != self.policies.digest:
            self.log.append("policy", {"policy_digest": self.policies.digest})
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
                    note_list(revoked, self.log, self.store)  # so that nobody has seen what the log does not know
                    self.log.append("acknowledged", {"run": name, "seq": revoked.seq})


def _sources(settings: TierSettings) -> tuple[Source, ...]:
    from vigil_lang.gate.tier.asking import load_sources  # late: most gates have no sources, and need nothing of them

    return load_sources(settings)


def _check_status(status: str) -> None:
    if status not in get_args(Status):
        raise ValueError(f"`{status}` is no status of a call")


def _who(request: Request) -> dict[str, Any]:
    """Who does an action, and where: what the run has to know beside it."""
    who = {"agent": request.agent, "user": request.user}
    return who | {name: value for name, value in _of_call(request).items() if name not in ("call", "observed")}


def _of_call(request: Request) -> dict[str, Any]:
    """What an enforcement point says of a call beside the action, as entries have it: only what it does say."""
    found: dict[str, Any] = {} if request.call is None else {"call": request.call}
    found |= {"session": request.session} if request.session else {}
    found |= {} if request.parent is None else {"parent": request.parent}
    found |= {} if request.directory is None else {"directory": request.directory}
    return found | ({"observed": True} if request.observe else {})

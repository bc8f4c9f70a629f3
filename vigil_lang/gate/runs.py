"""Runs at enforcement points: how they begin and by which policies, what happens in them, and how their calls end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.gate.canonical import NotCanonical, digest
from vigil_lang.gate.log.log import text_of
from vigil_lang.gate.notices.notice import clipped
from vigil_lang.gate.shelf import differing
from vigil_lang.trace.values import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vigil_lang.enforce.run import Broken, Obligation
    from vigil_lang.gate.brought import Brought
    from vigil_lang.gate.entering import Ended, Entering
    from vigil_lang.gate.following import Following, LiveRun
    from vigil_lang.gate.layers import LayeredPolicies
    from vigil_lang.gate.log.log import Log
    from vigil_lang.gate.shelf import Shelf
    from vigil_lang.gate.store import Store
    from vigil_lang.trace import Status
    from vigil_lang.trace.record import Message


class Runs:
    """Writes what happens in runs into the log. The caller holds the folder's lock and has refreshed the log."""

    def __init__(self, log: Log, store: Store, shelf: Shelf, following: Following) -> None:
        self._log = log
        self._store = store
        self._shelf = shelf
        self._following = following

    def live(self, name: str) -> LiveRun:
        """A run so far.

        Raises:
            ValueError: no such run began.
        """
        live = self._following.run(name)
        if live is None:
            raise ValueError(f"there is no run {name}: `vigil runs` lists them")
        return live

    # --- beginning, and policies ----------------------------------------------------------------------------------

    def begin(self, members: Mapping[str, object]) -> LiveRun:
        """Write that a run begins."""
        self._log.append("run_start", members)
        self._store.catch_up()
        return self.live(str(members["run"]))

    def enter(
        self, entering: Entering, authority_digest: str, policies: LayeredPolicies | None = None
    ) -> tuple[str, ...]:
        """A run begins by policies of its own, or one goes on; gives remarks on policies that it did not have."""
        live = self._following.run(entering.run)
        if live is not None:
            return () if self.keeps(live, entering) else self._renew(live, entering)
        policies = policies or self._shelf.entered(entering)
        self._shelf.keep(policies)
        members: dict[str, object] = {
            "run": entering.run,
            "agent": entering.agent,
            "user": entering.user,
            "host": entering.host,
            "policy_digest": policies.digest,
            "authority_digest": authority_digest,
            "cwd": entering.cwd,
            "outcomes": "reported",
            "own": True,
        }
        self.begin(members)
        return policies.remarks

    def keeps(self, live: LiveRun, entering: Entering) -> bool:
        """Whether a run goes on by the policies that it has, which are its own."""
        return not entering.apply_changes and live.policies is not self._shelf.settings

    def _renew(self, live: LiveRun, entering: Entering) -> tuple[str, ...]:
        before = live.policies
        now = self._shelf.renewed(before, entering)
        if now.digest == before.digest:
            return ()
        self._change(entering.run, now, "changed")
        return tuple(each for each in now.remarks if each not in before.remarks)

    def extend(self, run: str, policies: Sequence[str], brought: Sequence[Brought] = ()) -> bool:
        """Policies join those of a run; whether one is new."""
        joined = self._shelf.joined(self.live(run).policies, policies, brought)
        if joined is None:
            return False
        self._change(run, joined, "joined")
        return True

    def _change(self, run: str, policies: LayeredPolicies, why: str) -> None:
        """From now on a run goes by other policies, and is judged by them from its beginning."""
        self._shelf.keep(policies)
        self._log.append("run_policy", {"run": run, "policy_digest": policies.digest, "why": why})

    def changes(self, run: str) -> tuple[str, ...]:
        """The policy files that differ from what a run goes by, noted where that is news."""
        live = self.live(run)
        found = differing(live.policies)
        for path, now in found.items():
            if (path, now) not in live.changed:
                members = {"run": run, "path": path, "digest": now}
                live.take_in(self._log.append("policy_change", members), {"kind": "policy_change", **members}, None)
        return tuple(found)

    # --- what happens ---------------------------------------------------------------------------------------------

    def ended(self, run: str, ended: Ended) -> tuple[Broken, ...]:
        """How a call ended; one that was made without a pass becomes part of the run."""
        live = self.live(run)
        action = _action(ended)
        known = None if action is None else digest(action)
        key = live.call_of(ended.call, known)
        found: tuple[Broken, ...] = ()
        if key is not None:
            call = {**live.open, **live.late}[key]
            if ended.input is None or call.entry["action_digest"] == known:
                return self._outcome(live, run, call.seq, ended)
            if key in live.open:  # what was made is another call than the one that passed
                found = self._write(live, "outcome", _never_made(run, call.seq), {})
        if not ended.executed or _is_over(live, ended, known):
            return found
        return (*found, *self._unasked(live, run, ended, action))

    def _outcome(self, live: LiveRun, run: str, seq: int, ended: Ended) -> tuple[Broken, ...]:
        members: dict[str, Any] = {"run": run, "decision": seq, "status": ended.status, "output": None}
        members |= {} if ended.executed else {"executed": False}
        members |= {} if ended.exit_code is None else {"exit_code": ended.exit_code}
        members |= {} if ended.cwd is None else {"cwd": ended.cwd}
        plain = {} if ended.output is None else {"/output": canonical(ended.output)}
        return self._write(live, "outcome", members, plain)

    def _unasked(
        self, live: LiveRun, run: str, ended: Ended, action: Mapping[str, object] | None
    ) -> tuple[Broken, ...]:
        members = {
            "run": run,
            "agent": ended.agent or live.agent,
            "call": ended.call,
            "session": ended.session,
            "action_digest": None if action is None else digest(action),
            "status": ended.status,
            "exit_code": ended.exit_code,
            "cwd": ended.cwd,
            "made": None,
        }
        made = {
            "action": action,
            "who": {"session": ended.session, "parent": ended.parent, "directory": ended.directory},
            "output": None if ended.output is None else canonical(ended.output),
        }
        return self._write(live, "unasked", members, {"/made": made})

    def outcome(self, run: str, call: int | str, status: Status, output: str | None) -> None:
        """How a call ended that had passed: by the number of its decision, or by the host's id.

        Raises:
            ValueError: no such call passed in the run, or its outcome is known.
        """
        live = self._following.run(run)
        waiting = {} if live is None else live.open
        named = f"the {'number' if isinstance(call, int) else 'id'} {call}"
        seq = next((each.seq for each in waiting.values() if call in (each.seq, each.entry.get("call"))), None)
        if live is None or seq is None:
            raise ValueError(f"no call of the run {run} with {named} waits for its outcome")
        members = {"run": run, "decision": seq, "status": status, "output": None}
        self._write(live, "outcome", members, {} if output is None else {"/output": canonical(output)})

    def withdraw(self, run: str, seq: int) -> None:
        """A call that passed was not made after all; one that is over stays as it was."""
        live = self.live(run)
        if any(each.seq == seq for each in live.open.values()):
            self._write(live, "outcome", _never_made(run, seq), {})

    def say(self, run: str, message: Message) -> tuple[Broken, ...]:
        """The user or the agent said something."""
        members = {
            "run": run,
            "role": message.role,
            "session": message.session,
            "parent": message.parent,
            "text": None,
        }
        return self._write(self.live(run), "message", members, {"/text": canonical(message.text)})

    def turn_ended(self, run: str, session: str) -> tuple[Obligation, ...]:
        """A turn is over, and so are its calls; gives what is owed."""
        live = self.live(run)
        self._write(live, "turn_end", {"run": run, "session": session}, {})
        return live.run.pending()

    def halt(self, run: str, why: str) -> None:
        """Every call of a run blocks; where it is halted already, the first reason stays."""
        live = self.live(run)
        if live.halted is None:
            self._write(live, "halt", {"run": run, "why": clipped(why)}, {})

    def resume(self, run: str) -> bool:
        """A run is no longer halted; gives whether it was."""
        live = self.live(run)
        was_halted = live.halted is not None
        if was_halted:
            self._write(live, "resume", {"run": run}, {})
        return was_halted

    def end(self, run: str) -> None:
        """A run is over, and the log is signed."""
        self.live(run)
        self._log.append("run_end", {"run": run})
        self._log.checkpoint()
        self._following.over(run)

    def _write(
        self, live: LiveRun, kind: str, members: Mapping[str, Any], plain: Mapping[str, Any]
    ) -> tuple[Broken, ...]:
        """Append an entry of a run and follow it, as it is read again; gives what is newly violated."""
        seq = self._log.append(kind, members, plain)
        entry = {"kind": kind, "at": text_of(self._log.at()), **members}
        value = next((self._log.plain(seq, path) for path in plain), None)
        return live.take_in(seq, entry, value)


def _never_made(run: str, seq: int) -> dict[str, Any]:
    return {"run": run, "decision": seq, "status": "unknown", "output": None, "executed": False}


def _is_over(live: LiveRun, ended: Ended, action: str | None) -> bool:
    """Whether it is known already how the call that the host names ended."""
    made = {} if ended.call is None else live.asked.get(ended.call, {})
    return any(made.values()) if ended.input is None else made.get(action or "") is not None


def _action(ended: Ended) -> dict[str, Any] | None:
    """The call that was made, None where nobody can say what it was."""
    if ended.input is None:
        return None
    action = {"tool": ended.tool, "input": dict(ended.input)}
    try:
        digest(action)
    except NotCanonical:
        return None
    return action

"""Whatever happens, a process that starts answers as one that lived on, and the log of both is in order."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gate_support import World
from hypothesis import given, settings
from hypothesis import strategies as st

from vigil_lang.gate.authority.grants import grant_condition
from vigil_lang.gate.layers import table_of
from vigil_lang.gate.log.derivation import Derivation
from vigil_lang.gate.log.reading import LogCopy
from vigil_lang.gate.log.replaying import replay
from vigil_lang.gate.log.verifying import verify
from vigil_lang.gate.recorded_runs import RecordedRuns
from vigil_lang.gate.request import request_of

RUNS = st.sampled_from(["r1", "r2"])
CALLS = st.sampled_from(
    [
        ("get_invoice", {"invoice": "i1"}),
        ("pay_invoice", {"invoice": "i1", "amount": 100}),
        ("pay_invoice", {"invoice": "i2", "amount": 100}),
        ("pay", {"amount": 700, "to": "a"}),
        ("pay", {"amount": 70_000, "to": "a"}),
        ("pay", {"amount": "much"}),
        ("send_email", {"to": "b@example.com"}),
    ]
)
STEPS = st.lists(
    st.tuples(st.just("ask"), RUNS, CALLS)
    | st.tuples(st.sampled_from(["confirm", "deny"]), st.none(), st.none())
    | st.tuples(st.just("outcome"), st.sampled_from(["ok", "error"]), st.none())
    | st.tuples(st.just("wait"), st.sampled_from([1, 301, 4000]), st.none()),
    max_size=12,
)


class Played:
    """One state folder along the steps: what was held last, and which calls passed."""

    def __init__(self, folder: Path, *, restarts: bool) -> None:
        folder.mkdir()
        self.world = World(folder)
        self._restarts = restarts
        self._held: Any = None
        self._passed: list[tuple[str, int]] = []

    def step(self, what: str, how: Any, call: Any) -> object:
        if self._restarts:
            self.world.gate = self.world.opened()
        gate = self.world.gate
        match what:
            case "ask":
                tool, given = call
                action = {"tool": tool, "input": given}
                answer = gate.decide(request_of({"run": how, "agent": "a", "outcomes": "reported", "action": action}))
                if answer.hold is not None:
                    self._held = answer
                if answer.decision.mode == "pass" and answer.seq is not None:
                    self._passed.append((how, answer.seq))
                reasons = [(each.name, each.asks, each.lifted is None) for each in answer.decision.reasons]
                return answer.seq, answer.decision.mode, reasons
            case "outcome" if self._passed:
                run, seq = self._passed.pop()
                gate.outcome(run, seq, how, "done")
            case "wait":
                self.world.wait(how)
            case "confirm" | "deny" if self._held is not None:
                held, self._held = self._held, None
                if gate.holds.look(held.hold.id).state == "pending":
                    (self.world.confirm if what == "confirm" else self.world.deny)(held)
        return None


@settings(max_examples=20, deadline=None)
@given(STEPS)
def test_a_process_that_starts_knows_what_one_that_lived_knows(steps: list[tuple[str, Any, Any]]) -> None:
    with TemporaryDirectory() as folder:
        lived = Played(Path(folder) / "lived", restarts=False)
        started = Played(Path(folder) / "started", restarts=True)
        for step in steps:
            assert lived.step(*step) == started.step(*step)
        assert lived.world.kinds() == started.world.kinds()
        for each in (lived, started):
            log = LogCopy(each.world.state)
            derivation = Derivation(log.folder / "policies", table_of, grant_condition)
            assert not verify(log, derivation=derivation).problems
            runs = replay(log, derivation, RecordedRuns(log.folder / "policies").follow)
            assert [(run.differing, run.not_followed, run.not_derived) for run in runs] == [([], 0, 0)] * len(runs)

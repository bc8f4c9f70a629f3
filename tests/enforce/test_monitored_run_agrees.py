"""Whatever happens in whatever order, a run that is followed has the events that its recording is read as."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from vigil_lang.abstraction.run import Abstraction
from vigil_lang.api import parse_policy, verify
from vigil_lang.enforce.run import PolicyMonitor
from vigil_lang.trace import Run
from vigil_lang.trace.record import Call, Message, Result, Start

if TYPE_CHECKING:
    from vigil_lang.trace.record import Record

COMMANDS = (
    "cd sub",
    "cd /tmp",
    "rm x",
    "echo 'rm y' > x.sh",
    "bash x.sh",
    "cat x.sh",
    "A=b; rm $A",
    "git push",
    "pytest",
)
POLICY = parse_policy(
    """
    statement tested: prec(git.push(), test.run(status = ok))
    statement tidy: resp(file.write(path = x), file.delete(path = x))
    statement few: atmost[2](file.delete())
    statement calm: until(file.delete(path = x), user.message(), file.write(path = x))
    """
)
MONITOR = PolicyMonitor([POLICY])
START = Run("r", cwd="/home/ann/shop")
acts = st.one_of(
    st.tuples(st.just("propose"), st.sampled_from(COMMANDS)),
    st.tuples(st.just("begin"), st.sampled_from(COMMANDS)),
    st.tuples(st.just("refuse"), st.sampled_from(COMMANDS)),
    st.tuples(st.just("end"), st.sampled_from(("ok", "error", "unknown", "not executed"))),
    st.tuples(st.just("say"), st.sampled_from(("user", "agent"))),
)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(acts, st.integers(0, 5)), max_size=12))
def test_a_followed_run_is_the_recording_of_it(script: list[tuple[tuple[str, str], int]]) -> None:
    run = MONITOR.run(START)
    records: list[Record] = [Start(START)]
    waiting: list[str] = []
    for at, ((act, what), which) in enumerate(script):
        call = Call(f"c{at}", "Bash", {"command": what})
        match act:
            case "propose":
                before = run.trace
                run.propose(call)
                assert run.trace == before
            case "begin":
                proposed = run.propose(call).events
                run.begin(call)
                assert run.trace.events[-len(proposed) :] == proposed
                records.append(call)
                waiting.append(call.key)
            case "refuse":
                run.refuse(call)
                records += [call, Result(call.key, executed=False)]
            case "end" if waiting:
                key = waiting.pop(which % len(waiting))
                result = (
                    Result(key, "unknown", executed=False) if what == "not executed" else Result(key, what, "shown")
                )
                run.end(result)
                records.append(result)
            case "say":
                message = Message("user" if what == "user" else "agent", "go on")
                run.say(message)
                records.append(message)
    recording = Abstraction()
    for record in records:
        recording.add(record)
    assert run.trace.events == tuple(recording.rest())
    restored = MONITOR.restore(run.snapshot())
    assert (restored.trace, restored.broken, restored.pending()) == (run.trace, run.broken, run.pending())
    outcome = run.close()
    verdict = verify(POLICY, outcome.trace, allow_empty=True)
    found = [(each.statement.name, each.offence) for each in outcome.broken]
    assert found == [(statement.name, offence) for statement, offence in verdict.offences()]
    certain = {(broken.statement.name, broken.offence.event) for broken in run.broken}
    assert certain <= {(name, offence.event) for name, offence in found}
    # What was worded on the way, without the run, says what the verdict says.
    in_the_end = {(name, offence.event): offence for name, offence in found}
    all_executed = all(record.executed for record in records if isinstance(record, Result))
    for broken in run.broken:
        offence = in_the_end[broken.statement.name, broken.offence.event]
        assert broken.offence.call == offence.call
        assert not all_executed or broken.offence.index == offence.index
        if broken.offence.bindings == offence.bindings and broken.offence.forbidden == offence.forbidden:
            assert (broken.offence.message, broken.offence.why) == (offence.message, offence.why)
        assert broken.offence.forbidden == offence.forbidden[: len(broken.offence.forbidden)]
    assert outcome.vacuous == tuple(each.name for each in verdict.statements if each.vacuous)

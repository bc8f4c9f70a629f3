"""On any policy and any calls the outcome of a guarded run is the verdict of `verify` on the run that was made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

import vigil_lang as vigil
from tests.strategies.policies import policies, policy_of
from tests.strategies.runs import runs

if TYPE_CHECKING:
    from vigil_lang.enforce.run import RunOutcome

Found = list[tuple[str, str, dict[str, str | None], str]]
HOWS = st.sampled_from(("plain", "generator", "nested"))


def in_outcome(outcome: RunOutcome) -> Found:
    return [
        (each.statement.name, each.offence.event, each.offence.bindings, each.offence.message)
        for each in outcome.broken
    ]


def in_verdict(policy: vigil.Policy, trace: vigil.Trace) -> Found:
    verdict = vigil.verify(policy, trace, allow_empty=True)
    return [(s.name, o.event, o.bindings, o.message) for s, o in verdict.offences()]


def tool_of(guard: vigil.Guard, line: dict[str, Any], how: str, inner: Any) -> Any:
    """A tool that does what a line of a trace says of an event."""

    def ended() -> object:
        inner()
        if line.get("status") == "error":
            raise LookupError(line.get("output"))
        if line.get("status") == "unknown":
            raise GeneratorExit
        return line.get("output")

    def streamed() -> Any:
        yield "begun"
        yield ended()

    tool = streamed if how == "generator" else ended
    return guard.wrap(tool, name=line["action"], arguments=lambda _: line.get("args", {}))


@settings(deadline=None, max_examples=50)
@given(policies(), runs(), st.lists(HOWS, min_size=6, max_size=6))
def test_the_outcome_is_the_verdict_on_what_was_made(text: str, lines: list[dict[str, Any]], hows: list[str]) -> None:
    policy = policy_of(text)
    guard = vigil.guard(policy, warn=lambda _: None)
    blocked: list[vigil.Blocked] = []
    seen: set[int] = set()

    def made(at: int) -> None:
        """Make a call, and within a nested one the next."""
        if at >= len(lines) or at in seen:
            return
        seen.add(at)
        how = hows[at % len(hows)]
        tool = tool_of(guard, lines[at], how, (lambda: made(at + 1)) if how == "nested" else (lambda: None))
        try:
            found = tool()
            if how == "generator":
                list(found)
        except vigil.Blocked as error:
            blocked.append(error)
        except (LookupError, GeneratorExit, RuntimeError):
            pass

    with guard:
        for at in range(len(lines)):
            made(at)
        trace = guard.trace()
    assert guard.outcome is not None
    assert guard.outcome.trace == trace
    assert not guard.outcome.unjudged
    assert in_outcome(guard.outcome) == in_verdict(policy, trace)
    assert all(error.kind == "statement" and error.broken for error in blocked)
    assert len(seen) - len(blocked) == len({event.call for event in trace.events})


@settings(deadline=None, max_examples=50)
@given(policies(), runs(), st.integers(0, 6))
def test_a_restored_run_goes_on_as_if_it_had_never_been_stored(
    text: str, lines: list[dict[str, Any]], cut: int
) -> None:
    monitor = vigil.Monitor(policy_of(text))
    run = other = monitor.run()
    for at, line in enumerate(lines):
        call = vigil.Call(line["action"], line.get("args") or {}, status=line.get("status", "ok"))
        assert run.propose(call) == other.propose(call)
        assert run.step(call) == other.step(call) if other is not run else run.step(call) is not None
        if at == cut:
            other = monitor.restore(run.snapshot())
    assert run.trace() == other.trace()
    assert run.pending() == other.pending()
    closed = run.close()
    assert in_outcome(closed) == in_verdict(policy_of(text), closed.trace)
    if other is not run:
        assert other.close() == closed

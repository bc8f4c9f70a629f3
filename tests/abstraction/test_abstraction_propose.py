"""A proposed call has the events that it would have if it were issued, and nothing remembers it."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.abstraction.abstraction_support import bash, error, ok
from vigil_lang.abstraction.run import Abstraction
from vigil_lang.trace import Event, Run
from vigil_lang.trace.record import Call, Result

HERE = Path(__file__).parent
WAYS = [
    line
    for name in ("seen_ways.txt", "unseen_ways.txt")
    for line in (HERE / name).read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
CHANGES = (
    "OUT=/srv/prod", "cd build", "cd ..", "rm -rf $OUT/data", "f() { rm $1; }", "f x", "echo 'rm y' > x.sh",
    "bash x.sh", "git pull", "mv x.sh y.sh", "alias ls=rm", "ls x", "export PATH=/tmp:$PATH",
    "printf 'import os' > a.py", "python3 a.py",
)  # fmt: skip
commands = st.sampled_from(CHANGES) | st.sampled_from(WAYS)
ends = st.sampled_from(("ok", "error", "refused", "pending"))


def events_of(
    steps: list[tuple[str, str]], proposals: list[list[str]], *, proposing: bool = True
) -> tuple[list[Event], list[tuple[Event, ...]]]:
    """All events of a run, and those of the proposals made before each of its calls; its calls are proposed, too."""
    abstraction = Abstraction(run=Run("r", cwd="/home/ann/shop"))
    proposed: list[tuple[Event, ...]] = []
    for at, (command, end) in enumerate(steps):
        call = bash(f"c{at}", command)
        proposed += [abstraction.propose(bash(f"p{at}", other)) for other in proposals[at : at + 1] for other in other]
        if proposing:
            proposed.append(abstraction.propose(call))
        abstraction.add(call)
        match end:
            case "ok":
                abstraction.add(ok(call.key))
            case "error":
                abstraction.add(error(call.key))
            case "refused":
                abstraction.add(Result(call.key, "error", None, executed=False))
    return list(abstraction.rest()), proposed


@settings(deadline=None)
@given(st.lists(st.tuples(commands, ends), max_size=6), st.lists(st.lists(commands, max_size=2), max_size=6))
def test_nothing_remembers_a_proposal(steps: list[tuple[str, str]], proposals: list[list[str]]) -> None:
    unproposed = events_of(steps, [], proposing=False)[0]
    assert events_of(steps, proposals)[0] == unproposed
    assert events_of(steps, proposals, proposing=False)[0] == unproposed


def test_what_happens_after_a_proposal_counts() -> None:
    abstraction = Abstraction(run=Run("r", cwd="/home/ann/shop"))
    call = bash("c1", "rm -rf out")
    abstraction.propose(call)
    abstraction.add(bash("c0", "cd build"))
    abstraction.add(ok("c0"))
    abstraction.propose(call)
    call.args["command"] = "rm -rf dist"
    abstraction.add(call)
    assert [event.args["path"] for event in abstraction.rest() if event.action == "rm"] == [
        ("/home/ann/shop/build/dist",)
    ]


@settings(deadline=None)
@given(st.lists(st.tuples(commands, ends), max_size=5), commands)
def test_a_proposal_has_the_events_of_the_call(steps: list[tuple[str, str]], command: str) -> None:
    found, proposed = events_of([*steps, (command, "pending")], [])
    last = [event for event in found if event.call == f"c{len(steps)}"]
    assert list(proposed[-1]) == last


def test_the_calls_of_a_session_begin_where_it_starts() -> None:
    abstraction = Abstraction(run=Run("r", cwd="/home/ann/shop"))
    (_, step, *_) = abstraction.propose(Call("c1", "Bash", {"command": "rm -rf build"}))
    assert step.args["path"] == ("/home/ann/shop/build",)
    assert list(abstraction.rest()) == []

"""`vigil runs`, `vigil why` and `vigil rollback`: what people see of runs at enforcement points."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import called

from vigil_lang.gate.entering import Ended, Entering
from vigil_lang.points.checkpoints.changing import LOOKS
from vigil_lang.points.checkpoints.history import History
from vigil_lang.points.session import Session
from vigil_lang.semantics.policy import load_policy
from vigil_lang.trace.record import Message

if TYPE_CHECKING:
    from gate_support import World

POLICY = """
policy tests

/// Tests run before anything is pushed.
statement tested: prec(git.push(), test.run())

/// What is built is tested.
statement built: resp(code.build(), test.run())
"""


class Play:
    """A run at an enforcement point, told call by call."""

    def __init__(self, world: World, run: str = "r 1", **more: Any) -> None:
        policy = world.folder / "tests.vgl"
        policy.write_text(POLICY, encoding="utf-8")
        self.world, self.run = world, run
        entering = Entering(run, "claude", "claude", str(world.workspace), (str(policy),))
        self.session = Session(world.gate, entering, **more)

    def shell(self, command: str, call: str, status: str | None = "ok") -> str:
        answer = self.session.before("Bash", {"command": command}, call=call)
        if answer.decision.mode == "pass" and status is not None:
            self.session.after(Ended("Bash", {"command": command}, status, call=call))  # type: ignore[arg-type]
        self.world.wait(1)
        return answer.decision.mode

    def told(self, *words: str) -> str:
        result = called(*words, "--state", self.world.state)
        assert (result.status, result.err) == (0, "")
        return result.out

    def seen(self) -> dict[str, Any]:
        found = json.loads(self.told("runs", self.run, "--format", "json"))
        assert found["schema"] == "vigil.runs/1"
        (run,) = found["runs"]
        return run  # type: ignore[no-any-return]


@pytest.fixture
def play(world: World) -> Play:
    return Play(world)


def test_no_run(world: World) -> None:
    result = called("runs", "--state", world.state)
    assert (result.status, result.out) == (0, "No run was seen yet\n")


def test_a_run_that_holds(play: Play) -> None:
    play.shell("pytest -q", "t1")
    play.shell("git push origin main", "t2")
    found = play.seen()
    assert (found["state"], found["verdict"], found["passed"], found["owed"]) == ("live", "satisfied", 2, [])
    out = play.told("runs")
    assert out.startswith("1 live, 0 ended\n\nlive    r 1  claude")
    assert "satisfied so far  2 passed\n" in out


def test_what_is_owed_and_broken(play: Play) -> None:
    play.shell("gcc -o a a.c", "t1")
    assert play.shell("git push origin main", "t2") == "block"
    found = play.seen()
    assert (found["verdict"], found["blocked"]) == ("owes", 1)
    assert [each["name"] for each in found["owed"]] == ["built"]
    play.session.close()
    found = play.seen()
    assert (found["state"], found["verdict"]) == ("ended", "violated")
    assert [each["name"] for each in found["violated"]] == ["built"]
    assert "built: " in play.told("runs")


def test_every_call_of_a_run_with_what_became_of_it(play: Play) -> None:
    play.session.said(Message("user", "push\x1b[31m it"))
    play.shell("git push origin main", "t1")
    play.shell("pytest -q", "t2", "error")
    play.shell("ls", "t3", None)
    play.session.after(Ended("Bash", {"command": "whoami"}, "ok", call="t4"))
    play.world.gate.halt("r 1", "stop it")
    lines = play.told("runs", "r 1").splitlines()
    shown = [line.split(None, 2)[2] for line in lines if line[:6].strip().isdigit()]
    assert shown == [
        "user says  push\\x1b[31m it",
        'block  Bash(command="git push origin main")  tested',
        'pass   Bash(command="pytest -q") → error',
        'pass   Bash(command="ls") → no result yet',
        'made   Bash(command="whoami") → ok',
        "halt   stop it",
    ]
    assert lines[0].startswith("halted  r 1")
    assert lines[-2:] == ["vigil why 'r 1' ENTRY shows why.", "vigil resume 'r 1' lifts the halt."]


def test_why_a_call_was_blocked(play: Play) -> None:
    play.shell("gcc -o a a.c", "t1")
    play.shell("git push origin main", "t2")
    by_default = play.told("why", "r 1")
    assert by_default == play.told("why", "r 1", "t2")
    assert by_default.startswith("block  Bash of claude in the run r 1 is blocked\n")
    assert "The calls that led here\n\n✗ tested  Tests run before anything is pushed." in by_default
    assert '▶ e2.1  git(subcommand="push", remote="origin", revision="main")' in by_default
    assert "- tested: `test.run()`" in by_default
    found = json.loads(play.told("why", "r 1", "t2", "--format", "json"))
    assert (found["answer"]["mode"], found["tool"], found["call"]) == ("block", "Bash", "t2")
    assert [each["statement"] for each in found["near"]] == ["tested"]


def test_why_is_as_it_was_whatever_came_later(play: Play) -> None:
    play.shell("git push origin main", "t1")
    before = play.told("why", "r 1", "t1")
    play.shell("pytest -q", "t2")
    play.shell("git push origin main", "t3")
    play.world.gate.extend("r 1", ["std.secrets"])
    assert play.told("why", "r 1", "t1") == before
    assert play.told("why", "r 1", "t3").startswith("pass   Bash of claude")


def test_a_call_goes_by_its_number_its_id_and_its_events(play: Play) -> None:
    play.shell("pytest -q", "t1")
    (entry,) = [seq for seq, kind in enumerate(play.world.kinds()) if kind == "decision"]
    assert play.told("why", "r 1", "e1") == play.told("why", "r 1", "t1") == play.told("why", "r 1", str(entry))
    play.session.after(Ended("Bash", {"command": "whoami"}, "ok", call="t4"))
    assert "was made without a pass" in play.told("why", "r 1", "t4")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("why", "r 2"), "there is no run r 2"),
        (("why", "r 1"), "no call of the run r 1 was held or blocked"),
        (("why", "r 1", "e99"), "no call of the run r 1 is named e99"),
        (("runs", "r 2"), "there is no run r 2"),
        (("resume", "r 2"), "there is no run r 2"),
        (("rollback", "r 1"), "the run r 1 has no checkpoint"),
        (("rollback", "r 1", "--undo"), "the run has no rollback to undo"),
        (("rollback", "r 1", "e1", "--undo"), "--undo takes no CALL"),
    ],
)
def test_what_is_not_there(play: Play, words: tuple[str, ...], says: str) -> None:
    play.shell("ls", "t1")
    result = called(*words, "--state", play.world.state)
    assert (result.status, result.out) == (2, "")
    assert says in result.err


def test_what_was_violated_after_the_call(play: Play) -> None:
    """An outcome can break a rule that the pending call did not."""
    policy = play.world.folder / "tests.vgl"
    policy.write_text("policy tests\nstatement clean: never test.run(status = error)\n", encoding="utf-8")
    policy.write_text('policy tests\n/// No leak.\nstatement clean: abs(shell.run(output ~ "*secret*"))\n', "utf-8")
    play.session.before("Bash", {"command": "make"}, call="t1")
    broken = play.session.after(Ended("Bash", {"command": "make"}, "ok", "a secret", call="t1"))
    assert [each.name for each in broken] == ["clean"]
    out = play.told("why", "r 1", "t1")
    assert out.startswith("pass   ")
    assert "Since then it violates\n\n✗ clean  No leak." in out


def test_a_halted_run_is_resumed(play: Play) -> None:
    play.shell("ls", "t1")
    play.world.gate.halt("r 1", "stop it")
    assert play.shell("ls", "t2") == "block"
    assert play.seen()["halted"] == "stop it"
    assert "vigil resume 'r 1' lifts the halt." in play.told("runs", "r 1")
    assert play.told("resume", "r 1") == "r 1  resumed\n"
    assert play.told("resume", "r 1") == "r 1  was not halted\n"
    play.world.at = int(time.time() * 1_000_000) + 1_000_000  # that was by the machine's clock
    assert play.shell("ls", "t3") == "pass"


def test_the_way_back(play: Play) -> None:
    workspace = play.world.workspace
    history = History(play.world.state, "r 1")
    for call, name in (("t1", "a"), ("t2", "b")):
        answer = play.session.before("Write", {"file_path": str(workspace / name), "content": "1"}, call=call)
        assert answer.seq is not None
        history.take_before(answer.seq, call, workspace, "copy")
        (workspace / name).write_text("1", "utf-8")
        history.take_after(call)
    (workspace / "b").write_text("mine", "utf-8")
    shown = called("rollback", "r 1", "--dry-run", "--state", play.world.state)
    assert (shown.status, shown.out) == (
        1,
        "removed        a\nleft as it is  b  changed by others since\nnothing was changed (--dry-run)\n",
    )
    asked = called("rollback", "r 1", "--state", play.world.state)
    assert asked.status == 2
    assert "--yes does it" in asked.err
    assert (workspace / "a").exists()
    done = called("rollback", "r 1", "--yes", "--format", "json", "--state", play.world.state)
    found = json.loads(done.out)
    assert (done.status, found["left"], [each["path"] for each in found["changes"]]) == (0, ["b"], ["a"])
    assert [each.name for each in workspace.iterdir()] == ["b"]
    assert called("rollback", "r 1", "--undo", "--yes", "--state", play.world.state).status == 0
    assert sorted(each.name for each in workspace.iterdir()) == ["a", "b"]
    nothing = called("rollback", "r 1", "t2", "--state", play.world.state)
    assert (nothing.status, nothing.out.splitlines()[1]) == (0, "left as it is  b  changed by others since")


def test_only_looking_is_what_the_default_rules_take_for_it() -> None:
    from vigil_lang.base.resources import resource

    policy = load_policy(str(resource("stdlib", "gate", "default.vgl")))
    text = policy.module.source.text
    listed = text.partition("pattern only_looks = action in {")[2].partition("}")[0]
    assert {each.strip() for each in listed.split(",")} == LOOKS


def test_a_run_whose_policies_are_gone_hides_no_other(play: Play) -> None:
    play.shell("ls", "t1")
    other = Play(play.world, "r 2")
    other.shell("pytest -q", "t1")
    digest = play.seen()["policy_digest"]
    (play.world.folder / "tests.vgl").write_text("policy tests\nstatement other: abs(git.push())\n", "utf-8")
    third = Session(play.world.opened(), Entering("r 3", "claude", policies=(str(play.world.folder / "tests.vgl"),)))
    third.before("Bash", {"command": "ls"})
    (play.world.state / "policies" / f"{digest}.json").write_bytes(b"{}")
    for snapshot in (play.world.state / "runs").glob("*"):
        snapshot.unlink()
    out = play.told("runs")
    assert out.count("cannot be judged: the policies") == 2
    assert "r 3" in out
    assert play.seen()["verdict"] == "not judged"


def test_watching_shows_runs_until_it_is_ended(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    play.shell("ls", "t1")
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 2:
            raise KeyboardInterrupt
        play.shell("pytest -q", "t2")

    monkeypatch.setattr("vigil_lang.cli.runs.time.sleep", wait)
    out = play.told("runs", "--watch")
    assert waited == [1, 1]
    assert "2 passed" in out  # what happened meanwhile is shown; what is no terminal gets the last look only

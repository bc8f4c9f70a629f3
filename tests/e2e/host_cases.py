"""What is asked of every host: one function a case, played on a `Stage`, under the words of its row in the table."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.e2e.hosts import finish
from tests.e2e.models import REQUESTS
from tests.e2e.scenario import Delegate, Read, Run, Write, turn
from tests.e2e.stage import TESTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.e2e.hosts import Ran
    from tests.e2e.stage import Stage


@dataclass(frozen=True, slots=True)
class Case:
    """A case: how it is played, what it says, and which hosts cannot have it, with the reason."""

    name: str
    says: str
    play: Callable[[Stage], None]
    without: Mapping[str, str] = field(default_factory=dict)


CASES: dict[str, Case] = {}


def case(says: str, **without: str) -> Callable[[Callable[[Stage], None]], Callable[[Stage], None]]:
    """Registers a case under the function's name."""

    def registered(play: Callable[[Stage], None]) -> Callable[[Stage], None]:
        CASES[play.__name__] = Case(play.__name__, says, play, without)
        return play

    return registered


def ended(ran: Ran, stage: Stage) -> None:
    """The host ended by itself, and not because the model would not answer any more."""
    assert ran.status is not None, f"the host did not end\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
    assert stage.model.asked < REQUESTS, "the host asked for ever"


def told(stage: Stage, text: str) -> None:
    """The agent was told something."""
    assert text in stage.model.told(), stage.model.results()


# --- what is decided --------------------------------------------------------------------------------------------------


@case("an allowed call is made, and the agent hears nothing of Vigil")
def allowed(stage: Stage) -> None:
    stage.register()
    new = stage.workspace / "new.txt"
    ran = stage.play(turn(Run("echo hello > allowed.txt")), turn(Write(str(new), "new\n")), turn(Read(str(new))))
    ended(ran, stage)
    assert stage.has("allowed.txt")
    assert new.read_text(encoding="utf-8") == "new\n"
    assert stage.modes() == ["pass"] * 3
    assert "vigil" not in "\n".join(stage.model.results()).lower()


@case("a blocked call is not made; the agent is told why")
def blocked(stage: Stage) -> None:
    stage.register()
    ran = stage.play(turn(Run("rm precious.txt")), turn(Run("echo on > after.txt")))
    ended(ran, stage)
    assert stage.has("precious.txt")
    assert stage.has("after.txt")
    assert stage.modes() == ["block", "pass"]
    told(stage, "precious files stay")


@case("a held call that a person confirms while it waits is made")
def held_confirmed(stage: Stage) -> None:
    stage.register("--wait", "30")
    process = stage.begin(turn(Run("sh release.sh")))
    try:
        hold = stage.hold()
        assert not stage.has("released.txt")
        stage.approve(hold)
    finally:
        ran = finish(process)
    ended(ran, stage)
    assert stage.has("released.txt")


@case("a held call that a person denies while it waits is not made; the agent is told so")
def held_denied(stage: Stage) -> None:
    stage.register("--wait", "30")
    process = stage.begin(turn(Run("sh release.sh")))
    try:
        stage.deny(stage.hold())
    finally:
        ran = finish(process)
    ended(ran, stage)
    assert not stage.has("released.txt")
    told(stage, "denied")


@case("with nobody there, a held call is not made; the agent is told its id, and asks again once it is confirmed")
def held_then_asked_again(stage: Stage) -> None:
    stage.register()
    ran = stage.play(turn(Run("sh release.sh")))
    ended(ran, stage)
    assert not stage.has("released.txt")
    hold = stage.hold()
    told(stage, hold)
    stage.approve(hold)
    ran = stage.play(turn(Run("sh release.sh")), turn(Run("sh release.sh")), again=True)
    ended(ran, stage)
    assert (stage.workspace / "released.txt").read_text(encoding="utf-8") == "released\n", "once, not twice"


@case("a deployment after its tests passed is made")
def guard_satisfied(stage: Stage) -> None:
    stage.register()
    ran = stage.play(turn(Run(TESTS)), turn(Run("sh deploy.sh")))
    ended(ran, stage)
    assert stage.has("deployed.txt"), stage.model.results()
    assert stage.modes() == ["pass", "pass"]


@case("a deployment after its tests failed is blocked; the agent is told what would satisfy the rule")
def guard_failed(stage: Stage) -> None:
    stage.register()
    (stage.workspace / "broken").touch()
    ran = stage.play(turn(Run(TESTS)), turn(Run("sh deploy.sh")))
    ended(ran, stage)
    assert not stage.has("deployed.txt")
    told(stage, "run the tests before you deploy")


@case("a search that finds nothing is no guard, though some hosts report it as a success")
def grep_failed(stage: Stage) -> None:
    stage.register()
    ran = stage.play(turn(Run("grep -q READY notes.txt")), turn(Run("sh announce.sh")))
    ended(ran, stage)
    assert not stage.has("announced.txt")
    (stage.workspace / "notes.txt").write_text("READY\n", encoding="utf-8")
    ran = stage.play(turn(Run("grep -q READY notes.txt")), turn(Run("sh announce.sh")), again=True)
    ended(ran, stage)
    assert stage.has("announced.txt"), "a search that found something is a guard"


@case("a deployment asked for in one message with tests that fail is never made")
def beside_its_tests(stage: Stage) -> None:
    stage.register()
    (stage.workspace / "broken").touch()
    ran = stage.play(turn(Run(TESTS), Run("sh deploy.sh")))
    ended(ran, stage)
    assert not stage.has("deployed.txt")
    assert sorted(stage.modes()) == ["block", "pass"]


# --- whose run it is --------------------------------------------------------------------------------------------------


@case("what a sub-agent does is decided as the main agent's calls are, within the same run")
def sub_agent(stage: Stage) -> None:
    stage.register()
    ran = stage.play(
        turn(Run(TESTS)),
        turn(Delegate()),
        delegated=(turn(Run("rm precious.txt")), turn(Run("sh deploy.sh")), turn(Run("echo sub > sub.txt"))),
    )
    ended(ran, stage)
    assert stage.has("precious.txt")
    assert stage.has("sub.txt")
    assert stage.has("deployed.txt"), "the main agent's tests count"
    said = [entry for entry in stage.log() if entry["kind"] == "message" and entry["role"] == "user"]
    assert len(said) == 1, "what the sub-agent is asked for is not the user's word"
    assert len({entry["run"] for entry in stage.log() if "run" in entry}) == 1


@case("a run that is resumed goes on: what was done before counts, and so do the rules")
def resumed(stage: Stage) -> None:
    stage.register()
    ended(stage.play(turn(Run(TESTS))), stage)
    ran = stage.play(turn(Run("sh deploy.sh")), turn(Run("rm precious.txt")), again=True)
    ended(ran, stage)
    assert stage.has("deployed.txt"), stage.model.results()
    assert stage.has("precious.txt")
    assert len({entry["run"] for entry in stage.log() if "run" in entry}) == 1


@case("a conversation that is compacted stays the same run")
def compacted(stage: Stage) -> None:
    stage.register()
    stage.compact(turn(Run(TESTS)))
    ran = stage.play(turn(Run("sh deploy.sh")), turn(Run("rm precious.txt")), again=True)
    ended(ran, stage)
    assert stage.model.summaries > 0, "the host did not compact"
    assert stage.has("deployed.txt"), stage.model.results()
    assert stage.has("precious.txt")


# --- what goes wrong --------------------------------------------------------------------------------------------------


@case("where the program behind the hook crashes, no call is made, and the run ends")
def hook_crashes(stage: Stage) -> None:
    stage.register()
    crashing = stage.host.home / "crashing.py"
    crashing.write_text("import os\nos.kill(os.getpid(), 9)\n", encoding="utf-8")
    stage.replace(stage.client(), str(crashing))
    ran = stage.play(turn(Run("echo hello > made.txt")), turn(Write(str(stage.workspace / "two.txt"), "two\n")))
    ended(ran, stage)
    assert not stage.has("made.txt")
    assert not stage.has("two.txt")
    told(stage, "Vigil did not answer")


@case("where the interpreter is gone, no call is made, and the run ends")
def interpreter_gone(stage: Stage) -> None:
    stage.register()
    stage.replace(sys.executable, str(stage.host.home / "no" / "python"))
    ran = stage.play(turn(Run("echo hello > made.txt")))
    ended(ran, stage)
    assert not stage.has("made.txt")
    told(stage, "Vigil did not answer")


@case("where the program answers with garbage, no call is made")
def hook_babbles(stage: Stage) -> None:
    stage.register()
    babbling = stage.host.home / "babbling.py"
    babbling.write_text("print('all is well')\n", encoding="utf-8")
    stage.replace(stage.client(), str(babbling))
    ran = stage.play(turn(Run("echo hello > made.txt")))
    ended(ran, stage)
    assert not stage.has("made.txt")


@case("a daemon that is killed while a call waits lets nothing through; later calls are decided all the same")
def daemon_killed(stage: Stage) -> None:
    stage.register("--wait", "6")
    process = stage.begin(turn(Run("echo one > one.txt")), turn(Run("sh release.sh")), turn(Run("echo two > two.txt")))
    try:
        stage.hold()
        daemons = stage.daemons()
        for pid in daemons:
            os.kill(pid, signal.SIGKILL)
    finally:
        ran = finish(process)
    ended(ran, stage)
    assert daemons, "no daemon answered"
    assert not stage.has("released.txt")
    assert stage.has("one.txt")
    assert stage.has("two.txt")


@case("a state folder that cannot be read blocks every call")
def state_damaged(stage: Stage) -> None:
    stage.register()
    ended(stage.play(turn(Run("echo one > one.txt"))), stage)
    assert stage.has("one.txt")
    (stage.host.state / "gate.toml").write_text("not = [toml\n", encoding="utf-8")
    ended(stage.play(turn(Run("echo two > two.txt")), again=True), stage)
    assert not stage.has("two.txt")


# --- how the host is run ----------------------------------------------------------------------------------------------


@case("where the host asks nobody (its bypass or yolo mode), what is blocked is not made")
def bypass(stage: Stage) -> None:
    stage.register()
    ran = stage.play(turn(Run("rm precious.txt")), turn(Run("sh release.sh")), turn(Run("echo a > a.txt")), bypass=True)
    ended(ran, stage)
    assert stage.has("precious.txt")
    assert not stage.has("released.txt")
    assert stage.has("a.txt")
    assert stage.modes() == ["block", "hold", "pass"]


@case("without a person to ask (headless), a call that would be asked about is not made")
def asked_headless(stage: Stage) -> None:
    stage.register("--after-block", "ask")
    ran = stage.play(turn(Run("sh release.sh")), turn(Run("echo a > a.txt")))
    ended(ran, stage)
    assert not stage.has("released.txt")


@case("only observing (`--observe`) lets all calls be made, and records what would have been decided")
def observed(stage: Stage) -> None:
    stage.register("--observe")
    ended(stage.play(turn(Run("rm precious.txt"))), stage)
    assert not stage.has("precious.txt")
    assert stage.modes() == ["block"]


# --- what is owed -----------------------------------------------------------------------------------------------------


@case("what is owed is told when the agent is about to end; it does it, and the run ends")
def owed_and_met(stage: Stage) -> None:
    stage.register()
    page = str(stage.workspace / "page.html")
    ran = stage.play(turn(Write(page, "<p>\n")), turn(text="I am done."), turn(Run("sh links.sh")))
    ended(ran, stage)
    told(stage, "check the links of the page")
    assert stage.has("checked.txt")


@case("what is owed and never done is told a bounded number of times, and the run ends")
def owed_and_never_met(stage: Stage) -> None:
    stage.register()
    ran = stage.play(turn(Write(str(stage.workspace / "page.html"), "<p>\n")))
    ended(ran, stage)
    told(stage, "check the links of the page")
    assert stage.model.asked <= 8, stage.model.asked
    assert not stage.has("checked.txt")

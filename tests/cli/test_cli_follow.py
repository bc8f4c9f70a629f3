"""`vigil verify --follow`: a run judged while it is recorded."""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import subprocess
import sys
import time
import tracemalloc
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pytest
from cli_support import DASHCAM, REPAIRED, ROOT, VIOLATING, Vigil, Write, called
from hypothesis import HealthCheck, given, settings

from tests.strategies.runs import runs

if TYPE_CHECKING:
    from tests.strategies.runs import Line

posix = pytest.mark.skipif(os.name != "posix", reason="needs signals")
FORMS = """
statement never: abs(a(f = "M"))
statement before: prec(b(f = x), a(f = x))
statement after: resp(a(f = x), b(f = x))
statement soon: bresp[2](a(), c())
statement done: rslv(a(f = x), b(f = x))
statement closed: until(a(), b(), c())
statement few: atmost[2](a())
statement some: atleast[1](c())
statement spent: budget[7](a(), f)
"""


class Following:
    """A process that follows a run."""

    def __init__(self, *args: str | Path, stdin: IO[bytes] | int = subprocess.DEVNULL) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "vigil_lang", "verify", "--follow", *map(str, args)],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "COLUMNS": "100"},
        )

    def line(self) -> dict[str, Any]:
        """The next line as JSON; waits for it."""
        assert self.process.stdout is not None
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def end(self) -> tuple[int, str, str]:
        """The exit status and the rest of what is written."""
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out.decode(), err.decode()


@pytest.fixture
def policy(write: Write) -> Path:
    return write("rules.vgl", FORMS)


def ends(out: str) -> dict[str, Any]:
    """The last line: what the run came to."""
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    assert (found["schema"], found["kind"]) == ("vigil.follow/1", "end")
    return found


def told(out: str) -> set[tuple[str, str]]:
    """The statement and the event of each violation."""
    lines = [json.loads(line) for line in out.splitlines()]
    found = [(line["name"], line["event"]) for line in lines if line["kind"] == "violation"]
    assert len(set(found)) == len(found)
    return set(found)


def blocks() -> list[tuple[str, str]]:
    """The commands of docs/follow.md and what they print."""
    page = (ROOT / "docs/follow.md").read_text(encoding="utf-8")
    return [
        (first, rest) for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL)
        for first, _, rest in (block.partition("\n"),)
    ]  # fmt: skip


@pytest.mark.parametrize(("command", "screen"), blocks())
def test_the_page_shows_what_the_command_prints(vigil: Vigil, command: str, screen: str) -> None:
    called, _, file = command.removeprefix("$ vigil ").partition(" < ")
    assert vigil(*called.split(), stdin=(ROOT / file).read_bytes()).out == screen


@pytest.mark.parametrize("run", [VIOLATING, REPAIRED])
def test_a_pipe_is_judged_as_its_file(vigil: Vigil, run: str) -> None:
    whole = vigil("verify", DASHCAM, run, "--format", "concise")
    found = vigil("verify", "--follow", DASHCAM, "-", "--format", "concise", stdin=Path(run).read_bytes())
    # What is followed has no lines: a pipe cannot be read again.
    out = re.sub(r"(?m)^([^:]+):[0-9]+:", r"\1:", whole.out)
    assert (found.status, found.out.replace("<stdin>", run), found.err) == (whole.status, out, whole.err)


@pytest.mark.parametrize(
    ("policy", "run"),
    [
        (DASHCAM, VIOLATING),
        ("examples/skills/secure-archive/secure-archive.vgl", "examples/skills/secure-archive/violating.jsonl"),
        ("examples/skills/agents-md/agents-md.vgl", "examples/skills/agents-md/violating.jsonl"),
    ],
)
def test_a_file_has_the_lines_of_verify(vigil: Vigil, policy: str, run: str) -> None:
    whole = vigil("verify", policy, run, "--format", "concise").out
    assert f"{run}:" in whole
    followed = vigil("verify", "--follow", policy, run, "--idle-timeout", "0.1", "--format", "concise").out
    assert sorted(followed.splitlines()) == sorted(whole.splitlines())
    replayed = vigil("replay", policy, run, "--format", "concise").out
    first = [line.split(": ")[0] for line in whole.splitlines()]
    violated = [line.split(": ")[0] for line in replayed.splitlines() if ": violated " in line]
    assert violated
    assert set(violated) <= set(first)


def test_each_run_of_a_file_has_lines_of_its_own(vigil: Vigil, write: Write) -> None:
    head = '{"vigil_trace":1,"run":"%s"}\n'
    event = '{"event":"e1","action":"rm"}\n'
    run = write("runs.jsonl", head % "a" + '{"action":"ls"}\n' + head % "b" + event + head % "c" + "\n" + event)
    policy = write("p.vgl", "statement no_rm: resp(rm(), undo())\n")
    whole = vigil("verify", policy, run, "--format", "concise").out
    found = vigil("verify", "--follow", policy, run, "--idle-timeout", "0.1", "--format", "concise").out
    assert found == whole
    assert re.findall(r"runs\.jsonl:([0-9]+:#.):", found) == ["4:#b", "7:#c"]


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(runs(max_size=8))
def test_what_was_followed_has_the_verdicts_of_verify(policy: Path, lines: list[Line]) -> None:
    # spec RC.6-2
    content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    args = (str(policy), "-", "--format", "json", "--allow-empty")
    whole = called("verify", *args, stdin=content)
    found = called("verify", "--follow", *args, stdin=content)
    if "comes out of order" in found.err:
        assert found.status == 2  # an event of a call long past: a bound in calls was taken for passed
        return
    assert found.status == whole.status
    statements = json.loads(whole.out)["statements"]
    assert told(found.out) == {(s["name"], o["event"]) for s in statements for o in s["offending"]}
    verdict = ends(found.out)
    assert verdict["verdict"] == json.loads(whole.out)["verdict"]
    assert verdict["calls"] == json.loads(whole.out)["trace"]["calls"]
    of = [(s["name"], s["verdict"], s["vacuous"], len(s["offending"])) for s in statements]
    assert [(s["name"], s["verdict"], s["vacuous"], s["violations"]) for s in verdict["statements"]] == of


def test_a_file_is_followed_while_it_grows(policy: Path, tmp_path: Path) -> None:
    run = tmp_path / "run.jsonl"
    run.write_bytes(b'{"action":"c"}\n{"action":"a","ar')
    following = Following(policy, run, "--format", "json", "--idle-timeout", "3")
    time.sleep(0.3)
    with run.open("ab") as more:
        more.write(b'gs":{"f":"M"}}\n')
    first = following.line()
    assert (first["kind"], first["name"], first["event"], first["index"]) == ("violation", "never", "e2", 1)
    assert first["message"] == '`a(f = "M")` must not happen'
    with run.open("ab") as more:
        more.write(b'{"action":"b","args":{"f":"M"}}')
    status, out, err = following.end()
    assert (status, err) == (1, "")
    assert ends(out)["events"] == 3  # the last line counts although nothing ends it


@pytest.mark.processes
@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_tells_what_is_owed(number: signal.Signals, policy: Path, tmp_path: Path) -> None:
    # spec RC.6-1
    run = tmp_path / "run.jsonl"
    run.write_bytes(b'{"action":"a","args":{"f":"M"}}\n')
    following = Following(policy, run, "--format", "json")
    assert following.line()["name"] == "never"
    assert following.line()["name"] == "spent"
    following.process.send_signal(number)
    status, out, err = following.end()
    assert (status, err) == (1, "")
    owed = [line for line in map(json.loads, out.splitlines()) if line["kind"] == "owed"]
    assert {line["name"] for line in owed} == {"after", "soon", "done", "some"}
    assert owed[0] == {
        "schema": "vigil.follow/1",
        "kind": "owed",
        "path": str(run),
        "policy": str(policy),
        "name": "after",
        "severity": "error",
        "event": "e1",
        "index": 0,
        "bindings": {"x": "M"},
        "message": "`b(f = x)` with `x` = `M` is owed, before the run ends",
    }
    verdict = ends(out)
    assert (verdict["interrupted"], verdict["verdict"]) == (True, "unsafe")
    assert {s["name"]: s["verdict"] for s in verdict["statements"]}["after"] == "pending"


def test_lines_at_fault_are_told_with_their_place(vigil: Vigil, policy: Path) -> None:
    for content, message in (
        (b'{"action":"c"}\n{"action":7}\n', "<stdin>:2:2: VGL601 `action` must be a string, not `7`"),
        (b'{"action":"c"}\nno\n', "<stdin>:2:"),
        (b'{"action":"c"}\n{"action":"\xff"}\n', "<stdin>:2:"),
        (b'{"action":"c"}\n{"action":"c"', "<stdin>:2:"),
        (b'{"event":"x","action":"c"}\n{"event":"x","action":"c"}\n', "VGL602"),
        (b'\xff\xfe{\0"\0\n', "VGL002"),
        (b'{"unknown":1}\n', "VGL603 the format of the run is not recognised"),
    ):
        found = vigil("verify", "--follow", policy, "-", "--format", "concise", stdin=content)
        assert (found.status, found.out) == (2, "")
        assert message in found.err
        assert found.err == vigil("verify", policy, "-", "--format", "concise", stdin=content).err


@posix
@pytest.mark.parametrize("what", ["truncated", "removed"])
def test_a_file_that_is_taken_away_ends_with_an_error(what: str, policy: Path, tmp_path: Path) -> None:
    run = tmp_path / "run.jsonl"
    run.write_bytes(b'{"action":"a","args":{"f":"M"}}\n')
    following = Following(policy, run, "--format", "concise")
    assert following.process.stdout is not None
    assert following.process.stdout.readline().startswith(str(run).encode())
    if what == "removed":
        run.unlink()
    else:
        run.write_bytes(b"")
    status, _, err = following.end()
    assert status == 2
    assert f"VGL001 `{run}` was {what} while it was followed" in err


def test_a_run_without_events_is_refused(vigil: Vigil, policy: Path) -> None:
    found = vigil("verify", "--follow", policy, "-", "--format", "concise", stdin=b"")
    assert (found.status, found.out) == (2, "")
    assert "VGL605 the run holds no events" in found.err
    assert vigil("verify", "--follow", policy, "-", "--allow-empty", stdin=b"").status == 0


def test_several_runs_in_one_recording_are_told_apart(vigil: Vigil, policy: Path) -> None:
    content = b'{"vigil_trace":1}\n{"action":"a"}\n{"action":"c"}\n{"vigil_trace":1,"run":"two"}\n{"action":"c"}\n'
    found = vigil("verify", "--follow", policy, "-", "--format", "json", stdin=content)
    lines = [json.loads(line) for line in found.out.splitlines()]
    assert [line["path"] for line in lines if line["kind"] == "end"] == ["<stdin>", "<stdin>#two"]


def test_a_certificate_is_given_with_what_nearly_met_it(vigil: Vigil, policy: Path) -> None:
    content = b'{"action":"a","args":{"f":"N"}}\n{"action":"b","args":{"f":"M"}}\n{"action":"c"}\n'
    args = ("--follow", policy, "-", "--statement", "before", "--format", "json", "--certify")
    found = vigil("verify", *args, "violations", stdin=content)
    violation, end = map(json.loads, found.out.splitlines())
    assert (violation["solver"]["result"], violation["solver"]["core"]) == ("unsat", ["before@e2"])
    assert "solver" not in end["statements"][0]
    found = vigil("verify", *args, "all", stdin=content.splitlines(keepends=True)[0])
    assert ends(found.out)["statements"][0]["solver"]["result"] == "sat"


def test_the_verdict_is_shown_to_people(vigil: Vigil, policy: Path) -> None:
    content = b'{"action":"a","args":{"f":"M"}}\n{"action":"b","args":{"f":"M"}}\n'
    names = ("--statement", "never", "--statement", "after", "--statement", "some")
    found = vigil("verify", "--follow", policy, "-", *names, stdin=content)
    assert found.out == (
        '✗ e1  never  `a(f = "M")` must not happen\n'
        "✗ e2  some  the run ended with fewer than 1 call that met `c()`\n"
        "\n"
        "unsafe  <stdin> · 2 events\n"
        "  never  violated by 1 event\n"
        "  after  satisfied\n"
        "  some   violated by 1 event\n"
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--idle-timeout", "1", REPAIRED), "--idle-timeout needs --follow."),
        (("--certify", "all", REPAIRED), "--certify needs --follow."),
        (("--follow", REPAIRED, VIOLATING), "--follow takes one run, not 2."),
        (("--follow", REPAIRED, "-o", "x"), "--follow writes to standard output"),
        (("--follow", REPAIRED, "--format", "sarif"), "--follow writes human, concise, json, json-lines, not sarif"),
    ],
)
def test_options_that_make_no_sense_together(vigil: Vigil, args: tuple[str, ...], message: str) -> None:
    found = vigil("verify", DASHCAM, *args)
    assert found.status == 2
    assert message in found.err


def test_strictness_counts(vigil: Vigil, write: Write) -> None:
    rules = write("rules.vgl", "statement S: prec(nothing(), other())")
    content = b'{"action":"a"}\n'
    assert vigil("verify", "--follow", rules, "-", stdin=content).status == 0
    found = vigil("verify", "--follow", rules, "-", "--fail-on-vacuous", stdin=content)
    assert (found.status, "VGL616" in found.err) == (1, True)
    said = b'{"action":"user.message","args":{"text":"hi"}}\n'
    assert vigil("verify", "--follow", rules, "-", "--strict", stdin=said).status == 1
    unseen = b'{"action":"a","args":{"unresolved":["effects"]}}\n'
    assert vigil("verify", "--follow", rules, "-", "--strict", stdin=unseen).status == 1


@pytest.mark.unmeasured
def test_the_length_of_a_run_does_not_fill_the_memory(
    vigil: Vigil, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vigil_lang.cli import follow
    from vigil_lang.engines.monitor import monitor
    from vigil_lang.ingest import canonical

    for module, name in ((canonical, "RECENT_IDS"), (follow, "_RECENT_CALLS"), (monitor, "IDS"), (monitor, "CALLS")):
        assert hasattr(module, name)
        monkeypatch.setattr(module, name, 500)
    taken: list[int] = []

    class Endless(BytesIO):
        """Lines that are made when they are read."""

        def read(self, size: int | None = -1) -> bytes:  # noqa: ARG002 - as it is called
            gc.collect()
            taken.append(tracemalloc.get_traced_memory()[0])
            lines = (b'{"action":"%c","args":{"f":"M"},"output":"%d"}\n' % (b"ab"[n % 2], n % 7) for n in range(2_000))
            return b"".join(lines) if len(taken) <= 10 else b""

    monkeypatch.setattr("vigil_lang.ingest.load.standard_input", Endless)
    rules = write("rules.vgl", 'statement S: prec(b(f = x), a(f = x))\n\nstatement T: abs(a(f = "N"))')
    tracemalloc.start()
    try:
        found = vigil("verify", "--follow", rules, "-", "--format", "json")
    finally:
        tracemalloc.stop()
    assert ends(found.out)["events"] == 20_000
    assert taken[-1] - taken[2] < 100_000

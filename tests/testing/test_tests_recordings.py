"""The recordings that tests name: which file, and which run of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from vigil_lang.testing.read import Suite, read_tests

if TYPE_CHECKING:
    from pathlib import Path

GOOD = '{"action":"good"}'
BAD = '{"action":"bad"}'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a policy that forbids `bad`."""
    (tmp_path / "vigil.toml").write_text("", encoding="utf-8")
    (tmp_path / "p.vgl").write_text("statement A: abs(bad())\n", encoding="utf-8")
    return tmp_path


def record(place: Path, *runs: tuple[str, str]) -> None:
    """A recording of runs, each with a name and an event."""
    lines = [f'{{"vigil_trace":1,"run":"{name}"}}\n{event}\n' for name, event in runs]
    place.write_text("".join(lines), encoding="utf-8")


def naming(project: Path, name: str) -> Suite:
    """A test of the run of a name."""
    (project / "p_test.vgl").write_text(f'test "t" {{ run "{name}" expect A satisfied }}\n', encoding="utf-8")
    return read_tests(str(project / "p_test.vgl"))


def ran(project: Path, name: str) -> str:
    """The action of the run's one event."""
    found = naming(project, name)
    assert not found.findings, found.findings
    return found.cases[0].trace.events[0].action


def said(project: Path, name: str) -> tuple[str, str | None]:
    """What is wrong with a test of such a run, and what helps."""
    found = naming(project, name)
    assert found.cases == ()
    (finding,) = found.findings
    assert finding.code == "VGL610"
    return finding.message, finding.help


def test_one_run_of_several(project: Path) -> None:
    # spec RD.2-1
    record(project / "runs.jsonl", ("monday", GOOD), ("tuesday", BAD))
    assert [ran(project, f"runs.jsonl#{name}") for name in ("monday", "tuesday")] == ["good", "bad"]
    advice = 'name one of them: `run "runs.jsonl#monday"`'
    assert said(project, "runs.jsonl") == ("`runs.jsonl` holds 2 runs", advice)
    near = "did you mean `runs.jsonl#monday`?"
    assert said(project, "runs.jsonl#monda") == ("the recording has no run `monda`", near)
    assert said(project, "runs.jsonl#") == ("the recording has no run ``", "did you mean `runs.jsonl#monday`?")


def test_the_only_run_goes_by_its_name_too(project: Path) -> None:
    record(project / "one.jsonl", ("monday", GOOD))
    assert ran(project, "one.jsonl") == ran(project, "one.jsonl#monday") == "good"
    assert said(project, "one.jsonl#friday")[0] == "the recording has no run `friday`"


def test_a_run_without_a_name_has_its_number(project: Path) -> None:
    start = '{"vigil_trace":1}'
    (project / "two.jsonl").write_text(f"{start}\n{GOOD}\n{start}\n{BAD}\n", encoding="utf-8")
    assert [ran(project, f"two.jsonl#{number}") for number in (1, 2)] == ["good", "bad"]


def test_a_name_of_several_runs_is_refused(project: Path) -> None:
    record(project / "two.jsonl", ("monday", GOOD), ("tuesday", BAD), ("tuesday", GOOD))
    assert said(project, "two.jsonl#tuesday") == ("the recording has 2 runs `tuesday`", "each run needs its own name")
    assert ran(project, "two.jsonl#monday") == "good"


def test_names_may_hold_the_mark_between_them(project: Path) -> None:
    record(project / "hash.jsonl", ("a#b", GOOD), ("b", BAD))
    record(project / "x#y.jsonl", ("a#b", GOOD), ("b", BAD))
    for file in ("hash.jsonl", "x#y.jsonl"):
        assert [ran(project, f"{file}#{name}") for name in ("a#b", "b")] == ["good", "bad"]
    record(project / "x#y.jsonl", ("a", GOOD))
    assert ran(project, "x#y.jsonl") == "good"
    long = "n" * 300
    record(project / "long.jsonl", (long, GOOD), ("b", BAD))
    assert ran(project, f"long.jsonl#{long}") == "good"


@pytest.mark.parametrize("text", ["", '{"vigil_trace":1,"run":"monday"}\n'])
def test_a_recording_without_events_is_no_run_to_test_by(project: Path, text: str) -> None:
    # spec RD.2-1
    (project / "empty.jsonl").write_text(text, encoding="utf-8")
    assert said(project, "empty.jsonl") == ("`empty.jsonl` holds no events", "a run without events is `run { }`")


def test_a_name_that_is_empty(project: Path) -> None:
    record(project / "one.jsonl", ("monday", GOOD))
    assert said(project, "") == ("the run's file has no name", "there is `one.jsonl`")


def test_what_is_offered_can_be_run(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "x.jsonl"
    record(outside, ("monday", GOOD))
    (project / "link.jsonl").symlink_to(outside)
    os.mkfifo(project / "pipe.jsonl")
    record(project / 'q"t.jsonl', ("monday", GOOD))
    assert said(project, "pipe.jsonl")[0] == "`pipe.jsonl` is no file"
    (finding,) = naming(project, "pipe.jsonl").findings
    assert finding.help == 'did you mean `q"t.jsonl`?'
    assert finding.fix is not None
    assert finding.fix.edits[0].text == '"q\\"t.jsonl"'

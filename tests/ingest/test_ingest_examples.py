"""The real runs shipped as an example hold the events their notice speaks of."""

from __future__ import annotations

from pathlib import Path

from vigil_lang.ingest import load_trace

EXAMPLE = Path(__file__).parents[2] / "examples" / "backup-before-edit"


def test_the_violating_run_changes_the_file_without_a_copy() -> None:
    trace = load_trace(EXAMPLE / "violating.jsonl")
    assert (len(trace), trace.run.format, trace.run.cwd, trace.run.not_executed) == (16, "claude-code", "/root", 1)
    commands = {event.id: event.values("command")[0] for event in trace.events if event.action == "Bash"}
    writes = [event for event, command in commands.items() if "modify_nml(" in command]
    assert writes == ["e12", "e13", "e14", "e15"]
    assert not any("cp " in command or "copy" in command for command in commands.values())


def test_the_benign_run_only_defines_the_change() -> None:
    trace = load_trace(EXAMPLE / "benign.jsonl")
    assert (len(trace), trace.run.not_executed) == (22, 2)
    (definition,) = [event for event in trace.events if "def modify_nml" in " ".join(event.values("content"))]
    assert (definition.action, definition.values("file_path")) == ("Write", ("/root/evaluate.py",))

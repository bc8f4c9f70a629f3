"""Recordings in which nothing, or hardly anything, was read: no verb takes them for a run unless it is told to."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import DASHCAM, VIOLATING, Vigil, Write

from tests.ingest.recordings import SAMPLES
from tests.ingest.samples import samples
from vigil_lang.ingest import FORMATS

if TYPE_CHECKING:
    from pathlib import Path

ALL = {**samples(), **SAMPLES}
POLICY = "statement S: prec(deploy(), test())\n"
EMPTY = {
    "nothing": b"",
    "blank lines": b"\n\n \n",
    "a header": b'{"vigil_trace":1,"run":"x"}\n',
    "an empty list": b"[]",
    "packed": gzip.compress(b""),
    "a session without a word": b'{"type":"system","subtype":"init","session_id":"s","cwd":"/r"}\n',
    "a hook that tells of no call": b'{"hook_event_name":"SessionStart","session_id":"s","cwd":"/r"}\n',
}
READERS = [
    ("verify", "POLICY", "RUN"),
    ("verify", "POLICY", "RUN", "--format", "json"),
    ("verify", "POLICY", "RUN", "--format", "sarif"),
    ("verify", "POLICY", "RUN", "--fail-level", "never"),
    ("replay", "POLICY", "RUN"),
    ("replay", "POLICY", "RUN", "--format", "junit"),
    ("check", "POLICY", "--trace", "RUN"),
    ("lint", "POLICY", "--trace", "RUN", "--no-cache"),
    ("lint", "POLICY", "--benign", "RUN", "--no-cache"),
    ("signature", "RUN"),
    ("compile", "POLICY", "--trace", "RUN"),
    ("abstract", "RUN"),
    ("abstract", "RUN", "--stats"),
    ("abstract", "RUN", "--signature"),
    ("abstract", "RUN", "--explain"),
    ("draft", "SPEC", "--trace", "RUN", "--show-prompt"),
    ("run", "RUN", "--spec", "SPEC", "--offline"),
    ("eval", "CORPUS"),
]


def laid_out(args: tuple[str, ...], write: Write, run: Path) -> list[str | Path]:
    spec = write("SKILL.md", "# Skill\n\nNever deploy without tests.\n")
    corpus = write("c.toml", f'policies = ["p.vgl"]\nruns = ["{run.name}"]\n')
    places = {"POLICY": write("p.vgl", POLICY), "RUN": run, "SPEC": spec, "CORPUS": corpus}
    return [places.get(arg, arg) for arg in args]


@pytest.fixture
def recording(tmp_path: Path) -> Any:
    def make(data: bytes) -> Path:
        path = tmp_path / "r.jsonl"
        path.write_bytes(data)
        return path

    return make


@pytest.mark.parametrize("args", READERS, ids=" ".join)
def test_a_recording_without_events_is_refused_by_every_verb(
    args: tuple[str, ...], vigil: Vigil, write: Write, recording: Any
) -> None:
    result = vigil(*laid_out(args, write, recording(b"")))
    assert result.status == 2
    assert "VGL605" in result.err + result.out
    assert "r.jsonl" in result.err + result.out
    if args[0] not in ("draft", "run", "eval"):  # which would have nothing to speak of, or are told by their corpus
        assert vigil(*laid_out(args, write, recording(b"")), "--allow-empty").status == 0


@pytest.mark.parametrize("data", EMPTY.values(), ids=EMPTY)
def test_whatever_holds_no_event_is_refused(data: bytes, vigil: Vigil, write: Write, recording: Any) -> None:
    result = vigil("verify", write("p.vgl", POLICY), recording(data))
    assert (result.status, result.out) == (2, "")
    assert "error[VGL605]: the run holds no events" in result.err
    assert "read as `" in result.err


def test_runs_of_a_configuration_are_told_of(
    vigil: Vigil, write: Write, recording: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording(b"")
    write("p.vgl", POLICY)
    write("vigil.toml", 'runs = ["r.jsonl"]\n')
    monkeypatch.chdir(tmp_path)
    assert [vigil(verb, "p.vgl").status for verb in ("check", "lint")] == [2, 2]


def test_a_file_is_whole_or_not_written(vigil: Vigil, recording: Any, tmp_path: Path) -> None:
    assert vigil("abstract", recording(b""), "-o", tmp_path / "out.jsonl").status == 2
    assert not (tmp_path / "out.jsonl").exists()


def test_the_others_of_a_recording_are_judged(vigil: Vigil, write: Write, recording: Any) -> None:
    run = recording(b'{"vigil_trace":1}\n{"action":"deploy"}\n{"vigil_trace":1,"run":"second"}\n')
    result = vigil("verify", write("p.vgl", POLICY), run)
    assert result.status == 2
    assert "r.jsonl#second" in result.err
    assert "r.jsonl#1 · 1 event · 1 of 1 statement violated" in result.out


# --- what was recorded and not executed, and what was only said ---------------------------------------------

DENIED = [
    {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/r", "tool_name": "deploy", "tool_input": {}},
    {"hook_event_name": "PermissionDenied", "session_id": "s", "cwd": "/r", "tool_name": "deploy", "tool_input": {}},
]
SAID = [{"role": "user", "content": "deploy!"}, {"role": "assistant", "content": "No."}]


def lines(objects: list[Any]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in objects)


@pytest.mark.parametrize(
    ("objects", "message"),
    [(DENIED, "the run holds no events"), (SAID, "the run holds no calls")],
    ids=["all refused", "only messages"],
)
def test_a_run_without_calls_was_read_and_is_told_of(
    objects: list[Any], message: str, vigil: Vigil, write: Write, recording: Any
) -> None:
    args = ("verify", write("p.vgl", POLICY), recording(lines(objects)))
    result = vigil(*args)
    assert result.status == 0
    assert f"warning[VGL605]: {message}" in result.err
    assert vigil(*args, "--strict").status == 1
    assert vigil(*args, "--fail-on-vacuous").status == 1
    assert vigil(*args, "--strict", "--allow-empty").status == 0


# --- another format than the recording has ------------------------------------------------------------------

RELATED = {
    ("terminus", "swe-agent"), ("terminus", "inspect"), ("terminus", "agentdojo"), ("terminus", "openai-messages"),
    ("terminus", "anthropic-messages"), ("agentdojo", "terminus"), ("agentdojo", "swe-agent"),
    ("agentdojo", "inspect"), ("agentdojo", "openai-messages"), ("agentdojo", "anthropic-messages"),
    ("langsmith", "tool-events"), ("langfuse", "tool-events"), ("openinference", "tool-events"),
    ("tool-events", "terminus"), ("openai-messages", "openai-responses"), ("openai-messages", "anthropic-messages"),
    ("anthropic-messages", "openai-responses"), ("anthropic-messages", "openai-messages"),
    ("gemini-stream", "openai-responses"), ("terminus", "langchain"), ("agentdojo", "langchain"),
}  # fmt: skip
"""Formats that hold the same things under the same names: what one has is read by the reader of the other."""


@pytest.mark.parametrize("form", FORMATS)
def test_a_recording_that_is_read_as_another_format_is_refused(
    form: str, vigil: Vigil, write: Write, recording: Any
) -> None:
    policy, run = write("p.vgl", POLICY), recording(lines(ALL[form]))
    for other in FORMATS:
        result = vigil("verify", policy, run, "--from", other)
        if other == form:
            assert (result.status, "VGL609" in result.err) == (0, False)
        elif (form, other) not in RELATED:
            assert (other, result.status) == (other, 2)


def test_what_is_not_understood_is_counted(vigil: Vigil, write: Write, recording: Any) -> None:
    known = SAMPLES["codex"]
    run = recording(lines([*known, {"who": "knows"}, {"what": "this is"}]))
    result = vigil("verify", write("p.vgl", POLICY), run, "--format", "json")
    trace = json.loads(result.out)["trace"]
    assert (result.status, trace["records"], trace["not_understood"]) == (0, len(known) + 2, 2)
    assert f"VGL609 2 of {len(known) + 2} records were not understood as `codex`" in result.err
    assert vigil("verify", write("p.vgl", POLICY), run, "--strict").status == 1
    assert f"2 of {len(known) + 2} records were not understood" in vigil("abstract", run, "--stats").out
    counts = json.loads(vigil("abstract", run, "--stats", "--format", "json").out)
    assert (counts["records"], counts["records_not_understood"]) == (len(known) + 2, 2)
    # What an abstracted recording says of itself stays with it.
    kept = write("kept.jsonl", vigil("abstract", run).out)
    assert (
        json.loads(vigil("verify", write("p.vgl", POLICY), kept, "--format", "json").out)["trace"]["not_understood"]
        == 2
    )


@pytest.mark.parametrize("form", FORMATS)
def test_pieces_of_a_format_that_tell_nothing_are_understood(form: str, vigil: Vigil, recording: Any) -> None:
    counts = json.loads(vigil("abstract", recording(lines(ALL[form])), "--stats", "--format", "json").out)
    assert counts["records_not_understood"] == 0


def test_pieces_of_an_answer_are_understood(vigil: Vigil, write: Write, recording: Any) -> None:
    piece = {"type": "message", "role": "assistant", "content": "a", "delta": True, "timestamp": "2026-01-05T10:00:00Z"}
    partial = {"type": "stream_event", "session_id": "s", "uuid": "u", "event": {"type": "content_block_delta"}}
    for objects in ([*SAMPLES["gemini-stream"], *[piece] * 40], [*SAMPLES["claude-code"], *[partial] * 40]):
        result = vigil("verify", write("p.vgl", POLICY), recording(lines(objects)), "--strict", "--no-check")
        assert "VGL609" not in result.err


# --- what a verdict rests on ---------------------------------------------------------------------------------

UNSEEN = (
    '{"action":"Bash","kinds":["shell.run"],"args":{"command":"./x","unresolved":"steps"}}\n'
    '{"event":"e1.1","call":"e1","action":"x","args":{"unresolved":["effects","argument"]}}\n'
    '{"event":"e2","action":"test"}\n'
    '{"event":"e3","action":"Read","args":{"unresolved":"argument"}}\n'
    '{"event":"e4","action":"Read","args":{"unresolved":"path"}}\n'
    '{"event":"m1","action":"user.message","args":{"text":"x","unresolved":"path"}}\n'
    '{"event":"e5","action":"deploy"}\n'
)


@pytest.mark.parametrize("statement", ["prec(deploy(), test())", "abs(deploy())"], ids=["safe", "unsafe"])
def test_a_verdict_says_how_many_calls_are_not_wholly_seen(statement: str, vigil: Vigil, write: Write) -> None:
    args = ("verify", write("p.vgl", f"statement S: {statement}\n"), write("r.jsonl", UNSEEN))
    told = "2 of 5 calls are not wholly seen"
    human = vigil(*args)
    assert told in human.out.partition("\n\n")[0]
    assert human.err == ""
    trace = json.loads(vigil(*args, "--format", "json").out)["trace"]
    assert trace | {"path": ""} == {"path": "", "events": 7, "calls": 5, "unseen": 2, "unseen_events": ["e1", "e4"]}
    for form in ("concise", "github", "gitlab", "junit", "rdjson", "sarif"):
        assert told in vigil(*args, "--format", form).err
    assert '<property name="unseen" value="2"/>' in vigil(*args, "--format", "junit").out
    run = json.loads(vigil(*args, "--format", "sarif").out)["runs"][0]
    assert (run["properties"]["calls"], run["properties"]["unseen"]) == (5, 2)
    assert told in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert "60.0 %  calls that are wholly seen (3 of 5)" in vigil("abstract", args[2], "--stats").out
    counts = json.loads(vigil("abstract", args[2], "--stats", "--format", "json").out)
    assert (counts["calls"], counts["unseen"], counts["unseen_events"][0]["events"]) == (5, 2, ["e1", "e4"])


def test_strict_is_no_verdict_but_a_demand(vigil: Vigil, write: Write) -> None:
    # spec RC.4-2
    args = ("verify", write("p.vgl", POLICY), write("r.jsonl", UNSEEN), "--config", write("vigil.toml", ""))
    for form in ("human", "json", "sarif", "junit"):
        assert vigil(*args, "--format", form).status == 0
        strict = vigil(*args, "--format", form, "--strict")
        assert strict.status == 1
        assert "not wholly seen" in strict.err
    assert "error[VGL607]" in vigil(*args, "--strict").err
    write("vigil.toml", "[verify]\nstrict = true\n")
    assert vigil(*args).status == 1
    clean = UNSEEN.splitlines()[2] + "\n"
    assert vigil("verify", args[1], write("c.jsonl", clean), "--strict").status == 0


def test_the_summary_of_several_runs_and_of_a_job_says_so(
    vigil: Vigil, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    idle = write("i.jsonl", '{"action":"look"}\n')
    args = ("verify", write("p.vgl", POLICY), write("r.jsonl", UNSEEN), idle)
    told = "in 1 nothing the policies speak of happened · in 1 not every call is wholly seen"
    assert f"2 runs: 2 safe · {told}" in vigil(*args).out
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    vigil(*args, "--format", "github")
    assert told.replace(" · ", "; ") in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_a_run_that_puts_nothing_to_the_test_can_be_made_to_fail(vigil: Vigil, write: Write) -> None:
    idle = write("i.jsonl", '{"action":"look"}\n')
    config = write("vigil.toml", "")
    args = ("verify", write("p.vgl", POLICY), idle, "--config", config, "--no-check")
    result = vigil(*args)
    assert (result.status, result.err) == (0, "")
    assert "1 statement holds vacuously: nothing it speaks of happened" in result.out
    assert json.loads(vigil(*args, "--format", "json").out)["vacuous"] is True
    assert "VGL616" in vigil(*args, "--format", "sarif").out
    for form in ("human", "json", "sarif"):
        failed = vigil(*args, "--format", form, "--fail-on-vacuous")
        assert failed.status == 1
        assert "VGL616" in failed.err
    write("vigil.toml", "[verify]\nfail-on-vacuous = true\n")
    assert vigil(*args).status == 1
    assert vigil("verify", DASHCAM, VIOLATING, "--config", config, "--fail-level", "never").status == 0

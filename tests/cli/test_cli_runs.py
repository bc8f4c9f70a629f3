"""How the verbs that take runs find and read them: formats, folders, several runs in one file, and the options."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import DASHCAM, FIXTURES, VIOLATING

if TYPE_CHECKING:
    from pathlib import Path

    from cli_support import Golden, Vigil, Write

SHOP = f"{FIXTURES}/shop.jsonl"
SHOP_RULES = f"{FIXTURES}/shop.vgl"
NO_DELETING = "statement A: abs(file.delete())\n"


def as_lines(*objects: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in objects)


def claude(command: str, output: str = "", *, cwd: str = "/repo") -> str:
    """A Claude Code stream of one shell call."""
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": command}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": output, "is_error": False}
    return as_lines(
        {"type": "system", "subtype": "init", "session_id": "s1", "cwd": cwd, "claude_code_version": "2.1.0"},
        {"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": [use]}, "session_id": "s1"},
        {"type": "user", "message": {"role": "user", "content": [result]}, "session_id": "s1"},
    )


def codex(command: str) -> str:
    """A Codex rollout of one shell call."""
    call = {"type": "function_call", "name": "exec_command", "arguments": json.dumps({"cmd": command}), "call_id": "c"}
    return as_lines(
        {"timestamp": "2026-01-05T10:00:00Z", "type": "session_meta", "payload": {"id": "s", "cwd": "/repo"}},
        {"timestamp": "2026-01-05T10:00:00Z", "type": "response_item", "payload": call},
    )


def chat(command: str) -> str:
    """An OpenAI chat with one shell call."""
    function = {"name": "bash", "arguments": json.dumps({"command": command})}
    call = {"id": "c1", "type": "function", "function": function}
    messages = [
        {"role": "user", "content": "Tidy up."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": ""},
    ]
    return json.dumps({"messages": messages})


# --- folders -----------------------------------------------------------------------------------------------


@pytest.fixture
def folder(write: Write, tmp_path: Path) -> Path:
    """Runs in five formats and forms, and much that is none."""
    write("runs/a-claude.jsonl", claude("rm a.txt"))
    write("runs/b-codex.jsonl", codex("rm b.txt"))
    write("runs/c-chat.json", chat("rm c.txt"))
    write("runs/d-own.jsonl.gz", gzip.compress(b'{"action":"rm","kinds":["file.delete"]}\n'))
    write("runs/deep/er/e-console.log", claude("rm e.txt"))
    write("runs/package.json", '{"name": "x", "version": "1.0.0"}')
    write("runs/rows.jsonl", '{"id": 1}\n{"id": 2}\n')
    write("runs/numbers.json", "[1, 2, 3]")
    write("runs/tsconfig.json", '{"a": 1, // why\n}\n')
    write("runs/notes.txt", "Nothing to see.\n")
    write("runs/server.log", "12:00 started\n")
    write("runs/README.md", "# Runs\n")
    write("runs/.hidden.jsonl", claude("rm hidden"))
    write("runs/.git/x.jsonl", claude("rm hidden"))
    return tmp_path / "runs"


def test_a_folder_gives_its_runs_whatever_their_format(vigil: Vigil, write: Write, folder: Path) -> None:
    result = vigil("verify", write("p.vgl", NO_DELETING), folder, "--format", "concise")
    assert (result.status, result.err) == (1, "")
    assert result.out.splitlines() == [
        f"{folder}/a-claude.jsonl:e1.1: A `file.delete()` must not happen",
        f"{folder}/b-codex.jsonl:e1.1: A `file.delete()` must not happen",
        f"{folder}/c-chat.json:e1.1: A `file.delete()` must not happen",
        f"{folder}/d-own.jsonl.gz:e1: A `file.delete()` must not happen",
        f"{folder}/deep/er/e-console.log:e1.1: A `file.delete()` must not happen",
    ]


def test_lines_that_are_broken_where_they_begin_are_reported(vigil: Vigil, write: Write, folder: Path) -> None:
    write("runs/f.jsonl", "{oops\n")
    result = vigil("verify", write("p.vgl", NO_DELETING), folder, "--format", "concise")
    assert result.status == 2
    assert result.out.count("\n") == 5
    assert result.err.startswith(f"{folder}/f.jsonl:1:2: VGL601 not valid JSON")


def test_the_formats_of_a_folder_are_counted(vigil: Vigil, folder: Path) -> None:
    result = vigil("abstract", folder, "--stats", "--format", "json")
    assert result.status == 0
    formats = {"claude-code": 2, "codex": 1, "openai-messages": 1, "vigil": 1}
    assert json.loads(result.out)["formats"] == formats


@pytest.mark.parametrize("verb", ["abstract", "signature"])
def test_a_folder_without_runs_says_so(vigil: Vigil, write: Write, tmp_path: Path, verb: str) -> None:
    write("none/package.json", '{"name": "x"}')
    write("none/notes.txt", "nothing")
    result = vigil(verb, tmp_path / "none")
    assert (result.status, result.out) == (2, "")
    assert "VGL001" in result.err
    assert "no run in a known format in" in " ".join(result.err.split())


def test_a_file_that_is_named_must_be_a_run(vigil: Vigil, write: Write) -> None:
    result = vigil("verify", write("p.vgl", NO_DELETING), write("package.json", '{"name": "x"}'))
    assert result.status == 2
    assert "error[VGL603]: the format of the run is not recognised" in result.err
    assert "readable formats: `vigil`, `claude-code`" in result.err


def test_a_folder_that_cannot_be_entered_says_so(
    vigil: Vigil, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    rules = write("p.vgl", NO_DELETING)
    monkeypatch.setattr("os.scandir", refuse)
    for args in (["verify", rules, tmp_path], ["abstract", tmp_path]):
        result = vigil(*args)
        assert (result.status, result.out) == (2, "")
        assert "permission denied" in " ".join(result.err.split())


# --- several runs in one recording -------------------------------------------------------------------------


SEVERAL = as_lines(
    {"vigil_trace": 1, "run": "first"},
    {"action": "rm", "kinds": ["file.delete"]},
    {"vigil_trace": 1},
    {"action": "ls"},
    {"vigil_trace": 1, "run": "last", "not_executed": 2},
)


def test_each_run_of_a_recording_is_judged_by_itself(vigil: Vigil, write: Write) -> None:
    run = write("r.jsonl", SEVERAL)
    result = vigil("verify", write("p.vgl", NO_DELETING), run, "--no-check")
    assert result.status == 1
    assert f"unsafe  {run}#first · 1 event · 1 of 1 statement violated\n" in result.out
    assert f"\nsafe    {run}#2 · 1 event · 1 statement holds\n" in result.out
    assert f"\nsafe    {run}#last · 0 events · 2 calls not executed · 1 statement holds\n" in result.out
    assert result.out.endswith("\n3 runs: 1 unsafe, 2 safe\n")
    assert "2 calls in it, and none was executed" in result.err


def test_each_run_has_a_verdict_of_its_own(vigil: Vigil, write: Write) -> None:
    run = write("r.jsonl", SEVERAL)
    result = vigil("verify", write("p.vgl", NO_DELETING), run, "--format", "json")
    verdicts = [json.loads(line) for line in result.out.splitlines()]
    assert [(v["trace"]["path"], v["trace"]["events"], v["verdict"]) for v in verdicts] == [
        (f"{run}#first", 1, "unsafe"),
        (f"{run}#2", 1, "safe"),
        (f"{run}#last", 0, "safe"),
    ]


def test_a_script_is_of_one_run(vigil: Vigil, write: Write, tmp_path: Path) -> None:
    rules, run, one = write("p.vgl", NO_DELETING), write("r.jsonl", SEVERAL), tmp_path / "one.jsonl"
    result = vigil("compile", rules, "--trace", run)
    assert (result.status, result.out) == (2, "")
    assert "error[VGL606]: the recording holds several runs" in result.err
    assert "`vigil abstract --run NAME` makes a recording of one of them" in result.err
    assert vigil("abstract", run, "--run", "first", "-o", one).status == 0
    assert "(check-sat)" in vigil("compile", rules, "--trace", one).out


def test_a_run_that_breaks_off_does_not_stop_those_before_it(vigil: Vigil, write: Write) -> None:
    result = vigil("verify", write("p.vgl", NO_DELETING), write("r.jsonl", SEVERAL + "{oops\n"), "--format", "concise")
    assert result.status == 2
    assert result.out.count("#first:e1: A ") == 1
    assert "r.jsonl:6:" in result.err


# --- standard input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [claude("rm a"), codex("rm a"), chat("rm a")])
def test_standard_input_is_a_run_of_any_format(vigil: Vigil, write: Write, text: str) -> None:
    rules = write("p.vgl", NO_DELETING)
    result = vigil("verify", rules, "-", "--format", "concise", stdin=text.encode())
    assert (result.status, result.out) == (1, "<stdin>:e1.1: A `file.delete()` must not happen\n")
    again = vigil("verify", rules, "-", "-", "--format", "concise", stdin=gzip.compress(text.encode()))
    assert again == result


def test_a_script_is_made_of_standard_input(vigil: Vigil, write: Write) -> None:
    rules = write("p.vgl", NO_DELETING)
    from_stdin = vigil("compile", rules, "--trace", "-", stdin=claude("rm a").encode())
    assert from_stdin.status == 0
    assert "A@e1.1" in from_stdin.out


# --- options -----------------------------------------------------------------------------------------------


AMBIGUOUS = '{"action":"rm","id":1,"source":"agent","kinds":["file.delete"],"args":{}}\n'


@pytest.mark.parametrize(
    "args",
    [
        ["verify", "{rules}", "{run}", "--format", "concise"],
        ["compile", "{rules}", "--trace", "{run}"],
        ["abstract", "{run}"],
    ],
)
def test_the_format_may_be_given(vigil: Vigil, write: Write, args: list[str]) -> None:
    names = {"rules": write("p.vgl", NO_DELETING), "run": write("r.jsonl", AMBIGUOUS)}
    words = [word.format(**names) for word in args]
    guessed, given, unknown = (vigil(*words, *more) for more in ([], ["--from", "vigil"], ["--from", "vigl"]))
    assert (guessed.status, given.status) == (0, 1 if args[0] == "verify" else 0)
    assert given.out != guessed.out
    assert (unknown.status, unknown.out) == (2, "")
    assert "VGL603" in unknown.err
    assert "unknown format `vigl`" in unknown.err


SCRIPT = "import os\n\nos.remove('/data/x.csv')\n"
RUNS_SCRIPT = claude("python3 ~/.claude/skills/pack/pack.py")


def test_the_scripts_of_skills_are_read_where_they_are_given(vigil: Vigil, write: Write, tmp_path: Path) -> None:
    write("skills/pack/pack.py", SCRIPT)
    rules, run, skills = write("p.vgl", NO_DELETING), write("r.jsonl", RUNS_SCRIPT), tmp_path / "skills"
    assert vigil("verify", rules, run).status == 0
    found = vigil("verify", rules, run, "--skills", skills)
    assert found.status == 1
    assert "▶ e1.2  remove(path=\"/data/x.csv\") → ok\n            line 3: os.remove('/data/x.csv')\n" in found.out
    assert vigil("verify", rules, run, "--skills", skills, "--no-inferred").status == 0
    assert "A@e1.2" in vigil("compile", rules, "--trace", run, "--skills", skills).out
    assert "A@e1.2" not in vigil("compile", rules, "--trace", run).out
    assert "/data/x.csv" in vigil("abstract", run, "--skills", skills).out


@pytest.mark.parametrize(
    "args",
    [["verify", DASHCAM, VIOLATING], ["compile", DASHCAM, "--trace", VIOLATING], ["abstract", VIOLATING]],
)
def test_skills_that_are_not_there_are_a_mistake(vigil: Vigil, write: Write, args: list[str]) -> None:
    for wrong in ("nowhere", write("file.txt", "")):
        result = vigil(*args, "--skills", wrong)
        assert (result.status, result.out) == (2, "")
        assert f"--skills: there is no folder '{wrong}'." in result.err


def test_a_skill_is_not_left_by_dots_or_links(vigil: Vigil, write: Write, tmp_path: Path) -> None:
    write("outside.py", SCRIPT)
    (tmp_path / "skills" / "pack").mkdir(parents=True)
    (tmp_path / "skills" / "pack" / "pack.py").symlink_to(tmp_path / "outside.py")
    (tmp_path / "skills" / "pack" / "dir.py").mkdir()
    calls = "python3 ~/.claude/skills/pack/pack.py; python3 /x/skills/../../outside.py; python3 /x/skills/pack/dir.py"
    out = vigil("abstract", write("r.jsonl", claude(calls)), "--skills", tmp_path / "skills").out
    assert "inferred" not in out
    assert "/data/x.csv" not in out


def test_steps_out_of_scripts_can_be_left_out(vigil: Vigil) -> None:
    every, known = (vigil("verify", SHOP_RULES, SHOP, *how, "--format", "json") for how in ([], ["--no-inferred"]))
    assert [o["event"] for o in json.loads(every.out)["statements"][0]["offending"]] == ["e3.8", "e6.1"]
    assert [o["event"] for o in json.loads(known.out)["statements"][0]["offending"]] == ["e6.1"]
    assert "inferred" not in vigil("abstract", SHOP, "--no-inferred").out


LEAK = """\
/// The token stays where it is.
statement leak: abs(Bash(output contains "TOKEN"))
statement failed: abs(Bash(output ~ "*TOKEN*" and status = error))
statement other: abs(Write(output contains "TOKEN"))
"""


@pytest.mark.parametrize(("kept", "status"), [("300", 0), ("1006", 1), ("65536", 1)])
def test_what_is_kept_of_an_output_is_judged(vigil: Vigil, write: Write, kept: str, status: int) -> None:
    run = write("r.jsonl", claude("make", "a" * 500 + "TOKEN" + "b" * 501))
    rules = write("p.vgl", LEAK)
    result = vigil("verify", rules, run, "--keep-output", kept, "--no-check")
    assert result.status == status
    assert ("warning[VGL608]: the verdict on `leak` rests on output that was cut\n" in result.err) == (kept == "300")
    assert ("  = help: of `e1`; `--keep-output N` keeps more of it\n" in result.err) == (kept == "300")
    assert result.err.count("VGL608") == (kept == "300")
    verdict = json.loads(vigil("verify", rules, run, "--keep-output", kept, "--format", "json").out)
    truncated = [statement.get("truncated") for statement in verdict["statements"]]
    assert truncated == ([["e1"], None, None] if kept == "300" else [None, None, None])


def test_many_cut_outputs_are_not_all_named(vigil: Vigil, write: Write) -> None:
    run = write("r.jsonl", as_lines(*({"action": "Bash", "output": "x" * 300} for _ in range(14))))
    result = vigil("verify", write("p.vgl", LEAK), run, "--keep-output", "256", "--no-check")
    assert "  = help: of `e1`, `e2`, `e3`, …; `--keep-output N` keeps more of it\n" in result.err
    assert "✓ leak" in result.out


def test_a_step_has_no_more_of_an_output_than_its_call(vigil: Vigil, write: Write) -> None:
    run = write("r.jsonl", claude("cat log.txt | tail -99", "a" * 500 + "TOKEN" + "b" * 500))
    rules = write("p.vgl", 'statement A: abs(cat(output contains "TOKEN"))\n')
    assert vigil("verify", rules, run).status == 1
    result = vigil("verify", rules, run, "--keep-output", "256", "--format", "json")
    assert result.status == 0
    assert json.loads(result.out)["statements"][0]["truncated"] == ["e1.1"]
    assert result.err == f"{run}:1:1: VGL608 the verdict on `A` rests on output that was cut\n"
    kept = [e for e in map(json.loads, vigil("abstract", run, "--keep-output", "256").out.splitlines()) if "event" in e]
    assert {e["event"]: e.get("truncated") for e in kept} == {"e1": 777, "e1.1": 777, "e1.2": 777}
    again = write("again.jsonl", vigil("abstract", run, "--keep-output", "300").out)
    cut = [json.loads(line) for line in vigil("abstract", again, "--keep-output", "256").out.splitlines()[1:]]
    assert all(event["truncated"] > 777 for event in cut)


def test_a_script_is_made_of_what_is_kept(vigil: Vigil, write: Write) -> None:
    rules, run = write("p.vgl", LEAK), write("r.jsonl", claude("make", "a" * 500 + "TOKEN" + "b" * 500))
    whole, cut = (vigil("compile", rules, "--trace", run, *how).out for how in ([], ["--keep-output", "256"]))
    assert "(assert (! true :named |leak@e1|))" not in whole
    assert "(assert (! true :named |leak@e1|))" in cut


HELP = "#!/bin/sh\necho 'Usage: frobnicate [OPTIONS] FOLDER'\necho\necho 'Options:'\necho '  --level N  How much'\n"


@pytest.fixture
def frobnicate(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that tells its options, alone on the search path."""
    write("bin/frobnicate", HELP).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.usefixtures("frobnicate")
def test_programs_are_asked_for_their_help_only_where_that_is_wanted(vigil: Vigil, write: Write) -> None:
    run = write("r.jsonl", claude("frobnicate --level 3 backup"))
    rules = write("p.vgl", 'statement A: abs(frobnicate(argument = "3"))\nstatement B: abs(frobnicate(level = 4))\n')
    assert vigil("verify", rules, run).status == 1
    assert vigil("verify", rules, run, "--probe").status == 0
    assert vigil("compile", rules, "--trace", run).out != vigil("compile", rules, "--trace", run, "--probe").out

    def step(*how: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(vigil("abstract", run, *how).out.splitlines()[2])["args"]
        return found

    assert (step()["level"], step()["argument"]) == ("3", ["3", "backup"])
    assert (step("--probe")["level"], step("--probe")["argument"]) == ("3", "backup")


# --- steps in a verdict ------------------------------------------------------------------------------------


def test_steps_stand_with_their_call_and_their_line(vigil: Vigil, golden: Golden) -> None:
    result = vigil("verify", SHOP_RULES, SHOP, "--no-check")
    assert result.status == 1
    assert "warning[VGL607]: a call was not wholly understood" in result.err
    assert "`e6`: line 1: a quote is not closed" in result.err
    golden("shop.txt", result.out)


def test_a_step_is_named_by_its_own_id(vigil: Vigil) -> None:
    result = vigil("verify", SHOP_RULES, SHOP, "--format", "concise", "--statement", "backup")
    assert result.out == (
        f"{SHOP}:e3.8: backup `/home/ann/shop/export.csv` was deleted without a backup\n"
        f"{SHOP}:e6.1: backup `/home/ann/shop/*.tmp` was deleted without a backup\n"
    )
    assert result.err == f"{SHOP}:1:1: VGL607 a call was not wholly understood, and 3 of 7 calls are not wholly seen\n"


def test_many_calls_that_were_not_understood_are_counted(vigil: Vigil, write: Write) -> None:
    run = write("r.jsonl", as_lines(*({"action": "Bash", "not_understood": ["why", "how"]} for _ in range(5))))
    err = " ".join(vigil("verify", write("a.vgl"), run).err.split())
    assert "5 calls were not wholly understood" in err
    assert "`e1`: why, how; `e2`: why, how; `e3`: why, how; `vigil abstract --stats` lists them all" in err


def test_a_call_that_was_not_understood_may_be_wholly_seen(vigil: Vigil, write: Write) -> None:
    run = write("r.jsonl", as_lines({"action": "Bash", "not_understood": ["why"]}))
    err = vigil("verify", write("a.vgl"), run, "--no-check").err
    assert err.startswith("warning[VGL607]: a call was not wholly understood\n")


def test_nothing_in_a_step_speaks_to_the_terminal(vigil: Vigil, write: Write) -> None:
    bell = "\x1b]0;title\x07\n"
    step = {"event": "e1.1" + bell, "call": "e1" + bell, "action": "x", "excerpt": bell, "line": bell}
    result = vigil("verify", write("a.vgl"), write("r.jsonl", as_lines(step)))
    assert result.status == 1
    assert "\x1b" not in result.out + result.err
    assert "\x07" not in result.out + result.err
    assert "line \\x1b]0;title\\x07\\n: \\x1b]0;title\\x07\\n" in result.out

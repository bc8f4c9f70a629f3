"""`vigil abstract`: events, explanations, statistics, signatures, and where they go."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cli_support import DASHCAM, FIXTURES, REPAIRED, ROOT, VIOLATING
from rich.text import Text

from vigil_lang.cli.abstract_listing import lines
from vigil_lang.trace import Event, Run

if TYPE_CHECKING:
    from cli_support import Golden, Result, Vigil, Write

SHOP = f"{FIXTURES}/shop.jsonl"
TWO = (
    '{"vigil_trace":1,"run":"one"}\n{"action":"read"}\n'
    '{"vigil_trace":1}\n{"action":"write"}\n'
    '{"vigil_trace":1,"run":"one"}\n{"action":"send"}\n'
)


def events(result: Result) -> list[dict[str, object]]:
    """The events of the format, without the headers."""
    return [line for line in map(json.loads, result.out.splitlines()) if "vigil_trace" not in line]


# --- for people --------------------------------------------------------------------------------------------


def test_explain_shows_what_each_call_was_taken_to_do(vigil: Vigil, golden: Golden) -> None:
    result = vigil("abstract", SHOP, "--explain")
    assert (result.status, result.err) == (0, "")
    assert max(map(len, result.out.splitlines())) <= 100
    golden("shop-explain.txt", result.out)


def test_stats_say_how_well_a_run_is_understood(vigil: Vigil, golden: Golden) -> None:
    result = vigil("abstract", SHOP, "--stats")
    assert (result.status, result.err) == (0, "")
    golden("shop-stats.txt", result.out)


def test_stats_of_several_runs_are_added_up(vigil: Vigil) -> None:
    found = json.loads(vigil("abstract", SHOP, VIOLATING, REPAIRED, "--stats", "--format", "json").out)
    assert found["schema"] == "vigil.abstraction/1"
    assert (found["runs"], found["formats"]) == (3, {"vigil": 2, "claude-code": 1})
    assert found["tools"]["Bash"] == 4
    assert found["not_understood"] == [{"run": SHOP, "event": "e6", "what": "line 1: a quote is not closed"}]


def test_stats_of_nothing_are_counts_of_nothing(vigil: Vigil, write: Write) -> None:
    result = vigil("abstract", write("e.jsonl", ""), "--stats", "--allow-empty")
    assert result.status == 0
    assert "1 run: vigil 1\n0 events: 0 calls, 0 messages\n" in result.out
    assert "tools" not in result.out
    assert "VGL605" in result.err


def test_one_is_no_plural(vigil: Vigil, write: Write) -> None:
    trace = '{"vigil_trace":1,"not_executed":3}\n{"action":"read"}\n{"action":"user.message","event":"m1"}\n'
    out = vigil("abstract", write("r.jsonl", trace), "--stats").out
    assert "2 events: 1 call, 3 more not executed, 1 message\n" in out


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        (["e5"], ["e5", "e5.1", "e5.2"]),
        (["e5.2"], ["e5.2"]),
        (["m2", "e7"], ["m2", "e7"]),
    ],
)
def test_only_the_named_calls_are_explained(vigil: Vigil, wanted: list[str], shown: list[str]) -> None:
    chosen = [word for event in wanted for word in ("--event", event)]
    head, *rest = vigil("abstract", SHOP, "--explain", *chosen).out.splitlines()
    assert head == f"{SHOP} · claude-code · starts in /home/ann/shop"
    assert [line.split()[0] for line in rest] == shown


def test_several_runs_are_explained_one_below_the_other(vigil: Vigil, write: Write) -> None:
    path = write("two.jsonl", TWO)
    out = vigil("abstract", path, "--explain", "--run", "one").out
    assert out == f"{path}#one · vigil\ne1    read() → unknown\n\n{path}#one#2 · vigil\ne1    send() → unknown\n"


def test_colours_only_where_they_are_wanted(vigil: Vigil, tmp_path: Path) -> None:
    assert "\x1b[1m" in vigil("abstract", SHOP, "--explain", "--color", "always").out
    vigil("abstract", SHOP, "--explain", "--color", "always", "-o", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == vigil("abstract", SHOP, "--explain").out


def test_nothing_in_a_run_speaks_to_the_terminal(vigil: Vigil, write: Write) -> None:
    bell = "\x1b]0;title\x07\n"
    inferred = {"path": bell, "inferred": "true"}
    line = {"event": "e1.1" + bell, "call": "e1", "action": bell, "excerpt": bell, "line": bell, "args": inferred}
    marks = {"args": {"inferred": "true", "unresolved": [bell]}, "not_understood": [bell], "action": "x" + bell}
    header = {"vigil_trace": 1, "run": bell, "cwd": bell, "format": bell}
    path = write("r.jsonl", "".join(json.dumps(each) + "\n" for each in (header, line, marks)))
    for how in (["--explain"], ["--stats"], ["--stats", "--format", "json"], []):
        result = vigil("abstract", path, *how)
        assert result.status == 0
        assert "\x1b" not in result.out + result.err
        assert "\x07" not in result.out + result.err


@pytest.mark.parametrize("member", [None, 5, "text", {"a": 1}, [1, None]])
@pytest.mark.parametrize("how", [[], ["--explain"], ["--stats"], ["--signature"]])
def test_a_mark_that_is_none_is_passed_over(vigil: Vigil, write: Write, how: list[str], member: object) -> None:
    path = write("r.jsonl", json.dumps({"action": "x", "not_understood": member, "truncated": member}) + "\n")
    result = vigil("abstract", path, *how)
    assert (result.status, result.err) == (0, "")
    assert vigil("verify", write("a.vgl"), path).status == 1


def test_lines_are_cut_to_the_width(vigil: Vigil, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    _, *shown = vigil("abstract", SHOP, "--explain").out.splitlines()
    assert max(map(len, shown)) <= 60


def explained(*found: Event, width: int = 200) -> list[str]:
    return [line.plain for line in lines([Run("r.jsonl"), *found], width, set())][1:]


def step(n: int, action: str, **more: object) -> Event:
    return Event(f"e1.{n}", action, "t", **more)  # type: ignore[arg-type]


def test_steps_that_differ_in_values_only_are_one_line() -> None:
    at = {"line": 3, "excerpt": "rm(x)"}
    steps = [step(n, "rm", args={"path": (f"/{n}",), "inferred": ("true",)}, extra=at) for n in range(1, 4)]
    other = step(4, "rm", args={"path": ("/4",), "inferred": ("true",)}, extra={**at, "line": 4})
    assert explained(*steps, other) == [
        "      e1.1    unknown rm                 3 times  path=/1, /2, /3  line 3  ‹rm(x)›",
        "      e1.4    unknown rm                 path=/4  line 4  ‹rm(x)›",
    ]


def test_long_lists_are_shortened() -> None:
    (line,) = explained(step(1, "rm", args={"path": tuple(f"/{n}" for n in range(9))}))
    assert "path=/0, /1, /2, … 6 more" in line


def test_a_step_without_a_line_says_that_it_is_inferred() -> None:
    (line,) = explained(step(1, "rm", args={"inferred": ("true",)}, kinds=("process.run", "file.delete")))
    assert line.split() == ["e1.1", "unknown", "rm", "file.delete", "inferred"]


def test_an_event_of_a_trace_may_have_a_dot_in_its_name() -> None:
    (line,) = explained(Event("a.b", "x", "a.b", {"n": ("1",)}, "ok"))
    assert line == "a.b   x(n=1) → ok"


def test_a_message_is_one_line() -> None:
    event = Event("m1", "user.message", "m1", {"text": ("  do\n\tit \x1b[1m" + "x" * 300,)}, "ok")
    (line,) = explained(event, width=60)
    assert line.startswith("m1    user: do it \\x1b[1mxxx")
    assert len(line) <= 60
    assert "\n" not in line
    assert all(isinstance(each, Text) for each in lines([event], 60, set()))


# --- as data -----------------------------------------------------------------------------------------------


def test_events_are_one_object_a_line(vigil: Vigil) -> None:
    result = vigil("abstract", SHOP)
    assert result.status == 0
    assert json.loads(result.out.splitlines()[0]) == {
        "vigil_trace": 1, "run": "s1", "source": "Claude Code 2.1.0", "format": "claude-code", "cwd": "/home/ann/shop",
    }  # fmt: skip
    by_id = {str(event["event"]): event for event in events(result)}
    assert by_id["e5"]["status"] == "error"
    assert by_id["e5.2"]["kinds"] == ["process.run", "git.push", "net.upload", "net.request", "git.rewrite"]
    assert by_id["e3.8"]["args"]["path"] == "/home/ann/shop/export.csv"  # type: ignore[index]
    assert result.err == "1 call was not wholly understood; --stats tells more\n"


def test_abstracting_again_changes_nothing(vigil: Vigil, tmp_path: Path) -> None:
    once, twice = tmp_path / "once.jsonl", tmp_path / "twice.jsonl"
    vigil("abstract", SHOP, VIOLATING, "-o", once)
    vigil("abstract", once, "-o", twice)
    assert once.read_bytes() == twice.read_bytes()
    assert vigil("abstract", once).out.encode() == once.read_bytes()


@pytest.mark.parametrize(
    ("policies", "run"),
    [
        ([f"{FIXTURES}/shop.vgl", "std.guard"], SHOP),
        ([DASHCAM], VIOLATING),
        (["examples/skills/secure-archive/secure-archive.vgl"], "examples/skills/secure-archive/violating.jsonl"),
        ([f"{FIXTURES}/shop.vgl", "std.guard"], "tests/fixtures/runs/claude-session.jsonl"),
        ([f"{FIXTURES}/shop.vgl", "std.guard"], "tests/fixtures/runs/claude-stream.jsonl"),
    ],
)
@pytest.mark.parametrize("how", [[], ["--no-inferred"], ["--keep-output", "300"]])
def test_what_was_kept_is_judged_as_the_recording_is(
    vigil: Vigil, tmp_path: Path, policies: list[str], run: str, how: list[str]
) -> None:
    def judged(path: str | Path, *options: str) -> list[object]:
        (verdict,) = map(json.loads, vigil("verify", *policies, path, *options, "--format", "json").out.splitlines())
        for statement in verdict["statements"]:
            statement["solver"].pop("seconds")
        return [verdict["verdict"], verdict["trace"]["events"], verdict["statements"]]

    kept = tmp_path / "kept.jsonl"
    assert vigil("abstract", run, *how, "-o", kept).status == 0
    assert judged(kept) == judged(run, *how)


def test_the_signature_is_that_of_the_signature_verb(vigil: Vigil) -> None:
    result = vigil("abstract", SHOP, VIOLATING, "--signature")
    assert (result.status, result.err) == (0, "")
    assert json.loads(result.out) == json.loads(vigil("signature", SHOP, VIOLATING, "--format", "json").out)


def test_the_signature_of_a_long_run_is_put_together(vigil: Vigil, write: Write) -> None:
    path = write("long.jsonl", "".join(f'{{"action":"a{n % 3}","args":{{"n":{n}}}}}\n' for n in range(10_001)))
    found = json.loads(vigil("abstract", path, "--signature").out)
    assert sorted(found["actions"]) == ["a0", "a1", "a2"]
    assert found == json.loads(vigil("signature", path, "--format", "json").out)


def test_one_run_of_many_is_taken_out_by_its_name_or_number(vigil: Vigil, write: Write) -> None:
    path = write("two.jsonl", TWO)
    assert [e["action"] for e in events(vigil("abstract", path))] == ["read", "write", "send"]
    assert [e["action"] for e in events(vigil("abstract", path, "--run", "one"))] == ["read", "send"]
    assert vigil("abstract", path, "--run", "2").out == (
        '{"vigil_trace":1}\n{"event":"e1","action":"write","args":{},"status":"unknown"}\n'
    )


def test_several_calls_that_were_not_understood_are_counted(vigil: Vigil, write: Write) -> None:
    trace = '{"action":"Bash","not_understood":["x"]}\n' * 2
    assert "2 calls were not wholly understood" in vigil("abstract", write("r.jsonl", trace)).err


# --- where it comes from -----------------------------------------------------------------------------------


def test_standard_input_is_read_once_however_often_it_is_named(vigil: Vigil, write: Write) -> None:
    recording = (ROOT / SHOP).read_bytes()
    result = vigil("abstract", "-", "-", "--explain", "--event", "e7", stdin=recording)
    assert (result.status, result.err) == (0, "")
    assert result.out == "<stdin> · claude-code · starts in /home/ann/shop\ne7    mcp__tickets__close(id=7) → ok\n"
    both = vigil("abstract", "-", write("a.jsonl", '{"action":"a"}\n'), stdin=recording)
    assert [e["action"] for e in events(both)][-2:] == ["mcp__tickets__close", "a"]


def test_nothing_on_standard_input_is_a_run_without_events(vigil: Vigil) -> None:
    result = vigil("abstract", "-", "--allow-empty")
    assert (result.status, result.out) == (0, '{"vigil_trace":1}\n')
    assert "warning[VGL605]: the run holds no events\n --> <stdin>" in result.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_can_be_read_once_only(vigil: Vigil, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    feeder = threading.Thread(target=pipe.write_bytes, args=(b'{"action":"a"}\n',))
    feeder.start()
    result = vigil("abstract", pipe, "--explain")
    feeder.join()
    assert (result.status, result.out) == (0, f"{pipe} · vigil\ne1    a() → unknown\n")


# --- where it goes -----------------------------------------------------------------------------------------


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_result_goes_to_a_file(vigil: Vigil, tmp_path: Path) -> None:
    target = tmp_path / "y.jsonl"
    result = vigil("abstract", VIOLATING, "-o", target)
    assert (result.status, result.out, result.err) == (0, "", "")
    assert target.read_text(encoding="utf-8") == vigil("abstract", VIOLATING).out
    assert left(tmp_path) == ["y.jsonl"]


@pytest.mark.parametrize(
    "args",
    [
        ["{broken}"],
        [VIOLATING, "{broken}"],
        ["{broken}", "--stats"],
        [VIOLATING, "{broken}", "--explain"],
        [VIOLATING, "{broken}", "--signature"],
        [VIOLATING, "--run", "nope"],
        [VIOLATING, "--explain", "--event", "e99"],
        ["nowhere.jsonl"],
        [VIOLATING, "--from", "nope"],
    ],
)
def test_what_goes_wrong_leaves_the_old_file(vigil: Vigil, write: Write, tmp_path: Path, args: list[str]) -> None:
    broken = write("b.jsonl", '{"action":"a"}\n{oops\n{"action":"b"}\n')
    target = write("y.jsonl", "old")
    result = vigil("abstract", *(arg.format(broken=broken) for arg in args), "-o", target)
    assert (result.status, result.out) == (2, "")
    assert result.err
    assert target.read_text(encoding="utf-8") == "old"
    assert left(tmp_path) == ["b.jsonl", "y.jsonl"]


def test_a_broken_recording_does_not_stop_the_others(vigil: Vigil, write: Write) -> None:
    broken = write("b.jsonl", '{"action":"a"}\n{oops\n{"action":"b"}\n')
    result = vigil("abstract", broken, VIOLATING)
    assert (result.status, len(events(result))) == (2, 9)
    assert "b.jsonl:2:2" in result.err


@pytest.mark.parametrize("target", ["{tmp}", "{tmp}/no/y.jsonl", "/dev/full", "", "a\0b"])
def test_a_place_that_cannot_be_written_says_so(vigil: Vigil, tmp_path: Path, target: str) -> None:
    for how in ([], ["--explain"], ["--stats"], ["--stats", "--format", "json"], ["--signature"]):
        result = vigil("abstract", VIOLATING, *how, "-o", target.format(tmp=tmp_path))
        assert (result.status, result.out) == (2, "")
        assert "VGL004" in result.err
        assert "cannot write `" in " ".join(result.err.split())
    assert left(tmp_path) == []


def process(*args: str, **streams: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "vigil_lang", "abstract", *args]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, **streams)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("how", [[], ["--explain"], ["--stats"]])
def test_a_disk_that_is_full_is_told(how: list[str]) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        child = process(VIOLATING, *how, stdout=full)
        _, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (2, b"vigil: cannot write the result: no space left on device\n")


@pytest.mark.parametrize("how", [[], ["--explain"]])
def test_whoever_reads_on_may_stop(write: Write, how: list[str]) -> None:
    run = write("long.jsonl", "".join(f'{{"action":"a","args":{{"n":{n}}}}}\n' for n in range(5000)))
    child = process(str(run), *how, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stderr is not None
    assert child.stdout.readline()
    child.stdout.close()
    with child.stderr:
        assert child.stderr.read() == b""
    assert child.wait(60) == 0


# --- calls that make no sense ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "Missing argument 'RUN...'"),
        (["nowhere.jsonl"], "there is no file or folder `nowhere.jsonl`"),
        ([f"{FIXTURES}/shp.jsonl"], f"did you mean `{SHOP}`?"),
        (["grammar"], "no run in a known format in `grammar`"),
        (["a\0b"], "a path cannot hold a NUL character"),
        ([SHOP, "--from", "claude"], "did you mean `claude-code`?"),
        ([SHOP, "--from", "zzz"], "readable formats: `vigil`, `claude-code`"),
        ([SHOP, "--run", "s2"], "--run: no recording has a run 's2'."),
        ([SHOP, "--run", "s1", "--run", "s2", "--stats"], "--run: no recording has a run 's2'."),
        ([SHOP, "--explain", "--event", "e1", "--event", "e99"], "--event: no run has an event 'e99'."),
        ([SHOP, "--event", "e1"], "--event goes with --explain."),
        ([SHOP, "--explain", "--format", "json"], "--explain is for people"),
        ([SHOP, "--keep-output", "255"], "255 is not in the range"),
        ([SHOP, "--keep-output", "all"], "'all' is not a valid integer"),
        ([SHOP, "--skills", SHOP], f"--skills: there is no folder '{SHOP}'."),
        ([SHOP, "--format", "concise"], "'concise' is not one of"),
    ],
)
def test_a_call_that_makes_no_sense_says_why(vigil: Vigil, args: list[str], message: str) -> None:
    result = vigil("abstract", *args)
    assert result.status == 2
    assert message in " ".join(result.err.split())
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("content", "finding"),
    [
        (b'{"action":"a"}\n{oops\n{"action":"b"}\n', "VGL601]: not valid JSON"),
        (b'{"action":"a"}\n{"action":"b', "VGL601]: "),
        (b'{"action":"a"}\n\0\0\n{"action":"b"}\n', "VGL601]: not valid JSON"),
        (b'{"action":"a"}\n{"action":"\xff"}\n', "VGL002]: byte 0xff is not UTF-8 text"),
        (b'{"action":"a"}\n[1]\n', "VGL601]: a line must be a JSON object"),
        (b'{"event":"e","action":"a"}\n{"event":"e","action":"a"}\n', "VGL602]: event id"),
        (b'{"who":"knows"}\n', "VGL603]: the format of the run is not recognised"),
        (b'{"vigil_trace":2}\n', "VGL603]: trace format version"),
    ],
)
def test_a_recording_at_fault_has_no_events(vigil: Vigil, write: Write, content: bytes, finding: str) -> None:
    result = vigil("abstract", write("r.jsonl", content))
    assert (result.status, result.out) == (2, "")
    assert finding in result.err


def test_a_file_that_cannot_be_read_says_so(vigil: Vigil, tmp_path: Path) -> None:
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    result = vigil("abstract", tmp_path / "loop.jsonl")
    assert result.status == 2
    assert "error[VGL001]: cannot read" in result.err


def test_one_thing_at_a_time(vigil: Vigil) -> None:
    assert "one of --explain, --stats and --signature" in vigil("abstract", SHOP, "--explain", "--stats").err


def test_a_recording_is_not_written_over(vigil: Vigil, write: Write) -> None:
    path = write("run.jsonl", '{"action": "rm"}\n')
    result = vigil("abstract", str(path), "-o", str(path))
    assert (result.status, "VGL004" in result.err) == (2, True)
    assert path.read_text() == '{"action": "rm"}\n'

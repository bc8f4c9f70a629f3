"""What `check` and `verify` do with the formats: statuses, files, and what cannot be judged."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from junitparser import JUnitXml
from msgspec.structs import replace
from report_support import POLICY, ROOT, RUN, command_in, is_valid, lines_of

from vigil_lang.cli.output import FORMATS, REPORTS
from vigil_lang.diagnostics.visible import visible
from vigil_lang.report.recording import event_lines
from vigil_lang.report.write import FORMATS as WRITTEN
from vigil_lang.runs import load_trace
from vigil_lang.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable

    Vigil = Callable[..., Any]
    Write = Callable[..., Path]

BROKEN = 'statement A: abs(p(a = "1"\n'


def sarif_run(text: str) -> dict[str, Any]:
    log = json.loads(text)
    is_valid(log, "sarif-2.1.0.json")
    run: dict[str, Any] = log["runs"][0]
    return run


def test_the_formats_of_the_command_line_are_those_there_are() -> None:
    assert set(WRITTEN) == REPORTS


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("verb", ["check", "verify"])
def test_a_format_goes_to_a_file_as_it_goes_to_the_screen(vigil: Vigil, tmp_path: Path, verb: str, format: str) -> None:  # noqa: A002
    args = [verb, POLICY, *([RUN] if verb == "verify" else []), "--format", format]
    target = tmp_path / "result"
    shown = vigil(*args)
    saved = vigil(*args, "-o", target)
    assert (saved.status, saved.out) == (shown.status, "")
    numbers = '"seconds":', "time="
    if not any(number in shown.out for number in numbers):
        assert target.read_text(encoding="utf-8") == shown.out


@pytest.mark.parametrize("format", sorted(REPORTS - {"sarif"}))
def test_a_format_changes_no_status(vigil: Vigil, write: Write, format: str) -> None:  # noqa: A002
    broken = write("a.vgl", BROKEN)
    assert vigil("check", POLICY, "--format", format).status == 0
    assert vigil("check", broken, "--format", format).status == 1
    assert vigil("check", broken, "--format", format, "--fail-level", "never").status == 0
    assert vigil("verify", POLICY, RUN, "--format", format).status == 1
    assert vigil("verify", POLICY, RUN, "--format", format, "--fail-level", "never").status == 0
    assert vigil("verify", broken, RUN, "--format", format).status == 2
    assert vigil("verify", POLICY, write("b.jsonl", "oops\n"), "--format", format).status == 2


def test_sarif_fails_nothing_unless_asked(vigil: Vigil, write: Write) -> None:
    # spec RC.4-2
    broken = write("a.vgl", BROKEN)
    for args in (["check", broken], ["verify", POLICY, RUN]):
        quiet = vigil(*args, "--format", "sarif")
        strict = vigil(*args, "--format", "sarif", "--fail-level", "error")
        assert (quiet.status, strict.status) == (0, 1)
        assert sarif_run(quiet.out)["invocations"] == [{"executionSuccessful": True, "exitCode": 0}]
        assert sarif_run(strict.out)["invocations"] == [{"executionSuccessful": True, "exitCode": 1}]


def test_the_fail_level_of_verify_is_that_of_the_statements(vigil: Vigil, write: Write) -> None:
    policy = write("a.vgl", "@severity(warning)\nstatement A: abs(ship())\n")
    assert vigil("verify", policy, RUN).status == 1
    assert vigil("verify", policy, RUN, "--fail-level", "warning").status == 1
    assert vigil("verify", policy, RUN, "--fail-level", "error").status == 0
    assert vigil("verify", POLICY, RUN, "--fail-level", "error").status == 1


def test_json_lines_is_a_finding_a_line(vigil: Vigil, write: Write) -> None:
    # spec RC.2-2
    policy = write("a.vgl", "statement A: abs(p(x = y))\nstatement A: abs(q())\n")
    objects = [json.loads(line) for line in vigil("check", policy, "--format", "json-lines").out.splitlines()]
    whole = json.loads(vigil("check", policy, "--format", "json").out)
    assert len(objects) > 1
    assert objects == whole["findings"]


# --- what cannot be judged ---------------------------------------------------------------------------------


def test_a_broken_run_has_a_place_in_each_format(vigil: Vigil, write: Write) -> None:
    # spec RC.3-1
    broken = write("r.jsonl", '{"action":"a"}\n{oops\n')
    args = ["verify", POLICY, RUN, broken, "--format"]
    run = sarif_run(vigil(*args, "sarif").out)
    assert run["invocations"][0] == {"executionSuccessful": False, "exitCode": 2}
    first = run["results"][0]
    assert first["ruleId"] == "VGL601"
    assert first["locations"][0]["physicalLocation"]["region"]["startLine"] == 2
    annotations = [command_in(line) for line in lines_of(vigil(*args, "github").out)]
    assert any(a and a.properties["title"].startswith("VGL601") and a.properties["line"] == "2" for a in annotations)
    assert JUnitXml.fromstring(vigil(*args, "junit").out.encode()).errors == 1
    assert any(issue["check_name"] == "VGL601" for issue in json.loads(vigil(*args, "gitlab").out))


def test_a_policy_that_does_not_parse_is_reported_where_the_others_would_be(vigil: Vigil, write: Write) -> None:
    result = vigil("verify", write("a.vgl", BROKEN), RUN, "--format", "sarif")
    run = sarif_run(result.out)
    assert result.status == 2
    assert "VGL101" in result.err
    assert {found["ruleId"] for found in run["results"]} == {"VGL101"}
    assert run["invocations"][0]["executionSuccessful"] is False


def test_doubts_about_a_run_are_remarks(vigil: Vigil, write: Write) -> None:
    run = sarif_run(vigil("verify", POLICY, write("r.jsonl", ""), "--format", "sarif", "--allow-empty").out)
    remarks = run["invocations"][0]["toolExecutionNotifications"]
    found = [(remark["descriptor"]["id"], remark["level"]) for remark in remarks]
    assert found == [("VGL605", "warning")]
    assert run["results"] == []


def test_an_empty_message_gives_way_to_what_was_found(vigil: Vigil, write: Write) -> None:
    policy = write("a.vgl", '@message("")\nstatement A: abs(ship())\n')
    (annotation,) = [command_in(line) for line in lines_of(vigil("verify", policy, RUN, "--format", "github").out)]
    assert annotation is not None
    assert annotation.text.startswith("`ship()` must not happen (call `e2`")
    suite = next(iter(JUnitXml.fromstring(vigil("verify", policy, RUN, "--format", "junit").out.encode())))
    assert [case.result[0].message for case in suite] == ["`ship()` must not happen"]


# --- the run behind a violation ----------------------------------------------------------------------------


def flow(text: str, result: int = 0) -> list[tuple[str, int | None, str]]:
    """The steps of a result's code flow: file, line, importance."""
    (code_flow,) = sarif_run(text)["results"][result]["codeFlows"]
    places = [(step["location"]["physicalLocation"], step) for step in code_flow["threadFlows"][0]["locations"]]
    return [(p["artifactLocation"]["uri"], p["region"]["startLine"], s["importance"]) for p, s in places]


def test_the_flow_is_the_calls_that_matter_at_their_lines(vigil: Vigil) -> None:
    out = vigil("verify", POLICY, RUN, "--format", "sarif").out
    # What locked it is no payment, and what was paid for is another order: near misses on either side of the call.
    assert flow(out, 0) == [(RUN, 3, "important"), (RUN, 4, "essential"), (RUN, 5, "important")]
    assert flow(out, 2) == [(RUN, 3, "essential"), (RUN, 4, "important")]  # the lock, and what it forbids


def test_runs_of_one_recording_have_their_own_lines(vigil: Vigil, write: Write) -> None:
    lines = ['{"vigil_trace":1,"run":"one"}', '{"action":"pay"}', '{"action":"ship","args":{"order":"1"}}'] * 2
    lines[3] = '{"vigil_trace":1}'
    recording = write("many.jsonl", "\n".join(lines) + "\n")
    out = vigil("verify", POLICY, recording, "--format", "sarif", "--statement", "Paid").out
    assert [flow(out, n)[-1][1:] for n in (0, 1)] == [(3, "essential"), (6, "essential")]
    prints = [result["partialFingerprints"]["vigilFinding/v1"] for result in sarif_run(out)["results"]]
    assert len(set(prints)) == 2
    xml = vigil("verify", POLICY, recording, "--format", "junit").out
    names = [suite.name for suite in JUnitXml.fromstring(xml.encode())]
    assert [name.rpartition("#")[2] for name in names] == ["one", "2"]


def test_a_call_of_another_format_is_found_by_its_id(vigil: Vigil, write: Write) -> None:
    use = {"type": "tool_use", "id": "toolu_0123456789", "name": "Bash", "input": {"command": "rm -rf build"}}
    done = {"type": "tool_result", "tool_use_id": "toolu_0123456789", "content": ""}
    lines = [
        {"type": "system", "subtype": "init", "cwd": "/w", "session_id": "s"},
        {"type": "assistant", "session_id": "s", "message": {"role": "assistant", "content": [use]}},
        {"type": "user", "session_id": "s", "message": {"role": "user", "content": [done]}},
    ]
    recording = write("claude.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    policy = write("p.vgl", "statement NoRm: abs(rm())\n")
    out = vigil("verify", policy, recording, "--format", "sarif").out
    assert [step[1:] for step in flow(out)] == [(2, "essential")]


def test_a_recording_that_is_packed_or_gone_has_no_lines(write: Write) -> None:
    text = Path(RUN).read_bytes()
    packed = write("r.jsonl.gz", "")
    packed.write_bytes(gzip.compress(text))
    assert event_lines(load_trace(packed), {0, 1}) == {}
    plain = write("r.jsonl", text.decode())
    trace = load_trace(plain)
    assert event_lines(trace, {0, 1}) == {0: 3, 1: 4}
    plain.unlink()
    assert event_lines(trace, {0, 1}) == {}
    foreign = Trace(trace.events, replace(trace.run, format="claude-code"))
    assert event_lines(foreign, {0}) == {}


def test_a_run_that_is_given_twice_has_results_of_its_own(vigil: Vigil) -> None:
    issues = json.loads(vigil("verify", POLICY, RUN, RUN, "--format", "gitlab").out)
    assert len({issue["fingerprint"] for issue in issues}) == len(issues) >= 3


def test_two_policies_of_one_name_have_rules_of_their_own(vigil: Vigil, write: Write) -> None:
    # spec RC.3-1
    one, two = (write(f"{folder}/p.vgl", "statement A: abs(ship())\n") for folder in "ab")
    run = sarif_run(vigil("verify", one, two, RUN, "--format", "sarif").out)
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert ids == ["a/p.vgl/A", "b/p.vgl/A"]
    assert [result["ruleId"] for result in run["results"]] == ids
    # What one is called does not depend on whether the other is broken, nor on which comes first.
    one.write_text("statement A: abs(sink())\n", encoding="utf-8")
    run = sarif_run(vigil("verify", two, one, RUN, "--format", "sarif").out)
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["b/p.vgl/A"]


# --- the cost ----------------------------------------------------------------------------------------------


def test_reports_are_imported_when_they_are_asked_for() -> None:
    script = (
        "import sys; from vigil_lang.cli.main import run; run(sys.argv[1:]);"
        "print(*[name for name in sys.modules if name.startswith('vigil_lang.report')], file=sys.stderr)"
    )

    def imported(*args: str) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-c", script, *args], capture_output=True, text=True, cwd=ROOT, check=True
        )
        return set(done.stderr.split())

    for form in ("human", "concise", "json", "json-lines"):
        assert imported("check", POLICY, "--format", form) == set()
    of_gitlab = imported("check", POLICY, "--format", "gitlab")
    assert "vigil_lang.report.gitlab" in of_gitlab
    assert not of_gitlab & {f"vigil_lang.report.{other}" for other in REPORTS - {"gitlab"}}


# --- hostile policies and runs -----------------------------------------------------------------------------

HOSTILE = "::error::\\n##[add-mask]`|<script>]]>\\u{202e}[a](https://x.y) %0A"


@pytest.fixture
def hostile(write: Write) -> tuple[Path, Path]:
    """A policy and a run that carry texts which mean something to every format."""
    text = HOSTILE.replace('"', "'")
    head = f'/// </table> {text}\n@source("{text}", "{text}")\n@message("{text}")\n'
    policy = write("::warning::%0A,file=x.vgl", head + f'statement A: abs(a(x = "{text}"))\n')
    event = json.loads(f'"{HOSTILE.replace("{202e}", "202e")}"')
    run = {"event": event, "action": "a", "args": {"x": event}, "call": "]]>\x1b[31m"}
    return policy, write("]]>`|.jsonl", json.dumps(run) + "\n")


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_that_is_written_acts_on_its_reader(
    vigil: Vigil,
    hostile: tuple[Path, Path],
    format: str,  # noqa: A002
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # spec RC.3-4
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    out = vigil("verify", *hostile, "--format", format).out
    assert all(visible(line) == line for line in out.split("\n"))
    lines = lines_of(out)
    if format == "github":
        commands = [command_in(line) for line in lines]
        assert [command and command.name for command in commands] == ["error"]
    elif format in ("human", "concise"):
        assert not any(command_in(line) for line in lines)
    elif format == "junit":
        assert JUnitXml.fromstring(out.encode()).failures == 1
    else:
        read = json.loads(out)
        if format in SCHEMAS:
            is_valid(read, SCHEMAS[format])


SCHEMAS = {"sarif": "sarif-2.1.0.json", "gitlab": "gitlab-code-quality.json", "rdjson": "rdjson.json"}

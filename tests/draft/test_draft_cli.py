"""`vigil draft` as a user calls it: the real SDK, a server on the loopback interface, files and streams."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from draft_verbs import GOOD_ANSWERS, SKILL, all_of, answer, is_, model, requirement
from messages_api import KEY, Fails, Says

from vigil_lang.base.files import read_source
from vigil_lang.semantics.policy import load_policy
from vigil_lang.syntax.format import format_text

if TYPE_CHECKING:
    from draft_verbs import Vigil
    from messages_api import MessagesAPI

pytestmark = pytest.mark.usefixtures("project")

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "draft-report.schema.json").read_text(encoding="utf-8"))
DRAFT = ("draft", "SKILL.md", "--trace", "bad.jsonl", "--trace", "good.jsonl")
UNGROUNDED = answer("statements", requirement("tested", "prec", all_of(is_("deploy")), all_of(is_("launch_tests"))))


def report_of(text: str) -> dict[str, Any]:
    """A report as JSON, which is what its schema says."""
    found: dict[str, Any] = json.loads(text)
    jsonschema.validate(found, SCHEMA)
    return found


# --- a draft that goes well ----------------------------------------------------------------------------------------


def test_the_policy_goes_to_a_file_and_the_report_to_the_screen(
    project: Path, messages_api: MessagesAPI, vigil: Vigil
) -> None:
    messages_api.script(model(GOOD_ANSWERS))
    result = vigil(*DRAFT, "-o", "deploy.vgl")
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith("drafted  deploy.vgl · 3 of 4 clauses kept with 3 statements, 1 unsupported\n")
    assert "tested by 2 of 2 runs, broken by 1" in result.out
    policy = load_policy(str(project / "deploy.vgl"))
    assert policy.name == "deploy"
    assert [s.name for s in policy.statements] == ["backed_up", "no_force_push", "tested"]
    assert [s.metadata.cites for s in policy.statements] == [
        (("SKILL.md", line.removeprefix("- ")),) for line in SKILL.splitlines() if line.startswith("- ")
    ][:3]
    text = (project / "deploy.vgl").read_text(encoding="utf-8")
    assert format_text(read_source(str(project / "deploy.vgl"))) == text
    assert "Names must be clear to the reader." in text.rpartition("statement tested")[2]


def test_what_it_writes_passes_check_and_lint_and_judges(messages_api: MessagesAPI, vigil: Vigil) -> None:
    messages_api.script(model(GOOD_ANSWERS))
    assert vigil(*DRAFT, "-o", "deploy.vgl").status == 0
    assert vigil("check", "deploy.vgl", "--trace", "bad.jsonl", "--trace", "good.jsonl").status == 0
    assert vigil("lint", "deploy.vgl", "--select", "ALL").out == "1 policy linted, no findings\n"
    assert vigil("fmt", "--check", "deploy.vgl").status == 0
    judged = vigil("verify", "deploy.vgl", "bad.jsonl", "--format", "concise")
    assert re.findall(r":(e\d): (\w+)", judged.out) == [("e1", "backed_up"), ("e4", "no_force_push")]


def test_without_a_file_the_policy_is_on_one_stream_and_the_report_on_the_other(
    messages_api: MessagesAPI, vigil: Vigil
) -> None:
    messages_api.script(model(GOOD_ANSWERS))
    result = vigil(*DRAFT, "--name", "other", "--format", "json")
    assert result.status == 0
    assert "\npolicy other\n" in result.out
    report = report_of(result.err)
    assert report["policy"] == {"file": None, "name": "other", "statements": 3}
    assert [clause["outcome"] for clause in report["clauses"]] == ["kept", "kept", "kept", "unsupported"]
    assert report["clauses"][0]["statements"][0]["runs"] == {"given": 2, "tested_by": 2, "broken_by": 1}
    assert len(messages_api.asked) == 4
    assert report["usage"]["requests"] == len(messages_api.asked) + len(messages_api.read_again)
    assert report["usage"]["cost_usd"] > 0


def test_the_report_goes_where_it_is_wanted(project: Path, messages_api: MessagesAPI, vigil: Vigil) -> None:
    messages_api.script(model(GOOD_ANSWERS))
    result = vigil(*DRAFT, "-o", "deploy.vgl", "--format", "markdown", "--report", "report.md")
    assert result.out == "drafted  deploy.vgl · 3 of 4 clauses kept with 3 statements, 1 unsupported\n"
    assert (project / "report.md").read_text(encoding="utf-8").startswith("### vigil draft: `deploy.vgl`\n")


def test_a_model_is_asked_as_the_configuration_and_the_command_line_say(
    project: Path, messages_api: MessagesAPI, vigil: Vigil
) -> None:
    messages_api.script(model(GOOD_ANSWERS))
    (project / "vigil.toml").write_text(
        'runs = ["bad.jsonl"]\n[draft]\nmodel = "claude-a"\neffort = "low"\nstream = false\nmax-tokens = 5000\n',
        encoding="utf-8",
    )
    assert vigil("draft", "SKILL.md", "--effort", "high").status == 0
    bodies = messages_api.asked
    assert {body["model"] for body in bodies} == {"claude-a"}
    assert {body["output_config"]["effort"] for body in bodies} == {"high"}
    assert {body["max_tokens"] for body in bodies} == {5000}
    assert not any(body.get("stream") for body in bodies)
    assert not any("tools" in body for body in bodies)


def test_a_configuration_sends_nothing_from_outside_its_folder(
    project: Path, messages_api: MessagesAPI, vigil: Vigil
) -> None:
    messages_api.script(model(GOOD_ANSWERS))
    (project / "bad.jsonl").rename(project.parent / "theirs.jsonl")
    (project / "inside.jsonl").symlink_to(project.parent / "theirs.jsonl")
    for named in ("../theirs.jsonl", "../*.jsonl", "inside.jsonl", "in*.jsonl", str(project.parent / "theirs.jsonl")):
        (project / "vigil.toml").write_text(f"runs = [{json.dumps(named)}]\n", encoding="utf-8")
        result = vigil("draft", "SKILL.md")
        assert (result.status, result.out) == (2, "")
        assert "out of the project" in " ".join(result.err.split())
    (project / "vigil.toml").write_text('signatures = ["../theirs.jsonl"]\n', encoding="utf-8")
    assert "out of the project" in vigil("draft", "SKILL.md", "--trace", "good.jsonl").err
    assert "out of the project" in vigil("run", "good.jsonl", "--spec", "SKILL.md").err
    assert messages_api.requests == []
    (project / "vigil.toml").unlink()
    assert vigil("draft", "SKILL.md", "--trace", "../theirs.jsonl").status == 0


# --- a draft that does not -----------------------------------------------------------------------------------------


def test_what_cannot_be_grounded_goes_back_and_is_reported_at_last(
    project: Path, messages_api: MessagesAPI, vigil: Vigil
) -> None:
    messages_api.script(model({**GOOD_ANSWERS, "run the tests": UNGROUNDED}))
    result = vigil(*DRAFT, "-o", "deploy.vgl", "--rounds", "1")
    assert (result.status, result.err) == (1, "")
    assert result.out.startswith(
        "incomplete  deploy.vgl · 2 of 4 clauses kept with 2 statements, 1 unsupported, 1 rejected"
    )
    assert "launch_tests" in result.out
    assert "(asked 2 times)" in result.out
    assert "launch_tests" not in (project / "deploy.vgl").read_text(encoding="utf-8").partition("// Clauses")[0]
    assert len(messages_api.asked) == 5


def test_a_file_that_is_there_is_not_replaced_and_no_model_asked(
    project: Path, messages_api: MessagesAPI, vigil: Vigil
) -> None:
    (project / "deploy.vgl").write_text("policy mine\n", encoding="utf-8")
    result = vigil(*DRAFT, "-o", "deploy.vgl")
    assert result.status == 2
    assert "'deploy.vgl' is there already and may have been worked on; --force replaces it." in result.err
    assert messages_api.requests == []
    messages_api.script(model(GOOD_ANSWERS))
    assert vigil(*DRAFT, "-o", "deploy.vgl", "--force").status == 0
    assert load_policy(str(project / "deploy.vgl")).name == "deploy"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("-o", "nowhere/a.vgl"), "VGL004"),
        (("-o", "."), "VGL004"),
        (("-o", "nowhere/"), "cannot write `nowhere/`: no such directory"),
        (("--report", "nowhere/a.md"), "VGL004"),
        (("--max-cost", "1", "--model", "house-model"), "VGL613"),
        (("--offline",), "VGL614"),
        (("--offline", "--no-cache"), "choose one"),
        (("--refresh", "--no-cache"), "choose one"),
        (("--skeleton", "--show-prompt"), "choose one"),
        (("--cached",), "goes without documents"),
        (("--eval", "."), "goes without documents"),
        (("--name", "a b"), "'a-b' can"),
        (("--skeleton", "--report", "r"), "makes no report"),
        (("--show-prompt", "--format", "markdown"), "goes without --format markdown"),
        (("--report", "-"), "cannot both go to standard output"),
        (("--report", "SKILL.md"), "is there already"),
        (("--report", "SKILL.md", "--force"), "cannot write `SKILL.md`: this command also reads or writes it"),
        (("-o", "./SKILL.md", "--force"), "cannot write `./SKILL.md`: this command also reads or writes it"),
        (("-o", "bad.jsonl", "--force"), "cannot write `bad.jsonl`: this command also reads or writes it"),
        (("-o", "x.vgl", "--report", "./x.vgl"), "cannot write `./x.vgl`: two outputs would go there"),
        (("--max-cost", "nan"), "nan is no amount of money"),
        (("--max-cost", "inf"), "inf is no amount of money"),
        (("--base-url", "nonsense"), "--base-url': that is no address of HTTP"),
        (("--base-url", "http://[::1"), "--base-url': that is no address of HTTP"),
        (("--skeleton",), "--skeleton asks no model and reads no runs: it goes without --trace."),
        (("--from-json", "a.json", "--model", "m"), "--from-json asks no model: it goes without --model."),
        (("nope.md",), "VGL001"),
        (("--from-json", "nope.json"), "VGL001"),
        (("--from-json", "bad.jsonl"), "VGL611"),
    ],
)
def test_a_call_at_fault_is_told_of_before_a_model_is_asked(
    project: Path, messages_api: MessagesAPI, vigil: Vigil, more: tuple[str, ...], said: str
) -> None:
    result = vigil(*DRAFT, *more)
    assert (result.status, result.out) == (2, "")
    assert said in result.err
    assert messages_api.asked == []
    assert sorted(path.name for path in project.iterdir()) == ["SKILL.md", "bad.jsonl", "good.jsonl", "vigil.toml"]


def test_without_runs_or_tools_no_actions_are_known(vigil: Vigil) -> None:
    result = vigil("draft", "SKILL.md", "--offline")
    assert result.status == 2
    assert "--trace RUN reads them from recorded runs" in result.err


def test_without_a_document_or_an_obligation_there_is_nothing_to_draft(project: Path, vigil: Vigil) -> None:
    (project / "plain.md").write_text("# A title\n\nThe sky is blue.\n", encoding="utf-8")
    assert "vigil draft SKILL.md --trace run.jsonl" in vigil("draft").err
    result = vigil("draft", "plain.md", "--trace", "bad.jsonl")
    assert result.status == 2
    assert "No sentence of plain.md states an obligation" in result.err
    assert "      3  The sky is blue." in result.err


@pytest.mark.usefixtures("messages_api")
def test_without_a_key_nothing_is_written(project: Path, vigil: Vigil, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    result = vigil(*DRAFT, "-o", "deploy.vgl")
    assert (result.status, result.out) == (2, "")
    assert "error[VGL612]: there is no key for the API" in result.err
    assert not (project / "deploy.vgl").exists()


@pytest.mark.usefixtures("messages_api")
@pytest.mark.parametrize(
    "call", [("draft", "SKILL.md", "--trace", "broken.jsonl"), ("run", "broken.jsonl", "--spec", "SKILL.md")]
)
def test_that_there_is_no_key_is_said_before_runs_are_read(
    call: tuple[str, ...], project: Path, vigil: Vigil, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "broken.jsonl").write_text("{\n", encoding="utf-8")
    assert "there is no key" not in vigil(*call).err
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    result = vigil(*call)
    assert result.status == 2
    assert "error[VGL612]: there is no key for the API" in result.err
    assert "broken.jsonl" not in result.err


def test_stored_answers_need_no_key(messages_api: MessagesAPI, vigil: Vigil, monkeypatch: pytest.MonkeyPatch) -> None:
    messages_api.script(model(GOOD_ANSWERS))
    assert vigil(*DRAFT).status == 0
    asked = len(messages_api.requests)
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    assert vigil(*DRAFT).status == 0
    assert len(messages_api.requests) == asked
    assert "there is no key" in vigil(*DRAFT, "--refresh").err
    assert "there is no key" in vigil(*DRAFT, "--model", "claude-opus-5").err


@pytest.mark.usefixtures("messages_api")
def test_without_the_sdk_the_message_names_what_to_install(vigil: Vigil, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    result = vigil(*DRAFT)
    assert result.status == 2
    assert 'pip install "vigil-lang[draft]"' in result.err
    assert vigil("draft", "SKILL.md", "--skeleton").status == 0


def test_a_key_that_is_refused_is_said_and_not_shown(project: Path, messages_api: MessagesAPI, vigil: Vigil) -> None:
    messages_api.script(lambda _: Fails(401, f"invalid x-api-key {KEY}"))
    result = vigil(*DRAFT, "-o", "deploy.vgl")
    assert (result.status, result.out) == (2, "")
    assert "VGL612" in result.err
    assert KEY not in result.err
    assert not (project / "deploy.vgl").exists()


def test_a_budget_that_does_not_suffice_keeps_what_there_is(
    project: Path, messages_api: MessagesAPI, vigil: Vigil
) -> None:
    messages_api.counts = 1000
    # A question may cost 1,000 tokens at 5 USD and 1,024 at 20 USD per million at least; an answer costs all it may.
    messages_api.script(model(GOOD_ANSWERS, input_tokens=1000, output_tokens=1500))
    result = vigil(*DRAFT, "-o", "deploy.vgl", "--max-cost", "0.08", "--format", "json")
    assert result.status == 1
    report = report_of(result.out)
    causes = [clause["cause"] for clause in report["clauses"]]
    assert causes[0] is None
    assert causes[-1] == "budget"
    assert report["usage"]["cost_usd"] <= 0.08
    assert len(load_policy(str(project / "deploy.vgl")).statements) == causes.count(None)
    assert vigil("draft", "--cached").out == "no answers are stored\n"


def test_texts_of_documents_and_models_never_reach_the_terminal_as_they_are(
    project: Path, messages_api: MessagesAPI, vigil: Vigil
) -> None:
    (project / "SKILL.md").write_text(SKILL + "- Never print \x1b[31mred\x1b[0m \u202e text.\n", encoding="utf-8")
    sly = answer("unsupported", reason="\x1b]0;title\x07 because \u202e of it")
    messages_api.script(model({**GOOD_ANSWERS, "Never print": sly, "must be clear": sly}))
    for form in ("human", "json", "markdown"):
        result = vigil(*DRAFT, "--format", form, "--refresh")
        assert result.status in (0, 1)
        assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", result.out + result.err)


def test_where_nothing_is_kept_no_policy_is_written(project: Path, messages_api: MessagesAPI, vigil: Vigil) -> None:
    messages_api.script(model({words: answer("unsupported", reason="no call shows it") for words in GOOD_ANSWERS}))
    (project / "deploy.vgl").write_text("policy mine\n", encoding="utf-8")
    result = vigil(*DRAFT, "-o", "deploy.vgl", "--force")
    assert result.status == 1
    assert result.out.startswith("no policy  deploy.vgl · 0 of 4 clauses kept, 4 unsupported\n")
    assert "note: no clause became a statement, so no policy was written; a file that was there is" in result.out
    assert (project / "deploy.vgl").read_text(encoding="utf-8") == "policy mine\n"
    assert vigil(*DRAFT).out == ""
    assert report_of(vigil(*DRAFT, "-o", "new.vgl", "--format", "json").out)["policy"]["file"] is None
    assert vigil(*DRAFT, "-o", "new.vgl", "--format", "markdown").out.startswith(
        "### vigil draft: no policy for `new.vgl`\n"
    )


def test_names_that_no_run_shows_are_said_to_need_more_runs(messages_api: MessagesAPI, vigil: Vigil) -> None:
    messages_api.script(model({**GOOD_ANSWERS, "run the tests": UNGROUNDED}))
    told = " ".join(vigil(*DRAFT, "--rounds", "0").err.split())
    assert "for names that neither the runs nor the tools know: more runs (--trace) or definitions" in told
    messages_api.script(model(GOOD_ANSWERS))
    assert "neither the runs nor the tools" not in vigil(*DRAFT, "--refresh").err


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
def test_a_link_that_leads_nowhere_is_not_followed(project: Path, messages_api: MessagesAPI, vigil: Vigil) -> None:
    (project / "deploy.vgl").symlink_to(project / "made-up.vgl")
    assert "--force replaces it" in vigil(*DRAFT, "-o", "deploy.vgl").err
    assert messages_api.requests == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_where_the_report_cannot_be_written_no_policy_is(
    project: Path, messages_api: MessagesAPI, vigil: Vigil
) -> None:
    messages_api.script(model(GOOD_ANSWERS))
    result = vigil(*DRAFT, "-o", "deploy.vgl", "--report", "/dev/full")
    assert result.status == 2
    assert "VGL004" in result.err
    assert not (project / "deploy.vgl").exists()


def test_a_document_outside_the_project_is_told_of(project: Path, messages_api: MessagesAPI, vigil: Vigil) -> None:
    (project / "policies").mkdir()
    (project / "policies" / "vigil.toml").write_text("", encoding="utf-8")
    messages_api.script(model(GOOD_ANSWERS))
    told = " ".join(vigil(*DRAFT, "-o", "policies/deploy.vgl").out.split())
    assert "note: ../SKILL.md lies outside the policy's project" in told
    assert "warning[VGL705]" in vigil("lint", "policies/deploy.vgl").out
    assert "outside" not in vigil(*DRAFT, "-o", "deploy.vgl").out


def test_clauses_share_a_conversation_only_where_the_call_says_so(
    project: Path, messages_api: MessagesAPI, vigil: Vigil
) -> None:
    (project / "vigil.toml").write_text("[draft]\nbatch = 10\n", encoding="utf-8")
    assert "there is no setting `draft.batch`" in vigil(*DRAFT).err
    (project / "vigil.toml").write_text("", encoding="utf-8")
    messages_api.script(model(GOOD_ANSWERS))
    assert vigil(*DRAFT).status == 0
    asked = len(messages_api.asked)
    refused = Fails(401, "no key of ours")
    messages_api.script(lambda _: refused)
    vigil(*DRAFT, "--batch", "4")  # what was answered one by one is not what is asked for here
    assert len(messages_api.asked) == asked + 1
    assert all(words in json.dumps(messages_api.asked[-1]["messages"]) for words in GOOD_ANSWERS)
    assert vigil(*DRAFT, "--batch", "0").status == 2


# --- stored answers ------------------------------------------------------------------------------------------------


def test_the_second_time_nobody_is_asked(messages_api: MessagesAPI, vigil: Vigil) -> None:
    messages_api.script(model(GOOD_ANSWERS))
    first = vigil(*DRAFT)
    asked = len(messages_api.asked)
    second = vigil(*DRAFT)
    third = vigil(*DRAFT, "--offline")
    assert len(messages_api.asked) == asked
    assert first.out == second.out == third.out
    assert "stored answers of claude-" in second.err
    assert vigil(*DRAFT, "--refresh").status == 0
    assert len(messages_api.asked) == 2 * asked
    assert vigil(*DRAFT, "--no-cache").status == 0
    assert len(messages_api.asked) == 3 * asked


def test_what_is_stored_can_be_looked_at(messages_api: MessagesAPI, vigil: Vigil) -> None:
    messages_api.script(model({**GOOD_ANSWERS, "run the tests": UNGROUNDED}))
    vigil(*DRAFT)
    listed = vigil("draft", "--cached")
    assert "SKILL.md" in listed.out
    assert "2 with statements, 1 unsupported, 1 without an answer" in listed.out
    (one,) = json.loads(vigil("draft", "--cached", "--format", "json").out)["drafts"]
    stored = json.loads(Path(one["file"]).read_text(encoding="utf-8"))
    assert stored["left"][0]["cause"] == "rejected"
    assert KEY not in json.dumps(stored)


def test_a_stored_draft_tells_again_what_was_rejected(messages_api: MessagesAPI, vigil: Vigil) -> None:
    messages_api.script(model({**GOOD_ANSWERS, "run the tests": UNGROUNDED}))
    first = report_of(vigil(*DRAFT, "--format", "json").err)
    second = report_of(vigil(*DRAFT, "--format", "json", "--offline").err)
    assert second["clauses"][2]["cause"] == first["clauses"][2]["cause"] == "rejected"
    assert second["clauses"][2]["problems"] == first["clauses"][2]["problems"] != []
    assert [clause["rounds"] for clause in second["clauses"]] == [clause["rounds"] for clause in first["clauses"]]
    assert [clause["rounds"] for clause in first["clauses"]] == [1, 1, 3, 1]


def test_a_clause_that_failed_is_asked_about_again_where_more_rounds_are_allowed(
    messages_api: MessagesAPI, vigil: Vigil
) -> None:
    messages_api.script(model({**GOOD_ANSWERS, "run the tests": UNGROUNDED}))
    assert vigil(*DRAFT, "--rounds", "0").status == 1
    asked = len(messages_api.asked)
    assert vigil(*DRAFT, "--rounds", "0").status == 1
    assert len(messages_api.asked) == asked
    messages_api.script(model(GOOD_ANSWERS))
    assert vigil(*DRAFT, "--rounds", "1").status == 0
    assert vigil(*DRAFT, "--rounds", "0", "--offline").status == 0


def test_a_stored_answer_that_was_tampered_with_is_not_used(messages_api: MessagesAPI, vigil: Vigil) -> None:
    messages_api.script(model(GOOD_ANSWERS))
    vigil(*DRAFT)
    (place,) = (Path(os.environ["VIGIL_CACHE_DIR"]) / "drafts").glob("*.json")
    place.write_text(place.read_text(encoding="utf-8").replace("git_push", "git_pull"), encoding="utf-8")
    assert vigil(*DRAFT, "--offline").status == 2


# --- without a model -----------------------------------------------------------------------------------------------


def test_a_skeleton_is_a_policy_that_check_accepts(project: Path, vigil: Vigil) -> None:
    result = vigil("draft", "SKILL.md", "--skeleton", "-o", "deploy.vgl")
    assert (result.status, result.out, result.err) == (0, "", "")
    assert "// @source(" in (project / "deploy.vgl").read_text(encoding="utf-8")
    assert vigil("check", "deploy.vgl").status == 0


def test_a_skeleton_of_nothing_is_none(project: Path, vigil: Vigil) -> None:
    (project / "plain.md").write_text("# A title\n\nThe sky is blue.\n", encoding="utf-8")
    result = vigil("draft", "plain.md", "--skeleton")
    assert (result.status, result.out) == (2, "")
    assert "No sentence of plain.md states an obligation" in result.err
    assert "      3  The sky is blue." in result.err


def test_instructions_are_clauses_unless_that_is_refused(project: Path, vigil: Vigil) -> None:
    (project / "plain.md").write_text("# A title\n\n- Look up.\n- Run it.\n", encoding="utf-8")
    taken = vigil("draft", "plain.md", "--skeleton")
    assert taken.status == 0
    assert taken.out.count("// @source(") == taken.out.count("// nothing says that it binds") == 2
    assert vigil("draft", "plain.md", "--skeleton", "--take", "step").out == taken.out
    refused = vigil("draft", "plain.md", "--skeleton", "--take", "none")
    assert (refused.status, refused.out) == (2, "")
    assert "plain.md states an obligation (--take step takes 2 instructions), so" in refused.err
    assert "(--take step)" in refused.err  # in the list of what was not taken, under the reason
    (project / "vigil.toml").write_text("[draft]\ntake = []\n", encoding="utf-8")
    assert vigil("draft", "plain.md", "--skeleton").err == refused.err
    assert vigil("draft", "plain.md", "--skeleton", "--take", "step").out == taken.out


@pytest.mark.parametrize("others", [["--take", "step"], ["--cached"]])
def test_what_take_goes_without(vigil: Vigil, others: list[str]) -> None:
    documents = [] if "--cached" in others else ["SKILL.md"]
    result = vigil("draft", *documents, "--take", "none", *others)
    assert (result.status, result.out) == (2, "")
    assert "without" in result.err


def test_a_skeleton_that_nobody_filled_in_answers_for_nothing(project: Path, vigil: Vigil) -> None:
    vigil("draft", "SKILL.md", "--skeleton", "--format", "json", "-o", "answers.json")
    result = vigil(*DRAFT, "--from-json", "answers.json", "-o", "deploy.vgl", "--format", "json")
    report = report_of(result.out)
    assert (result.status, report["complete"]) == (1, False)
    assert {clause["cause"] for clause in report["clauses"]} == {"missing"}
    assert not (project / "deploy.vgl").exists()


def test_a_skeleton_as_json_can_be_answered_and_handed_in(project: Path, vigil: Vigil) -> None:
    assert vigil("draft", "SKILL.md", "--skeleton", "--format", "json", "-o", "answers.json").status == 0
    document = json.loads((project / "answers.json").read_text(encoding="utf-8"))
    assert [item["outcome"] for item in document["answers"]] == ["unsupported"] * 4
    pushed = GOOD_ANSWERS["--force"]["answers"][0]
    document["answers"][1].update(outcome="statements", reason="", statements=pushed["statements"])
    (project / "answers.json").write_text(json.dumps(document), encoding="utf-8")
    result = vigil(*DRAFT, "--from-json", "answers.json", "-o", "deploy.vgl")
    assert (result.status, result.err) == (1, "")  # a placeholder is no answer
    assert result.out.startswith("incomplete  deploy.vgl · 1 of 4 clauses kept with 1 statement, 3 not answered\n")
    assert result.out.endswith("answers of answers.json, no model asked\n")
    assert [s.name for s in load_policy(str(project / "deploy.vgl")).statements] == ["no_force_push"]


def test_the_prompt_that_is_shown_is_the_prompt_that_is_sent(messages_api: MessagesAPI, vigil: Vigil) -> None:
    shown = vigil(*DRAFT, "--show-prompt")
    assert (shown.status, shown.err) == (0, "")
    assert messages_api.requests == []
    messages_api.script(model(GOOD_ANSWERS))
    vigil(*DRAFT)
    for body in messages_api.asked:
        texts = [block["text"] for block in (*body["system"], *body["messages"][0]["content"])]
        assert len(texts) == 3
        assert all(text.strip() in shown.out for text in texts)


def test_drafts_are_compared_with_gold_policies(project: Path, messages_api: MessagesAPI, vigil: Vigil) -> None:
    messages_api.script(model(GOOD_ANSWERS))
    gold = project / "gold"
    gold.mkdir()
    assert vigil(*DRAFT, "-o", "gold/deploy.vgl").status == 0  # cites ../SKILL.md from there
    for name in ("bad.jsonl", "good.jsonl"):
        (project / name).rename(gold / name)
    result = vigil("draft", "--eval", "gold", "--format", "json")
    assert (result.status, result.err) == (0, "")
    assert json.loads(result.out)["schema"] == "vigil.evaluation/1"
    assert "agree" in vigil("draft", "--eval", "gold").out


def test_answers_beside_gold_policies_are_compared_without_a_model(project: Path, vigil: Vigil) -> None:
    for name in ("one", "two", "answers/one"):
        (project / "gold" / name).mkdir(parents=True)
    answered = [
        {**reply["answers"][0], "clause": f"c{number}"} for number, reply in enumerate(GOOD_ANSWERS.values(), 1)
    ]
    (project / "answers.json").write_text(json.dumps({"answers": answered}), encoding="utf-8")
    for name in ("one", "two"):
        folder = project / "gold" / name
        (folder / "SKILL.md").write_text(SKILL, encoding="utf-8")
        (folder / "bad.jsonl").write_text((project / "bad.jsonl").read_text(encoding="utf-8"), encoding="utf-8")
        drafted = ("draft", folder / "SKILL.md", "--from-json", "answers.json", "-o", folder / "p.vgl")
        assert vigil(*drafted, "--trace", "bad.jsonl", "--trace", "good.jsonl").status == 0
    weaker = [dict(item) for item in answered]
    weaker[1] = {"clause": "c2", "outcome": "unsupported", "reason": "too hard", "statements": []}
    (project / "gold" / "one" / "draft.json").write_text(json.dumps({"answers": weaker}), encoding="utf-8")
    found = vigil("draft", "--eval", "gold", "--from-json", "gold")
    assert (found.status, found.err) == (0, "")
    assert re.search(r"missing\s+SKILL.md:8", found.out)
    assert re.search(r"agree\s+SKILL.md:7", found.out)
    assert "gold/two/p.vgl  left out: it has no draft" in found.out
    assert vigil("draft", "--eval", "gold", "--from-json", "answers.json").status == 2
    assert vigil("draft", "--eval", "nowhere").status == 2


def test_the_limit_of_an_evaluation_is_one_for_all_policies(
    project: Path, messages_api: MessagesAPI, vigil: Vigil
) -> None:
    messages_api.counts = 1000
    messages_api.script(model(GOOD_ANSWERS, input_tokens=1000, output_tokens=1500))
    for name in ("one", "two"):
        folder = project / "gold" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(SKILL, encoding="utf-8")
        (folder / "bad.jsonl").write_text((project / "bad.jsonl").read_text(encoding="utf-8"), encoding="utf-8")
        gold = '@source("SKILL.md", "Never push with `--force`.")\nstatement P: abs(git_push(force = true))\n'
        (folder / "p.vgl").write_text(gold, encoding="utf-8")
    assert vigil("draft", "--eval", "gold", "--max-cost", "0.15", "--no-cache").status == 0
    tokens = len(messages_api.asked) * (1000 * 4 + 1500 * 20) / 1_000_000
    assert 0.05 < tokens <= 0.15


# --- as a process --------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_terminal_sees_how_far_it_is_and_ctrl_c_leaves_nothing_half_written(
    project: Path, messages_api: MessagesAPI
) -> None:
    import pty

    waits = answer("unsupported", reason="never said")
    messages_api.script(model({**GOOD_ANSWERS, "must be clear": Says(json.dumps(waits), delay=30.0)}, delay=0.1))
    leader, follower = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "vigil_lang", *DRAFT, "-o", "deploy.vgl"],
        stdout=subprocess.PIPE,
        stderr=follower,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(follower)
    seen, interrupted = b"", False
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        seen += part
        if b"3 of 4 clauses settled" in seen and not interrupted:
            child.send_signal(signal.SIGINT)
            interrupted = True
    os.close(leader)
    out, _ = child.communicate(timeout=60)
    assert re.search(rb"asking claude-[a-z0-9-]+: \d of 4 clauses settled", seen)
    assert b"characters" in seen
    assert (child.returncode, out) == (2, b"")
    assert seen.endswith(b"vigil: interrupted\r\n")
    assert b"Traceback" not in seen
    assert sorted(path.name for path in project.iterdir()) == ["SKILL.md", "bad.jsonl", "good.jsonl", "vigil.toml"]


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; from vigil_lang.cli.main import run; run(sys.argv[1:]);"
        "print(*{'anthropic', 'z3', 'lark', 'rich', 'httpx2'} & set(sys.modules), file=sys.stderr)"
    )
    for verb in ("draft", "run"):
        done = subprocess.run(
            [sys.executable, "-c", script, verb, "--help"], capture_output=True, text=True, check=True
        )
        assert done.stderr.strip() == ""
        assert "Usage: vigil" in done.stdout or f"{verb} [OPTIONS]" in done.stdout

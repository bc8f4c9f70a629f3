"""`vigil run`: from documents and runs to verdicts, with a model that is asked once."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from draft_verbs import GOOD_ANSWERS, all_of, answer, is_, model, requirement
from messages_api import Fails, Says

from vigil_lang.semantics.policy import load_policy

if TYPE_CHECKING:
    from draft_verbs import Vigil
    from messages_api import MessagesAPI

pytestmark = pytest.mark.usefixtures("project")

RUN = ("run", "bad.jsonl", "good.jsonl", "--spec", "SKILL.md")
OFFENCES = [("bad.jsonl", "e1", "backed_up"), ("bad.jsonl", "e4", "no_force_push")]
UNSUPPORTED = {words: answer("unsupported", reason="no") for words in GOOD_ANSWERS}


def offences(text: str) -> list[tuple[str, ...]]:
    """What concise verdicts hold."""
    return re.findall(r"^(\S+?)(?::\d+)?:(e\d+): (\w+)", text, re.MULTILINE)


def test_runs_are_judged_by_what_was_drafted(messages_api: MessagesAPI, vigil: Vigil) -> None:
    messages_api.script(model(GOOD_ANSWERS))
    result = vigil(*RUN)
    assert result.status == 1
    assert "✗ backed_up  It is backed_up." in result.out
    assert 'SKILL.md: "Never push with `--force`."' in result.out
    assert result.out.endswith("2 runs: 1 unsafe, 1 safe\n1 of 4 clauses is not judged\n")
    assert "VGL615" in result.err


def test_it_says_just_what_verify_says_of_the_policy(messages_api: MessagesAPI, vigil: Vigil) -> None:
    messages_api.script(model(GOOD_ANSWERS))
    result = vigil(*RUN, "--policy", "deploy.vgl")
    verified = vigil("verify", "deploy.vgl", "bad.jsonl", "good.jsonl", "--no-check")
    assert (result.status, result.out) == (verified.status, f"{verified.out}1 of 4 clauses is not judged\n")
    first, second = (
        re.sub(r'"seconds":[0-9.e-]+', "", vigil(*args, "--format", "json").out)
        for args in ((*RUN, "--policy", "deploy.vgl", "--force"), ("verify", "deploy.vgl", "bad.jsonl", "good.jsonl"))
    )
    assert first == second != ""


def test_the_second_time_nobody_is_asked(messages_api: MessagesAPI, vigil: Vigil) -> None:
    messages_api.script(model(GOOD_ANSWERS))
    first = vigil(*RUN, "--format", "concise")
    asked = len(messages_api.requests)
    second = vigil(*RUN, "--format", "concise", "--offline")
    assert len(messages_api.requests) == asked
    assert offences(first.out) == offences(second.out) == OFFENCES
    found = re.search(r"^policy  (\S+) · (.*)$", second.err, re.MULTILINE)
    assert found is not None
    assert found[2].startswith("stored answers of claude-")
    assert Path(found[1]).parent == Path(os.environ["VIGIL_CACHE_DIR"]) / "drafts"
    assert [s.name for s in load_policy(found[1]).statements] == ["backed_up", "no_force_push", "tested"]


@pytest.mark.parametrize(
    ("more", "differs"),
    [
        (("--model", "claude-b"), "model (claude-opus-5-5)"),
        (("--effort", "low"), "effort (none)"),
        (("--spec", "more.md"), "clauses"),
        (("other.jsonl",), "vocabulary"),
    ],
)
def test_offline_says_in_what_the_nearest_draft_differs(
    project: Path, messages_api: MessagesAPI, vigil: Vigil, more: tuple[str, ...], differs: str
) -> None:
    messages_api.script(model(GOOD_ANSWERS))
    vigil(*RUN)
    (project / "more.md").write_text("- You must never sleep.\n", encoding="utf-8")
    (project / "other.jsonl").write_text('{"event": "e1", "action": "rm", "args": {"path": "/w"}}\n', encoding="utf-8")
    result = vigil(*RUN, *more, "--offline")
    assert (result.status, result.out) == (2, "")
    text = " ".join(result.err.split())
    assert "VGL614" in text
    assert f"differs in {differs};" in text


def test_offline_with_nothing_stored_says_so(vigil: Vigil) -> None:
    result = vigil(*RUN, "--offline")
    assert result.status == 2
    assert "nothing is stored at all" in result.err


def test_without_a_cache_the_policy_is_kept_nowhere(
    messages_api: MessagesAPI, vigil: Vigil, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIGIL_CACHE_DIR", "")
    messages_api.script(model(GOOD_ANSWERS))
    result = vigil(*RUN, "--format", "concise")
    assert offences(result.out) == OFFENCES
    assert "kept nowhere; --policy FILE keeps it" in result.err


def test_clauses_that_are_not_judged_are_told_of_in_reports_too(messages_api: MessagesAPI, vigil: Vigil) -> None:
    messages_api.script(model({**GOOD_ANSWERS, "--force": Says("", "refusal")}))
    result = vigil(*RUN, "--format", "sarif")
    assert result.status == 0  # what SARIF is uploaded to decides
    (run,) = json.loads(result.out)["runs"]
    told = [note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]]
    assert any("2 of 4 clauses are not judged" in text for text in told)
    concise = vigil(*RUN, "--format", "concise")
    assert "SKILL.md:1:1: VGL615 2 of 4 clauses are not judged" in concise.err
    assert offences(concise.out) == OFFENCES[:1]


UNGROUNDED = answer("statements", requirement("tested", "prec", all_of(is_("deploy")), all_of(is_("launch"))))


def test_what_could_not_be_drafted_is_not_safe(project: Path, messages_api: MessagesAPI, vigil: Vigil) -> None:
    messages_api.script(model({**GOOD_ANSWERS, "run the tests": UNGROUNDED}))
    (project / "all.jsonl").write_text(
        (project / "good.jsonl").read_text(encoding="utf-8")
        + '{"event": "e4", "action": "run_tests", "status": "ok"}\n{"event": "e5", "action": "deploy"}\n',
        encoding="utf-8",
    )
    good = ("run", "all.jsonl", "--spec", "SKILL.md")
    assert vigil(*good, "--no-cache").status == 2
    assert vigil(*good, "--fail-level", "never").status == 0
    assert vigil(*RUN).status == 1  # what is violated is, whatever else is not known
    messages_api.script(model(GOOD_ANSWERS))
    assert vigil(*good, "--refresh").status == 0


def test_clauses_called_not_normative_are_told_of(messages_api: MessagesAPI, vigil: Vigil) -> None:
    waved = {words: answer("not_normative", reason="an example") for words in GOOD_ANSWERS}
    messages_api.script(model({**waved, "--force": GOOD_ANSWERS["--force"]}))
    result = vigil("run", "good.jsonl", "--spec", "SKILL.md")
    assert result.status == 0
    assert "info[VGL615]: 3 of 4 clauses are not judged" in result.err
    assert "1 of 4 clauses kept with 1 statement, 3 not normative" in result.err
    assert result.out.endswith("3 of 4 clauses are not judged\n")


def test_where_nothing_became_a_statement_nothing_is_safe(
    project: Path, messages_api: MessagesAPI, vigil: Vigil
) -> None:
    messages_api.script(model(UNSUPPORTED))
    result = vigil(*RUN)
    assert (result.status, result.out) == (2, "")
    assert "error[VGL615]: none of 4 clauses became a statement, so nothing is judged" in result.err
    assert "policy  has no statements · " in result.err
    assert vigil(*RUN, "--policy", "deploy.vgl").status == 2
    assert not (project / "deploy.vgl").exists()
    (project / "one.md").write_text("- You must run the tests before you deploy.\n", encoding="utf-8")
    single = vigil("run", "bad.jsonl", "--spec", "one.md")
    assert "error[VGL615]: the clause became no statement, so nothing is judged" in single.err


def test_how_to_learn_more_is_a_call_that_works(project: Path, messages_api: MessagesAPI, vigil: Vigil) -> None:
    messages_api.script(model({**GOOD_ANSWERS, "run the tests": UNGROUNDED}))
    (project / "my run.jsonl").write_text((project / "bad.jsonl").read_text(encoding="utf-8"), encoding="utf-8")
    told = " ".join(vigil("run", "my run.jsonl", "--spec", "SKILL.md").err.split())
    assert "`--signature FILE` tells of tools that these runs did not use; `vigil draft" in told
    found = re.search(r"`(vigil draft .*)` tells of each why", told)
    assert found is not None
    asked = len(messages_api.asked)
    assert "launch" in vigil(*shlex.split(found[1])[1:]).err
    assert len(messages_api.asked) == asked


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--policy", "SKILL.md"), "cannot write `SKILL.md`: this command also reads or writes it"),
        (("-o", "SKILL.md"), "cannot write `SKILL.md`: this command also reads or writes it"),
        (("-o", "bad.jsonl"), "cannot write `bad.jsonl`: this command also reads or writes it"),
        (("--policy", "a.vgl", "-o", "a.vgl"), "cannot write `a.vgl`: two outputs would go there"),
    ],
)
def test_nothing_that_is_read_is_written(
    messages_api: MessagesAPI, vigil: Vigil, more: tuple[str, ...], said: str
) -> None:
    result = vigil(*RUN, "--force", *more)
    assert (result.status, result.out) == (2, "")
    assert said in result.err
    assert messages_api.requests == []


def test_a_run_that_cannot_be_read_does_not_stop_the_others(
    project: Path, messages_api: MessagesAPI, vigil: Vigil
) -> None:
    messages_api.script(model(GOOD_ANSWERS))
    (project / "broken.jsonl").write_text('{"action": "a"}\n{oops\n', encoding="utf-8")
    result = vigil(*RUN, "broken.jsonl", "--format", "concise")
    assert result.status == 2
    assert "broken.jsonl:2:2: VGL601" in result.err
    assert offences(result.out) == OFFENCES
    alone = vigil("run", "broken.jsonl", "--spec", "SKILL.md")
    assert (alone.status, alone.out) == (2, "")
    assert "VGL601" in alone.err


def test_a_policy_that_is_there_is_not_replaced(project: Path, messages_api: MessagesAPI, vigil: Vigil) -> None:
    (project / "mine.vgl").write_text("policy mine\n", encoding="utf-8")
    result = vigil(*RUN, "--policy", "mine.vgl")
    assert result.status == 2
    assert "--force replaces it" in result.err
    assert messages_api.requests == []
    assert vigil(*RUN, "--policy", "-").status == 2


def test_a_model_that_cannot_be_asked_is_status_2(messages_api: MessagesAPI, vigil: Vigil) -> None:
    messages_api.script(lambda _: Fails(403, "no access"))
    result = vigil(*RUN)
    assert (result.status, result.out) == (2, "")
    assert "VGL612" in result.err


def test_a_document_without_obligations_judges_nothing(project: Path, vigil: Vigil) -> None:
    (project / "plain.md").write_text("# A title\n\nThe sky is blue.\n", encoding="utf-8")
    result = vigil("run", "bad.jsonl", "--spec", "plain.md")
    assert (result.status, result.out) == (2, "")
    assert "No sentence of plain.md states an obligation, so there is nothing to judge by" in result.err
    (project / "plain.md").write_text("# A title\n\nLook up.\n", encoding="utf-8")
    taken = vigil("run", "bad.jsonl", "--spec", "plain.md", "--take", "step", "--offline")
    assert (taken.status, "VGL614" in taken.err, "--take step" in taken.err) == (2, True, False)


def test_the_fail_level_is_that_of_verify(messages_api: MessagesAPI, vigil: Vigil) -> None:
    messages_api.script(model(GOOD_ANSWERS))
    assert vigil(*RUN, "--fail-level", "never").status == 0
    assert vigil("run", "good.jsonl", "--spec", "SKILL.md", "--offline").status == 2  # another vocabulary

"""Drafting with the real SDK against a scripted model: every clause is answered for, whatever the model says."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from draft_model import (
    DOCUMENT,
    GOOD,
    HISTORY,
    JOBS,
    NO_DELETION,
    RUNS,
    SETTINGS,
    Model,
    by_sentence,
    clauses_of,
    drafted,
    not_normative,
    read,
    said,
    statements,
    unsupported,
)
from draft_requirements import any_of, arg, called
from messages_api import Breaks, Fails, MessagesAPI, Says
from msgspec.structs import replace as with_fields

from vigil_lang.diagnostics import InputError
from vigil_lang.draft import schema
from vigil_lang.draft.api.budget import Budget
from vigil_lang.draft.api.client import Client
from vigil_lang.draft.clause_result import Answer, PolicyDocument
from vigil_lang.draft.conversations import MAX_FAILURES
from vigil_lang.draft.drafting import DraftPlan, draft, from_document, questions
from vigil_lang.draft.parallel_requests import ModelAsker
from vigil_lang.draft.prompting import prompt
from vigil_lang.draft.prompting.vocabulary import describe
from vigil_lang.syntax.print import to_text
from vigil_lang.trace import observe

if TYPE_CHECKING:
    from pathlib import Path

DELETE, TESTS, REWRITE, JOB, TIDY = (line.removeprefix("- ") for line in DOCUMENT.splitlines() if line.startswith("- "))
WEAK = with_fields(NO_DELETION, trigger=any_of(called("file.delete", arg("path", "is", "x", negated=True))))


def test_each_clause_is_asked_about_alone_and_answered_for(messages_api: MessagesAPI, tmp_path: Path) -> None:
    model = Model(GOOD)
    found = drafted(messages_api, tmp_path, model)
    assert sorted(model.asked) == sorted([text] for text in (DELETE, TESTS, REWRITE, JOB, TIDY))
    assert [(e.clause.text, e.outcome, e.cause, e.rounds) for e in found.entries] == [
        (DELETE, "kept", None, 1),
        (TESTS, "kept", None, 1),
        (REWRITE, "kept", None, 1),
        (JOB, "kept", None, 1),
        (TIDY, "unsupported", "model", 1),
    ]
    assert found.complete
    assert (found.model, found.usage.requests, found.problems, found.notes) == ("claude-test", 5, (), ())
    assert [other.why for other in found.others] == ["heading", "heading"]
    delete, tests = (entry.statements[0] for entry in found.entries[:2])
    assert (delete.run_counts.runs, delete.run_counts.exercised, delete.run_counts.violated) == (2, 2, 1)
    assert (tests.run_counts.runs, tests.run_counts.exercised, tests.run_counts.violated) == (2, 2, 1)
    assert to_text(tests.statement).splitlines() == [
        "/// A package is published only after the tests.",
        '@source("SKILL.md", "Always run the tests before you publish a package.")',
        "statement tests_first: prec(package.publish(), test.run())",
    ]


def test_only_the_first_question_is_asked_before_the_vocabulary_is_cached(
    messages_api: MessagesAPI, tmp_path: Path
) -> None:
    def slowly(body: dict[str, Any]) -> Says:
        return Says(json.dumps(Model(GOOD)(body)), delay=0.2)

    drafted(messages_api, tmp_path, slowly)
    first, *others = [request.at for request in messages_api.requests if request.path == "/v1/messages"]
    assert min(others) - first >= 0.2
    assert max(others) - min(others) < 0.2


def test_questions_are_what_is_sent(messages_api: MessagesAPI, tmp_path: Path) -> None:
    drafted(messages_api, tmp_path, Model(GOOD), batch=2)
    sent = [body["messages"][0]["content"][-1]["text"] for body in messages_api.asked]
    shown = questions(clauses_of(tmp_path), DraftPlan(batch=2))
    assert sorted(sent)[: len(shown)] == sorted(sent)[:3]
    assert set(shown) <= set(sent)


def test_a_question_tells_nothing_of_other_clauses_or_places(messages_api: MessagesAPI, tmp_path: Path) -> None:
    drafted(messages_api, tmp_path, Model(GOOD))
    for body in messages_api.asked:
        (clause,) = read(messages_api.texts(body)[0])
        assert clause["id"] == "c1"
        assert str(tmp_path) not in json.dumps(body)
        assert "SKILL.md" not in messages_api.texts(body)[0]


# --- what fails goes back ------------------------------------------------------------------------------------------


def test_findings_go_back_and_an_answer_that_is_mended_is_kept(messages_api: MessagesAPI, tmp_path: Path) -> None:
    model = Model({**GOOD, "Never delete": [statements(WEAK), statements(NO_DELETION)]})
    found = drafted(messages_api, tmp_path, model)
    entry = by_sentence(found)[DELETE]
    assert (entry.outcome, entry.rounds, entry.problems) == ("kept", 2, ())
    (again,) = [body for body in messages_api.asked if len(body["messages"]) > 1]
    assert [message["role"] for message in again["messages"]] == ["user", "assistant", "user"]
    assert "takes out `x`" in messages_api.texts(again)[2]
    assert sum(asked == [DELETE] for asked in model.asked) == 2
    assert all(model.asked.count([text]) == 1 for text in (TESTS, REWRITE, JOB, TIDY))


@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_what_still_fails_is_unsupported_with_the_findings(
    messages_api: MessagesAPI, tmp_path: Path, rounds: int
) -> None:
    model = Model({**GOOD, "Never delete": statements(WEAK)})
    found = drafted(messages_api, tmp_path, model, rounds=rounds)
    entry = by_sentence(found)[DELETE]
    assert (entry.outcome, entry.cause, entry.rounds, entry.statements) == (
        "unsupported",
        "rejected",
        rounds + 1,
        (),
    )
    assert any("takes out `x`" in problem for problem in entry.problems)
    assert not found.complete
    assert DELETE not in [answer.sentence for answer in found.answers.answers]


def test_one_statement_that_fails_fails_the_answer(messages_api: MessagesAPI, tmp_path: Path) -> None:
    model = Model({**GOOD, "Never delete": statements(NO_DELETION, WEAK)})
    entry = by_sentence(drafted(messages_api, tmp_path, model, rounds=0))[DELETE]
    assert (entry.outcome, entry.statements) == ("unsupported", ())
    assert all(problem.startswith("statement 2: ") for problem in entry.problems)


def test_unsupported_after_findings_is_a_judgement(messages_api: MessagesAPI, tmp_path: Path) -> None:
    model = Model({**GOOD, "Never delete": [statements(WEAK), unsupported("It cannot be said.")]})
    entry = by_sentence(drafted(messages_api, tmp_path, model))[DELETE]
    assert (entry.outcome, entry.cause, entry.reason, entry.rounds) == (
        "unsupported",
        "model",
        "It cannot be said.",
        2,
    )


# --- answers that are none -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "{",
        "I cannot do that.",
        '{"answers": 3}',
        '{"answers": [',
        "[" * 5000,
        '{"answers": []}',
        "\ud800"[:0] + "null",
    ],
)
def test_a_reply_that_cannot_be_read_costs_a_round(messages_api: MessagesAPI, tmp_path: Path, reply: str) -> None:
    model = Model({**GOOD, "Never delete": [Says(reply), statements(NO_DELETION)]})
    found = drafted(messages_api, tmp_path, model)
    assert by_sentence(found)[DELETE].outcome == "kept"
    assert by_sentence(found)[DELETE].rounds == 2
    model = Model({**GOOD, "Never delete": [Says(reply)]})
    entry = by_sentence(drafted(messages_api, tmp_path, model, rounds=1))[DELETE]
    assert (entry.outcome, entry.cause, entry.rounds) == ("unsupported", "missing", 2)


def test_answers_for_clauses_that_do_not_exist_and_second_answers_do_nothing(
    messages_api: MessagesAPI, tmp_path: Path
) -> None:
    usual = drafted(messages_api, tmp_path, Model(GOOD))

    def talkative(body: dict[str, Any]) -> dict[str, Any]:
        good = Model(GOOD)(body)
        assert isinstance(good, dict)
        (answer,) = good["answers"]
        others = [{"clause": name, **not_normative()} for name in ("c1", "c2", "c99", "c1 ", "C1")]
        return {"answers": [answer, *others]}

    found = drafted(messages_api, tmp_path, talkative)
    assert [said(entry) for entry in found.entries] == [said(entry) for entry in usual.entries]
    assert any("`c99`, which was not asked about" in problem for problem in found.problems)
    assert any("answers twice for " in problem for problem in found.problems)


def test_a_malformed_answer_goes_back_with_what_is_wrong(messages_api: MessagesAPI, tmp_path: Path) -> None:
    wrong = {"outcome": "statements", "reason": "", "statements": [{"name": "x"}]}
    model = Model({**GOOD, "Never delete": [wrong, statements(NO_DELETION)]})
    assert by_sentence(drafted(messages_api, tmp_path, model))[DELETE].outcome == "kept"
    (again,) = [body for body in messages_api.asked if len(body["messages"]) > 1]
    assert "is missing" in messages_api.texts(again)[2]


# --- replies that end early ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stop", "cause"),
    [("max_tokens", "cut"), ("model_context_window_exceeded", "cut"), ("refusal", "refused")],
)
def test_a_clause_without_a_whole_reply_is_told(
    messages_api: MessagesAPI, tmp_path: Path, stop: str, cause: str
) -> None:
    whole = json.dumps({"answers": [{"clause": "c1", **statements(NO_DELETION)}]})
    model = Model(
        {**GOOD, "Never delete": [Says(whole, stop=stop, refused="about files" if cause == "refused" else "")]}
    )
    found = drafted(messages_api, tmp_path, model)
    entry = by_sentence(found)[DELETE]
    assert (entry.outcome, entry.cause, entry.rounds) == ("unsupported", cause, 1)
    assert ("about files" in entry.reason) == (cause == "refused")
    assert [e.outcome for e in found.entries if e is not entry] == ["kept", "kept", "kept", "unsupported"]


@pytest.mark.parametrize("stop", ["max_tokens", "refusal"])
def test_a_batch_is_halved_to_find_the_clause(messages_api: MessagesAPI, tmp_path: Path, stop: str) -> None:
    usual = drafted(messages_api, tmp_path, Model(GOOD))

    def spoken(text: str, _: list[str]) -> Says | None:
        return Says("", stop=stop) if "Do not rewrite" in text else None

    model = Model(GOOD, spoken)
    found = drafted(messages_api, tmp_path, model, batch=10)
    assert [len(asked) for asked in model.asked if REWRITE in asked] == [5, 3, 1]
    for entry, before in zip(found.entries, usual.entries, strict=True):
        if entry.clause.text == REWRITE:
            assert entry.cause == ("cut" if stop == "max_tokens" else "refused")
        else:
            assert (entry.outcome, entry.statements) == (before.outcome, before.statements)


def test_what_is_not_a_statement_in_company_is_asked_again_alone(messages_api: MessagesAPI, tmp_path: Path) -> None:
    model = Model(GOOD)
    found = drafted(messages_api, tmp_path, model, batch=10)
    assert model.asked == [[DELETE, TESTS, REWRITE, JOB, TIDY], [TIDY]]
    assert [entry.outcome for entry in found.entries] == ["kept"] * 4 + ["unsupported"]
    assert by_sentence(found)[TIDY].rounds == 2


# --- money, failures, and giving up --------------------------------------------------------------------------------


def test_a_budget_that_is_used_up_keeps_what_was_accepted(messages_api: MessagesAPI, tmp_path: Path) -> None:
    clauses = clauses_of(tmp_path)
    signature = observe(RUNS)
    vocabulary = describe(signature, RUNS)
    messages_api.counts = 1000
    messages_api.script(lambda body: Says(json.dumps(Model(GOOD)(body)), input_tokens=1000, output_tokens=1000))
    # A request costs up to 0.005 for its input and 0.08 for its output, and then 0.024: two of them fit.
    settings = replace(SETTINGS, model="house-model")
    budget = Budget.of(0.12, settings)
    with Client(settings, budget) as client:
        asker = ModelAsker(client, SETTINGS.max_tokens, prompt.system(), schema.for_model())
        found = draft(clauses, vocabulary, signature, RUNS, asker, DraftPlan(path=str(tmp_path / "p.vgl"), parallel=1))
    causes = [entry.cause for entry in found.entries]
    kept = causes.index("budget")
    assert 1 <= kept <= 4
    assert causes == [None] * kept + ["budget"] * (5 - kept)
    assert (budget.spent, found.usage.cost) == (pytest.approx(0.024 * kept), pytest.approx(0.024 * kept))
    assert budget.spent <= 0.12
    assert len(found.answers.answers) == kept


def test_failures_of_the_api_end_the_draft(messages_api: MessagesAPI, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        drafted(messages_api, tmp_path, lambda _: Fails(401))
    assert caught.value.diagnostics[0].code == "VGL612"
    assert len(messages_api.asked) == 1
    with pytest.raises(InputError):
        drafted(messages_api, tmp_path, lambda _: Breaks(Says("{}"), how="drop"))


@pytest.mark.parametrize("failing", ["Never delete", "Submit a job"])
@pytest.mark.parametrize("status", [400, 500])
def test_a_request_that_fails_for_one_clause_costs_no_other_its_answer(
    status: int, failing: str, messages_api: MessagesAPI, tmp_path: Path
) -> None:
    model = Model(GOOD)

    def answer(body: dict[str, Any]) -> object:
        blocked = Fails(status, "Output blocked by a content filter")
        return blocked if failing in MessagesAPI.texts(body)[0].partition("<clauses>")[2] else model(body)

    found = drafted(messages_api, tmp_path, answer)
    (lost,) = [entry for entry in found.entries if failing in entry.clause.text]
    assert (lost.outcome, lost.cause) == ("unsupported", "missing")
    assert "Output blocked by a content filter" in lost.reason
    whole = by_sentence(drafted(messages_api, tmp_path, Model(GOOD)))
    assert all(said(entry) == said(whole[entry.clause.text]) for entry in found.entries if entry is not lost)
    assert not found.complete


def test_what_was_answered_is_kept_when_nobody_answers_any_more(messages_api: MessagesAPI, tmp_path: Path) -> None:
    model, times = Model(GOOD), iter(range(100))
    found = drafted(messages_api, tmp_path, lambda body: model(body) if next(times) < 2 else Fails(401), parallel=1)
    assert [entry.outcome for entry in found.entries] == ["kept", "kept", *["unsupported"] * 3]
    assert [entry.cause for entry in found.entries[2:]] == ["missing"] * 3
    assert "does not accept the key" in found.entries[4].reason
    assert found.usage.cost is not None
    assert found.usage.cost > 0


def test_an_api_that_fails_again_and_again_is_asked_no_more(messages_api: MessagesAPI, tmp_path: Path) -> None:
    text = "# Rules\n\n" + "".join(f"- Never touch file {n}.\n" for n in range(60))
    with pytest.raises(InputError, match="VGL612"):
        drafted(messages_api, tmp_path, lambda _: Fails(500), text, parallel=1)
    assert MAX_FAILURES <= len(messages_api.asked) < 60, "some may be under way"


def test_giving_up_passes_through(messages_api: MessagesAPI, tmp_path: Path) -> None:
    def interrupted(_: object) -> Says:
        os.kill(os.getpid(), signal.SIGINT)
        return Says("{}", delay=0.1)

    with pytest.raises(KeyboardInterrupt):
        drafted(messages_api, tmp_path, interrupted)


# --- the statements together ---------------------------------------------------------------------------------------


def test_names_are_given_once_and_statements_that_mean_the_same_share_one(
    messages_api: MessagesAPI, tmp_path: Path
) -> None:
    text = DOCUMENT + "- Never remove files under `data/`.\n"
    other = with_fields(HISTORY, name=NO_DELETION.name)
    copy = with_fields(NO_DELETION, name="copied", says="Other words.")
    model = Model({**GOOD, "Do not rewrite": statements(other), "Never remove": statements(copy)})
    found = drafted(messages_api, tmp_path, model, text)
    names = {entry.clause.text: [d.statement.name.text for d in entry.statements] for entry in found.entries}
    assert names[DELETE] == names["Never remove files under `data/`."] == ["data_stays"]
    assert names[REWRITE] == ["data_stays_2"]
    shared, other_name = sorted(note for note in found.notes if "data_stays" in note and "VGL" not in note)
    assert shared.startswith(
        "`data_stays` is another clause's statement, so that of SKILL.md:7 is named `data_stays_2`"
    )
    assert other_name.startswith("`data_stays` stands for SKILL.md:5 and SKILL.md:10, which mean the same")


def test_a_name_stays_with_the_sentence_that_says_little_else(messages_api: MessagesAPI, tmp_path: Path) -> None:
    text = "# Rules\n\n- Never delete data of anybody, or publish files, secrets, tests, pictures or jobs.\n"
    text += "- Never delete files under `data/`.\n"
    wanted = with_fields(NO_DELETION, name="delete_data_files")
    other = with_fields(HISTORY, name="delete_data_files", trigger=any_of(called("package.publish")))
    found = drafted(messages_api, tmp_path, Model({"anybody": statements(other), "under": statements(wanted)}), text)
    names = [drafted.statement.name.text for entry in found.entries for drafted in entry.statements]
    assert names == ["delete_data_files_2", "delete_data_files"]


def test_what_is_implied_by_another_is_told_and_kept(messages_api: MessagesAPI, tmp_path: Path) -> None:
    narrow = with_fields(
        NO_DELETION, name="narrow", trigger=any_of(called("file.delete", arg("path", "glob", "/data/*")))
    )
    text = DOCUMENT + "- Never delete anything in `/data`.\n"
    model = Model({"anything": statements(narrow), **GOOD})
    found = drafted(messages_api, tmp_path, model, text)
    assert [entry.outcome for entry in found.entries].count("kept") == 5
    assert any("VGL322" in note and "`narrow`" in note for note in found.notes)


def test_what_goes_against_another_is_told_and_kept(messages_api: MessagesAPI, tmp_path: Path) -> None:
    text = DOCUMENT + "- Never run any tests.\n"
    no_tests = with_fields(NO_DELETION, name="no_tests", trigger=any_of(called("test.run")))
    found = drafted(messages_api, tmp_path, Model({**GOOD, "Never run any tests": statements(no_tests)}), text)
    assert found.notes == ("what `tests_first` asks for, `no_tests` forbids",)
    assert [entry.outcome for entry in found.entries].count("kept") == 5


# --- answers from anywhere -----------------------------------------------------------------------------------------


def test_accepted_answers_pass_again_without_a_model(messages_api: MessagesAPI, tmp_path: Path) -> None:
    found = drafted(messages_api, tmp_path, Model(GOOD))
    again = from_document(
        found.answers, clauses_of(tmp_path), observe(RUNS), RUNS, DraftPlan(path=str(tmp_path / "policy.vgl"))
    )
    assert [replace(entry, rounds=1) for entry in again.entries] == list(found.entries)
    assert again.answers == found.answers


def test_answers_are_found_by_the_sentence_they_repeat(messages_api: MessagesAPI, tmp_path: Path) -> None:
    found = drafted(messages_api, tmp_path, Model(GOOD))
    clauses = clauses_of(tmp_path, DOCUMENT.replace("- Never delete", "- Never print a key.\n- Never delete"))
    again = from_document(found.answers, clauses, observe(RUNS), RUNS, DraftPlan(path=str(tmp_path / "policy.vgl")))
    assert [entry.outcome for entry in again.entries] == ["unsupported", *("kept",) * 4, "unsupported"]
    assert [entry.cause for entry in again.entries] == ["missing", *(None,) * 4, "model"]


def test_an_answer_about_another_sentence_is_none(tmp_path: Path) -> None:
    answer = Answer("c1", "statements", statements=(NO_DELETION,), sentence="Never delete files under `tmp/`.")
    twice = Answer("c2", "not_normative"), Answer("c2", "unsupported", "no")
    document = PolicyDocument((answer, *twice, Answer("c77", "not_normative")))
    found = from_document(document, clauses_of(tmp_path), None, (), DraftPlan(path=str(tmp_path / "policy.vgl")))
    first, second, *others = found.entries
    assert (first.cause, first.statements) == ("rejected", ())
    assert "another sentence" in first.problems[0]
    assert second.outcome == "not_normative"
    assert {entry.cause for entry in others} == {"missing"}
    assert len(found.problems) == 2
    assert JOBS.name not in str(found.answers)

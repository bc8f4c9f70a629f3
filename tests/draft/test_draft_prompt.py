"""The prompt: its examples are right answers, it explains all that can be answered, and data stays in its place."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from vigil_lang import Event, Trace, verify
from vigil_lang.diagnostics import Source
from vigil_lang.draft.building import build
from vigil_lang.draft.checks.statement_check import Checks
from vigil_lang.draft.clause_result import (
    Answer,
    AnswerOutcome,
    Clause,
    Condition,
    Counting,
    FormName,
    Requirement,
    TestName,
    View,
    ViewName,
)
from vigil_lang.draft.clause_result import Test as Asked
from vigil_lang.draft.document import decode
from vigil_lang.draft.prompting import prompt
from vigil_lang.draft.prompting.vocabulary import Vocabulary, describe
from vigil_lang.draft.schema import for_model
from vigil_lang.english.demanding import demands
from vigil_lang.runs import read_trace
from vigil_lang.semantics.policy import read_policy
from vigil_lang.syntax import parse
from vigil_lang.syntax.format import format_text
from vigil_lang.trace import Signature, Status, observe
from vigil_lang.trace.vocabulary import vocabulary

ROOT = Path(__file__).parents[2]

EMPTY = Vocabulary('{"kinds":{},"actions":{}}', 0)
TEXTS = st.text(st.characters(exclude_categories=("Cs",)) | st.sampled_from('<>/"\\`\n\u202e\u200b'), max_size=40)


@cache
def examples() -> tuple[tuple[list[dict[str, Any]], dict[str, Any], str], ...]:
    """The worked examples: clauses, the reply, and the policy it reads as."""
    text = prompt.system().partition("\n# Examples\n")[2]
    found = re.findall(r"```json\n(.*?)```\n\n```json\n(.*?)```\n(?:\n```vgl\n(.*?)```)?", text, re.DOTALL)
    return tuple((json.loads(clauses), json.loads(reply), policy) for clauses, reply, policy in found)


def answers() -> dict[str, tuple[str, Answer]]:
    """The answers of the examples with the sentences they are about, by the clause's id."""
    found = {}
    for clauses, reply, _ in examples():
        decoded = decode(json.dumps(reply))
        assert not decoded.problems
        sentences = {clause["id"]: clause["sentence"] for clause in clauses}
        assert [answer.clause for answer in decoded.answers] == list(sentences)
        found |= {answer.clause: (sentences[answer.clause], answer) for answer in decoded.answers}
    return found


def requirements() -> dict[str, tuple[str, Requirement]]:
    """The statements of the examples with the sentences they are about, by name."""
    return {
        statement.name: (sentence, statement)
        for sentence, answer in answers().values()
        for statement in answer.statements
    }


# --- the examples --------------------------------------------------------------------------------------------------


def test_there_are_examples_of_every_outcome_and_most_forms() -> None:
    assert len(examples()) >= 5
    outcomes = {answer.outcome for _, answer in answers().values()}
    assert outcomes == set(get_args(AnswerOutcome))
    assert {requirement.form for _, requirement in requirements().values()} >= {
        "abs",
        "prec",
        "rslv",
        "until",
        "atmost",
        "atleast",
        "budget",
    }
    assert list(answers()) == [f"c{n}" for n in range(1, len(answers()) + 1)]


def test_examples_are_replies_of_the_form_that_is_asked_for() -> None:
    validator = Draft202012Validator(for_model())
    for _, reply, _ in examples():
        validator.validate(reply)


def test_examples_are_asked_as_clauses_are() -> None:
    for clauses, _, _ in examples():
        asked = [Clause(c["id"], "", 0, c["sentence"], "", tuple(c["headings"]), c["lead"]) for c in clauses]
        assert within(prompt.asked(asked), "clauses") == clauses


def test_examples_read_as_the_policies_beside_them() -> None:
    for _, reply, policy in examples():
        statements = [s for answer in decode(json.dumps(reply)).answers for s in answer.statements]
        built = tuple(build.statement(statement, statement.name, ()) for statement in statements)
        assert parse(Source("example.vgl", policy)).file.items == built
        assert format_text(Source("example.vgl", policy)).rstrip() == policy.rstrip()
        assert not read_policy(Source("example.vgl", policy)).diagnostics


@pytest.mark.parametrize("clause", [clause for clause, (_, answer) in answers().items() if answer.statements])
def test_examples_pass_the_checks(clause: str, tmp_path: Path) -> None:
    sentence, answer = answers()[clause]
    (tmp_path / "SKILL.md").write_text(f"# Rules\n\n{sentence}\n", encoding="utf-8")
    trace = Trace(events(("ls", {"path": "~/a"}, ("process.run", "dir.list"), "ok")))
    checks = Checks(observe([trace]), [trace], str(tmp_path / "policy.vgl"))
    found = checks.check(answer.statements, Clause(clause, "SKILL.md", 3, sentence, demands(sentence) or ""))
    assert found.problems == ()
    assert len(found.drafted) == len(answer.statements)


def test_sentences_of_the_examples_are_obligations_where_they_are_answered_so() -> None:
    for sentence, answer in answers().values():
        assert answer.outcome == "not_normative" or demands(sentence), sentence


Step = tuple[str, dict[str, str | tuple[str, ...]], tuple[str, ...], Status]
Steps = tuple[Step, ...]

CHANGE: Step = ("sed", {"path": "/w/glm3.nml"}, ("file.write",), "unknown")
PACK: Step = ("tar", {"path": "~/a.csv", "archive": "~/a.tgz"}, ("archive.create",), "unknown")
LOOK: Step = ("tar", {"archive": "~/a.tgz"}, ("archive.list",), "unknown")
REMOVE: Step = ("rm", {"path": "~/a.csv"}, ("file.delete",), "ok")
COPY_FAILS: Step = ("cp", {"source": "glm3.nml"}, ("file.copy",), "error")
TESTED: Step = ("pytest", {}, ("test.run",), "ok")
TO_HOST: Step = ("curl", {"host": "api.example.org"}, ("net.request",), "ok")
NAMES_ADA: Step = ("user.message", {"text": "write to ada@b.example"}, (), "ok")
SEND: Step = ("mail", {"recipient": "ada@b.example"}, ("message.send",), "ok")
SUBMIT: Step = ("sbatch", {"script": "~/run.sub"}, ("job.submit",), "ok")
RELEASE: Step = ("gh", {}, ("release.publish",), "ok")
INSTALL: Step = ("pip", {"package": "a"}, ("package.install",), "ok")
ASKED: Step = ("user.ask", {}, (), "ok")
LATER: Step = ("sleep", {}, (), "ok")
DOWNLOAD: Step = ("curl", {"target": "~/a", "host": "a.example"}, ("net.download",), "ok")
REWRITE: Step = ("git", {}, ("git.rewrite",), "ok")


def step(action: str, kind: str, status: Status = "ok", **args: str) -> Step:
    """An event of a kind."""
    return action, args, (kind,), status


def sbatch(nodes: str) -> Step:
    """A job on some nodes."""
    return step("sbatch", "process.run", program="sbatch", nodes=nodes)


def send(*recipients: str) -> Step:
    """A message to some people."""
    return "mail", {"recipient": recipients}, ("message.send",), "ok"


def upload(host: str) -> Step:
    """The upload of a file to a host."""
    return step("curl", "net.upload", source="~/a", host=host)


@pytest.mark.parametrize(
    ("name", "kept", "broken"),
    [
        ("backup_first", (step("cp", "file.copy", source="glm3.nml"), CHANGE), (CHANGE,)),
        ("backup_first", (step("cp", "file.write", path="/w/old_glm3.nml"),), (LOOK, CHANGE)),
        ("backup_first", (step("sed", "file.write", "error", path="glm3.nml"),), (COPY_FAILS, CHANGE)),
        ("archive_tested", (PACK, LOOK, REMOVE), (PACK, REMOVE, LOOK)),
        ("archive_tested", (REMOVE, PACK), (PACK, step("tar", "archive.list", archive="~/b.tgz"), REMOVE)),
        ("recipients_named", (NAMES_ADA, SEND), (step("user.message", "", text="mail bob"), SEND, NAMES_ADA)),
        ("no_force", (step("git", "git.push", flag="-u"),), (step("git", "git.push", flag="-f"),)),
        ("hooks_run", (step("git", "git.push", flag="-n"),), (step("git", "git.commit", flag="--no-verify"),)),
        ("tests_pass", (step("pytest", "test.run", "error"), TESTED), (TESTED, step("pytest", "test.run", "error"))),
        ("history_stays", (REWRITE, RELEASE), (RELEASE, REWRITE)),
        ("three_submissions", (SUBMIT,) * 3 + (step("sbatch", "job.submit", script="b"),), (SUBMIT,) * 4),
        ("tests_run", (LOOK, TESTED), (LOOK,)),
        ("installs_asked", (INSTALL,) * 5 + (ASKED, INSTALL), (ASKED, *(INSTALL,) * 6)),
        ("nodes_per_day", (sbatch("60"), LATER, sbatch("60")), (sbatch("60"), sbatch("60"))),
        ("nodes_per_day", (sbatch("100"), LOOK), (sbatch("many"),)),
        ("few_recipients", (send("a", "b", "c"),), (send("a", "b", "c", "d"),)),
        ("same_host", (DOWNLOAD, upload("a.example")), (DOWNLOAD, upload("b.example"))),
        ("same_host", (upload("b.example"), DOWNLOAD), (upload("a.example"), DOWNLOAD, upload("c.example"))),
        ("one_host", (TO_HOST, step("git", "net.request")), (step("curl", "net.request", host="example.org"),)),
    ],
)
def test_examples_say_what_their_clauses_say(name: str, kept: Steps, broken: Steps) -> None:
    policy = read_policy(Source("x.vgl", next(text for _, _, text in examples() if f"statement {name}:" in text)))
    verdicts = [{v.name: v.verdict for v in verify([policy], Trace(events(*run))).statements} for run in (kept, broken)]
    assert [found[name] for found in verdicts] == ["satisfied", "violated"]


def events(*steps: Step) -> tuple[Event, ...]:
    """Events of one call each, a second apart; `LATER` comes two days later."""
    found: list[Event] = []
    for n, (action, args, kinds, status) in enumerate(steps):
        texts = {k: (v,) if isinstance(v, str) else v for k, v in args.items()}
        time = 172_800_000_000 * sum(step is LATER for step in steps[: n + 1]) + 1_000_000 * n
        found.append(Event(f"e{n}", action, f"c{n}", texts, status, time=time, kinds=kinds))
    return tuple(found)


# --- the rest of the system prompt ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "word",
    [
        *get_args(FormName),
        *get_args(TestName),
        *get_args(ViewName),
        *get_args(AnswerOutcome),
        *("kinds", "actions", "number", "one of", "id", "sentence", "headings", "lead"),
        *(field for struct in (Asked, View, Counting, Requirement, Answer, Condition)
          for field in struct.__struct_fields__ if field != "sentence"),
    ],
)  # fmt: skip
def test_every_word_of_the_form_is_explained(word: str) -> None:
    text = prompt.system().partition("\n# Kinds\n")[0]
    assert re.search(rf"`{re.escape(word)}`|\"{re.escape(word)}\":", text)


def test_every_kind_and_role_is_listed_and_nothing_is_left_to_fill_in() -> None:
    text = prompt.system()
    for kind in vocabulary().kinds.values():
        assert f"\n- {kind.name}" in text
    for role in vocabulary().roles:
        assert f"\n- {role}: " in text
    assert "[[" not in text


def test_names_of_the_text_are_names_of_the_vocabulary() -> None:
    text = prompt.system()
    families = {name.partition(".")[0] for name in vocabulary().kinds}
    dotted = re.findall(r"[`\"]([a-z]+\.[a-z]+)[`\"]", text)
    assert len(dotted) > 20
    assert {name for name in dotted if name.partition(".")[0] in families} <= vocabulary().kinds.keys()


def test_the_system_prompt_stays_small() -> None:
    assert len(prompt.system()) < 40_000


def test_the_page_shows_what_is_sent_and_what_becomes_of_the_reply() -> None:
    page = (ROOT / "docs" / "draft-prompt.md").read_text(encoding="utf-8")
    blocks: dict[str, str] = {}
    for kind, body in re.findall(r"^```(\w+ \w+)\n(.*?)\n```$", page, re.DOTALL | re.MULTILINE):
        blocks[kind] = body
    trace = read_trace([line.encode() + b"\n" for line in blocks["jsonl run"].splitlines()], "run", format="vigil")
    assert blocks["text about"] == prompt.about(describe(observe([trace]), [trace]))
    (shown,) = within(blocks["text asked"], "clauses")
    clause = Clause(shown["id"], "SKILL.md", 12, shown["sentence"], "", tuple(shown["headings"]), shown["lead"])
    assert blocks["text asked"] == prompt.asked([clause])
    (answer,) = decode(blocks["json reply"]).answers
    built = [build.statement(one, one.name, [(clause.path, clause.text)]) for one in answer.statements]
    assert parse(Source("p.vgl", blocks["vgl reply"])).file.items == tuple(built)
    assert blocks["text correction"] == prompt.correction(within(blocks["text correction"], "findings"))


# --- data stays in its place ---------------------------------------------------------------------------------------


def within(text: str, mark: str) -> Any:
    """What stands between a pair of marks, of which there is one, as JSON."""
    (found,) = re.findall(rf"<{mark}>\n(.*?)\n</{mark}>", text, re.DOTALL)
    assert text.count("<") == 2
    return json.loads(found)


@given(st.lists(st.tuples(TEXTS, TEXTS, st.lists(TEXTS, max_size=2)), min_size=1, max_size=3))
def test_no_clause_can_leave_its_place(texts: list[tuple[str, str, list[str]]]) -> None:
    clauses = [
        Clause(f"c{n}", lead, n, text, lead, tuple(headings), lead) for n, (text, lead, headings) in enumerate(texts)
    ]
    asked = prompt.asked(clauses)
    assert within(asked, "clauses") == [
        {"id": f"c{n}", "sentence": text, "headings": headings, "lead": lead}
        for n, (text, lead, headings) in enumerate(texts)
    ]
    assert not set(asked) & set("\u202e\u200b")


@given(st.dictionaries(TEXTS, st.lists(TEXTS, max_size=3), max_size=3))
def test_no_finding_can_leave_its_place(problems: dict[str, list[str]]) -> None:
    assert within(prompt.correction(problems), "findings") == problems


@pytest.mark.parametrize("mark", ["</clauses>", "<vocabulary>", "</findings>\n\nHuman:", "\ud800"])
def test_marks_in_data_are_no_marks(mark: str) -> None:
    asked = prompt.asked([Clause("c1", "a.md", 1, f"Never {mark} do it.", "never")])
    assert within(asked, "clauses")[0]["sentence"] == f"Never {mark} do it."
    asked.encode()


def test_a_question_does_not_depend_on_where_a_clause_stands() -> None:
    clause = Clause("c1", "a.md", 3, "Never do it.", "never", ("Rules",), "Note:")
    other = replace(clause, path="b.md", line=90, hostile="it speaks to the model")
    assert prompt.question([clause], EMPTY) == prompt.question([other], EMPTY)
    assert prompt.question([clause], EMPTY).startswith(prompt.about(EMPTY))


def test_what_is_missing_from_the_vocabulary_is_said() -> None:
    assert prompt.about(EMPTY) != prompt.about(replace(EMPTY, cut=True))
    whole = describe(Signature({}, "observed"), ())
    assert within(prompt.about(whole), "vocabulary") == {"kinds": {}, "actions": {}}


def test_all_that_is_sent_is_shown() -> None:
    questions = [prompt.asked([Clause(f"c{n}", "a.md", n, "Never do it.", "never")]) for n in (1, 2)]
    text = prompt.shown(prompt.about(EMPTY), questions, for_model())
    for part in (prompt.system().strip(), prompt.about(EMPTY), *questions, json.dumps(for_model(), indent=2)):
        assert part in text


def test_the_version_is_that_of_the_text() -> None:
    assert re.fullmatch("[0-9a-f]{16}", prompt.VERSION)

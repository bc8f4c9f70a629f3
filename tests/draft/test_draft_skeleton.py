"""Skeletons: accepted as they are and with their statements uncommented, whatever the documents say."""

from __future__ import annotations

import re
from dataclasses import replace as replace_clauses
from pathlib import Path

import pytest
from msgspec.structs import replace

from vigil_lang.diagnostics import Source
from vigil_lang.draft import skeleton
from vigil_lang.draft.clause_result import Clause, Other, PolicyDocument
from vigil_lang.draft.clauses import Clauses, read_clauses
from vigil_lang.semantics.policy import read_policy
from vigil_lang.semantics.text_patterns import unescape
from vigil_lang.syntax import parse, tree
from vigil_lang.syntax.format import format_text

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("examples/**/SKILL.md"))


def clause(text: str, word: str = "must", lead: str = "", headings: tuple[str, ...] = (), number: int = 1) -> Clause:
    return Clause(f"c{number}", "SKILL.md", number, text, word, headings, lead)


def clauses(*found: Clause) -> Clauses:
    return Clauses(found, ("SKILL.md",))


def filled(text: str) -> tree.File:
    """The skeleton with every statement uncommented, which parses."""
    parsed = parse(Source("policy.vgl", re.sub(r"(?m)^// (?=@source\(|statement )", "", text)))
    assert parsed.diagnostics == ()
    return parsed.file


def check(found: Clauses, name: str = "demo") -> tree.File:
    text = skeleton.policy(found, name)
    policy = read_policy(Source("policy.vgl", text))
    assert (policy.statements, policy.diagnostics) == ((), ())
    assert format_text(Source("policy.vgl", text)) == text
    file = filled(text)
    assert len(file.items) == len(found.clauses)
    return file


@pytest.mark.parametrize("path", DOCUMENTS)
def test_the_examples(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    check(read_clauses([path]), Path(path).parent.name)


@pytest.mark.parametrize(
    ("text", "word", "form"),
    [
        ("Never push to main.", "never", "abs(trigger())"),
        ("Do not push before the tests have passed.", "do not", "prec(trigger(), guard())"),
        ("Before you push, run the tests.", "before", "prec(trigger(), guard())"),
        ("Deploy only after the approval of the owner.", "only after", "prec(trigger(), guard())"),
        ("Ensure that the copy is complete.", "ensure", "prec(trigger(), guard())"),
        ("Deleting a tenant requires approval.", "requires approval", "prec(trigger(), guard())"),
        ("After each commit, rebuild the index.", "after each commit,", "resp(trigger(), response())"),
        ("After the release, never touch the tag.", "never", "abs(forbidden()) after trigger()"),
        ("Always close the session at the end.", "always", "rslv(trigger(), resolution())"),
        ("You must answer within 30 seconds.", "must", "bresp[30s](trigger(), response())"),
        ("You must answer within two minutes.", "must", "bresp[2m](trigger(), response())"),
        ("You must answer within 3 calls.", "must", "bresp[3](trigger(), response())"),
        ("Never retry more than twice.", "never", "atmost[2](trigger())"),
        ("The request must be sent at most 3 times.", "must", "atmost[3](trigger())"),
        ("Every name must be in lower case.", "must", "abs(trigger())"),
        ("Monitor progress (MANDATORY after every run).", "mandatory", "resp(trigger(), response())"),
        ("Do not deploy without approval.", "do not", "prec(trigger(), guard())"),
        ("You must read the docs first.", "must", "prec(trigger(), guard())"),
        ("Never push without `--dry-run`.", "never", "abs(trigger())"),
        ("Every opened file must be closed.", "must", "resp(trigger(), response())"),
        ("Each started container must be stopped afterwards.", "must", "resp(trigger(), response())"),
        ("Tests must pass in the end.", "must", "rslv(trigger(), resolution())"),
        ("Never push twice.", "never", "atmost[1](trigger())"),
        ("Run the tests at least once.", "must", "atleast[1](counted())"),
        ("The tests must run at least three times before you finish.", "must", "atleast[3](counted())"),
        ("After each commit, run the tests at least once.", "after", "resp(trigger(), response())"),
        ("The tests must be run before the end of the session.", "must", "atleast[1](counted())"),
        ("Every opened file must be closed before the end.", "must", "rslv(trigger(), resolution())"),
        ("Never spend more than 1,200.50 dollars in total.", "never", "budget[1200.50](trigger(), amount)"),
        ("Payments must not exceed $500 in total per day.", "must", "budget[500](trigger(), amount) in 1d"),
        ("Never send more than 10 emails in total.", "never", "atmost[10](trigger())"),
        ("Never send more than five emails within an hour.", "never", "atmost[5](trigger()) in 1h"),
        ("Never send more than five emails per 10 minutes.", "never", "atmost[5](trigger()) in 10m"),
        ("You must answer within an hour.", "must", "bresp[1h](trigger(), response())"),
        ("Do not send the same mail again.", "do not", "atmost[1](trigger())"),
        ("You must call `init` exactly once.", "must", "atmost[1](trigger())"),
        ("Never send more than 10 emails.", "never", "atmost[10](trigger())"),
        ("No file may have more than 400 lines.", "no", "abs(trigger())"),
        ("While the lock is held, you must not edit.", "must", "until(trigger(), resolution(), forbidden())"),
        ("After a failure you must not retry.", "must", "abs(forbidden()) after trigger()"),
        ("Never start a job without a dry run.", "never", "prec(trigger(), guard())"),
        ("Do not release without a tag.", "do not", "prec(trigger(), guard())"),
        ("No deployment without two green builds.", "no", "prec(trigger(), guard())"),
        ("Never run it without a time-out.", "never", "abs(trigger())"),
        ("First check whether the branch exists.", "first check whether", "prec(trigger(), guard())"),
        ("Read the template first, then write.", "read the template", "prec(trigger(), guard())"),
        ("Every deployment is preceded by a passing build.", "is preceded by", "prec(trigger(), guard())"),
        ("A failing test precedes each fix.", "precedes each", "prec(trigger(), guard())"),
        ("A release needs a tag.", "needs a tag", "prec(trigger(), guard())"),
        ("Each upload is followed by a comparison.", "followed by", "resp(trigger(), response())"),
        ("After three failures in a row ask.", "after three", "resp(trigger(), response())"),
        ("At most three retries per job.", "at most three", "atmost[3](trigger())"),
        ("Search the log for old crates.", "", "atleast[1](counted())"),
        ("Do not open the lids.", "", "abs(trigger())"),
        ("Niemals die Kisten mit dem Kran öffnen.", "", "abs(trigger())"),
        ("No more than two open branches.", "no more than two", "atmost[2](trigger())"),
        ("Total spend remains below 20 dollars.", "remains below", "budget[20](trigger(), amount)"),
        ("No file may have more than 400 long lines.", "no", "abs(trigger())"),
        ("Limit retries to three.", "limit retries to", "atmost[3](trigger())"),
        ("The sum of all refunds stays under $500.", "stays under", "budget[500](trigger(), amount)"),
        ("The total of all payments does not exceed $1,000.", "does not", "budget[1000](trigger(), amount)"),
    ],
)
def test_the_form_is_guessed_from_the_words(text: str, word: str, form: str) -> None:
    assert skeleton.guess(clause(text, word))[0] == form
    check(clauses(clause(text, word)))


def test_the_order_may_be_in_the_lead() -> None:
    assert skeleton.guess(clause("check the disk", "before", "Before writing the file:"))[0].startswith("prec")


@pytest.mark.parametrize(
    ("about", "said"),
    [
        (clause("Run `make test`", "before", "Before a release, do this:"), ("a release", "Run make test")),
        (clause("Run `make test`", "before", "Do these checks before a release:"), ("a release", "Run make test")),
        (
            clause("Run `make test`", "before any release", headings=("Before any release:",)),
            ("any release", "Run make test"),
        ),
        (clause("Check the table - Before a query, look at it.", "before"), ("a query", "look at it")),
        (clause("It is final; ask the owner before a run.", "ask"), ("a run", "ask the owner")),
    ],
)
def test_an_item_is_what_its_list_has_done_first(about: Clause, said: tuple[str, str]) -> None:
    trigger, guard = said
    assert f"//   trigger: {trigger}\n//   guard: {guard}\n" in skeleton.policy(clauses(about), "demo")


def test_a_list_of_what_to_check_is_no_prohibition() -> None:
    checked = clause("No placeholder text", "before", "Before writing the file:")
    text = skeleton.policy(clauses(checked), "demo")
    assert "//   trigger: writing the file\n//   guard: No placeholder text\n" in text
    forbidden = clause("Never touch the file", "never", "Before the review:")
    assert "//   trigger: Never touch the file\n//   guard: the review\n" in skeleton.policy(clauses(forbidden), "d")


@pytest.mark.parametrize(
    ("about", "told"),
    [
        (clause('Always include a "Source" column.', "always"), False),
        (clause("Never push to main.", "never"), True),
        (clause("push to main", "must", "Never:"), True),
        (clause("The old branch", "do not", "", ("Do not touch:",)), True),
        (clause("Pages by hand", "anti-pattern", "", ("Anti-Pattern",)), True),
        (clause("Skip this when:", "skip this when"), True),
        (clause("Committing keys", "❌"), True),
        (clause("Run the tests before you push.", "before"), True),
    ],
)
def test_a_form_that_no_word_tells_is_said_to_be_none(about: Clause, told: bool) -> None:
    assert ("//   form: not told by any word\n" not in skeleton.policy(clauses(about), "demo")) == told


@pytest.mark.parametrize(
    ("text", "trigger", "guard"),
    [
        ("Never start a job without a dry run.", "Never start a job", "a dry run"),
        (
            "Do not deploy unless the owner says that it cannot wait.",
            "Do not deploy",
            "the owner says that it cannot wait",
        ),
        ("Every deployment is preceded by a passing build.", "Every deployment", "a passing build"),
        ("Do not release before it is validated.", "Do not release", "it is validated"),
        ('"Do not release before it is validated."', "Do not release", "it is validated"),
        ("A release needs a tag first.", "A release", "a tag"),
    ],
)
def test_what_comes_later_is_the_trigger(text: str, trigger: str, guard: str) -> None:
    written = skeleton.policy(clauses(clause(text, "never")), "demo")
    assert f"//   trigger: {trigger}\n//   guard: {guard}\n" in written


OTHERS = """
// Not taken for obligations:
//
// Instructions that nothing makes binding (--take step):
// - SKILL.md:4: Run the tests.
//
// Headings:
// - SKILL.md:1: Guide // vigil: ignore
"""


def test_what_is_no_clause_is_listed_at_the_end() -> None:
    others = (Other("SKILL.md", 1, "Guide // vigil: ignore", "heading"), Other("SKILL.md", 4, "Run the tests.", "step"))
    found = replace_clauses(clauses(clause("Never push.")), others=others)
    text = skeleton.policy(found, "demo")
    check(found)
    assert text.endswith(OTHERS)


def test_placeholders_are_no_answers() -> None:
    empty = skeleton.document(clauses(clause("Never push."), clause("Never pull.", number=2)))
    assert skeleton.filled_in(empty).answers == ()
    said = replace(empty.answers[1], reason="no call shows it")
    assert skeleton.filled_in(PolicyDocument((empty.answers[0], said))).answers == (said,)


def test_what_is_written() -> None:
    found = clauses(
        clause("Before you push, run `make test`.", headings=("Work", "Safety")),
        Clause("c2", "SKILL.md", 9, "push to main", "never", ("Work",), "Never:", "it asks for a verdict"),
        clause("push to main", number=12),
    )
    assert skeleton.policy(found, "Demo!").split("\n\n", 1)[1] == (
        "// 1. SKILL.md:1, Safety\n"
        "//   trigger: you push\n"
        "//   guard: run make test\n"
        '// @source("SKILL.md", "Before you push, run `make test`.")\n'
        "// statement push_run_test: prec(trigger(), guard())\n"
        "\n"
        "// 2. SKILL.md:9, Work\n"
        "// under: Never:\n"
        "// Beware: it asks for a verdict.\n"
        '// @source("SKILL.md", "push to main")\n'
        "// statement push_main: abs(trigger())\n"
        "\n"
        "// 3. SKILL.md:12\n"
        "//   form: not told by any word\n"
        '// @source("SKILL.md", "push to main")\n'
        "// statement push_main_2: abs(trigger())\n"
    )


HOSTILE = [
    'Never say "no", \\ or `*/`.',
    "Never\nstatement evil: abs(action = a)",
    "Never\u2028statement evil: abs(action = a)",
    "Never \x1b[31m \u202e \u200b \x00 \r\n // vigil: ignore",
    "// vigil: ignore must never be read",
    "/// must",
    "statement policy: must",
    "必须 never 停",
    "must " * 300,
    '@source("a", "b") must',
    "\ufeffmust",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_ends_its_comment(text: str) -> None:
    bad = Clause("c1", f"{text[:40]}.md", 1, text, "must", (text,), text, text)
    (statement,) = check(Clauses((bad,), (bad.path,)), text).items
    assert isinstance(statement, tree.Statement)
    (note,) = statement.annotations
    assert [unescape(arg.raw) for arg in note.args if isinstance(arg, tree.String)] == [bad.path, text]


def test_nothing_to_draft() -> None:
    check(Clauses((), ()))
    check(Clauses((), ("a.md", "b.md")))


def test_the_document_to_fill_in() -> None:
    found = clauses(clause("Never push."), clause("Never pull.", number=2))
    answers = skeleton.document(found).answers
    assert [(a.clause, a.outcome, a.reason, a.sentence, a.statements) for a in answers] == [
        ("c1", "unsupported", "not drafted yet", "Never push.", ()),
        ("c2", "unsupported", "not drafted yet", "Never pull.", ()),
    ]

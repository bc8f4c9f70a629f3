"""Drafts held against gold policies: which clauses are one, how each compares, and the scores."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from vigil_lang.diagnostics import InputError, Source
from vigil_lang.draft.clause_result import Clause, Condition, Draft, Drafted, Entry, Requirement, Usage
from vigil_lang.draft.clauses import read_clauses
from vigil_lang.draft.document import read_document
from vigil_lang.draft.drafting import DraftPlan, from_document
from vigil_lang.draft.evaluation.evaluate import against, evaluate
from vigil_lang.draft.evaluation.evaluation_report import evaluation_json, print_evaluation
from vigil_lang.draft.evaluation.gold import Gold, find, stored
from vigil_lang.draft.evaluation.result import Evaluated, Evaluation, Tally
from vigil_lang.syntax import tree
from vigil_lang.syntax.parse import parse
from vigil_lang.trace import observe

EXAMPLES = Path(__file__).parents[2] / "examples" / "gold"

SKILL = """\
# Rules

- Never delete the database.
- Always test before you release. Ask before you release.
- Log in before you upload.
- Never push to main.
- Be kind.
"""
POLICY = """\
policy rules

@source("SKILL.md", "Never delete the database.")
statement kept: abs(delete(path ~ "*.db"))

@source("SKILL.md", "Always test before you release. Ask before you release.")
statement tested: prec(release(), test(status = ok))

@source("SKILL.md", "Ask before you release.")
statement asked: prec(release(), ask())

@source("SKILL.md", "Log in before you upload.")
statement logged_in: prec(upload(), login())

@source("SKILL.md", "a sentence that is not there")
statement unread: abs(never())

@source("https://rules.example/page", "somewhere else")
statement elsewhere: abs(other())
"""
RUN = '{"action":"delete","args":{"path":"/a.db"}}\n{"action":"release"}\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "rules"
    place.mkdir()
    (place / "SKILL.md").write_text(SKILL, encoding="utf-8")
    (place / "rules.vgl").write_text(POLICY, encoding="utf-8")
    (place / "rules_test.vgl").write_text('test "t" { run { release() } expect tested violated }\n', encoding="utf-8")
    (place / "run.jsonl").write_text(RUN, encoding="utf-8")
    (place / "draft.json").write_text('{"answers": []}', encoding="utf-8")
    (place / "notes.json").write_text('{"note": 1}', encoding="utf-8")
    return tmp_path


def drafted(*forms: str) -> tuple[Drafted, ...]:
    text = "".join(f"statement d{at}: {form}\n" for at, form in enumerate(forms))
    items = parse(Source("draft.vgl", text)).file.items
    said = Requirement("d", "It says so.", "abs", Condition(()))
    return tuple(Drafted(said, item) for item in items if isinstance(item, tree.Statement))


SENTENCES = (
    "Never delete the database.",
    "Always test before you release.",
    "Ask before you release.",
    "Log in before you upload.",
    "Never push to main.",
    "Be kind.",
)


def draft(*forms: tuple[str, ...]) -> Draft:
    """A draft with these forms for the sentences in order; none is unsupported."""
    entries = []
    for number, (sentence, own) in enumerate(zip(SENTENCES, forms, strict=True), 1):
        clause = Clause(f"c{number}", "SKILL.md", number + 2, sentence, "never")
        kept = Entry(clause, "kept", drafted(*own))
        entries.append(kept if own else Entry(clause, "unsupported", reason="not to be seen", cause="model"))
    return Draft(tuple(entries), ("SKILL.md",))


PERFECT = (
    ('abs(delete(path ~ "*.db"))',),
    ("always release() implies earlier test(status = ok)",),
    ("prec(release(), ask())",),
    ("prec(upload(), login())",),
    (),
    (),
)


def evaluated(folder: Path, *forms: tuple[str, ...], runs: int = 80) -> Evaluation:
    return evaluate(str(folder), lambda _: draft(*forms), runs=runs)


def outcomes(evaluation: Evaluation) -> dict[str, str]:
    return {" ".join((*unit.gold, *(() if unit.gold else unit.drafted))): unit.outcome for unit in evaluation.units}


def test_what_belongs_to_a_gold_policy(folder: Path) -> None:
    found = find(str(folder))
    assert found.left_out == ()
    (gold,) = found.gold
    assert [Path(path).name for path in gold.documents] == ["SKILL.md"]
    assert [Path(path).name for path in gold.recordings] == ["run.jsonl"]
    assert [len(run.events) for run in gold.runs] == [2]
    assert stored(str(folder), str(folder), gold) == str(folder / "rules" / "draft.json")
    assert stored(str(folder / "rules"), str(folder), gold) is None


def test_a_policy_that_quotes_nothing_is_left_out(folder: Path) -> None:
    (folder / "bare.vgl").write_text("statement s: abs(a())\n", encoding="utf-8")
    (folder / "patterns.vgl").write_text("pattern p = a()\n", encoding="utf-8")
    assert [(Path(path).name, reason) for path, reason in find(str(folder)).left_out] == [
        ("bare.vgl", "quotes no document that can be read"),
        ("patterns.vgl", "has no statements"),
    ]
    skipped = evaluate(str(folder), lambda _: None)
    assert [(Path(path).name, reason) for path, reason in skipped.left_out][-1] == ("rules.vgl", "has no draft")
    assert (skipped.policies, skipped.precision, skipped.recall) == ((), None, None)


def test_a_folder_without_policies_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        find(str(tmp_path))


@pytest.mark.unmeasured
def test_a_perfect_draft_agrees_but_for_the_sentence_nobody_can_find(folder: Path) -> None:
    evaluation = evaluated(folder, *PERFECT, runs=200)
    assert outcomes(evaluation) == {"kept": "agree", "tested asked": "agree", "logged_in": "agree", "unread": "missing"}
    assert (evaluation.precision, evaluation.recall) == (1.0, 0.75)
    assert evaluation.tally.precision == 1.0
    (policy,) = evaluation.policies
    assert policy.agreed_on_none == 2
    assert policy.runs >= 200
    assert [unit.reason for unit in evaluation.units][-1] == "the sentence was not taken for an obligation"
    assert [c.id for c in evaluation.units[1].clauses] == ["c2", "c3"], "a statement that cites both makes them one"


def test_each_way_to_be_wrong(folder: Path) -> None:
    evaluation = evaluated(
        folder,
        ("abs(delete())",),
        ("prec(release(), test())",),
        ("prec(release(), ask())",),
        (),
        ("abs(push(branch = main))",),
        (),
    )
    assert outcomes(evaluation) == {
        "kept": "too strict",
        "tested asked": "too weak",
        "logged_in": "missing",
        "d0": "extra",
        "unread": "missing",
    }
    assert evaluation.precision == evaluation.recall == 0.0
    reasons = {unit.gold: unit.reason for unit in evaluation.units}
    assert reasons["logged_in",] == "unsupported (model): not to be seen"
    assert evaluation.counts == {
        "agree": 0, "too strict": 1, "too weak": 1, "both": 0, "unclear": 0, "missing": 2, "extra": 1,
    }  # fmt: skip
    kept, tested, logged_in, *_ = evaluation.units
    assert kept.tally.draft > 0
    assert kept.tally.gold == 0
    assert tested.tally.draft == 0
    assert logged_in.tally.gold > 0


def test_statements_on_the_wrong_clause_do_not_count(folder: Path) -> None:
    swapped = evaluated(folder, PERFECT[3], PERFECT[1], PERFECT[2], PERFECT[0], (), ())
    assert outcomes(swapped)["kept"] == outcomes(swapped)["logged_in"] == "both"


def test_the_violations_that_are_counted_are_those_of_the_same_runs_for_every_draft(folder: Path) -> None:
    def seen(each: Evaluation) -> int:
        return each.tally.both + each.tally.gold

    every = [evaluated(folder, *PERFECT), evaluated(folder, (), (), (), (), (), ("abs(a(k = 1))",))]
    assert len({seen(each) for each in every}) == 1
    assert len({each.policies[0].runs for each in every}) == 1
    assert every[1].tally.recall == 0.0
    assert every[1].tally.precision is None, "no run for the gold has the action `a`"


@pytest.mark.unmeasured
def test_the_same_draft_gives_the_same_result(folder: Path) -> None:
    one, two = (json.dumps(evaluation_json(evaluated(folder, *PERFECT))) for _ in range(2))
    assert one == two


def test_a_statement_of_two_clauses_counts_once(folder: Path) -> None:
    twice = ("prec(release(), ask())", "prec(release(), test(status = ok))")
    evaluation = evaluated(folder, PERFECT[0], twice, twice, PERFECT[3], (), ())
    assert [unit.drafted for unit in evaluation.units if unit.gold == ("tested", "asked")] == [("d0", "d1")]


def test_the_report_as_a_person_reads_it(folder: Path) -> None:
    evaluation = evaluated(folder, ("abs(delete())",), *PERFECT[1:])
    console = Console(width=100, record=True, file=StringIO())
    print_evaluation(evaluation, console)
    text = console.export_text()
    assert "  too strict  SKILL.md:3  kept ≠ d0\n" in text
    assert "draft         delete(" in text
    assert "  agree       SKILL.md:4, SKILL.md:5  tested, asked = d0, d0" in text
    assert "2 of 4 clauses agree · 1 too strict · 1 missing · 2 without a statement on both sides\n" in text
    assert "clauses     precision  66.7%  recall  50.0%\n" in text


def test_the_report_as_json(folder: Path) -> None:
    told = evaluation_json(evaluated(folder, ("abs(delete())",), *PERFECT[1:]))
    assert told["schema"] == "vigil.evaluation/1"
    assert told["summary"]["clauses"] == 4
    assert told["summary"]["outcomes"]["too strict"] == 1
    first = told["policies"][0]["clauses"][0]
    assert first["clauses"] == [{"id": "c1", "document": "SKILL.md", "line": 3, "text": "Never delete the database."}]
    assert first["compared"]["witness"]["gold"] == []
    assert first["compared"]["witness"]["draft"]
    json.dumps(told)


def test_what_an_evaluation_took_is_all_that_its_drafts_took(folder: Path) -> None:
    used = Usage(2, 1, 300, 50, 4000, 1000, 0.25, 1.5, estimated=True)
    evaluation = evaluated(folder, *PERFECT)
    (each,) = evaluation.policies
    asked = replace(each, usage=used, model="m")
    twice = replace(evaluation, policies=(asked, replace(each, model=None), asked))
    console = Console(width=200, record=True, file=StringIO())
    print_evaluation(twice, console)
    text = console.export_text()
    said = "m · 4 requests and 2 retries · 10,600 tokens in (8,000 from the cache), 100 out · at most $0.5000 · 3.0 s"
    assert f"\n{said}\n" in text
    told = evaluation_json(twice)
    assert told["summary"]["usage"]["cache_read_tokens"] == 8000
    assert told["policies"][0]["usage"]["cost_usd"] == 0.25


def test_what_is_shown_of_hostile_names_reaches_no_terminal(folder: Path) -> None:
    clause = Clause("c1", "SKILL.md", 3, SENTENCES[0], "never")
    hostile = Entry(clause, "unsupported", reason="\x1b[2Jgone\u202e", cause="model")
    screen = StringIO()
    print_evaluation(
        evaluate(str(folder), lambda _: Draft((hostile,), ("SKILL.md",)), runs=20), Console(width=100, file=screen)
    )
    assert "[2Jgone" in screen.getvalue()
    assert not {"\x1b", "\u202e"} & set(screen.getvalue())


def test_tallies() -> None:
    tally = Tally(6, 2, 4) + Tally(0, 0, 2)
    assert (tally.precision, tally.recall) == (0.75, 0.5)
    assert (Tally().precision, Tally().recall) == (None, None)


# --- the stored answers of examples/gold ---------------------------------------------------------------------------


def from_answers(gold: Gold) -> Draft:
    path = stored(str(EXAMPLES), str(EXAMPLES), gold)
    assert path is not None
    document = read_document(Source(path, Path(path).read_text(encoding="utf-8")))
    clauses = read_clauses(gold.documents, gold.path)
    return from_document(document, clauses, observe(gold.runs), gold.runs, DraftPlan(path=gold.path))


@pytest.fixture(scope="module")
def examples() -> dict[str, Evaluated]:
    wanted = {"wrangler-changes", "inject-messages"}
    golds = [gold for gold in find(str(EXAMPLES)).gold if gold.policy.name in wanted]
    return {gold.policy.name: against(gold, from_answers(gold), runs=100) for gold in golds}


@pytest.mark.unmeasured
def test_the_examples_have_answers_that_agree_and_one_that_is_too_weak(examples: dict[str, Evaluated]) -> None:
    found = {unit.gold: unit.outcome for each in examples.values() for unit in each.units}
    assert found["types_generated",] == found["recipients_named",] == found["tried_locally",] == "agree"
    assert found["state_inspected",] == "both"

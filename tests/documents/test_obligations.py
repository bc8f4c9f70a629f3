"""Which sentences state an obligation: marked sentences, and what headings and leads make of items."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.documents.obligations import obligations
from vigil_lang.documents.read import read_document
from vigil_lang.english.demanding import demands, instructs

MARKS = tomllib.loads((Path(__file__).parent / "marks.toml").read_text(encoding="utf-8"))


def found(text: str) -> list[str]:
    return [o.sentence.text for o in obligations(read_document(Source("SKILL.md", text)))]


@pytest.mark.parametrize("text", MARKS["obliging"])
def test_a_sentence_that_states_an_obligation(text: str) -> None:
    assert len(found(text)) == 1


@pytest.mark.parametrize("text", MARKS["describing"])
def test_a_sentence_that_states_none(text: str) -> None:
    assert found(text) == []


def test_there_are_enough_marks_of_both_kinds() -> None:
    assert min(len(set(MARKS["obliging"])), len(set(MARKS["describing"]))) >= 60


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("The archive must be signed.", "must"),
        ("You must not push.", "must"),
        ("**NEVER** push.", "never"),
        ("Please do not push.", "please do not"),
        ("Before scanning, refresh the list.", "before scanning, refresh"),
        ("The archive is signed.", None),
    ],
)
def test_the_word_that_demands(text: str, word: str | None) -> None:
    (sentence,) = read_document(Source("SKILL.md", text)).sentences
    assert demands(sentence.text) == word


def test_to_instruct_is_not_to_demand() -> None:
    assert instructs("Use `--json` for machines.")
    assert instructs("Step 2: Run the tests.")
    assert not instructs("The tool writes JSON.")


ITEMS = """
# Archives

## Never

- Delete a source
- Overwrite an archive

## Hard rules

- Sign each archive.
- Archives are files with one index each.
- No spaces in names

Always skip:

- `node_modules/`

Before writing the file:

- Check the free space
- Free space is shown by `df`

## When to use

- You have many files
"""


def test_headings_and_leads_make_obligations_of_items() -> None:
    assert found(ITEMS) == [
        "Delete a source",
        "Overwrite an archive",
        "Sign each archive.",
        "No spaces in names",
        "Always skip:",
        "`node_modules/`",
        "Check the free space",
    ]


def test_headings_code_and_front_matter_oblige_nobody() -> None:
    text = "---\ndescription: You must load this first.\n---\n# Never do this\n```\nalways must never\n```\n"
    assert found(text) == []


def test_a_column_of_reasons_says_what_a_thing_is_good_for() -> None:
    text = "| Step | Why it helps |\n|---|---|\n| Never skip the seed | Ensure equal runs |\n"
    assert found(text) == ["Never skip the seed"]


def test_a_word_that_demands_introduces_a_list_without_a_colon() -> None:
    text = "# Work\n\n* Always\n  * the tests\n* Never\n  * a push\n* Sometimes\n  * a pause\n"
    assert found(text) == ["the tests", "a push"]


CONTEXTS = """
# Work

The following need the owner's approval:

- `git push`

You may:

- read files

> **Warning**
> Do not run this twice.

## Don't

Use globals.
Globals are slow.

### Style

- Name a thing twice

## Forbidden actions

| Action | Reason |
|---|---|
| `rm -rf /` | data loss |

You can:

- read logs

When finished:

1. Logs are there

## Required

- `name`: the name
"""


def test_what_makes_an_obligation_of_sentences_besides_items() -> None:
    assert found(CONTEXTS) == [
        "The following need the owner's approval:",
        "`git push`",
        "Do not run this twice.",
        "Use globals.",
        "Name a thing twice",
        "`rm -rf /`",
    ]


LEADS = """
# Reports

## Sources (MUST DO FIRST)

- Local files: no links
- Prefer short names

## Contents

Each report must have:

- a title
- If there are figures:
  - a source for each

Only if there is time:

- a summary

Ask the user for one of:

- weekly

## Hints - CRITICAL

- List the tables
- Tables are large

## Do

- Use a grid

## Ideal cases

- No data for the past
"""


def test_a_lead_that_demands_obliges_its_items_and_theirs() -> None:
    assert found(LEADS) == [
        "Local files: no links",
        "Each report must have:",
        "a title",
        "a source for each",
        "Ask the user for one of:",
        "List the tables",
        "Use a grid",
    ]


def test_an_item_that_rules_something_out() -> None:
    assert found("# Code\n\n- No helpers for a single use\n") == ["No helpers for a single use"]
    assert found("# Limitations\n\n- No helpers for a single use\n") == []


def test_remedies_are_no_obligations() -> None:
    table = "| Error | Solution |\n|---|---|\n| no disk | Ensure that there is one |\n"
    assert found(f"{table}\nFix: Clean the disk before a run.\n") == []

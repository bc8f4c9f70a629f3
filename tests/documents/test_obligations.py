"""Which sentences state an obligation by themselves, and why the others state none."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vigil_lang.diagnostics import Source
from vigil_lang.documents.obligations import Passed, judgements, obligations
from vigil_lang.documents.passed_over import Why
from vigil_lang.documents.read import read_document
from vigil_lang.english import contexts, principles
from vigil_lang.english.demanding import demands, instructs
from vigil_lang.english.lazy_patterns import Pattern

if TYPE_CHECKING:
    from types import ModuleType

MARKS = tomllib.loads((Path(__file__).parent / "marks.toml").read_text(encoding="utf-8"))
CONSTRUCTIONS = tomllib.loads((Path(__file__).parent / "constructions.toml").read_text(encoding="utf-8"))


def found(text: str) -> list[str]:
    return [o.sentence.text for o in obligations(read_document(Source("SKILL.md", text)))]


@pytest.mark.parametrize("text", MARKS["obliging"])
def test_a_sentence_that_states_an_obligation(text: str) -> None:
    assert len(found(text)) == 1


@pytest.mark.parametrize("text", MARKS["describing"])
def test_a_sentence_that_states_none(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_a_way_to_demand_and_what_looks_like_it(name: str) -> None:
    told = CONSTRUCTIONS[name]
    assert [text for text in told["demands"] if not found(text)] == []
    assert [text for text in told["others"] if found(text)] == []


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


QUOTED = """
# When to use

- "Run the tests before each commit"
- User needs to push a branch

# What you must never say

- "This probably works"

# What she said

> "Always ask before you delete a file. No deployments on Fridays."
"""


def test_quotations_oblige_unless_they_are_examples() -> None:
    assert found(QUOTED) == [
        '"This probably works"',
        '"Always ask before you delete a file.',
        'No deployments on Fridays."',
    ]


def test_what_is_checked_because_something_went_wrong_is_no_obligation() -> None:
    assert found(
        "# Trouble\n\nCommon fixes:\n\n- Check that the disk is there\n- Check the disk before each run\n"
    ) == ["Check the disk before each run"]


def test_what_explains_or_permits_demands_nothing() -> None:
    assert found("# Work\n\nPrograms may:\n\n- Check the hash before they read\n- Use a file only once\n") == []
    assert found("# Work\n\nIt is slow because:\n\n- The worker must guess\n") == []
    table = "| Tip | Why it helps |\n|---|---|\n| Patch little | Skip one check at a time |\n"
    assert found(f"# Tips\n\n{table}") == []


WHYS = """
# Title

Must it be so?

Never.

Prefer small steps.

Open the dashboard.

The sky is blue.

If there is time:

- rest

| Step | Why it helps |
|---|---|
| Use a seed | Ensure equal runs |
"""


def test_each_other_sentence_has_a_reason() -> None:
    told = [(j.sentence.text, j.why) for j in judgements(read_document(Source("a.md", WHYS))) if isinstance(j, Passed)]
    assert told == [
        ("Title", "heading"),
        ("Must it be so?", "question"),
        ("Never.", "word"),
        ("Prefer small steps.", "step"),
        ("Open the dashboard.", "step"),
        ("The sky is blue.", "description"),
        ("If there is time:", "condition"),
        ("rest", "description"),
        ("Step", "heading"),
        ("Why it helps", "heading"),
        ("Use a seed", "step"),
        ("Ensure equal runs", "reason"),
    ]


DESCRIBED = """
# Ship

## Key features

- Every crate is reviewed by two people
- No ropes on deck

## Key rules

- Ropes hold the crates in place
- A rope shadows the deck below it
- Many ropes hold one crate; each has its own knot
- The crane does NOT count crates
- Section order as in the book
- Chains are not supported
- For heavy crates use the crane

## Examples

### For each crate

Lift it with a rope.

## Use

This will:

- Ask the owner

Read the guidelines:

- Open the book

If the owner names a rule of the ship:

- Look it up

Take the crane when:

- A crate is heavy (required)

Top findings:

- Author must be of the form `name`

By using the crane:

- Ensure that nothing breaks

| Rule | What it does |
|---|---|
| Coil ropes | Coils ropes only if they are dry |
| `coil` | Use it for ropes only |

| Tool | When to use |
|---|---|
| crane | Avoid ropes, they tear |
"""


def test_descriptions_among_rules_features_and_conditions() -> None:
    assert found(DESCRIBED) == [
        "Section order as in the book",
        "Chains are not supported",
        "For heavy crates use the crane",
        "Look it up",
        "Coil ropes",
    ]


PIECES = st.sampled_from(
    (
        "# Rules\n",
        "## Why\n",
        "- Never lift\n",
        "- ropes\n",
        "Before leaving:\n\n",
        "Is it so?\n\n",
        "| Do | Why |\n|---|---|\n",
        "| lift | Ensure it |\n",
        '> "Ask first"\n\n',
        "No ropes, no chains.\n\n",
        "❌ open fire\n\n",
        "1. Must?\n",
        "\n",
    )
)


@given(st.lists(PIECES, max_size=12).map("".join))
@settings(max_examples=60, deadline=None)
def test_no_sentence_is_lost(text: str) -> None:
    document = read_document(Source("a.md", text))
    judged = judgements(document)
    assert [j.sentence for j in judged] == list(document.sentences)
    assert [j.index for j in judged] == list(range(len(judged)))
    assert all(j.why in get_args(Why) if isinstance(j, Passed) else j.word for j in judged)


@pytest.mark.parametrize("module", [contexts, principles], ids=lambda module: module.__name__)
def test_every_pattern_can_be_compiled(module: ModuleType) -> None:
    """None is when the module is imported."""
    found = [one for each in vars(module).values() for one in (each if isinstance(each, tuple) else (each,))]
    patterns = [each for each in found if isinstance(each, Pattern)]
    assert len(patterns) > 15
    for each in patterns:
        assert each.search("\0") is None
    with pytest.raises(AttributeError):
        patterns[0].split  # noqa: B018 - asking for it is the test

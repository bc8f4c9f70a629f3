"""What a sentence is that demands nothing: a step, what is only shown, or what tells of something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vigil_lang.diagnostics import Source
from vigil_lang.documents.obligations import Obligation, Passed, judgements
from vigil_lang.documents.read import read_document


def judged(markdown: str) -> dict[str, str]:
    """What each sentence of a document is: the reason it is passed over for, or `obligation`."""
    document = read_document(Source("a.md", markdown))
    return {j.sentence.text: "obligation" if isinstance(j, Obligation) else j.why for j in judgements(document)}


def alone(text: str, heading: str = "Loading", lead: str = "") -> str:
    """What an item is that stands below a heading, and below a lead where there is one."""
    above = f"# Harbour\n\nThe harbour is old.\n\n## {heading}\n\n" + (f"{lead}\n\n" if lead else "")
    return judged(f"{above}- {text}\n")[text]


STEPS = (
    "Count the crates on deck",
    "Search the log for old crates.",
    "Prefer chains.",
    "Suggest a shorter rope.",
    "Heavy crates: Lift them with the crane",
    "The shelf is at the back, so use the ladder",
    "The crane is out of order; call the owner",
    "Check the log for crates that may be lost",
    "Dispose of the lids",
    "At the second knock, open the door",
    "Exit.",
    "Read the guide when a rope is one that you can't tie",
    "Step 3: Load the ship",
    "First, get the keys",
    "Now, copy the list to the lid",
    "Test that the crane lifts",
    "Determine type:",
    "Look for: broken ropes, loose lids",
    "Instead of one big crate, load two small ones",
    "Ropes are old, use a chain",
    "See the guide when loading at night",
)
"""Instructions, be it where a sentence goes on."""

OTHERS = (
    "List of crates",
    "Guide to the harbour",
    "State persists in the log",
    "Query conditions don't match",
    "Attempt 1 runs what is left",
    "Output goes to the shelf",
    "Pass threshold: half of all crates",
    "These flags are the defaults — fail fast",
    "Lid validation failed.",
    "`nodes`: number of cranes",
    "weight: count in tons",
    "CRANE_HOME (optional): base folder of the crane",
    "Use case: Heavy crates in winter",
    "Crates",
    "Overall result: PASS",
    "Without it, change requests fail.",
    "Batch processing of lids",
    "`--count`: Run it by number",
)
"""What tells of something, whatever verb it has."""


@pytest.mark.parametrize("text", STEPS)
def test_an_instruction_is_a_step(text: str) -> None:
    assert alone(text) == "step"


@pytest.mark.parametrize("text", OTHERS)
def test_what_tells_of_something_is_none(text: str) -> None:
    assert alone(text) in ("description", "advice")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Consider a longer rope", "advice"),
        ("Optionally, weigh them again", "advice"),
        ("Use `crane --list` to see all cranes", "shown"),
        ("For winches, see the other guide", "shown"),
        ("Fix: Tie a knot", "reason"),
    ],
)
def test_what_leaves_a_choice_or_points_elsewhere_is_no_step(text: str, why: str) -> None:
    assert alone(text) == why


@pytest.mark.parametrize(
    "heading", ["How it works", "What is a crane?", "Key features", "Options", "Further reading", "Use cases"]
)
def test_where_it_is_told_how_something_works_nobody_does_anything(heading: str) -> None:
    assert alone("Lift the crates one by one", heading) == "description"
    assert alone("Lift the crates one by one", "What is not allowed") != "description"


def test_a_lead_that_tells_has_items_that_tell() -> None:
    assert alone("Winch: Lift the crates", lead="A crane consists of these parts:") == "description"
    assert alone("Winch: Lift the crates", lead="In the morning, you go through these:") == "step"
    assert alone("Rename ships", lead="You can edit the list to:") == "description"


def test_a_verb_that_is_a_noun_as_often_instructs_among_instructions() -> None:
    text = "## Work\n\n- Load the ship\n- Design labels for crates\n\n## Papers\n\n- Design labels for ropes\n"
    assert judged(text) == {
        "Work": "heading",
        "Load the ship": "step",
        "Design labels for crates": "step",
        "Papers": "heading",
        "Design labels for ropes": "description",
    }


def test_what_code_or_a_table_shows() -> None:
    text = """
# Harbour

## Cranes

Open the list:

```sh
crane --list
```

Use three cranes:

```sh
crane --count 3
```

Step 2: Open the gate:

```sh
gate open
```

| Command | Description | Fix |
|---|---|---|
| `lift` | Lift a crate | Tie the rope |

## Ropes

Look for these knots:

- figure of eight
"""
    found = judged(text)
    assert {name: found[name] for name in ("Open the list:", "Lift a crate")} == {
        "Open the list:": "shown",
        "Lift a crate": "shown",
    }
    steps = ("Use three cranes:", "Step 2: Open the gate:", "Tie the rope", "Look for these knots:")
    assert {found[name] for name in steps} == {"step"}
    assert found["figure of eight"] == "part"


def test_what_mends_a_fault_and_what_is_listed_as_a_procedure_is_taken_though_code_follows() -> None:
    text = """
# Harbour

It is old.

## Common errors

Tie the rope again:

```sh
tie
```

## Setup

Steps:

- Open the gate:

```sh
gate open
```

Run:

- `gate close`

| Field | Description |
|---|---|
| `old` | Deprecated — use `new`. |

## Parts

It includes:

- Lift motor

See the guide for the rest with:

- Check lists
"""
    found = judged(text)
    taken = ("Tie the rope again:", "Open the gate:", "`gate close`", "Deprecated — use `new`.")
    assert {name: found[name] for name in taken} == dict.fromkeys(taken, "step")
    assert (found["Lift motor"], found["Check lists"]) == ("description", "description")


def test_a_heading_below_which_nothing_is_asked_for_is_the_step() -> None:
    text = "# Harbour\n\n## Step 1: Open the gate\n\nThe gate is old.\n\n## Step 2: Count crates\n\nTake the list.\n"
    assert (judged(text)["Step 1: Open the gate"], judged(text)["Step 2: Count crates"]) == ("step", "heading")


def test_what_is_named_below_a_step_that_makes_something_is_a_part_of_it() -> None:
    text = "# Harbour\n\n## Step 1: {} lids\n\n- One of oak\n\n| Size | Colour |\n|---|---|\n| Big | red |\n"
    made, counted = judged(text.format("Create")), judged(text.format("Count"))
    names = ("One of oak", "Big", "red")
    assert {name: made[name] for name in names} == dict.fromkeys(names, "part")
    assert made["Step 1: Create lids"] == "step"
    assert {name: counted[name] for name in names} == dict.fromkeys(names, "description")


def test_a_question_that_a_step_has_answered_is_one() -> None:
    for heading, why in (("Step 2: Look at each rope", "step"), ("What people ask", "question")):
        assert alone("Reason: Why did it tear?", heading) == why
        assert alone("Why did it tear?", heading) == "question"
    assert alone("Weight (is it below the limit?)", "Cranes", "Lift a crate and note:") == "step"


def test_a_part_of_a_step_has_its_place() -> None:
    document = read_document(Source("a.md", "## Ropes\n\nLook for these knots:\n\n- figure of eight\n"))
    told = judgements(document)[-1]
    assert isinstance(told, Passed)
    assert document.sentences[told.whole or 0].text == "Look for these knots:"


def test_the_sum_of_a_section_is_no_step() -> None:
    shown = "# Harbour\n\nIt is old.\n\n## Messages\n\nSend messages to ships.\n\n```sh\nsend\n```\n"
    assert judged(shown)["Send messages to ships."] == "description"
    parts = "# Harbour\n\nIt is old.\n\n## Messages\n\nSend messages to ships.\n\n### By flag\n\nRed is old.\n"
    assert judged(parts)["Send messages to ships."] == "description"
    # Nothing but the sentence says what the section is for: it may be the rule itself.
    bare = "# Harbour\n\nIt is old.\n\n## Messages\n\nSend messages to ships.\n\n## Flags\n\nRed is old.\n"
    assert judged(bare)["Send messages to ships."] == "step"
    assert judged(shown.replace("## Messages", "## Step 2: Messages"))["Send messages to ships."] == "step"
    assert judged(shown.replace("Send messages to ships.", "Use this flag."))["Use this flag."] == "step"


def test_an_item_that_names_a_section_is_its_title() -> None:
    text = "- Load the ship\n- Count the crates\n\n## Load the ship\n\nShips are big.\n"
    assert list(judged(text).items())[:2] == [("Load the ship", "heading"), ("Count the crates", "step")]


def test_a_section_of_practices_names_rules() -> None:
    assert alone("Short, plain labels", "Best practices") == "obligation"
    assert alone("Labels are paper", "Best practices") == "description"
    assert alone("Short, plain labels", "Labels") == "description"


def test_what_a_row_is_to_become() -> None:
    table = "# Harbour\n\n## {}\n\n| From | {} |\n|---|---|\n| hemp | steel rope |\n"
    assert judged(table.format("Rules for ropes", "To"))["steel rope"] == "obligation"
    assert judged(table.format("Old ropes", "To"))["steel rope"] == "description"
    assert judged(table.format("Old ropes", "It is hemp. Migrate to"))["steel rope"] == "obligation"


@pytest.mark.parametrize(
    "text",
    [
        "Führen Sie vor jedem Commit die Tests aus.",
        "Ne jamais pousser sur main sans les tests.",
        "Siempre ejecuta las pruebas antes de un commit.",
        "Nunca faça push para a main sem os testes.",
        "Non fare mai il push senza che i test siano passati.",
        "Voer altijd de tests uit voor een commit.",
        "Всегда запускай тесты.",
        "テストを実行する",
    ],
)
def test_what_is_not_english_is_called_so(text: str) -> None:
    assert alone(text) == "language"


@pytest.mark.parametrize(
    "text",
    ["`Führen Sie die Tests aus`", "Wait 100 µs", "Visit Los Angeles", "Die if the file is not found", "Naïve café"],
)
def test_a_few_words_make_no_other_language(text: str) -> None:
    assert alone(text) != "language"


def test_an_anti_pattern_is_ruled_out() -> None:
    assert alone("Loading at night", "Anti-patterns") == "obligation"
    assert alone("The crane is old", "Anti-patterns") == "description"
    assert alone('"Load it tomorrow" is what they say', "Anti-patterns") == "description"
    assert alone("Loading at night", "Habits") == "description"


def test_what_makes_something_ready() -> None:
    lead = 'A ship is "ready" when:'
    assert alone("Sealed: no crate is open", lead=lead) == "obligation"


def test_a_quotation_below_examples_is_one() -> None:
    assert (
        judged('# Harbour\n\n## Usage examples\n\n### Ropes\n\n"Tie the rope for me"\n')['"Tie the rope for me"']
        == "sample"
    )


def headings(markdown: str) -> dict[str, tuple[str, ...]]:
    document = read_document(Source("a.md", markdown))
    return {sentence.text: sentence.headings for sentence in document.sentences if sentence.kind != "heading"}


def test_a_tag_is_the_heading_of_what_it_surrounds() -> None:
    text = """
# Harbour

<loading_rules>

Ropes first.

## Cranes

Two of them.

<step name="lift">
Lift it.
</step>

One more.

</loading_rules>

The end.
"""
    assert headings(text) == {
        "Ropes first.": ("Harbour", "loading rules"),
        "Two of them.": ("Harbour", "loading rules", "Cranes"),
        "Lift it.": ("Harbour", "loading rules", "Cranes", "step lift"),
        "</step>": ("Harbour", "loading rules", "Cranes", "step lift"),
        "One more.": ("Harbour", "loading rules", "Cranes"),
        "</loading_rules>": ("Harbour", "loading rules", "Cranes"),
        "The end.": ("Harbour",),
    }


def test_a_tag_that_nobody_closes_is_no_heading() -> None:
    assert headings("# Harbour\n\n<rules>\n\nRopes first.\n")["Ropes first."] == ("Harbour",)
    assert headings("# Harbour\n\n</rules>\n\n<rules>\n\nRopes first.\n")["Ropes first."] == ("Harbour",)
    assert headings("# Harbour\n\nRopes first.\n\n</rules>\n\nThe end.\n")["The end."] == ("Harbour",)


def test_tags_that_cross_end_with_the_outer_one() -> None:
    text = "# Harbour\n\n<a>\n\n<b>\n\nRopes.\n\n</a>\n\nCranes.\n\n</b>\n\nShips.\n"
    found = headings(text)
    assert (found["Ropes."], found["Cranes."], found["Ships."]) == (("Harbour", "a", "b"), ("Harbour",), ("Harbour",))


def test_what_stands_in_a_tag_obliges_by_its_name() -> None:
    text = "<{0}>\n\n- {1}\n\n</{0}>\n"
    for name, item in (
        ("success_criteria", "Labels on crates"),
        ("Failure_Modes_To_Avoid", "Night work: loading without a lamp"),
        ("Final_Checklist", "Did I count all crates?"),
        ("constraints", "Short ropes"),
    ):
        assert judged(text.format(name, item))[item] == "obligation", name
        assert judged(text.format("crates", item))[item] != "obligation", name
    example = "<examples>\n\nLift the crate.\n\n</examples>\n"
    assert judged(example)["Lift the crate."] == "description"


def test_what_only_says_what_comes_first() -> None:
    assert alone("Ropes before crates", "Order of work") == "obligation"
    assert alone("Days before departure", "Order of work") == "description"


def test_what_a_document_is_for_is_told_in_its_purpose() -> None:
    text = "<purpose>\n\nCount the crates.\n\n</purpose>\n\n<process>\n\nLift the crates.\n\n</process>\n"
    found = judged(text)
    assert (found["Count the crates."], found["Lift the crates."]) == ("description", "step")


def test_a_lead_in_another_language_is_no_condition() -> None:
    found = judged("Vor jeder Lieferung muss das Folgende geschehen:\n\n- Die Kisten werden mit dem Kran gezählt\n")
    assert set(found.values()) == {"language"}


def test_a_lead_before_prose_is_a_step() -> None:
    assert judged("# Harbour\n\n## Cranes\n\nLoad the crates with the winch:\n\nIt is old.\n")[
        "Load the crates with the winch:"
    ] == ("step")


def test_a_discipline_says_how_things_are_to_be() -> None:
    assert alone("Labels are on lids", "The discipline") == "obligation"
    assert alone("Labels are on lids", "Labels") == "description"
    assert judged("# Label discipline\n\nLabels are on lids.\n")["Labels are on lids."] == "description"


def test_a_numbered_list_of_a_procedure_has_steps_whatever_code_follows() -> None:
    text = "# Harbour\n\n## {}\n\n1. Open the gate:\n\n   ```sh\n   gate open\n   ```\n"
    assert judged(text.format("Process"))["Open the gate:"] == "step"
    assert judged(text.format("Gates"))["Open the gate:"] == "shown"


def test_what_does_not_belong_is_ruled_out() -> None:
    assert alone("old ropes", lead="What does NOT belong here:") == "obligation"
    assert alone("old ropes", lead="What belongs here:") != "obligation"


def test_a_label_says_what_comes_out() -> None:
    assert alone("Output: a list of crates") == "obligation"
    assert alone("Structured output: lists of crates") == "description"


@given(
    st.sampled_from(
        ["Common mistakes", "Pitfalls", "Bad practices", "Red flags", "Anti-patterns", "Wrong", "What not to do", "Bad"]
    ),
    st.sampled_from([text for text in STEPS if ":" not in text and ";" not in text and "," not in text]),
    st.sampled_from(["## {}\n\n- {}\n", "## {}\n\n{}\n", "## Work\n\n{}:\n\n- {}\n", "## {} and more\n\n- {}\n"]),
)
def test_what_is_done_wrong_is_never_a_step(title: str, text: str, form: str) -> None:
    """No clause turns its sentence round: a step's statement would demand the mistake."""
    assert judged(f"# Harbour\n\nIt is old.\n\n{form.format(title, text)}")[text] != "step"

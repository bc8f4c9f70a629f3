"""Obligations that come from what stands above or beside a sentence: headings, leads, lists, columns."""

from __future__ import annotations

import pytest

from tests.documents.test_obligations import found
from vigil_lang.diagnostics import Source
from vigil_lang.documents.obligations import Obligation, Passed, judgements
from vigil_lang.documents.read import read_document

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
        "Sources (MUST DO FIRST)",
        "Local files: no links",
        "Each report must have:",
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


@pytest.mark.parametrize(
    "lead",
    [
        "## Before any release:",
        "## Prior to each deployment",
        "### After every merge",
        "## For every finding",
        "Before any release:",
        "**Before any release**",
        "Whenever a release is due:",
        "Check these before finishing the task:",
    ],
)
def test_steps_inherit_the_obligation_of_what_stands_above_them(lead: str) -> None:
    steps = ["run the full suite", "Tag the commit", "tell the team"]
    told = found(f"# Guide\n\n{lead}\n\n" + "\n".join(f"{n}. {step}" for n, step in enumerate(steps, 1)))
    assert [text for text in told if not text.endswith(":")] == steps


@pytest.mark.parametrize(
    "lead", ["## Before and after", "## Once upon a time?", "Before:", "You may, before a release:"]
)
def test_what_introduces_no_obligation(lead: str) -> None:
    assert found(f"# Guide\n\n{lead}\n\n- run the suite\n- tag the commit\n") == []


def test_a_lead_may_be_a_word_for_rules() -> None:
    text = "# Pages\n\nPer-page rules:\n\n- Front matter: a title\n- Tables over prose\n- The title is shown twice\n"
    assert found(text) == ["Front matter: a title", "Tables over prose"]


RULES = """
# House rules

- Tests are run before each commit
- Commits are signed
- One migration at a time
- Dense prose, NOT lists
- Every claim has a source
- The owner approves each release
- Secrets are kept in the vault, which is a server in the cellar.
- `render()` returns a page
- Published by the team

Keep functions short. Consider splitting them.
"""


def test_a_list_of_rules() -> None:
    assert found(RULES) == [
        "Tests are run before each commit",
        "Commits are signed",
        "One migration at a time",
        "Dense prose, NOT lists",
        "Every claim has a source",
        "The owner approves each release",
        "Keep functions short.",
    ]


CHECKLISTS = """
# Pages

## Checks

Before finishing a page, verify:

- All links work
- Sources resolved
- The title is short

## Checklist

Before finishing:

- Two diagrams present
- A summary exists

## Debugging checklist

When it fails:

- Check the exit code
- The log is in `out.log`

## Mandatory three-step process

### Step 1

- Read the sources
  - all of them

Structure the page with:

- a summary
"""


def test_a_checklist_asks_for_what_it_lists() -> None:
    assert found(CHECKLISTS) == [
        "Before finishing a page, verify:",
        "All links work",
        "Sources resolved",
        "The title is short",
        "Two diagrams present",
        "A summary exists",
        "Read the sources",
        "all of them",
        "Structure the page with:",
    ]


@pytest.mark.parametrize(
    "lead", ["What NOT to use:", "Avoid:", "Skip:", "Required protections:", "## Things you should never do"]
)
def test_a_lead_that_names_what_is_required_or_ruled_out(lead: str) -> None:
    assert found(f"# Work\n\n{lead}\n\n- The count of lines\n- Names: escaped\n") == [
        "The count of lines",
        "Names: escaped",
    ]


def test_a_column_of_what_to_do_and_what_not() -> None:
    head = "# Rules\n\n| Do | Don't | Reason |\n|---|---|---|\n"
    text = f"{head}| Return a number | Return text | Speed |\n| Log it | Never | - |\n"
    assert found(text) == ["Return a number", "Return text", "Log it"]
    purposes = (
        "| Option | Purpose |\n|---|---|\n| `servers` | Use a variable, not a text. |\n| `rate` | Run it first. |\n"
    )
    assert found(f"# Options\n\n{purposes}") == ["Use a variable, not a text."]


def test_a_lead_carries_what_it_demands_only() -> None:
    assert found("# Work\n\nAlways list the tables to understand:\n\n- their columns\n") == [
        "Always list the tables to understand:"
    ]


LISTS = """
# Ship

## Hard bans

Throw these away:

- open fire
- "lucky" knots

## Response policy

- Every letter gets an answer
- Answers help people

## Cargo requirements

- Tie each crate
- Crates have labels

## Quality gate

Before leaving:

- no crates on deck
- lists signed
- ropes are coiled

## Harbour checklist

- The crane is locked
- Note the tide

## Papers (all required)

- Bill of lading

## Habits to avoid

- Tying two crates together

## Missing care

- no count of the crates

## Critical rule

If a rope is torn, say so directly.

## Notes

- Ropes, not chains
- (a rope, not a chain)
- 🚫 Smoking on deck
- ✅ Check the ropes
- ✅ `rope`, `chain`
- No smoking below deck
- No orphaned ropes (a hazard)
- No smoke detected

❌ Storing fuel

✅ Fuel is stored ashore

## Key rules

- [List the rules of the harbour]
"""


def test_lists_that_bans_policies_requirements_and_gates_head() -> None:
    assert found(LISTS) == [
        "Throw these away:",
        "open fire",
        '"lucky" knots',
        "Every letter gets an answer",
        "Tie each crate",
        "no crates on deck",
        "lists signed",
        "ropes are coiled",
        "The crane is locked",
        "Note the tide",
        "Bill of lading",
        "Tying two crates together",
        "If a rope is torn, say so directly.",
        "Ropes, not chains",
        "🚫 Smoking on deck",
        "✅ Check the ropes",
        "No smoking below deck",
        "No orphaned ropes (a hazard)",
        "❌ Storing fuel",
    ]


INHERITED = """
# Harbour

## Checklist before sailing

### Hold

- Crates are dry
- Lids follow the plan

### Deck

- No loose ropes

## Gate 2: Papers

- Papers signed

## House rules

- Loading follows the harbour's conventions
- Cannot exceed ten crates
- A second count also closes the list
- Pure water, no salt
- A log entry after each stop
- [Rule]: [what it is good for]

## Loading rule

Every crate that comes aboard gets a number.

## What it does

- Verify that crates are dry
- Weigh each crate before loading
- Do not touch it

## Ropes

Rules are kept in two places, and can be read so:

- Press `r` to read them
- `--tie`: Tie the rope before use

Use the crane when you want to:

- lift a crate before noon

## Errors are signals

- No silent faults, no late flags
"""


def test_what_checklists_rules_and_features_make_of_the_items_below_them() -> None:
    assert found(INHERITED) == [
        "Crates are dry",
        "Lids follow the plan",
        "No loose ropes",
        "Papers signed",
        "Loading follows the harbour's conventions",
        "Cannot exceed ten crates",
        "A second count also closes the list",
        "Pure water, no salt",
        "A log entry after each stop",
        "Every crate that comes aboard gets a number.",
        "Do not touch it",
        "No silent faults, no late flags",
    ]


def test_a_title_that_tells_what_a_document_does_lists_no_rules() -> None:
    assert found("# Scaffold rules\n\nScaffold shared rules for a project.\n") == []
    assert found("# House rules\n\nScaffold shared rules for a project.\n") != []


def test_what_has_all_of_a_section_done_obliges_its_parts() -> None:
    steps = (
        "## Process\n\nExecute ALL steps.\n\n### Step 1\n\n- Read the log\n- It has lines.\n\n## Then\n\n- Open it\n"
    )
    assert found(steps) == ["Execute ALL steps.", "Read the log"]
    leads = (
        "## Build\n\nIt must do this in order:\n\n### a) Strip\n\nRemove the head. It is long.\n\n## Use\n\nOpen it.\n"
    )
    assert found(leads) == ["It must do this in order:", "Remove the head."]
    assert found(steps.replace("Execute ALL steps.", "There are three steps.")) == []
    table = "| Problem | Cause |\n|---|---|\n| Tag missing | Read error |\n"
    assert found(steps.replace("## Then", f"{table}\n## Then")) == found(steps)


def test_the_parts_of_a_section_of_rules_oblige() -> None:
    text = "# Ship\n\n## {}\n\n### {}\n\n- Write the log daily\n- The log has lines.\n\nKeep it short.\n"
    for section in ("Conventions", "Core principles", "Rules of the house"):
        assert found(text.format(section, "Log")) == ["Write the log daily", "Keep it short."]
        assert found(text.format(section, "How it works")) == []
    assert found(text.format("The log", "Parts")) == []
    assert found("# House rules of ships\n\n## Log\n\nOpen the log.\n") == []  # the title of what it is about


def test_descriptions_below_a_lead_for_rules_are_rules() -> None:
    text = "## Layers\n\n{}\n\n- The core has no dependencies\n- Layers point inward\n"
    assert len(found(text.format("Rules:"))) == 2
    assert found(text.format("Layers:")) == []


def test_columns_of_what_is_required_or_right() -> None:
    table = "| Claim | {} |\n|---|---|\n| X calls Y | File and line |\n"
    for column in ("Required evidence", "Correct approach", "READ BEFORE proceeding"):
        assert found(table.format(column)) == ["File and line"]
    for column in ("Required by", "Evidence"):
        assert found(table.format(column)) == []
    fixes = (
        "## CRITICAL (must fix)\n\n| Thing | Transform |\n|---|---|\n| Front matter | Strip it |\n| Other | a name |\n"
    )
    assert found(fixes) == ["Strip it"]
    assert found(fixes.replace("must fix", "nice to have")) == []


def test_a_lead_that_says_what_should_be_carries_that() -> None:
    assert found("The script should:\n\n- print a count\n- two columns\n") == [
        "The script should:",
        "print a count",
        "two columns",
    ]


def test_what_is_done_in_a_case_obliges_by_its_lead_or_its_row() -> None:
    lead = "{}\n\n- Log the failure\n- A log has lines\n- Consider a nap\n"
    for case in ("If validation fails:", "When activated:", "Otherwise:"):
        assert found(lead.format(case)) == ["Log the failure"]
    for other in ("Use it when:", "For example:", "When to use this:"):
        assert found(lead.format(other)) == []
    table = "## {}\n\n| Problem | {} |\n|---|---|\n| File missing | Skip the section |\n| File torn | torn |\n"
    assert found(table.format("Errors", "Action")) == ["Skip the section"]
    assert found(table.format("Errors", "Recovery action")) == ["Skip the section"]
    assert found(table.format("Related commands", "Action")) == []
    assert found(table.format("Errors", "Cause")) == []


def test_a_lead_that_demands_has_the_steps_below_it_done() -> None:
    lead = "{}\n\n- Lift the crate\n- The crate is heavy\n"
    for demanding in ("Use the crane for ALL crates:", "If the crane fails, use the winch:"):
        assert found(lead.format(demanding)) == [demanding, "Lift the crate"]
    assert found(lead.format("Use the crane:")) == []
    for other in ("Cranes are required when you want to:", "When to use this: Use it whenever you need to:"):
        assert "Lift the crate" not in found(lead.format(other))
    made = "If no list is left, write one with:\n\n- a title\n- the weights\n"
    assert found(made) == ["If no list is left, write one with:"]
    assert found(made.replace("If no list is left, write", "Cooks write")) == []


def test_parts_of_what_a_sentence_demands_are_its_own_and_no_obligations() -> None:
    for lead in (
        "The guide must include:",
        "A guide should cover:",
        "Each guide must have all of the following parts:",
        "Write a guide that covers the six core areas:",
        "Include where there are some:",
        "Required sections:",
        "### Required sections (six)",
    ):
        parts = "- Load Limits — a table\n- the ropes.\n  With a figure.\n- Ropes include:\n  - their length\n"
        text = f"# Guide\n\n{lead}\n\n{parts}- Never name the owner\n- Use a table\n- Only dry crates\n"
        judged = judgements(read_document(Source("guide.md", text)))
        whole = next(each for each in judged if each.sentence.text == lead.lstrip("# "))
        assert isinstance(whole, Obligation)
        named = [each.sentence.text for each in judged if isinstance(each, Passed) and each.whole == whole.index]
        assert named == ["Load Limits — a table", "the ropes.", "With a figure.", "their length"], lead
        assert found(text) == [whole.sentence.text, "Never name the owner", "Use a table", "Only dry crates"]
    # What is ruled out is so one by one, and what is made of it is said of nothing that is demanded.
    assert found("# Guide\n\nDo NOT include:\n\n- Names of owners\n- Prices\n")[-2:] == ["Names of owners", "Prices"]
    assert found("# Guide\n\nGuides include:\n\n- Names of owners\n- Prices\n") == []


def test_a_further_sentence_of_an_item_that_describes_is_none_of_its_demands() -> None:
    items = "- Sign the list. It is worth an hour.\n- The list is signed. No names.\n"
    assert found(f"# Work\n\n## Hard rules (mandatory)\n\n{items}") == [
        "Sign the list.",
        "The list is signed.",
        "No names.",
    ]


def test_an_instruction_that_goes_on_from_a_demand_is_one() -> None:
    demand = "Never lift a wet crate."
    for item in (f"- {demand} {{}}\n", f"# Work\n\n{demand} {{}}\n"):
        assert found(item.format("Use the winch.")) == [demand, "Use the winch."]
        for other in (
            "See the guide.",
            "You may use the winch.",
            "Use the winch:",
            "It is heavy.",
            "Prefer the winch.",
        ):
            assert found(item.format(other)) == [demand]
    assert found(f"{demand}\n\nUse the winch.\n") == [demand]


def test_what_is_found_out_first_is_no_obligation_of_its_own() -> None:
    text = "# Work\n\nBefore writing anything, detect:\n\n- Kind of crate: `wood` → light\n- Weigh the lid\n"
    assert found(text) == ["Before writing anything, detect:", "Weigh the lid"]


def test_a_column_of_cases_says_for_what_the_rules_of_its_table_are() -> None:
    table = '## What you must never do\n\n| {} | Response |\n|---|---|\n| "It is fine" | Weigh the crate |\n'
    assert found(table.format("If you hear yourself say")) == ["Weigh the crate"]
    assert found(table.format("Claim")) == ['"It is fine"', "Weigh the crate"]


def test_what_a_text_that_demands_rules_out_in_a_sentence_of_its_own() -> None:
    text = "Each crate must be dry. No loose ropes.\n"
    assert found(text) == ["Each crate must be dry.", "No loose ropes."]
    assert found(text.replace("must be", "is")) == []
    assert found(f"## Limitations\n\n{text}") == ["Each crate must be dry."]
    assert found("Each crate must be dry.\n\n## Deck\n\nNo loose ropes.\n") == ["Each crate must be dry."]


def test_criteria_and_required_sections_list_what_has_to_be() -> None:
    for heading in ("Success criteria", "Release criteria", "Review checklist", "Required CSS sections"):
        assert found(f"## {heading}\n\n- Tables with borders\n") == ["Tables with borders"]
    assert found("**Success criteria:**\n\n- Tables with borders\n") == ["Tables with borders"]
    for heading in ("CSS sections", "Step 1: Write acceptance criteria", "2. Create release criteria"):
        assert found(f"## {heading}\n\n- Tables with borders\n") == []


def test_a_heading_that_demands_something_itself() -> None:
    for heading in (
        "Weigh the crates (must be done first)",
        "Step 2: Paint the deck (only if it is dry)",
        "Never lift two crates",
        "One crate per lift",
    ):
        assert found(f"# Harbour\n\n## {heading}\n\nCrates are heavy.\n") == [heading]
    for heading in (
        "What you must never do",
        "Crates (mandatory)",
        "Always do these",
        "Never fires",
        "Crates (optional)",
    ):
        assert found(f"# Harbour\n\n## {heading}\n\nCrates are heavy.\n") == []
    assert found("# Never lift two crates\n\nCrates are heavy.\n") == []  # what the document is about


CHECKLIST = """
# Harbour

## {}

```{}
## Hold
- [ ] Lids closed
- [ ] Crates are dry
```
"""


def test_a_checklist_in_a_block_of_code_is_read() -> None:
    assert found(CHECKLIST.format("Release checklist", "markdown")) == ["Lids closed", "Crates are dry"]
    assert found(CHECKLIST.format("Release checklist", "")) == ["Lids closed", "Crates are dry"]
    assert found(CHECKLIST.format("Release checklist", "toml")) == []
    assert found(CHECKLIST.format("Progress", "markdown")) == []
    copied = CHECKLIST.format("Loading", "").replace("```", "Copy this checklist and tick it off:\n\n```", 1)
    assert found(copied) == []
    template = CHECKLIST.replace("## Hold\n", "- Total: 3\n")  # a report that somebody fills in
    assert found(template.format("Release checklist", "markdown")) == []


def test_what_a_table_says_is_required() -> None:
    table = "| Part | {} | Purpose |\n|---|---|---|\n| Lid | {} | Keeps water out |\n| Lock | no | - |\n"
    assert found(table.format("Required", "Yes")) == found(table.format("Mandatory?", "always")) == ["Lid"]
    assert found(table.format("Required", "No")) == found(table.format("Painted", "Yes")) == []
    cells = "| Field | Description |\n|---|---|\n| `hold` | {} One to nine. |\n"
    assert found(cells.format("**Required**.")) == ["One to nine."]
    assert found(cells.format("Optional.")) == []


def test_instructions_below_notes_are_to_be_minded() -> None:
    notes = "# Ropes\n\n## {}\n\n- Link ropes to cranes\n- Ropes are strong\n- No rope found\n"
    for heading in ("Notes", "Important notes"):
        assert found(notes.format(heading)) == ["Link ropes to cranes"]
    assert found(notes.format("Steps")) == []


def test_a_lead_that_has_something_made_says_what_it_is_like() -> None:
    items = "\n\n- crates first, then ropes\n- `red` → `blue`\n- `red`, `blue`\n- The list is long\n"
    assert found(f"When loading, write the list by weight:{items}")[1:] == [
        "crates first, then ropes",
        "`red` → `blue`",
    ]
    assert found(f"When loading, find the lists:{items}")[1:] == []
    assert found(f"Write the list:{items}") == []


def test_a_lead_that_has_something_verified() -> None:
    assert found("Verify:\n\n- `crane --version`\n") == ["`crane --version`"]
    assert found("Run:\n\n- `crane --version`\n") == []


def test_an_argument_that_a_call_requires_is_no_duty_of_who_reads() -> None:
    table = "| {} | Required |\n|---|---|\n| `weight` | Yes |\n"
    assert found(table.format("Part")) == ["`weight`"]
    for column in ("Parameter", "Field name", "Option"):
        assert found(table.format(column)) == []


def test_what_is_verified_because_it_fails_is_no_obligation() -> None:
    for heading in ('"503 Unavailable"', "Common issues", "Login errors"):
        assert found(f"# Harbour\n\n## {heading}\n\n- Verify the name\n- Never lift it\n") == ["Never lift it"]
    assert found("# Harbour\n\n## Login\n\n- Verify the name\n") == ["Verify the name"]


def test_steps_that_are_only_tracked_are_told_below() -> None:
    for lead in ("Copy this checklist and tick it off:", "Use a list for all crates to track your progress:"):
        assert found(f"{lead}\n\n- Weigh the crates\n- Verify the lids\n")[-1:] != ["Verify the lids"]
    assert found("When sailing, do this:\n\n- Weigh the crates\n")[-1:] == ["Weigh the crates"]


def test_sequences_conditions_and_formats_head_what_is_to_be() -> None:
    for lead in ("Launch sequence:", "Order of operations:"):
        assert found(f"{lead}\n\n1. Weigh the crates\n2. It is heavy\n") == ["Weigh the crates"]
    for lead in ("Trigger conditions:", "**Preconditions:**", "Files to create:"):
        assert found(f"{lead}\n\n- crates weighed\n") == ["crates weighed"]
    assert found("Stop conditions:\n\n- crates weighed\n") == []
    for heading, obliging in (("Response format", True), ("Key pitfalls", True), ("Formats", False)):
        assert bool(found(f"# Harbour\n\n## {heading}\n\n- Use two tables\n")) is obliging


def test_the_rounds_that_one_will_perform_oblige() -> None:
    text = "# Loading\n\n## Rounds\n\n{}\n\n### Round 1\n\n- Look at the deck\n- The deck is wet\n"
    assert found(text.format("You will perform 3 rounds.")) == ["You will perform 3 rounds.", "Look at the deck"]
    assert found(text.format("There are 3 rounds.")) == []


def test_an_item_that_says_that_nothing_is_to_be_done() -> None:
    assert found("Do not lift:\n\n- wet crates\n- Dry crates: not required\n") == ["Do not lift:", "wet crates"]
    table = "| Weight | Action |\n|---|---|\n| 9 | Split it |\n| 1 | No split needed |\n"
    assert found(table) == ["Split it"]


def test_a_document_about_hardening_obliges() -> None:
    for title in ("Securing the harbour", "Hardening"):
        assert found(f"# {title}\n\n## Gate\n\nKeep a list of guests.\n") == ["Keep a list of guests."]
    assert found("# The harbour\n\n## Gate\n\nKeep a list of guests.\n") == []


def test_advice_behind_a_label_and_what_saves_time_are_no_rules() -> None:
    rules = "# Harbour\n\n## Key guidelines\n\n- {}\n"
    assert found(rules.format("**Use a crane**: Lift slowly")) != []
    for advice in ("**Use a crane**: Prefer a small one", "Save time by lifting two crates", "“red”, “blue”, etc."):
        assert found(rules.format(advice)) == []

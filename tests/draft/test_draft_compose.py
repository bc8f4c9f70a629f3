"""The policy that is written: what a reviewer wants to merge, and nothing that a document or an answer slips in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from draft_requirements import OK, any_of, arg, called, clause, hostile_texts, requirements
from hypothesis import given, settings
from hypothesis import strategies as st

from vigil_lang.diagnostics import Source
from vigil_lang.draft.building.build import statement, statement_name
from vigil_lang.draft.building.compose import Unproved, policy, policy_name
from vigil_lang.draft.clause_result import Clause, Drafted, Entry, Requirement
from vigil_lang.lint.suppress import ignores
from vigil_lang.semantics.policy import read_policy
from vigil_lang.syntax import parse, tree
from vigil_lang.syntax.format import format_text

if TYPE_CHECKING:
    from collections.abc import Sequence


def kept(clause: Clause, *listed: Requirement, names: Sequence[str] = ()) -> Entry:
    """An entry with statements, each citing its clause."""
    cites = [(clause.path, clause.text)]
    named = names or [requirement.name for requirement in listed]
    built = [Drafted(r, statement(r, name, cites)) for r, name in zip(listed, named, strict=True)]
    return Entry(clause, "kept", tuple(built))


def at(line: int, text: str, *headings: str, path: str = "SKILL.md") -> Clause:
    return clause(text, id=f"c{line}", line=line, headings=("The skill", *headings), path=path)


def reads_first(variable: str = "x") -> Requirement:
    writes = called("file.write", arg("path", "same", variable), arg("path", "glob", "*.csv"))
    reads = called("file.read", arg("path", "same", variable), OK)
    return Requirement("read_first", "A CSV file is read before it is changed.", "prec", any_of(writes), any_of(reads))


NO_PUSH = Requirement("no_push", "Nothing is pushed.", "abs", any_of(called("git.push")))
ONE_TRY = Requirement("one_try", "", "atmost", any_of(called("submit")), bound="1")

ENTRIES = (
    kept(at(3, "Read a CSV file before you change it.", "Data"), reads_first()),
    Entry(at(5, "Keep it **tidy**.", "Data"), "unsupported", reason="no event shows tidiness", cause="model"),
    kept(at(8, "Submit once, and push nothing.", "Data"), ONE_TRY, NO_PUSH),
    kept(at(21, "Never push.", "Delivery", "Git"), NO_PUSH),
    kept(at(2, "Always look at a CSV file first.", path="references/data.md"), reads_first("y")),
    Entry(at(30, "This was written for Git 2.", "Delivery"), "not_normative"),
    Entry(at(31, "Be fast: " + "very " * 50 + "fast."), "unsupported", cause="missing"),
)

WRITTEN = """\
/// Drafted from SKILL.md.
///
/// Not reviewed.
policy my-skill

// From SKILL.md, Data

/// A CSV file is read before it is changed.
@source("SKILL.md", "Read a CSV file before you change it.")
@source("references/data.md", "Always look at a CSV file first.")
statement read_first: prec(file.write(path = x, path ~ "*.csv"), file.read(path = x, status = ok))

@source("SKILL.md", "Submit once, and push nothing.")
statement one_try: atmost[1](submit())

/// Nothing is pushed.
@source("SKILL.md", "Submit once, and push nothing.")
@source("SKILL.md", "Never push.")
statement no_push: abs(git.push())

// Clauses that no statement enforces:
//
// - SKILL.md:5: Keep it tidy.
//   (no event shows tidiness)
// - SKILL.md:31: Be fast: very very very very very very very very very very very very very very very very…

// Sentences that oblige the agent to nothing:
//
// - SKILL.md:30: This was written for Git 2.
"""


def test_a_policy_is_what_a_reviewer_reads() -> None:
    header = "Drafted from SKILL.md.\n\nNot reviewed.\n"
    assert policy("my-skill", ENTRIES, ("SKILL.md", "references/data.md"), header) == WRITTEN


def test_one_document_needs_no_name() -> None:
    text = policy("p", ENTRIES[:4], ("SKILL.md",), "")
    assert text.startswith("policy p\n\n// Section Data\n\n/// A CSV file")
    assert text.count("// Section") == 1  # what the clause under Git demands stands under Data already


def test_headings_are_told_where_they_change() -> None:
    listed = [
        kept(at(1, "a", "Data", "CSV"), NO_PUSH),
        kept(at(2, "b", "Data", "CSV"), ONE_TRY),
        kept(at(3, "c"), reads_first()),
    ]
    text = policy("p", listed, ("SKILL.md",), "")
    assert [line for line in text.splitlines() if line.startswith("// ")] == [
        "// Section Data › CSV",
        "// Section The skill",
    ]


def test_statements_of_one_name_are_numbered() -> None:
    entries = [kept(at(1, "a"), NO_PUSH), kept(at(2, "b"), ONE_TRY, names=["no_push"])]
    names = [s.name for s in read_policy(Source("p.vgl", policy("p", entries, ("SKILL.md",), ""))).statements]
    assert names == ["no_push", "no_push_2"]


def test_what_a_clause_is_the_other_half_of_is_told() -> None:
    listed = [
        Entry(clause("No `TODO`", id="c1", lead="Before you write:"), "unsupported", reason="no"),
        Entry(clause("The root", id="c2", word="always", headings=("Always list:",)), "not_normative"),
        Entry(clause("`.venv/`, `__pycache__/` and `a**b` must __go__.", id="c3"), "not_normative"),
    ]
    lines = policy("p", listed, ("SKILL.md",), "").splitlines()
    assert [line.partition(": ")[2] for line in lines if line.startswith("// - ")] == [
        "Before you write: No TODO",
        "Always list: The root",
        ".venv/, __pycache__/ and a**b must go.",
    ]


def test_what_may_speak_to_the_model_is_marked() -> None:
    sly = clause("You must ignore it.", id="c1", hostile="it asks to ignore\n// vigil: ignore")
    text = policy("p", [kept(sly, NO_PUSH), Entry(replace(sly, id="c2"), "unsupported", reason="no")], ("A.md",), "")
    mark = "Beware, the sentence may speak to the model that drafts: it asks to ignore // vigil: ignore."
    assert f"\n// {mark}\n/// Nothing is pushed.\n" in text
    assert text.endswith(f"//   (no)\n//   {mark}\n")
    assert ignores(parse(Source("p.vgl", text)).file) == ([], [])
    shared = policy("p", [kept(sly, NO_PUSH), kept(clause("Never push."), NO_PUSH)], ("A.md",), "")
    assert f"\n// {sly.path}:{sly.line}: {mark}\n/// " in shared


def test_without_statements_there_is_a_policy() -> None:
    text = policy("p", ENTRIES[1:2], ("SKILL.md",), "")
    assert parse(Source("p.vgl", text)).diagnostics == ()
    assert policy("p", (), (), "") == "policy p\n"


def test_what_cannot_be_proved_is_not_written() -> None:
    """A tree that no text parses to; `build` makes none such."""
    odd = tree.Statement(tree.Name("s"), tree.Form("abs", (tree.Apply(tree.Name("not"), ()),)))
    with pytest.raises(Unproved):
        policy("p", [Entry(clause(), "kept", (Drafted(NO_PUSH, odd),))], (), "")


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("my-skill", "my-skill"),
        ("a.b_c", "a.b_c"),
        ("My Skill (v2)", "my-skill-v2"),
        ("../x y/", "x-y"),
        ("3d", "d"),
        ("", "drafted-policy"),
        ("後", "drafted-policy"),
        ("policy", "policy-policy"),
        ("x" * 200, "x" * 80),
        ("a\u202eb", "a-u-202e-b"),
    ],
)
def test_a_policy_has_a_name(wanted: str, name: str) -> None:
    assert policy_name(wanted) == name
    assert policy(wanted, (), (), "") == f"policy {name}\n"


@st.composite
def entries(draw: st.DrawFn) -> list[Entry]:
    """Entries whose clauses and reasons are hostile."""
    found: list[Entry] = []
    for number in range(draw(st.integers(0, 4))):
        parts: dict[str, Any] = {
            "id": f"c{number + 1}",
            "path": draw(hostile_texts | st.just("SKILL.md")),
            "headings": tuple(draw(st.lists(hostile_texts, max_size=2))),
        }
        about = clause(draw(hostile_texts), **parts)
        if draw(st.booleans()):
            name = statement_name(draw(hostile_texts), about, ())
            drafted = draw(st.lists(requirements(), max_size=2))
            found.append(kept(about, *drafted, names=[name] * len(drafted)))
        else:
            outcome = draw(st.sampled_from(("unsupported", "not_normative")))
            found.append(Entry(about, outcome, reason=draw(hostile_texts)))
    return found


@settings(max_examples=40, deadline=None)
@given(entries(), hostile_texts, hostile_texts)
def test_no_text_gets_out_of_its_place(listed: list[Entry], name: str, header: str) -> None:
    text = policy(name, listed, tuple(entry.clause.path for entry in listed), header)
    source = Source("p.vgl", text)
    parsed = parse(source)
    assert parsed.diagnostics == ()
    assert format_text(source) == text
    assert ignores(parsed.file) == ([], [])
    drafted = [statement.statement for entry in listed for statement in entry.statements]
    assert all(type(item) is tree.Statement for item in parsed.file.items)
    assert {(item.form, item.after) for item in parsed.file.items} <= {(s.form, s.after) for s in drafted}
    cited = {note for item in parsed.file.items for note in item.annotations}
    assert cited == {note for statement in drafted for note in statement.annotations}
    unanswered = [entry for entry in listed if entry.outcome != "kept"]
    assert sum(line.startswith("// - ") for line in text.splitlines()) == len(unanswered)

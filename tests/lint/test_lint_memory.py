"""What is remembered of a policy's last text changes no finding: after any edits they are those of a fresh linter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies.edits import edited
from vigil_lang.diagnostics import Source
from vigil_lang.lint.memory import Memory
from vigil_lang.lint.run import Plan, Stopped, lint_policy
from vigil_lang.lint.subject import MAX_DOUBTFUL
from vigil_lang.semantics.policy import read_policy
from vigil_lang.trace import Action, Argument, Signature

if TYPE_CHECKING:
    from vigil_lang.diagnostics import Diagnostic

POLICY = """policy work
use std.files: changing
let tools = {Read, Edti, Bash}
let limit = 3

/// Reads a file.
pattern reads(x) = action in tools and path = x and count > limit
pattern deep(x) = reads(x) and path !~ "*.py" and path ~ "*.py"

pattern none = Edit(path = "a") and status = ok and status = error
pattern either = Edit(path = "a.py") or Edit(path = "a.py", status = ok)

/// What is changed was read.
@severity(error)
@on_violation(hold)
@message("`{y}` was not read")
statement first: prec(Edit(path = x) and path ~ "*b.py", reads(x))

// between two statements
@on_violation(hold)
statement second: resp(Edit(path = x), deep(x)) where x != "z"

statement third: always Bash(command = c) implies earlier (Read(file = c) or Grep(size = 4))
statement again: prec(Read(path = x), Read(path = x, status = ok))
statement never: prec(changing and path = x, Read(path = x))
statement both: abs(none or Read(path = "b.txt") and Edit(path = "a.py"))

pattern many = Edit(count > 3)
@source("SKILL.md", "Ask the user before a bulk edit.")
statement cited: abs(many)
"""

SIGNATURES = [
    Signature(
        {
            "Read": Action({"path": Argument(frozenset({"text"}), values=frozenset({"a.py", "b.py"}))}),
            "Edit": Action({"path": Argument(frozenset({"text"}), values=frozenset({"b.py"}))}),
            "Bash": Action({"command": Argument(frozenset({"text"}))}),
        },
        origin,
    )
    for origin in ("observed", "declared")
]

PIECES = [
    "x",
    "(",
    ")",
    '"',
    "\n",
    " ",
    "and ",
    "not ",
    "pattern reads(x) = Read(path = x)\n",
    "statement first: ",
    "pattern deep(x) = (\n",
    "// ",
]
NAMES = ["reads", "tools", "deep", "limit", "many", "Edit"]


def linted(text: str, signature: Signature | None, memory: Memory | None = None) -> tuple[Diagnostic, ...]:
    return lint_policy(read_policy(Source("work.vgl", text)), Plan(signature=signature), memory=memory).findings


@settings(max_examples=25, deadline=None)
@given(edited(POLICY, PIECES, NAMES), st.sampled_from([None, *SIGNATURES]))
def test_incremental_findings_are_those_of_a_fresh_linter(texts: list[str], signature: Signature | None) -> None:
    memory = Memory()
    for text in [POLICY, *texts]:
        assert linted(text, signature, memory) == linted(text, signature, Memory())


def test_a_statement_written_twice_is_found_at_both_places() -> None:
    (line,) = re.findall("statement again.*\n", POLICY)
    memory, twice = Memory(), POLICY + line + line
    for _ in range(3):
        found = linted(twice, None, memory)
        assert found == linted(twice, None)
    assert sum(finding.code == "VGL311" for finding in found) == 3


@pytest.mark.parametrize("signature", [None, *SIGNATURES])
def test_with_a_memory_the_findings_are_the_same(signature: Signature | None) -> None:
    whole = linted(POLICY, signature)
    assert {"VGL302", "VGL310", "VGL703"} <= {finding.code for finding in whole}
    assert linted(POLICY, signature, Memory()) == whole


def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the items that local rules look at from now on."""
    from vigil_lang.lint.subject import Subject

    names: list[str] = []
    focused = Subject.focused

    def noted(self: Subject, item: Any) -> Subject:
        names.append(item.name.text)
        return focused(self, item)

    monkeypatch.setattr(Subject, "focused", noted)
    return names


def test_only_what_changed_and_what_names_it_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    memory, signature = Memory(), SIGNATURES[0]
    linted(POLICY, signature, memory)
    names = looked_at(monkeypatch)
    linted(POLICY.replace("policy work", "policy work\n\n// moved"), signature, memory)
    assert names == []
    linted(POLICY.replace('x != "z"', 'x != "zz"'), signature, memory)
    assert names == ["second"]
    names.clear()
    linted(POLICY.replace("limit = 3", "limit = 4"), signature, memory)
    assert set(names) == {"first", "second", "reads", "deep", "limit"}


def test_what_a_cited_sentence_lacks_is_looked_for_again_where_a_pattern_changed() -> None:
    memory = Memory()
    for pattern, lacking in (("Edit(count > 3)", False), ('Edit(path = "a.py")', True), ("Edit(count > 4)", False)):
        text = POLICY.replace("Edit(count > 3)", pattern).replace("many", "touches")
        found = linted(text, None, memory)
        assert found == linted(text, None)
        assert ("VGL701" in {finding.code for finding in found}) == lacking


def test_another_signature_has_everything_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory()
    linted(POLICY, SIGNATURES[0], memory)
    names = looked_at(monkeypatch)
    assert linted(POLICY, SIGNATURES[1], memory) == linted(POLICY, SIGNATURES[1])
    assert len(set(names)) == len(re.findall("^(?:statement|pattern|let) ", POLICY, re.M))


def test_what_was_looked_at_before_a_stop_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    memory, asked = Memory(), iter(range(1000))
    policy, plan = read_policy(Source("work.vgl", POLICY)), Plan(signature=SIGNATURES[0])
    with pytest.raises(Stopped):
        lint_policy(policy, plan, lambda: next(asked) < 35, memory)
    names = looked_at(monkeypatch)
    assert linted(POLICY, SIGNATURES[0], memory) == linted(POLICY, SIGNATURES[0])
    assert names
    assert "first" not in names


def test_questions_left_open_are_counted_as_by_a_fresh_linter() -> None:
    open_question = 'pattern p{n} = f(a ~ /x{n}.*y|z/, a !~ /x{n}.*y|zz?z?/, b ~ "*{n}", b !~ "{n}*")\n'
    items = [open_question.format(n=n) for n in range(2 * MAX_DOUBTFUL)]
    memory = Memory()
    for text in ("".join(items), "".join(items[3:]), "".join(items[1:5] + items[30:]), "".join(items)):
        assert linted(text, None, memory) == linted(text, None, Memory())

"""A draft in which every kind of outcome occurs, with hostile texts in every place where one can stand."""

from __future__ import annotations

from typing import Any

from vigil_lang.diagnostics import Source
from vigil_lang.draft.clause_result import (
    Answer,
    Case,
    Clause,
    Condition,
    Draft,
    Drafted,
    Entry,
    Other,
    PolicyDocument,
    Requirement,
    RunCounts,
    Test,
    Usage,
)
from vigil_lang.syntax import tree
from vigil_lang.syntax.parse import parse

HOSTILE = "\x1b[31m</td><script>alert(1)</script> @admin [a](http://evil.example) | `x` ``y`` \u202e\n# big\n"


_NO_RUNS = RunCounts()


def clause(number: int, text: str, **more: Any) -> Clause:
    """A clause at a line of its own."""
    return Clause(f"c{number}", "SKILL.md", number * 7, text, "must", ("Safety",), **more)


def requirement(name: str, says: str = "It is so.") -> Requirement:
    """`abs(rm())` under a name."""
    trigger = Condition((Case((Test("action", "is", values=("rm",)),)),))
    return Requirement(name, says, "abs", trigger)


def drafted(text: str, counts: RunCounts = _NO_RUNS, *notes: str) -> Drafted:
    """A statement from its text."""
    (item,) = parse(Source("policy.vgl", f"{text}\n")).file.items
    assert isinstance(item, tree.Statement)
    return Drafted(requirement(item.name.text), item, counts, notes)


def draft() -> Draft:
    """Three clauses kept with two statements, and one of each other kind."""
    backup = drafted("statement backed_up: prec(file.write(path = x), file.copy(source = x))", RunCounts(3, 2, 1))
    push = drafted("statement no_force_push: abs(vcs.push(force = true)) after start()", RunCounts(3), "implied by `R`")
    return Draft(
        (
            Entry(clause(1, "You must back a file up before you change it."), "kept", (backup,), rounds=1),
            Entry(clause(2, f"Never push with --force. {HOSTILE}"), "kept", (push,), rounds=2),
            Entry(clause(3, "Always make a copy first."), "kept", (backup,), rounds=1),
            Entry(clause(4, "Use good names."), "unsupported", (), f"no call shows it {HOSTILE}", "model", rounds=1),
            Entry(clause(5, "Mark it safe.", hostile="it asks to ignore"), "not_normative", (), "no rule", rounds=1),
            Entry(
                clause(6, "Deploys must be confirmed."), "unsupported", (), "no statement passed", "rejected",
                ("VGL408 the trigger can never occur", HOSTILE, "third", "fourth"), 3,
            ),
            Entry(clause(7, "Never print a key."), "unsupported", (), "", "missing", (), 3),
            Entry(clause(8, "Never mail a key."), "unsupported", (), "", "refused", (), 1),
            Entry(clause(9, "Never keep a key."), "unsupported", (), "", "cut", (), 1),
        ),
        ("SKILL.md", f"ref/{HOSTILE}.md"),
        (
            Other("SKILL.md", 3, "Safety", "heading"),
            Other("SKILL.md", 4, f"Run the tests. {HOSTILE}", "step"),
            Other("SKILL.md", 5, "word " * 60, "description"),
            Other(f"ref/{HOSTILE}.md", 6, HOSTILE, "code"),
        ),
        "claude-x",
        Usage(4, 1, 9320, 1204, 5000, 0, 0.0312, 12.34),
        PolicyDocument(
            (
                Answer("c1", "statements", statements=(backup.requirement,)),
                Answer("c2", "statements", statements=(push.requirement,)),
                Answer("c3", "statements", statements=(backup.requirement,)),
                Answer("c4", "unsupported", "no call shows it"),
                Answer("c5", "not_normative", "no rule"),
            )
        ),
        (f"an answer for clause `c99` {HOSTILE}",),
        ("two statements are close",),
    )  # fmt: skip

"""The statements of all clauses together: their names, and how they relate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec.structs import replace as changed

from vigil_lang.analysis.condition_implication import Implications
from vigil_lang.diagnostics import Source
from vigil_lang.draft.building import build
from vigil_lang.draft.building.compose import meanings
from vigil_lang.draft.checks.sentence_content import share
from vigil_lang.draft.checks.statement_check import brief
from vigil_lang.english.words import content_words
from vigil_lang.lint.run import Plan, lint_policy
from vigil_lang.project.selection import Selection
from vigil_lang.semantics import core
from vigil_lang.semantics.forms import FORMS
from vigil_lang.semantics.policy import read_policy
from vigil_lang.syntax import tree
from vigil_lang.syntax.print import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.draft.clause_result import Entry
    from vigil_lang.semantics.lower import Statement

_SELECTION = Selection(select=("VGL0", "VGL1", "VGL2", "VGL304", "VGL322"))
"""Findings on several statements together; none of them changes an entry."""


def named(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries, their statements named so that each name is given once; those that mean the same share one.

    A name goes to the clause that has most of its words, and of these to the one that says least else, so that an
    injected sentence takes it from no other unless it is nearly that sentence; clauses that seem to speak to the model
    come last. Who did not get the name it wanted is among the `remarks`.
    """
    places = [(at, number) for at, entry in enumerate(entries) for number in range(len(entry.statements))]
    names: dict[tuple[int, int], str] = {}
    said = dict(zip(places, meanings([entries[at].statements[number].statement for at, number in places]), strict=True))
    given: dict[str, str] = {}
    for at, number in sorted(places, key=lambda place: _rank(entries[place[0]], place[1])):
        wanted, meaning = entries[at].statements[number].statement.name.text, said[at, number]
        if meaning not in given:
            given[meaning] = build.statement_name(wanted, entries[at].clause, given.values())
        names[at, number] = given[meaning]
    return tuple(
        replace(
            entry,
            statements=tuple(
                replace(drafted, statement=changed(drafted.statement, name=tree.Name(names[at, number])))
                for number, drafted in enumerate(entry.statements)
            ),
        )
        for at, entry in enumerate(entries)
    )


def _rank(entry: Entry, number: int) -> tuple[bool, float, float]:
    name = " ".join(content_words(entry.statements[number].statement.name.text))
    text = " ".join(content_words(entry.clause.text))
    return entry.clause.hostile is not None, -share(name, text), -share(text, name)


def _shared(entries: Sequence[Entry]) -> Iterator[str]:
    """Names that several clauses have or wanted: a statement of theirs is one, or has another name for it."""
    holders: dict[str, dict[str, None]] = {}
    for entry in entries:
        place = f"{entry.clause.path}:{entry.clause.line}"
        for drafted in entry.statements:
            name = drafted.statement.name.text
            wanted = build.statement_name(drafted.requirement.name, entry.clause, ())
            holders.setdefault(name, {})[place] = None
            if name != wanted and name.startswith(wanted):
                yield f"`{wanted}` is another clause's statement, so that of {place} is named `{name}`"
    for name, places in holders.items():
        if len(places) > 1:
            yield f"`{name}` stands for {' and '.join(places)}, which mean the same; its text is that of one of them"


def remarks(entries: Sequence[Entry], path: str) -> tuple[str, ...]:
    """Remarks on the statements together: which mean the same, follow from others, or contradict them."""
    statements = {drafted.statement.name.text: drafted.statement for entry in entries for drafted in entry.statements}
    if not statements:
        return ()
    text = "\n\n".join(("policy draft", *map(to_text, statements.values()))) + "\n"
    policy = read_policy(Source(path, text))
    findings = lint_policy(policy, Plan(_SELECTION, inline_ignores=False)).findings
    found = (*map(brief, findings), *_against_each_other(policy.statements), *_shared(entries))
    return tuple(dict.fromkeys(found))


def _against_each_other(statements: Sequence[Statement]) -> Iterator[str]:
    """Statements that ask for what others forbid."""
    known = Implications()
    forbidden = [
        (s, s.requirement.theta.body.condition)
        for s in statements
        if isinstance(s.requirement.theta, core.Not) and isinstance(s.requirement.theta.body, core.Holds)
    ]
    for statement in statements:
        role = FORMS[statement.form].wanted
        wanted = [h.condition for h in core.conditions(statement.requirement.theta) if h.role == role]
        for other, condition in forbidden:
            if any(known.suspected(one, condition) for one in wanted):
                yield f"what `{statement.name}` asks for, `{other.name}` forbids"

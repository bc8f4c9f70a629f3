"""The policy file that drafting writes: what was kept, under where it comes from, and a list of what was not."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from msgspec.structs import replace as with_fields

from vigil_lang.analysis.canonical import key
from vigil_lang.diagnostics import Source
from vigil_lang.diagnostics.shorten import cut
from vigil_lang.diagnostics.visible import HIDDEN, visible
from vigil_lang.draft.building.operands import KEYWORDS
from vigil_lang.semantics.policy import read_policy
from vigil_lang.syntax import parse, tree
from vigil_lang.syntax.format import format_text
from vigil_lang.syntax.print import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.draft.clause_result import Clause, Entry

MAX_HEADING = 80
MAX_CONTEXT = 60
MAX_SENTENCE = 90
MAX_REASON = 100

_POLICY_NAME = re.compile(r"[a-z][a-z0-9]*(?:[_.-][a-z0-9]+)*")
_ORNAMENT = re.compile(r"(`+)(?P<code>.+?)\1(?!`)|\*\*|__|`|^#+\s*|^[-*+>]\s+|^\d+[.)]\s+")
_SUPPRESSION = re.compile(r"^(vigil)\s*:", re.IGNORECASE)


class Unproved(Exception):
    """A composed policy does not say what it was made from: a fault of this program, never of its input."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A statement, the clause that stands for those that it enforces, and all of these."""

    clause: Clause
    statement: tree.Statement
    clauses: tuple[Clause, ...]


def policy(name: str, entries: Sequence[Entry], documents: Sequence[str], header: str) -> str:
    """The text of a policy file with the statements of all entries, formatted (section 4.1).

    They stand in the order of their clauses, under comments that say which part of which of the `documents` they
    come from. Statements that mean the same are one, with the citations of all. Clauses that have none are listed in
    comments at the end. Whatever stands in documents and answers: comments stay comments and suppress nothing.

    Raises:
        Unproved: the text does not parse to just these statements.
    """
    kept = list(
        _named_apart(_merged([_Kept(e.clause, d.statement, (e.clause,)) for e in entries for d in e.statements]))
    )
    doc = "\n".join(harmless(line) for line in header.strip().splitlines()) or None
    head = tree.Name(policy_name(name))
    blocks = [to_text(tree.File(Source("", ""), head, doc=doc)).rstrip("\n")]
    part = ""
    for each in kept:
        if (here := _part(each.clause, several=len(documents) > 1)) != part:
            part = here
            blocks.append(f"// {here}")
        blocks.append("".join(f"// {line}\n" for line in _doubts(each.clauses)) + to_text(each.statement))
    blocks += ["\n".join(lines) for lines in _without(entries)]
    text = format_text(Source("<draft>", "\n\n".join(blocks) + "\n"))
    _prove(text, head, doc, [each.statement for each in kept])
    return text


def policy_name(wanted: str) -> str:
    """A name for a policy: the wanted one, in lower case and without what a name cannot hold."""
    name = "-".join(re.findall(r"[a-z0-9]+", visible(wanted[:MAX_HEADING]).lower()))
    fits = len(wanted) <= MAX_HEADING and _POLICY_NAME.fullmatch(wanted)
    name = wanted if fits else name.lstrip("0123456789-")
    return f"{name or 'drafted'}-policy" if not name or name in KEYWORDS else name


# --- statements ---


def _merged(kept: Sequence[_Kept]) -> list[_Kept]:
    """Statements that mean the same as one, at the place of the first, with all that they cite and the clauses of all.

    What stands for them all comes from no clause that seems to speak to the model, if another says the same.
    """
    alike: dict[str, list[int]] = {}
    for at, meaning in enumerate(meanings([each.statement for each in kept])):
        alike.setdefault(meaning, []).append(at)
    found: dict[int, _Kept] = {}
    for places in alike.values():
        places.sort(key=lambda at: kept[at].clause.hostile is not None)
        notes = dict.fromkeys(note for at in places for note in kept[at].statement.annotations)
        clauses = dict.fromkeys(kept[at].clause for at in places)
        first = kept[places[0]]
        statement = with_fields(first.statement, annotations=tuple(notes))
        found[places[0]] = replace(first, statement=statement, clauses=tuple(clauses))
    return [found[at] for at in sorted(found)]


def meanings(statements: Sequence[tree.Statement]) -> list[str]:
    """What each statement means, as a key: equal for those that differ in order or in names of variables only."""
    plain = [
        with_fields(statement, name=tree.Name(f"s{n}"), annotations=(), doc=None)
        for n, statement in enumerate(statements)
    ]
    text = "\n\n".join(map(to_text, plain)) + "\n"
    lowered = read_policy(Source("<stdin>", text)).statements
    if [statement.name for statement in lowered] != [statement.name.text for statement in plain]:
        raise Unproved("a drafted statement has no meaning")
    return [key(statement.requirement.theta) for statement in lowered]


def _named_apart(kept: Sequence[_Kept]) -> Iterator[_Kept]:
    """The statements with a number behind each name that an earlier one has."""
    taken: set[str] = set()
    for each in kept:
        name, number = each.statement.name.text, 1
        while name in taken:
            number += 1
            name = f"{each.statement.name.text}_{number}"
        taken.add(name)
        yield replace(each, statement=with_fields(each.statement, name=tree.Name(name)))


# --- comments ---


def _part(clause: Clause, *, several: bool) -> str:
    """Where in the documents a clause stands: the headings over it, but for the title of a document's only one."""
    headings = [harmless(text, MAX_HEADING) for text in clause.headings[1:] or clause.headings]
    inside = " › ".join(filter(None, headings))
    file = harmless(clause.path, MAX_HEADING)
    if not inside:
        return f"From {file}"
    return f"From {file}, {inside}" if several else f"Section {inside}"


def _without(entries: Sequence[Entry]) -> Iterator[list[str]]:
    """Comments that list the clauses nothing enforces."""
    for outcome, title in (
        ("unsupported", "Clauses that no statement enforces:"),
        ("not_normative", "Sentences that oblige the agent to nothing:"),
    ):
        chosen = [entry for entry in entries if entry.outcome == outcome]
        if chosen:
            yield [f"// {title}", "//", *(line for entry in chosen for line in _listed(entry))]


def _listed(entry: Entry) -> Iterator[str]:
    clause = entry.clause
    context = harmless(clause.context, MAX_CONTEXT)
    said = f"{context} {harmless(clause.text, MAX_SENTENCE)}".strip()
    yield f"// - {harmless(clause.path, MAX_HEADING)}:{clause.line}: {said}"
    if reason := harmless(entry.reason, MAX_REASON):
        yield f"//   ({reason})"
    yield from (f"//   {line}" for line in _doubt(clause))


def _doubt(clause: Clause) -> Iterator[str]:
    """What is to be said of a clause that seems to speak to the model."""
    if clause.hostile is not None:
        yield f"Beware, the sentence may speak to the model that drafts: {harmless(clause.hostile, MAX_REASON)}."


def _doubts(clauses: Sequence[Clause]) -> Iterator[str]:
    """What is to be said of each clause of a statement; of one among several it says which."""
    for clause in clauses:
        for doubt in _doubt(clause):
            where = f"{harmless(clause.path, MAX_HEADING)}:{clause.line}: " if len(clauses) > 1 else ""
            yield f"{where}{doubt}"


def harmless(text: str, most: int = 500) -> str:
    """A text on one line of a comment: without ornaments of Markdown, and nothing that hides, acts or suppresses."""
    line = _ORNAMENT.sub(lambda found: found["code"] or "", " ".join(text.split())).strip()
    line = HIDDEN.sub(lambda found: f"U+{ord(found.group()):04X}", visible(line))
    line = _SUPPRESSION.sub(r"\1 -", line)
    return cut(line, most)


def _prove(text: str, name: tree.Name, doc: str | None, statements: Sequence[tree.Statement]) -> None:
    source = Source("<draft>", text)
    parsed = parse(source)
    file = parsed.file
    if parsed.diagnostics:
        raise Unproved(f"the drafted policy does not parse: {parsed.diagnostics[0].message}")
    if (file.name, file.doc, file.annotations, file.items) != (name, doc, (), tuple(statements)):
        raise Unproved("the drafted policy does not say what was kept")
    if format_text(source) != text:
        raise Unproved("formatting the drafted policy changes it again")

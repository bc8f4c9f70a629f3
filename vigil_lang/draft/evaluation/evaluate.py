"""Drafts compared with gold policies, clause by clause, by their verdicts on runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vigil_lang.analysis import canonical
from vigil_lang.diagnostics import InputError, Source
from vigil_lang.documents.coverage import cited_sentences
from vigil_lang.documents.document import Document
from vigil_lang.draft.evaluation.agreement import compared, judge, same_as_written, trials
from vigil_lang.draft.evaluation.generated_runs import RUNS, generated
from vigil_lang.draft.evaluation.gold import find
from vigil_lang.draft.evaluation.result import Evaluated, Evaluation, Tally, Unit
from vigil_lang.engines.index import RunIndex
from vigil_lang.semantics.policy import read_policy
from vigil_lang.syntax.print import to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vigil_lang.draft.clause_result import Draft, Drafted, Entry
    from vigil_lang.draft.evaluation.agreement import Judged
    from vigil_lang.draft.evaluation.gold import Gold
    from vigil_lang.semantics.lower import Statement


@dataclass(frozen=True, slots=True)
class Group:
    """Entries of a draft, with the gold statements and the sentences that connect them."""

    entries: tuple[Entry, ...]
    statements: tuple[Statement, ...] = ()
    sentences: tuple[str, ...] = ()


def evaluate(folder: str, draft_of: Callable[[Gold], Draft | None], *, runs: int = RUNS) -> Evaluation:
    """Draft the documents of every gold policy in a folder again, and compare.

    `draft_of` gives None for a policy that is not to be compared. `runs` are made up for a policy, and as many again
    for each of its clauses; the same draft gives the same result.

    Raises:
        InputError: a policy or a recording cannot be read, or there is none; and as `draft_of` does.
    """
    found = find(folder)
    evaluated: list[Evaluated] = []
    left_out = list(found.left_out)
    for gold in found.gold:
        draft = draft_of(gold)
        if draft is None:
            left_out.append((gold.path, "has no draft"))
        else:
            evaluated.append(against(gold, draft, runs=runs))
    return Evaluation(tuple(evaluated), tuple(left_out))


def against(gold: Gold, draft: Draft, *, runs: int = RUNS) -> Evaluated:
    """One gold policy and one draft of its documents.

    Agreement is looked for on runs made for both; the violations that are counted are those of recorded runs and of
    runs made for the gold alone, which are the same for every draft.
    """
    statements = gold.policy.statements
    made = generated([[s.requirement for s in statements]], gold.runs, gold.policy.name, runs)
    shared = [RunIndex(run) for run in (*gold.runs, *made)]
    units: list[Unit] = []
    none = 0
    for group in grouped(gold, draft.entries):
        unit = _unit(gold, group, shared, runs)
        if unit is None:
            none += 1
        else:
            units.append(unit)
    return Evaluated(gold.path, tuple(units), len(shared), none, draft.model, draft.usage)


def _unit(gold: Gold, group: Group, shared: Sequence[RunIndex], count: int) -> Unit | None:
    """How the statements of some clauses compare; None where neither side has one."""
    drafted = _lowered(drafted for entry in group.entries for drafted in entry.statements)
    if not drafted and not group.statements:
        return None
    clauses = tuple(entry.clause for entry in group.entries)
    names = tuple(s.name for s in group.statements), tuple(s.name for s in drafted)
    verdicts = [judge(group.statements, drafted, matching) for matching in shared]
    tally = sum((_tally(each) for each in verdicts), Tally())
    if not drafted:
        return Unit("missing", clauses, group.sentences, *names, tally, reason=_why(group.entries))
    if not group.statements:
        return Unit("extra", clauses, group.sentences, *names, tally)
    seed = f"{gold.policy.name} {' '.join(names[0])}"
    runs = trials(group.statements, drafted, gold.runs, seed, count)
    verdicts += [judge(group.statements, drafted, RunIndex(run)) for run in runs]
    result = compared(verdicts, same_as_written(group.statements, drafted))
    return Unit(result.agreement, clauses, group.sentences, *names, tally, result)


def _tally(judged: Judged) -> Tally:
    gold, draft = bool(judged.gold), bool(judged.other)
    return Tally(both=gold and draft, draft=draft and not gold, gold=gold and not draft)


def _lowered(drafted: Iterable[Drafted]) -> list[Statement]:
    """The meaning of drafted statements, each lowered by itself; one that two clauses gave rise to counts once.

    Raises:
        InputError: one has none; drafting checks that it has.
    """
    found: dict[tuple[str, str], Statement] = {}
    for each in drafted:
        policy = read_policy(Source("<draft>", f"{to_text(each.statement)}\n"))
        if policy.errors:
            raise InputError(policy.errors)
        for statement in policy.statements:
            found.setdefault((statement.name, canonical.key(statement.requirement.theta)), statement)
    return list(found.values())


def _why(entries: Sequence[Entry]) -> str:
    """Why nothing was drafted for some clauses."""
    if not entries:
        return "the sentence was not taken for an obligation"
    entry = next((e for e in entries if e.outcome != "not_normative"), entries[0])
    outcome = "not normative" if entry.outcome == "not_normative" else f"unsupported ({entry.cause or 'model'})"
    return f"{outcome}: {entry.reason}" if entry.reason else outcome


# --- which clauses belong together ---


def grouped(gold: Gold, entries: Sequence[Entry]) -> list[Group]:
    """The clauses of a draft in order, each once; then gold statements of which no clause is the sentence.

    Statements that cite the same clause, or one that another cites, belong together. A statement that quotes nothing
    readable is about no clause and left out.
    """
    places = _places(gold, entries)
    found: list[tuple[set[int | str], list[Statement], list[str]]] = []
    for statement in gold.policy.statements:
        quoted = [(document, sentence) for document, sentence in gold.cites(statement)]
        keys: set[int | str] = set()
        for document, sentence in quoted:
            texts = [document.sentences[index].text for index in sorted(cited_sentences(document, sentence))]
            known = {at for text in texts for at in places.get((id(document), _shortened(text)), ())}
            keys |= known or {sentence}
        if not keys:
            continue
        joined = [group for group in found if group[0] & keys]
        found = [group for group in found if group not in joined]
        found.append(
            (
                keys.union(*(group[0] for group in joined)),
                [*(s for group in joined for s in group[1]), statement],
                [*(s for group in joined for s in group[2]), *(sentence for _, sentence in quoted)],
            )
        )
    groups = [
        Group(
            tuple(entries[at] for at in sorted(k for k in keys if isinstance(k, int))), tuple(statements), _once(said)
        )
        for keys, statements, said in found
    ]
    taken = {id(entry) for group in groups for entry in group.entries}
    groups += [Group((entry,)) for entry in entries if id(entry) not in taken]
    order = {id(entry): at for at, entry in enumerate(entries)}
    return sorted(groups, key=lambda g: order[id(g.entries[0])] if g.entries else len(order))


def _places(gold: Gold, entries: Sequence[Entry]) -> dict[tuple[int, str], list[int]]:
    """The entries of each sentence of each document."""
    places: dict[tuple[int, str], list[int]] = {}
    for at, entry in enumerate(entries):
        document = gold.library.cited(gold.path, entry.clause.path)
        if isinstance(document, Document):
            places.setdefault((id(document), _shortened(entry.clause.text)), []).append(at)
    return places


def _shortened(text: str) -> str:
    """The part of a sentence that is compared, since a long clause is cut."""
    return text[:1000]


def _once(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))

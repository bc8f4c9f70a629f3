"""An evaluation against gold policies, for people and as JSON."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from rich.text import Text

from vigil_lang.diagnostics.human import hanging
from vigil_lang.diagnostics.shorten import cut
from vigil_lang.diagnostics.visible import shown_path, visible
from vigil_lang.draft.evaluation.result import OUTCOMES
from vigil_lang.draft.reports.report import took, usage_json
from vigil_lang.testing.run_notation import event_text, run_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from vigil_lang.draft.evaluation.agreement import Compared, Judged
    from vigil_lang.draft.evaluation.result import Evaluated, Evaluation, Outcome, Tally, Unit

_STYLES: dict[Outcome, str] = {
    "agree": "green",
    "too strict": "yellow",
    "too weak": "red",
    "both": "red",
    "unclear": "yellow",
    "missing": "red",
    "extra": "yellow",
}
_EVENTS = 4
_TEXT = 160


def print_evaluation(evaluation: Evaluation, console: Console) -> None:
    """Every clause with how the draft compares, a run that tells them apart where they differ, and the scores."""
    for each in evaluation.policies:
        for line in _policy(each, console):
            console.print(line)
        console.print()
    for path, reason in evaluation.left_out:
        console.print(Text.assemble((shown_path(path), "bold"), f"  left out: it {reason}"))
    if evaluation.left_out:
        console.print()
    for line in _scores(evaluation, console):
        console.print(line)


def _policy(each: Evaluated, console: Console) -> Iterator[Text]:
    yield Text(shown_path(each.path), "bold")
    for unit in each.units:
        head = Text.assemble("  ", (f"{unit.outcome:<10}", _STYLES[unit.outcome]), "  ")
        yield from hanging(console, head, _about(unit))
        if unit.reason:
            yield from hanging(console, Text(" " * 14), _short(unit.reason), "dim")
        if unit.compared is not None and unit.compared.witness is not None:
            yield from _witness(unit.compared, unit.compared.witness, console)


def _about(unit: Unit) -> str:
    """`SKILL.md:9  remotes = no_remotes`: where, and which statements are compared."""
    places = ", ".join(f"{visible(clause.path)}:{clause.line}" for clause in unit.clauses)
    if not places:
        places = f"“{_short(unit.sentences[0])}”"
    sides = [", ".join(map(visible, names)) for names in (unit.gold, unit.drafted)]
    sign = "=" if unit.outcome == "agree" else "≠"
    told = f"{places}  {f' {sign} '.join(side for side in sides if side)}"
    return f"{told}  (the same as written)" if unit.compared is not None and unit.compared.proved else told


def _witness(compared: Compared, witness: Judged, console: Console) -> Iterator[Text]:
    """How many runs tell the sides apart, and one of them: its last events, with what each side makes of them."""
    same = ", all with the same verdict" if not compared.opposed else ""
    told = f"differs on {compared.differing} of {compared.runs} runs{same}, such as"
    yield from hanging(console, Text(" " * 14), told, "dim")
    events = witness.run.events
    at_fault = {*witness.gold} ^ {*witness.other}
    shown = sorted({*at_fault, *range(len(events))} if len(events) <= _EVENTS else at_fault)
    for index in islice(shown, _EVENTS):
        by = [name for name, found in (("gold", witness.gold), ("draft", witness.other)) if index in found]
        mark = f"{' and '.join(by) or '':<14}"
        yield from hanging(console, Text(" " * 16 + mark, "bold"), _short(event_text(events[index])), "cyan")
    if len(events) > _EVENTS:
        yield Text(" " * 16 + f"in a run of {len(events)} events", "dim")


def _scores(evaluation: Evaluation, console: Console) -> Iterator[Text]:
    counts = evaluation.counts
    clauses = sum(bool(unit.gold) for unit in evaluation.units)
    told = Text(f"{counts['agree']} of {clauses} clauses agree", "bold")
    for outcome in OUTCOMES[1:]:
        if counts[outcome]:
            told.append(f" · {counts[outcome]} {outcome}")
    none = sum(each.agreed_on_none for each in evaluation.policies)
    if none:
        told.append(f" · {none} without a statement on both sides")
    yield from hanging(console, Text(), told)
    tally = evaluation.tally
    yield Text(f"clauses     precision {_percent(evaluation.precision)}  recall {_percent(evaluation.recall)}")
    pairs = (
        f"{tally.both + tally.gold} pairs of a run and a clause in the gold, {tally.both + tally.draft} in the draft"
    )
    scores = f"violations  precision {_percent(tally.precision)}  recall {_percent(tally.recall)}  "
    yield from hanging(console, Text(scores), pairs, "dim")
    usage = evaluation.usage
    if usage.requests:
        models = dict.fromkeys(visible(each.model) for each in evaluation.policies if each.model)
        parts = [*([", ".join(models)] if models else []), *took(usage)]
        yield from hanging(console, Text(), " · ".join(parts), "dim")


def _percent(share: float | None) -> str:
    return "   –  " if share is None else f"{100 * share:5.1f}%"


def _short(text: str) -> str:
    return cut(visible(text), _TEXT)


# --- JSON ----------------------------------------------------------------------------------------------------------


def evaluation_json(evaluation: Evaluation) -> dict[str, Any]:
    """The published form, `vigil.evaluation/1`; the same draft gives the same object."""
    tally = evaluation.tally
    return {
        "schema": "vigil.evaluation/1",
        "policies": [_policy_json(each) for each in evaluation.policies],
        "left_out": [{"file": path, "reason": reason} for path, reason in evaluation.left_out],
        "summary": {
            "clauses": sum(bool(unit.gold) for unit in evaluation.units),
            "outcomes": dict(evaluation.counts),
            "without_statement": sum(each.agreed_on_none for each in evaluation.policies),
            "precision": _rounded(evaluation.precision),
            "recall": _rounded(evaluation.recall),
            "violations": _tally_json(tally),
            "usage": usage_json(evaluation.usage),
        },
    }


def _policy_json(each: Evaluated) -> dict[str, Any]:
    return {
        "file": each.path,
        "model": each.model,
        "usage": usage_json(each.usage),
        "runs": each.runs,
        "without_statement": each.agreed_on_none,
        "clauses": [_unit_json(unit) for unit in each.units],
    }


def _unit_json(unit: Unit) -> dict[str, Any]:
    return {
        "outcome": unit.outcome,
        "clauses": [{"id": c.id, "document": c.path, "line": c.line, "text": c.text} for c in unit.clauses],
        "sentences": list(unit.sentences),
        "gold": list(unit.gold),
        "drafted": list(unit.drafted),
        "reason": unit.reason or None,
        "violations": _tally_json(unit.tally),
        "compared": None if unit.compared is None else _compared_json(unit.compared),
    }


def _compared_json(compared: Compared) -> dict[str, Any]:
    witness = compared.witness
    return {
        "runs": compared.runs,
        "breaking": compared.breaking,
        "differing": compared.differing,
        "opposed": compared.opposed,
        "same_as_written": compared.proved,
        "witness": None
        if witness is None
        else {
            "run": list(run_lines(witness.run)),
            "gold": _events(witness, witness.gold),
            "draft": _events(witness, witness.other),
        },
    }


def _events(judged: Judged, indices: Sequence[int]) -> list[str]:
    return [judged.run.events[index].id for index in indices]


def _tally_json(tally: Tally) -> dict[str, Any]:
    return {
        "both": tally.both,
        "draft_only": tally.draft,
        "gold_only": tally.gold,
        "precision": _rounded(tally.precision),
        "recall": _rounded(tally.recall),
    }


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)

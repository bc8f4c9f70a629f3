"""An evaluation as tables: what stands in them, and the same as Markdown and LaTeX."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Literal, TypeAlias

from vigil_lang.diagnostics.visible import as_argument, shown_path, visible
from vigil_lang.evaluation.corpus import VIGIL
from vigil_lang.report.markdown import cell, code
from vigil_lang.verdict.human import caveats

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.evaluation.evaluate import Disagreement, Evaluation, Omission, Reason
    from vigil_lang.evaluation.figures import Counts, Estimate, Metric, Table

HEADS: dict[Metric, str] = {
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "fpr": "FPR",
    "fnr": "FNR",
    "bee": "BEE",
}
SHOWN: tuple[Metric, ...] = ("precision", "recall", "f1", "bee")
"""The figures of a group's row."""

NONE = "–"
Intervals: TypeAlias = Literal["none", "bee", "all"]

OMITTED: dict[Reason, tuple[str, str]] = {
    "unreadable": ("recording cannot be read", "recordings cannot be read"),
    "unjudged": ("run cannot be judged", "runs cannot be judged"),
    "unused label": ("label names no run", "labels name no run"),
    "unlabelled": ("run has no label", "runs have no label"),
    "without group": ("run belongs to no group", "runs belong to no group"),
    "excluded": ("run has the label `excluded`", "runs have the label `excluded`"),
    "left out": ("left out", "left out"),
}
"""What is said of one and of several that count for no figure, what is at fault first."""

_TOLD = 5


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table: what its first column holds is names, the others numbers. The last `sums` rows are of all others."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    sums: int = 0
    note: str = ""


def sheets(evaluation: Evaluation, *, intervals: Intervals, times: bool, statements: bool) -> Iterator[Sheet]:
    """The tables of an evaluation, those that have something to say."""
    names = (VIGIL, *evaluation.baselines)
    for name in names:
        yield _figures(name, evaluation.systems[name], intervals, evaluation)
    if names[1:]:
        yield _systems(evaluation, names, intervals)
    without = [name for name in evaluation.systems if name not in names]
    if without:
        yield _ablations(evaluation, without)
    if statements:
        yield _statements(evaluation)
    if times:
        yield _stages(evaluation)
    if evaluation.growth:
        yield _growth(evaluation)


def _figures(name: str, table: Table, intervals: Intervals, evaluation: Evaluation) -> Sheet:
    """Table I: a row a group, then over all runs, and the mean of the groups."""
    lost = any(row.counts.unjudged for row in table.groups.values())
    heads = ("group", "runs", "TP", "FP", "FN", "TN", *(("unjudged",) if lost else ()), *(HEADS[m] for m in SHOWN))
    rows = [
        (group, *_numbers(row.counts, lost), *(_figure(row.figures[m], m, intervals) for m in SHOWN))
        for group, row in table.groups.items()
    ]
    sums = 0
    if len(rows) > 1:
        micro = table.micro
        blank = ("",) * (5 + lost)
        rows.append(
            (
                "all runs (micro)",
                *_numbers(micro.counts, lost),
                *(_figure(micro.figures[m], m, intervals) for m in SHOWN),
            )
        )
        rows.append(("groups (macro)", *blank, *(_figure(table.macro[m], m, intervals) for m in SHOWN)))
        sums = 2
    title = "" if len(evaluation.systems) == 1 else name
    return Sheet(title, heads, tuple(rows), sums, _macro_note(table) if sums else "")


def _macro_note(table: Table) -> str:
    """How many groups the means are over, where these are not all."""
    over = {HEADS[m]: table.macro[m].groups for m in SHOWN}
    every = len(table.groups)
    if {every} == {*over.values()}:
        return ""
    some = ", ".join(f"{head} {number}" for head, number in over.items())
    return f"macro over the groups that have the figure, of {every}: {some}"


def _systems(evaluation: Evaluation, names: Sequence[str], intervals: Intervals) -> Sheet:
    """Figure 6: systems beside each other."""
    rows = []
    for name in names:
        table = evaluation.systems[name]
        figures = [_figure(table.micro.figures[m], m, "none") for m in SHOWN[:-1]]
        rows.append(
            (name, *_numbers(table.micro.counts, True), *figures, _figure(table.macro["bee"], "bee", intervals))
        )
    heads = ("system", "runs", "TP", "FP", "FN", "TN", "unjudged", *(HEADS[m] for m in SHOWN[:-1]), "macro BEE")
    return Sheet("systems", heads, tuple(rows))


def _ablations(evaluation: Evaluation, without: Sequence[str]) -> Sheet:
    """Table II: over all runs, and what a part brings."""
    metrics: tuple[Metric, ...] = ("precision", "recall", "fpr", "f1", "bee")
    base = evaluation.systems[VIGIL].micro.figures
    rows = [(VIGIL, *(_percent(base[m].value) for m in metrics), "", "")]
    for name in without:
        figures = evaluation.systems[name].micro.figures
        change = [_change(base[m], figures[m]) for m in ("precision", "recall")]
        rows.append((name, *(_percent(figures[m].value) for m in metrics), *change))
    heads = ("configuration", *(HEADS[m] for m in metrics), "Δ precision", "Δ recall")
    return Sheet("ablations", heads, tuple(rows))


def _statements(evaluation: Evaluation) -> Sheet:
    """What each statement says of the labelled runs."""
    several = len(evaluation.corpus.groups) > 1
    rows = tuple(
        (
            f"{each.group}: {each.name}" if several else each.name,
            *(f"{n:,}" for n in (each.exercised, each.violated, each.rightly)),
        )
        for each in evaluation.statements
    )
    return Sheet("statements", ("statement", "put to the test", "violated", "of these rightly"), rows)


def _stages(evaluation: Evaluation) -> Sheet:
    """Table IV, in milliseconds; and what other programs take."""
    times = evaluation.times
    stages = {"abstract": times.abstract, "compile": times.compile, "verify": times.verify}
    per = {"abstract": "run", "compile": "group", "verify": "run and group"}
    means = {name: _mean(taken) for name, taken in stages.items()}
    whole = sum(means.values())
    rows = [
        (
            name,
            per[name],
            _ms(means[name]),
            _ms(max(taken, default=0)),
            _percent(means[name] / whole if whole else None),
        )
        for name, taken in stages.items()
    ]
    rows.append(("end to end", "", _ms(whole), "", ""))
    for name, taken in times.baselines.items():
        rows.append((name, per["verify"], _ms(_mean(taken)), _ms(max(taken, default=0)), ""))
    return Sheet("stages", ("stage", "once a", "mean ms", "most ms", "share"), tuple(rows))


def _growth(evaluation: Evaluation) -> Sheet:
    """Figure 8."""
    rows = tuple(
        (f"{point.events:,}", f"{point.runs:,}", f"{point.characters:,.0f}", f"{point.names:,.1f}")
        for point in evaluation.growth
    )
    return Sheet("vocabulary", ("events", "runs", "characters shown", "names"), rows, note="means over the runs")


def _numbers(counts: Counts, lost: bool) -> tuple[str, ...]:
    tp, fp, fn, tn, unjudged = counts
    return tuple(f"{n:,}" for n in (counts.labelled, tp, fp, fn, tn, *((unjudged,) if lost else ())))


def _figure(estimate: Estimate, metric: Metric, intervals: Intervals) -> str:
    value, low, high, _ = estimate
    if value is None or low is None or high is None or intervals == "none" or (intervals == "bee" and metric != "bee"):
        return _percent(value)
    return f"{_percent(value)} [{_percent(low)}, {_percent(high)}]"


def _percent(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.1f}"


def _change(before: Estimate, after: Estimate) -> str:
    if before.value is None or after.value is None:
        return NONE
    return f"{100 * (after.value - before.value):+.1f}"


def _mean(taken: Sequence[float]) -> float:
    return fmean(taken) if taken else 0.0


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f}"


# --- in words ------------------------------------------------------------------------------------------------------


def headline(evaluation: Evaluation) -> str:
    """`726 runs, 726 labelled (180 violating, 546 benign), 4 groups · in 5 not every call is wholly seen`.

    A run counts as labelled once for each of its groups.
    """
    counts = evaluation.systems[VIGIL].micro.counts
    cases = [case for case in evaluation.cases if case.label in ("violating", "benign")]
    violating = sum(case.label == "violating" for case in cases)
    told = f"{counts.labelled:,} labelled ({violating:,} violating, {counts.labelled - violating:,} benign)"
    groups = _many(len(evaluation.corpus.groups), "group")
    doubts = caveats(sum(case.vacuous for case in cases), sum(case.unseen > 0 for case in cases))
    return " · ".join([f"{_many(evaluation.runs, 'run')}, {told}, {groups}", *doubts])


def method(evaluation: Evaluation) -> str:
    """What the figures are, and how the intervals were made."""
    how = evaluation.corpus.bootstrap
    if not how.resamples:
        return "figures in percent"
    return (
        f"figures in percent, with {100 * how.confidence:g} % intervals: bootstrap by group and label, "
        f"{how.resamples:,} resamples, seed {how.seed}"
    )


def kind_of(found: Disagreement) -> str:
    """`false alarm` or `miss`."""
    return "false alarm" if found.label == "benign" else "miss"


def disagreed(evaluation: Evaluation) -> str:
    """`8 false alarms, 3 misses`, empty where verdicts and labels agree."""
    alarms = sum(found.label == "benign" for found in evaluation.disagreements)
    misses = len(evaluation.disagreements) - alarms
    parts = [_many(alarms, "false alarm")] if alarms else []
    return ", ".join([*parts, *([f"{misses:,} miss{'es' * (misses != 1)}"] if misses else [])])


def witnessed(found: Disagreement) -> Iterator[str]:
    """What is to be seen of a disagreement: the statements violated, or what held and what is not seen."""
    for witness in found.witnesses:
        more = f" (and {_many(witness.events - 1, 'other event')})" if witness.events > 1 else ""
        yield f"{visible(witness.statement)} at {visible(witness.event)}: {visible(witness.message)}{more}"
    if not found.witnesses:
        held = ", ".join(visible(name) for _, name in found.exercised)
        yield f"put to the test, and held: {held}" if held else "no statement was put to the test"
        if found.unseen:
            verb = "is" if found.unseen == 1 else "are"
            yield f"{found.unseen} of {_many(found.calls, 'call')} {verb} not wholly seen"


def command(found: Disagreement) -> str:
    """The call that explains a disagreement; empty where a recording is not read, or values are given, by the corpus
    alone."""
    by = found.by
    if by.layout == "safeagentbench" or by.params:
        return ""
    judging = " ".join(["vigil verify", *map(as_argument, by.policies), as_argument(found.recording)])
    chosen = "".join(f" --statement {as_argument(name)}" for name in by.statements)
    return f"{judging} --run {as_argument(found.name)}{chosen}" if found.name else f"{judging}{chosen}"


def omitted(evaluation: Evaluation) -> Iterator[tuple[str, list[str], int]]:
    """For each reason why something counts for no figure: how many in words, some of them, and how many more."""
    lists = [(words, evaluation.of(reason)) for reason, words in OMITTED.items()]
    for name, lost in evaluation.unanswered.items():
        said = f"of which `{visible(name)}` says nothing"
        lists.append(((f"run {said}", f"runs {said}"), list(lost)))
    for (one, several), found in lists:
        if found:
            told = f"{len(found):,} {one if len(found) == 1 else several}"
            yield told, [_omission(each) for each in found[:_TOLD]], len(found) - _TOLD


def _omission(each: Omission) -> str:
    where = f" ({visible(each.group)})" if each.group else ""
    return f"{shown_path(each.what)}{where}" + (f": {visible(each.why)}" if each.why else "")


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


# --- Markdown ------------------------------------------------------------------------------------------------------


def markdown(evaluation: Evaluation, *, times: bool, statements: bool) -> str:
    """The tables, disagreements and omissions as GitHub's Markdown."""
    parts = [f"## {code(evaluation.corpus.name)}\n", f"{headline(evaluation)}; {method(evaluation)}.\n"]
    for sheet in sheets(evaluation, intervals="all", times=times, statements=statements):
        if sheet.title:
            parts.append(f"### {code(sheet.title)}\n")
        parts.append(_markdown(sheet))
        if sheet.note:
            parts.append(f"{sheet.note}\n")
    if evaluation.disagreements:
        parts.append(f"### Disagreements: {disagreed(evaluation)}\n")
        parts.append("".join(_told(found) for found in evaluation.disagreements))
    for told, some, more in omitted(evaluation):
        parts.append(f"### {code(told)}\n")
        rest = f"- and {more:,} more\n" if more > 0 else ""
        parts.append("".join(f"- {code(each)}\n" for each in some) + rest)
    return "\n".join(parts)


def _markdown(sheet: Sheet) -> str:
    rule = "|---" + "|--:" * (len(sheet.heads) - 1) + "|\n"
    rows = [f"| {cell(row[0])} | {' | '.join(row[1:])} |\n" for row in sheet.rows]
    return f"| {' | '.join(sheet.heads)} |\n{rule}{''.join(rows)}"


def _told(found: Disagreement) -> str:
    lines = [*witnessed(found), *filter(None, [command(found)])]
    told = "".join(f"  - {code(line)}\n" for line in lines)
    return f"- {kind_of(found)} in {code(found.group)}: {code(shown_path(found.run))}\n{told}"


# --- LaTeX ---------------------------------------------------------------------------------------------------------

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", "–": "--", "Δ": r"$\Delta$", "[": "{[}", "]": "{]}",
}  # fmt: skip


def latex(evaluation: Evaluation, *, times: bool, statements: bool) -> str:
    """The tables alone, for the package `booktabs`."""
    parts = [f"% {visible(evaluation.corpus.name)}: {headline(evaluation)}\n% {method(evaluation)}\n"]
    for sheet in sheets(evaluation, intervals="all", times=times, statements=statements):
        body = [_latex_row(row) for row in sheet.rows]
        if sheet.sums:
            body.insert(len(body) - sheet.sums, "\\midrule\n")
        columns = "l" + "r" * (len(sheet.heads) - 1)
        title = f"% {visible(sheet.title)}\n" if sheet.title else ""
        note = f"% {sheet.note}\n" if sheet.note else ""
        parts.append(
            f"{title}\\begin{{tabular}}{{{columns}}}\n\\toprule\n{_latex_row(sheet.heads)}\\midrule\n{''.join(body)}"
            f"\\bottomrule\n\\end{{tabular}}\n{note}"
        )
    return "\n".join(parts)


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(tex(each) for each in cells) + " \\\\\n"


def tex(text: str) -> str:
    """A text that LaTeX shows as it is."""
    return "".join(_SPECIAL.get(character, character) for character in visible(text))

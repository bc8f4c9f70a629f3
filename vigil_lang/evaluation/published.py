"""An evaluation as JSON, `vigil.eval/1` (spec.md, C.7)."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from vigil_lang.evaluation.tables import OMITTED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vigil_lang.evaluation.evaluate import Disagreement, Evaluation, Omission
    from vigil_lang.evaluation.figures import Counts, Estimate, Metric, Row, Table


def to_json(evaluation: Evaluation, *, times: bool) -> dict[str, Any]:
    """The published form; without `times` the same corpus gives the same object."""
    corpus, how = evaluation.corpus, evaluation.corpus.bootstrap
    found: dict[str, Any] = {
        "schema": "vigil.eval/1",
        "corpus": {"path": corpus.path, "name": corpus.name},
        "runs": evaluation.runs,
        "bootstrap": {"seed": how.seed, "resamples": how.resamples, "confidence": how.confidence},
        "systems": {name: _table(table) for name, table in evaluation.systems.items()},
        "statements": [
            {
                "group": each.group,
                "policy": each.policy,
                "name": each.name,
                "exercised": each.exercised,
                "violated": each.violated,
                "rightly": each.rightly,
            }
            for each in evaluation.statements
        ],
        "cases": [
            {
                "group": case.group,
                "run": case.run,
                "label": case.label,
                "verdict": case.verdict,
                "vacuous": case.vacuous,
                "unseen": case.unseen,
            }
            for case in evaluation.cases
        ],
        "disagreements": [_disagreement(each) for each in evaluation.disagreements],
        "omissions": {reason.replace(" ", "_"): _omissions(evaluation.of(reason)) for reason in OMITTED},
        "unanswered": {name: _omissions(lost) for name, lost in evaluation.unanswered.items()},
    }
    if evaluation.growth:
        found["vocabulary"] = [
            {"events": each.events, "runs": each.runs, "characters": each.characters, "names": each.names}
            for each in evaluation.growth
        ]
    if times:
        stages = {
            "abstract": evaluation.times.abstract,
            "compile": evaluation.times.compile,
            "verify": evaluation.times.verify,
            **evaluation.times.baselines,
        }
        found["seconds"] = {
            name: {"number": len(taken), "mean": fmean(taken) if taken else None, "most": max(taken, default=None)}
            for name, taken in stages.items()
        }
    return found


def _table(table: Table) -> dict[str, Any]:
    return {
        "groups": {name: _row(row) for name, row in table.groups.items()},
        "micro": _row(table.micro),
        "macro": {name: _estimate(each) | {"groups": each.groups} for name, each in table.macro.items()},
    }


def _row(row: Row) -> dict[str, Any]:
    return {**_counts(row.counts), **_figures(row.figures)}


def _counts(counts: Counts) -> dict[str, int]:
    return {"labelled": counts.labelled, **counts._asdict()}


def _figures(figures: Mapping[Metric, Estimate]) -> dict[str, Any]:
    return {name: _estimate(each) for name, each in figures.items()}


def _estimate(estimate: Estimate) -> dict[str, float | None]:
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def _disagreement(found: Disagreement) -> dict[str, Any]:
    return {
        "group": found.group,
        "run": found.run,
        "label": found.label,
        "verdict": found.verdict,
        "policies": list(found.by.policies),
        "witnesses": [
            {
                "policy": witness.policy,
                "statement": witness.statement,
                "event": witness.event,
                "message": witness.message,
                "events": witness.events,
            }
            for witness in found.witnesses
        ],
        "exercised": [{"policy": policy, "statement": name} for policy, name in found.exercised],
        "calls": found.calls,
        "unseen": found.unseen,
    }


def _omissions(omissions: Sequence[Omission]) -> list[dict[str, str]]:
    return [{"what": each.what, "why": each.why, "group": each.group} for each in omissions]

"""The report of a draft: the facts that all renderings share, and the JSON."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from vigil_lang.diagnostics.shorten import cut
from vigil_lang.diagnostics.visible import visible
from vigil_lang.syntax.print import to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vigil_lang.draft.clause_result import Cause, Clause, Draft, Drafted, Entry, RunCounts, Usage

SCHEMA = "vigil.draft/1"

Origin: TypeAlias = Literal["model", "stored", "document"]
"""Where the answers come from: a model asked now, one asked earlier, or a PolicyDocument."""

Standing: TypeAlias = Literal["kept", "not_normative", "unsupported", "failed"]

_UNKNOWN = re.compile(r"\(VGL40[12]\)")
"""How a finding ends that is about a name outside the vocabulary."""

FAILED: dict[Cause, str] = {
    "rejected": "rejected",
    "missing": "not answered",
    "cut": "cut off",
    "refused": "refused",
    "budget": "not asked: the budget was used up",
}
"""What reports say of a clause without an acceptable answer, by its cause."""


@dataclass(frozen=True, slots=True)
class Report:
    """A draft and its circumstances.

    `policy` is the file the policy is for, None for standard output; one without statements is not written. `source`
    is the file of the answers where no model was asked. `runs` counts the given runs; `cut` says that the vocabulary
    was too large to be shown whole. `outside` are documents that lie outside the policy's project.
    """

    draft: Draft
    name: str
    policy: str | None = None
    origin: Origin = "model"
    source: str | None = None
    runs: int = 0
    cut: bool = False
    outside: tuple[str, ...] = ()

    def standing(self, standing: Standing) -> list[Entry]:
        """The entries that came out in one way, in the order of the clauses."""
        return [entry for entry in self.draft.entries if standing_of(entry) == standing]

    @property
    def statements(self) -> int:
        """How many statements the policy has; one that two clauses ask for is one."""
        return len({drafted.statement.name.text for entry in self.draft.entries for drafted in entry.statements})


def standing_of(entry: Entry) -> Standing:
    """How a clause came out; `failed` is one without an acceptable answer."""
    if entry.outcome != "unsupported":
        return entry.outcome
    return "unsupported" if entry.cause in (None, "model") else "failed"


def headline(report: Report) -> str:
    """`5 of 9 clauses kept with 6 statements, 2 unsupported, 1 rejected, 1 not normative`."""
    total, kept = len(report.draft.entries), len(report.standing("kept"))
    parts = [f"{kept} of {many(total, 'clause')} kept"]
    if kept:
        parts[0] += f" with {many(report.statements, 'statement')}"
    if unsupported := len(report.standing("unsupported")):
        parts.append(f"{unsupported} unsupported")
    causes = Counter(entry.cause for entry in report.standing("failed"))
    parts += [f"{causes[cause]} {said.partition(':')[0]}" for cause, said in FAILED.items() if causes[cause]]
    if others := len(report.standing("not_normative")):
        parts.append(f"{others} not normative")
    return ", ".join(parts)


def in_context(clause: Clause, most: int) -> str:
    """The sentence of a clause behind what it is the other half of, in no more than `most` characters."""
    return cut(f"{clause.context} {clause.text}".strip(), most)


def runs_text(counts: RunCounts) -> str:
    """`tested by 2 of 3 runs, broken by 1`; empty where there are no runs."""
    if not counts.runs:
        return ""
    if not counts.exercised:
        return "the run does not test it" if counts.runs == 1 else f"none of {counts.runs} runs tests it"
    if counts.runs == 1:
        return "the run breaks it" if counts.violated else "the run tests and keeps it"
    kept = f", broken by {counts.violated}" if counts.violated else ", broken by none"
    return f"tested by {counts.exercised} of {counts.runs} runs{kept}"


def notes(drafted: Drafted) -> list[str]:
    """Remarks on a statement, without what `runs_text` says in the same words."""
    return [note for note in drafted.notes if note != runs_text(drafted.run_counts)]


def why(entry: Entry) -> str:
    """Why a clause has no statement, in a sentence."""
    if entry.cause in (None, "model"):
        return entry.reason
    if entry.cause == "budget":
        return FAILED["budget"]  # how much is left is said once, of the whole draft
    again = f" (asked {entry.rounds} times)" if entry.rounds > 1 else ""
    return (entry.reason or FAILED[entry.cause]) + again


def remarks(report: Report) -> list[str]:
    """Remarks on the draft as a whole: what ended it, what the model did not see, what was not tried."""
    found = list(report.draft.notes)
    found += list(dict.fromkeys(e.reason for e in report.draft.entries if e.cause == "budget" and e.reason))[:1]
    if not report.statements and report.draft.entries:
        kept = "; a file that was there is as it was" if report.policy is not None else ""
        found.append(f"no clause became a statement, so no policy was written{kept}")
    if unknown_names(report):
        found.append(
            "some answers were refused for names that neither the runs nor the tools know: more runs (--trace) or "
            "definitions of the tools (--signature) tell of more"
        )
    if report.cut:
        found.append("the vocabulary was too large to be shown to the model as a whole")
    if report.outside and report.statements:
        found.append(
            f"{_named(report.outside)} outside the policy's project, so `vigil lint` cannot hold the policy against "
            "what is written there (VGL705); a `vigil.toml` in a folder above both makes one project of them"
        )
    if not report.runs and report.statements:
        found.append("no runs were given, so no statement was tried on one")
    return found


def _named(documents: Sequence[str]) -> str:
    """`SKILL.md lies`, `SKILL.md and 2 more lie`."""
    if not documents[1:]:
        return f"{documents[0]} lies"
    return f"{documents[0]} and {len(documents) - 1} more lie"


def unknown_names(report: Report) -> bool:
    """Whether answers were refused because neither runs nor tool definitions know the names in them."""
    return any(_UNKNOWN.search(problem) for entry in report.standing("failed") for problem in entry.problems)


def spent(report: Report, shown: Callable[[str], str] = visible) -> list[str]:
    """Who answered, requests, tokens, cost and time, a text for each; `shown` makes names harmless."""
    draft, usage = report.draft, report.draft.usage
    if report.origin == "document":
        return [f"answers of {shown(report.source or 'a document')}, no model asked"]
    if report.origin == "stored":
        asked = f" of {shown(draft.model)}" if draft.model else ""
        return [f"stored answers{asked}, nothing asked"]
    return [*([shown(draft.model)] if draft.model else []), *took(usage)]


def took(usage: Usage) -> list[str]:
    """Requests, tokens, cost and time."""
    retries = f" and {many(usage.retries, 'retry', 'retries')}" if usage.retries else ""
    return [many(usage.requests, "request") + retries, tokens(usage), cost(usage), f"{usage.seconds:.1f} s"]


def tokens(usage: Usage) -> str:
    """`9,320 tokens in (5,000 from the cache), 1,204 out`."""
    read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    cached = f" ({usage.cache_read_tokens:,} from the cache)" if usage.cache_read_tokens else ""
    return f"{read:,} tokens in{cached}, {usage.output_tokens:,} out"


def cost(usage: Usage) -> str:
    """`$0.0312`; `at most $0.0400` where some counts are estimates; `cost unknown` without prices."""
    if usage.cost is None:
        return "cost unknown"
    shown = f"${usage.cost:.2f}" if usage.cost >= 1 else f"${usage.cost:.4f}"
    return f"at most {shown}" if usage.estimated else shown


def form_text(drafted: Drafted) -> str:
    """The statement as the policy has it, on one line, without its annotations."""
    after = f" after {to_text(drafted.statement.after)}" if drafted.statement.after is not None else ""
    return to_text(drafted.statement.form) + after


def many(number: int, noun: str, plural: str = "") -> str:
    """`1 clause`, `2 clauses`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


# --- JSON ----------------------------------------------------------------------------------------------------------


def to_json(report: Report) -> dict[str, Any]:
    """The report as `vigil.draft/1` (docs/draft.md); texts are as documents and models wrote them."""
    draft = report.draft
    return {
        "schema": SCHEMA,
        "policy": {
            "file": report.policy if report.statements else None,
            "name": report.name,
            "statements": report.statements,
        },
        "documents": list(draft.documents),
        "origin": report.origin,
        "model": draft.model,
        "runs": report.runs,
        "complete": draft.complete,
        "summary": {
            "clauses": len(draft.entries),
            "kept": len(report.standing("kept")),
            "unsupported": len(report.standing("unsupported")),
            "failed": len(report.standing("failed")),
            "not_normative": len(report.standing("not_normative")),
            "other_sentences": len(draft.others),
        },
        "clauses": [_clause(entry) for entry in draft.entries],
        "not_taken": [
            {"document": other.path, "line": other.line, "text": other.text, "reason": other.why}
            for other in draft.others
        ],
        "problems": list(draft.problems),
        "notes": remarks(report),
        "vocabulary_cut": report.cut,
        "usage": usage_json(draft.usage),
    }


def _clause(entry: Entry) -> dict[str, Any]:
    clause = entry.clause
    return {
        "clause": clause.id,
        "document": clause.path,
        "line": clause.line,
        "headings": list(clause.headings),
        "lead": clause.lead,
        "parts": list(clause.parts),
        "sentence": clause.text,
        "addresses_model": clause.hostile,
        "outcome": entry.outcome,
        "cause": entry.cause,
        "reason": entry.reason,
        "problems": list(entry.problems),
        "rounds": entry.rounds,
        "statements": _statements(entry.statements),
    }


def _statements(statements: Sequence[Drafted]) -> list[dict[str, Any]]:
    return [
        {
            "name": drafted.statement.name.text,
            "says": drafted.requirement.says,
            "form": drafted.requirement.form,
            "text": form_text(drafted),
            "runs": {
                "given": drafted.run_counts.runs,
                "tested_by": drafted.run_counts.exercised,
                "broken_by": drafted.run_counts.violated,
            },
            "notes": list(drafted.notes),
        }
        for drafted in statements
    ]


def usage_json(usage: Usage) -> dict[str, Any]:
    """What requests took, as every report has it."""
    return {
        "requests": usage.requests,
        "retries": usage.retries,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "cost_usd": None if usage.cost is None else round(usage.cost, 6),
        "estimated": usage.estimated,
        "seconds": round(usage.seconds, 3),
    }

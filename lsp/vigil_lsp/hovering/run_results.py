"""What the runs say, in a line of Markdown each; nothing where no runs are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.report.markdown import code
from vigil_lang.semantics.text_patterns import predicate
from vigil_lang.trace.discreet import may_show
from vigil_lsp.lenses import summary
from vigil_lsp.recordings.reports import shown_path
from vigil_lsp.verdicts import waiting

if TYPE_CHECKING:
    from vigil_lang.diagnostics import Span
    from vigil_lang.semantics.text_patterns import Matcher
    from vigil_lsp.recordings.results import RunResults

_EXAMPLES = 5


def counted(known: RunResults | None, span: Span) -> list[str]:
    """How many events of the runs meet the condition at a span."""
    found = known.matches(span) if known is not None else None
    if known is None or not known.runs or found is None:
        return []
    events = sum(run.events for run in known.runs)
    where = f" in {_many(found.runs, 'run')}" if found.events else ""
    return [f"**{found.events:,}** of {_many(events, 'event')} of the runs match{where}."]


def judged(known: RunResults | None, name: str, folder: str) -> list[str]:
    """What the runs make of a statement, or why that is not known; those in a folder are named as seen from there."""
    found = known.statement(name) if known is not None else None
    if known is None or found is None:
        said = waiting(known)
        return [f"{said[:1].upper()}{said[1:]}."] if known is not None and known.stale else []
    said = summary(found, known)
    examples = ", ".join(code(shown_path(run, folder)) for run in found.violated[:_EXAMPLES])
    more = ", …" if len(found.violated) > _EXAMPLES else ""
    broken = [f"It is violated in {examples}{more}."] if examples else []
    return [f"{said[:1].upper()}{said[1:]}.", *broken]


def matching(known: RunResults | None, argument: str, names: list[str], matcher: Matcher) -> list[str]:
    """Values of the runs that a text pattern matches."""
    if known is None:
        return []
    try:
        accepts = predicate(matcher)
    except ValueError:
        return []
    values = known.samples.values(argument, names or None)
    some = [value for value, _ in values if accepts(value)]
    shown = [value for value in some if may_show(argument, value)][:_EXAMPLES]
    if not some:
        return [f"Of the {len(values):,} most frequent values of {code(argument)} none matches."] if values else []
    return ["It matches, for example, " + ", ".join(map(code, shown)) + "."] if shown else []


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"

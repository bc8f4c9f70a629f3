"""What may not be meant by a grant: that it narrows nothing, allows nothing, or allows all of a family of kinds."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from vigil_lang.analysis.condition_implication import Implications
from vigil_lang.analysis.satisfiable import contradiction
from vigil_lang.diagnostics import Diagnostic, Source
from vigil_lang.gate.authority.grants import NAME, grant_condition
from vigil_lang.semantics import core
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def grant_findings(grants: Sequence[str]) -> list[Diagnostic]:
    """What is to be said of the last of a chain's grants, which all read, in the light of those before it."""
    *before, last = map(grant_condition, grants)
    known = Implications()
    return [
        Diagnostic.of("VGL642", message, Source(NAME, grants[-1]), help=help_text)
        for message, help_text in _messages(before, last, known)
    ]


def _messages(
    before: list[core.Condition], last: core.Condition, known: Implications
) -> Iterator[tuple[str, str | None]]:
    every = core.AndC((*before, last))
    if _impossible((last,), known):
        yield "this grant allows nothing: no call meets it", None
        return
    if _impossible((*before, last), known):
        yield "with the grants before it, this grant allows nothing", "a chain allows what all of its grants allow"
        return
    if before and known.implies(core.AndC(tuple(before)), last) is True:
        yield (
            "this grant is already implied by the parent's: it narrows nothing",
            "that is harmless; but if it was meant to narrow, it does not",
        )
    if known.implies(core.AndC(()), every) is True:
        yield "this grant allows everything", "name the kinds that are needed"
    elif whole := [family for family, kinds in _families() if known.implies(core.ActionIn(kinds), every) is True]:
        shown = ", ".join(f"{family}.*" for family in whole)
        yield f"this grant allows all of {shown}", "name the kinds that are needed, and what their arguments have to be"


def _impossible(conjuncts: tuple[core.Condition, ...], known: Implications) -> bool:
    """Whether no call with one value an argument meets them: of a list, a grant asks that every value meets it."""
    return known.impossible(conjuncts) is True or contradiction(conjuncts) is not None


def _families() -> list[tuple[str, frozenset[str]]]:
    """The kinds by the first part of their names, where there are several."""
    grouped = groupby(sorted(vocabulary().kinds), key=lambda kind: kind.partition(".")[0])
    return [(family, kinds) for family, found in grouped if len(kinds := frozenset(found)) > 1]

"""VGL407: variables that join arguments which can never have a value in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.diagnostics import Severity
    from vigil_lang.semantics.meanings import Place
    from vigil_lang.trace import Argument, Signature


@dataclass(frozen=True, slots=True)
class Use:
    """A variable compared with an argument, and where the statement writes the variable."""

    variable: str
    field: str
    argument: Argument
    place: Place


def joins(uses: list[Use], signature: Signature) -> Iterator[Diagnostic]:
    """VGL407: of each variable the first two arguments that can never have a value in common."""
    done: set[str] = set()
    for at, use in enumerate(uses):
        for other in uses[:at]:
            if other.variable == use.variable and use.variable not in done:
                apart = _apart(other.argument, use.argument)
                if apart is not None:
                    done.add(use.variable)
                    yield _unjoined(other, use, apart, signature)


def _apart(one: Argument, other: Argument) -> str | None:
    if one.types and other.types and one.types.isdisjoint(other.types):
        return "types"
    if one.values is not None and other.values is not None and one.values.isdisjoint(other.values):
        return "values"
    return None


def _unjoined(one: Use, other: Use, apart: str, signature: Signature) -> Diagnostic:
    never = "never share a value" if apart == "values" else "never have values of one type"
    # On a recorded run values that do not meet are what a violation looks like.
    severity: Severity = "info" if apart == "values" and signature.origin == "observed" else "warning"
    return Diagnostic.of(
        "VGL407",
        f"`{one.variable}` joins `{one.field}` and `{other.field}`, which {never}",
        other.place.source,
        other.place.span,
        severity=severity,
        notes=(Note(f"it stands for `{one.field}` here", one.place.source, one.place.span),),
    )

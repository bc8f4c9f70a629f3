"""Why a call was held or blocked: each reason in words, and as it stands in the policy that was in force then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from vigil_lang.diagnostics.visible import shown_path
from vigil_lang.gate.confirmation import reason_key
from vigil_lang.gate.layers import place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.gate.layers import LayeredPolicies
    from vigil_lang.semantics.gate_rules import GateRule
    from vigil_lang.semantics.lower import Statement

_LINES = 30


class Because(NamedTuple):
    """A reason: `message` and `doc` in words, and `lines` with their numbers as they stand at `at`."""

    key: str
    kind: str
    layer: str
    asks: str
    message: str
    doc: str
    cites: tuple[tuple[str, str], ...]
    at: str
    lines: tuple[tuple[int, str], ...]
    more: int
    lifted: str | None


def because(reason: Mapping[str, Any], policies: LayeredPolicies | None) -> Because:
    """A reason as its entry has it; None where the policies cannot be read."""
    at = str(reason.get("at") or "")
    one = None if policies is None or not at else _written(policies, at)
    lines, more = ((), 0) if one is None else _source(one)
    message = str(reason.get("message") or "")
    doc = "" if one is None else " ".join((one.metadata.doc or "").split())
    return Because(
        reason_key(reason),
        str(reason["kind"]),
        str(reason.get("layer") or ""),
        str(reason["asks"]),
        message,
        "" if doc == message else doc,
        () if one is None else one.metadata.cites,
        shown_path(at),
        lines,
        more,
        reason.get("lifted"),
    )


def _written(policies: LayeredPolicies, at: str) -> GateRule | Statement | None:
    """The rule or statement that stands at a place."""
    for _, policy in policies.policies:
        if at.startswith(f"{policy.path}:") or any(at.startswith(f"{each.source.path}:") for each in policy.statements):
            written: tuple[GateRule | Statement, ...] = (*policy.rules, *policy.statements)
            for one in written:
                if place(one.source, one.span) == at:
                    return one
    return None


def _source(one: GateRule | Statement) -> tuple[tuple[tuple[int, str], ...], int]:
    """The lines that a rule or statement stands on, and how many are left out."""
    span = one.syntax.span
    first, _ = one.source.position(span.start)
    last, _ = one.source.position(max(span.start, span.end - 1))
    shown = range(first, min(last, first + _LINES - 1) + 1)
    return tuple((number, one.source.line(number)) for number in shown), max(0, last - shown[-1])

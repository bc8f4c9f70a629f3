"""Statements as people read them: the form in words, and its meaning as □Θ (spec.md, Table VI)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.engines.wording import span_of
from vigil_lang.report.markdown import code
from vigil_lang.semantics import core
from vigil_lang.semantics.forms import bound_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.semantics.lower import Statement

_UNITS = ((86_400_000_000, "d"), (3_600_000_000, "h"), (60_000_000, "m"), (1_000_000, "s"), (1_000, "ms"))
_LONGEST = 400


def wording(statement: Statement) -> str:
    """What a statement asks for, as one sentence of Markdown with the conditions as code."""
    theta, form = statement.requirement.theta, statement.preset
    if form is None:
        said = f"Of every event it must hold that {code(_one_line(statement.body))}."
    else:
        labels = {holds.role: code(_one_line(statement.label(holds))) for holds in core.conditions(theta)}
        scope = f" once {labels.pop('scope')} has happened" if "scope" in labels else ""
        said = form.sentence.format(**labels, scope=scope, bound=span_of(bound_of(theta)))
    return said + _variables(statement.requirement)


def _variables(requirement: core.Requirement) -> str:
    if not requirement.variables:
        return ""
    *some, last = [f"`{x}`" for x in requirement.variables]
    return f" This must hold for every value of {', '.join(some)}{' and ' if some else ''}{last}."


def as_theta(statement: Statement) -> str:
    """□Θ on one line, conditions as the policy wrote them; `∀` names the variables."""
    names = ", ".join(statement.requirement.variables)
    return f"{f'∀ {names}. ' if names else ''}□ {_theta(statement.requirement.theta, 0, statement.label)}"


def _theta(theta: core.Theta, tight: int, label: Callable[[core.Holds], str]) -> str:
    """`tight` is how tightly the surrounding operator binds: 0 none, 1 ⇒, 2 ∨, 3 ∧, 4 ¬ and ◇."""
    match theta:
        case core.Holds():
            written = _one_line(label(theta))
            lone = not any(word in f" {written} " for word in (" and ", " or ", " implies ", " not "))
            return written if lone or tight == 0 else f"({written})"
        case core.Implies(left, right):
            return _closed(f"{_theta(left, 2, label)} ⇒ {_theta(right, 2, label)}", tight > 0)
        case core.Or(items):
            return _closed(" ∨ ".join(_theta(i, 3, label) for i in items), tight > 2) if items else "false"
        case core.And(items):
            return _closed(" ∧ ".join(_theta(i, 4, label) for i in items), tight > 3) if items else "true"
        case core.Not(body):
            return f"¬{_theta(body, 4, label)}"
        case core.Earlier(body, bound):
            return f"◇⁻{_within(bound)} {_theta(body, 4, label)}"
        case core.Later(body, bound):
            return f"◇⁺{_within(bound)} {_theta(body, 4, label)}"
        case core.Clear(resolver, forbidden):
            return f"clear({_theta(resolver, 0, label)}, {_theta(forbidden, 0, label)})"
        case core.Repeated(count, body):
            return f"repeated[{count}]({_theta(body, 0, label)})"


def _closed(text: str, needed: bool) -> str:
    return f"({text})" if needed else text


def _within(bound: core.Bound) -> str:
    match bound:
        case core.Calls(count):
            return f"[{count}]"
        case core.Within(amount):
            unit, name = next(((u, n) for u, n in _UNITS if amount % u == 0), (1_000, "ms"))
            return f"[{amount // unit}{name}]"
        case None:
            return ""


def _one_line(text: str) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= _LONGEST else f"{joined[:_LONGEST]}…"

"""Statements as people read them: the form in words, and its meaning as □Θ (spec.md, Table VI)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.engines.explanation import bound_in_words
from vigil_lang.engines.wording import named
from vigil_lang.report.markdown import code
from vigil_lang.semantics import core
from vigil_lang.syntax.print import to_text

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
        said = form.sentence.format(**labels, scope=scope, bound=bound_in_words(theta))
        if "reset" in labels:
            said += f" What came before the last {labels['reset']} does not count."
    return said + _variables(statement)


def _variables(statement: Statement) -> str:
    if not statement.requirement.variables:
        return ""
    *some, last = [f"`{x}`" for x in statement.requirement.variables]
    where = statement.syntax.where
    tested = f" with {code(_one_line(to_text(where)))}" if where is not None else ""
    return f" This must hold for every value of {', '.join(some)}{' and ' if some else ''}{last}{tested}."


def as_theta(statement: Statement) -> str:
    """□Θ on one line, conditions as the policy wrote them; `∀` names the variables."""
    names = ", ".join(statement.requirement.variables)

    def label(leaf: core.Holds | core.Where) -> str:
        where = statement.syntax.where
        return statement.label(leaf) if isinstance(leaf, core.Holds) else "" if where is None else to_text(where)

    return f"{f'∀ {names}. ' if names else ''}□ {_theta(statement.requirement.theta, 0, label)}"


def _theta(theta: core.Theta, tight: int, label: Callable[[core.Holds | core.Where], str]) -> str:
    """`tight` is how tightly the surrounding operator binds: 0 none, 1 ⇒, 2 ∨, 3 ∧, 4 since and until, 5 ¬ and ◇."""
    match theta:
        case core.Holds() | core.Where():
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
            return f"¬{_theta(body, 5, label)}"
        case core.Earlier(body, bound):
            return f"◇⁻{_within(bound)} {_theta(body, 5, label)}"
        case core.Later(body, bound):
            return f"◇⁺{_within(bound)} {_theta(body, 5, label)}"
        case core.Since(left, right, bound, weak) | core.Until(left, right, bound, weak):
            word = f"{'weak ' if weak else ''}{'since' if isinstance(theta, core.Since) else 'until'}{_within(bound)}"
            return _closed(f"{_theta(left, 5, label)} {word} {_theta(right, 5, label)}", tight > 4)
        case core.Clear(resolver, forbidden):
            return f"clear({_theta(resolver, 0, label)}, {_theta(forbidden, 0, label)})"
        case core.Repeated(count, body, bound, reset, distinct):
            counted = f", distinct {named(distinct)}" if distinct is not None else ""
            return f"repeated[{count}]({_theta(body, 0, label)}{counted}){_window(bound, reset, label)}"
        case core.Exceeds(limit, field, body, bound, reset):
            total = f"exceeds[{limit:f}]({_theta(body, 0, label)}, {named(field)})"
            return f"{total}{_window(bound, reset, label)}"
        case core.Last():
            return "last"


def _window(bound: core.Bound, reset: core.Theta | None, label: Callable[[core.Holds | core.Where], str]) -> str:
    """The events that are counted."""
    within = f" in {_within(bound)[1:-1]}" if bound is not None else ""
    return within if reset is None else f"{within} since {_theta(reset, 5, label)}"


def _closed(text: str, needed: bool) -> str:
    return f"({text})" if needed else text


def _within(bound: core.Bound) -> str:
    match bound:
        case None:
            return ""
        case core.Within(most, least):
            unit, name = next(((u, n) for u, n in _UNITS if most % u == least % u == 0), (1_000, "ms"))
        case core.Calls(most, least):
            unit, name = 1, ""
        case core.Steps(most, least):
            unit, name = 1, " steps"
    joined = name if name != " steps" else ""
    last = "" if most >= core.FAR else f"{most // unit}{joined}"
    return f"[{f'{least // unit}{joined}..' if least else ''}{last}{name if name == ' steps' else ''}]"


def _one_line(text: str) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= _LONGEST else f"{joined[:_LONGEST]}…"

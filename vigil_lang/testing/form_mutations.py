"""Small changes to how a statement relates its events: another form, another bound, no scope."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from vigil_lang.diagnostics.diagnostic import Edit, Span
from vigil_lang.semantics import core
from vigil_lang.semantics.forms import FORMS
from vigil_lang.syntax import tree
from vigil_lang.syntax.print import to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vigil_lang.diagnostics import Source
    from vigil_lang.semantics.forms import Form
    from vigil_lang.semantics.lower import Statement

_UNITS = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_NOT = re.compile(r"not\b\s*|¬\s*")
_DIRECTION = re.compile(r"earlier\b|later\b|◇[⁻⁺+-]")


@dataclass(frozen=True, slots=True)
class FormMutation:
    """One edit of a statement with the requirement that comes of it."""

    edits: tuple[Edit, ...]
    told: str
    missing: str
    requirement: core.Requirement


@dataclass(frozen=True, slots=True)
class _Body:
    edit: Edit
    told: str
    missing: str
    theta: core.Theta


def form_mutations(statement: Statement) -> Iterator[FormMutation]:
    """The statement in other forms, with its conditions as they are."""
    form, requirement = statement.syntax.form, statement.requirement
    preset = statement.preset
    if preset is None:
        for body in _temporal(statement.source, form.args[0], requirement.theta):
            trigger = body.theta.left if isinstance(body.theta, core.Implies) else None
            yield _form_mutation(body, trigger)
        return
    for body in (*_other_form(statement, preset), *_other_bound(form, requirement.theta)):
        yield _form_mutation(body, requirement.trigger)
    after, trigger = statement.syntax.after, requirement.trigger
    if after is not None and isinstance(trigger, core.And):
        edit = Edit(Span(form.span.end, after.span.end), "")
        missing = f"no test has a trigger that no `{_short(after)}` comes before"
        body = _Body(edit, "drops the scope", missing, _unscoped(requirement.theta, trigger))
        yield _form_mutation(body, trigger.items[0])


def _form_mutation(body: _Body, trigger: core.Theta | None) -> FormMutation:
    requirement = core.Requirement(body.theta, core.variables_of(body.theta), trigger)
    return FormMutation((body.edit,), body.told, body.missing, requirement)


# --- preset forms ------------------------------------------------------------------------------------------


def _other_form(statement: Statement, preset: Form) -> Iterator[_Body]:
    source, form, theta = statement.source, statement.syntax.form, statement.requirement.theta
    held = {holds.role: holds for holds in core.conditions(theta)}
    name = Span(form.span.start, form.span.start + len(form.name))
    if preset.mistaken_for is not None and isinstance(theta, core.Implies):
        other = FORMS[preset.mistaken_for]
        edit, told = Edit(name, other.name), f"turns `{preset.name}` to `{other.name}`"
        if form.bound is not None:
            edit, told = Edit(name.to(_bracketed(source, form.bound)), other.name), "drops the bound"
        trigger, *others = (held[role] for role in preset.roles)
        labels = {role: f"`{_short(arg)}`" for role, arg in zip(preset.roles, form.args, strict=True)}
        missing = f"no test {preset.telling.format(**labels)}"
        yield _Body(edit, told, missing, other.lower(theta.left, trigger, others, None))
    match theta:
        case core.Implies(triggered, core.Clear(core.Holds() as resolver, forbidden)):
            missing = f"no test has `{_short(form.args[1])}` between the trigger and what is then allowed again"
            never = replace(resolver, condition=core.ActionIn(frozenset()))
            edit = Edit(form.args[1].span, "action in {}")
            yield _Body(edit, "lets nothing resolve it", missing, core.Implies(triggered, core.Clear(never, forbidden)))


def _other_bound(form: tree.Form, theta: core.Theta) -> Iterator[_Body]:
    if form.bound is None:
        return
    for edit, bound in _moved(form.bound):
        match theta:
            case core.Implies(trigger, core.Not(core.Repeated(_, body))) if isinstance(bound, core.Calls):
                missing = f"no test has exactly {form.bound.raw} calls, or one more"
                counted = core.Implies(trigger, core.Not(core.Repeated(bound.count, body)))
                yield _Body(edit, "moves the bound", missing, counted)
            case core.Implies(trigger, core.Later(response)):
                missing = f"no test has `{_short(form.args[1])}` exactly at the bound, {form.bound.raw}, or just beyond"
                yield _Body(edit, "moves the bound", missing, core.Implies(trigger, core.Later(response, bound)))


def _moved(bound: tree.Bound) -> Iterator[tuple[Edit, core.Calls | core.Within]]:
    """One less and one more."""
    digits = re.match(r"[0-9]{1,15}", bound.raw)
    if digits is None or digits.end() > 12:
        return
    unit = bound.raw[digits.end() :]
    for amount in (int(digits[0]) - 1, int(digits[0]) + 1):
        if amount >= 1 and (not unit or unit in _UNITS):
            new: core.Calls | core.Within = core.Within(amount * _UNITS[unit]) if unit else core.Calls(amount)
            yield Edit(bound.span, f"{amount}{unit}"), new


def _bracketed(source: Source, bound: tree.Bound) -> Span:
    """A bound with its brackets."""
    return Span(source.text.rindex("[", 0, bound.span.start), source.text.index("]", bound.span.end) + 1)


def _unscoped(theta: core.Theta, trigger: core.And) -> core.Theta:
    """The body with the trigger alone wherever it stands with its scope."""
    if theta == trigger:
        return trigger.items[0]
    match theta:
        case core.Not(body):
            return core.Not(_unscoped(body, trigger))
        case core.Implies(left, right):
            return core.Implies(_unscoped(left, trigger), _unscoped(right, trigger))
        case core.Repeated(count, body):
            return core.Repeated(count, _unscoped(body, trigger))
        case _:
            return theta


# --- the body of `always` ----------------------------------------------------------------------------------


def _temporal(source: Source, expr: tree.Expr, theta: core.Theta) -> Iterator[_Body]:
    """Changes of a temporal body; the tree and the core are built alike."""
    match expr, theta:
        case tree.Diamond(_, _, body), core.Earlier(inner, limit) | core.Later(inner, limit):
            yield from _diamond(source, expr, theta, inner, limit)
            diamond = core.Earlier if isinstance(theta, core.Earlier) else core.Later
            yield from _within(_temporal(source, body, inner), lambda new: diamond(new, limit))
        case tree.Implies(before, after), core.Implies(left, right):
            yield from _within(_temporal(source, before, left), lambda new: core.Implies(new, right))
            yield from _within(_temporal(source, after, right), lambda new: core.Implies(left, new))
        case tree.Not(body), core.Not(inner):
            found = _NOT.search(source.text, expr.span.start, body.span.start)
            if found is not None:
                missing = f"no test depends on whether `{_short(expr)}` holds"
                yield _Body(Edit(Span(*found.span()), ""), "drops the negation", missing, inner)
            yield from _within(_temporal(source, body, inner), core.Not)
        case tree.And(operands) | tree.Or(operands), core.And(items) | core.Or(items):
            kind = core.And if isinstance(theta, core.And) else core.Or
            for at, operand in enumerate(operands):
                rest = (*items[:at], *items[at + 1 :])
                missing = f"no test depends on `{_short(operand)}` alone"
                whole = rest[0] if len(rest) == 1 else kind(rest)
                yield _Body(_cut(operands, at), f"drops `{_short(operand)}`", missing, whole)
                yield from _within(_temporal(source, operand, items[at]), _placed(kind, items, at))


def _placed(
    kind: type[core.And] | type[core.Or], items: tuple[core.Theta, ...], at: int
) -> Callable[[core.Theta], core.Theta]:
    return lambda new: kind((*items[:at], new, *items[at + 1 :]))


def _within(bodies: Iterator[_Body], outer: Callable[[core.Theta], core.Theta]) -> Iterator[_Body]:
    return (_Body(body.edit, body.told, body.missing, outer(body.theta)) for body in bodies)


def _diamond(
    source: Source, expr: tree.Diamond, theta: core.Theta, inner: core.Theta, limit: core.Bound
) -> Iterator[_Body]:
    diamond, other = (core.Earlier, core.Later) if isinstance(theta, core.Earlier) else (core.Later, core.Earlier)
    found = _DIRECTION.search(source.text, expr.span.start, expr.body.span.start)
    if found is not None:
        word = "later" if expr.direction == "earlier" else "earlier"
        missing = f"no test has `{_short(expr.body)}` only {expr.direction}, or only {word}"
        after = source.text[found.end() : found.end() + 1]
        edit = Edit(Span(*found.span()), word if not after or after in " \t\r\n[(" else f"{word} ")
        yield _Body(edit, f"turns `{expr.direction}` to `{word}`", missing, other(inner, limit))
    if expr.bound is not None:
        missing = f"no test has `{_short(expr.body)}` farther away than the bound allows"
        yield _Body(Edit(_bracketed(source, expr.bound), ""), "drops the bound", missing, diamond(inner))
        for edit, bound in _moved(expr.bound):
            missing = f"no test has `{_short(expr.body)}` exactly at the bound, {expr.bound.raw}, or just beyond"
            yield _Body(edit, "moves the bound", missing, diamond(inner, bound))


def _cut(operands: tuple[tree.Expr, ...], at: int) -> Edit:
    if at + 1 < len(operands):
        return Edit(Span(operands[at].span.start, operands[at + 1].span.start), "")
    return Edit(Span(operands[at - 1].span.end, operands[at].span.end), "")


def _short(expr: tree.Expr) -> str:
    text = to_text(expr)
    return text if len(text) <= 60 else f"{text[:40]} … {text[-16:]}"

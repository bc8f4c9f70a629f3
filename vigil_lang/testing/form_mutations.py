"""Small changes to how a statement relates its events: another form, another bound, no scope."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from msgspec import structs
from msgspec.structs import replace

from vigil_lang.diagnostics.diagnostic import Edit, Span
from vigil_lang.diagnostics.shorten import cut_middle
from vigil_lang.semantics import core
from vigil_lang.semantics.forms import FORMS, Parts, bound_of, counted_by
from vigil_lang.syntax import tree
from vigil_lang.syntax.print import to_text
from vigil_lang.testing.always_body import scoped, unscoped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vigil_lang.diagnostics import Source
    from vigil_lang.semantics.forms import Form
    from vigil_lang.semantics.lower import Statement

_UNITS = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_NOT = re.compile(r"not\b\s*|¬\s*")
_INTERVAL = re.compile(r"(weak\s+)?(since|until)\b")
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
    form, preset = statement.syntax.form, statement.preset
    if preset is None:
        body, scope = unscoped(statement)
        for changed in _temporal(statement.source, form.args[0], body):
            yield _of_always(changed, scope)
        for changed, left in _other_scope(statement, scope):
            yield _of_always(dataclasses.replace(changed, theta=body), left)
        return
    given = _given(statement)
    for edit, told, missing, other, parts in (*_other_form(statement, preset, given), *_other_parts(statement, given)):
        yield FormMutation((edit,), told, missing, _lowered(other or preset, parts))
    for changed, left in _other_scope(statement, given.scope):
        parts = structs.replace(given, scope=left)
        yield FormMutation((changed.edit,), changed.told, changed.missing, _lowered(preset, parts))


def _of_always(changed: _Body, scope: tuple[core.Theta, ...]) -> FormMutation:
    theta = scoped(changed.theta, scope)
    trigger = theta.left if isinstance(theta, core.Implies) else None
    requirement = core.Requirement(theta, core.variables_of(theta), trigger)
    return FormMutation((changed.edit,), changed.told, changed.missing, requirement)


def _other_scope(statement: Statement, scope: tuple[core.Theta, ...]) -> Iterator[tuple[_Body, tuple[core.Theta, ...]]]:
    """Without `after`, without `where`, without one of the tests of `where`."""
    form, after, where = statement.syntax.form, statement.syntax.after, statement.syntax.where
    if after is not None:
        missing = f"no test has a trigger that no `{_short(after)}` comes before"
        yield _Body(Edit(Span(form.span.end, after.span.end), ""), "drops the scope", missing, core.FALSE), scope[1:]
    if where is not None:
        *before, asked = scope
        missing = f"no test has values of which `{_short(where)}` does not hold"
        edit = Edit(Span((after or form).span.end, where.span.end), "")
        yield _Body(edit, "drops `where`", missing, core.FALSE), tuple(before)
        if isinstance(where, tree.And) and isinstance(asked, core.Where) and isinstance(asked.condition, core.AndC):
            for at, item in enumerate(where.items):
                left = core.AndC((*asked.condition.items[:at], *asked.condition.items[at + 1 :]))
                missing = f"no test has values of which only `{_short(item)}` does not hold"
                changed = _Body(_cut(where.items, at), f"drops `{_short(item)}`", missing, core.FALSE)
                yield changed, (*before, replace(asked, condition=left))


# --- preset forms ------------------------------------------------------------------------------------------


Change: TypeAlias = "tuple[Edit, str, str, Form | None, Parts]"
"""An edit, what it does, what is missing, the form it turns into where it is another, and what that is given."""


def _given(statement: Statement) -> Parts:
    """What the statement gives its form."""
    requirement, preset = statement.requirement, statement.preset
    assert preset is not None
    held = {holds.role: holds for holds in core.conditions(requirement.theta)}
    scope: list[core.Theta] = [core.Earlier(held["scope"])] if "scope" in held else []
    scope += [body for body in core.bodies(requirement.theta) if isinstance(body, core.Where)][:1]
    trigger, *others = (held[role] for role in preset.roles)
    given = Parts(trigger, others, tuple(scope), bound_of(requirement.theta))
    match counted_by(requirement.theta):
        case core.Repeated(count, _, window, reset, field):
            return structs.replace(given, count=count, window=window, reset=reset, field=field)
        case core.Exceeds(limit, field, _, window, reset):
            return structs.replace(given, limit=limit, window=window, reset=reset, field=field)
        case None:
            return given


def _lowered(preset: Form, given: Parts) -> core.Requirement:
    theta = preset.lower(given)
    trigger: core.Theta | None = given.triggered if "trigger" in preset.roles else None
    if isinstance(theta, core.Implies) and preset.roles == ("counted",) and given.scope:
        trigger = theta.left
    return core.Requirement(theta, core.variables_of(theta), trigger)


def _other_form(statement: Statement, preset: Form, given: Parts) -> Iterator[Change]:
    source, form = statement.source, statement.syntax.form
    name = Span(form.span.start, form.span.start + len(form.name))
    if preset.mistaken_for is not None:
        other = FORMS[preset.mistaken_for]
        edit, told = Edit(name, other.name), f"turns `{preset.name}` to `{other.name}`"
        if form.bound is not None:
            edit, told = Edit(name.to(_bracketed(source, form.bound)), other.name), "drops the bound"
        labels = {role: f"`{_short(arg)}`" for role, arg in zip(preset.roles, form.args, strict=True)}
        parts = structs.replace(given, bound=None)
        yield edit, told, f"no test {preset.telling.format(**labels)}", other, parts
    if "resolver" in preset.roles:
        missing = f"no test has `{_short(form.args[1])}` between the trigger and what is then allowed again"
        never = replace(given.others[0], condition=core.ActionIn(frozenset()))
        parts = structs.replace(given, others=(never, *given.others[1:]))
        yield Edit(form.args[1].span, "action in {}"), "lets nothing resolve it", missing, None, parts


def _other_parts(statement: Statement, given: Parts) -> Iterator[Change]:
    """Another bound, count or limit, another window or none, no reset, calls instead of values."""
    form, source = statement.syntax.form, statement.source
    if form.bound is not None:
        missing = f"no test has exactly {form.bound.raw} calls, or one more"
        if given.bound is not None:
            missing = f"no test has `{_short(form.args[1])}` exactly at the bound, {form.bound.raw}, or just beyond"
        for edit, bound in _moved(form.bound):
            if given.bound is not None:
                yield edit, "moves the bound", missing, None, structs.replace(given, bound=bound)
            elif isinstance(bound, core.Calls):
                yield edit, "moves the bound", missing, None, structs.replace(given, count=bound.count)
    if isinstance(form.limit, tree.Number) and form.field is not None and abs(given.limit.adjusted()) < 15:
        for limit in (given.limit - 1, given.limit + 1):
            if limit >= 0:
                missing = f"no test has a total of `{to_text(form.field)}` at the limit, {form.limit.raw}"
                parts = structs.replace(given, limit=limit)
                yield Edit(form.limit.span, f"{limit:f}"), "moves the limit", missing, None, parts
    if form.window is not None:
        missing = f"no test has events farther apart than {form.window.raw}"
        edit = Edit(Span(_suffix(source, "in", form.window.span.start), form.window.span.end), "")
        yield edit, "drops the window", missing, None, structs.replace(given, window=None)
        for edit, window in _moved(form.window):
            missing = f"no test has events exactly {form.window.raw} apart, or just more"
            yield edit, "moves the window", missing, None, structs.replace(given, window=window)
    if form.since is not None:
        missing = f"no test has `{_short(form.since)}` between the events that count"
        edit = Edit(Span(_suffix(source, "since", form.since.span.start), _closing(source, form.since)), "")
        yield edit, "drops the reset", missing, None, structs.replace(given, reset=None)
    if form.field is not None and form.limit is None:
        missing = f"no test has two calls with the same `{to_text(form.field)}`"
        edit = Edit(Span(source.text.rindex(",", 0, form.field.span.start), form.field.span.end), "")
        yield edit, "counts calls", missing, None, structs.replace(given, field=None)


def _suffix(source: Source, word: str, end: int) -> int:
    """Where the last such word before a place begins, with the space before it."""
    return len(source.text[: source.text.rindex(word, 0, end)].rstrip())


def _closing(source: Source, expr: tree.Expr) -> int:
    """Where an expression ends, with the brackets it stands in."""
    between = source.text[source.text.rindex("since", 0, expr.span.start) : expr.span.start]
    end = expr.span.end
    for _ in range(between.count("(")):
        end = source.text.index(")", end) + 1
    return end


def _moved(bound: tree.Bound) -> Iterator[tuple[Edit, core.Calls | core.Steps | core.Within]]:
    """One less and one more, of either end of a range."""
    limits, space, unit = bound.raw.partition(" ")
    first, dots, second = limits.partition("..")
    pairs = [(least, second) for least in _neighbours(first)] if dots else [("0", most) for most in _neighbours(first)]
    pairs += [(first, most) for most in _neighbours(second)]
    for least, most in pairs:
        start, end = _amount(least), _amount(most) if most else core.FAR
        if not 0 <= start <= end >= 1:
            continue
        new: core.Calls | core.Steps | core.Within = core.Calls(end, start)
        if limits[-1:].isalpha() or first[-1:].isalpha():
            new = core.Within(end, start)
        elif unit.startswith("step"):
            new = core.Steps(end, start)
        yield Edit(bound.span, f"{f'{least}..{most}' if dots else most}{space}{unit}"), new


def _neighbours(limit: str) -> list[str]:
    digits = re.match(r"[0-9]{1,12}(?![0-9])", limit)
    if digits is None:
        return []
    return [f"{int(digits[0]) + by}{limit[digits.end() :]}" for by in (-1, 1) if int(digits[0]) + by >= 0]


def _amount(limit: str) -> int:
    digits = limit.rstrip("msdh")
    return min(int(digits) * _UNITS.get(limit[len(digits) :], 1), core.FAR)


def _bracketed(source: Source, bound: tree.Bound) -> Span:
    """A bound with its brackets."""
    return Span(source.text.rindex("[", 0, bound.span.start), source.text.index("]", bound.span.end) + 1)


# --- the body of `always` ----------------------------------------------------------------------------------


def _temporal(source: Source, expr: tree.Expr, theta: core.Theta) -> Iterator[_Body]:
    """Changes of a temporal body; the tree and the core are built alike."""
    match expr, theta:
        case tree.Diamond(_, _, body), core.Earlier(inner, limit) | core.Later(inner, limit):
            yield from _diamond(source, expr, theta, inner, limit)
            diamond = core.Earlier if isinstance(theta, core.Earlier) else core.Later
            yield from _within(_temporal(source, body, inner), lambda new: diamond(new, limit))
        case tree.Interval(_, _, _, before, after), core.Since(left, right) | core.Until(left, right):
            yield from _interval(source, expr, theta)
            yield from _within(_temporal(source, before, left), lambda new: replace(theta, left=new))
            yield from _within(_temporal(source, after, right), lambda new: replace(theta, right=new))
        case tree.Repeated(bound, body, distinct), core.Repeated(_, inner):
            missing = f"no test has exactly {bound.raw} calls, or one more"
            for edit, moved in _moved(bound):
                if isinstance(moved, core.Calls):
                    yield _Body(edit, "moves the bound", missing, replace(theta, count=moved.count))
            if distinct is not None:
                missing = f"no test has two calls with the same `{to_text(distinct)}`"
                edit = Edit(Span(source.text.rindex(",", 0, distinct.span.start), distinct.span.end), "")
                yield _Body(edit, "counts calls", missing, replace(theta, distinct=None))
            yield from _within(_temporal(source, body, inner), lambda new: replace(theta, body=new))
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


def _interval(source: Source, expr: tree.Interval, theta: core.Since | core.Until) -> Iterator[_Body]:
    found = _INTERVAL.search(source.text, expr.left.span.end, expr.right.span.start)
    if found is None:
        return
    word = "until" if expr.direction == "since" else "since"
    other = (core.Until if expr.direction == "since" else core.Since)(theta.left, theta.right, theta.bound, theta.weak)
    missing = f"no test has `{_short(expr.right)}` only on one side"
    yield _Body(Edit(Span(*found.span(2)), word), f"turns `{expr.direction}` to `{word}`", missing, other)
    edit = Edit(Span(found.start(), found.start(2)), "" if expr.weak else "weak ")
    missing = f"no test has `{_short(expr.left)}` all the way and no `{_short(expr.right)}`"
    yield _Body(edit, "drops `weak`" if expr.weak else "adds `weak`", missing, replace(theta, weak=not expr.weak))
    if expr.bound is not None:
        missing = f"no test has `{_short(expr.right)}` farther away than the bound allows"
        yield _Body(Edit(_bracketed(source, expr.bound), ""), "drops the bound", missing, replace(theta, bound=None))
        for edit, bound in _moved(expr.bound):
            missing = f"no test has `{_short(expr.right)}` exactly at the bound, {expr.bound.raw}, or just beyond"
            yield _Body(edit, "moves the bound", missing, replace(theta, bound=bound))


def _cut(operands: tuple[tree.Expr, ...], at: int) -> Edit:
    if at + 1 < len(operands):
        return Edit(Span(operands[at].span.start, operands[at + 1].span.start), "")
    return Edit(Span(operands[at - 1].span.end, operands[at].span.end), "")


def _short(expr: tree.Expr) -> str:
    return cut_middle(to_text(expr), 60)

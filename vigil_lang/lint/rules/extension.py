"""VGL501: where a policy uses more than the language of the paper (`vigil check --core`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.diagnostics import Diagnostic, Span
from vigil_lang.semantics.conditions import Conditions
from vigil_lang.semantics.meanings import Values
from vigil_lang.semantics.mentions import first_mention
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.modules import Module
    from vigil_lang.semantics.policy import Policy

Use: TypeAlias = tuple[str, Span]
"""An extension in words, and where it is used."""
Seen: TypeAlias = "set[tuple[Module, str]]"
"""Patterns looked into already; None while the policy's own source is read."""


def find(subject: Subject) -> list[Diagnostic]:
    """Every use of an extension."""
    return uses(subject.policy)


def uses(policy: Policy) -> list[Diagnostic]:
    """One finding for every use of an extension, in order; an imported pattern counts where it is applied."""
    module = policy.module
    found: list[Use] = []
    for declaration in module.own.values():
        if isinstance(declaration, tree.Pattern):
            found += _in_condition(declaration.body, module)
    for statement in policy.statements:
        found += _in_statement(statement, policy)
    found += [("a rule of the gate", rule.span) for rule in policy.rules]
    return [
        Diagnostic.of("VGL501", f"{what} is an extension of the paper's language", module.source, span)
        for what, span in sorted(found, key=lambda use: (use[1].start, use[1].end))
    ]


def _in_statement(statement: Statement, policy: Policy) -> Iterator[Use]:
    form, after = statement.syntax.form, statement.syntax.after
    preset = statement.preset
    if preset is not None and preset.is_extension:
        yield f"`{form.name}`", form.span
    if form.bound is not None:
        yield from _in_bound(form.bound)
    if form.field is not None and form.limit is None:
        yield "`distinct`", form.field.span
    if form.field is not None:
        yield from _in_field(form.field)
    if form.window is not None:
        yield "a window", form.window.span
    if form.since is not None:
        yield "`since`", form.since.span
        yield from _in_condition(form.since, policy.module)
    for arg in form.args:
        yield from _in_body(arg, policy.module) if preset is None else _in_condition(arg, policy.module)
    if after is not None:
        yield "`after`", after.span
        yield from _in_condition(after, policy.module)
    if statement.syntax.where is not None:
        yield "`where`", statement.syntax.where.span
    yield from _variables(statement, policy)


def _variables(statement: Statement, policy: Policy) -> Iterator[Use]:
    """The paper ties patterns to one value."""
    conditions = Conditions(Values(policy.params), lambda _: None)
    for variable in statement.requirement.variables[1:]:
        place = first_mention(statement, variable, policy.module, conditions)
        span = place.span if place and place.source is statement.source else statement.span
        yield f"`{variable}`, a further variable,", span


def _in_bound(bound: tree.Bound) -> Iterator[Use]:
    """The paper's bounds are numbers of calls."""
    limits, _, unit = bound.raw.partition(" ")
    if ".." in limits:
        yield "a bound with two ends", bound.span
    elif unit.startswith("step"):
        yield "a bound in steps", bound.span
    elif not limits.isdigit():
        yield "a bound in time", bound.span


def _in_field(field: tree.Field) -> Iterator[Use]:
    for view in field.views:
        yield f"the view `{view.name.text}`", view.span


def _in_body(expr: tree.Expr, module: Module) -> Iterator[Use]:
    """A temporal body: its connectives are the paper's, whether diamonds stand below them or not."""
    match expr:
        case tree.Diamond(direction, bound, body):
            if bound is not None:
                yield f"a bound on `{direction}`", bound.span
            yield from _in_body(body, module)
        case tree.Not(body):
            yield from _in_body(body, module)
        case tree.And(items) | tree.Or(items):
            for item in items:
                yield from _in_body(item, module)
        case tree.Implies(left, right):
            yield from _in_body(left, module)
            yield from _in_body(right, module)
        case tree.Interval(direction, weak, _, left, right):
            yield f"`{'weak ' * weak}{direction}`", expr.span
            yield from _in_body(left, module)
            yield from _in_body(right, module)
        case tree.Repeated(_, body, distinct):
            yield "`repeated`", expr.span
            if distinct is not None:
                yield "`distinct`", distinct.span
                yield from _in_field(distinct)
            yield from _in_body(body, module)
        case _:
            yield from _in_condition(expr, module)


def _in_condition(expr: tree.Expr, module: Module, seen: Seen | None = None) -> Iterator[Use]:
    match expr:
        case tree.Not(body):
            yield "`not` in a condition", expr.span
            yield from _in_condition(body, module, seen)
        case tree.And(items) | tree.Or(items):
            if isinstance(expr, tree.Or):
                yield "`or` in a condition", expr.span
            for item in items:
                yield from _in_condition(item, module, seen)
        case tree.Test(field, operator, operand):
            yield from _in_field(field)
            if operator in ("~", "!~") and _is_set(operand, module):
                yield f"`{operator}` with a set", operand.span
            if field.kind == "output" and operator != "~":
                yield f"`output {operator}`", expr.span
            elif operator not in ("=", "in", "~"):
                yield f"`{operator}`", expr.span
        case tree.Has(field):
            yield from _in_field(field)
            yield "`has`", expr.span
        case tree.Entry(field, body):
            yield from _in_field(field)
            yield "`with`", expr.span
            yield from _in_condition(body, module, seen)
        case tree.ActionMatches():
            yield "`action ~`", expr.span
        case tree.Apply():
            yield from _in_application(expr, module, seen)


def _is_set(operand: tree.SetUnion | tree.Term | tree.Regex, module: Module) -> bool:
    if not isinstance(operand, tree.Name):
        return isinstance(operand, tree.SetUnion)
    found = module.find(operand.text)
    match found[1] if found is not None else None:
        case tree.Let(_, tree.SetUnion()) | tree.Param(_, "set"):
            return True
        case _:
            return False


def _in_application(apply: tree.Apply, module: Module, seen: Seen | None) -> Iterator[Use]:
    found = module.find(apply.name.text) if isinstance(apply.name, tree.Name) else None
    if found is None or not isinstance(found[1], tree.Pattern):
        for arg in apply.args or ():
            if not isinstance(arg, tree.String | tree.Number | tree.Boolean):
                yield from _in_condition(arg, module, seen)
    elif seen is not None:
        yield from _beneath(found[1], found[0], seen)
    elif found[0] is not module:
        words = [what.removesuffix(" in a condition") for what, _ in _beneath(found[1], found[0], set())]
        if words:
            yield f"{', '.join(dict.fromkeys(words))} in the pattern `{found[1].name.text}`", apply.span


def _beneath(pattern: tree.Pattern, module: Module, seen: Seen) -> Iterator[Use]:
    """The uses in a pattern and in all patterns it applies, each of them looked into once."""
    if (module, pattern.name.text) not in seen:
        seen.add((module, pattern.name.text))
        yield from _in_condition(pattern.body, module, seen)

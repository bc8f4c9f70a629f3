"""From surface syntax to the core: names resolved, patterns expanded, forms written as □Θ (Table VI)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic
from vigil_lang.semantics import core
from vigil_lang.semantics.conditions import Conditions, Failed
from vigil_lang.semantics.declarations import check_declarations, unused
from vigil_lang.semantics.forms import FORMS
from vigil_lang.semantics.meanings import Scope
from vigil_lang.semantics.metadata import Metadata, check_elsewhere, metadata
from vigil_lang.syntax import tree
from vigil_lang.syntax.print import to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vigil_lang.diagnostics import Source, Span
    from vigil_lang.semantics.forms import Form
    from vigil_lang.semantics.meanings import Values
    from vigil_lang.semantics.modules import Module

_UNITS = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_FALSE = core.OrC(())


@dataclass(frozen=True)
class Statement:
    """One statement of a policy with its meaning; `params` are those the meaning rests on."""

    name: str
    form: tree.FormName
    requirement: core.Requirement
    syntax: tree.Statement = field(repr=False)
    source: Source = field(repr=False)
    metadata: Metadata = field(default_factory=Metadata)
    params: frozenset[str] = frozenset()

    @property
    def preset(self) -> Form | None:
        """The form's row in the table; None for `always`, whose body is its own meaning."""
        return FORMS.get(self.form)

    @property
    def body(self) -> str:
        """The form as the policy wrote it, on one line."""
        return to_text(self.syntax.form if self.preset else self.syntax.form.args[0])

    def label(self, holds: core.Holds) -> str:
        """One of its conditions as the policy wrote it, on one line."""
        return to_text(self._written[holds.span])

    @cached_property
    def _written(self) -> dict[Span | None, tree.Expr]:
        return {part.expr.span: part.expr for part in parts(self.syntax)}

    @property
    def span(self) -> Span:
        """Where the statement's name stands."""
        return self.syntax.name.span


class Lowering:
    """Lowers the statements of one module; what has no meaning is reported and left out."""

    def __init__(self, module: Module, values: Values, report: Callable[[Diagnostic], None]) -> None:
        self.module = module
        self.report = report
        self.conditions = Conditions(values, report)
        self._scope = Scope(module)
        self._failed = False

    def statements(self) -> list[Statement]:
        """Every statement that resolves. Patterns that no statement uses are checked too."""
        check_elsewhere(self.module.file, self.report)
        check_declarations(self.conditions, self.module)
        self.conditions.refill()
        items = [item for item in self.module.file.items if isinstance(item, tree.Statement)]
        lowered = [statement for item in items if (statement := self._statement(item)) is not None]
        if len(lowered) == len(items):  # what seems unused may be meant where a name is not found
            for finding in unused(self.conditions, self.module):
                self.report(finding)
        return lowered

    def _statement(self, item: tree.Statement) -> Statement | None:
        source, about = self.module.source, metadata(item, self.module.source, self.report)
        self.conditions.start()
        self._failed = False
        try:
            requirement = self._requirement(item)
        except Failed:
            return None
        if self._failed:
            return None
        params = frozenset(self.conditions.terms.params)
        return Statement(item.name.text, item.form.name, requirement, item, source, about, params)

    def _requirement(self, item: tree.Statement) -> core.Requirement:
        form, after = item.form, item.after
        if form.name not in FORMS:
            if after is not None:
                message = "`after` does not apply to `always`: write `earlier` in its body"
                self.report(Diagnostic.of("VGL108", message, self.module.source, after.span))
                raise Failed
            theta = self._temporal(form.args[0])
            trigger = theta.left if isinstance(theta, core.Implies) else None
            return core.Requirement(theta, core.variables_of(theta), trigger)
        kind = FORMS[form.name]
        first, *others = (self._holds(arg, role) for arg, role in zip(form.args, kind.roles, strict=True))
        bound = self._bound(form.bound) if form.bound else None
        if kind.bound == "calls" and not isinstance(bound, core.Calls):
            span = form.bound.span if form.bound else form.span
            self.report(Diagnostic.of("VGL303", f"`{form.name}` counts calls, not time", self.module.source, span))
            raise Failed
        triggered: core.Theta = first
        if after is not None:
            triggered = core.And((first, core.Earlier(self._holds(after, "scope"))))
        theta = kind.lower(triggered, first, others, bound)
        return core.Requirement(theta, core.variables_of(theta), triggered if "trigger" in kind.roles else None)

    def _holds(self, expr: tree.Expr, role: str) -> core.Holds:
        try:
            condition = self.conditions.condition(expr, self._scope)
        except Failed:
            self._failed, condition = True, _FALSE  # the statement's other conditions are checked all the same
        return core.Holds(condition, role, expr.span)

    def _temporal(self, expr: tree.Expr) -> core.Theta:
        """The body of `always`: maximal diamond-free parts become conditions."""
        match expr:
            case tree.Diamond(direction, bound, body):
                diamond = core.Earlier if direction == "earlier" else core.Later
                return diamond(self._temporal(body), self._bound(bound) if bound else None)
            case tree.Implies(left, right):
                return core.Implies(self._temporal(left), self._temporal(right))
            case tree.Not(body) if _is_temporal(body):
                return core.Not(self._temporal(body))
            case tree.And(items) if _is_temporal(expr):
                return core.And(tuple(map(self._temporal, items)))
            case tree.Or(items) if _is_temporal(expr):
                return core.Or(tuple(map(self._temporal, items)))
            case _:
                return self._holds(expr, "condition")

    def _bound(self, bound: tree.Bound) -> core.Calls | core.Within:
        raw = bound.raw
        unit = raw.lstrip("0123456789")
        if unit in _UNITS:
            amount = int(raw[: -len(unit)][:18]) * _UNITS[unit]
            within: core.Calls | core.Within = core.Within(amount)
        elif not unit:
            amount = int(raw[:18])
            within = core.Calls(amount)
        else:
            message = f"a bound is a whole number of calls or a duration, not `{raw}`"
            self.report(Diagnostic.of("VGL303", message, self.module.source, bound.span))
            raise Failed
        if amount < 1:
            self.report(Diagnostic.of("VGL303", "a bound is at least 1", self.module.source, bound.span))
            raise Failed
        return within


@dataclass(frozen=True, slots=True)
class Part:
    """A condition of a statement as written, with what its events are to the statement.

    `role` is the form's name for it; in the body of `always`, `trigger` for what stands before `implies`, and for
    the rest `guard` or `forbidden`: whether the statement asks for such events or is broken by them.
    """

    role: str
    expr: tree.Expr


def parts(statement: tree.Statement) -> Iterator[Part]:
    """The conditions of a statement, those of `after` last; in the core each is one `Holds`."""
    form = statement.form
    if form.name not in FORMS:
        body = form.args[0]
        if isinstance(body, tree.Implies):
            yield from (Part("trigger", part.expr) for part in _parts(body.left, False))
            yield from _parts(body.right, True)
        else:
            yield from _parts(body, True)
        return
    yield from map(Part, FORMS[form.name].roles, form.args)
    if statement.after is not None:
        yield Part("scope", statement.after)


def _parts(expr: tree.Expr, wanted: bool) -> Iterator[Part]:
    if not _is_temporal(expr):
        yield Part("guard" if wanted else "forbidden", expr)
        return
    match expr:
        case tree.Not(body):
            yield from _parts(body, not wanted)
        case tree.Diamond(_, _, body):
            yield from _parts(body, wanted)
        case tree.Implies(left, right):
            yield from _parts(left, not wanted)
            yield from _parts(right, wanted)
        case tree.And(items) | tree.Or(items):
            for item in items:
                yield from _parts(item, wanted)


def _is_temporal(expr: tree.Expr) -> bool:
    match expr:
        case tree.Diamond() | tree.Implies():
            return True
        case tree.Not(body):
            return _is_temporal(body)
        case tree.And(items) | tree.Or(items):
            return any(map(_is_temporal, items))
        case _:
            return False

"""From surface syntax to the core: names resolved, patterns expanded, forms written as □Θ (Table VI)."""

from __future__ import annotations

from decimal import Decimal
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar, NoReturn, Protocol

from msgspec import field

from vigil_lang.base.node import Node
from vigil_lang.base.structs import Frozen
from vigil_lang.diagnostics import Diagnostic, nearest
from vigil_lang.semantics import core
from vigil_lang.semantics.conditions import Conditions, Failed, Spent
from vigil_lang.semantics.declarations import check_declaration
from vigil_lang.semantics.forms import FORMS, Parts
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


class Statement(Node, frozen=True, eq=False, gc=True, dict=True):
    """One statement of a policy with its meaning; `params` are those the meaning rests on."""

    _ASIDE: ClassVar[frozenset[str]] = frozenset({"origin"})

    name: str
    form: tree.FormName
    requirement: core.Requirement
    syntax: tree.Statement
    source: Source
    metadata: Metadata = field(default_factory=Metadata)
    params: frozenset[str] = frozenset()
    origin: core.Requirement | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, form={self.form!r}, requirement={self.requirement!r})"

    @property
    def meaning(self) -> core.Requirement:
        """The requirement; after edits elsewhere the very object that it was, its spans included (`Memory`)."""
        return self.requirement if self.origin is None else self.origin

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

    def place_of(self, holds: core.Holds) -> Span | None:
        """Where a condition of its `meaning` is written."""
        both = zip(core.conditions(self.meaning.theta), core.conditions(self.requirement.theta), strict=True)
        return next((now.span for then, now in both if then is holds), None)

    @property
    def span(self) -> Span:
        """Where the statement's name stands."""
        return self.syntax.name.span


Statement.requirement = tree.MovedField(Statement.__dict__["requirement"])  # type: ignore[assignment]  # it reads the field


class Recalled(Protocol):
    """What is still true of an earlier text of a module (`memory.Recollection`)."""

    def recalls(self, item: tree.Item, conditions: Conditions) -> Statement | bool:
        """A statement that is known, or True of another item that is; False where nothing is known."""

    def remember(self, item: tree.Item, statement: Statement | None, used: frozenset[str], spent: Spent) -> None:
        """Keep what was found of an item of which there was nothing to say."""

    @property
    def used(self) -> set[str]:
        """The names that what was known uses."""


class _Said:
    """Whether something was said; no part of the lowering, which would hold itself through it."""

    def __init__(self, report: Callable[[Diagnostic], None]) -> None:
        self.nothing = True
        self._report = report

    def report(self, finding: Diagnostic) -> None:
        self.nothing = False
        self._report(finding)


class Lowering:
    """Lowers the statements of one module; what has no meaning is reported and left out.

    What is still true of an earlier text of the module is `recalled`.
    """

    def __init__(
        self,
        module: Module,
        values: Values,
        report: Callable[[Diagnostic], None],
        recalled: Recalled | None = None,
    ) -> None:
        self.module = module
        self._said = _Said(report)
        self.report = self._said.report
        self.conditions = Conditions(values, self.report)
        self._recalled = recalled
        self._scope = Scope(module)
        self._failed = False

    def statements(self) -> list[Statement]:
        """Every statement that resolves. Patterns that no statement uses are checked too."""
        check_elsewhere(self.module.file, self.report)
        for declaration in self.module.own.values():
            self._once(declaration, partial(check_declaration, self.conditions, declaration, self.module))
        self.conditions.refill()
        items = [item for item in self.module.file.items if isinstance(item, tree.Statement)]
        found = [one for item in items if (one := self._once(item, partial(self.statement, item))) is not None]
        if self._recalled is not None:
            self.conditions.terms.used.update([(self.module, name) for name in self._recalled.used])
        return found

    def _once(self, item: tree.Item, find: Callable[[], Statement | None]) -> Statement | None:
        """What is known of an item, or else what is found, which is kept where there is nothing to say of it."""
        if self._recalled is None:
            return find()
        known = self._recalled.recalls(item, self.conditions)
        if known:
            return known if isinstance(known, Statement) else None
        terms, before = self.conditions.terms, self.conditions.left
        used, terms.used, self._said.nothing, terms.left_open = terms.used, set(), True, False
        found = find()
        if self._said.nothing and not terms.left_open:
            mine = frozenset([name for module, name in terms.used if module is self.module])
            left = self.conditions.left
            spent = Spent(before.conditions - left.conditions, before.elements - left.elements)
            self._recalled.remember(item, found, mine, spent)
        terms.used |= used
        return found

    def statement(self, item: tree.Statement) -> Statement | None:
        """One statement; None where it has no meaning."""
        source, about = self.module.source, metadata(item, self.module.source, self.report)
        self.conditions.start("statement")
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
        form = item.form
        if form.name not in FORMS:
            return self._always(item)
        kind = FORMS[form.name]
        first, *others = (self._holds(arg, role) for arg, role in zip(form.args, kind.roles, strict=True))
        at_zero = "what must never happen is `abs(…)`" if form.name == "atmost" else None
        bound = self._bound(form.bound, at_zero) if form.bound else None
        if kind.bound == "count" and not (isinstance(bound, core.Calls) and bound.least == 0):
            span = form.bound.span if form.bound else form.span
            self.report(Diagnostic.of("VGL303", f"`{form.name}` takes a number of calls", self.module.source, span))
            raise Failed
        given = Parts(
            first,
            others,
            self._scope_of(item),
            bound=bound,
            count=bound.count if isinstance(bound, core.Calls) else 0,
            limit=self._limit(form),
            field=None if form.field is None else self.conditions.counted(form.field, self._scope),
            window=None if form.window is None else self._bound(form.window),
            reset=None if form.since is None else self._holds(form.since, "reset"),
        )
        theta = kind.lower(given)
        trigger: core.Theta | None = given.triggered if "trigger" in kind.roles else None
        if isinstance(theta, core.Implies) and kind.roles == ("counted",) and given.scope:
            trigger = theta.left
        return self._checked(core.Requirement(theta, core.variables_of(theta), trigger), item)

    def _always(self, item: tree.Statement) -> core.Requirement:
        theta, scope = self._temporal(item.form.args[0]), self._scope_of(item)
        if scope and isinstance(theta, core.Implies):
            theta = core.Implies(core.And((theta.left, *scope)), theta.right)
        elif scope:
            theta = core.Implies(core.And(scope) if scope[1:] else scope[0], theta)
        trigger = theta.left if isinstance(theta, core.Implies) else None
        return self._checked(core.Requirement(theta, core.variables_of(theta), trigger), item)

    def _scope_of(self, item: tree.Statement) -> tuple[core.Theta, ...]:
        """What `after` and `where` ask for."""
        found: list[core.Theta] = []
        if item.after is not None:
            found.append(core.Earlier(self._holds(item.after, "scope")))
        if item.where is not None:
            condition = self.conditions.of_variables(item.where, self._scope)
            found.append(core.Where(condition, span=item.where.span))
        return tuple(found)

    def _checked(self, requirement: core.Requirement, item: tree.Statement) -> core.Requirement:
        """`where` tests variables of the statement, and nothing else."""
        held = [t for holds in core.conditions(requirement.theta) for t in core.tests(holds.condition)]
        known = {t.variable for t in held if isinstance(t, core.OF_VARIABLES)}
        unknown = [x for x in requirement.variables if x not in known]
        if unknown and item.where is not None:
            near = nearest(unknown[0], known, 1)
            message = f"`where` tests `{unknown[0]}`, which is no variable of the statement"
            help_text = f"did you mean `{near[0]}`?" if near else "a variable is a name that a test compares with"
            self.report(Diagnostic.of("VGL215", message, self.module.source, item.where.span, help=help_text))
            raise Failed
        return requirement

    def _limit(self, form: tree.Form) -> Decimal:
        if form.limit is None:
            return Decimal(0)
        found = self.conditions.terms.number(form.limit, self._scope)
        if isinstance(found, Decimal) and found >= 0:
            return found
        message = "the limit of a budget is a number, and not negative"
        self.report(Diagnostic.of("VGL303", message, self.module.source, form.limit.span))
        raise Failed

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
            case tree.Interval(direction, weak, bound, left, right):
                interval = core.Since if direction == "since" else core.Until
                limit = self._bound(bound) if bound else None
                return interval(self._temporal(left), self._temporal(right), limit, weak)
            case tree.Repeated(bound, body, distinct):
                count = self._bound(bound)
                if not isinstance(count, core.Calls) or count.least:
                    message = "`repeated` takes a number of calls"
                    self.report(Diagnostic.of("VGL303", message, self.module.source, bound.span))
                    raise Failed
                field = None if distinct is None else self.conditions.counted(distinct, self._scope)
                return core.Repeated(count.count, self._temporal(body), distinct=field)
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

    def _bound(self, bound: tree.Bound, at_zero: str | None = None) -> core.Calls | core.Steps | core.Within:
        """`3`, `3 calls`, `2 steps`, `30s`, `1..3`, `1..`, `10s..1m`: the least distance and the most."""
        limits, _, unit = bound.raw.partition(" ")
        first, dots, second = limits.partition("..")
        least, most = (first, second) if dots else ("0", first)
        in_time = [limit.lstrip("0123456789") in _UNITS for limit in (least, most) if limit.strip("0")]
        if any(in_time) and (unit or not all(in_time)):
            self._refuse_bound(bound, f"a bound is in calls, in steps or in time, not `{bound.raw}`")
        start, end = self._amount(least, bound), self._amount(most, bound) if most else core.FAR
        if end < 1:
            self._refuse_bound(bound, "a bound is at least 1", at_zero)
        if start > end:
            self._refuse_bound(bound, "a bound goes from the smaller distance to the larger")
        if any(in_time):
            return core.Within(end, start)
        return core.Steps(end, start) if unit.startswith("step") else core.Calls(end, start)

    def _amount(self, limit: str, bound: tree.Bound) -> int:
        digits = limit.rstrip("msdh")
        unit = limit[len(digits) :]
        if unit and unit not in _UNITS:
            self._refuse_bound(bound, f"a bound is a whole number of calls or a duration, not `{bound.raw}`")
        if not digits.isdecimal():
            self._refuse_bound(bound, f"a bound is a whole number of calls or a duration, not `{bound.raw}`")
        return min(int(digits[:18]) * _UNITS.get(unit, 1), core.FAR)

    def _refuse_bound(self, bound: tree.Bound, message: str, help_text: str | None = None) -> NoReturn:
        self.report(Diagnostic.of("VGL303", message, self.module.source, bound.span, help=help_text))
        raise Failed


class Part(Frozen, frozen=True):
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
        if statement.after is not None:
            yield Part("scope", statement.after)
        return
    yield from map(Part, FORMS[form.name].roles, form.args)
    if form.since is not None:
        yield Part("reset", form.since)
    if statement.after is not None:
        yield Part("scope", statement.after)


def _parts(expr: tree.Expr, wanted: bool) -> Iterator[Part]:
    if not _is_temporal(expr):
        yield Part("guard" if wanted else "forbidden", expr)
        return
    match expr:
        case tree.Not(body):
            yield from _parts(body, not wanted)
        case tree.Diamond(_, _, body) | tree.Repeated(_, body):
            yield from _parts(body, wanted)
        case tree.Interval(_, _, _, left, right):
            yield from _parts(left, wanted)
            yield from _parts(right, wanted)
        case tree.Implies(left, right):
            yield from _parts(left, not wanted)
            yield from _parts(right, wanted)
        case tree.And(items) | tree.Or(items):
            for item in items:
                yield from _parts(item, wanted)


def _is_temporal(expr: tree.Expr) -> bool:
    match expr:
        case tree.Diamond() | tree.Implies() | tree.Interval() | tree.Repeated():
            return True
        case tree.Not(body):
            return _is_temporal(body)
        case tree.And(items) | tree.Or(items):
            return any(map(_is_temporal, items))
        case _:
            return False

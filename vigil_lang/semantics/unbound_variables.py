"""VGL320: which variables of a statement nothing binds, why that is so, and how to bind each in that very statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, nearest
from vigil_lang.diagnostics.shorten import cut
from vigil_lang.semantics import core
from vigil_lang.semantics.lower import parts
from vigil_lang.semantics.meanings import Scope
from vigil_lang.semantics.mentions import first_mention
from vigil_lang.semantics.range_restriction import bound_by, unbound
from vigil_lang.semantics.text_patterns import quote
from vigil_lang.syntax import tree
from vigil_lang.syntax.print import to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vigil_lang.diagnostics import Span
    from vigil_lang.semantics.conditions import Conditions
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.modules import Module

_MOST = 20
"""Variables of one statement that are reported."""

_LONGEST = 60
"""Characters of a condition that a message shows."""

_LABELS = {"trigger": "the trigger", "forbidden": "what is forbidden", "scope": "`after`"}

Node: TypeAlias = core.Theta | core.Condition


class _Part(NamedTuple):
    """A part of a statement, in the core and as written; `label` is what a message calls it.

    What is `required` holds whenever the statement is broken; the lack of any other part is what breaks it.
    """

    label: str
    node: core.Theta
    expr: tree.Expr
    required: bool


class _Way(NamedTuple):
    """A part of a statement that is true, or false, when the statement is broken."""

    node: Node
    expr: tree.Expr
    true: bool


def check(statement: Statement, module: Module, conditions: Conditions, report: Callable[[Diagnostic], None]) -> bool:
    """Whether a statement is range-restricted; each variable that nothing binds is reported."""
    found = unbound(statement.requirement)
    for variable in found[:_MOST]:
        conditions.start()
        report(_finding(variable, found, statement, module, conditions))
    return not found


def _finding(
    variable: str, unbound: tuple[str, ...], statement: Statement, module: Module, conditions: Conditions
) -> Diagnostic:
    place = first_mention(statement, variable, module, conditions)
    source, span = (module.source, statement.span) if place is None else (place.source, place.span)
    message, help_text = _explained(variable, statement, Scope(module), conditions)
    compared = all(isinstance(test, core.ComparesWith) for test in _tests(statement.requirement.theta, variable))
    known = [x for x in statement.requirement.variables if x not in unbound]
    near = nearest(variable, [*known, *(module.names() if compared else ())], 1)
    # A pattern may mean something else to other statements, so it is left as it is.
    whole, edit = statement.syntax.span, None
    here = source is module.source and whole.holds(span)
    once = here and len(_tests(statement.requirement.theta, variable)) == 1
    if near:
        help_text = f"did you mean `{near[0]}`{', which is bound' if near[0] in known else ''}?"
        if once and source.text[span.start : span.end] == variable:
            edit = Edit(span, near[0])
    elif compared:
        help_text = (
            f"a name that is not declared is a variable; declare it with `let {variable} = …`, or bind it by `=`"
        )
    elif once and len(lone := [x for x in known if len(_tests(statement.requirement.theta, x)) == 1]) == 1:
        # Two variables that join nothing: the one was meant to be the other, or each a text.
        help_text = f"`{lone[0]}` occurs only once, too: one variable joins two events, as `{lone[0]}` in both places"
        if source.text[span.start : span.end] == variable:
            edit = Edit(span, lone[0])
    elif once and (test := _affirmed(statement, span)) is not None:
        edit = Edit(test.span, to_text(tree.Has(test.field)))
        help_text += f"; any value is `{edit.text}`, a text `{quote(variable)}`"
    else:
        help_text += f"; a text is written `{quote(variable)}`"
    fix = None if edit is None else Fix(f"write `{edit.text}`", (edit,))
    return Diagnostic.of("VGL320", message, source, span, help=help_text, fix=fix)


def _tests(theta: core.Theta, variable: str) -> list[core.Equals | core.Contains | core.ComparesWith]:
    """The tests of a variable, each once: the core has a resolution and what `atmost` counts twice."""
    conditions = {id(holds.condition): holds.condition for holds in core.conditions(theta)}.values()
    found = [test for condition in conditions for test in core.tests(condition)]
    return [t for t in found if isinstance(t, core.OF_VARIABLES) and t.variable == variable]


def _affirmed(statement: Statement, span: Span) -> tree.Test | None:
    """The test `k = x` with its operand at a span, where no `not` of its condition turns it round."""
    waiting: list[object] = [part.expr for part in parts(statement.syntax)]
    while waiting:
        match waiting.pop():
            case tree.Test(_, "=", operand) as test if operand.span == span:
                return test
            case tree.And(items) | tree.Or(items) | tree.Apply(_, tuple(items)):
                waiting += items
    return None


# --- why, and what to do -----------------------------------------------------------------------------------


def _explained(variable: str, statement: Statement, scope: Scope, conditions: Conditions) -> tuple[str, str]:
    """Why nothing binds a variable, and how to bind it."""
    nothing, form, args = f"nothing binds `{variable}`", statement.preset, statement.syntax.form.args
    found = list(_parts_of(statement))
    ways = (
        [_Way(_unscoped(statement), args[0], False)]
        if form is None
        else [_Way(part.node, part.expr, True) for part in found if part.required]
    )
    gaps = (_gap(way, variable, scope, conditions)[1] for way in ways)
    gap = next((gap for gap in gaps if gap is not None), None)
    if gap is not None:
        lacking = f"{nothing} where `{_short(gap.expr)}` {'holds' if gap.true else 'does not hold'}"
        return lacking, f"bind it there too, as in `… = {variable}`"
    implication = isinstance(args[0], tree.Implies)
    if form is None:
        where = "before `implies`" if implication else "at the same event"
    else:
        where = " or ".join(f"in {_LABELS[role]}" for role in form.roles if role in _LABELS) or "in `after`"
    for part in found:
        kinds = _kinds(part.node, True, variable) if part.required else set()
        if kinds:
            words = " and ".join(f"`{word}`" for word in (*sorted(kinds - {"not"}), *(kinds & {"not"})))
            message = f"{nothing}: in {part.label}, {words} {'give' if len(kinds) > 1 else 'gives'} it no value"
            before = f"{'earlier' if form is None else 'after'} output = {variable}"
            example = f", as in `{before}`" if statement.syntax.after is None else ""
            return message, f"bind it by `=` {where} or at an event before{example}"
    asked = next(part for part in found if variable in core.variables_of(part.node))
    message = f"{nothing}, so {asked.label} would have to hold for every value of it"
    if form is None and not implication:
        return message, f"bind it by `=`, as in `always … = {variable} implies …`"
    if form is not None and asked.label == "the counted":
        message = f"{nothing}, so the count would have to be reached for every value of it"
        return message, "bind it by `=` in `after`"
    return message, f"bind it by `=` {where}, as in `{_triggered(variable, found[0], asked, scope, conditions)}`"


def _parts_of(statement: Statement) -> Iterator[_Part]:
    theta, syntax = statement.requirement.theta, statement.syntax
    held = {holds.role: holds for holds in core.conditions(theta)}
    if statement.preset is None:
        yield from _parts_of_body(_unscoped(statement), syntax.form.args[0], False)
        if syntax.after is not None:
            yield _Part(_LABELS["scope"], held["scope"], syntax.after, True)
        return
    for part in parts(syntax):
        required = part.role in _LABELS
        yield _Part(_LABELS.get(part.role, f"the {part.role}"), held[part.role], part.expr, required)


def _unscoped(statement: Statement) -> core.Theta:
    """The body of `always` as it is written, without what `after` and `where` add to it."""
    theta, syntax = statement.requirement.theta, statement.syntax
    if syntax.after is None and syntax.where is None:
        return theta
    match theta, syntax.form.args[0]:
        case core.Implies(core.And((left, *_)), right), tree.Implies():
            return core.Implies(left, right)
        case core.Implies(_, body), _:
            return body
        case _:
            return theta


def _parts_of_body(theta: core.Theta, expr: tree.Expr, true: bool) -> Iterator[_Part]:
    match theta, expr:
        case ((core.Earlier(body) | core.Later(body)), tree.Diamond()) if true:
            yield from _parts_of_body(body, expr.body, True)
        case core.Not(body), tree.Not(negated):
            yield from _parts_of_body(body, negated, not true)
        case ((core.And(items) | core.Or(items)), (tree.And(exprs) | tree.Or(exprs))):
            for item, inner in zip(items, exprs, strict=True):
                yield from _parts_of_body(item, inner, true)
        case core.Implies(left, right), tree.Implies(premise, conclusion):
            yield from _parts_of_body(left, premise, not true)
            yield from _parts_of_body(right, conclusion, true)
        case _:
            yield _Part(f"`{_short(expr)}`", theta, expr, true)


def _split(way: _Way) -> list[_Way]:
    """What a connective or a call joins, each with whether it is to be true; nothing of what joins nothing."""
    match _condition(way.node), way.expr:
        case ((core.Not(body) | core.NotC(body)), tree.Not(negated)):
            return [_Way(body, negated, not way.true)]
        case (
            (core.And(items) | core.Or(items) | core.AndC(items) | core.OrC(items)),
            (tree.And(exprs) | tree.Or(exprs)),
        ):
            return [_Way(item, expr, way.true) for item, expr in zip(items, exprs, strict=True)]
        case core.Implies(left, right), tree.Implies(premise, conclusion):
            return [_Way(left, premise, not way.true), _Way(right, conclusion, way.true)]
        case core.AndC((_, *items)), tree.Apply(_, tuple(args)):
            exprs = tuple([arg for arg in args if not isinstance(arg, tree.String | tree.Number | tree.Boolean)])
            return [_Way(item, expr, way.true) for item, expr in zip(items, exprs, strict=True)]
        case _:
            return []


def _condition(node: Node) -> Node:
    return node.condition if isinstance(node, core.Holds) else node


def _gap(way: _Way, variable: str, scope: Scope, conditions: Conditions) -> tuple[bool, _Way | None]:
    """Whether a way to break a statement binds a variable.

    If it does not: the alternative that binds none though another does, where that is why.
    """
    node, expr, true = way
    if isinstance(expr, tree.Apply) and (pattern := conditions.pattern_of(expr, scope)) is not None:
        inside = conditions.inside(expr, pattern[1], pattern[0], scope)
        return _gap(_Way(node, pattern[1].body, true), variable, inside, conditions)
    if isinstance(node, core.Earlier | core.Later) and isinstance(expr, tree.Diamond) and true:
        return _gap(_Way(node.body, expr.body, True), variable, scope, conditions)
    joined = _split(way)
    if not joined:
        return variable in bound_by(node, true, frozenset({variable})), None
    found = [_gap(part, variable, scope, conditions) for part in joined]
    any_binds = any(binds for binds, _ in found)
    if _is_choice(way):
        lacking = [part for part, (binds, _) in zip(joined, found, strict=True) if not binds]
        if isinstance(expr, tree.Apply):  # that the call is another one is a way, too
            lacking.append(way)
        if not lacking:
            return True, None
    elif any_binds:
        return True, None
    gap = next((gap for binds, gap in found if not binds and gap is not None), None)
    if gap is None and any_binds:
        gap = lacking[0]
        while isinstance(gap.expr, tree.Not):
            (gap,) = _split(gap)
    return False, gap


def _is_choice(way: _Way) -> bool:
    """Whether one of what is joined is enough."""
    match _condition(way.node):
        case core.Or() | core.OrC() | core.Implies():
            return way.true
        case core.And() | core.AndC():
            return not way.true
        case _:
            return False


def _kinds(node: Node, true: bool, variable: str) -> set[str]:
    """The words that keep the tests of a variable from binding it in a condition that is true, or false."""
    match node:
        case core.Holds(condition):
            return _kinds(condition, true, variable)
        case core.AndC(items) | core.OrC(items):
            return {kind for item in items for kind in _kinds(item, true, variable)}
        case core.NotC(body):
            return _kinds(body, not true, variable)
        case core.Equals(_, x) | core.Contains(_, x) | core.ComparesWith(_, _, x) if x == variable:
            if not true:
                return {"not"}
            if isinstance(node, core.ComparesWith):
                return {node.operator}
            return {"contains"} if isinstance(node, core.Contains) else set()
        case _:
            return set()


def _short(expr: tree.Expr) -> str:
    return cut(to_text(expr), _LONGEST)


def _triggered(variable: str, first: _Part, asked: _Part, scope: Scope, conditions: Conditions) -> str:
    """The trigger with a test that binds the variable, where it is one call that says nothing of that argument."""
    call, reads = first.expr, _tests(asked.node, variable)[0].field
    said = [test for holds in core.conditions(first.node) for test in core.tests(holds.condition)]
    if (
        not first.required
        or not isinstance(call, tree.Apply)
        or conditions.pattern_of(call, scope) is not None
        or reads.views
        or any(getattr(test, "field", None) == reads for test in said)
    ):
        return f"… = {variable}"
    field = tree.Field(reads.name, "output" if reads.output else "argument")
    return to_text(tree.Apply(call.name, (*(call.args or ()), tree.Test(field, "=", tree.Name(variable)))))

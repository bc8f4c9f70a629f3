"""Range restriction: every way to violate a statement binds each of its variables by an equality (spec 7.11).

`contains x` and negated tests look at a value that something else has to give; only `k = x` gives one. A statement
some of whose variables nothing binds would ask about every text there is: its verdict on an event could change with
whatever values turn up later, so it is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, nearest
from vigil_lang.semantics import core
from vigil_lang.semantics.mentions import first_mention, test_at
from vigil_lang.semantics.text import quote
from vigil_lang.syntax import tree
from vigil_lang.syntax.print import to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vigil_lang.semantics.conditions import Conditions
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.modules import Module

_MOST = 20
"""Variables of one statement that are reported."""

Variables: TypeAlias = frozenset[str]
_NONE: Variables = frozenset()


def unbound(requirement: core.Requirement) -> tuple[str, ...]:
    """The variables that some way to violate a requirement leaves without a value, in order of appearance."""
    if not requirement.variables:
        return ()
    bound = _bound(requirement.theta, False, frozenset(requirement.variables))
    return tuple([x for x in requirement.variables if x not in bound])


def _bound(node: core.Theta | core.Condition, true: bool, everything: Variables) -> Variables:
    """The variables that get a value however a body or condition comes to be true (or false).

    `everything` is what a thing binds that can never be so.
    """
    match node:
        case core.Equals(_, x):
            return frozenset({x}) if true else _NONE
        case core.Holds(condition):
            return _bound(condition, true, everything)
        case core.Not(body) | core.NotC(body):
            return _bound(body, not true, everything)
        case core.And(items) | core.AndC(items):
            return (_some if true else _each)([_bound(item, true, everything) for item in items], everything)
        case core.Or(items) | core.OrC(items):
            return (_each if true else _some)([_bound(item, true, everything) for item in items], everything)
        case core.Implies(left, right):
            sides = [_bound(left, not true, everything), _bound(right, true, everything)]
            return (_each if true else _some)(sides, everything)
        # What an event elsewhere met is found at that event; that no event met it may be because there is none.
        case core.Earlier(body) | core.Later(body) | core.Repeated(_, body):
            return _bound(body, True, everything) if true else _NONE
        case core.Clear(_, forbidden):
            return _NONE if true else _bound(forbidden, True, everything)
        case _:
            return _NONE


def _some(parts: list[Variables], _: Variables) -> Variables:
    return frozenset[str]().union(*parts)


def _each(parts: list[Variables], everything: Variables) -> Variables:
    return everything.intersection(*parts)


# --- what is said about it ---------------------------------------------------------------------------------


def check(statement: Statement, module: Module, conditions: Conditions, report: Callable[[Diagnostic], None]) -> bool:
    """Whether a statement is range-restricted; what is not is reported (VGL320), each variable with how to bind it."""
    found = unbound(statement.requirement)
    for variable in found[:_MOST]:
        report(_finding(variable, found, statement, module, conditions))
    return not found


def _finding(
    variable: str, unbound: tuple[str, ...], statement: Statement, module: Module, conditions: Conditions
) -> Diagnostic:
    conditions.start()
    place = first_mention(statement, variable, module, conditions)
    source, span = (module.source, statement.span) if place is None else (place.source, place.span)
    tests = [
        (holds.role, test)
        for holds in core.conditions(statement.requirement.theta)
        for test in core.tests(holds.condition)
        if isinstance(test, core.Equals | core.Contains) and test.variable == variable
    ]
    once = len({id(test) for _, test in tests}) == 1  # the core has a resolution twice
    written = source is module.source and source.text[span.start : span.end] == variable
    near = nearest(variable, [x for x in statement.requirement.variables if x not in unbound], 1)
    test = test_at(module.file.items, span) if written else None
    fix = None
    if near:
        help_text = f"did you mean `{near[0]}`, which is bound?"
        if written and once:
            fix = Fix(f"write `{near[0]}`", (Edit(span, near[0]),))
    elif test is not None and isinstance(test.operand, tree.Name) and test.operator == "=":
        anything = to_text(tree.Has(test.field))
        help_text = f"{_how(variable, statement)}; any value is `{anything}`, a text {_text(variable)}"
        if once:
            fix = Fix(f"write `{anything}`", (Edit(test.span, anything),))
    else:
        help_text = f"{_how(variable, statement)}; a text is written {_text(variable)}"
    return Diagnostic.of("VGL320", _message(variable, tests), source, span, help=help_text, fix=fix)


def _text(variable: str) -> str:
    return f"`{quote(variable)}`"


def _how(variable: str, statement: Statement) -> str:
    where = "the trigger" if statement.requirement.trigger is not None else "what it forbids"
    return f"bind it by an argument, as in `… = {variable}`, in {where}"


def _message(variable: str, tests: Iterable[tuple[str, core.Test]]) -> str:
    """Why nothing binds a variable: by the places where it is tested."""
    roles = dict.fromkeys(role for role, _ in tests)
    if all(isinstance(test, core.Contains) for _, test in tests):
        return f"nothing binds `{variable}`: `contains` looks for a value that something else has to give"
    asked = [role for role in roles if role in ("guard", "response", "resolution", "resolver")]
    if len(asked) == len(roles):
        return f"nothing binds `{variable}`, so the {asked[0]} would have to hold for every value of it"
    return f"some way to break this leaves `{variable}` without a value"

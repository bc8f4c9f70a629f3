"""Conditions of the intermediate form as expressions, written as people write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from vigil_lang.draft.building import operands
from vigil_lang.draft.building.operands import KEYWORDS, Unbuildable, readable
from vigil_lang.semantics.views import path_steps
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.draft.clause_result import Case, Condition, Requirement, Test, View

MAX_CASES = 20
MAX_TESTS = 30
MAX_VALUES = 100
MAX_VIEWS = 5

_Node = TypeVar("_Node")
_VARIABLE = re.compile(r"[a-z][a-z0-9_]{0,30}")
_OF_ACTIONS = frozenset({"is", "glob", "regex"})
_TIES = {"same": "=", "mentions": "contains"}
_ORDER = frozenset({"<", "<=", ">", ">="})
_ONE_PATTERN = frozenset({"unlike_glob", "unlike_regex"})
_NAMED = frozenset({"argument", "variable"})
_SEARCHING = frozenset({"find", "without"})


class Builder:
    """Builds the conditions of one requirement, whose variables must differ from the names that it speaks of."""

    def __init__(self, requirement: Requirement) -> None:
        since = None if requirement.counting is None else requirement.counting.since
        wholes = (requirement.trigger, requirement.guard, requirement.forbidden, requirement.after, since)
        tests = [test for whole in wholes if whole is not None for case in whole.any for test in case.all]
        self._names = {test.argument for test in tests} | KEYWORDS
        for test in tests:
            if test.of == "action" and test.test == "is":
                self._names.update(test.values)

    def condition(self, condition: Condition, part: str) -> tree.Expr:
        """The expression; `part` is what messages call it.

        Raises:
            Unbuildable: a test of it cannot be written in the language.
        """
        _within(condition.any, MAX_CASES, f"{part}: the condition", "cases")
        cases = [self._case(case, f"{part}, case {n}") for n, case in enumerate(condition.any, 1)]
        return _joined(tree.Or, cases)

    def _case(self, case: Case, place: str) -> tree.Expr:
        """A call where one test says which action it is, with the others between its brackets; else a conjunction."""
        _within(case.all, MAX_TESTS, f"{place}: the case", "tests")
        in_where = place.startswith("where")
        called: tree.Name | tree.String | None = None
        inside: list[tree.Expr] = []
        outside: list[tree.Expr] = []
        for number, test in enumerate(case.all, 1):
            try:
                if (test.of == "variable") != in_where:
                    raise Unbuildable("`where` tests variables, and nothing else does")
                if called is None and _calls(test):
                    called = operands.name(_text(test, test.values[0]))
                elif test.of == "action":
                    outside += self._test(test)
                else:
                    inside += self._test(test)
            except Unbuildable as error:
                raise Unbuildable(f"{place}, test {number} ({_shown(test)}): {error}") from None
        if called is None:
            return _joined(tree.And, [*outside, *inside])
        return _joined(tree.And, [tree.Apply(called, tuple(_distinct(inside))), *outside])

    def _test(self, test: Test) -> list[tree.Expr]:
        """What stands for a test: one expression, or several that hold together."""
        self._check(test)
        alternatives = _distinct(self._alternatives(test))
        if not test.negated:
            return [_joined(tree.Or, alternatives)]
        return [tree.Not(alternative) for alternative in alternatives]

    def _check(self, test: Test) -> None:
        """Refuse what no test of its kind can be."""
        if (test.of in _NAMED) != bool(test.argument):
            raise Unbuildable("`argument` names what is read where `of` is `argument`, and is empty elsewhere")
        readable(test.argument, "the name of the argument")
        if test.views and test.of in ("action", "status"):
            raise Unbuildable(f"`{test.of}` has no views")
        if len(test.views) > MAX_VIEWS:
            raise Unbuildable(f"it has more than {MAX_VIEWS} views")
        if test.of == "action" and test.test not in _OF_ACTIONS:
            raise Unbuildable(f"an action is tested by `is`, `glob` or `regex`, not by `{test.test}`")
        if test.of == "status" and (test.test != "is" or test.values not in (("ok",), ("error",))):
            raise Unbuildable("a status is tested by `is`, with one value, `ok` or `error`")
        if test.test == "present":
            if test.values:
                raise Unbuildable("`present` takes no values")
            return
        if not test.values:
            raise Unbuildable(f"`{test.test}` needs a value")
        if len(test.values) > MAX_VALUES:
            raise Unbuildable(f"it has more than {MAX_VALUES} values")
        if len(test.values) > 1 and (test.test in _ORDER or test.test in _TIES or test.test in _ONE_PATTERN):
            raise Unbuildable(f"`{test.test}` takes one value")

    def _alternatives(self, test: Test) -> Iterator[tree.Expr]:
        values = [_text(test, value) for value in test.values]
        if test.of == "action":
            yield from _of_action(test, values)
            return
        if test.of == "status":
            yield tree.StatusIs("ok" if values == ["ok"] else "error")
            return
        field = self._field(test)
        match test.test:
            case "present":
                yield tree.Has(field)
            case "is" | "other_than":
                yield _equals(field, values, negated=test.test == "other_than")
            case "glob" | "unlike_glob":
                for value in values:
                    yield _like(field, value, negated=test.test == "unlike_glob")
            case "regex" | "unlike_regex":
                operator: tree.Operator = "!~" if test.test == "unlike_regex" else "~"
                yield from (tree.Test(field, operator, operands.regex(value)) for value in values)
            case "contains":
                yield from (tree.Test(field, "contains", _part(value)) for value in values)
            case "same" | "mentions":
                tie: tree.Operator = "=" if test.test == "same" else "contains"
                yield tree.Test(field, tie, self._variable(values[0]))
            case "<" | "<=" | ">" | ">=":
                between = test.of == "variable" and _VARIABLE.fullmatch(values[0]) is not None
                yield tree.Test(field, test.test, self._variable(values[0]) if between else operands.limit(values[0]))

    def _field(self, test: Test) -> tree.Field:
        views = tuple(map(_view, test.views))
        match test.of:
            case "output":
                return tree.Field("output", "output", views)
            case "variable":
                return tree.Field(self._variable(test.argument).text, "argument", views)
            case _:
                return tree.Field(operands.raw(test.argument), "argument", views)

    def _variable(self, name: str) -> tree.Name:
        if not _VARIABLE.fullmatch(name):
            raise Unbuildable(f"`{name}` is no variable: that is a short word in lower case, such as `x`")
        if name in self._names:
            raise Unbuildable(f"the variable `{name}` has the name of an action, an argument or a keyword; call it `x`")
        return tree.Name(name)


def _view(view: View) -> tree.View:
    """A view with its argument, if it takes one."""
    name = tree.Name(view.view)
    if view.view in _SEARCHING:
        return tree.View(name, operands.regex(readable(view.argument, "the argument of a view")))
    if view.view != "json":
        if view.argument:
            raise Unbuildable(f"the view `{view.view}` takes no argument")
        return tree.View(name)
    try:
        path_steps(readable(view.argument, "the argument of a view"))
    except ValueError as error:
        raise Unbuildable(str(error)) from None
    return tree.View(name, tree.String(operands.raw(view.argument)))


def _of_action(test: Test, values: Sequence[str]) -> Iterator[tree.Expr]:
    match test.test:
        case "is" if len(values) == 1:
            yield tree.ActionIs(operands.name(values[0]))
        case "is":
            names = tuple(_distinct([operands.name(value) for value in values]))
            yield tree.ActionIn(tree.SetUnion((tree.SetLiteral(names),)))
        case "glob":
            for value in values:
                pattern = operands.glob(value)
                name = operands.name(operands.unescaped_glob(value))
                yield tree.ActionIs(name) if pattern is None else tree.ActionMatches(pattern)
        case _:
            yield from (tree.ActionMatches(operands.regex(value)) for value in values)


def _equals(field: tree.Field, values: Sequence[str], *, negated: bool) -> tree.Expr:
    literals = tuple(_distinct([operands.literal(value) for value in values]))
    if len(literals) == 1:
        return tree.Test(field, "!=" if negated else "=", literals[0])
    return tree.Test(field, "not in" if negated else "in", tree.SetUnion((tree.SetLiteral(literals),)))


def _like(field: tree.Field, value: str, *, negated: bool) -> tree.Expr:
    """A test by a glob; one without a wildcard is a text to be equal to."""
    pattern = operands.glob(value)
    if pattern is None:
        return _equals(field, [operands.unescaped_glob(value)], negated=negated)
    return tree.Test(field, "!~" if negated else "~", pattern)


def _part(value: str) -> tree.String:
    if not value:
        raise Unbuildable("nothing contains the empty text")
    return tree.String(operands.raw(value))


def _calls(test: Test) -> bool:
    """Whether a test says which one action it is."""
    return (
        test.of == "action" and test.test == "is" and len(test.values) == 1 and not test.negated and not test.argument
    )


def _text(test: Test, value: str) -> str:
    if test.of == "action" and not value:
        raise Unbuildable("the name of an action is empty")
    return readable(value, "a value")


def _joined(kind: type[tree.And] | type[tree.Or], items: Sequence[tree.Expr]) -> tree.Expr:
    """The items as one expression: flat, each once, and bare where there is one."""
    flat: list[tree.Expr] = []
    for item in items:
        flat += item.items if isinstance(item, kind) else (item,)
    distinct = tuple(_distinct(flat))
    return distinct[0] if len(distinct) == 1 else kind(distinct)


def _distinct(items: Iterable[_Node]) -> list[_Node]:
    """The items in order, each once; trees are equal where they say the same."""
    return list(dict.fromkeys(items))


def _within(items: Sequence[object], most: int, what: str, of: str) -> None:
    if not items:
        raise Unbuildable(f"{what} has no {of}")
    if len(items) > most:
        raise Unbuildable(f"{what} has more than {most} {of}")


def _shown(test: Test) -> str:
    return f"{'not ' * test.negated}{test.argument or test.of} {test.test}"

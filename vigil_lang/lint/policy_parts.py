"""The tests, calls and connectives of a policy's text, gathered in one walk that the rules share."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lang.semantics.modules import Module
    from vigil_lang.semantics.policy import Policy

Item: TypeAlias = tree.Pattern | tree.Statement | tree.Rule
Operand: TypeAlias = tree.SetUnion | tree.Term | tree.Regex
Asked: TypeAlias = tuple[tree.Field, tree.Operator]
"""What a pattern does with a parameter: the field it is compared with, and how."""

_CONJUNCTION, _DISJUNCTION = 1, 2


class Use(NamedTuple):
    """A text, set or regular expression held against a field, or (without a field) against the action's names.

    `through` is the pattern that an operand is handed to, where the test itself stands in that pattern; empty for
    the name of a call.
    """

    item: Item
    expr: tree.Expr
    field: tree.Field | None
    operator: tree.Operator
    operand: Operand
    through: str | None = None


class Connective(NamedTuple):
    """A conjunction or disjunction that is no part of a larger one; `negative` under an odd number of `not`."""

    item: Item
    expr: tree.Expr
    negative: bool


@dataclass(slots=True)
class PolicyParts:
    """The parts of a policy's own text, in no particular order."""

    uses: list[Use] = field(default_factory=list)
    has: list[tuple[Item, tree.Has]] = field(default_factory=list)
    calls: list[tuple[Item, tree.Apply]] = field(default_factory=list)
    conjunctions: list[Connective] = field(default_factory=list)
    disjunctions: list[Connective] = field(default_factory=list)
    looked_at: dict[tuple[Module, str], frozenset[str]] = field(default_factory=dict)
    """What patterns look at, as far as that has been asked (`connectives.about`)."""
    paths: dict[tuple[int, str | None], bool] = field(default_factory=dict)
    """Whether what a test holds a text against is a path, as far as that has been asked (`paths`)."""
    absolute: dict[tuple[int, str, str], list[str]] = field(default_factory=dict)
    """The absolute paths that an item holds a field against, as far as that has been asked (`paths`)."""


def policy_parts(policy: Policy, declarations: Iterable[object]) -> PolicyParts:
    """The parts of some patterns, and of the statements and rules of one policy."""
    found = PolicyParts()
    handed = ParameterTests()
    for item in declarations:
        if type(item) is tree.Pattern:
            _walk(found, item, (item.body,), policy.module, handed)
    for statement in policy.statements:
        _walk(found, statement.syntax, roots(statement.syntax), policy.module, handed)
    for rule in policy.rules:
        _walk(found, rule.syntax, roots(rule.syntax), policy.module, handed)
    return found


def roots(item: Item) -> tuple[tree.Expr, ...]:
    """The conditions of an item on events; that of `where` is on values."""
    if isinstance(item, tree.Pattern):
        return (item.body,)
    if isinstance(item, tree.Rule):
        return (item.when,)
    further = (item.form.since, item.after)
    return (*item.form.args, *[expr for expr in further if expr is not None])


def way_to(item: Item, wanted: tree.Expr) -> list[tree.Expr]:
    """The expressions of an item from the outermost down to one in it; empty where it is not in it."""
    for root in roots(item):
        if way := _way(root, wanted):
            return way
    return []


def says_what_may_be(use: Use) -> bool:
    """Whether a test names what is allowed: `!~`, under `not`, or asked of the event at hand by `implies`.

    What such a test takes in is not forbidden any more, so a fix that has it take in more is none.
    """
    allowed = use.operator in ("!~", "!=", "not in")
    for above, below in pairwise(way_to(use.item, use.expr)):
        match above:
            case tree.Not():
                allowed = not allowed
            case tree.Implies(_, right) if below is right and not isinstance(right, tree.Diamond | tree.Interval):
                allowed = not allowed
    return allowed


def _way(root: tree.Expr, wanted: tree.Expr) -> list[tree.Expr]:
    if root is wanted:
        return [root]
    for inner in _children(root):
        if inner.span.holds(wanted.span):
            below = _way(inner, wanted)
            if below:
                return [root, *below]
    return []


def _children(expr: tree.Expr) -> Iterable[tree.Expr]:
    match expr:
        case tree.And(items) | tree.Or(items):
            return items
        case tree.Not(body) | tree.Diamond(_, _, body) | tree.Repeated(_, body) | tree.Entry(_, body):
            return (body,)
        case tree.Implies(left, right) | tree.Interval(_, _, _, left, right):
            return (left, right)
        case tree.Apply(_, args):
            return [a for a in args or () if not isinstance(a, tree.String | tree.Number | tree.Boolean)]
        case _:
            return ()


def _walk(found: PolicyParts, item: Item, start: tuple[tree.Expr, ...], module: Module, handed: ParameterTests) -> None:
    waiting: list[tuple[tree.Expr, int, bool]] = [(root, 0, False) for root in start]
    while waiting:
        expr, within, negative = waiting.pop()
        # By type rather than by pattern: this is the one walk over every policy.
        if isinstance(expr, tree.Test):
            found.uses.append(Use(item, expr, expr.field, expr.operator, expr.operand))
        elif isinstance(expr, tree.Apply):
            if expr.args is None:
                continue
            found.calls.append((item, expr))
            if isinstance(expr.name, tree.String):
                found.uses.append(Use(item, expr, None, "=", expr.name, ""))
            declared = module.find(expr.name.text) if isinstance(expr.name, tree.Name) else None
            if declared is not None:
                found.uses += _handed_on(item, expr, declared[0], declared[1], handed)
                continue
            if within != _CONJUNCTION and expr.args:
                found.conjunctions.append(Connective(item, expr, negative))
            for arg in expr.args:
                if not isinstance(arg, tree.String | tree.Number | tree.Boolean):
                    waiting.append((arg, _CONJUNCTION, negative))
        elif isinstance(expr, tree.And):
            if within != _CONJUNCTION:
                found.conjunctions.append(Connective(item, expr, negative))
            waiting += [(inner, _CONJUNCTION, negative) for inner in expr.items]
        elif isinstance(expr, tree.Or):
            if within != _DISJUNCTION:
                found.disjunctions.append(Connective(item, expr, negative))
            waiting += [(inner, _DISJUNCTION, negative) for inner in expr.items]
        elif isinstance(expr, tree.Not):
            waiting.append((expr.body, 0, not negative))
        elif isinstance(expr, tree.Diamond | tree.Repeated):
            waiting.append((expr.body, 0, negative))
        elif isinstance(expr, tree.Implies):
            waiting += ((expr.left, 0, not negative), (expr.right, 0, negative))
        elif isinstance(expr, tree.Interval):
            waiting += ((expr.left, 0, negative), (expr.right, 0, negative))
        elif isinstance(expr, tree.ActionMatches):
            found.uses.append(Use(item, expr, None, "~", expr.text))
        elif isinstance(expr, tree.ActionIn):
            found.uses.append(Use(item, expr, None, "in", expr.names))
        elif isinstance(expr, tree.ActionIs):
            found.uses.append(Use(item, expr, None, "=", expr.name))
        elif isinstance(expr, tree.Has):
            found.has.append((item, expr))


def _handed_on(item: Item, apply: tree.Apply, module: Module, declared: object, known: ParameterTests) -> Iterator[Use]:
    """The literal arguments of a pattern, each with the test that the pattern makes of it."""
    if not isinstance(declared, tree.Pattern) or len(declared.params) != len(apply.args or ()):
        return
    for param, arg in zip(declared.params, apply.args or (), strict=True):
        if isinstance(arg, tree.String | tree.Number | tree.Boolean):
            for reads, operator in known.of(module, declared).get(param.text, ()):
                yield Use(item, apply, reads, operator, arg, declared.name.text)


@dataclass(slots=True)
class ParameterTests:
    """The tests that patterns make of their parameters; each pattern is read once."""

    _known: dict[tuple[Module, str], dict[str, list[Asked]]] = field(default_factory=dict)

    def of(self, module: Module, pattern: tree.Pattern) -> dict[str, list[Asked]]:
        """The tests that a pattern makes of each of its parameters, through other patterns too."""
        key = (module, pattern.name.text)
        if key not in self._known:
            self._known[key] = {}  # patterns that refer to each other have no meaning, and end here
            self._known[key] = self._read(module, pattern)
        return self._known[key]

    def _read(self, module: Module, pattern: tree.Pattern) -> dict[str, list[Asked]]:
        params = {param.text for param in pattern.params}
        found: dict[str, list[Asked]] = {}
        waiting: list[object] = [pattern.body]
        while waiting:
            match waiting.pop():
                case tree.Test(reads, operator, tree.Name(name)) if name in params:
                    found.setdefault(name, []).append((reads, operator))
                case tree.Apply(name, args):
                    declared = module.find(name.text) if isinstance(name, tree.Name) else None
                    if declared is None:
                        waiting += args or ()
                    elif isinstance(declared[1], tree.Pattern) and len(declared[1].params) == len(args or ()):
                        inner = self.of(declared[0], declared[1])
                        for param, arg in zip(declared[1].params, args or (), strict=True):
                            match arg:
                                case tree.Apply(tree.Name(name), None) if name in params:
                                    found.setdefault(name, []).extend(inner.get(param.text, ()))
                case tree.And(items) | tree.Or(items):
                    waiting += items
                case tree.Not(body):
                    waiting.append(body)
        return {name: list(dict.fromkeys(asked)) for name, asked in found.items()}

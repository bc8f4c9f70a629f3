"""The operands of conjunctions and disjunctions as written, and what each means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from vigil_lang.analysis.satisfiable import MAX_TESTS, contradiction
from vigil_lang.analysis.witness import obviously_satisfiable
from vigil_lang.lint.subject import MAX_DOUBTFUL
from vigil_lang.semantics import core
from vigil_lang.semantics.meanings import Argument, Scope, Variable
from vigil_lang.semantics.terms import Failed
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Set

    from vigil_lang.analysis.satisfiable import Contradiction
    from vigil_lang.lint.policy_parts import Item
    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.modules import Module

MAX_PARTS = 40
"""Parts of one connective, beyond which it is left alone."""

ACTION, STATUS = "action ", "status "
"""What a part is about besides arguments, whose names have no space at their end."""


class Part(NamedTuple):
    """One part, and the expression it can be taken out of; without one it is the call that the others belong to."""

    expr: tree.Expr
    parent: tree.Expr | None


class Meant(NamedTuple):
    """A part with its meaning."""

    part: Part
    condition: core.Condition


def conjuncts(expr: tree.Expr, module: Module, parent: tree.Expr | None = None) -> Iterator[Part]:
    """What must hold together, through parentheses and the arguments of calls; patterns are taken whole."""
    match expr:
        case tree.And(items):
            for item in items:
                yield from conjuncts(item, module, expr)
        case tree.Apply(name, args) if args and (isinstance(name, tree.String) or module.find(name.text) is None):
            yield Part(tree.Apply(name, (), name.span), None)
            for arg in args:
                if not isinstance(arg, tree.String | tree.Number | tree.Boolean):
                    yield from conjuncts(arg, module, expr)
        case _:
            yield Part(expr, parent)


def disjuncts(expr: tree.Expr, parent: tree.Expr | None = None) -> Iterator[Part]:
    """What any one of must hold."""
    if isinstance(expr, tree.Or):
        for item in expr.items:
            yield from disjuncts(item, expr)
    else:
        yield Part(expr, parent)


def about(expr: tree.Expr, module: Module, known: dict[tuple[Module, str], frozenset[str]]) -> Set[str]:
    """What a condition looks at: fields by name, `ACTION`, `STATUS`. `known` remembers it of patterns."""
    if isinstance(expr, tree.Test | tree.Has | tree.Entry):
        return {expr.field.name}
    match expr:
        case tree.StatusIs():
            return {STATUS}
        case tree.ActionIn() | tree.ActionIs() | tree.ActionMatches():
            return {ACTION}
        case tree.And(items) | tree.Or(items):
            return {name for item in items for name in about(item, module, known)}
        case tree.Not(body):
            return about(body, module, known)
        case tree.Apply(name, args):
            declared = module.find(name.text) if isinstance(name, tree.Name) else None
            if declared is None:
                inner = [a for a in args or () if not isinstance(a, tree.String | tree.Number | tree.Boolean)]
                return {ACTION}.union(*(about(a, module, known) for a in inner))
            other, pattern = declared
            if not isinstance(pattern, tree.Pattern):
                return frozenset()
            key = (other, pattern.name.text)
            if key not in known:
                known[key] = frozenset()  # patterns that refer to each other have no meaning, and end here
                known[key] = frozenset(about(pattern.body, other, known))
            return known[key]
        case _:
            return frozenset()


@dataclass(slots=True)
class Reader:
    """Reads the parts of one policy for the rule with a code, and asks about them as often as a policy may."""

    subject: Subject
    _code: str

    def meaning(self, item: Item, expr: tree.Expr) -> core.Condition | None:
        """What a part of an item means; None where it has no meaning, or another with other values of params."""
        conditions, module = self.subject.conditions, self.subject.policy.module
        scope = Scope(module)
        if isinstance(item, tree.Pattern):
            free = {p.text: Argument(Variable(p.text), scope.place(p.span), p.text) for p in item.params}
            scope = Scope(module, free, ((module, item.name.text),))
        conditions.start()
        try:
            found = conditions.condition(expr, scope)
        except Failed:
            return None
        return None if conditions.terms.params else found

    def meant(self, item: Item, parts: Sequence[Part]) -> list[Meant]:
        """The parts of an item that have a meaning; none where together they are too large to be asked about."""
        found: list[Meant] = []
        size = 0
        for part in parts:
            condition = self.meaning(item, part.expr)
            if condition is not None:
                size += len(core.tests(condition))
                if size > MAX_TESTS:
                    return []
                found.append(Meant(part, condition))
        return found

    def excluded(self, conditions: Sequence[core.Condition]) -> Contradiction | None:
        """Why no event meets all of some conditions, whether its arguments are lists or not; None if one may."""
        if obviously_satisfiable(core.AndC(tuple(conditions))) or self.subject.doubts[self._code] >= MAX_DOUBTFUL:
            return None
        found = contradiction(conditions)
        if found is None or found.only_lists:
            self.subject.doubts[self._code] += 1
            return None
        return found


def places(condition: core.Condition) -> set[str]:
    """What a condition looks at."""
    found: set[str] = set()
    for test in core.tests(condition):
        match test:
            case core.ActionIn() | core.ActionMatches():
                found.add(ACTION)
            case core.StatusIs():
                found.add(STATUS)
            case _:
                found.add("output " if test.field.output else test.field.name)
    return found

"""Conditions with the patterns in them written out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.semantics.modules import Module

_MOST = 200
"""Nodes that are written out; what is left then stays a pattern."""

_DEEPEST = 16


def expanded(expr: tree.Expr, module: Module) -> tree.Expr:
    """A condition with every pattern replaced by its body, as far as that is not too much to read."""
    found: tree.Expr = _Expansion().of(expr, module, {}, 0)
    return found


def applied(apply: tree.Apply, pattern: tree.Pattern, module: Module) -> tree.Expr:
    """The body of a pattern with the terms of an application in place of its parameters; other patterns stay."""
    found: tree.Expr = _Expansion(most=0).body(apply, pattern, module, {}, 0)
    return found


@dataclass
class _Expansion:
    most: int = _MOST

    def of(self, expr: Any, module: Module, given: Mapping[str, tree.Term], depth: int) -> Any:
        match expr:
            case tree.And(items) | tree.Or(items):
                return replace(expr, items=tuple([self.of(item, module, given, depth) for item in items]))
            case tree.Not(body) | tree.Diamond(_, _, body) | tree.Repeated(_, body) | tree.Entry(_, body):
                return replace(expr, body=self.of(body, module, given, depth))
            case tree.Implies(left, right):
                return tree.Implies(self.of(left, module, given, depth), self.of(right, module, given, depth))
            case tree.Interval(left=left, right=right):
                left, right = self.of(left, module, given, depth), self.of(right, module, given, depth)
                return replace(expr, left=left, right=right)
            case tree.Test(_, _, operand):
                return replace(expr, operand=_put(operand, given))
            case tree.ActionIn(names):
                return replace(expr, names=_put(names, given))
            case tree.ActionIs(name):
                return replace(expr, name=_put(name, given))
            case tree.ActionMatches(text):
                return replace(expr, text=_put(text, given))
            case tree.Apply(name, args):
                found = module.find(name.text) if isinstance(name, tree.Name) else None
                if found is not None and isinstance(found[1], tree.Pattern):
                    fits = len(found[1].params) == len(args or ())
                    if self.most > 0 and depth < _DEEPEST and fits:
                        return self.body(expr, found[1], found[0], given, depth + 1)
                    return replace(expr, args=self._terms(args, given))
                inner = None if args is None else tuple([self.of(arg, module, given, depth) for arg in args])
                return replace(expr, args=inner)
            case _:
                return expr

    def body(
        self, apply: tree.Apply, pattern: tree.Pattern, module: Module, given: Mapping[str, tree.Term], depth: int
    ) -> Any:
        self.most -= 1
        terms = self._terms(apply.args, given) or ()
        names = {p.text: _term(arg) for p, arg in zip(pattern.params, terms, strict=False)}
        return self.of(pattern.body, module, {name: term for name, term in names.items() if term is not None}, depth)

    def _terms(self, args: tuple[Any, ...] | None, given: Mapping[str, tree.Term]) -> tuple[Any, ...] | None:
        """The terms that a pattern is given, those that are parameters themselves replaced."""
        if args is None:
            return None
        found: list[Any] = []
        for arg in args:
            term = _term(arg)
            put = _put(term, given)
            found.append(tree.Apply(put, None) if isinstance(put, tree.Name) else put if term is not None else arg)
        return tuple(found)


def _term(arg: object) -> tree.Term | None:
    match arg:
        case tree.Apply(tree.Name() as name, None):
            return name
        case tree.String() | tree.Number() | tree.Boolean():
            return arg
        case _:
            return None


def _put(operand: Any, given: Mapping[str, tree.Term]) -> Any:
    match operand:
        case tree.Name(text):
            return given.get(text, operand)
        case tree.SetUnion(parts):
            return replace(operand, parts=tuple([_put(part, given) for part in parts]))
        case tree.SetLiteral(elements):
            return replace(operand, elements=tuple([_put(element, given) for element in elements]))
        case _:
            return operand

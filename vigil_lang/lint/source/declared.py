"""The names a policy gives that conditions use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.semantics.modules import Module


def declared_names(roots: Iterable[tree.Expr], module: Module) -> list[str]:
    """The names of the patterns, sets and params that conditions use, through other patterns too."""
    found: dict[str, None] = {}
    seen: set[tuple[int, str]] = set()
    waiting: list[tuple[object, Module]] = [(root, module) for root in roots]
    while waiting:
        node, where = waiting.pop()
        match node:
            case tree.Test(_, _, tree.Name() as name):
                _follow(name, where, found, seen, waiting)
            case (
                tree.ActionIn(names)
                | tree.Test(_, _, tree.SetUnion() as names)
                | tree.ActionMatches(tree.SetUnion() as names)
            ):
                for part in names.parts:
                    _follow(part, where, found, seen, waiting)
            case tree.Test():
                pass
            case tree.Apply(name, args):
                waiting += [(arg, where) for arg in args or ()]
                _follow(name, where, found, seen, waiting)
            case tree.And(items) | tree.Or(items):
                waiting += [(item, where) for item in items]
            case tree.Not(body) | tree.Diamond(_, _, body) | tree.Repeated(_, body) | tree.Entry(_, body):
                waiting.append((body, where))
            case tree.Implies(left, right) | tree.Interval(_, _, _, left, right):
                waiting += ((left, where), (right, where))
            case tree.ActionMatches(tree.Name() as name):
                _follow(name, where, found, seen, waiting)
    return list(found)


def _follow(
    name: object,
    module: Module,
    found: dict[str, None],
    seen: set[tuple[int, str]],
    waiting: list[tuple[object, Module]],
) -> None:
    declared = module.find(name.text) if isinstance(name, tree.Name) else None
    if declared is None or not isinstance(name, tree.Name):
        return
    found[name.text] = None
    where, declaration = declared
    if isinstance(declaration, tree.Pattern) and (id(where), name.text) not in seen:
        seen.add((id(where), name.text))
        waiting.append((declaration.body, where))

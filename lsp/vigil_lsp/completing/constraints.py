"""What conditions say of an event: the actions it can be, and the arguments that are tested."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.semantics.text_patterns import BadEscape, unescape
from vigil_lang.syntax import tree
from vigil_lsp.cursor import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.semantics.modules import Module

Names: TypeAlias = "frozenset[str] | None"
"""Names of actions or kinds, of which an event has one; None where it can have any."""

_DEEPEST = 12


def allowed(node: object, module: Module) -> Names:
    """The names that a condition, which holds of an event, leaves to it."""
    return _allowed(node, module, _DEEPEST, {})


def _allowed(node: object, module: Module, depth: int, seen: dict[int, Names]) -> Names:
    """`seen` are patterns by identity, for each is looked into once."""
    if depth == 0:
        return None
    match node:
        case tree.ActionIn(members):
            return elements(members, module)
        case tree.ActionIs(name):
            return frozenset({written(name)})
        case tree.Apply(name):
            home, pattern = (module.find(name.text) if isinstance(name, tree.Name) else None) or (module, None)
            if not isinstance(pattern, tree.Pattern):
                return frozenset({written(name)}) if node.args is not None else None
            if id(pattern) not in seen:
                seen[id(pattern)] = None  # it may come back to itself
                seen[id(pattern)] = _allowed(pattern.body, home, depth - 1, seen)
            return seen[id(pattern)]
        case tree.And(items):
            known = [names for item in items if (names := _allowed(item, module, depth - 1, seen)) is not None]
            return min(known, key=len) if known else None
        case tree.Or(items):
            each = [_allowed(item, module, depth - 1, seen) for item in items]
            known = [names for names in each if names is not None]
            return frozenset().union(*known) if len(known) == len(each) else None
    return None


def elements(names: tree.SetUnion, module: Module) -> Names:
    """The texts of a set; None where a part of it is not known."""
    found: set[str] = set()
    pending: list[tuple[tree.SetLiteral | tree.Name, Module]] = [(part, module) for part in names.parts]
    seen: set[int] = set()
    while pending:
        part, home = pending.pop()
        if isinstance(part, tree.SetLiteral):
            found |= {written(element) for element in part.elements}
            continue
        where, declared = home.find(part.text) or (home, None)
        value = declared.value if isinstance(declared, tree.Let) else None
        value = declared.default if isinstance(declared, tree.Param) else value
        if not isinstance(value, tree.SetUnion):
            return None
        if id(value) not in seen:
            seen.add(id(value))
            pending += [(one, where) for one in value.parts]
    return frozenset(found)


def compared_with(file: tree.File, name: str) -> set[str]:
    """The arguments that a policy compares with a set, by itself or in other sets; the action's name is empty."""
    within: dict[str, list[str]] = {}
    for item in file.items:
        if isinstance(item, tree.Let) and isinstance(item.value, tree.SetUnion):
            for part in _named(item.value):
                within.setdefault(part, []).append(item.name.text)
    names, pending = {name}, [name]
    while pending:
        wider = [other for other in within.get(pending.pop(), ()) if other not in names]
        names.update(wider)
        pending += wider
    found: set[str] = set()
    for item in file.items:
        for node in walk(item) if isinstance(item, tree.Pattern | tree.Statement | tree.Rule) else ():
            match node:
                case tree.ActionIn(members) if not names.isdisjoint(_named(members)):
                    found.add("")
                case tree.Test(tree.Field(argument, "argument"), _, tree.SetUnion() as members):
                    if not names.isdisjoint(_named(members)):
                        found.add(argument)
    return found


def _named(members: tree.SetUnion) -> list[str]:
    """The sets that one is made of."""
    return [part.text for part in members.parts if isinstance(part, tree.Name)]


def tested(node: object) -> Iterator[str]:
    """The arguments that a condition tests by itself, or by what it joins with `and`."""
    match node:
        case tree.Test(tree.Field(kind="argument") as field) | tree.Has(tree.Field(kind="argument") as field):
            yield field.name
        case tree.Argument(name):
            yield written(name)
        case tree.And(items):
            for item in items:
                yield from tested(item)


def written(term: object) -> str:
    """The text of a word or literal as far as it can be read."""
    match term:
        case tree.Name(text):
            return text
        case tree.String(raw):
            try:
                return unescape(raw)
            except BadEscape:
                return raw
        case tree.Number(raw):
            return raw
    return ""


def use_of(pattern: tree.Pattern, name: str, module: Module) -> tuple[bool, str, Names] | None:
    """What a parameter is compared with first, also in patterns it is handed on to.

    Whether as a glob, the argument, and the names that the event can have.
    """
    return _use_of(pattern, name, module, _DEEPEST, set())


def _use_of(
    pattern: tree.Pattern, name: str, module: Module, depth: int, seen: set[tuple[int, str]]
) -> tuple[bool, str, Names] | None:
    if depth == 0 or (id(pattern), name) in seen:
        return None
    seen.add((id(pattern), name))
    for node in walk(pattern.body):
        match node:
            case tree.Test(tree.Field(kind="argument") as field, operator, tree.Name(used)) if used == name:
                return operator in ("~", "!~"), field.name, allowed(pattern.body, module)
            case tree.Apply(tree.Name(called), args) if args:
                found = module.find(called)
                if found is None or not isinstance(found[1], tree.Pattern):
                    continue
                for term, inner in zip(args, found[1].params, strict=False):
                    if isinstance(term, tree.Apply) and term.args is None and term.name == tree.Name(name):
                        use = _use_of(found[1], inner.text, found[0], depth - 1, seen)
                        if use is not None:
                            return use[0], use[1], allowed(pattern.body, module) or use[2]
    return None

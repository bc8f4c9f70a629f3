"""Giving values to names, attributes and items, and taking values apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vigil_lang.abstraction.scripts import calls, emit, expressions
from vigil_lang.abstraction.scripts.tree import Attr, Expr, Index, Items, Logic, Name, Pairs, Star
from vigil_lang.abstraction.scripts.values import (
    MAX_ITEMS,
    NAMELESS,
    UNKNOWN,
    Class,
    Function,
    Mapping,
    Object,
    Ref,
    Scope,
    Sequence,
    Thing,
    Value,
    active,
    anything,
    element,
    is_literal,
    join,
    limited,
    opaque,
)

if TYPE_CHECKING:
    from vigil_lang.abstraction.scripts.state import Run


def assign(run: Run, target: Expr, value: Value, scope: Scope) -> None:
    """Gives a name, an attribute, an item or several of these a value."""
    match target:
        case Name(id=name):
            where = scope.outside.get(name, scope)
            if where is not scope and not run.certain and name in where.names:
                value = join((where.names[name], value))
            _note(run, where, name, value)
            where.names[name] = value
        case Items(items=targets):
            for inner, item in zip(targets, _taken_apart(value, targets), strict=False):
                assign(run, inner, item, scope)
        case Star(value=inner):
            assign(run, inner, value, scope)
        case Attr(value=owner, name=name):
            holder = expressions.owner(run, owner, scope)
            if run.language == "javascript":
                emit.environment(run, holder, name, value, scope)
                if name in _LOADS and isinstance(holder, Thing | Ref):
                    run.open(f"what {name} is set to is loaded")
            set_item(run, holder, name, value)
        case Index(value=owner, key=key, line=line):
            run.line = line
            holder = expressions.owner(run, owner, scope)
            key_value = expressions.evaluate(run, key, scope) if key else UNKNOWN
            for bound in target.bounds:
                expressions.evaluate(run, bound, scope)
            emit.environment(run, holder, key_value, value, scope)
            set_item(run, holder, key_value, value)
        case Pairs(pairs=pairs):
            for key_node, inner in pairs:
                key_value = expressions.evaluate(run, key_node, scope) if key_node else UNKNOWN
                taken = _taken_out(run, value, key_value, scope)
                if isinstance(inner, Logic):  # a default: what is taken out may be missing
                    taken = _or_default(run, taken, inner.values[1], scope)
                    inner = inner.values[0]
                assign(run, inner, taken, scope)
        case Logic(values=(inner, default)):
            assign(run, inner, _or_default(run, value, default, scope), scope)
        case _:
            if active(value):
                run.open("a function or object is stored where it is not followed")


_LOADS = frozenset({"href", "innerHTML", "location", "outerHTML", "src", "srcdoc"})
"""Attributes of what a browser has: it loads what they are set to, or runs it."""


def _or_default(run: Run, value: Value, default: Expr, scope: Scope) -> Value:
    """A value, or what stands for it where it is missing."""
    if value is None:
        return expressions.evaluate(run, default, scope)
    if not isinstance(value, Thing):
        return value
    outer, run.certain = run.certain, False
    other = expressions.evaluate(run, default, scope)
    run.certain = outer
    return replace(value, holds=active(*value.holds, other)) if active(other) else value


def _note(run: Run, where: Scope, name: str, value: Value) -> None:
    """Remembers what could do something and was given to a name: a loop may find it there in a later turn."""
    if is_literal(value) or value is UNKNOWN:
        return
    run.spend(12 * isinstance(value, Sequence | Mapping))
    ever = where.ever.setdefault(name, {})
    for each in active(value):
        if isinstance(each, Thing) and run.library.only_computes(each.name):
            continue
        key = _what(run, each)
        if key not in ever:
            ever[key] = each
            run.changes += len(ever) > 1 or run.dry


def _what(run: Run, value: Value) -> object:
    """The same for what does the same when it is called."""
    match value:
        case Function(node=node):
            return id(node)
        case Ref(name=name):
            return name
        case Thing(name=name):
            return name if run.library.describes(name) else name.partition(".")[0]
        case Object(kind=kind):
            return kind.name
        case _:
            return id(value)


def merge_into(found: Mapping, other: Mapping) -> None:
    """Puts all that is in one mapping into another, within bounds."""
    for key, value in other.items.items():
        if key in found.items or len(found.items) < MAX_ITEMS:
            found.items[key] = value
        else:
            found.open = True
            found.others = [opaque(*found.others, value)]
    found.open |= other.open
    found.others = [*found.others, *other.others][-8:]


def _taken_out(run: Run, value: Value, key: Value, scope: Scope) -> Value:
    """What a name gets of an object: nothing, of one that is known not to have it."""
    if not isinstance(key, str):
        return opaque(value) if not isinstance(value, Ref) else anything()
    if isinstance(value, Mapping) and not value.open and not value.others:
        return value.items.get(key)
    return expressions.attribute(run, value, key, scope)


def _taken_apart(value: Value, targets: tuple[Expr, ...]) -> list[Value]:
    """What each of several targets gets of a value."""
    star = next((i for i, t in enumerate(targets) if isinstance(t, Star)), None)
    known = expressions.items_of(value)
    if (
        known is None
        or (star is None and len(known) < len(targets))
        or (star is not None and len(known) + 1 < len(targets))
    ):
        one = (
            Thing(value.origins, f"{value.name}[]" if value.name else "", holds=value.holds)
            if isinstance(value, Thing)
            else element(value)
        )
        return [one] * len(targets)
    if star is None:
        return known
    after = len(targets) - star - 1
    rest: list[Value] = [Sequence(known[star : len(known) - after])]
    return known[:star] + rest + known[len(known) - after :]


def set_item(run: Run, holder: Value, key: Value, value: Value) -> None:
    """Sets an attribute or an item."""
    note_item(run, holder, value, key)
    match holder:
        case Object(members=members) | Class(members=members) if isinstance(key, str):
            members[key] = value if run.certain or key not in members else join((members[key], value))
        case Mapping():
            if isinstance(key, str | int | float | bool | None) and (
                key in holder.items or len(holder.items) < MAX_ITEMS
            ):
                known = holder.items.get(key, value)
                holder.items[key] = value if run.certain else join((known, value))
                holder.open |= not run.certain
            else:
                holder.open = True
                holder.others = [*holder.others, value] if len(holder.others) < 8 else [opaque(*holder.others, value)]
        case Sequence(items=items):
            if isinstance(key, int) and -len(items) <= key < len(items) and not holder.open:
                items[key] = value if run.certain else join((items[key], value))
            else:
                holder.open = True
                holder.items[:] = limited([*items, value])[0]
        case Ref() | Thing() | Function():
            _hand_in(run, holder, value)
        case Object() | Class():
            holder.members[NAMELESS] = opaque(holder.members.get(NAMELESS), value)
        case _:
            pass


def note_item(run: Run, holder: Value, value: Value, key: Value = None) -> None:
    """Remembers what could do something and was put into something: a loop may find it there in a later turn."""
    if is_literal(value) or value is UNKNOWN:
        return
    run.spend(12 * isinstance(value, Sequence | Mapping))
    for each in active(value):
        place = (id(holder), str(key) if is_literal(key) else "", _what(run, each))
        if place not in run.placed and not (isinstance(each, Thing) and run.library.only_computes(each.name)):
            run.placed.add(place)
            run.holders.append(holder)
            run.changes += 1


def _hand_in(run: Run, holder: Value, value: Value) -> None:
    """Something is put into a library's module or object, which may call it or give it to whoever calls it."""
    if isinstance(holder, Ref) and holder.name == "sys.modules":
        run.open("a module is replaced")
    for each in active(value):
        match each:
            case Function():
                calls.again(run, each)
            case Object() | Class():
                for method in calls.methods_of(each):
                    calls.again(run, method)
            case Ref(name=name) if emit.may_act(run, name):
                run.open(f"{name} is stored where it is not followed")
            case _:
                pass
    if isinstance(holder, Thing) and holder is not UNKNOWN:
        holder.holds = active(*holder.holds, value)

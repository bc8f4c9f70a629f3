"""What names, attributes and items hold, and what may be found there in a later turn of a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.abstraction.scripts.addresses import set_attribute
from vigil_lang.abstraction.scripts.callbacks import call_handed
from vigil_lang.abstraction.scripts.site import Arguments
from vigil_lang.abstraction.scripts.tree import Opaque
from vigil_lang.abstraction.scripts.values import (
    MADE,
    MAILS,
    MAX_ITEMS,
    NAMELESS,
    UNKNOWN,
    Class,
    Function,
    Mapping,
    Object,
    Ref,
    Sequence,
    Thing,
    active,
    is_literal,
    join,
    let_go,
    limited,
    methods_of,
    opaque,
)

if TYPE_CHECKING:
    from vigil_lang.abstraction.scripts.state import Run
    from vigil_lang.abstraction.scripts.values import Scope, Value


def bind(run: Run, name: str, value: Value, scope: Scope) -> None:
    """Gives a name a value."""
    where = scope.outside.get(name, scope)
    if where is not scope and not run.certain and name in where.names:
        value = join((where.names[name], value))
    _note(run, where, name, value)
    where.names[name] = value


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


def set_item(run: Run, holder: Value, key: Value, value: Value) -> None:
    """Sets an attribute or an item."""
    note_item(run, holder, value, key)
    if not isinstance(holder, Object):
        let_go(value)  # `sys.stdout = open("f", "w")`
    match holder:
        case Object(members=members) | Class(members=members) if isinstance(key, str):
            if isinstance(client := members.get(MADE), Thing):
                set_attribute(run, client, key, value)
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
            if isinstance(key, str) and not isinstance(holder, Function):
                set_attribute(run, holder, key, value)
                if isinstance(holder, Thing) and holder.name.startswith(MAILS) and key.lower() in ("to", "cc", "bcc"):
                    _addressed(run, holder, value)
                if run.language == "javascript" and key[:2] == "on" and isinstance(value, Function):
                    call_handed(run, Arguments([(Opaque(), value)]), UNKNOWN)  # the handler of an event
                    run.look_again(value)
                    return
            _hand_in(run, holder, value)
        case Object() | Class():
            holder.members[NAMELESS] = opaque(holder.members.get(NAMELESS), value)
        case _:
            pass


def _addressed(run: Run, mail: Thing, value: Value) -> None:
    """A mail gets a line that says whom it is for: addresses with commas between them."""
    mail.recipients = mail.recipients or Sequence()
    parts: list[Value] = [part.strip() for part in value.split(",")] if isinstance(value, str) else [UNKNOWN]
    mail.recipients.items += parts
    mail.recipients.open |= not run.certain


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
                run.look_again(each)
            case Object() | Class():
                for method in methods_of(each):
                    run.look_again(method)
            case Ref(name=name) if run.may_act(name):
                run.open(f"{name} is stored where it is not followed")
            case _:
                pass
    if isinstance(holder, Thing) and holder is not UNKNOWN:
        holder.holds = active(*holder.holds, value)

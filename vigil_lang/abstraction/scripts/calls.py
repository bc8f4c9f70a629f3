"""Calls: functions of the script are followed, functions of libraries become steps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vigil_lang.abstraction.scripts import containers, emit
from vigil_lang.abstraction.scripts.attributes import attribute
from vigil_lang.abstraction.scripts.callbacks import call_handed, hand_over
from vigil_lang.abstraction.scripts.site import Arguments
from vigil_lang.abstraction.scripts.tree import Opaque
from vigil_lang.abstraction.scripts.values import (
    MADE,
    MAX_ITEMS,
    NAMELESS,
    UNKNOWN,
    WITHIN,
    Base,
    Class,
    Function,
    Object,
    Ref,
    Thing,
    active,
    items_of,
    lineage,
    member,
    opaque,
    origins_of,
    qualified,
    with_origin,
)

if TYPE_CHECKING:
    from vigil_lang.abstraction.scripts.site import Site
    from vigil_lang.abstraction.scripts.state import Run
    from vigil_lang.abstraction.scripts.values import Scope, Value


def apply(run: Run, callee: Value, given: Arguments, site: Site, *, awaited: bool = True) -> Value:
    """Calls a value."""
    match callee:
        case Function() if callee.node.accessor or callee.how == "property":
            return apply(run, run.invoke(callee, []), given, site)  # what is called is what reading it gives
        case Function():
            return _local(run, callee, given, site, awaited=awaited)
        case Class():
            return _instance(run, callee, given, site)
        case Ref(name=name):
            return emit.library_call(run, name, None, given, site)
        case Object():
            found = member(callee, "__call__")
            if isinstance(found, Function):
                return run.invoke(found, given.positional, given)
            return apply(run, found, given, site)
        case Thing(name=name, holds=holds) if name or holds:
            run.for_any(holds, lambda each: apply(run, each, given, site))
            if name == NAMELESS or name.startswith("*"):
                return _unknown(run, "what is called has no name that is known", given, site)
            return emit.library_call(run, name, callee, given, site) if name else opaque(callee, *given.values())
        case _:
            return _unknown(run, "it is not known what is called", given, site)


def _unknown(run: Run, why: str, given: Arguments, site: Site) -> Value:
    """A call of something of which nothing is known."""
    run.open(why, site.line)
    hand_over(given, fills=True)
    call_handed(run, given, UNKNOWN)
    return opaque(*given.values())


def method(run: Run, owner: Value, name: str, given: Arguments, site: Site, *, awaited: bool = True) -> Value:
    """Calls `owner.name`."""
    match owner:
        case Object() | Class():
            found = member(owner, name)
            if found is UNKNOWN and isinstance(owner, Class) and name in ("mro", "__new__", "__init_subclass__"):
                return opaque(owner)
            if isinstance(found, Function) and isinstance(owner, Object) and found.this is None:
                found = replace(found, this=owner)
            value = apply(run, found, given, site, awaited=awaited)
            if name == "__init__" and isinstance(owner, Object) and isinstance(found, Thing):
                _becomes(run, owner, value)
            return value
        case Ref() if name == "__init__" and isinstance(made := given.get(0), Object):
            rest = Arguments(given.positional[1:], given.named, given.more, given.held)
            value = apply(run, owner, rest, site)
            _becomes(run, made, value)
            return value
        case Ref():
            found = attribute(run, owner, name, site.scope)
            if name in _OF_A_FUNCTION and run.language == "javascript" and owner.name != "Reflect":
                return _called(run, owner, name, given, site)
            return apply(run, found, given, site)
        case Function() if name in _OF_A_FUNCTION:
            return _called(run, owner, name, given, site)
        case Function():
            return _unknown(run, f"{name} of a function", given, site)
        case Thing(name=called, holds=holds) if (called and not called.startswith("*")) or (holds and not called):
            if name in ("then", "catch", "finally") and called:
                call_handed(run, given, owner)
                return owner
            if called and _is_told(run, called, name):  # then its methods are not those of a callback it was given
                holds = tuple(value for value in holds if not isinstance(value, Function))
            inside = [each for value in holds for each in _yields(run, value)]
            run.for_any(inside, lambda each: method(run, each, name, given, site))
            if called:
                return emit.library_call(run, qualified(called, f".{name}"), owner, given, site)
            found = containers.method(run, owner, name, given, site)
            return replace(opaque(found, owner, *given.values()), origins=origins_of(found))
        case _:
            return containers.method(run, owner, name, given, site)


def _is_told(run: Run, called: str, name: str) -> bool:
    """Whether it is known what a method of something by this name does, or that nothing of it does anything."""
    method = run.library.canonical(qualified(called, f".{name}"))
    return run.library.names(called) or run.library.find(method) is not None


def _yields(run: Run, value: Value) -> tuple[Value, ...]:
    """What is in something a library made with a value: of a function, what it returns, or itself in JavaScript."""
    if not isinstance(value, Function) or run.language != "python":
        return (value,)
    with run.aside():
        return active(run.invoke(value, []))


_OF_A_FUNCTION = ("call", "apply", "bind")


def _called(run: Run, owner: Function | Ref, name: str, given: Arguments, site: Site) -> Value:
    """`f.call(this, x)`, `f.apply(this, [x])`, `f.bind(this, x)`"""
    rest = given.positional[1:]
    if name == "bind":
        values = tuple(v for _, v in rest)
        if isinstance(owner, Function):
            return replace(owner, given=owner.given + values[:MAX_ITEMS])
        return opaque(owner, *given.values())
    if name == "call":
        return apply(run, owner, Arguments(rest, more=given.more), site)
    items = items_of(rest[0][1]) if rest else []
    spread = [opaque(rest[0][1])] if items is None else items
    return apply(run, owner, Arguments([(Opaque(), v) for v in spread], more=items is None), site)


def member_call(run: Run, owner: Object, name: str, given: Arguments | None = None) -> Value:
    """Calls a special method of an object, if its class has it; the object itself otherwise."""
    found = member(owner, name)
    if not isinstance(found, Function):
        return owner
    return run.invoke(found, list(given.positional) if given else [], given)


def _local(run: Run, callee: Function, given: Arguments, site: Site, *, awaited: bool) -> Value:
    """Calls a function of the script: a step, and what it does."""
    name = callee.name
    if callee.given:
        given = Arguments([(Opaque(), v) for v in callee.given] + given.positional, given.named, given.more)
        run.spend(len(callee.given))
    if name:
        emit.local_step(run, callee, given, site)
    outer = run.certain
    if callee.node.is_async and not awaited and run.language == "python":
        run.certain = False  # it may never be awaited
    value = run.invoke(callee, given.positional, given)
    run.certain = outer
    return with_origin(value, name)


def _instance(run: Run, kind: Class, given: Arguments, site: Site) -> Value:
    """Makes an object of a class of the script."""
    made = Object(kind)
    init = member(made, "__init__" if run.language == "python" else "constructor")
    callee = init if isinstance(init, Function) else None
    emit.local_step(run, callee, given, site, name=kind.name)
    if callee:
        run.invoke(callee, given.positional, given)
    else:
        made.members |= {k: v for k, (_, v) in given.named.items()}
        if given.active():
            made.members[NAMELESS] = opaque(*given.values())
        _foreign(run, made, given, site)
    return made


def call_parent(run: Run, parent: Value, given: Arguments, site: Site) -> None:
    """Calls the constructor of a class's base."""
    if not isinstance(parent, Object):
        return
    init = member(parent, "constructor")
    if isinstance(init, Function):
        run.invoke(init, given.positional, given)
    else:
        if given.active():
            parent.members[NAMELESS] = opaque(*given.values())
        _foreign(run, parent, given, site)


def _foreign(run: Run, made: Object, given: Arguments, site: Site) -> None:
    """Calls the libraries' classes, of those that an object's class is made of, that do something or make a client."""
    waiting = list(made.kind.bases)
    for _ in range(16):
        match waiting.pop(0) if waiting else None:
            case Class() as base:
                waiting += base.bases
            case Ref(name=name) as base if run.may_act(name) or emit.makes_client(run, name):
                _becomes(run, made, apply(run, base, given, site))
            case Thing(name=name) if not run.library.only_computes(name) or name == "type()":
                run.open("a class is made of what is not known", site.line)
            case None:
                return


def _becomes(run: Run, made: Object, value: Value) -> None:
    """An object of the script is, besides, what a library's class makes of it when it is called."""
    if not isinstance(value, Thing) or not run.library.describes(value.name):
        return
    before = made.members.get(MADE)
    if isinstance(before, Thing) and value.base is not None:  # it is not known which of them it was
        value = replace(value, base=Base(None, value.base.joined))
    made.members[MADE] = value


def parent_of(scope: Scope) -> Value:
    """What `super()` is: the object at hand, seen as what comes after the class that the method is written in."""
    this = scope.names.get("self", scope.names.get("this"))
    if not isinstance(this, Object):
        return UNKNOWN
    line = lineage(this.kind)
    at = next((at for at, each in enumerate(line) if each is scope.names.get(WITHIN)), 0)
    above = tuple(line[at + 1 :])
    return Object(Class(this.kind.name, {}, above), this.members) if above else UNKNOWN

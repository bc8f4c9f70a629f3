"""Calls: functions of the script are followed, functions of libraries become steps."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from vigil_lang.abstraction.scripts import containers, emit, expressions, flow, targets
from vigil_lang.abstraction.scripts.site import Arguments, Site
from vigil_lang.abstraction.scripts.state import MAX_AGAIN, MAX_CALLS, MAX_WORK
from vigil_lang.abstraction.scripts.tree import Attr, Await, Call, Expr, Items, Lambda, Name, Opaque, Star, plain
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
    join,
    merge,
    opaque,
    origins_of,
    qualified,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from vigil_lang.abstraction.scripts.state import Run


def call(run: Run, node: Call, scope: Scope, names: tuple[str, ...] = (), *, awaited: bool = False) -> Value:
    """The result of a call, which happens."""
    func, site = node.func, Site(scope, node.line, names)
    run.spend()
    run.line = node.line
    if isinstance(func, Attr):
        outer = run.certain
        if func.name == "catch" and run.language == "javascript" and not _handler_fails(node):
            run.certain = False  # what fails is made good
        owner = expressions.owner(run, func.value, scope)
        run.certain = outer
        given = arguments(run, node, scope)
        return method(run, owner, func.name, given, site, awaited=awaited)
    if isinstance(func, Name) and func.id == "super":
        parent = _parent(scope)
        if run.language == "javascript":
            _made(run, parent, arguments(run, node, scope), site)
        return parent
    callee = expressions.owner(run, func, scope)
    return apply(run, callee, arguments(run, node, scope), site, awaited=awaited)


def named(run: Run, node: Expr, target: Expr, scope: Scope) -> Value:
    """The value of an expression that is given a name: a call knows it."""
    inner = node.value if isinstance(node, Await) else node
    if not isinstance(inner, Call):
        return expressions.evaluate(run, node, scope)
    text = plain(target)
    names = (text,) if text else tuple(filter(None, map(plain, target.items))) if isinstance(target, Items) else ()
    return call(run, inner, scope, names, awaited=inner is not node)


def arguments(run: Run, node: Call, scope: Scope) -> Arguments:
    """The arguments of a call, evaluated in order."""
    found = Arguments()
    for arg in node.args:
        if isinstance(arg, Star):
            spread = expressions.evaluate(run, arg.value, scope)
            known = expressions.items_of(spread)
            if known is None:
                found.more = True
                found.held += active(spread)
                known = []
            found.positional += [(Opaque(), v) for v in known]
            if len(found.positional) > MAX_ITEMS:
                found.positional[MAX_ITEMS:] = [(Opaque(), opaque(*(v for _, v in found.positional[MAX_ITEMS:])))]
                found.more = True
            run.spend(len(known) // 4)
        else:
            found.positional.append((arg, expressions.evaluate(run, arg, scope)))
    for name, value_node in node.keywords:
        value = expressions.evaluate(run, value_node, scope)
        if name is not None:
            found.named[name] = (value_node, value)
        elif isinstance(value, Mapping):
            found.named |= {str(k): (Opaque(), v) for k, v in value.items.items()}
            found.more |= value.open
            run.spend(len(value.items) // 4)
        else:
            found.more = True
            found.held += active(value)
    return found


def apply(run: Run, callee: Value, given: Arguments, site: Site, *, awaited: bool = True) -> Value:
    """Calls a value."""
    match callee:
        case Function() if callee.node.accessor or callee.how == "property":
            return apply(run, invoke(run, callee, []), given, site)  # what is called is what reading it gives
        case Function():
            return _local(run, callee, given, site, awaited=awaited)
        case Class():
            return _instance(run, callee, given, site)
        case Ref(name=name):
            return emit.library_call(run, name, None, given, site)
        case Object():
            found = expressions.member(callee, "__call__")
            if isinstance(found, Function):
                return invoke(run, found, given.positional, given)
            return apply(run, found, given, site)
        case Thing(name=name, holds=holds) if name or holds:
            for_any(run, holds, lambda each: apply(run, each, given, site))
            if name == NAMELESS or name.startswith("*"):
                return _unknown(run, "what is called has no name that is known", given, site)
            return emit.library_call(run, name, callee, given, site) if name else opaque(callee, *given.values())
        case _:
            return _unknown(run, "it is not known what is called", given, site)


def _unknown(run: Run, why: str, given: Arguments, site: Site) -> Value:
    """A call of something of which nothing is known."""
    run.open(why, site.line)
    emit.hand_over(given, fills=True)
    callbacks(run, given, UNKNOWN)
    return opaque(*given.values())


@contextmanager
def aside(run: Run) -> Iterator[None]:
    """Looks at something only for effects that no step tells: it may happen at any time, or never."""
    kept = run.certain, run.stops, run.leaves, run.repeated, run.line
    run.certain, run.dry = False, run.dry + 1
    yield
    run.certain, run.stops, run.leaves, run.repeated, run.line = kept
    run.dry -= 1


def for_any(run: Run, options: Iterable[Value], do: Callable[[Value], object]) -> None:
    """Looks at what happens if a value is any of several."""
    for each in options:
        with aside(run):
            run.spend()
            do(each)


def method(run: Run, owner: Value, name: str, given: Arguments, site: Site, *, awaited: bool = True) -> Value:
    """Calls `owner.name`."""
    match owner:
        case Object() | Class():
            found = expressions.member(owner, name)
            if found is UNKNOWN and isinstance(owner, Class) and name in ("mro", "__new__", "__init_subclass__"):
                return opaque(owner)
            if isinstance(found, Function) and isinstance(owner, Object) and found.this is None:
                found = replace(found, this=owner)
            return apply(run, found, given, site, awaited=awaited)
        case Ref():
            found = expressions.attribute(run, owner, name, site.scope)
            if name in _OF_A_FUNCTION and run.language == "javascript" and owner.name != "Reflect":
                return _called(run, owner, name, given, site)
            return apply(run, found, given, site)
        case Function() if name in _OF_A_FUNCTION:
            return _called(run, owner, name, given, site)
        case Function():
            return _unknown(run, f"{name} of a function", given, site)
        case Thing(name=called, holds=holds) if (called and not called.startswith("*")) or (holds and not called):
            if name in ("then", "catch", "finally") and called:
                callbacks(run, given, owner)
                return owner
            inside = [each for value in holds for each in _yields(run, value)]
            for_any(run, inside, lambda each: method(run, each, name, given, site))
            if called:
                return emit.library_call(run, qualified(called, f".{name}"), owner, given, site)
            found = containers.method(run, owner, name, given, site)
            return replace(opaque(found, owner, *given.values()), origins=origins_of(found))
        case _:
            return containers.method(run, owner, name, given, site)


def _yields(run: Run, value: Value) -> tuple[Value, ...]:
    """What is in something a library made with a value: of a function, what it returns, or itself in JavaScript."""
    if not isinstance(value, Function) or run.language != "python":
        return (value,)
    with aside(run):
        return active(invoke(run, value, []))


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
    items = expressions.items_of(rest[0][1]) if rest else []
    spread = [opaque(rest[0][1])] if items is None else items
    return apply(run, owner, Arguments([(Opaque(), v) for v in spread], more=items is None), site)


def member_call(run: Run, owner: Object, name: str, given: Arguments | None = None) -> Value:
    """Calls a special method of an object, if its class has it; the object itself otherwise."""
    found = expressions.member(owner, name)
    if not isinstance(found, Function):
        return owner
    return invoke(run, found, list(given.positional) if given else [], given)


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
    value = invoke(run, callee, given.positional, given)
    run.certain = outer
    return with_origin(value, name)


def with_origin(value: Value, name: str) -> Value:
    """A value that is the result of a function."""
    match value:
        case Thing() if name:
            return Thing(
                merge(((name,), value.origins)),
                value.name,
                value.of,
                value.text,
                value.shape,
                value.step,
                value.options,
                value.holds,
            )
        case Sequence() if name and len(value.items) <= 16:
            return Sequence([with_origin(i, name) if isinstance(i, Thing) else i for i in value.items], value.open)
        case _:
            return value


def invoke(run: Run, callee: Function, positional: list[tuple[Expr, Value]], given: Arguments | None = None) -> Value:
    """What a function of the script returns, having done what it does; unknown where it is not followed."""
    node = callee.node
    if any(node is other for other in run.aside):
        return opaque(*(v for _, v in positional))
    if any(node is other for other in run.calls):  # another turn of it may do what this one does not
        run.aside.append(node)
        with aside(run):
            _follow(run, callee, [(Opaque(), opaque(v)) for _, v in positional], None)
        run.aside.pop()
        return opaque(*(v for _, v in positional))
    return _follow(run, callee, positional, given)


def _follow(run: Run, callee: Function, positional: list[tuple[Expr, Value]], given: Arguments | None) -> Value:
    node = callee.node
    if len(run.calls) >= MAX_CALLS:
        run.trouble[f"functions call each other more than {MAX_CALLS} deep"] = None
        run.open("functions call each other too deeply to be followed")
        return opaque(*(v for _, v in positional))
    run.followed.add(id(node))
    inner = Scope({}, outer=callee.scope, module=callee.scope.module or callee.scope)
    _bind(run, callee, positional, given, inner)
    outer = run.certain
    leaves, stops = run.leaves, run.stops
    run.calls.append(node)
    run.returned.append([])
    run.yielded.append([])
    ends = flow.block(run, node.body, inner)
    values, items = run.returned.pop(), run.yielded.pop()
    run.calls.pop()
    run.certain = outer
    run.leaves = leaves | ends & (flow.EXIT | flow.FAIL | flow.RAISE)
    run.stops = stops or not ends & (flow.NEXT | flow.RETURN)
    if run.leaves & flow.EXIT:
        run.certain = False
    if node.generator:
        return Sequence([opaque(*items)] if active(*items) else [], open=True)
    if ends & flow.NEXT and values:
        values.append(None)
    return join(values) if values else None


def _bind(
    run: Run, callee: Function, positional: list[tuple[Expr, Value]], given: Arguments | None, inner: Scope
) -> None:
    """Binds the arguments of a call to the function's parameters."""
    waiting = [v for _, v in positional]
    keywords = {k: v for k, (_, v) in given.named.items()} if given else {}
    more = given.more if given else False
    held = given.held if given else []
    if callee.this is not None:
        if run.language == "python":
            waiting.insert(0, callee.this)
        else:
            inner.names["this"] = callee.this
    for param in callee.node.params:
        if param.star == "*":
            if param.name:
                inner.names[param.name] = Sequence([*waiting, *([opaque(*held)] if held else [])], open=more)
            waiting = []
            continue
        if param.star:
            inner.names[param.name] = Mapping(dict(keywords.items()), open=more, others=[opaque(*held)] if held else [])
            continue
        if waiting:
            value = waiting.pop(0)
            if param.default is not None and run.language == "javascript" and not _is_there(value):
                value = _perhaps(run, param.default, inner, value)  # `undefined` takes the default, `null` does not
        elif param.name in keywords:
            value = keywords.pop(param.name)
        elif param.name in callee.defaults:
            value = callee.defaults[param.name]
        elif param.default is not None and run.language == "javascript":
            value = expressions.evaluate(run, param.default, inner)
        else:
            value = None if run.language == "javascript" and given and not more else opaque(*held)
        if more and param.name in callee.defaults:
            value = opaque(value, *held)
        if param.pattern is not None:
            targets.assign(run, param.pattern, value, inner)
        else:
            inner.names[param.name] = value


def _is_there(value: Value) -> bool:
    """Whether a value is surely not JavaScript's `undefined`."""
    return value is not None and not isinstance(value, Thing)


def _perhaps(run: Run, default: Expr, scope: Scope, value: Value) -> Value:
    outer, run.certain = run.certain, False
    other = expressions.evaluate(run, default, scope)
    run.certain = outer
    return opaque(value, other)


def parameters(callee: Function) -> list[str]:
    """The names of the parameters that a caller gives by place."""
    names = []
    for param in callee.node.params:
        if param.star:
            break
        names.append(param.name)
    return names[1:] if callee.this is not None and names[:1] in (["self"], ["cls"]) else names


def _instance(run: Run, kind: Class, given: Arguments, site: Site) -> Value:
    """Makes an object of a class of the script."""
    made = Object(kind)
    init = expressions.member(made, "__init__")
    if init is UNKNOWN:
        init = expressions.member(made, "constructor")
    callee = init if isinstance(init, Function) else None
    emit.local_step(run, callee, given, site, name=kind.name)
    if callee:
        invoke(run, callee, given.positional, given)
    else:
        made.members |= {k: v for k, (_, v) in given.named.items()}
        if given.active():
            made.members[NAMELESS] = opaque(*given.values())
        _foreign(run, kind, given, site)
    return made


def _made(run: Run, parent: Value, given: Arguments, site: Site) -> None:
    """Calls the constructor of a class's base."""
    if not isinstance(parent, Object):
        return
    init = expressions.member(parent, "constructor")
    if isinstance(init, Function):
        invoke(run, init, given.positional, given)
    else:
        if given.active():
            parent.members[NAMELESS] = opaque(*given.values())
        _foreign(run, parent.kind, given, site)


def _foreign(run: Run, kind: Class, given: Arguments, site: Site) -> None:
    """Calls the libraries' classes, of those that a class of the script is made of, that do something when called."""
    waiting = list(kind.bases)
    for _ in range(16):
        match waiting.pop(0) if waiting else None:
            case Class() as base:
                waiting += base.bases
            case Ref(name=name) as base if emit.may_act(run, name):
                apply(run, base, given, site)
            case Thing(name=name) if not run.library.only_computes(name) or name == "type()":
                run.open("a class is made of what is not known", site.line)
            case None:
                return


def _parent(scope: Scope) -> Value:
    """What `super()` is: the object at hand, seen as one of its class's bases."""
    this = scope.names.get("self", scope.names.get("this"))
    if isinstance(this, Object) and this.kind.bases:
        return Object(Class(this.kind.name, {}, this.kind.bases), this.members)
    return UNKNOWN


def callbacks(run: Run, given: Arguments, item: Value) -> Value:
    """What is handed to another function may be called by it: functions of the script with `item`.

    What they return.
    """
    held = given.active()
    if not held:
        return UNKNOWN
    found: list[Value] = []
    direct = {id(value) for value in given.values()}
    other = Thing(holds=tuple(v for v in held if not isinstance(v, Function) or id(v) not in direct))
    item = other if item is UNKNOWN else item
    for value in held:
        match value:
            case Function() if id(value) in direct:
                outer, run.certain = run.certain, False
                stops = run.stops
                more = len(parameters(value)) - 1 if other.holds else 0
                found.append(invoke(run, value, [(Opaque(), item), *[(Opaque(), other)] * more]))
                run.certain, run.stops = outer, stops
            case Function():
                again(run, value)
            case Object() | Class():
                for each in methods_of(value):
                    again(run, each)
            case Ref(name=name) if emit.may_act(run, name):
                run.open(f"{name} is passed to code that may call it")
            case _:
                pass
    return join(found)


def methods_of(value: Object | Class) -> list[Function]:
    """The methods of a class of the script that is no module, with those of its bases."""
    kind = value.kind if isinstance(value, Object) else value
    found: list[Function] = []
    waiting: list[Value] = [kind]
    for _ in range(16):
        match waiting.pop(0) if waiting else None:
            case Class(module=False) as base:
                found += [replace(m, this=value) for m in base.members.values() if isinstance(m, Function)]
                waiting += base.bases
            case None:
                break
    return found


def again(run: Run, function: Function) -> None:
    """Has a function looked at once more at the end: what is not followed may call it with whatever it likes."""
    run.again.setdefault(id(function.node), function)


def look_at_loose(run: Run) -> None:
    """Looks for effects of functions that may be called by what is not followed."""
    run.work = max(run.work, MAX_WORK // 2)
    looked: set[int] = set()
    while True:
        waiting = [f for key, f in run.again.items() if key not in looked]
        waiting += [f for key, f in run.loose.items() if key not in looked and key not in run.followed]
        if not waiting:
            return
        for function in waiting:
            if len(looked) >= MAX_AGAIN:
                run.open("too many functions may be called by other code")
                return
            looked.add(id(function.node))
            with aside(run):
                run.calls.clear()
                _follow(run, function, [], Arguments(more=True))


def _handler_fails(node: Call) -> bool:
    """Whether what `.catch()` is given ends the program as failed."""
    handler = node.args[0] if node.args else None
    return isinstance(handler, Lambda) and flow.fails(handler.body)

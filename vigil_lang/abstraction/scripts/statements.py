"""Statements in the order they would happen, and the ways a block of them can end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vigil_lang.abstraction.scripts import calls, expressions, modules
from vigil_lang.abstraction.scripts.bindings import bind
from vigil_lang.abstraction.scripts.site import Arguments, Site
from vigil_lang.abstraction.scripts.state import BREAK, CONTINUE, EXIT, FAIL, MAX_DEPTH, NEXT, RAISE, RETURN
from vigil_lang.abstraction.scripts.tree import (
    Assign,
    Attr,
    Augment,
    Await,
    Binary,
    Call,
    ClassDef,
    Const,
    Define,
    Delete,
    Do,
    If,
    Import,
    Jump,
    Loop,
    Name,
    Opaque,
    Outer,
    Raise,
    Return,
    Sum,
    Try,
    With,
    fails,
    plain,
)
from vigil_lang.abstraction.scripts.values import (
    MAX_TURNS,
    UNKNOWN,
    Class,
    Function,
    Mapping,
    Object,
    Ref,
    Scope,
    Sequence,
    Thing,
    anything,
    element,
    is_pattern,
    items_of,
    join,
    member,
    opaque,
)

if TYPE_CHECKING:
    from vigil_lang.abstraction.scripts.state import Run
    from vigil_lang.abstraction.scripts.tree import Body, Expr, Stmt
    from vigil_lang.abstraction.scripts.values import Env, Value
    from vigil_lang.abstraction.step import Spawn, Step


_LEAVES = RETURN | BREAK | CONTINUE | EXIT

_MOST_PASSES = 4
"""How often the body of a loop is looked at again for what its later turns do."""


def block(run: Run, body: Body, scope: Scope) -> int:
    """Goes through statements; the ways they can end.

    Once some may have left in a way that the script can still end well, the rest is no longer certain. Who calls
    this sets `certain` back.
    """
    ends = 0
    if run.depth >= MAX_DEPTH:
        run.trouble["what the script does is nested too deeply to be followed"] = None
        run.open("the code is nested too deeply to be followed")
        return NEXT
    run.depth += 1
    for node in body:
        run.spend()
        run.leaves, run.stops = 0, False
        flow = statement(run, node, scope) | run.leaves
        if run.stops:
            flow &= ~NEXT
        run.leaves, run.stops = 0, False
        ends |= flow & ~NEXT
        if not flow & NEXT:
            run.depth -= 1
            return ends
        if flow & _LEAVES:
            run.certain = False
    run.depth -= 1
    return ends | NEXT


def statement(run: Run, node: Stmt, scope: Scope) -> int:
    """Goes through one statement; the ways it can end."""
    match node:
        case Do(value=Call()):
            expressions.owner(run, node.value, scope)  # nobody has what it gives
        case Do():
            expressions.evaluate(run, node.value, scope)
        case Assign():
            _assign(run, node, scope)
        case Augment():
            sign = node.op
            value = Sum((node.target, node.value)) if sign == "+" else Binary(sign, node.target, node.value)
            expressions.assign(run, node.target, expressions.evaluate(run, value, scope), scope)
        case If():
            return _branches(run, node, scope)
        case Loop():
            return _loop(run, node, scope)
        case Try():
            return _try(run, node, scope)
        case With():
            return _with(run, node, scope)
        case Return():
            run.returned[-1].append(expressions.evaluate(run, node.value, scope) if node.value else None)
            return RETURN
        case Raise():
            if node.value:
                expressions.evaluate(run, node.value, scope)
            return RAISE
        case Jump():
            return BREAK if node.how == "break" else CONTINUE
        case Define():
            _define(run, node, scope)
        case ClassDef():
            _class(run, node, scope)
        case Import():
            modules.bind_import(run, node, scope)
        case Outer():
            _outer(node, scope)
        case Delete():
            _delete(run, node, scope)
    return NEXT


def _delete(run: Run, node: Delete, scope: Scope) -> None:
    for target in node.targets:
        match target:
            case Name(id=name):
                where = scope.outside.get(name, scope)
                if run.certain:
                    where.names.pop(name, None)
                elif name in where.names:
                    where.names[name] = anything()
            case Attr(value=value):
                expressions.owner(run, value, scope)
            case _:
                expressions.evaluate(run, target, scope)


def _assign(run: Run, node: Assign, scope: Scope) -> None:
    inner = node.value.value if isinstance(node.value, Await) else node.value
    if isinstance(inner, Call):
        names = tuple(n for target in node.targets for n in _names(target))
        value = expressions.call(run, inner, scope, names, awaited=inner is not node.value)
    else:
        value = expressions.evaluate(run, node.value, scope)
    for target in node.targets:
        expressions.assign(run, target, value, scope)


def _names(target: Expr) -> tuple[str, ...]:
    text = plain(target)
    if text is not None:
        return (text,)
    items = getattr(target, "items", None)
    return tuple(n for item in items or () if (n := plain(item)) is not None)


def _branches(run: Run, node: If, scope: Scope) -> int:
    outer, before = run.certain, scope.names
    ends: list[tuple[int, Env]] = []
    leaves = 0
    for test, body in node.branches:
        run.certain = outer and not ends
        known = True if test is None else run.decided(expressions.evaluate(run, test, scope))
        leaves |= run.leaves
        if known is False:
            continue
        if known and not ends:  # no other branch can be taken
            flow = block(run, body, scope)
            run.certain = outer
            return flow | leaves
        # Where all other branches fail, a script that ends well has taken this one.
        run.certain = outer and known is True and not any(flow & ~(FAIL | RAISE) for flow, _ in ends)
        run.spend(len(before) // 16)
        scope.names = dict(before)
        ends.append((block(run, body, scope), scope.names))
        scope.names = before
        if known:
            break
    else:
        ends.append((NEXT, before))
    run.certain = outer
    scope.names = join_names([names for flow, names in ends if flow & NEXT] or [before])
    for flow, _ in ends:
        leaves |= flow
    return leaves


def join_names(options: list[Env]) -> Env:
    """The values names have after one of several ways was taken."""
    first = options[0]
    if len(options) == 1:
        return first
    found = dict(first)
    for other in options[1:]:
        for name, value in other.items():
            mine = found.setdefault(name, value)
            if mine is not value:
                found[name] = join((mine, value))
    return found


def _forget(names: Env, bound: frozenset[str]) -> Env:
    """The names with those that a loop assigns as they may be in any turn."""
    found = dict(names)
    for name in bound:
        match found.get(name, UNKNOWN):
            case Sequence(items=items):
                found[name] = Sequence(list(items), open=True)
            case Mapping(items=known, others=others):
                found[name] = Mapping(dict(known), open=True, others=others)
            case Thing(origins=origins, name=called, holds=holds):
                found[name] = Thing(origins, called, holds=holds)
            case Function() | Class() | Ref() | Object():
                pass
            case _:
                found[name] = UNKNOWN
    return found


def _loop(run: Run, node: Loop, scope: Scope) -> int:
    outer = run.certain
    over = expressions.evaluate(run, node.over, scope) if node.over else None
    leaves = run.leaves
    if node.over and node.target:
        known = items_of(over, keys=node.keys)
        if known is not None and len(known) <= min(MAX_TURNS, run.turns):
            return leaves | _turns(run, node, known, scope)
    test = None if node.over else run.decided(expressions.evaluate(run, node.test, scope)) if node.test else True
    if test is False and not node.once:
        return leaves | (block(run, node.orelse, scope) if node.orelse else NEXT)
    before, changes = scope.names, run.changes
    run.spend(len(before) // 16)
    scope.names = _forget(before, node.bound)
    if node.target:
        expressions.assign(run, node.target, element(over) if not node.keys else UNKNOWN, scope)
    elif node.test:
        test = run.decided(expressions.evaluate(run, node.test, scope))
    run.certain = outer and (node.once or test is True)
    flow = block(run, node.body, scope)
    run.certain = outer
    if not node.once:
        scope.names = join_names([before, scope.names])
    if run.changes != changes:
        _later_turns(run, node, over, scope)
    if node.orelse:
        run.certain = outer and not flow & BREAK
        flow |= block(run, node.orelse, scope)
        run.certain = outer
    return leaves | flow & ~(BREAK | CONTINUE) | NEXT


def _later_turns(run: Run, node: Loop, over: Value, scope: Scope) -> None:
    """Looks for effects that only a later turn has, since an earlier one left something different behind."""
    for _ in range(_MOST_PASSES):
        changes = run.changes
        before = scope.names
        with run.aside():
            scope.names = _forget(before, node.bound)
            if node.target:
                expressions.assign(run, node.target, UNKNOWN if node.keys else element(over), scope)
            elif node.test:
                expressions.evaluate(run, node.test, scope)
            block(run, node.body, scope)
        scope.names = join_names([before, scope.names])
        if run.changes == changes:
            return
        if run.dry:
            return  # the loop around this one comes by again
    run.open("what a loop does changes with every turn")


def _turns(run: Run, node: Loop, items: list[Value], scope: Scope) -> int:
    """A loop over known items, turn by turn."""
    outer, ends, flow = run.certain, 0, NEXT
    fresh = run.repeated is None
    if fresh:
        run.repeated = set()
    run.turns -= len(items)
    for item in items:
        run.spend()
        expressions.assign(run, node.target or Const(None), item, scope)
        run.certain = outer and not ends & (BREAK | RETURN | EXIT)
        flow = block(run, node.body, scope)
        ends |= flow
        if not flow & (NEXT | CONTINUE):
            break
    if fresh:
        run.repeated = None
    run.certain = outer
    if ends & BREAK and ends & NEXT:
        scope.names = _forget(scope.names, node.bound)
    flow = NEXT if flow & (NEXT | CONTINUE | BREAK) else 0
    if node.orelse and flow:
        run.certain = outer and not ends & BREAK
        flow = block(run, node.orelse, scope) | (NEXT if ends & BREAK else 0)
        run.certain = outer
    return flow | ends & ~(NEXT | BREAK | CONTINUE)


def _try(run: Run, node: Try, scope: Scope) -> int:
    outer, before = run.certain, scope.names
    swallows = any(not fails(body) for _, body in node.handlers)
    run.certain = outer and not swallows
    scope.names = dict(before)
    flow = block(run, node.body, scope)
    if flow & NEXT and node.orelse:
        flow = flow & ~NEXT | block(run, node.orelse, scope)
    ends = [(flow & ~RAISE if node.handlers else flow, scope.names)]
    for name, body in node.handlers:
        run.spend(len(before) // 16)
        run.certain = False
        scope.names = _forget(join_names([before, ends[0][1]]), node.bound)
        for bound in node.bound:
            ever = scope.ever.get(bound, {})
            if len(ever) > 1:  # which of them it is depends on where something was raised
                scope.names[bound] = opaque(*ever.values())
        if name:
            scope.names[name] = UNKNOWN
        ends.append((block(run, body, scope), scope.names))
    scope.names = join_names([names for flow, names in ends if flow & NEXT] or [ends[0][1]])
    run.certain = outer
    flow = 0
    for way, _ in ends:
        flow |= way
    if node.final:
        last = block(run, node.final, scope)
        run.certain = outer
        flow = flow | last & ~NEXT if last & NEXT else last
    return flow


def _with(run: Run, node: With, scope: Scope) -> int:
    outer = run.certain
    opened: list[Value] = []
    later: list[tuple[list[Step | Spawn], str | None]] = []
    for context, target in node.items:
        value = (
            expressions.owner(run, context, scope) if target is None else expressions.named(run, context, target, scope)
        )
        if isinstance(value, Thing) and value.name == "contextlib.suppress()":
            run.certain = False
        opened.append(value)
        if isinstance(value, Object):
            value = calls.member_call(run, value, "__enter__")
        if isinstance(value, Sequence) and not is_pattern(element(value)):  # a generator that is made a context
            if len(value.pauses) == 2 and value.pauses[1].steps == len(run.steps):
                pause, last = value.pauses
                later.append((run.steps[pause.steps :], last.cwd))  # it goes on from its `yield` behind the body
                del run.steps[pause.steps :]
                run.cwd, value = pause.cwd, pause.value
            else:
                value = element(value)
        if target is not None:
            expressions.assign(run, target, value, scope)
    leaves = run.leaves
    flow = block(run, node.body, scope)
    run.certain = outer
    for value in opened:
        if isinstance(value, Object):
            calls.member_call(run, value, "__exit__")
    for steps, end in reversed(later):
        run.steps += steps
        run.cwd = end
    return flow | leaves


_HOW = {
    "property": "property",
    "cached_property": "property",
    "functools.cached_property": "property",
    "staticmethod": "static",
    "classmethod": "class",
}


def _define(run: Run, node: Define, scope: Scope) -> None:
    function = Function(node.function, scope, name=node.function.name)
    function.defaults = expressions.defaults(run, node.function, scope)
    value: Value = function
    for decorator in reversed(node.decorators):
        how = _HOW.get(plain(decorator) or "", "")
        function.how = function.how or how
        if not how:
            value = _decorated(run, decorator, value, function, scope)
    bind(run, node.function.name, value, scope)


def _decorated(run: Run, decorator: Expr, value: Value, function: Function, scope: Scope) -> Value:
    """What a decorator makes of a function: what it returns, if it is one of the script; else it may call it."""
    site = Site(scope, function.node.line)
    given = Arguments([(Opaque(), value)])
    match expressions.owner(run, decorator, scope):
        case Function() as own:
            return run.invoke(own, given.positional, given)
        case Ref(name=name) if run.library.only_computes(run.library.canonical(name)):
            pass
        case Thing(name=name, holds=()) if name and run.library.only_computes(name):
            pass
        case other:
            with run.aside():
                run.apply(other, given, site)
            run.look_again(function)
            return value
    run.loose.setdefault(id(function.node), function)
    return value


def _class(run: Run, node: ClassDef, scope: Scope) -> None:
    bases = tuple(expressions.evaluate(run, base, scope) for base in node.bases)
    extra = [expressions.owner(run, each, scope) for each in node.extra]
    inner = Scope({}, outer=scope, module=scope.module or scope)
    block(run, node.body, inner)
    made = Class(node.name, inner.names, bases)
    foreign = not all(isinstance(base, Class) or _is_plain(base) for base in bases) or bool(extra)
    for name, each in inner.names.items():
        if isinstance(each, Function):
            each.scope = scope
            each.name = f"{node.name}.{each.node.name}"
            each.within = made
            run.methods.setdefault(name, []).append(each)
            special = (name.startswith(("__", "[")) and name != "__init__") or name in _CALLED_UNSEEN
            if foreign or special or each.how == "property" or each.node.accessor:
                run.loose.setdefault(id(each.node), replace(each, this=Object(made)))
    value: Value = made
    for each in extra:
        if isinstance(each, Function):
            value = run.invoke(each, [(Opaque(), value)])
        elif not (isinstance(each, Ref) and run.library.only_computes(run.library.canonical(each.name))):
            with run.aside():
                run.apply(each, Arguments([(Opaque(), made)]), Site(scope, run.line))
    for base in bases:
        hook = member(base, "__init_subclass__") if isinstance(base, Class) else None
        if isinstance(hook, Function):
            run.invoke(replace(hook, this=made), [])
    bind(run, node.name, value, scope)


_CALLED_UNSEEN = frozenset({"toString", "valueOf", "toJSON", "then", "next", "return"})
"""Methods that JavaScript calls where no call is written."""


def _is_plain(base: Value) -> bool:
    return isinstance(base, Ref) and base.name in ("object", "Exception", "dict", "list", "tuple", "str", "int", "set")


def _outer(node: Outer, scope: Scope) -> None:
    for name in node.names:
        where = scope.outer
        while where is not None and name not in where.names and where.outer is not None:
            where = where.outer
        scope.outside[name] = where or scope

"""Functions of the script that are called: arguments are bound to parameters, and the body is gone through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.abstraction.scripts import expressions
from vigil_lang.abstraction.scripts.site import Arguments
from vigil_lang.abstraction.scripts.state import EXIT, FAIL, MAX_AGAIN, MAX_CALLS, MAX_WORK, NEXT, RAISE, RETURN
from vigil_lang.abstraction.scripts.tree import Opaque
from vigil_lang.abstraction.scripts.values import WITHIN, Mapping, Pause, Scope, Sequence, Thing, active, join, opaque

if TYPE_CHECKING:
    from vigil_lang.abstraction.scripts.state import Run
    from vigil_lang.abstraction.scripts.tree import Expr
    from vigil_lang.abstraction.scripts.values import Function, Value


def invoke(run: Run, callee: Function, positional: list[tuple[Expr, Value]], given: Arguments | None = None) -> Value:
    """What a function of the script returns, having done what it does; unknown where it is not followed."""
    node = callee.node
    if any(node is other for other in run.revisited):
        return opaque(*(v for _, v in positional))
    if any(node is other for other in run.calls):  # another turn of it may do what this one does not
        run.revisited.append(node)
        with run.aside():
            _follow(run, callee, [(Opaque(), opaque(v)) for _, v in positional], None)
        run.revisited.pop()
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
    run.paused.append([])
    before = run.cwd
    ends = run.block(node.body, inner)
    values, items, paused = run.returned.pop(), run.yielded.pop(), run.paused.pop()
    run.calls.pop()
    run.certain = outer
    run.leaves = leaves | ends & (EXIT | FAIL | RAISE)
    run.stops = stops or not ends & (NEXT | RETURN)
    if run.leaves & EXIT:
        run.certain = False
    if node.generator:
        pauses = (*paused, Pause(run.cwd, len(run.steps)))
        if any(each.cwd != before for each in pauses):
            run.cwd = None  # where the script is depends on how far somebody goes through it
        return Sequence([opaque(*items)] if active(*items) else [], open=True, pauses=pauses)
    if ends & NEXT and values:
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
    if callee.within is not None:
        inner.names[WITHIN] = callee.within
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
            expressions.assign(run, param.pattern, value, inner)
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
            with run.aside():
                run.calls.clear()
                _follow(run, function, [], Arguments(more=True))

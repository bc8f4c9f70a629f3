"""Functions that what is called may call in turn: what it is handed, and each item of what it goes through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from vigil_lang.abstraction.scripts.draft import MAX_TEXTS
from vigil_lang.abstraction.scripts.site import Arguments
from vigil_lang.abstraction.scripts.tree import Opaque
from vigil_lang.abstraction.scripts.values import (
    UNKNOWN,
    Class,
    Function,
    Mapping,
    Object,
    Ref,
    Request,
    Sequence,
    Thing,
    element,
    is_literal,
    items_of,
    join,
    let_go,
    methods_of,
    parameters,
)
from vigil_lang.abstraction.step import Step

if TYPE_CHECKING:
    from vigil_lang.abstraction.scripts.site import Site
    from vigil_lang.abstraction.scripts.state import Run
    from vigil_lang.abstraction.scripts.values import Value


def call_handed(run: Run, given: Arguments, item: Value) -> Value:
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
                found.append(run.invoke(value, [(Opaque(), item), *[(Opaque(), other)] * more]))
                run.certain, run.stops = outer, stops
            case Function():
                run.look_again(value)
            case Object() | Class():
                for each in methods_of(value):
                    run.look_again(each)
            case Ref(name=name) if run.may_act(name):
                run.open(f"{name} is passed to code that may call it")
            case _:
                pass
    return join(found)


_HANDED = 3
"""How deep in what a function is given an empty list may be that it fills."""


def hand_over(given: Arguments, *, fills: bool) -> None:
    """A file that is handed to a function may get anything written into it, and what is empty may be filled."""
    waiting = [(value, 0) for value in given.values() if not is_literal(value)]
    for value, depth in waiting:
        inside: list[Value] = []
        match value:
            case Thing(step=Step()):
                let_go(value)
            case Thing(request=Request() as request) if fills:
                request.forget()
            case Sequence(items=items):
                value.open |= fills and not items
                inside = items
            case Mapping(items=known):
                value.open |= fills and not known
                inside = list(known.values())
            case Object(members=members):
                inside = list(members.values())
        if depth < _HANDED and len(waiting) < MAX_TEXTS:
            waiting += [(each, depth + 1) for each in inside[:MAX_TEXTS]]


def for_each(run: Run, callee: Value, over: Value, site: Site, *, keep: bool = False, spread: bool = False) -> Value:
    """Calls a function with each of some items, or with what is in each; a list of what it returns, or of the items."""
    items = items_of(over)
    if items is not None and len(items) > min(64, run.turns):
        items = None
    run.turns -= len(items or ())
    outer, stops, leaves = run.certain, run.stops, run.leaves
    run.certain = False
    found: list[Value] = []
    for item in [element(over)] if items is None else items:
        parts = items_of(item) if spread else [item]
        given = Arguments([(Opaque(), part) for part in parts or ()], more=parts is None)
        if isinstance(callee, Function):
            found.append(run.invoke(callee, given.positional, given))
        elif callee is not None:
            found.append(run.apply(callee, given, site))
    run.certain, run.stops, run.leaves = outer, stops, leaves
    if keep:
        return Sequence(list(items) if items is not None else [element(over)], open=True)
    return Sequence(found, open=items is None)


def handed_on(run: Run, name: str, given: Arguments, site: Site) -> Value | Literal[False]:
    """Calls the function that one like `executor.submit(f, x)` or `Thread(target=f)` is given to call, if it is one.

    What it returns, in a list; False where no function is called.
    """
    last = name.rpartition(".")[2]
    callee, spread = given.get(-1, "target"), given.get(-1, "args")
    rest = list(spread.items) if isinstance(spread, Sequence) else []
    if callee is None and last in _HANDS_ON:
        for i, (_, value) in enumerate(given.positional):
            if isinstance(value, Function | Ref):
                callee = value
                rest = [v for _, v in given.positional[i + 1 :]] or rest
                break
    if not isinstance(callee, Function | Ref):
        return False
    if last in ("map", "imap", "imap_unordered", "starmap", "map_async"):
        over = rest[0] if rest else UNKNOWN
        return Sequence([for_each(run, callee, over, site, spread=last == "starmap")])
    outer, stops, leaves = run.certain, run.stops, run.leaves
    run.certain = False
    arguments = Arguments([(Opaque(), v) for v in rest])
    if isinstance(callee, Function):
        found = run.invoke(callee, arguments.positional, arguments)
    else:
        found = run.apply(callee, arguments, site)
    run.certain, run.stops, run.leaves = outer, stops, leaves
    return Sequence([found])


_HANDS_ON = frozenset(
    {"submit", "Thread", "Process", "Timer", "apply", "apply_async", "map", "imap", "imap_unordered", "starmap"}
    | {"map_async", "run_in_executor", "to_thread", "register", "call_later", "call_soon"}
)

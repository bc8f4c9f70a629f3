"""The values of expressions, as far as they are known, and the calls in them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vigil_lang.abstraction.scripts import calls, emit, pure
from vigil_lang.abstraction.scripts.attributes import attribute, is_environment
from vigil_lang.abstraction.scripts.bindings import bind, set_item
from vigil_lang.abstraction.scripts.libraries import BUILT_IN
from vigil_lang.abstraction.scripts.site import Arguments, Site
from vigil_lang.abstraction.scripts.state import MAX_DEPTH
from vigil_lang.abstraction.scripts.tree import (
    Attr,
    Await,
    Binary,
    Bind,
    Call,
    Choice,
    Compare,
    Const,
    Each,
    Index,
    Items,
    Lambda,
    Logic,
    Name,
    Not,
    Opaque,
    Pairs,
    Star,
    Sum,
    Yield,
    fails,
    plain,
)
from vigil_lang.abstraction.scripts.values import (
    MAX_ITEMS,
    MAX_STRING,
    MAX_TURNS,
    UNKNOWN,
    Class,
    Function,
    Mapping,
    Object,
    Pause,
    Ref,
    Scope,
    Sequence,
    Thing,
    active,
    anything,
    element,
    is_literal,
    items_of,
    join,
    let_go,
    limited,
    member,
    merge_into,
    opaque,
    part,
    qualified,
    truth,
)

if TYPE_CHECKING:
    from vigil_lang.abstraction.scripts.state import Run
    from vigil_lang.abstraction.scripts.tree import Expr
    from vigil_lang.abstraction.scripts.values import Env, Value


def evaluate(run: Run, node: Expr, scope: Scope) -> Value:
    """The value of an expression; the calls in it happen.

    The environment as a whole is read where it is a value; a function may be called by whoever gets it, and a file that
    is open may be written to.
    """
    found = owner(run, node, scope)
    if isinstance(found, Thing):
        let_go(found)
        if found.shape:
            run.spend(len(found.shape) // 256)
        return found
    match found:
        case Ref(name=name) if isinstance(node, Name | Attr | Index) and (
            name == "process" or is_environment(run, name)
        ):
            read = emit.environment_read(run, UNKNOWN, scope)
            return found if name == "process" else read
        case Function() if isinstance(node, Name | Attr | Lambda):
            run.loose.setdefault(id(found.node), found)
        case str() | bytes():
            if len(found) > 255:
                run.spend(len(found) // 256)
        case Sequence(items=items):
            run.spend(len(items) // 32)
    return found


def owner(run: Run, node: Expr, scope: Scope) -> Value:
    """The value of an expression that is called, or of which a part is taken."""
    match node:
        case Const():
            value = node.value
            return UNKNOWN if isinstance(value, str | bytes) and len(value) > MAX_STRING else value
        case Name():
            return look_up(run, node.id, scope)
    run.spend()
    if run.depth >= MAX_DEPTH:
        run.trouble["what the script does is nested too deeply to be followed"] = None
        run.open("the code is nested too deeply to be followed")
        return UNKNOWN
    run.depth += 1
    found = _evaluate(run, node, scope)
    run.depth -= 1
    return found


def _evaluate(run: Run, node: Expr, scope: Scope) -> Value:
    match node:
        case Call():
            return call(run, node, scope)
        case Attr():
            run.line = node.line
            return attribute(run, owner(run, node.value, scope), node.name, scope)
        case Index():
            run.line = node.line
            return _index(run, node, scope)
        case Sum():
            values = [evaluate(run, p, scope) for p in node.parts]
            if any(isinstance(v, Object) for v in values):
                return opaque(*values)
            return pure.add(values, node.parts, node.text, run.language)
        case Items():
            return _items(run, node, scope)
        case Pairs():
            return _pairs(run, node, scope)
        case Lambda():
            this = scope.names.get("this") if node.arrow else None
            return Function(node, scope, name=node.name, this=this, defaults=defaults(run, node, scope))
        case Binary():
            return pure.binary(node.op, evaluate(run, node.left, scope), evaluate(run, node.right, scope), run.language)
        case Compare():
            left, right = evaluate(run, node.left, scope), evaluate(run, node.right, scope)
            if left is None and right is None and run.language == "javascript":
                return UNKNOWN  # `null` and `undefined` are None both
            return pure.compare(node.op, left, right)
        case Not():
            known = truth(evaluate(run, node.value, scope), run.language)
            return UNKNOWN if known is None else not known
        case Logic():
            return _logic(run, node, scope)
        case Choice():
            return _choice(run, node, scope)
        case Each():
            return _each(run, node, scope)
        case Await():
            inner = node.value
            return call(run, inner, scope, awaited=True) if isinstance(inner, Call) else evaluate(run, inner, scope)
        case Bind():
            value = named(run, node.value, node.target, scope)
            assign(run, node.target, value, scope)
            return value
        case Star():
            return opaque(evaluate(run, node.value, scope))
        case Yield():
            given = evaluate(run, node.value, scope)
            run.yielded[-1].append(opaque(given))
            run.paused[-1].append(Pause(run.cwd, len(run.steps), given))
            return opaque(given)
        case Opaque():
            return opaque(*[evaluate(run, inner, scope) for inner in node.parts])
    return UNKNOWN


def defaults(run: Run, node: Lambda, scope: Scope) -> Env:
    """What Python computes when a function is defined: the values of parameters that are not given."""
    if run.language != "python":
        return {}
    return {p.name: evaluate(run, p.default, scope) for p in node.params if p.default is not None}


def _is_bound(name: str, scope: Scope) -> bool:
    """Whether the script has given something this name."""
    inner: Scope | None = scope
    while inner is not None and name not in inner.names:
        inner = inner.outer
    return inner is not None


def look_up(run: Run, name: str, scope: Scope) -> Value:
    """The value of a name: of the scope, of one around it, or built in."""
    inner: Scope | None = scope.outside.get(name, scope)
    while inner is not None:
        if name in inner.names:
            return inner.names[name]
        inner = inner.outer
    found = pure.constant(name)
    if found is not None:
        return found
    star = (scope.module or scope).star
    if name in BUILT_IN[run.language] or name in run.library.table("builtins"):
        return Ref(name)
    return Ref(f"{star}.{name}") if star else anything()


def _index(run: Run, node: Index, scope: Scope) -> Value:
    whole = owner(run, node.value, scope)
    key = evaluate(run, node.key, scope) if node.key else UNKNOWN
    for bound in node.bounds:
        evaluate(run, bound, scope)
    return _item(run, whole, key, node, scope)


def _item(run: Run, owner: Value, key: Value, node: Index, scope: Scope) -> Value:
    match owner:
        case Ref(name=name) if is_environment(run, name):
            return emit.environment_read(run, key, scope)
        case Sequence(open=False) if isinstance(key, int):
            return owner.items[key] if -len(owner.items) <= key < len(owner.items) else opaque(owner)
        case Sequence():
            return Sequence(list(owner.items), open=True) if node.key is None else element(owner)
        case Mapping():
            if isinstance(key, str | int | float) and key in owner.items:
                return owner.items[key]
            if isinstance(key, str | int | float) and not owner.open and not owner.others:
                return UNKNOWN if not owner.items else opaque(owner)
            return join([*owner.items.values(), *owner.others])
        case str() if isinstance(key, int) and -len(owner) <= key < len(owner):
            return owner[key]
        case Thing(name=name) if name.startswith("*"):
            return owner if node.key is None else element(owner)
        case Thing(name="pathlib.Path.parents", text=str(text)) if isinstance(key, int) and 0 <= key < 50:
            return pure.ancestor(text, key + 1)
        case Thing():
            return part(owner, "[]")
        case Ref(name=name) if isinstance(key, str) and key.isidentifier():
            return Ref(f"{name}.{key}")
        case Ref(name=name):
            return Thing(name=qualified(name, "[]"), holds=(owner,))
        case Object() | Class() if isinstance(key, str):
            return member(owner, key)
        case _:
            return opaque(owner)


def _items(run: Run, node: Items, scope: Scope) -> Value:
    found = Sequence()
    for item in node.items[:MAX_ITEMS]:
        if isinstance(item, Star):
            known = items_of(spread := evaluate(run, item.value, scope))
            found.items += [element(spread)] if known is None else known
            found.open |= known is None
        else:
            found.items.append(evaluate(run, item, scope))
        if len(found.items) > MAX_ITEMS:
            found.items, cut = limited(found.items)
            found.open |= cut
    if len(node.items) > MAX_ITEMS:
        found.open = True
        found.items = limited([*found.items, *(evaluate(run, item, scope) for item in node.items[MAX_ITEMS:])])[0]
    found.open |= node.unordered and len({i for i in found.items if is_literal(i)}) < len(found.items)
    return found


def _pairs(run: Run, node: Pairs, scope: Scope) -> Value:
    found = Mapping()
    for key_node, value_node in node.pairs:
        value = evaluate(run, value_node, scope)
        if key_node is not None:
            set_item(run, found, evaluate(run, key_node, scope), value)
        elif isinstance(value, Mapping):
            merge_into(found, value)
            run.spend(len(value.items) // 4)
        else:
            found.open = True
            found.others = [*found.others[-7:], opaque(value)] if active(value) else found.others
    return found


def _logic(run: Run, node: Logic, scope: Scope) -> Value:
    outer = run.certain
    found: list[Value] = []
    for inner in node.values:
        value = evaluate(run, inner, scope)
        known = value is not None if is_literal(value) and node.op == "??" else run.decided(value)
        stops = known is True if node.op != "and" else known is False
        if not (known is not None and not stops):
            found.append(value)
        if stops:
            break
        if known is None:  # what follows may not happen
            run.certain, run.stops = False, False
    else:
        found = found or [value]
        found += [value] if value is not found[-1] else []
    run.certain = outer
    return join(found)


def _choice(run: Run, node: Choice, scope: Scope) -> Value:
    known = run.decided(evaluate(run, node.test, scope))
    if known is not None:
        return evaluate(run, node.yes if known else node.no, scope)
    outer, run.certain = run.certain, False
    options = (evaluate(run, node.yes, scope), evaluate(run, node.no, scope))
    run.certain, run.stops = outer, False
    return join(options)


def _each(run: Run, node: Each, scope: Scope) -> Value:
    """A comprehension: over known items turn by turn, else once for any of them."""
    outer = run.certain
    inner = Scope({}, outer=scope, module=scope.module or scope)
    target, over, _tests = node.loops[0]
    source = evaluate(run, over, scope)
    known = items_of(source)
    if len(node.loops) > 1 or known is None or len(known) > min(MAX_TURNS, run.turns):
        known = None
    sequence, mapping = Sequence(open=known is None), Mapping(open=known is None)
    run.turns -= len(known or ())
    run.certain = outer and known is not None
    for item in [element(source)] if known is None else known:
        assign(run, target, item, inner)
        for more_target, more_over, _ in node.loops[1:]:
            assign(run, more_target, element(evaluate(run, more_over, inner)), inner)
        kept = [run.decided(evaluate(run, test, inner)) for _, _, conditions in node.loops for test in conditions]
        if False in kept:
            continue
        run.certain &= None not in kept
        element_value = evaluate(run, node.element, inner)
        if node.value is None:
            sequence.items.append(element_value)
            sequence.open |= None in kept
        else:
            set_item(run, mapping, element_value, evaluate(run, node.value, inner))
            mapping.open |= None in kept
        run.certain = outer and known is not None
    run.certain = outer
    return sequence if node.value is None else mapping


def assign(run: Run, target: Expr, value: Value, scope: Scope) -> None:
    """Gives a name, an attribute, an item or several of these a value."""
    match target:
        case Name(id=name):
            bind(run, name, value, scope)
        case Items(items=targets):
            for inner, item in zip(targets, _taken_apart(value, targets), strict=False):
                assign(run, inner, item, scope)
        case Star(value=inner):
            assign(run, inner, value, scope)
        case Attr(value=whole, name=name):
            holder = owner(run, whole, scope)
            if run.language == "javascript":
                emit.environment(run, holder, name, value, scope)
                if name in _LOADS and isinstance(holder, Thing | Ref):
                    run.open(f"what {name} is set to is loaded")
            set_item(run, holder, name, value)
        case Index(value=whole, key=key, line=line):
            run.line = line
            holder = owner(run, whole, scope)
            key_value = evaluate(run, key, scope) if key else UNKNOWN
            for bound in target.bounds:
                evaluate(run, bound, scope)
            emit.environment(run, holder, key_value, value, scope)
            set_item(run, holder, key_value, value)
        case Pairs(pairs=pairs):
            for key_node, inner in pairs:
                key_value = evaluate(run, key_node, scope) if key_node else UNKNOWN
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
        return evaluate(run, default, scope)
    if not isinstance(value, Thing):
        return value
    outer, run.certain = run.certain, False
    other = evaluate(run, default, scope)
    run.certain = outer
    return replace(value, holds=active(*value.holds, other)) if active(other) else value


def _taken_out(run: Run, value: Value, key: Value, scope: Scope) -> Value:
    """What a name gets of an object: nothing, of one that is known not to have it."""
    if not isinstance(key, str):
        return opaque(value) if not isinstance(value, Ref) else anything()
    if isinstance(value, Mapping) and not value.open and not value.others:
        return value.items.get(key)
    return attribute(run, value, key, scope)


def _taken_apart(value: Value, targets: tuple[Expr, ...]) -> list[Value]:
    """What each of several targets gets of a value."""
    star = next((i for i, t in enumerate(targets) if isinstance(t, Star)), None)
    known = items_of(value)
    if (
        known is None
        or (star is None and len(known) < len(targets))
        or (star is not None and len(known) + 1 < len(targets))
    ):
        return [element(value)] * len(targets)
    if star is None:
        return known
    after = len(targets) - star - 1
    rest: list[Value] = [Sequence(known[star : len(known) - after])]
    return known[:star] + rest + known[len(known) - after :]


def call(run: Run, node: Call, scope: Scope, names: tuple[str, ...] = (), *, awaited: bool = False) -> Value:
    """The result of a call, which happens."""
    func, site = node.func, Site(scope, node.line, names)
    run.spend()
    run.line = node.line
    if isinstance(func, Attr):
        outer = run.certain
        if func.name == "catch" and run.language == "javascript" and not _handler_fails(node):
            run.certain = False  # what fails is made good
        this = owner(run, func.value, scope)
        run.certain = outer
        given = arguments(run, node, scope)
        return calls.method(run, this, func.name, given, site, awaited=awaited)
    if isinstance(func, Name) and func.id == "super":
        parent = calls.parent_of(scope)
        if run.language == "javascript":
            calls.call_parent(run, parent, arguments(run, node, scope), site)
        return parent
    if isinstance(func, Name) and func.id == "await" and len(node.args) == 1 and not _is_bound(func.id, scope):
        return evaluate(run, node.args[0], scope)  # `await (f()).g()`, which the grammar takes for a call of `await`
    callee = owner(run, func, scope)
    return calls.apply(run, callee, arguments(run, node, scope), site, awaited=awaited)


def named(run: Run, node: Expr, target: Expr, scope: Scope) -> Value:
    """The value of an expression that is given a name: a call knows it."""
    inner = node.value if isinstance(node, Await) else node
    if not isinstance(inner, Call):
        return evaluate(run, node, scope)
    text = plain(target)
    names = (text,) if text else tuple(filter(None, map(plain, target.items))) if isinstance(target, Items) else ()
    return call(run, inner, scope, names, awaited=inner is not node)


def arguments(run: Run, node: Call, scope: Scope) -> Arguments:
    """The arguments of a call, evaluated in order."""
    found = Arguments()
    for arg in node.args:
        if isinstance(arg, Star):
            spread = evaluate(run, arg.value, scope)
            known = items_of(spread)
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
            found.positional.append((arg, evaluate(run, arg, scope)))
    for name, value_node in node.keywords:
        prints_to = name == "file" and isinstance(node.func, Name) and node.func.id == "print"
        value = (owner if prints_to else evaluate)(run, value_node, scope)
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


def _handler_fails(node: Call) -> bool:
    """Whether what `.catch()` is given ends the program as failed."""
    handler = node.args[0] if node.args else None
    return isinstance(handler, Lambda) and fails(handler.body)

"""The values of expressions, as far as they are known, and the calls in them."""

from __future__ import annotations

from dataclasses import replace

from vigil_lang.abstraction.scripts import calls, emit, pure, targets
from vigil_lang.abstraction.scripts.libraries import BUILT_IN
from vigil_lang.abstraction.scripts.state import MAX_DEPTH, MAX_TURNS, Run
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
    Expr,
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
)
from vigil_lang.abstraction.scripts.values import (
    MAX_ITEMS,
    MAX_STRING,
    NAMELESS,
    UNKNOWN,
    Class,
    Env,
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
    part,
    qualified,
    truth,
)


def evaluate(run: Run, node: Expr, scope: Scope) -> Value:
    """The value of an expression; the calls in it happen.

    The environment as a whole is read where it is a value; a function may be called by whoever gets it.
    """
    found = owner(run, node, scope)
    if isinstance(found, Thing):
        if found.shape:
            run.spend(len(found.shape) // 256)
        return found
    match found:
        case Ref(name=name) if isinstance(node, Name | Attr | Index) and (
            name == "process" or _is_environment(run, name)
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
            return calls.call(run, node, scope)
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
            return (
                calls.call(run, inner, scope, awaited=True) if isinstance(inner, Call) else evaluate(run, inner, scope)
            )
        case Bind():
            value = calls.named(run, node.value, node.target, scope)
            targets.assign(run, node.target, value, scope)
            return value
        case Star():
            return opaque(evaluate(run, node.value, scope))
        case Yield():
            given = evaluate(run, node.value, scope)
            run.yielded[-1].append(opaque(given))
            return opaque(given)
        case Opaque():
            return opaque(*[evaluate(run, inner, scope) for inner in node.parts])
    return UNKNOWN


def defaults(run: Run, node: Lambda, scope: Scope) -> Env:
    """What Python computes when a function is defined: the values of parameters that are not given."""
    if run.language != "python":
        return {}
    return {p.name: evaluate(run, p.default, scope) for p in node.params if p.default is not None}


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


def attribute(run: Run, owner: Value, name: str, scope: Scope) -> Value:
    """The value of `owner.name`."""
    if name.startswith("__") and name.endswith("__") and name not in _PLAIN and not isinstance(owner, Object):
        return anything(owner)  # a way to what the name of nobody tells
    match owner:
        case Ref():
            full = f"{owner.name}.{name}"
            constant = pure.constant(full)
            if constant is not None:
                return constant
            if run.language == "javascript" and _is_environment(run, owner.name):
                return emit.environment_read(run, name, scope)
            return _special(run, full) or Ref(full)
        case Thing():
            if owner.name in ("pathlib.Path", "pathlib.PurePath"):
                return pure.path_attribute(owner, name)
            return part(owner, f".{name}")
        case Class() if name == "prototype" and run.language == "javascript":
            return owner
        case Object() | Class():
            found = member(owner, name)
            if isinstance(found, Function) and found.how == "property":
                return calls.invoke(run, found, [])
            return found
        case Mapping() if name in owner.items:
            return owner.items[name]
        case Mapping() if owner.open or owner.others:
            return join(owner.others)
        case Sequence() | str() if name == "length":
            known = items_of(owner) if isinstance(owner, Sequence) else owner
            if known is None or (isinstance(known, str) and not known.isascii()):
                return UNKNOWN
            return len(known)
        case _:
            return opaque(owner)


def _is_environment(run: Run, name: str) -> bool:
    """Whether something by this name is the environment."""
    return name.endswith(("env", "environ", "environb")) and run.library.canonical(name) in emit.ENVIRONMENTS


_PLAIN = frozenset(
    ["__name__", "__file__", "__doc__", "__version__", "__qualname__", "__module__", "__class__", "__len__"]
)
"""Attributes with underscores that lead nowhere."""


def _special(run: Run, name: str) -> Value:
    """Values that depend on how the script is run; None for others."""
    if name in ("sys.argv", "process.argv"):
        return run.argv
    return None


def member(owner: Object | Class, name: str) -> Value:
    """A member of an object or a class, its own or of a base; a function of an object is its method."""
    kind = owner.kind if isinstance(owner, Object) else owner
    if isinstance(owner, Object) and name in owner.members:
        return owner.members[name]
    waiting: list[Value] = [kind]
    for _ in range(16):
        if not waiting:
            break
        match waiting.pop(0):
            case Class() as base:
                if name in base.members:
                    found = base.members[name]
                    if isinstance(found, Function) and found.how != "static":
                        this = kind if found.how == "class" else owner if isinstance(owner, Object) else None
                        return replace(found, this=this, given=())
                    return found
                waiting += base.bases
            case Ref() | Thing() if isinstance(owner, Object) and NAMELESS in owner.members:
                return owner.members[NAMELESS]  # one of what it was made of
            case Ref(name=library) if library and library != "object":
                return Thing(name=qualified(library, f".{name}"))
            case Thing(name=library) if library:
                return Thing(name=qualified(library, f".{name}"))
    return owner.members.get(NAMELESS, UNKNOWN) if isinstance(owner, Object) else UNKNOWN


def items_of(value: Value, *, keys: bool = False) -> list[Value] | None:
    """All items a loop goes through; None where they are not known."""
    match value:
        case Sequence(open=False):
            return [i for i in range(len(value.items))] if keys else list(value.items)  # noqa: C416
        case Mapping(open=False, others=[]):
            return list(value.items)
        case str() if len(value) <= MAX_TURNS:
            return list(value)
        case _:
            return None


def _index(run: Run, node: Index, scope: Scope) -> Value:
    whole = owner(run, node.value, scope)
    key = evaluate(run, node.key, scope) if node.key else UNKNOWN
    for bound in node.bounds:
        evaluate(run, bound, scope)
    return _item(run, whole, key, node, scope)


def _item(run: Run, owner: Value, key: Value, node: Index, scope: Scope) -> Value:
    match owner:
        case Ref(name=name) if _is_environment(run, name):
            return emit.environment_read(run, key, scope)
        case Sequence(open=False) if isinstance(key, int) and -len(owner.items) <= key < len(owner.items):
            return owner.items[key]
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
            targets.set_item(run, found, evaluate(run, key_node, scope), value)
        elif isinstance(value, Mapping):
            targets.merge_into(found, value)
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
        targets.assign(run, target, item, inner)
        for more_target, more_over, _ in node.loops[1:]:
            targets.assign(run, more_target, element(evaluate(run, more_over, inner)), inner)
        kept = [run.decided(evaluate(run, test, inner)) for _, _, conditions in node.loops for test in conditions]
        if False in kept:
            continue
        run.certain &= None not in kept
        element_value = evaluate(run, node.element, inner)
        if node.value is None:
            sequence.items.append(element_value)
            sequence.open |= None in kept
        else:
            targets.set_item(run, mapping, element_value, evaluate(run, node.value, inner))
            mapping.open |= None in kept
        run.certain = outer and known is not None
    run.certain = outer
    return sequence if node.value is None else mapping

"""What can be known of a value without running anything.

A literal is itself (text, number, truth value, None). Containers keep what is known to be in them. Everything else is
a `Thing`: where it came from, and what methods of it are called.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.abstraction.scripts.libraries import described
from vigil_lang.trace.values import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.abstraction.scripts.tree import Lambda
    from vigil_lang.abstraction.step import Step


Value: TypeAlias = "str | bytes | int | float | Thing | Ref | Sequence | Mapping | Function | Class | Object | None"

Env: TypeAlias = "dict[str, Value]"

MAX_STRING = 64 * 1024
"""Characters of a text that is kept."""

MAX_ITEMS = 256
"""Items of a container that are kept."""

MAX_TURNS = 64
"""Turns of one loop over known items."""

_MAX_ORIGINS = 8

_MAX_HELD = 16

_MAX_LOOKED = 512

_MAX_JOINED = 2000

_MAX_NAME = 200

NAMELESS = "?"
"""What something is called after of which not even the name is known: nothing is known of what its methods do."""

WITHIN = "__class__"
"""The name under which a method knows the class that it is written in."""

MAILS = ("email.message.", "email.mime.")
"""What mails are called after."""

MADE = "?()"
"""The member of an object of the script that is what it is as one of a library's class: a client, with its address."""


@dataclass(slots=True, eq=False)
class Base:
    """What a client puts before the relative addresses it is given."""

    address: str | None
    """Empty where there is none, None where it is not known."""
    joined: str
    """How: `append`, `resolve` as a browser does a link, `prefix` before a whole address too (in some versions)."""


@dataclass(slots=True, eq=False)
class Request:
    """A request that is made by one call and sent by another."""

    kinds: tuple[str, ...]
    """What sending it is, besides what the call that sends it is."""
    roles: dict[str, tuple[str, ...]]
    """Its address, its machine and its method, as far as they are known."""
    unresolved: tuple[str, ...] = ()

    def forget(self) -> None:
        """It may have become any other."""
        self.roles, self.unresolved = {}, ("url", "method")

    def set(self, name: str, value: Value, *, certain: bool) -> None:
        """One of its attributes is set."""
        known = value if certain and isinstance(value, str) else None
        if name in _OF_NO_ADDRESS:
            return
        if name in _BODIES:
            gone = certain and value is None
            self.kinds = () if gone else ("net.upload",)
            self._set("method", None)
        elif name == "method":
            self._set("method", known.upper() if known is not None else None)
        elif name in ("url", "full_url"):
            self.roles.pop("host", None)
            self._set("url", known)
        else:
            self.forget()

    def _set(self, role: str, text: str | None) -> None:
        self.roles.pop(role, None)
        self.unresolved = tuple(each for each in self.unresolved if each != role)
        if text is None:
            self.unresolved += (role,)
        else:
            self.roles[role] = (text,)


_OF_NO_ADDRESS = frozenset({"headers", "timeout", "unverifiable", "origin_req_host", "auth", "cookies", "hooks"})
"""Attributes of a request that change neither its address nor its method."""

_BODIES = frozenset({"data", "body", "json", "files", "content"})
"""Attributes of a request that are what it sends."""


@dataclass(slots=True, eq=False)
class Thing:
    """A value that is not known, but perhaps where it came from."""

    origins: tuple[str, ...] = ()
    """Qualified names of the functions whose result it is, or is part of."""
    name: str = ""
    """What it is called in the qualified names of its methods: a class, or `f()` for the result of `f`.

    A star before it says that it is the items that are called so.
    """
    of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What was given to the call that made it, by role or keyword."""
    text: str | None = None
    """The path it stands for; with a star in it any path, or part of one, that this pattern matches."""
    shape: str | None = None
    """A text some of which is unknown, with a shell's ``${__name}`` where that is."""
    step: Step | None = None
    """The step that opened this file for writing, as long as all that is written is known."""
    options: list[tuple[tuple[str, ...], dict[str, Value]]] | None = None
    """Names and settings of the options an argument parser was told of."""
    holds: tuple[Value, ...] = ()
    """What it may be, or have in it, that could do something when it is called: functions, modules, objects."""
    base: Base | None = None
    """What it puts before relative addresses, if it is a client."""
    request: Request | None = None
    """The request that it is."""
    recipients: Sequence | None = None
    """Whom it is to be sent to, if it is a mail that says so."""


@dataclass(slots=True, eq=False)
class Ref:
    """Something imported, or built in, by qualified name."""

    name: str


@dataclass(slots=True, eq=False)
class Pause:
    """Where a generator stopped."""

    cwd: str | None
    """The directory the script is in then."""
    steps: int
    """How many steps there were."""
    value: Value = None
    """What it yields."""


@dataclass(slots=True, eq=False)
class Sequence:
    """A list, tuple or set; `open` when there may be more in it than `items`, or it, may be in another order."""

    items: list[Value] = field(default_factory=list)
    open: bool = False
    pauses: tuple[Pause, ...] = ()
    """Where the generator that gives the items stopped, and where it ended."""


@dataclass(slots=True, eq=False)
class Mapping:
    """A mapping with known keys; `open` when there may be more in it."""

    items: dict[str | int | float | bool | None, Value] = field(default_factory=dict)
    open: bool = False
    others: list[Value] = field(default_factory=list)
    """Values under keys that are not known."""


@dataclass(slots=True, eq=False)
class Scope:
    """The names of a module or a function, and the scope around it."""

    names: Env
    outer: Scope | None = None
    module: Scope | None = None
    """None for a module itself."""
    outside: dict[str, Scope] = field(default_factory=dict)
    """Names that are another scope's: `global`, `nonlocal`."""
    path: str | None = None
    """The module's file."""
    star: str | None = None
    """The one module all names were imported from."""
    where: str = ""
    """What is put before its line numbers: a module that was imported is another file."""
    ever: dict[str, dict[object, Value]] = field(default_factory=dict)
    """All that could do something and was given to a name, at any time."""


@dataclass(slots=True, eq=False)
class Function:
    """A function of the script, with the scope it was defined in, and the object it is a method of."""

    node: Lambda
    scope: Scope
    this: Value = None
    name: str = ""
    given: tuple[Value, ...] = ()
    """Arguments it already has (`functools.partial`)."""
    how: str = ""
    """``property``, ``static`` or ``class`` for such a member of a class."""
    within: Class | None = None
    """The class it is written in."""
    defaults: Env = field(default_factory=dict)
    """What parameters are where they are not given, as it was when the function was defined."""


@dataclass(slots=True, eq=False)
class Class:
    """A class of the script, or a module of its own that it imports."""

    name: str
    members: Env
    bases: tuple[Value, ...] = ()
    module: bool = False


@dataclass(slots=True, eq=False)
class Object:
    """An instance of a class of the script."""

    kind: Class
    members: Env = field(default_factory=dict)


UNKNOWN = Thing()

_LITERALS = frozenset({str, int, float, bool, bytes, type(None)})

_WAYS = frozenset({NAMELESS, "functools.partial"})


def active(*values: Value) -> tuple[Value, ...]:
    """What of some values could do something when it or a method of it is called, however deep it is in them.

    One that is beyond the bounds is told as something without a name.
    """
    waiting = [value for value in values if type(value) not in _LITERALS and value is not UNKNOWN]
    if not waiting:
        return ()
    found: dict[int | str, Value] = {}
    seen: set[int] = set()
    looked = 0
    while waiting:
        value = waiting.pop()
        looked += 1
        if looked > _MAX_LOOKED or len(found) > _MAX_HELD:
            return (*list(found.values())[:_MAX_HELD], Ref(NAMELESS))
        match value:
            case Thing():
                if value.name and (value.name in _WAYS or value.name.lstrip("*") in described()):
                    alone = replace(value, holds=()) if value.holds else value
                    found.setdefault(value.name + (value.text or ""), alone)
                waiting += value.holds
            case Ref():
                found[value.name] = value
            case Function() | Class() | Object():
                found[id(value)] = value
            case Sequence() | Mapping() if id(value) in seen:
                pass
            case Sequence(items=items):
                seen.add(id(value))
                waiting += items[: _MAX_LOOKED + 1]
            case Mapping(items=known, others=others):
                seen.add(id(value))
                waiting += [*list(known.values())[: _MAX_LOOKED + 1], *others]
            case _:
                pass
    return tuple(found.values())


def let_go(value: Value) -> None:
    """A file that is open for writing is used in a way that nobody follows: it may get any text."""
    if isinstance(value, Thing) and value.step is not None:
        value.step.content = None
        value.step = None


def opaque(*values: Value) -> Thing:
    """An unknown value that is made of others."""
    held = active(*values)
    return Thing(holds=held) if held else UNKNOWN


def anything(*values: Value) -> Thing:
    """A value of which not even that is known that it does nothing."""
    return Thing(holds=(Ref(NAMELESS), *active(*values)))


def limited(items: list[Value]) -> tuple[list[Value], bool]:
    """As many items as are kept, and whether there were more; what of the others could do something is kept."""
    if len(items) <= MAX_ITEMS:
        return items, False
    return [*items[: MAX_ITEMS - 1], opaque(*items[MAX_ITEMS - 1 :])], True


def is_literal(value: Value) -> bool:
    """Whether a value is known and no container."""
    return type(value) in _LITERALS


def is_pattern(value: Value) -> bool:
    """Whether a value stands for any text that a pattern matches, as those do that a folder is searched for."""
    return isinstance(value, Thing) and value.text is not None and "*" in value.text


def like(text: str, *values: Value) -> Value:
    """The text that is made of these values: itself, or a pattern where one of them is one."""
    patterns = [v for v in values if isinstance(v, Thing) and is_pattern(v)] if "*" in text else []
    return Thing(merge(v.origins for v in patterns), text=text) if patterns else text


def _may_be_empty(found: Sequence) -> bool:
    """Whether all that is in a list are patterns, which perhaps match nothing."""
    parts = (item.items if isinstance(item, Sequence) else [item] for item in found.items)
    return found.open and all(any(map(is_pattern, each)) for each in parts)


def truth(value: Value, language: str = "python") -> bool | None:
    """Whether a test of the value succeeds; None where that is not known."""
    match value:
        case Sequence() if value.items and language == "python" and _may_be_empty(value):
            return None
        case Sequence() | Mapping():
            return True if value.items else None if value.open or language != "python" else False
        case Function():
            return True
        case Class() | Object() | Ref():  # a class or constant that says of itself what it is
            return None
        case Thing():
            return True if value.text is not None and value.name else None
        case _:
            return bool(value)


def join(values: Iterable[Value]) -> Value:
    """What is known of a value that is one of several."""
    return _join(list(values), [_MAX_JOINED])


def _join(options: list[Value], left: list[int]) -> Value:
    """The join of some values; `left` is how many more are looked at, over all that is in them."""
    left[0] -= len(options)
    if not options:
        return UNKNOWN
    if left[0] < 0:
        return anything()
    first = options[0]
    if all(o is first or _same(o, first) for o in options[1:]):
        return first
    things = [o for o in options if o is not None]
    for each in things:
        let_go(each)
    if len(things) == 1 and not is_literal(things[0]) and not isinstance(things[0], Thing):
        return things[0]
    if things and all(isinstance(o, Ref) and isinstance(things[0], Ref) and o.name == things[0].name for o in things):
        return things[0]
    if all(isinstance(o, Sequence) for o in things) and things:
        return _join_sequences([o for o in things if isinstance(o, Sequence)], left)
    names = {o.name if isinstance(o, Thing) else NAMELESS for o in things if not is_literal(o)}
    origins = merge(o.origins for o in things if isinstance(o, Thing))
    if len(names) == 1 and NAMELESS not in names:
        held = active(*(h for o in things if isinstance(o, Thing) for h in o.holds))
        requests = [o.request for o in things if isinstance(o, Thing) and o.request is not None]
        either = Request(merge(r.kinds for r in requests), {}, ("url", "method")) if requests else None
        return Thing(origins, name=names.pop(), holds=held, request=either)
    held = active(*things)
    return Thing(origins, holds=held) if origins or held else UNKNOWN


def _join_sequences(options: list[Sequence], left: list[int]) -> Value:
    if left[0] < sum(len(o.items) for o in options):
        left[0] = -1
        return opaque(*options)
    sizes = {len(o.items) for o in options}
    if len(sizes) == 1 and not any(o.open for o in options):
        joined: list[Value] = []
        for items in zip(*(o.items for o in options), strict=True):
            if left[0] < 0:
                return anything()
            joined.append(_join(list(items), left))
        return Sequence(joined)
    found = [i for o in options for i in o.items]
    return Sequence([_join(found, left)] if found else [], open=True)


def _same(a: Value, b: Value) -> bool:
    return type(a) is type(b) and is_literal(a) and a == b


def merge(origins: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Origins without repetition, in order."""
    return tuple(dict.fromkeys(o for some in origins for o in some))[:_MAX_ORIGINS]


def origins_of(value: Value) -> tuple[str, ...]:
    """The functions a value is known to come from."""
    match value:
        case Thing():
            return value.origins
        case Sequence() if value.open and value.items:
            return merge(origins_of(i) for i in value.items[:8] if isinstance(i, Thing))
        case _:
            return ()


def element(value: Value) -> Value:
    """What is known of any one item of a value."""
    match value:
        case Sequence():
            return join(value.items)
        case Mapping():
            return UNKNOWN if value.open else join(value.items)
        case Thing() if value.name.startswith("*"):
            return Thing(value.origins, value.name[1:], value.of, holds=value.holds, base=value.base)
        case Thing():
            return part(value, "[]")
        case _:
            return UNKNOWN


def part(value: Thing, suffix: str) -> Thing:
    """What is taken out of a thing: `.attribute` or ``[]`` for an item. It still comes from where the thing does.

    What was given to the call that made the thing stays known of its parts.
    """
    if not value.name and not value.origins and not value.holds:
        return UNKNOWN
    return Thing(value.origins, qualified(value.name, suffix), value.of, holds=value.holds, base=value.base)


def qualified(name: str, suffix: str) -> str:
    """A name and what is put behind it; none where it has none."""
    if not name:
        return ""
    return name + suffix if len(name) + len(suffix) <= _MAX_NAME else NAMELESS


def text_of(value: Value) -> str | None:
    """The canonical text of a literal, and of a path; None for what has none or is not known."""
    match value:
        case str():
            return canonical(value)
        case bytes():
            return canonical(value.decode("utf-8", "replace"))
        case bool() | int():
            return canonical(value)
        case float():
            return canonical(value) if abs(value) < float("inf") else str(value)
        case Thing():
            return value.text
        case _:
            return None


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


def lineage(kind: Class) -> list[Value]:
    """A class and those it is made of, in the order in which a method is looked for."""
    found: list[Value] = []
    waiting: list[Value] = [kind]
    while waiting and len(found) < _MOST_CLASSES:
        value = waiting.pop(0)
        found.append(value)
        if isinstance(value, Class):
            waiting[:0] = value.bases
    if waiting:
        found.append(Ref(NAMELESS))
    last = {value.name if isinstance(value, Ref) else id(value): at for at, value in enumerate(found)}
    return [found[at] for at in sorted(last.values())]


def member(owner: Object | Class, name: str) -> Value:
    """A member of an object or a class, its own or of a base; a function of an object is its method.

    Where a base from a library stands before the class that has it, it may be the library's as well.
    """
    kind = owner.kind if isinstance(owner, Object) else owner
    if isinstance(owner, Object) and name in owner.members:
        return owner.members[name]
    library: Thing | None = None
    for base in lineage(kind):
        match base:
            case Class() if name in base.members:
                found = base.members[name]
                if isinstance(found, Function) and found.how != "static":
                    this = kind if found.how == "class" else owner if isinstance(owner, Object) else None
                    found = replace(found, this=this, given=())
                return found if library is None else replace(library, holds=active(*library.holds, found))
            case Ref(name=called) | Thing(name=called) if called and called not in _WITHOUT_METHODS and library is None:
                library = _of_library(owner, called, name)
    if library is not None:
        return library
    return owner.members.get(NAMELESS, UNKNOWN) if isinstance(owner, Object) else UNKNOWN


def _of_library(owner: Object | Class, base: str, name: str) -> Thing:
    """A member that an object or a class has from a library's class."""
    if isinstance(owner, Object) and isinstance(made := owner.members.get(MADE), Thing):
        return part(made, f".{name}")
    if isinstance(owner, Object) and isinstance(given := owner.members.get(NAMELESS), Thing):
        return given  # one of what it was made of
    return Thing(name=qualified(base, f".{name}"))


_MOST_CLASSES = 64
"""Classes that one is made of, of which a method is looked for."""

_WITHOUT_METHODS = frozenset({"object", "abc.ABC", "typing.Generic", "typing.Generic[]", "typing.Protocol"})
"""Classes that give others no methods."""


def view(owner: Mapping, name: str) -> Sequence:
    """The keys, values or pairs of a mapping."""
    is_open = owner.open or bool(owner.others)
    match name:
        case "keys":
            return Sequence([*owner.items, *([UNKNOWN] if owner.others else [])], is_open)
        case "values":
            return Sequence([*owner.items.values(), *owner.others], is_open)
        case _:
            pairs: list[Value] = [Sequence([k, v]) for k, v in owner.items.items()]
            return Sequence([*pairs, *(Sequence([UNKNOWN, v]) for v in owner.others)], is_open)


def with_origin(value: Value, name: str) -> Value:
    """A value that is the result of a function."""
    match value:
        case Thing() if name:
            return replace(value, origins=merge(((name,), value.origins)))
        case Sequence() if name and len(value.items) <= 16:
            items = [with_origin(i, name) if isinstance(i, Thing) else i for i in value.items]
            return Sequence(items, value.open, value.pauses)
        case _:
            return value


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


def parameters(callee: Function) -> list[str]:
    """The names of the parameters that a caller gives by place."""
    names = []
    for param in callee.node.params:
        if param.star:
            break
        names.append(param.name)
    return names[1:] if callee.this is not None and names[:1] in (["self"], ["cls"]) else names


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

"""Methods of texts, lists and mappings, in either language: no steps, but what they hold stays known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.abstraction.scripts import emit, pure
from vigil_lang.abstraction.scripts.bindings import note_item, set_item
from vigil_lang.abstraction.scripts.callbacks import call_handed, for_each
from vigil_lang.abstraction.scripts.values import (
    MAX_ITEMS,
    MAX_STRING,
    UNKNOWN,
    Class,
    Function,
    Mapping,
    Object,
    Ref,
    Sequence,
    Thing,
    active,
    element,
    is_literal,
    is_pattern,
    items_of,
    join,
    like,
    limited,
    merge_into,
    opaque,
    text_of,
    view,
)

if TYPE_CHECKING:
    from vigil_lang.abstraction.scripts.site import Arguments, Site
    from vigil_lang.abstraction.scripts.state import Run
    from vigil_lang.abstraction.scripts.values import Value


def method(run: Run, owner: Value, name: str, given: Arguments, site: Site) -> Value:
    """The result of a method of a value that no library made."""
    match owner:
        case str():
            return _text(run, owner, name, given)
        case Thing(name="", text=str(pattern)) if is_pattern(owner):
            found = _text(run, pattern, name, given)
            return like(found, owner) if name in _KEEP and isinstance(found, str) and found else Thing(owner.origins)
        case Thing() if owner.shape is not None and name in ("split", "strip", "rstrip", "lstrip"):
            return owner if name != "split" else Sequence([UNKNOWN], open=True)
        case Sequence():
            return _sequence(run, owner, name, given, site)
        case Mapping():
            return _mapping(run, owner, name, given, site)
        case Thing(name=called) if called.startswith("*"):
            return _items(run, owner, name, given, site)
        case Thing(name="", text=None, shape=None):
            _of_the_script(run, name)
            known = name in run.library.methods and not (name in _PATHS and len(given.positional) == 1)
            if not known:
                run.open(f"what .{name}() does is not known", site.line)
            if run.libraries and name not in run.library.plain and name[:1] != "_":
                return emit.unknown_call(run, name, given, site, known=known)
            call_handed(run, given, UNKNOWN)
            return opaque(*given.values())
        case Thing(name=called) if called:
            return run.apply(owner, given, site)
        case Function() | Class() | Object() | Ref():
            return run.apply(UNKNOWN, given, site)
        case _:
            if name not in run.library.methods:
                run.open(f"what .{name}() does is not known", site.line)
            call_handed(run, given, UNKNOWN)
            return opaque(owner, *given.values())


_PATHS = frozenset({"rename", "replace"})
"""Methods that texts and tables have too, but of one argument only paths."""


def _of_the_script(run: Run, name: str) -> None:
    """A method of an object that may be of any class of the script."""
    for each in run.methods.get(name, ())[:MAX_CLASSES]:
        run.look_again(each)
    if len(run.methods.get(name, ())) > MAX_CLASSES:
        run.open(f"too many classes have a method {name}")


MAX_CLASSES = 8
"""Classes of the script whose methods of one name are looked at where it is not known which of them is called."""

_PLAIN = frozenset(
    [
        "strip", "lstrip", "rstrip", "lower", "upper", "title", "capitalize", "removeprefix", "removesuffix",
        "startswith", "endswith", "replace", "zfill", "casefold", "swapcase", "trim", "toLowerCase", "toUpperCase",
        "startsWith", "endsWith", "trimEnd", "trimStart", "replaceAll",
    ]
)  # fmt: skip

_KEEP = frozenset(
    [
        "strip", "lstrip", "rstrip", "lower", "upper", "replace", "removeprefix", "removesuffix", "trim", "trimEnd",
        "trimStart", "toLowerCase", "toUpperCase", "replaceAll", "encode", "toString", "valueOf", "concat",
    ]
)  # fmt: skip
"""Methods that make a text of a text: of a pattern a pattern."""

_SAME = {
    "trim": "strip", "toLowerCase": "lower", "toUpperCase": "upper", "startsWith": "startswith",
    "endsWith": "endswith", "trimEnd": "rstrip", "trimStart": "lstrip", "replaceAll": "replace",
}  # fmt: skip


def _text(run: Run, owner: str, name: str, given: Arguments) -> Value:
    values = [v for _, v in given.positional]
    if name == "join" and run.language == "python":
        return _join(owner, values[0] if values else UNKNOWN)
    if name == "format":
        return _format(owner, values, given)
    if name in ("encode", "toString", "valueOf"):
        return owner
    if name in ("split", "splitlines"):
        return _split(owner, name, values)
    texts = [v for v in values if isinstance(v, str)]
    if name in _PLAIN and len(texts) == len(values) and not given.named:
        if "replace" in name and (len(texts) != 2 or owner.count(texts[0]) * len(texts[1]) > MAX_STRING):
            return UNKNOWN
        if (run.language == "javascript" and any("$" in t for t in texts[1:])) or (
            owner[:1] == "~" and "with" in name.lower()
        ):
            return UNKNOWN  # a pattern; the home directory, whose path is not known
        if name == "replace" and run.language == "javascript":
            return owner.replace(texts[0], texts[1], 1)
        return _plain(owner, _SAME.get(name, name), texts)
    if name == "concat" and len(texts) == len(values):
        return pure.add(
            [owner, *values], [node for node, _ in [*given.positional[:1], *given.positional]], True, "python"
        )
    if name not in run.library.methods:
        run.open(f"what .{name}() does is not known")
    call_handed(run, given, UNKNOWN)
    return UNKNOWN


def _plain(owner: str, name: str, texts: list[str]) -> Value:
    try:
        found = getattr(owner, name)(*texts)  # one of _PLAIN
    except TypeError:
        return UNKNOWN
    return found if isinstance(found, str | bool) else UNKNOWN


def _join(owner: str, value: Value) -> Value:
    known = items_of(value)
    texts = [text_of(v) for v in known or ()]
    found = [t for t in texts if t is not None]
    size = sum(map(len, found)) + len(owner) * len(found)
    if known is None or size > MAX_STRING:
        return UNKNOWN
    if len(found) == len(texts):
        return like(owner.join(found), *(known or ()))
    shapes = [v.shape if isinstance(v, Thing) and v.shape else t for v, t in zip(known, texts, strict=True)]
    return Thing(shape=owner.join(s if s is not None else "${__value}" for s in shapes))


def _format(owner: str, values: list[Value], given: Arguments) -> Value:
    """`"{}/{name}.csv".format(…)` with plain fields only."""
    named = {k: v for k, (_, v) in given.named.items()}
    pieces: list[str] = []
    position = size = 0
    text = owner.replace("{{", "\0").replace("}}", "\1")
    for i, piece in enumerate(text.split("{")):
        if i:
            key, brace, rest = piece.partition("}")
            if key == "":
                key, position = str(position), position + 1
            value = values[int(key)] if key.isdigit() and int(key[:4]) < len(values) else named.get(key, UNKNOWN)
            known = text_of(value) if not isinstance(value, bool | float) else None
            if known is None or not brace:
                return UNKNOWN
            pieces.append(known)
            piece = rest
        pieces.append(piece)
        size += len(pieces[-1]) + len(pieces[-2] if i else "")
        if size > MAX_STRING:
            return UNKNOWN
    return like("".join(pieces).replace("\0", "{").replace("\1", "}"), *values, *named.values())


def _split(owner: str, name: str, values: list[Value]) -> Value:
    if name == "splitlines":
        found = owner.splitlines()
    elif not values or values == [None]:
        found = owner.split()
    elif isinstance(values[0], str) and values[0] and len(values) == 1:
        found = owner.split(values[0])
    else:
        return UNKNOWN
    return Sequence(list(found[:MAX_ITEMS]), open=len(found) > MAX_ITEMS)


def _sequence(run: Run, owner: Sequence, name: str, given: Arguments, site: Site) -> Value:
    values = [v for _, v in given.positional]
    match name:
        case "append" | "push" | "add" | "extend" | "appendleft" | "unshift" | "insert":
            return _grow(run, owner, name, values)
        case "pop" | "shift" | "popleft" | "remove" | "clear" | "sort" | "reverse" | "splice" | "discard":
            found = element(owner)
            owner.open = True
            call_handed(run, given, found)
            if name == "splice":
                owner.items = limited([*owner.items, *values[2:]])[0]
            return owner if name in ("sort", "reverse") else found
        case "copy" | "slice" | "values" | "flat" | "concat" | "toSorted":
            more = [opaque(*values)] if active(*values) else []
            call_handed(run, given, element(owner))
            return Sequence([*owner.items, *more], open=owner.open or name != "copy")
        case "map" | "forEach" | "flatMap" | "filter" | "some" | "every" | "find" | "findIndex":
            callee = values[0] if values else UNKNOWN
            found = for_each(run, callee, owner, site, keep=name == "filter")
            return found if name in ("map", "filter", "flatMap") else element(owner) if name == "find" else UNKNOWN
        case "join" if run.language == "javascript":
            separator = values[0] if values else ","
            return _join(separator, owner) if isinstance(separator, str) else UNKNOWN
        case "includes" if values:
            return pure.compare("in", values[0], owner)
        case _:
            if name not in run.library.methods:
                run.open(f"what .{name}() does is not known", site.line)
            found = element(owner)
            call_handed(run, given, found if active(found) else UNKNOWN)
            return opaque(owner, *given.values())


def _grow(run: Run, owner: Sequence, name: str, values: list[Value]) -> Value:
    """Something is put into a list."""
    if name in ("insert",):
        owner.open = True
        values = values[1:]
    added = values
    if name == "extend":
        known = items_of(values[0]) if values else []
        owner.open |= known is None
        added = [element(values[0])] if known is None else known
    front = name in ("unshift", "appendleft")
    owner.open |= not run.certain or front
    owner.open |= name == "add" and not all(map(is_literal, [*owner.items, *added]))
    if name == "add":
        added = [v for v in added if not (is_literal(v) and v in [i for i in owner.items if is_literal(i)])]
    for value in added:
        note_item(run, owner, value)
    owner.items, cut = limited([*owner.items, *added])
    owner.open |= cut
    return owner


def _mapping(run: Run, owner: Mapping, name: str, given: Arguments, site: Site) -> Value:
    values = [v for _, v in given.positional]
    key = values[0] if values else UNKNOWN
    match name:
        case "keys" | "values" | "items" | "entries":
            return view(owner, name)
        case "get" | "pop" | "setdefault":
            if isinstance(key, str | int | float) and key in owner.items:
                return owner.items[key]
            rest = [*owner.items.values(), *owner.others] if not isinstance(key, str | int | float) else owner.others
            default = [*values[1:2], *([UNKNOWN] if owner.open and not rest else [])]
            if name == "setdefault" and len(values) > 1:
                set_item(run, owner, key, values[1])
            return join([*rest, *default]) if rest or owner.open else default[0] if default else None
        case "set":
            set_item(run, owner, key, values[1] if len(values) > 1 else UNKNOWN)
            return owner
        case "update":
            for value in given.values():
                note_item(run, owner, value)
            if isinstance(key, Mapping) and run.certain and not given.named:
                merge_into(owner, key)
                run.spend(len(key.items) // 4)
            else:
                owner.open = True
                owner.others = (
                    [*owner.others, opaque(*given.values())][-8:] if active(*given.values()) else owner.others
                )
            return None
        case "copy":
            return Mapping(dict(owner.items), owner.open, list(owner.others))
        case "has" | "delete" | "clear" | "popitem":
            owner.open |= name != "has"
            return element(owner) if name == "popitem" else UNKNOWN
        case "forEach":
            for callee in values:
                for_each(run, callee, view(owner, "values"), site)
            return None
        case _ if isinstance(owner.items.get(name), Function):
            return run.apply(owner.items[name], given, site)
        case _ if name in owner.items:
            return run.apply(owner.items[name], given, site)
        case _:
            held = active(*owner.others)
            run.for_any(held, lambda each: run.apply(each, given, site))
            if not held and name not in run.library.methods:
                run.open(f"what .{name}() does is not known", site.line)
            call_handed(run, given, UNKNOWN)
            return opaque(owner, *given.values())


def _items(run: Run, owner: Thing, name: str, given: Arguments, site: Site) -> Value:
    """A method of a list that a library returned."""
    values = [v for _, v in given.positional]
    match name:
        case "map" | "forEach" | "flatMap" | "filter":
            callee = values[0] if values else UNKNOWN
            found = for_each(run, callee, owner, site)
            return owner if name == "filter" else found
        case "sort" | "reverse" | "slice" | "copy" | "concat":
            return owner
        case "find" | "pop" | "shift":
            return element(owner)
        case _:
            if name not in run.library.methods:
                run.open(f"what .{name}() does is not known", site.line)
            call_handed(run, given, element(owner))
            return opaque(owner, *given.values())

"""Computing with literals: sums, tests, methods of texts, paths. Nothing here has an effect; everything is bounded."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from vigil_lang.abstraction.scripts.tree import plain
from vigil_lang.abstraction.scripts.values import (
    MAX_ITEMS,
    MAX_STRING,
    NAMELESS,
    UNKNOWN,
    Mapping,
    Object,
    Ref,
    Sequence,
    Thing,
    Value,
    active,
    is_literal,
    is_pattern,
    like,
    limited,
    merge,
    opaque,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence as Many

    from vigil_lang.abstraction.scripts.tree import Expr


_CONSTANTS: dict[str, str | int] = {
    "os.O_RDONLY": 0,
    "os.O_WRONLY": 1,
    "os.O_RDWR": 2,
    "os.O_CREAT": 64,
    "os.O_EXCL": 128,
    "os.O_TRUNC": 512,
    "os.O_APPEND": 1024,
    "os.O_CLOEXEC": 524288,
    "os.sep": "/",
    "path.sep": "/",
    "os.path.sep": "/",
    "os.pathsep": ":",
    "os.linesep": "\n",
    "os.EOL": "\n",
    "os.curdir": ".",
    "os.pardir": "..",
    "os.devnull": "/dev/null",
}

_INTERPRETERS = {"sys.executable": "python3", "process.execPath": "node"}
"""What runs the script: its name is known, the path it is found under is not."""


def constant(name: str) -> Value:
    """The value of a library's constant, on the systems that agents' shells run on."""
    program = _INTERPRETERS.get(name)
    return Thing(text=program) if program is not None else _CONSTANTS.get(name)


def add(values: list[Value], nodes: Many[Expr], text: bool, language: str) -> Value:
    """The sum of values, or the text made of them in turn."""
    if text or (language == "javascript" and any(isinstance(v, str) for v in values)):
        return _text(values, nodes, language)
    if all(isinstance(v, str) for v in values):
        return _text(values, nodes, language)
    if any(isinstance(v, str) or (isinstance(v, Thing) and v.shape) for v in values):
        return _text(values, nodes, language)
    if all(isinstance(v, Sequence) for v in values):
        parts = [v for v in values if isinstance(v, Sequence)]
        if language == "javascript":
            return UNKNOWN  # the sum of their texts
        items: list[Value] = []
        is_open = any(p.open for p in parts)
        for each in parts:
            items, cut = limited([*items, *each.items])
            is_open |= cut
        return Sequence(items, is_open)
    if any(isinstance(v, Sequence) for v in values):
        known = [i for v in values if isinstance(v, Sequence) for i in v.items[:MAX_ITEMS]][:MAX_ITEMS]
        return Sequence([*known[: MAX_ITEMS - 1], opaque(*values)] if active(*values) else known, open=True)
    numbers = [v for v in values if isinstance(v, int | float)]
    if len(numbers) == len(values) and all(abs(n) < 1e15 for n in numbers):
        return sum(numbers)
    return operated(values) if language == "python" else UNKNOWN


def _text(values: list[Value], nodes: Many[Expr], language: str) -> Value:
    """The text made of values in turn; with one of them unknown, a thing with the shape of it."""
    texts = [_written(v, language) for v in values]
    if sum(len(t) for t in texts if t is not None) > MAX_STRING:
        return UNKNOWN
    known = [t for t in texts if t is not None]
    if len(known) == len(texts):
        return like("".join(known), *values)
    pieces = [_hole(v, n) if t is None else t for t, v, n in zip(texts, values, nodes, strict=True)]
    shape = "".join(pieces)
    return Thing(shape=shape if len(shape) <= MAX_STRING else None)


def _hole(value: Value, node: Expr) -> str:
    if isinstance(value, Thing) and value.shape:
        return value.shape
    name = (plain(node) or "value").replace(".", "_")
    return "${__" + (name if name.isascii() and name.isidentifier() else "value") + "}"


def _written(value: Value, language: str) -> str | None:
    """A literal as the language writes it into a text."""
    match value:
        case bool() | None:
            if language == "python":
                return str(value)
            return "null" if value is None else str(value).lower()
        case float() if language == "javascript":
            return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
        case str():
            return value
        case int() | float():
            return str(value) if isinstance(value, float) or abs(value) < 10**100 else None
        case Thing():
            return value.text
        case _:
            return None


def binary(op: str, left: Value, right: Value, language: str = "python") -> Value:
    """The value of an operation other than a sum."""
    if language == "javascript":
        numbers = all(isinstance(v, int | float) and not isinstance(v, bool) and v >= 0 for v in (left, right))
        return _arithmetic(op, left, right) if numbers and op != "//" else opaque(left, right)  # type: ignore[arg-type]
    match op, left, right:
        case "/", Thing(name="pathlib.Path") | str(), Thing(name="pathlib.Path") | str() if not (
            isinstance(left, str) and isinstance(right, str)
        ):
            return path_of([left, right])
        case "/", Thing(name="pathlib.Path"), _:
            return Thing(name="pathlib.Path")
        case "%", str(), _:
            return _percent(left, right)
        case "*", str() | Sequence(), int():
            return _times(left, right)
        case (("-" | "*" | "/" | "//" | "%"), int() | float(), int() | float()):
            return _arithmetic(op, left, right)
        case "|", int(), int():
            return left | right
        case "|", Mapping(), Mapping():
            items = {**left.items, **right.items}
            if len(items) > MAX_ITEMS:
                return Mapping(open=True, others=[opaque(left, right)])
            return Mapping(items, left.open or right.open, [*left.others, *right.others][-8:])
        case _:
            return operated([left, right])


def operated(values: Many[Value]) -> Thing:
    """What an operator makes of values: of a library's value it is another of that library, `(array * 2).tofile(p)`."""
    things = [v for v in values if isinstance(v, Thing) and v.name and v.name[0] not in (NAMELESS, "*")]
    roots = {thing.name.partition(".")[0] for thing in things}
    first = things[0] if len(roots) == 1 else None
    if first is None or not all(v in things or not active(v) for v in values):
        return opaque(*values)
    return Thing(
        merge(t.origins for t in things), first.name, first.of, holds=active(*(h for t in things for h in t.holds))
    )


def _arithmetic(op: str, left: float, right: float) -> Value:
    if abs(left) > 1e15 or abs(right) > 1e15 or (op in ("/", "//", "%") and not right):
        return UNKNOWN
    match op:
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left / right
        case "//":
            return left // right
        case _:
            return left % right


def _times(left: str | Sequence, right: int) -> Value:
    if isinstance(left, str):
        return left * right if right >= 0 and len(left) * right <= MAX_STRING else UNKNOWN
    if left.open or right < 0 or len(left.items) * right > MAX_ITEMS:
        return Sequence(list(left.items), open=True)
    return Sequence(left.items * right)


def _percent(left: str, right: Value) -> Value:
    """`"%s.csv" % name` with plain placeholders only."""
    given = right.items if isinstance(right, Sequence) else [right]
    pieces = left.replace("%%", "\0").split("%")
    if len(pieces) != len(given) + 1 or not all(p[:1] in ("s", "d") for p in pieces[1:]):
        return UNKNOWN
    texts = [_written(v, "python") for v in given]
    known = [t for t in texts if t is not None]
    if len(known) != len(texts) or sum(map(len, known)) > MAX_STRING:
        return UNKNOWN
    text = pieces[0] + "".join(t + p[1:] for t, p in zip(known, pieces[1:], strict=True))
    return like(text.replace("\0", "%"), *given)


def compare(op: str, left: Value, right: Value) -> Value:
    """Whether a test holds; unknown unless both sides are literals, or one is a container of them."""
    if op in ("is", "is not", "==", "!=") and (left is None or right is None):
        other = right if left is None else left
        if isinstance(other, Thing | Object | Ref) and getattr(other, "text", None) is None:
            return UNKNOWN
        return (other is None) == (op in ("is", "=="))
    if op in ("in", "not in"):
        return _contains(op, left, right)
    if not (is_literal(left) and is_literal(right)):
        return UNKNOWN if op in ("is", "is not") or left is None or right is None else operated([left, right])
    if op in ("==", "is", "!=", "is not"):
        same = _equal(left, right)
        return (
            UNKNOWN
            if same is None or (same and "is" in op and not isinstance(left, bool))
            else same == (op in ("==", "is"))
        )
    if any(isinstance(v, str) and v[:1] == "~" for v in (left, right)):
        return UNKNOWN
    if isinstance(left, str) and isinstance(right, str):
        return _ordered(op, left, right)
    if isinstance(left, int | float) and isinstance(right, int | float):
        return _ordered(op, left, right)
    return UNKNOWN


def _equal(left: Value, right: Value) -> bool | None:
    """Whether two literals are equal, in either language; the home directory stands as `~`, and is another text."""
    if type(left) is not type(right) and not (
        isinstance(left, int | float)
        and isinstance(right, int | float)
        and not isinstance(left, bool)
        and not isinstance(right, bool)
    ):
        return None
    if any(isinstance(v, str) and v[:1] == "~" for v in (left, right)):
        return None
    return left == right


def _ordered(op: str, left: str | float, right: str | float) -> Value:
    less, equal = left < right, left == right  # type: ignore[operator]
    return {"<": less, "<=": less or equal, ">": not less and not equal, ">=": not less}.get(op, UNKNOWN)


def _contains(op: str, left: Value, right: Value) -> Value:
    match right:
        case str() if isinstance(left, str) and right[:1] != "~":
            found = left in right
        case Sequence(open=False) if is_literal(left) and all(is_literal(i) for i in right.items):
            same = [_equal(left, i) for i in right.items]
            if True not in same and None in same:
                return UNKNOWN
            found = True in same
        case Mapping(open=False, others=[]) if isinstance(left, str | int | float | bool | None):
            found = left in right.items
        case _:
            return UNKNOWN
    return found == (op == "in")


def path_of(values: Many[Value], *, kind: str = "pathlib.Path") -> Thing:
    """The path made of parts as `os.path.join` does; unknown with any of them unknown."""
    texts = [text_of(v) for v in values]
    known = [t for t in texts if t is not None]
    if len(known) != len(texts) or sum(map(len, known)) > MAX_STRING:
        origins = merge(v.origins for v in values if isinstance(v, Thing))
        return Thing(origins, kind)
    return Thing(name=kind, text=posixpath.join(*known) if known else ".")


def ancestor(text: str, count: int) -> Thing:
    """The directory so many levels above a path."""
    for _ in range(count):
        text = _parent(text)
    return Thing(name="pathlib.Path", text=text)


def _parent(text: str) -> str:
    return posixpath.dirname(text.rstrip("/") or "/") or "."


def path_attribute(path: Thing, name: str) -> Value:
    """An attribute of a `pathlib.Path`."""
    if name == "parents":
        return Thing(name="pathlib.Path.parents", text=path.text)
    if path.text is None:
        return Thing(path.origins, "pathlib.Path" if name == "parent" else "")
    base = posixpath.basename(path.text.rstrip("/"))
    stem, suffix = posixpath.splitext(base)
    if "*" in base and name in ("name", "stem", "suffix"):
        text = {"name": base, "stem": stem, "suffix": suffix}[name]
        return like(text, path) if text else Thing(path.origins)
    match name:
        case "parent":
            return ancestor(path.text, 1)
        case "name":
            return base
        case "stem":
            return stem
        case "suffix":
            return suffix
        case "parts" if not is_pattern(path):
            return Sequence(list(path.text.split("/")))
        case _:
            return UNKNOWN

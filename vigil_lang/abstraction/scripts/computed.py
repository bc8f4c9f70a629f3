"""Functions whose result can be computed from literals. Nothing here has an effect; everything is bounded."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.abstraction.scripts import addresses, pure
from vigil_lang.abstraction.scripts.tree import Opaque
from vigil_lang.abstraction.scripts.values import (
    MAX_ITEMS,
    MAX_STRING,
    UNKNOWN,
    Base,
    Mapping,
    Sequence,
    Thing,
    active,
    element,
    is_literal,
    is_pattern,
    items_of,
    let_go,
    like,
    opaque,
    text_of,
    view,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.abstraction.scripts.site import Arguments
    from vigil_lang.abstraction.scripts.state import Run
    from vigil_lang.abstraction.scripts.values import Value

    Computation: TypeAlias = Callable[[Run, Thing | None, Arguments], Value | None]

TEXT_FILE = "io.TextIOWrapper"
"""What an open file is called whose text can be followed."""


def compute(run: Run, name: str, this: Thing | None, given: Arguments) -> Value | None:
    """The result of a function that only computes, where its arguments are known; None where that is not so."""
    if this is not None and this.name in ("pathlib.Path", "pathlib.PurePath"):
        return _path_method(run, this, name.rpartition(".")[2], given)
    if this is not None and this.name == TEXT_FILE:
        _use(run, this, name.rpartition(".")[2], given)
        return None
    function = _COMPUTED.get(name)
    return function(run, this, given) if function is not None else None


def _use(run: Run, handle: Thing, name: str, given: Arguments) -> None:
    """Keeps the text that a method of an open file writes; what any other may do to it is not known."""
    match name:
        case "close" | "flush":
            pass
        case "write":
            _write(run, handle, [given.get(0)])
        case "writelines":
            _write(run, handle, items_of(given.get(0)))
        case _:
            let_go(handle)


def _write(run: Run, handle: Thing, parts: list[Value] | None) -> None:
    """Keeps the text that is written into an open file, as long as all of it is known."""
    step = handle.step
    if step is None or step.content is None:
        return
    texts = [part for part in parts or () if isinstance(part, str)]
    if run.certain and parts is not None and len(texts) == len(parts):
        step.content += "".join(texts)
    else:
        let_go(handle)
    if step.content is not None and len(step.content) > MAX_STRING:
        let_go(handle)


def _print(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    """`print("a", file=f)`: what is printed is written there."""
    handle = given.get(-1, "file")
    if not isinstance(handle, Thing) or handle.step is None:
        return None
    sep, end = (given.named[name][1] if name in given.named else usual for name, usual in (("sep", " "), ("end", "\n")))
    texts = [str(value) for _, value in given.positional if type(value) in (str, int)]
    is_known = len(texts) == len(given.positional) and not given.more
    _write(run, handle, [sep.join(texts), end] if is_known and isinstance(sep, str) else None)
    return UNKNOWN


def _path_method(run: Run, path: Thing, name: str, given: Arguments) -> Value | None:
    """The methods of `pathlib.Path` that only compute; None for all others."""
    values = [v for _, v in given.positional]
    text = path.text
    match name:
        case "joinpath":
            return pure.path_of([path, *values])
        case "resolve" | "absolute":
            full = run.path(text) if text is not None else None
            return Thing(name="pathlib.Path", text=full)
        case "expanduser" | "as_posix" | "__str__":
            return path
        case "with_suffix" | "with_name" | "with_stem" if text is not None and values and isinstance(values[0], str):
            head, base = posixpath.split(text)
            stem, suffix = posixpath.splitext(base)
            new = {"with_suffix": stem + values[0], "with_name": values[0], "with_stem": values[0] + suffix}[name]
            return Thing(name="pathlib.Path", text=posixpath.join(head, new))
        case "with_suffix" | "with_name" | "with_stem" | "relative_to":
            return Thing(path.origins, "pathlib.Path")
        case _:
            return None


def _joined(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    values = [v for _, v in given.positional]
    found = pure.path_of(values, kind="")
    if found.text is None:
        return found
    return like(posixpath.normpath(found.text) if run.language == "javascript" else found.text, *values)


def _full(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    values = [v for _, v in given.positional]
    found = pure.path_of(values, kind="").text
    full = run.path(found or ".") if found is not None else None
    return like(full, *values) if full is not None else UNKNOWN


def _new_path(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    return pure.path_of([v for _, v in given.positional])


def _cwd(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    return run.cwd if run.cwd is not None else UNKNOWN


def _cwd_path(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    return Thing(name="pathlib.Path", text=run.cwd)


def _home_path(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    return Thing(name="pathlib.Path", text="~")


def _home(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    return "~"


def _of_text(function: Callable[[str], Value]) -> Computation:
    def computed(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
        value = given.get(0)
        text = text_of(value) if isinstance(value, str | Thing) else None
        if text is not None and isinstance(value, Thing) and is_pattern(value):
            return _of_pattern(function(text), value)
        return function(text) if text is not None else value if isinstance(value, Thing) else None

    return computed


def _of_pattern(found: Value, value: Thing) -> Value:
    """What a function makes of a pattern: a part that it lacks, such as an extension, what it stands for may have."""
    match found:
        case Sequence(items=items):
            return Sequence([_of_pattern(item, value) for item in items])
        case str() if found:
            return like(found, value)
        case _:
            return Thing(value.origins)


def _as_text(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    value = given.get(0)
    if isinstance(value, Thing):
        return like(value.text, value) if value.text is not None else Thing(value.origins, shape=value.shape)
    return pure.add([value], [Opaque()], True, run.language) if given.positional else ""


def _as_number(kind: type[int] | type[float]) -> Computation:
    def computed(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
        value = given.get(0)
        if not isinstance(value, str | int | float) or len(given.positional) + len(given.named) != 1:
            return UNKNOWN
        if isinstance(value, str) and (len(value) > 30 or "_" in value):
            return UNKNOWN
        try:
            return kind(value)
        except (ValueError, OverflowError):
            return UNKNOWN

    return computed


def _length(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    match given.get(0):
        case Sequence(items=items, open=False):
            return len(items)
        case Mapping(items=known, open=False, others=[]):
            return len(known)
        case str() | bytes() as text if text[:1] not in ("~", b"~"):
            return len(text)
        case _:
            return UNKNOWN


def _range(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    values = [v for _, v in given.positional]
    numbers = [v for v in values if isinstance(v, int) and abs(v) < 2**60]
    if len(numbers) != len(values) or not 1 <= len(numbers) <= 3 or numbers[2:] == [0]:
        return UNKNOWN
    found = range(*numbers)
    return Sequence(list(found[:MAX_ITEMS]), open=found[MAX_ITEMS : MAX_ITEMS + 1] != range(0))


def _listed(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    value = given.get(0)
    if not given.positional:
        return Sequence()
    known = items_of(value)
    if known is None:
        return value if isinstance(value, Thing) else Sequence([element(value)], open=True)
    return Sequence(known)


def _iterated(run: Run, this: Thing | None, given: Arguments) -> Value | None:
    """What `iter` gives; with two arguments it calls the first one."""
    return _listed(run, this, given) if len(given.positional) == 1 else None


def _without_doubles(run: Run, this: Thing | None, given: Arguments) -> Value | None:
    value = _listed(run, this, given)
    if not isinstance(value, Sequence):
        return value
    literals = [i for i in value.items if is_literal(i)]
    if len(literals) < len(value.items):
        return Sequence(value.items, open=True)
    return Sequence(list(dict.fromkeys(literals)), value.open)


def _sorted(run: Run, this: Thing | None, given: Arguments) -> Value | None:
    value = _listed(run, this, given)
    if isinstance(value, Sequence) and not value.open and not given.named:
        texts = [i for i in value.items if isinstance(i, str)]
        if len(texts) == len(value.items):
            return Sequence([*sorted(texts)])
    if isinstance(value, Sequence):
        return Sequence(value.items, open=True)
    return value


def _reversed(run: Run, this: Thing | None, given: Arguments) -> Value | None:
    value = _listed(run, this, given)
    return Sequence(value.items[::-1], value.open) if isinstance(value, Sequence) else value


def _enumerated(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    value = given.get(0)
    start = given.get(1, "start")
    first = start if isinstance(start, int) else 0
    known = items_of(value)
    if known is None or not (start is None or isinstance(start, int)):
        return Sequence([Sequence([UNKNOWN, element(value)])], open=True)
    return Sequence([Sequence([first + i, item]) for i, item in enumerate(known)])


def _zipped(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    values = [v for _, v in given.positional]
    known = [items_of(v) for v in values]
    run.spend(sum(len(k) for k in known if k is not None) // 16)
    if given.more or not values or any(k is None for k in known):
        return Sequence([Sequence([element(v) for v in values])], open=True)
    return Sequence([Sequence(list(items)) for items in zip(*(k for k in known if k is not None), strict=False)])


def _dict(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    first = given.get(0)
    found = Mapping({k: v for k, (_, v) in list(given.named.items())[:MAX_ITEMS]}, open=given.more)
    if isinstance(first, Mapping):
        found = Mapping({**first.items, **found.items}, first.open or found.open, list(first.others))
        if len(found.items) > MAX_ITEMS:
            return Mapping(open=True, others=[opaque(found)])
    elif given.positional:
        found.open = True
        found.others = [opaque(first)] if active(first) else []
    return found


def _one_of(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    """One item of a list that a search for files gave."""
    value = given.get(0)
    several = len(given.positional) != 1 or not isinstance(value, Sequence)
    found = UNKNOWN if several else element(value)
    return found if is_pattern(found) else None


def _keys(run: Run, this: Thing | None, given: Arguments) -> Value | None:
    value = given.get(0)
    return view(value, "keys") if isinstance(value, Mapping) else _listed(run, this, given)


def _values(run: Run, this: Thing | None, given: Arguments) -> Value | None:
    value = given.get(0)
    return view(value, "values") if isinstance(value, Mapping) else _listed(run, this, given)


def _entries(run: Run, this: Thing | None, given: Arguments) -> Value | None:
    value = given.get(0)
    return view(value, "items") if isinstance(value, Mapping) else _listed(run, this, given)


def _quoted(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    import shlex

    value = given.get(0)
    if isinstance(value, str):
        return shlex.quote(value)
    return Thing(shape=f'"{value.shape}"') if isinstance(value, Thing) and value.shape else UNKNOWN


def _split_words(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    import shlex

    value = given.get(0)
    if not isinstance(value, str):
        return UNKNOWN
    try:
        words = shlex.split(value)
    except ValueError:
        return UNKNOWN
    return Sequence(list(words)) if len(words) <= MAX_ITEMS else UNKNOWN


def _dedented(text: str) -> Value:
    import textwrap

    return textwrap.dedent(text)


def _new_map(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    values = [v for _, v in given.positional]
    return Mapping(open=bool(values), others=[opaque(*values)] if active(*values) else [])


def _passed_on(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    value = given.get(0)
    return value if value is not None else UNKNOWN


def _file_address(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    """`new URL("./x", import.meta.url)` and `fileURLToPath(…)`: the path that is meant, or the address of a machine."""
    first, base = text_of(given.get(0) or UNKNOWN), text_of(given.get(1) or UNKNOWN)
    if first is None:
        return None
    if "://" in first.removeprefix("file://") or "://" in (base or "").removeprefix("file://"):
        return addresses.parsed(addresses.joined(Base(base, "resolve"), first))
    first = first.removeprefix("file://")
    if base is None:
        return Thing(text=first) if first.startswith("/") else UNKNOWN
    return Thing(text=posixpath.normpath(posixpath.join(posixpath.dirname(base.removeprefix("file://")), first)))


def _awaited(run: Run, this: Thing | None, given: Arguments) -> Value | None:
    """What several things that are awaited together give, in their order."""
    if run.language == "javascript":
        return _listed(run, this, given)
    return Sequence([v for _, v in given.positional], open=given.more)


def _link(run: Run, this: Thing | None, given: Arguments) -> Value | None:  # noqa: ARG001
    """`urljoin(base, link)`"""
    base, link = text_of(given.get(0, "base")), text_of(given.get(1, "url"))
    return None if base is None or link is None else addresses.joined(Base(base, "resolve"), link)


_COMPUTED: dict[str, Computation] = {
    "print": _print,
    **dict.fromkeys(("os.path.join", "path.join", "path.posix.join"), _joined),
    **dict.fromkeys(("os.path.abspath", "os.path.realpath", "path.resolve"), _full),
    **dict.fromkeys(("os.path.basename", "path.basename", "ntpath.basename"), _of_text(posixpath.basename)),
    **dict.fromkeys(("os.path.dirname", "path.dirname"), _of_text(lambda t: posixpath.dirname(t) or "")),
    **dict.fromkeys(("os.path.normpath", "path.normalize"), _of_text(posixpath.normpath)),
    "os.path.expanduser": _of_text(lambda t: t),
    "os.path.splitext": _of_text(lambda t: Sequence(list(posixpath.splitext(t)))),
    "os.path.split": _of_text(lambda t: Sequence(list(posixpath.split(t)))),
    "path.extname": _of_text(lambda t: posixpath.splitext(t)[1]),
    "textwrap.dedent": _of_text(_dedented),
    **dict.fromkeys(("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath"), _new_path),
    **dict.fromkeys(("os.getcwd", "process.cwd", "os.getcwdb"), _cwd),
    "pathlib.Path.cwd": _cwd_path,
    "pathlib.Path.home": _home_path,
    "os.homedir": _home,
    **dict.fromkeys(("str", "os.fspath", "String"), _as_text),
    "int": _as_number(int),
    **dict.fromkeys(("float", "Number", "parseFloat"), _as_number(float)),
    "parseInt": _as_number(int),
    "len": _length,
    "range": _range,
    **dict.fromkeys(("list", "tuple", "Array.from", "collections.deque"), _listed),
    **dict.fromkeys(("set", "frozenset", "Set"), _without_doubles),
    "urllib.parse.urljoin": _link,
    "iter": _iterated,
    "sorted": _sorted,
    "reversed": _reversed,
    **dict.fromkeys(("max", "min", "next", "random.choice"), _one_of),
    "enumerate": _enumerated,
    "zip": _zipped,
    **dict.fromkeys(("dict", "collections.OrderedDict"), _dict),
    **dict.fromkeys(("Promise.all", "asyncio.gather"), _awaited),
    "Map": _new_map,
    "Object.keys": _keys,
    "Object.values": _values,
    "Object.entries": _entries,
    "shlex.quote": _quoted,
    "shlex.split": _split_words,
    **dict.fromkeys(("tqdm", "tqdm.tqdm", "tqdm.auto.tqdm", "Promise.resolve", "Promise.all"), _passed_on),
    **dict.fromkeys(("util.promisify", "sqlalchemy.text", "sqlalchemy.sql.text"), _passed_on),
    **dict.fromkeys(("asyncio.run", "asyncio.wait_for", "asyncio.create_task"), _passed_on),
    **dict.fromkeys(("URL", "url.URL", "url.fileURLToPath", "url.pathToFileURL"), _file_address),
}

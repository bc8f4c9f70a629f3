"""What functions of libraries do: `stdlib/libraries/python.toml` and `javascript.toml`.

The files have one table a module or class; a table is parsed when it is first asked for.
"""

from __future__ import annotations

import builtins
import re
import sys
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_BARE = "builtins"
"""The table of functions that need no import."""

_MOST_NAMES = 20_000
"""Names for which it is remembered whether they only compute, and what they are described under."""

_LONGEST_NAME = 200

_INNER = frozenset(
    {"builtins", "codecs", "ctypes", "importlib", "os", "pathlib", "shutil", "socket", "subprocess", "sys"}
)
"""Modules that another package may have among its names."""

_ITSELF = {
    "python": frozenset({"builtins", "__builtins__"}),
    "javascript": frozenset({"globalThis", "global", "window", "self"}),
}
"""Names whose attributes are those that need no import."""

_TELLS = re.compile(
    r"(?:^|_|(?<=[a-z0-9])(?=[A-Z]))"
    r"(?:(?:im|mim)?(?:read|write|writ|save|load)|dump|open(?:_|$|[A-Z])|fetch|download|upload|export|import_|exec|eval"
    r"|print_[a-z]|pickle|unpickle|(?:to|from|as)?_?files?(?:_|$|[A-Z])|doctests?$|install|serve(?:_|$)|subprocess|browser"
    r"|from_(?:\w+_)?(?:path|url)$)"
    r"|^(?:tests?|run|main|listen|connect|send|request|system|spawn|__reduce(?:_ex)?__)$"
    r"|(?:to|from)_?file$",
)
"""Names that say that a function does more than to compute, as packages write them."""

_LOCATION = re.compile(r"(?:~|\.{1,2})?/[\w.~-][^\s<>]*|[a-z][a-z+]{1,9}://\S+")
"""A text that stands for a file or an address."""

_CODE = re.compile(r"__[a-z]+__|\b(?:open|exec|eval|system|popen)\(|<!ENTITY")
"""What a text has that is written to be run, or to have files read, by whoever evaluates it."""

_HEADER = re.compile(r'^\["([^"\n]+)"\]', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a function does."""

    name: str
    """Its canonical qualified name."""
    kinds: tuple[str, ...] = ()
    args: tuple[tuple[str, str], ...] = ()
    """Name and role of each parameter in order; the role is empty where there is none."""
    this: str = ""
    """The role of the object whose method it is."""
    effects: dict[str, str] = field(default_factory=dict)
    """A kind by role: each has a step of its own for the role's paths."""
    returns: str = ""
    """What methods of its result are called after."""
    mode: str = ""
    """The mode it opens a file in by default: ``r``; the kind depends on it."""
    archive: bool = False
    """What it opens is an archive."""
    spawn: str = ""
    """How it is given a command: `command` (a list, or a line with `shell=True`), `line`, `words` or `vector`."""
    sql: str = ""
    """The role of a statement whose first word says whether it changes something."""
    same: bool = False
    """Its result is the object itself."""
    quiet: bool = False
    """It is no step: it does nothing but compute."""
    instead: dict[str, str] = field(default_factory=dict)
    """The kinds it has instead where a parameter of that name is true."""
    const: dict[str, str] = field(default_factory=dict)
    """Roles with a fixed value; ``*`` is the function's own name in capitals."""
    method: str = ""
    """The method of its request where it is given none: ``GET``, or ``GET POST`` where data makes it another."""
    default: dict[str, str] = field(default_factory=dict)
    """The machine or the address that it connects to, or the folder it writes into, where it is given none."""
    into: bool = False
    """With a target that says it is a folder, what it writes lies in there under the name of its source."""
    suffix: dict[str, str] = field(default_factory=dict)
    """The extension that a path of a role gets where it does not end with it."""
    request: bool = False
    """What it makes is a request: its kinds are those of the call that sends it."""
    base: str = ""
    """The parameters that are the address which relative ones are below, in this call and in what its result is asked:
    ``base_url``, or with how they are joined (`values.Base`) ``base_url:resolve``. ``=``: what this attribute is set
    to."""
    runs: bool | str = False
    """It runs code that is not known; with a text, where a parameter of one of these names is given and not false, or
    may have the value that is given with a name (``typ=unsafe``)."""
    safe: str = ""
    """A parameter that, where it is given and not false, says that it runs no code (`weights_only`)."""

    @property
    def effective(self) -> bool:
        """Whether a call does anything besides computing."""
        return bool(self.kinds or self.spawn or self.mode or self.effects or self.sql or self.runs or self.instead)


@dataclass(frozen=True, slots=True)
class Libraries:
    """The functions of one language's libraries."""

    language: str
    _slices: dict[str, str]
    _pure: frozenset[str]
    _not_pure: frozenset[str]
    plain: frozenset[str]
    """Methods that say nothing of a script where it is not known what they are called on: they do nothing."""
    methods: frozenset[str]
    """These, and others that do nothing either."""
    _tables: dict[str, dict[str, Entry | str]] = field(default_factory=dict)
    _known: dict[str, bool] = field(default_factory=dict)
    _canonical: dict[str, str] = field(default_factory=dict)

    def only_computes(self, name: str) -> bool:
        """Whether a function, by qualified name, is known to do nothing but compute.

        All below a module or class that is described so does, save what is named there as an exception. The result of
        a function is looked for under the function's name: `numpy.array().reshape` under `numpy`.
        """
        found = self._known.get(name)
        if found is None:
            found = self._computes(name)
            if len(self._known) < _MOST_NAMES and len(name) < _LONGEST_NAME:
                self._known[name] = found
        return found

    def _computes(self, name: str) -> bool:
        if name in self._not_pure:
            return False
        if name in self._pure:
            return True
        plain = name.lstrip("*").replace("()", "").replace("[]", "")
        parts = plain.split(".")
        anywhere = f"{parts[0]}.*.{parts[-1]}"
        if anywhere in self._not_pure or parts[-1] == "main":
            return False
        if self._of_a_result(name):
            return True
        told = anywhere in self._pure or is_standard(plain, self.language) or not _TELLS.search(parts[-1])
        for end in range(len(parts), 0, -1):
            above = ".".join(parts[:end])
            if above in self._not_pure:
                return False
            if above in self._pure:
                return (told or end == len(parts)) and not any(part.startswith("_") for part in parts[end:-1])
        return False

    def _of_a_result(self, name: str) -> bool:
        """Whether a method is one of what a function returned that `pure` names: `fs.createReadStream()`."""
        if "()." not in name or _TELLS.search(name.rpartition(".")[2]):
            return False
        ends = [at + 2 for at in range(len(name)) if name.startswith("().", at)]
        for end in ends:
            if name[:end] in self._pure and name[:end] not in self._not_pure:
                # What an attribute of it does is another matter: `spawn("sh").stdin.end("rm x")`.
                return all(part.endswith(("()", "[]")) for part in name[end + 1 :].split(".")[:-1])
        return False

    def is_given_more(self, name: str, texts: Iterable[str]) -> bool:
        """Whether a package's function is given a file, an address or code, for which what computes has no use."""
        if is_standard(name, self.language):
            return False
        known = name.rpartition(".")[2] in self.methods
        return any(_CODE.search(text) or (not known and _LOCATION.fullmatch(text)) for text in texts)

    def names(self, name: str) -> bool:
        """Whether this very name is among what only computes."""
        return name in self._pure

    def is_described(self, module: str) -> bool:
        """Whether what importing a module runs is known: it is the language's own, or described here."""
        root = module.partition(".")[0]
        if module in self._not_pure:
            return False
        return is_standard(module, self.language) or root in self.roots or root in self._described

    @property
    def _described(self) -> frozenset[str]:
        return _pure_roots(self.language)

    @property
    def roots(self) -> frozenset[str]:
        """The packages that something is described of."""
        return _roots(self.language)

    def find(self, name: str) -> Entry | None:
        """What is known of a function, by qualified name."""
        for _ in range(4):
            table, last = self._table_of(name)
            found = table.get(last)
            if found is None and isinstance(other := table.get("*"), Entry):
                return replace(other, name=name)
            if not isinstance(found, str):
                return found or self._of_frame(name)
            name = found
        return None

    def _of_frame(self, name: str) -> Entry | None:
        """What a method writes whose object came out of a chain of calls: `pandas.DataFrame.groupby().sum().to_csv`.

        A table `seaborn.*` is of methods of all that comes out of a package.
        """
        root, _, rest = name.partition(".")
        last = rest.rpartition(".")[2]
        anywhere = self.table(f"{root}.*").get(last)
        if isinstance(anywhere, Entry):
            return anywhere
        found = self.table("pandas.DataFrame").get(last) if root == "pandas" and last.startswith("to_") else None
        return found if isinstance(found, Entry) else None

    def canonical(self, name: str) -> str:
        """The name that something is described under: `openpyxl.workbook.Workbook` is `openpyxl.Workbook`.

        A module that another has among its names is itself: `logging.os.remove` is `os.remove`.
        """
        found = self._canonical.get(name)
        if found is None:
            found = self._described_as(self._itself(name))
            if len(self._canonical) < _MOST_NAMES and len(name) < _LONGEST_NAME:
                self._canonical[name] = found
        return found

    def _described_as(self, name: str) -> str:
        for _ in range(4):
            table, last = self._table_of(name)
            found = table.get(last)
            if not isinstance(found, str):
                return name
            name = found
        return name

    def _itself(self, name: str) -> str:
        parts = name.split(".")
        while parts[0] in _ITSELF[self.language] and len(parts) > 1:
            del parts[0]
        if parts[:2] == ["Bun", "env"]:
            parts[0] = "process"
        if self.language == "python":
            if parts[:2] == ["sys", "modules"] and len(parts) > 2:
                del parts[:2]
            inner = sys.stdlib_module_names if parts[0] in sys.stdlib_module_names else _INNER
            for i in range(len(parts) - 1, 0, -1):
                part = parts[i].removeprefix("_")
                if part in inner and i < len(parts) - 1 and not self.describes(".".join(parts[: i + 1])):
                    parts = [part, *parts[i + 1 :]]
                    break
        return ".".join(parts)

    def _table_of(self, name: str) -> tuple[dict[str, Entry | str], str]:
        owner, _, last = name.rpartition(".")
        return self.table(owner or _BARE), last

    def describes(self, owner: str) -> bool:
        """Whether there is a table of this module or class."""
        return owner in self._slices

    def owners(self) -> tuple[str, ...]:
        """All modules and classes there are tables of."""
        return tuple(self._slices)

    def table(self, owner: str) -> dict[str, Entry | str]:
        """The functions of a module or class by name; a text is another qualified name for the same."""
        found = self._tables.get(owner)
        if found is None:
            text = self._slices.get(owner)
            found = self._tables[owner] = _parse(owner, text) if text else {}
        return found


@cache
def libraries(language: str) -> Libraries:
    """The shipped description of a language's libraries."""
    from vigil_lang.base.resources import resource

    text = resource("stdlib", "libraries", f"{language}.toml").read_text(encoding="utf-8")
    headers = list(_HEADER.finditer(text))
    ends = [*(h.start() for h in headers[1:]), len(text)]
    slices = {h[1]: text[h.start() : end] for h, end in zip(headers, ends, strict=True)}
    pure = _pure_names()[language]
    return Libraries(language, slices, pure["pure"], pure["except"], pure["plain"], pure["plain"] | pure["methods"])


@cache
def _pure_names() -> dict[str, dict[str, frozenset[str]]]:
    import tomllib

    from vigil_lang.base.resources import resource

    found = tomllib.loads(resource("stdlib", "libraries", "pure.toml").read_text(encoding="utf-8"))
    return {language: {k: frozenset(v.split()) for k, v in table.items()} for language, table in found.items()}


@cache
def described() -> frozenset[str]:
    """The modules and classes, of all languages, of which functions with an effect are described."""
    return frozenset(owner for language in BUILT_IN for owner in libraries(language).owners())


@cache
def _pure_roots(language: str) -> frozenset[str]:
    return frozenset(name.partition(".")[0] for name in _pure_names()[language]["pure"])


@cache
def _roots(language: str) -> frozenset[str]:
    return frozenset(owner.partition(".")[0].partition("(")[0] for owner in libraries(language).owners())


def _parse(owner: str, text: str) -> dict[str, Entry | str]:
    import tomllib

    table = tomllib.loads(text.partition("\n")[2])
    found: dict[str, Entry | str] = {}
    for names, given in table.items():
        for name in names.split():
            found[name] = (
                given["as"].replace("*", name)
                if "as" in given
                else _entry(name if owner == _BARE else f"{owner}.{name}", given)
            )
    return found


def _entry(name: str, given: dict[str, Any]) -> Entry:
    args = tuple((n, role) for n, _, role in (a.partition("=") for a in given.get("args", "").split()))
    known = {k: v for k, v in given.items() if k not in ("args", "kinds")}
    if "*" in (const := known.get("const", {})).values():
        known["const"] = {k: name.rpartition(".")[2].upper() if v == "*" else v for k, v in const.items()}
    return Entry(name, tuple(given.get("kinds", "").split()), args, **known)


BUILT_IN = {
    "python": frozenset(name for name in dir(builtins) if name[0] != "_")
    | {"__builtins__", "__import__", "exit", "get_ipython", "quit"},
    "javascript": frozenset(
        [
        "Array", "ArrayBuffer", "BigInt", "Boolean", "Buffer", "Bun", "Date", "Error", "Function", "Infinity", "Intl",
        "AbortController", "AggregateError", "Atomics", "BigInt64Array", "BigUint64Array", "Blob", "CustomEvent",
        "DataView", "EvalError", "Event", "EventTarget", "File", "Float32Array", "Float64Array", "FormData", "Headers",
        "Int16Array", "Int32Array", "Int8Array", "Iterator", "RangeError", "ReferenceError", "Request", "Response",
        "SharedArrayBuffer", "SyntaxError", "TextDecoder", "TextEncoder", "URIError", "Uint16Array", "Uint32Array",
        "Uint8ClampedArray", "WeakRef", "WebAssembly", "WebSocket", "Worker", "XMLHttpRequest", "atob", "btoa",
        "decodeURI", "document", "encodeURI", "escape", "global", "isFinite", "navigator", "performance", "self",
        "unescape", "window", "JSON", "Map", "Math", "NaN", "Number", "Object", "Promise", "Proxy", "Reflect",
        "RegExp", "Set", "String", "Symbol", "TypeError", "URL", "URLSearchParams", "Uint8Array",
        "WeakMap", "WeakSet", "clearInterval",
        "clearTimeout", "console", "decodeURIComponent", "encodeURIComponent", "globalThis", "isNaN", "parseFloat",
        "parseInt", "import()", "process", "queueMicrotask", "require", "setImmediate", "setInterval",
        "setTimeout", "structuredClone",
    ]
    ),
}  # fmt: skip
"""Functions and objects that are there without an import; those with effects are in `stdlib/libraries`."""


def is_standard(name: str, language: str) -> bool:
    """Whether a qualified name is of the language's own library or built in: such calls are steps only if described."""
    root = name.partition(".")[0].partition("(")[0]
    if language == "python":
        return root in sys.stdlib_module_names or root in _PYTHON or root in BUILT_IN[language]
    return root in _JAVASCRIPT or root in BUILT_IN[language]


_PYTHON = frozenset({"builtins", "__future__", "get_ipython", "typing_extensions"})
_JAVASCRIPT = frozenset(
    [
        "assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto", "dgram",
        "dns", "domain", "events", "fs", "http", "http2", "https", "inspector", "module", "net", "os", "path",
        "perf_hooks", "process", "punycode", "querystring", "readline", "repl", "stream", "string_decoder",
        "timers", "tls", "tty", "url", "util", "v8", "vm", "wasi", "worker_threads", "zlib", "globals",
    ]
)  # fmt: skip

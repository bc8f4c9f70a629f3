"""Imports: libraries by qualified name, modules of the script's own as far as their text is known."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from vigil_lang.abstraction import paths
from vigil_lang.abstraction.scripts import emit
from vigil_lang.abstraction.scripts.attributes import attribute
from vigil_lang.abstraction.scripts.bindings import bind
from vigil_lang.abstraction.scripts.libraries import is_standard
from vigil_lang.abstraction.scripts.state import MAX_MODULES
from vigil_lang.abstraction.scripts.values import UNKNOWN, Class, Mapping, Ref, Scope, Thing, member

if TYPE_CHECKING:
    from vigil_lang.abstraction.scripts.state import Run
    from vigil_lang.abstraction.scripts.tree import Import
    from vigil_lang.abstraction.scripts.values import Value


_ENDINGS = ("", ".js", ".mjs", ".cjs", ".ts", ".jsx", ".tsx", "/index.js")

_PARTS = ("promises", "posix", "web")

MAX_RUN = 20_000
"""Characters of a text that is followed where it is executed as code."""

MAX_TEXTS = 8
"""How deeply texts are followed that execute each other."""


def bind_import(run: Run, node: Import, scope: Scope) -> None:
    """Binds what an import gives."""
    run.line = node.line
    if run.language == "python":
        _bind_python(run, node, scope)
    else:
        _bind_javascript(run, node, scope)


def _bind_python(run: Run, node: Import, scope: Scope) -> None:
    if node.name is None:
        module = load(run, node.module, scope)
        root = node.module.partition(".")[0]
        if node.alias:
            bind(run, node.alias, module, scope)
        elif "." not in node.module:
            bind(run, root, module, scope)
        elif root not in scope.names:
            bind(run, root, Ref(root), scope)
        return
    owner = load(run, node.module, scope)
    if node.name != "*":
        value: Value = UNKNOWN
        match owner:
            case Class():
                value = member(owner, node.name)
                if value is UNKNOWN and run.files is not None:
                    value = load(run, f"{node.module}.{node.name}", scope)
            case Ref(name=name):
                value = attribute(run, owner, node.name, scope) if name else Ref(node.name)
        bind(run, node.alias, value, scope)
    elif isinstance(owner, Class):
        scope.names.update(owner.members)
    elif isinstance(owner, Ref) and not is_standard(owner.name, "python"):
        (scope.module or scope).star = owner.name
        if not run.library.only_computes(owner.name):
            run.open(f"imports all names of {owner.name}")
    elif isinstance(owner, Ref):
        table = run.library.table(owner.name)
        scope.names.update({name: Ref(f"{owner.name}.{name}") for name in table if name.isidentifier()})
        (scope.module or scope).star = owner.name


def _bind_javascript(run: Run, node: Import, scope: Scope) -> None:
    owner = load(run, node.module, scope)
    match owner:
        case Ref(name=name) if node.name in (None, "default"):
            value: Value = Ref(_default(name, node.module)) if node.name else owner
        case Class() if node.name:
            value = member(owner, node.name)
        case Ref():
            value = attribute(run, owner, node.name or "", scope)
        case _:
            value = owner
    if node.alias:
        bind(run, node.alias, value, scope)


def _default(name: str, module: str) -> str:
    """What a default import is called: the package, or the file of it that is named."""
    whole = module.count("/") <= (1 if module.startswith("@") else 0)
    return name if whole or module.startswith(".") or is_standard(name, "javascript") else f"{name}.{_stem(module)}"


def _stem(module: str) -> str:
    base = posixpath.basename(module)
    return posixpath.splitext(base)[0] if base.endswith((".js", ".mjs", ".cjs", ".ts")) else base


def load(run: Run, name: str, scope: Scope) -> Value:
    """A module by the name it is imported under: one of the script's own, or a library's qualified name."""
    here = (scope.module or scope).path
    if run.language == "javascript":
        if not name.startswith((".", "/")):
            package = _package(name)
            run.libraries |= not is_standard(package, "javascript")
            root = posixpath.dirname(here) if here else run.cwd
            local = paths.resolve(f"node_modules/{package}", root) if root is not None else None
            if not run.library.is_described(package) or (local is not None and run.changed(local)):
                _not_known(run, name)
            return Ref(package)
        if name.endswith(".json"):
            return emit.data_read(run, posixpath.join(posixpath.dirname(here) if here else ".", name), scope)
        base = posixpath.dirname(here) if here else run.cwd
        for ending in _ENDINGS:
            path = paths.resolve(name + ending, base)
            found = load_path(run, path, _stem(name)) if path is not None else None
            if found is not None:
                return found
        run.libraries = True
        _not_known(run, name)
        return Ref(_stem(name))
    bare = name.lstrip(".")
    level = len(name) - len(bare)
    if level or bare.partition(".")[0] not in _STARTED:
        base = posixpath.dirname(here) if here else None
        for _ in range(min(level - 1, 20)):
            base = posixpath.dirname(base) if base else None
        roots = [base] if level else [base, run.cwd, *run.roots]
        for root in dict.fromkeys(roots):
            file = bare.replace(".", "/")
            for ending in (".py", "/__init__.py") if bare else ("__init__.py",):
                path = paths.resolve(file + ending, root) if root is not None else None
                found = load_path(run, path, bare) if path is not None else None
                if found is not None:
                    return found
            first = paths.resolve(bare.partition(".")[0], root) if root is not None and bare else None
            if first is not None and any(run.changed(first + ending) for ending in _PYTHON_FILES):
                _not_known(run, name)
        run.libraries |= level > 0 or not is_standard(bare, "python")
        if level or not run.library.is_described(bare):
            _not_known(run, name)
    return Ref(bare)


_PYTHON_FILES = (".py", "/__init__.py", ".so", ".pyc", "/__init__.pyc")
"""What a module can be in: one that the run has put beside a script hides the library's of that name."""

_STARTED = frozenset({"abc", "builtins", "codecs", "io", "os", "posixpath", "stat", "sys", "time"})
"""Modules that are there before a script begins: a file of their name beside the script is not imported."""


def _not_known(run: Run, name: str) -> None:
    """A module is imported whose text is not known: what it does then, and what its functions do, is not either."""
    run.open(f"imports {name}, which is not known")


def _package(name: str) -> str:
    """The qualified name of a package: `node:fs/promises` is `fs.promises`, a file of one is the package itself."""
    parts = name.removeprefix("node:").split("/")
    if parts[0].startswith("@"):
        return "/".join(parts[:2])
    if is_standard(parts[0], "javascript") or (len(parts) > 1 and parts[1] in _PARTS):
        return ".".join(parts)
    return parts[0]


def load_path(run: Run, path: str, name: str) -> Class | None:
    """A module of the script's own by its path; what it does when it is imported happens the first time."""
    if path in run.modules:
        return run.modules[path]
    if len(run.modules) >= MAX_MODULES * 8:
        run.open("imports too many modules")
        return None
    run.modules[path] = None
    text = run.files(path)
    if text is None:
        return None
    if sum(m is not None for m in run.modules.values()) >= MAX_MODULES or len(text) > 200_000:
        run.trouble["the script imports too many modules of its own"] = None
        run.open("imports too many modules of its own")
        return None
    module = run.modules[path] = Class(name, {}, module=True)
    where = posixpath.basename(path)
    tree = run.translate(text)
    run.trouble.update((f"{where}: {t}", None) for t in tree.trouble)
    run.lines[where] = text.split("\n")
    inner = Scope(module.members, path=path, where=where)
    prepare(run, inner, name)
    outer, leaves, stops = run.certain, run.leaves, run.stops
    run.returned.append([])
    run.block(tree.body, inner)
    run.returned.pop()
    run.certain, run.leaves, run.stops = outer, leaves, stops
    module.members = inner.names
    if tree.trouble:
        run.open(f"{where} cannot be read completely")
    return module


def prepare(run: Run, scope: Scope, name: str) -> None:
    """Sets the names that every module has."""
    if run.language == "python":
        scope.names["__name__"] = name
        scope.names["__file__"] = Thing(text=scope.path) if scope.path is None else scope.path
        return
    scope.names["__filename"] = scope.path if scope.path is not None else UNKNOWN
    scope.names["__dirname"] = posixpath.dirname(scope.path) if scope.path is not None else UNKNOWN
    address = "file://" + scope.path if scope.path is not None else UNKNOWN
    place: dict[str | int | float | bool | None, Value] = {
        "url": address,
        "filename": scope.names["__filename"],
        "dirname": scope.names["__dirname"],
    }
    scope.names["import.meta"] = Mapping(place, open=True)


def run_text(run: Run, text: str, scope: Scope) -> None:
    """What a text that the script executes does."""
    tree = run.translate(text) if len(text) <= MAX_RUN and len(run.texts) < MAX_TEXTS else None
    if tree is None or tree.trouble:
        run.open("code in a text cannot be read completely")
    if tree is None:
        return
    outer = run.certain
    run.texts.append(text)
    run.returned.append([])
    run.block(tree.body, scope)
    run.returned.pop()
    run.texts.pop()
    run.certain = outer

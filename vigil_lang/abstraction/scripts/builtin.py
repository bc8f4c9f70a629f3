"""Functions that change how the script goes on, or call what they are given."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING

from vigil_lang.abstraction.scripts import emit, modules, options
from vigil_lang.abstraction.scripts.attributes import attribute
from vigil_lang.abstraction.scripts.bindings import set_item
from vigil_lang.abstraction.scripts.callbacks import call_handed, for_each
from vigil_lang.abstraction.scripts.site import Arguments
from vigil_lang.abstraction.scripts.state import EXIT, FAIL
from vigil_lang.abstraction.scripts.tree import Opaque
from vigil_lang.abstraction.scripts.values import (
    MAX_ITEMS,
    UNKNOWN,
    Function,
    Object,
    Ref,
    Thing,
    active,
    anything,
    is_literal,
    opaque,
    text_of,
)

if TYPE_CHECKING:
    from vigil_lang.abstraction.scripts.site import Site
    from vigil_lang.abstraction.scripts.state import Run, Special
    from vigil_lang.abstraction.scripts.tree import Expr
    from vigil_lang.abstraction.scripts.values import Value


def _leave(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:  # noqa: ARG001
    """`sys.exit`, `process.exit`: with a known code other than 0 the script has failed."""
    call_handed(run, given, UNKNOWN)
    value = given.get(0)
    failed = is_literal(value) and value not in (0, None)
    run.leaves |= FAIL if failed else EXIT
    run.stops = True
    return UNKNOWN


def _change_directory(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:
    value = emit.described_call(run, name, this, given, site)
    text = text_of(given.get(0) or UNKNOWN)
    run.cwd = run.path(text) if text is not None and run.certain else None
    run.moved = True
    return value


def _import(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:  # noqa: ARG001
    """`importlib.import_module("x")`, `require("x")`, `import("x")`"""
    wanted = given.get(0)
    if isinstance(wanted, str):
        return modules.load(run, wanted, site.scope)
    run.open("imports a module whose name is not known", site.line)
    return anything()


def _environment(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:
    """`os.environ.get("HOME")`: a step, and a value of which the home directory's is known."""
    value = emit.described_call(run, name, this, given, site)
    known = given.get(0, "key") in emit.HOME and isinstance(value, Thing)
    return Thing(value.origins, text="~") if known and isinstance(value, Thing) else value


def _run_code(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:
    """`exec` and `eval` of a text: a step, and what the text does."""
    value = emit.described_call(run, name, this, given, site)
    text = given.get(0)
    if isinstance(text, str):
        modules.run_text(run, text, site.scope)
    elif text is not None:
        run.open(f"{name} runs text that is not known", site.line)
    held = active(*given.values())
    return replace(anything(*held), origins=value.origins if isinstance(value, Thing) else ())


def _run_path(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:
    """`runpy.run_path("x.py")`: a step, and what the script does."""
    emit.described_call(run, name, this, given, site)
    text = text_of(given.get(0) or UNKNOWN)
    path = run.path(text) if text is not None else None
    module = modules.load_path(run, path, "__main__") if path is not None else None
    if module is None:
        run.open("runs a file whose text is not known", site.line)
    return module or UNKNOWN


def _module_path(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:  # noqa: ARG001
    """`sys.path.insert(0, "lib")`: modules are looked for there too, and there first."""
    text = text_of(given.get(len(given.positional) - 1) or UNKNOWN)
    path = run.path(text) if text is not None else None
    if path is not None and len(run.roots) < 16:
        run.roots.append(path)
    own = posixpath.dirname(run.file) if run.file else run.cwd
    if name.endswith("insert") and path != own:
        run.open("any module may come from a folder that is put first", site.line)
    return None


def _partial(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:  # noqa: ARG001
    callee = given.get(0)
    if isinstance(callee, Function):
        more = tuple(v for _, v in given.positional[1:])
        if given.named or given.more or len(callee.given) + len(more) > MAX_ITEMS:
            run.look_again(callee)
        return replace(callee, given=(callee.given + more)[:MAX_ITEMS])
    return anything(*given.values())


def _each(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:  # noqa: ARG001
    """`map(f, items)`, `filter(f, items)`: the function is called, but perhaps never."""
    callee, over = given.get(0), given.get(1)
    if len(given.positional) > 2 or given.more:
        with run.aside():
            run.apply(callee, Arguments([], more=True), site)
        return opaque(*given.values())
    return for_each(run, callee, over if over is not None else UNKNOWN, site, keep=name.endswith("filter"))


def _get_attribute(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:  # noqa: ARG001
    owner, wanted = given.get(0), given.get(1)
    if not isinstance(wanted, str):
        return anything(owner, given.get(2))
    found = attribute(run, owner, wanted, site.scope)
    default = given.get(2)
    return opaque(found, default) if active(default) else found


def _set_attribute(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:  # noqa: ARG001
    owner, value = given.get(0), given.get(2)
    set_item(run, owner, given.get(1) if given.get(1) is not None else UNKNOWN, value)
    return None


def _function_of_text(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:
    """`new Function("a", "return a")`: code, of which what it does when it is called is not known."""
    emit.described_call(run, name, this, given, site)
    run.open("makes a function from text", site.line)
    return anything()


def _later(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:  # noqa: ARG001
    """`setTimeout(f, 10, x)`; a text in the place of the function is code."""
    callee = given.get(0)
    rest = Arguments(given.positional[2:], more=given.more)
    if isinstance(callee, Function | Ref):
        outer, run.certain = run.certain, False
        if isinstance(callee, Function):
            run.invoke(callee, rest.positional, rest)
        else:
            run.apply(callee, rest, site)
        run.certain = outer
    elif not is_literal(callee) or isinstance(callee, str):
        run.apply(callee if not is_literal(callee) else UNKNOWN, rest, site)
    return UNKNOWN


def _open_descriptor(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:
    """`os.open(path, os.O_WRONLY | os.O_CREAT)`: the mode that the flags amount to."""
    flags = given.get(1, "flags")
    mode: Value = UNKNOWN
    if isinstance(flags, int):
        writes, appends, new = flags & 3, flags & 1024, flags & (512 | 64)
        mode = "r" if not writes else "a" if appends else "w" if new else "r+"
    path = [given.named["path"]] if "path" in given.named else given.positional[:1]
    named = {key: value for key, value in given.named.items() if key.endswith("dir_fd")}
    return emit.described_call(run, name, this, Arguments([*path, (Opaque(), mode)], named, given.more), site)


def _write_descriptor(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:  # noqa: ARG001
    """`os.write(fd, b"x")`: opening the file was the step; what else is behind a number is not known."""
    target = given.get(0, "fd")
    is_file = isinstance(target, Thing) and target.name == "io.FileDescriptor"
    if not is_file and target not in (1, 2):
        run.open("it is not known what is written to", site.line)
    return UNKNOWN


_EXTENSIONS = {"zip": ".zip", "tar": ".tar", "gztar": ".tar.gz", "bztar": ".tar.bz2", "xztar": ".tar.xz"}


def _make_archive(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:
    """`shutil.make_archive("out", "zip")` makes `out.zip`, of the directory it runs in where none is given."""
    base, kind = text_of(given.get(0, "base_name") or UNKNOWN), given.get(1, "format")
    extension = _EXTENSIONS.get(kind) if isinstance(kind, str) else None
    archive: Value = base + extension if base is not None and extension is not None else UNKNOWN
    root = given.get(2, "root_dir")
    rest: list[tuple[Expr, Value]] = [(Opaque(), archive), (Opaque(), kind), (Opaque(), "." if root is None else root)]
    value = emit.described_call(run, name, this, Arguments(rest, more=given.more), site)
    return Thing(value.origins, text=text_of(archive)) if isinstance(value, Thing) else value


def _names(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:  # noqa: ARG001
    """`vars()`, `vars(module)`: all names there are, and what they stand for."""
    if not given.positional or (active(*given.values()) and not isinstance(given.get(0), Object)):
        run.open(f"{name}() gives access to every name", site.line)
        return anything(*given.values())
    return opaque(*given.values())


def _query(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:
    """`frame.query("a > 1")`: a text that may call functions by their names."""
    text = given.get(0, "expr")
    if not isinstance(text, str) or any(sign in text for sign in "@(_"):
        run.open("evaluates text", site.line)
    return emit.described_call(run, name, this, given, site)


def _required(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:  # noqa: ARG001
    return Ref("require")


def _argument_parser(run: Run, name: str, this: Thing | None, given: Arguments, site: Site) -> Value:  # noqa: ARG001
    return options.call(run, name, this, given)


SPECIAL: dict[str, Special] = {
    **dict.fromkeys(("sys.exit", "os._exit", "process.exit", "builtins.exit", "builtins.quit", "exit", "quit"), _leave),
    **dict.fromkeys(("os.chdir", "process.chdir", "os.fchdir", "get_ipython().cd"), _change_directory),
    **dict.fromkeys(("importlib.import_module", "__import__", "require", "import()"), _import),
    **dict.fromkeys(("exec", "eval"), _run_code),
    "runpy.run_path": _run_path,
    **dict.fromkeys(("os.environ.get", "os.getenv"), _environment),
    **dict.fromkeys(("sys.path.insert", "sys.path.append"), _module_path),
    "functools.partial": _partial,
    **dict.fromkeys(("map", "filter"), _each),
    "getattr": _get_attribute,
    "setattr": _set_attribute,
    **dict.fromkeys(("vars", "globals", "locals"), _names),
    "pandas.DataFrame.query": _query,
    "Function": _function_of_text,
    "os.open": _open_descriptor,
    **dict.fromkeys(("os.write", "os.pwrite", "os.writev", "os.pwritev"), _write_descriptor),
    "shutil.make_archive": _make_archive,
    **dict.fromkeys(("setTimeout", "setInterval", "setImmediate", "process.nextTick", "queueMicrotask"), _later),
    **dict.fromkeys(("module.createRequire", "createRequire"), _required),
    **dict.fromkeys(options.NAMES, _argument_parser),
}
"""Functions that are more than a step, or something else."""

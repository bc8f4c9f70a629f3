"""Files and the modules they use: loading, and who may use what."""

from __future__ import annotations

from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import field

from vigil_lang.base.files import is_file, read_source, real_path
from vigil_lang.base.resources import resource
from vigil_lang.base.structs import Frozen
from vigil_lang.diagnostics import Diagnostic, Edit, Fix, InputError, Note, Source, nearest
from vigil_lang.syntax import Parsed, parse, tree
from vigil_lang.syntax.parse import MAX_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Declaration = tree.Let | tree.Param | tree.Pattern

MAX_BYTES = 4 * MAX_CHARACTERS
"""Bytes of a policy that are ever read: as many as so many characters can take."""

TESTS = "_test.vgl"
"""How the names of files with tests end."""


class Access(Frozen, frozen=True):
    """How a policy and the modules it uses are read: from disk, or from newer texts that an editor holds.

    `read` gives the text at a path, of so many bytes at most, and may raise `InputError`; `parse` must agree with the
    parser. Standard modules are the same for everybody.
    """

    read: Callable[[str, int], Source] = read_source
    parse: Callable[[Source], Parsed] = parse
    is_file: Callable[[Path], bool] = is_file


FROM_DISK = Access()


class Module(Frozen, frozen=True, eq=False, weakref=True):
    """A parsed file with what it declares and what the names in it refer to."""

    source: Source
    file: tree.File
    own: dict[str, Declaration] = field(default_factory=dict)
    judged: dict[str, tree.Statement | tree.Rule] = field(default_factory=dict)
    """Its statements, and its rules of a gate, by their names."""
    imported: dict[str, tuple[Module, Declaration, tree.Use]] = field(default_factory=dict)
    uses: list[tuple[tree.Use, Module]] = field(default_factory=list)

    def find(self, name: str) -> tuple[Module, Declaration] | None:
        """The declaration a name refers to here, with the module it was written in."""
        if name in self.own:
            return self, self.own[name]
        if name in self.imported:
            module, declaration, _ = self.imported[name]
            return module, declaration
        return None

    def may_declare(self, name: str) -> bool:
        """Whether an item that could not be read seems to declare a name: it is not certain that nothing does."""
        if not self.file.broken:
            return False
        from vigil_lang.semantics.broken_items import may_import, seemingly_declared  # late: one that judges has none

        return name in seemingly_declared(self.file) or may_import(self.file)

    def names(self) -> list[str]:
        """Every name that can be referred to here."""
        return [*self.own, *self.imported]


def standard_modules() -> list[str]:
    """The names of the standard library's modules, as `use` spells them."""
    return list(_standard_places())


def is_standard(name: str) -> bool:
    """Whether a policy argument names a standard module (`std.secrets`)."""
    return name.startswith("std.") and name in _standard_places()


@cache
def _standard_places() -> dict[str, Path]:
    """The standard modules by name, and where they are."""
    root = resource("stdlib", "std").resolve()
    found = {"std." + ".".join(p.relative_to(root).with_suffix("").parts): Path(real_path(p)) for p in _modules(root)}
    return dict(sorted(found.items()))


def _modules(folder: Path) -> Iterator[Path]:
    """The policies below a folder; tests of policies are none."""
    return (path for path in folder.rglob("*.vgl") if not is_test_file(path.name))


def is_test_file(path: str) -> bool:
    """Whether a file holds tests, by its name."""
    return path.endswith(TESTS)


@cache
def _standard_root() -> Path:
    return resource("stdlib", "std").resolve()


@lru_cache(maxsize=256)
def _standard_module(path: Path) -> Module | None:
    """A standard module, read once for all policies that use it; None when there is something to say of it."""
    found: list[Diagnostic] = []
    loader = Loader(found.append)
    loader.enter(path)
    try:
        module = loader.load(read_source(str(path)), _standard_root())
    except InputError:
        return None
    return None if found else module


@lru_cache(maxsize=4096)
def is_shipped(path: str) -> bool:
    """Whether a file belongs to the standard library or the gate's default layer, which are not the user's to mend."""
    return Path(real_path(path)).is_relative_to(_standard_root().parent)


def standard_path(name: str) -> Path:
    """Where a standard module is stored."""
    return resource("stdlib", "std").joinpath(*name.split(".")[1:]).with_suffix(".vgl")


class Loader:
    """Loads the modules that one policy file reaches; each is read once.

    Findings of used modules are reported where they are: a broken module is the user's to know of.
    """

    def __init__(self, report: Callable[[Diagnostic], None], access: Access = FROM_DISK) -> None:
        self._report = report
        self._access = access
        self._loaded: dict[Path, Module | None] = {}
        self._active: list[Path] = []
        self._in_library = False

    def load(self, source: Source, root: Path | None) -> Module:
        """The module of a source. `root` is the folder `use .name` starts from and may not leave."""
        parsed = self._access.parse(source)
        for finding in parsed.diagnostics:
            self._report(finding)
        module = Module(source, parsed.file)
        self._declare(module)
        for item in parsed.file.items:
            if isinstance(item, tree.Use):
                self._use(module, item, root)
        for name, declaration in module.own.items():
            if name in module.imported:
                used = module.imported[name][2]
                message = f"`{name}` hides the name imported from `{used.module.text}`"
                note = Note("imported here", source, used.span)
                self._report(Diagnostic.of("VGL206", message, source, declaration.name.span, notes=(note,)))
        return module

    def _declare(self, module: Module) -> None:
        for item in module.file.items:
            if isinstance(item, tree.Use | tree.TestCase):
                continue
            table: dict[str, tree.Statement | tree.Rule] | dict[str, Declaration]
            table = module.judged if isinstance(item, tree.Statement | tree.Rule) else module.own
            name = item.name
            if name.text in table:
                note = Note("first declared here", module.source, table[name.text].name.span)
                message = f"`{name.text}` is declared twice"
                self._report(Diagnostic.of("VGL202", message, module.source, name.span, notes=(note,)))
            else:
                table[name.text] = item  # type: ignore[assignment]

    def _use(self, module: Module, use: tree.Use, root: Path | None) -> None:
        used = self._find(module, use, root)
        if used is None:
            return
        module.uses.append((use, used))
        for name in use.names:
            if name.text not in used.own:
                near = nearest(name.text, used.own, 1)
                help_text = f"did you mean `{near[0]}`?" if near else f"it has {_list(sorted(used.own))}"
                fix = Fix(f"write `{near[0]}`", (Edit(name.span, near[0]),)) if near else None
                message = f"`{use.module.text}` declares no `{name.text}`"
                self._report(Diagnostic.of("VGL201", message, module.source, name.span, help=help_text, fix=fix))
        wanted = [n.text for n in use.names if n.text in used.own] if use.names else list(used.own)
        for text in wanted:
            other = module.imported.get(text)
            if other is not None and other[0] is not used and not _only_tests(module):
                message = f"`{text}` is imported from `{other[2].module.text}` and from `{use.module.text}`"
                note = Note("the other import", module.source, other[2].span)
                self._report(Diagnostic.of("VGL202", message, module.source, use.span, notes=(note,)))
            module.imported[text] = (used, used.own[text], use)

    def _find(self, module: Module, use: tree.Use, root: Path | None) -> Module | None:
        """The used module, or None with the reason reported."""
        name, source = use.module.text, module.source
        place = self._place(name, source, root)
        if isinstance(place, _Missing):
            near = nearest(name, place.others, 1)
            help_text = f"did you mean `{near[0]}`?" if near else None
            fix = Fix(f"write `{near[0]}`", (Edit(use.module.span, near[0]),)) if near else None
            self._report(Diagnostic.of(place.code, place.message, source, use.module.span, help=help_text, fix=fix))
            return None
        path, within = place
        if path in self._active:
            chain = " → ".join(p.stem for p in [*self._active[self._active.index(path) :], path])
            message = f"modules use each other: {chain}"
            self._report(Diagnostic.of("VGL212", message, source, use.module.span))
            return None
        if not self._in_library and within == _standard_root() and (shared := _standard_module(path)) is not None:
            return shared
        if path not in self._loaded:
            self._active.append(path)
            try:
                self._loaded[path] = self.load(self._access.read(str(path), MAX_BYTES), within)
            except InputError as error:
                self._loaded[path] = None
                for finding in error.diagnostics:
                    self._report(finding)
            self._active.pop()
        return self._loaded[path]

    def enter(self, path: Path) -> None:
        """Name the file that loading starts from, so that a module which uses it is a cycle."""
        self._active.append(path)
        self._in_library = path.is_relative_to(_standard_root())

    def _place(self, name: str, source: Source, root: Path | None) -> tuple[Path, Path] | _Missing:
        """(file, folder it may use), or why there is none."""
        if not name.startswith("."):
            if not is_standard(name):
                return _Missing("VGL207", f"there is no module `{name}`", tuple(standard_modules()))
            return _standard_places()[name], _standard_root()
        if name.startswith(".."):
            return _Missing("VGL208", f"`{name}` would leave the project's folder")
        if root is None:
            return _Missing("VGL207", f"`{name}` needs a policy that is stored in a file")
        folder = Path(real_path(source.path)).parent
        written = folder.joinpath(*name[1:].split(".")).with_suffix(".vgl")
        path = Path(real_path(written))  # a link that leads to itself is no error here
        if not path.is_relative_to(root):
            return _Missing("VGL208", f"`{name}` leads out of the project's folder")
        if not self._access.is_file(path):
            message = f"there is no module `{name}`: `{'/'.join(name[1:].split('.'))}.vgl` does not exist"
            return _Missing("VGL207", message, _siblings(name, written.parent))
        return path, root


def _only_tests(module: Module) -> bool:
    """Whether nothing in a file refers to what it imports: it uses modules for their statements to be tested."""
    items = module.file.items
    return is_test_file(module.source.path) and all(isinstance(item, tree.Use | tree.TestCase) for item in items)


class _Missing(Frozen, frozen=True):
    """Why a module cannot be used, and the names of some that can."""

    code: str
    message: str
    others: tuple[str, ...] = ()


def _siblings(name: str, folder: Path) -> tuple[str, ...]:
    """The relative names of the modules in the folder where one was looked for."""
    before = name[: name.rindex(".") + 1]
    with suppress(OSError):
        return tuple(sorted(before + path.stem for path in folder.glob("*.vgl") if not is_test_file(path.name)))
    return ()


def _list(names: list[str]) -> str:
    return ", ".join(f"`{n}`" for n in names) if names else "nothing to import"

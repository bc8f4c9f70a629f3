"""What policies give names to, and the places where these stand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from vigil_lang.base.files import real_path
from vigil_lang.semantics.modules import is_test_file
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from vigil_lang.diagnostics import Span
    from vigil_lang.semantics.modules import Declaration, Module

Kind: TypeAlias = Literal[
    "pattern", "let", "param", "statement", "rule", "variable", "parameter", "module", "event", "test"
]  # fmt: skip
Role: TypeAlias = Literal["declaration", "reference", "import"]


class Symbol(NamedTuple):
    """Something that has a name. `path` is the real path of the file that declares it. A tuple: files name many things.

    `within` is what it is local to, as kind and name: the statement or pattern of a variable, the pattern of a
    parameter, the test of an event. A module is called like its file.
    """

    kind: Kind
    name: str
    path: str
    within: tuple[Kind, str] | None = None

    @property
    def home(self) -> Symbol | None:
        """What it is local to."""
        return None if self.within is None else Symbol(*self.within, self.path)


class Mention(NamedTuple):
    """A name where it is written. `owner` is the item it stands in; `role` `import` is a name or module after `use`."""

    symbol: Symbol
    span: Span
    role: Role
    owner: Symbol | None = None


def path_of(module: Module) -> str:
    """The path that a module's symbols have."""
    return real_path(module.source.path)


def kind_of(declaration: Declaration) -> Kind:
    """What a declaration declares."""
    match declaration:
        case tree.Pattern():
            return "pattern"
        case tree.Let():
            return "let"
        case tree.Param():
            return "param"


def module_symbol(module: Module) -> Symbol:
    """A file as something that has a name."""
    path = path_of(module)
    return Symbol("module", Path(path).stem, path)


def tested(module: Module, namesake: Module | None) -> list[Module]:
    """The files whose statements the tests of a file speak of: its own, those it uses whole, or else its namesake."""
    found = [module] if any(isinstance(item, tree.Statement | tree.Rule) for item in module.file.items) else []
    found += [used for use, used in module.uses if not use.names and used not in found]
    if not found and namesake is not None and is_test_file(module.source.path):
        found.append(namesake)
    return found

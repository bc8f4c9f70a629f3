"""Names over files: what a name refers to, every place that refers to the same, and what applies what."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakKeyDictionary

from vigil_lang.base.files import real_path
from vigil_lang.diagnostics import Source, Span
from vigil_lang.semantics.modules import TESTS, Module
from vigil_lang.syntax import tree
from vigil_lsp.default_layer import default_layer
from vigil_lsp.mentions import mentions
from vigil_lsp.symbols import Mention, Role, Symbol, path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lsprotocol import types

    from vigil_lsp.reading import Reading
    from vigil_lsp.workspace import Workspace

_Known: TypeAlias = "WeakKeyDictionary[Module, tuple[Module | None, tuple[Mention, ...]]]"
_known: _Known = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place where something is named."""

    source: Source
    span: Span
    role: Role


class Names:
    """The names of some policies and of the modules they use."""

    def __init__(self, readings: Iterable[Reading]) -> None:
        self.readings = list({reading.source.path: reading for reading in readings}.values())
        self._modules = {path_of(reading.module): reading.module for reading in self.readings}
        for reading in self.readings:
            for module in (*reading.modules(), *_default_layer(reading.file)):
                self._modules.setdefault(path_of(module), module)

    @property
    def modules(self) -> list[Module]:
        """Every module, each once."""
        return list(self._modules.values())

    def module(self, path: str) -> Module | None:
        """The module of a path."""
        return self._modules.get(real_path(path))

    def mentions(self, module: Module) -> tuple[Mention, ...]:
        """Every mention of a module, in text order."""
        path = module.source.path
        namesake = self.module(path.removesuffix(TESTS) + ".vgl") if path.endswith(TESTS) else None
        known = _known.get(module)
        if known is None or known[0] is not namesake:
            known = _known[module] = namesake, mentions(module, namesake)
        return known[1]

    def at(self, path: str, offset: int) -> list[Mention]:
        """What is named where an offset stands, or just before it; several things in a test that means them all."""
        module = self.module(path)
        if module is None:
            return []
        found = [m for m in self.mentions(module) if m.span.start <= offset <= m.span.end]
        return [m for m in found if not _is_nameless(m, module.source)]

    def everywhere(self) -> Iterator[tuple[Module, Mention]]:
        """Every mention of every module."""
        for module in self._modules.values():
            for mention in self.mentions(module):
                yield module, mention

    def occurrences(self, symbol: Symbol) -> list[Occurrence]:
        """Every place that names the same, file by file, in text order."""
        same = self.same(symbol)
        found = [Occurrence(module.source, m.span, m.role) for module, m in self.everywhere() if m.symbol in same]
        return sorted(set(found), key=lambda o: (o.source.path, o.span))

    def declarations(self, symbol: Symbol) -> list[Occurrence]:
        """Where something is declared: a variable where its statement has it first, a module where it begins."""
        if symbol.kind == "module":
            module = self.module(symbol.path)
            if module is None:
                return []
            span = module.file.name.span if module.file.name is not None else Span(0, 0)
            return [Occurrence(module.source, span, "declaration")]
        found = [Occurrence(module.source, m.span, m.role) for module, m in self.everywhere() if m.symbol == symbol]
        if symbol.kind != "variable":
            return sorted({o for o in found if o.role == "declaration"}, key=lambda o: o.span)
        return self._first(symbol)

    def _first(self, symbol: Symbol) -> list[Occurrence]:
        """Where a variable is written first: behind the name of its statement, or else in a pattern applied there."""
        module, home = self.module(symbol.path), symbol.home
        if module is None or home is None:
            return []
        own = self.mentions(module)
        start = next((m.span.start for m in own if m.symbol == home and m.role == "declaration"), 0)
        for mention in own:
            if mention.symbol == symbol and mention.owner == home and mention.span.start > start:
                return [Occurrence(module.source, mention.span, "declaration")]
        reached = self.reached(home)
        for where, mention in self.everywhere():
            if mention.owner in reached and mention.symbol == _local(symbol, mention.owner):
                return [Occurrence(where.source, mention.span, "declaration")]
        return []

    # --- what hangs together ---

    @cached_property
    def applied(self) -> dict[Symbol, list[tuple[Module, Mention]]]:
        """The patterns that statements and patterns name, by who names them, in text order."""
        found: dict[Symbol, list[tuple[Module, Mention]]] = {}
        for module, mention in self.everywhere():
            if mention.symbol.kind == "pattern" and mention.role == "reference" and mention.owner is not None:
                found.setdefault(mention.owner, []).append((module, mention))
        return found

    def reached(self, owner: Symbol) -> set[Symbol]:
        """The patterns that a statement or pattern rests on, directly or through others."""
        found: set[Symbol] = set()
        pending = [owner]
        while pending:
            named = {mention.symbol for _, mention in self.applied.get(pending.pop(), [])}
            pending += named - found
            found |= named
        return found

    def same(self, symbol: Symbol) -> frozenset[Symbol]:
        """A symbol with those that are the same by another way.

        A variable that a pattern leaves free is one of every statement that the pattern is part of.
        """
        if symbol.kind != "variable":
            return frozenset({symbol})
        homes = {m.owner for _, m in self.everywhere() if m.owner and m.owner.kind in ("pattern", "statement")}
        free = {
            m.symbol.home
            for _, m in self.everywhere()
            if m.symbol.kind == "variable" and m.symbol.name == symbol.name and m.owner == m.symbol.home
        }
        patterns = {home for home in free if home is not None and home.kind == "pattern"}
        if not patterns or symbol.home is None:
            return frozenset({symbol})
        reach = {home: self.reached(home) & patterns for home in homes}
        joined, pending = {symbol.home}, [symbol.home]
        while pending:
            home = pending.pop()
            near = {other for other, through in reach.items() if home in through} | reach.get(home, set())
            pending += near - joined
            joined |= near
        return frozenset(_local(symbol, home) for home in joined)


def _default_layer(file: tree.File) -> tuple[Module, ...]:
    """The rules that those of a file may speak of."""
    return default_layer() if any(isinstance(item, tree.Rule) for item in file.items) else ()


def _is_nameless(mention: Mention, source: Source) -> bool:
    """Whether a test declares an event without an id: its place is then the name of its action."""
    is_event = mention.symbol.kind == "event" and mention.role == "declaration"
    return is_event and source.text[slice(*mention.span)] != mention.symbol.name


def _local(variable: Symbol, home: Symbol) -> Symbol:
    """The variable of that name which is local to something else."""
    return Symbol("variable", variable.name, home.path, (home.kind, home.name))


def around(workspace: Workspace, uri: str) -> tuple[Reading, Names] | None:
    """The policy of a URI with the names it can see; None where there is none."""
    reading = workspace.reading(uri)
    if reading is None:
        return None
    tested = workspace.tested_policy(reading)
    return reading, Names([reading] if tested is None else [reading, tested])


def everywhere(workspace: Workspace, uri: str, position: types.Position, *words: str) -> tuple[Reading, Names] | None:
    """The policy of a URI with all that could name what is named at a position; None where there is no policy.

    Where further words are given, with all that could come to name it if it were called so.
    """
    seen = around(workspace, uri)
    if seen is None:
        return None
    reading, near = seen
    symbols = dict.fromkeys(mention.symbol for mention in near.at(reading.source.path, reading.text.offset(position)))
    return reading, Names(
        [*near.readings, *(one for symbol in symbols for one in users(workspace, near, symbol, *words))]
    )


def users(workspace: Workspace, near: Names, symbol: Symbol, *words: str) -> Iterator[Reading]:
    """The policies of the workspace that could name a symbol, or one of these words where it can be seen.

    `near` holds all that the file of the symbol can see. Others are not even read.
    """
    same, home = near.same(symbol), symbol.home
    if symbol.kind in ("parameter", "event", "test"):
        return  # nobody else can name it
    if home is None:
        words = symbol.name, f".{Path(symbol.path).stem}", *words
    elif all(one.home is not None and one.home.kind == "statement" for one in same):
        words = (home.name,)  # tests name a variable together with its statement
    else:
        words = ("",)  # a statement makes one of what two patterns leave free, and need not say so
    for path in dict.fromkeys(one.path for one in same):
        yield from workspace.policies(workspace.files.uri(path), words)

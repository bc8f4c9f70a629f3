"""`textDocument/documentSymbol`: the outline of a policy."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from vigil_lang.diagnostics.visible import visible
from vigil_lang.syntax import tree
from vigil_lang.syntax.print import to_text
from vigil_lang.syntax.scan import ITEM_WORDS, TEST
from vigil_lsp.cursor import documented, tokens_in
from vigil_lsp.quotations import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pygls.lsp.server import LanguageServer

    from vigil_lang.diagnostics import Span
    from vigil_lang.syntax.scan import Token
    from vigil_lsp.client import Client
    from vigil_lsp.reading import Reading
    from vigil_lsp.workspace import Workspace

KINDS: dict[type, types.SymbolKind] = {
    tree.Use: types.SymbolKind.Module,
    tree.Let: types.SymbolKind.Constant,
    tree.Param: types.SymbolKind.Property,
    tree.Pattern: types.SymbolKind.Function,
    tree.Statement: types.SymbolKind.Event,
    tree.Rule: types.SymbolKind.Operator,
    tree.TestCase: types.SymbolKind.Method,
}
"""What the items of a policy are shown as."""

_BY_WORD: dict[str, type] = {
    "use": tree.Use, "let": tree.Let, "param": tree.Param, "pattern": tree.Pattern, "statement": tree.Statement,
    "rule": tree.Rule, TEST: tree.TestCase,
}  # fmt: skip
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the outline; `span` is all of it, with documentation, and `chosen` its name."""

    name: str
    kind: types.SymbolKind
    detail: str
    span: Span
    chosen: Span
    children: tuple[Entry, ...] = ()


def outline(reading: Reading) -> list[Entry]:
    """The items of a policy in text order; one that does not parse is known by the words it begins with."""
    file, tokens = reading.file, reading.tokens
    found = [_entry(item, documented(item, tokens, reading.source.text)) for item in file.items]
    found += [entry for span in file.broken for entry in _broken(span, tokens_in(tokens, span))]
    return sorted(found, key=lambda entry: entry.span)


def policy_name(file: tree.File) -> str:
    """What a file is called: by its `policy` line, or after itself."""
    return file.name.text if file.name is not None else Path(file.source.path).stem


def _entry(item: tree.Item, span: Span) -> Entry:
    kind = KINDS[type(item)]
    children: tuple[Entry, ...] = ()
    match item:
        case tree.Use(module, names):
            return Entry(module.text, kind, _short(", ".join(name.text for name in names)), span, module.span)
        case tree.Let(_, value):
            detail = to_text(value)
        case tree.Param(_, type_, default):
            detail = type_ if default is None else f"{type_} = {to_text(default)}"
        case tree.Pattern(_, params):
            detail = f"({', '.join(param.text for param in params)})" if params else ""
            variable = types.SymbolKind.Variable
            children = tuple(Entry(param.text, variable, "", param.span, param.span) for param in params)
        case tree.Statement(_, form):
            detail = form.name if form.bound is None else f"{form.name}[{form.bound.raw}]"
        case tree.Rule(_, when, then):
            detail = f"{then} {to_text(when)}"
        case tree.TestCase():
            name = _short(text_of(item.name) or "") or '""'
            return Entry(name, kind, _short(_expected(item)), span, item.name.span)
    return Entry(item.name.text, kind, _short(detail), span, item.name.span, children)


def _expected(test: tree.TestCase) -> str:
    expected = [clause for clause in test.clauses if isinstance(clause, tree.Expectation)]
    return "; ".join(f"{', '.join(name.text for name in one.statements)} {one.verdict}" for one in expected)


def _broken(span: Span, tokens: Sequence[Token]) -> Iterator[Entry]:
    """An item that does not parse yet, once its name is written."""
    for word, name in pairwise(tokens):
        if word.text in ITEM_WORDS or word.text == TEST:
            kind = _BY_WORD.get(word.text)
            if kind is not None and name.kind in ("word", "string"):
                shown = _short(name.text.strip('"')) or '""'
                yield Entry(shown, KINDS[kind], "does not parse", span, name.span)
            return


def _short(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"


def register(server: LanguageServer, workspace: Workspace, client: Client) -> None:
    """Answer it, as a tree where the client takes one."""

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(
        params: types.DocumentSymbolParams,
    ) -> list[types.DocumentSymbol] | list[types.SymbolInformation] | None:
        reading = workspace.reading(params.text_document.uri)
        if reading is None:
            return None
        found = outline(reading)
        if client.supports("text_document.document_symbol.hierarchical_document_symbol_support"):
            return [_nested(reading, entry) for entry in found]
        location = types.Location
        return [
            types.SymbolInformation(location(reading.uri, reading.text.range(entry.span)), entry.name, entry.kind)
            for entry in found
        ]


def _nested(reading: Reading, entry: Entry) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=entry.name,
        kind=entry.kind,
        range=reading.text.range(entry.span),
        selection_range=reading.text.range(entry.chosen),
        detail=entry.detail or None,
        children=[_nested(reading, child) for child in entry.children] or None,
    )

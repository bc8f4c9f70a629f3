"""A pattern written out where it is applied: there, or everywhere, after which it is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import CodeActionKind

from vigil_lang.diagnostics import Edit, Span, apply_edits
from vigil_lang.syntax import tree
from vigil_lsp.actions.condition_text import AND, OR, UNARY, WHOLE, held, laid_out
from vigil_lsp.actions.equivalence import keeps_meaning
from vigil_lsp.actions.proposal import Place, Proposal
from vigil_lsp.cursor import children, documented, walk
from vigil_lsp.mentions import Mention, Symbol, mentions, path_of
from vigil_lsp.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.semantics.modules import Module


def proposals(place: Place) -> Iterator[Proposal]:
    """Writing a pattern out; where other files name it, it has to stay."""
    found = _at(place)
    if found is None:
        return
    module, pattern, application = found
    policy, access = place.reading.policy, place.access
    kind = CodeActionKind.RefactorInline.value
    name = pattern.name.text
    if application is not None:
        edit = _written_out(place, module, pattern, application)
        here = () if edit is None else laid_out(place, (edit,))
        if here and keeps_meaning(policy, here, access):
            yield Proposal(f"Inline pattern `{name}` here", kind, here)
    if module is not place.reading.module or _is_used_elsewhere(place, Symbol("pattern", name, path_of(module))):
        return
    edits = list(_everywhere(place, module, pattern))
    if not edits or any(edit is None for edit in edits):
        return
    whole = laid_out(place, (*(edit for edit in edits if edit is not None), _removal(place, pattern)))
    if keeps_meaning(policy, whole, access, removed=name):
        yield Proposal(f"Inline pattern `{name}` everywhere and delete it", kind, whole)


def _is_used_elsewhere(place: Place, symbol: Symbol) -> bool:
    found = Names(place.users).occurrences(symbol)
    return any(one.source.path != place.reading.source.path for one in found)


def _at(place: Place) -> tuple[Module, tree.Pattern, tree.Apply | None] | None:
    """The pattern that is applied, or declared, at a place."""
    here = place.reading.module
    match place.path:
        case [tree.Pattern() as pattern, tree.Name() as name] if name.span == pattern.name.span:
            return here, pattern, None
    for node in reversed(place.path):
        if isinstance(node, tree.Apply):
            if (found := _applied(here, node)) is not None:
                return *found, node
            if node.args is not None:
                return None  # within a call
    return None


def _applied(module: Module, apply: tree.Apply) -> tuple[Module, tree.Pattern] | None:
    found = module.find(apply.name.text) if isinstance(apply.name, tree.Name) else None
    return (found[0], found[1]) if found is not None and isinstance(found[1], tree.Pattern) else None


def _everywhere(place: Place, module: Module, pattern: tree.Pattern) -> Iterator[Edit | None]:
    """The edits for every application; None for one that cannot be written out."""
    for item in place.reading.file.items:
        if isinstance(item, tree.Statement | tree.Rule | tree.Pattern):
            for node in walk(item):
                found = _applied(module, node) if isinstance(node, tree.Apply) else None
                if found is not None and found[1] is pattern:
                    yield _written_out(place, module, pattern, node)


def _written_out(place: Place, module: Module, pattern: tree.Pattern, apply: tree.Apply) -> Edit | None:
    """The edit of one application; None where the number of terms is wrong, or a comment would be lost."""
    args = apply.args or ()
    if len(args) != len(pattern.params) or place.commented(apply.span):
        return None
    given = {p.text: place.slice(arg.span) for p, arg in zip(pattern.params, args, strict=True)}
    body, source = pattern.body, module.source
    start, end = body.span
    named = place.mentions if module is place.reading.module else mentions(module)
    edits = [
        Edit(Span(mention.span.start - start, mention.span.end - start), given[mention.symbol.name])
        for mention in named
        if _is_parameter(mention, pattern) and start <= mention.span.start and mention.span.end <= end
    ]
    written = apply_edits(source.text[start:end], edits)
    return Edit(apply.span, held(written, body, _tightness(place, apply, body)))


def _is_parameter(mention: Mention, pattern: tree.Pattern) -> bool:
    symbol = mention.symbol
    return symbol.kind == "parameter" and symbol.within == ("pattern", pattern.name.text)


def _tightness(place: Place, apply: tree.Apply, body: tree.Expr) -> int:
    """How tightly the text must bind that replaces an application."""
    parent = _parent(place, apply)
    match parent:
        case tree.And():
            return AND if isinstance(body, tree.And) else UNARY
        case tree.Or():
            return OR if isinstance(body, tree.Or) else AND
        case tree.Not() | tree.Diamond() | tree.Interval():
            return UNARY
        case tree.Implies():
            return OR
        case _:
            return WHOLE


def _parent(place: Place, wanted: tree.Expr) -> object:
    """The node that a condition is part of."""
    for item in place.reading.file.items:
        if item.span.holds(wanted.span):
            for node in walk(item):
                if any(child is wanted for child in children(node)):
                    return node
    return None


def _removal(place: Place, pattern: tree.Pattern) -> Edit:
    """The edit that deletes a pattern, with its documentation, its lines and the empty ones below."""
    text = place.text
    start, end = documented(pattern, place.reading.tokens, text)
    if text[text.rfind("\n", 0, start) + 1 : start].strip():
        return Edit(Span(start, end), "")
    rest = text[end : text.find("\n", end) if "\n" in text[end:] else len(text)]
    if rest.strip():
        return Edit(Span(start, end), "")  # a comment ends its line
    end = text.find("\n", end) + 1 or len(text)
    spaced = not text[:start].strip() or text[:start].rstrip(" \t\r").endswith(("\n\n", "\n\r\n"))
    while spaced and end < len(text) and text[end] in "\r\n":
        end += 1
    return Edit(Span(start, end), "")

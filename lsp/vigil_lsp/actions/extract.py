"""A condition made a pattern: its variables become parameters, and the same condition elsewhere can use it, too."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

from lsprotocol.types import CodeActionKind

from vigil_lang.diagnostics import Edit, Span
from vigil_lang.syntax import tree
from vigil_lsp.actions.condition_text import formatted, is_temporal, laid_out
from vigil_lsp.actions.equivalence import keeps_meaning
from vigil_lsp.actions.proposal import Place, Proposal
from vigil_lsp.cursor import documented, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.semantics.modules import Module

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LAST = re.compile(r"\.|__")
_EXPRESSIONS = (
    tree.ActionIn, tree.ActionIs, tree.ActionMatches, tree.StatusIs, tree.Test, tree.Entry, tree.Has,
    tree.Apply, tree.Violates, tree.Not, tree.And, tree.Or,
)  # fmt: skip
_TAKEN = frozenset(
    {"action", "status", "output", "has", "not", "earlier", "later", "always", "and", "or", "implies", "in", "contains"}
    | {
        "true",
        "false",
        "ok",
        "error",
        "after",
        "where",
        "since",
        "repeated",
        "test",
        "policy",
        "use",
        "let",
        "param",
        "pattern",
        "statement",
        "rule",
    }
)


def proposals(place: Place) -> Iterator[Proposal]:
    """The selected condition, or the one at the cursor, as a pattern: here, or wherever it stands in the file."""
    item, span = place.item, _selected(place)
    if span is None or not isinstance(item, tree.Statement | tree.Rule | tree.Pattern):
        return
    written = place.slice(span)
    params = _parameters(place, span)
    name = _name(place, span)
    pattern = formatted(f"pattern {name}{_listed(params)} = {written}")
    if pattern is None:
        return
    start = documented(item, place.reading.tokens, place.text).start
    declared = Edit(Span(start, start), f"{pattern}\n\n")
    used = f"{name}{_listed(params)}"
    policy, access = place.reading.policy, place.access
    kind = CodeActionKind.RefactorExtract.value
    here = laid_out(place, (declared, Edit(span, used)))
    if not keeps_meaning(policy, here, access):
        return
    yield Proposal(f"Extract pattern `{name}`", kind, here)
    others = [Edit(other, used) for other in _others(place, span)]
    everywhere = laid_out(place, (declared, Edit(span, used), *others))
    if others and keeps_meaning(policy, everywhere, access):
        where = f"{len(others)} other place{'s' * (len(others) != 1)}"
        yield Proposal(f"Extract pattern `{name}` and use it in {where}", kind, everywhere)


def _selected(place: Place) -> Span | None:
    """The condition that is selected, or part of a conjunction or disjunction; at a cursor the smallest around it."""
    text, (start, end) = place.text, place.span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    around = [node for node in place.path if isinstance(node, _EXPRESSIONS) and not is_temporal(node)]
    if start == end:
        found = next((n for n in reversed(around) if not isinstance(n, tree.Apply) or n.args is not None), None)
        return found.span if found is not None and _is_worth(place, found) else None
    wanted = Span(start, end)
    for node in around:
        if node.span == wanted:
            return wanted if _is_worth(place, node) else None
    for node in reversed(place.path):
        if isinstance(node, tree.And | tree.Or):
            starts = [item.span.start for item in node.items]
            ends = [item.span.end for item in node.items]
            if start in starts and end in ends and not any(map(is_temporal, _between(node, wanted))):
                return wanted
    return None


def _between(node: tree.And | tree.Or, span: Span) -> list[tree.Expr]:
    return [item for item in node.items if span.holds(item.span)]


def _is_worth(place: Place, node: tree.Expr) -> bool:
    """Whether a condition is more than the name of a pattern, and no name that only stands for a value."""
    if not isinstance(node, tree.Apply):
        return True
    declared = place.reading.module.find(node.name.text) if isinstance(node.name, tree.Name) else None
    return node.args is not None and declared is None


def _parameters(place: Place, span: Span) -> list[str]:
    """The variables and parameters in a span, in the order they come."""
    inside = (m for m in place.mentions if span.holds(m.span))
    return list(dict.fromkeys(m.symbol.name for m in inside if m.symbol.kind in ("variable", "parameter")))


def _listed(names: list[str]) -> str:
    return f"({', '.join(names)})" if names else ""


def _name(place: Place, span: Span) -> str:
    """A name for a condition, after its action or what it looks at, that nothing is called in a file that sees it."""
    assert place.item is not None
    inside = [node for node in walk(place.item) if span.holds(node.span)]
    module = place.reading.module
    base = next((name for node in inside if (name := _suggested(node, module))), "condition")
    words = set(_TAKEN)
    for reading in (place.reading, *place.users):
        words.update(token.text for token in reading.tokens if token.kind == "word")
        words.update(reading.module.names())
    candidates = (base if number == 1 else f"{base}_{number}" for number in count(1))
    return next(name for name in candidates if name not in words)


def _suggested(node: object, module: Module) -> str:
    match node:
        case tree.Apply(tree.Name(text), args) if args is None or module.find(text) is not None:
            return ""
        case tree.Apply(tree.Name(text)) | tree.Apply(tree.String(text)) | tree.ActionIs(tree.Name(text)):
            return _identifier(text)
        case tree.ActionIn(tree.SetUnion((tree.SetLiteral((tree.Name(text), *_)), *_))):
            return _identifier(text)
        case tree.ActionIn(tree.SetUnion((tree.Name(text), *_))):
            return _identifier(text)
        case _:
            return ""


def _identifier(text: str) -> str:
    """What a pattern for an action is called: `validate_output` → `validates_output`, `file.delete` → `deletes`."""
    first, *others = [part.lower() for part in _PART.findall(_LAST.split(text)[-1])] or [""]
    if not first or first[0].isdigit():
        return ""
    if first.endswith(("s", "x", "z", "ch", "sh")):
        first += "es"
    elif first.endswith("y") and first[-2:-1] not in "aeiou":
        first = f"{first[:-1]}ies"
    else:
        first += "s"
    return "_".join([first, *others])[:40]


def _others(place: Place, span: Span) -> Iterator[Span]:
    """Where the same condition stands elsewhere in the file."""
    wanted = next((n for n in reversed(place.path) if n.span == span and isinstance(n, _EXPRESSIONS)), None)
    if wanted is None:
        return
    for item in place.reading.file.items:
        if isinstance(item, tree.Statement | tree.Rule | tree.Pattern):
            for node in walk(item):
                if isinstance(node, _EXPRESSIONS) and node == wanted and node.span != span:
                    yield node.span

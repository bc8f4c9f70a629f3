"""The fix that deletes an operand of a conjunction or disjunction, or an element of a set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Edit, Fix, Span
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from vigil_lang.diagnostics import Source

    Part: TypeAlias = tree.Expr | tree.Term | tree.Regex


def without(source: Source, parent: tree.Expr | tree.SetLiteral, part: Part) -> Fix | None:
    """Leaves one part of a connective, argument or element of a set out; None where that would lose a comment."""
    siblings: Sequence[Part]
    match parent:
        case tree.And(items) | tree.Or(items):
            siblings = items
        case tree.Apply(_, args) if args:
            siblings = args
        case tree.SetLiteral(elements):
            siblings = elements
        case _:
            return None
    at = next((n for n, sibling in enumerate(siblings) if sibling is part), None)
    if at is None:
        return None
    span = part.span
    if at > 0:
        span = Span(siblings[at - 1].span.end, span.end)
    elif len(siblings) > 1:
        span = Span(span.start, siblings[1].span.start)
    elif isinstance(parent, tree.Apply):
        end = source.text.find(")", span.end)
        span = Span(span.start, end if source.text[span.end : end].strip() == "," else span.end)
    else:
        return None
    if "//" in _outside_strings(source.text[span.start : span.end]):
        return None
    shown = source.text[part.span.start : part.span.end]
    title = f"leave out `{shown}`" if len(shown) <= 60 and "\n" not in shown else "leave it out"
    return Fix(title, (Edit(span, ""),), safe=True)


def _outside_strings(text: str) -> str:
    """A text of the policy with its strings and regular expressions emptied, roughly: too little is as good."""
    kept: list[str] = []
    quoted = False
    at = 0
    while at < len(text):
        if quoted and text[at] == "\\":
            at += 1
        elif text[at] == '"':
            quoted = not quoted
        elif not quoted:
            kept.append(text[at])
        at += 1
    return "".join(kept)

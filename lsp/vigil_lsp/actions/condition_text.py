"""Conditions as texts that are put together: brackets where they are needed, operators as the file spells them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Edit, InputError, Source, Span, apply_edits
from vigil_lang.syntax import tree
from vigil_lang.syntax.format import FormatError, format_text
from vigil_lang.syntax.print import UNICODE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lsp.actions.proposal import Place

WHOLE, OR, AND, UNARY = range(4)
"""How tightly a condition must bind in its place."""

_HEADER = "policy p\n\n"
"""Put above an item that is formatted alone: the first item of a file has a layout of its own."""

_MARKS = frozenset(UNICODE.values()) | {"◇-", "◇+"}
_WORDS = frozenset(word for word in UNICODE if word.isalpha()) - {"ok", "error"}


def binding(expr: tree.Expr) -> int:
    """How tightly a condition holds together, written without brackets."""
    match expr:
        case tree.Implies():
            return WHOLE
        case tree.Or():
            return OR
        case tree.And():
            return AND
        case _:
            return UNARY


def is_bracketed(expr: tree.Expr) -> bool:
    """Whether a condition is written in brackets: its span is then wider than what is in it."""
    match expr:
        case tree.And(items) | tree.Or(items):
            return expr.span.start < items[0].span.start
        case tree.Implies(left):
            return expr.span.start < left.span.start
        case _:
            return False


def held(text: str, expr: tree.Expr, place: int) -> str:
    """The text of a condition, in brackets where its place asks for them."""
    return f"({text})" if binding(expr) < place and not is_bracketed(expr) else text


def operators(place: Place) -> dict[str, str]:
    """How the file spells operators: as the configuration says, else as most of them are spelled."""
    wanted = place.settings.fmt.spelling
    if wanted == "keep":
        texts = [token.text for token in place.reading.tokens if token.kind in ("word", "symbol")]
        marks = sum(text in _MARKS for text in texts)
        wanted = "unicode" if marks > sum(text in _WORDS for text in texts) else "ascii"
    return UNICODE if wanted == "unicode" else {word: word for word in UNICODE}


def formatted(text: str) -> str | None:
    """An item as `vigil fmt` lays it out; None where it does not parse."""
    try:
        written = format_text(Source("<item>", f"{_HEADER}{text}\n"))
    except (InputError, FormatError):
        return None
    return written.removeprefix(_HEADER).rstrip("\n")


def laid_out(place: Place, edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Edits after which the items are laid out that were so before."""
    left = list(edits)
    found: list[Edit] = []
    for item in place.reading.file.items:
        start, end = item.span
        inside = [e for e in left if start <= e.span.start and e.span.end <= end and e.span.end > start]
        if not inside:
            continue
        left = [edit for edit in left if edit not in inside]
        text = place.slice(item.span)
        moved = [Edit(Span(e.span.start - start, e.span.end - start), e.text) for e in inside]
        after = apply_edits(text, moved)
        wanted = formatted(after) if formatted(text) == text else after
        found += inside if wanted is None or wanted == after else [Edit(item.span, wanted)]
    return tuple(sorted([*found, *left], key=lambda edit: edit.span))


def is_temporal(expr: tree.Expr) -> bool:
    """Whether a condition speaks of more than one event."""
    match expr:
        case tree.Diamond() | tree.Implies() | tree.Interval() | tree.Repeated():
            return True
        case tree.Not(body):
            return is_temporal(body)
        case tree.And(items) | tree.Or(items):
            return any(map(is_temporal, items))
        case _:
            return False

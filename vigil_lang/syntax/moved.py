"""Trees and findings as they are when the text they stand in has moved."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import astuple, replace

from vigil_lang.diagnostics.diagnostic import Diagnostic, Edit, Fix, Note, Source, Span
from vigil_lang.syntax.tree import ITEMS, Moved

if TYPE_CHECKING:
    from collections.abc import Callable

_Part = TypeVar("_Part")

_PLAIN = frozenset({str, bool, type(None)})
_new: Any = tuple.__new__  # half as long as `Span(…)`


def moved(part: _Part, by: int) -> _Part:
    """A node, or a tuple of nodes, with every span in it so many code points further on."""
    result: _Part = part if part.__class__ in _PLAIN else _MOVERS[part.__class__](part, by)
    return result


def moved_finding(found: Diagnostic, source: Source, by: int) -> Diagnostic:
    """A finding of what is now a part of `source`, so many code points further on than it was."""

    def span(old: Span) -> Span:
        return Span(old.start + by, old.end + by)

    fix = found.fix and Fix(found.fix.title, tuple(Edit(span(e.span), e.text) for e in found.fix.edits), found.fix.safe)
    notes = tuple(Note(n.message, source, span(n.span)) if n.source == found.source else n for n in found.notes)
    return replace(found, source=source, span=span(found.span), fix=fix, notes=notes)


def _moved_tuple(parts: tuple[Any, ...], by: int) -> tuple[Any, ...]:
    return tuple([part if part.__class__ in _PLAIN else _MOVERS[part.__class__](part, by) for part in parts])


def _mover(kind: Any) -> Callable[[Any, int], Any]:
    """What moves nodes of one type; their last field is the span."""
    if kind in ITEMS:
        return _item_mover(kind)
    fields = attrgetter(*kind.__struct_fields__)

    def move_one(node: Any, by: int) -> Any:
        part, (start, end) = fields(node)
        moved_part = part if part.__class__ in _PLAIN else _MOVERS[part.__class__](part, by)
        return kind(moved_part, _new(Span, (start + by, end + by)))

    def move_two(node: Any, by: int) -> Any:
        first, second, (start, end) = fields(node)
        return kind(
            first if first.__class__ in _PLAIN else _MOVERS[first.__class__](first, by),
            second if second.__class__ in _PLAIN else _MOVERS[second.__class__](second, by),
            _new(Span, (start + by, end + by)),
        )

    def move(node: Any, by: int) -> Any:
        *parts, (start, end) = fields(node)
        span = _new(Span, (start + by, end + by))
        return kind(*[part if part.__class__ in _PLAIN else _MOVERS[part.__class__](part, by) for part in parts], span)

    # Nodes with few fields are the most, and moved in two thirds of the time this way.
    return {2: move_one, 3: move_two}.get(len(kind.__struct_fields__), move)


def _item_mover(kind: Any) -> Callable[[Any, int], Any]:
    """What moves items of one type: their names at once, as all who read a file ask for these, the rest later."""

    def later(part: Any, by: int) -> Any:
        if not part or part.__class__ in _PLAIN:
            return part
        return part.further(by) if part.__class__ is Moved else Moved(moved, (part, by))

    def move(item: Any, by: int) -> Any:
        name, *parts, (start, end) = astuple(item)  # as they are stored: nobody is looking yet
        return kind(moved(name, by), *[later(part, by) for part in parts], _new(Span, (start + by, end + by)))

    return move


class _Movers(dict[type, "Callable[[Any, int], Any]"]):
    """One for each type of node, made when it is first needed."""

    def __missing__(self, kind: type) -> Callable[[Any, int], Any]:
        self[kind] = made = _mover(kind)
        return made


_MOVERS = _Movers({tuple: _moved_tuple})

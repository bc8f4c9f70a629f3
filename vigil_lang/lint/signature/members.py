"""The values a test names, each with its place: in the test, in a `let`, or at an application."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Edit, Fix
from vigil_lang.semantics.meanings import Place, Scope, Text, TextSet
from vigil_lang.semantics.modules import is_shipped
from vigil_lang.semantics.text_patterns import quote
from vigil_lang.syntax import tree
from vigil_lang.trace.signature import type_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.semantics.meanings import LiteralType
    from vigil_lang.semantics.modules import Module
    from vigil_lang.semantics.terms import Terms

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*")
_KEYWORDS = frozenset({"true", "false", "not", "has", "status", "output", "action", "earlier", "later", "always"})


@dataclass(frozen=True, slots=True)
class Member:
    """One value with its type as written. `spelling` says how another could be written in its place, if it could."""

    text: str
    type: LiteralType
    place: Place
    spelling: tree.Term | None = None
    module: Module | None = None

    def replaced(self, text: str) -> Fix | None:
        """The fix that writes another value here."""
        if self.spelling is None:
            return None
        written = spelled(text, self.spelling, self.module)
        return Fix(f"write `{written}`", (Edit(self.place.span, written),))


def spelled(text: str, instead_of: tree.Term, module: Module | None) -> str:
    """A text as a term: bare where a bare name stood, if that still means its own text; a number stays one."""
    match instead_of:
        case tree.Number() if type_of(text) == "number":
            return text
        case tree.Boolean() if type_of(text) == "bool":
            return text
        case tree.Name() if _BARE.fullmatch(text) and text not in _KEYWORDS and not (module and module.find(text)):
            return text
        case _:
            return quote(text)


def member(term: tree.Term, scope: Scope, terms: Terms) -> Member | None:
    """The value a single term stands for; None for a variable, a set, or a pattern's parameter without a value.

    Raises:
        Failed: the term has no meaning.
    """
    meaning = terms.term(term, scope)
    if not isinstance(meaning, Text):
        return None
    if not isinstance(term, tree.Name):
        return Member(meaning.text, meaning.type, scope.place(term.span), term, scope.module)
    if term.text in scope.arguments:
        place = scope.arguments[term.text].place
        quoted = place.source.text.startswith('"', place.span.start)
        return Member(meaning.text, meaning.type, place, tree.String("") if quoted else None)
    found = scope.module.find(term.text)
    assert found is not None
    value = _shown(*found, terms)
    if isinstance(value, tree.String | tree.Number | tree.Boolean):
        return member(value, Scope(found[0]), terms)
    if isinstance(value, tree.SetUnion) and isinstance(value.parts[0], tree.Name):
        return member(value.parts[0], Scope(found[0]), terms)
    return Member(meaning.text, meaning.type, scope.place(term.span))


def members(union: tree.SetUnion, scope: Scope, terms: Terms) -> Iterator[Member]:
    """The elements of a set, in order; those of a declared set once, however often it is joined.

    Raises:
        Failed: the set has no meaning.
    """
    return _members(union, scope, terms, set())


def _members(union: tree.SetUnion, scope: Scope, terms: Terms, seen: set[tuple[Module, str]]) -> Iterator[Member]:
    for part in union.parts:
        if isinstance(part, tree.SetLiteral):
            found = (element_of(element, scope, terms) for element in part.elements)
            yield from (one for one in found if one is not None)
        elif part.text not in scope.arguments:
            yield from _named(part, scope, terms, seen)


def element_of(element: tree.Term | tree.Regex, scope: Scope, terms: Terms) -> Member | None:
    """An element of a set, or the name after `action =`: a bare name that is not declared is its own text.

    None for a pattern's parameter without a value, and for a regular expression.

    Raises:
        Failed: it stands for no value.
    """
    if isinstance(element, tree.Regex):
        return None
    if isinstance(element, tree.Name) and element.text not in scope.arguments:
        declared = scope.module.find(element.text)
        if declared is None or isinstance(declared[1], tree.Pattern):
            return Member(element.text, "text", scope.place(element.span), element, scope.module)
    return member(element, scope, terms)


def _named(name: tree.Name, scope: Scope, terms: Terms, seen: set[tuple[Module, str]]) -> Iterator[Member]:
    found = scope.module.find(name.text)
    if found is None or (found[0], name.text) in seen:
        return
    seen.add((found[0], name.text))
    value = _shown(*found, terms)
    if isinstance(value, tree.SetUnion):
        yield from _members(value, Scope(found[0]), terms, seen)
        return
    meaning = terms.term(name, scope)
    if isinstance(meaning, TextSet):
        yield from (Member(text, type_of(text), scope.place(name.span)) for text in sorted(meaning.texts))


def _shown(
    module: Module, declaration: tree.Let | tree.Param | tree.Pattern, terms: Terms
) -> tree.SetUnion | tree.Literal_ | tree.Regex | None:
    """The value as the user's source writes it; None when it comes from outside or from the standard library."""
    if is_shipped(module.source.path):
        return None
    match declaration:
        case tree.Let(_, value):
            return value
        case tree.Param(name, _, default) if name.text not in terms.values.given:
            return default
        case _:
            return None

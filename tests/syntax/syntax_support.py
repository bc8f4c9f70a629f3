"""What the syntax tests share: sources, and findings as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.diagnostics import Diagnostic, Source, apply_edits
from vigil_lang.syntax import parse, tree
from vigil_lang.syntax.build import Builder
from vigil_lang.syntax.lalr import Token

if TYPE_CHECKING:
    import lark


def source(text: str) -> Source:
    return Source("test.vgl", text)


def shown(found: Diagnostic) -> str:
    """A finding as `code line:column-column message`; the columns are those of its span, on one line."""
    line, column = found.source.position(found.span.start)
    return f"{found.code} {line}:{column}-{column + found.span.end - found.span.start} {found.message}"


def findings(text: str) -> list[str]:
    return [shown(found) for found in parse(source(text)).diagnostics]


def only(text: str) -> Diagnostic:
    (found,) = parse(source(text)).diagnostics
    return found


def mended(text: str) -> str:
    """The text after the fix of its only finding."""
    found = only(text)
    assert found.fix is not None
    return apply_edits(text, found.fix.edits)


class FromLark(Builder):
    """The builder as Lark's own parser takes it: a terminal has a method too, which makes our token of Lark's."""

    def __getattr__(self, name: str) -> Any:
        if not name.isupper():
            raise AttributeError(name)
        return _our_token


def _our_token(token: lark.Token) -> Token:
    return Token(token.type, str(token), token.start_pos or 0, token.end_pos or 0)


def item_names(text: str) -> list[str]:
    """The names of the items that parsed."""
    items = parse(source(text)).file.items
    return [item.module.text if isinstance(item, tree.Use) else item.name.text for item in items]

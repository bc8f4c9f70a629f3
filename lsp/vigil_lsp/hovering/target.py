"""The place that a hover is about, with what is known there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vigil_lang.semantics.conditions import Conditions
from vigil_lang.semantics.meanings import Values
from vigil_lang.syntax import tree
from vigil_lsp.cursor import path_at, token_at

if TYPE_CHECKING:
    from vigil_lang.diagnostics import Diagnostic, Span
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.modules import Module
    from vigil_lang.syntax.scan import Token
    from vigil_lsp.mentions import Mention
    from vigil_lsp.names import Names
    from vigil_lsp.reading import Reading
    from vigil_lsp.recordings.results import RunResults

_EXPRESSIONS = (
    tree.ActionIn, tree.ActionIs, tree.ActionMatches, tree.StatusIs, tree.Test, tree.Entry, tree.Has,
    tree.Apply, tree.Not, tree.And, tree.Or,
)  # fmt: skip


@dataclass(frozen=True)
class HoverTarget:
    """An offset in a policy.

    `configuration` is the file that params have their values from, as it is shown; `folder` that of the project.
    """

    reading: Reading
    offset: int
    names: Names
    known: RunResults | None = None
    configuration: str = "vigil.toml"
    folder: str = ""

    @property
    def module(self) -> Module:
        """What names refer to."""
        return self.reading.module

    @cached_property
    def token(self) -> Token | None:
        """The token at the offset."""
        return token_at(self.reading.tokens, self.offset)

    @cached_property
    def path(self) -> list[Any]:
        """The nodes around the token, the outermost first."""
        token = self.token
        return [] if token is None else path_at(self.reading.file, min(max(self.offset, token.start), token.end - 1))

    @cached_property
    def item(self) -> tree.Item | None:
        """The item it is in."""
        return self.path[0] if self.path and isinstance(self.path[0], tree.Item) else None

    @cached_property
    def statement(self) -> Statement | None:
        """The statement it is in, with its meaning; None where that has none."""
        return next((s for s in self.reading.policy.statements if s.syntax is self.item), None)

    @cached_property
    def mentions(self) -> list[Mention]:
        """What is named at the offset."""
        return self.names.at(self.reading.source.path, self.offset)

    @cached_property
    def conditions(self) -> Conditions:
        """Looks up what terms stand for."""
        found = Conditions(Values(self.reading.policy.params), _ignored)
        found.start()
        return found

    def expression(self) -> tree.Expr | None:
        """The smallest condition around the token."""
        for node in reversed(self.path):
            if isinstance(node, _EXPRESSIONS) and not (isinstance(node, tree.Apply) and self._is_term(node)):
                found: tree.Expr = node
                return found
        return None

    def _is_term(self, node: tree.Apply) -> bool:
        """Whether a bare name is a value rather than a condition: what a pattern is given."""
        return node.args is None and (not isinstance(node.name, tree.Name) or self.module.find(node.name.text) is None)

    def actions(self) -> list[str]:
        """The actions that a test at the place applies to, as far as they are written beside it."""
        found: list[str] = []
        for node in reversed(self.path):
            match node:
                case tree.Apply(name, args) if args is not None:
                    found.append(name.text if isinstance(name, tree.Name) else name.raw)
                case tree.And(items):
                    for item in items:
                        found += _named(item)
                case tree.Or() | tree.Not() | tree.Form():
                    break
            if found:
                break
        return [name for name in found if self.module.find(name) is None]


def _named(item: tree.Expr) -> list[str]:
    match item:
        case tree.ActionIs(tree.Name(text)) | tree.Apply(tree.Name(text), tuple()):
            return [text]
        case tree.ActionIn(tree.SetUnion(parts)):
            elements = (e for part in parts if isinstance(part, tree.SetLiteral) for e in part.elements)
            return [e.text for e in elements if isinstance(e, tree.Name)]
        case _:
            return []


@dataclass(frozen=True, slots=True)
class HoverText:
    """Markdown about a span."""

    span: Span
    markdown: str


def _ignored(finding: Diagnostic) -> None:
    pass

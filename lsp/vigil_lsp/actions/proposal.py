"""What is offered, and the place in a policy it is offered for."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vigil_lang.syntax import tree
from vigil_lsp.cursor import path_at, tokens_in
from vigil_lsp.names import Names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.diagnostics import Diagnostic, Edit, Span
    from vigil_lang.project.settings import Settings
    from vigil_lang.semantics.modules import Access
    from vigil_lang.syntax.scan import Token
    from vigil_lsp.mentions import Mention
    from vigil_lsp.reading import Reading


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change of one policy. `finding` is what it mends; `preferred`, that it is what one most likely wants.

    `selected` is the part of the last edit's text that is there to be written over.
    """

    title: str
    kind: str
    edits: tuple[Edit, ...]
    finding: Diagnostic | None = None
    preferred: bool = False
    selected: str = ""


@dataclass(frozen=True)
class Place:
    """A selection, or a cursor, in a policy.

    `access` is how the modules are read that its changes are proved with, `users` are the policies it is a module of.
    """

    reading: Reading
    span: Span
    access: Access
    settings: Settings
    findings: Sequence[Diagnostic] = field(default=(), repr=False)
    users: Sequence[Reading] = field(default=(), repr=False)

    @property
    def text(self) -> str:
        """The whole text."""
        return self.reading.source.text

    @cached_property
    def path(self) -> list[Any]:
        """The nodes around the start of the selection, the outermost first."""
        return path_at(self.reading.file, self.span.start)

    @property
    def item(self) -> tree.Item | None:
        """The item it is in."""
        return self.path[0] if self.path and isinstance(self.path[0], tree.Item) else None

    @cached_property
    def names(self) -> Names:
        """The names of the policy and of what it uses."""
        return Names([self.reading])

    @property
    def mentions(self) -> tuple[Mention, ...]:
        """Every name in the policy that refers to something."""
        return self.names.mentions(self.reading.module)

    def slice(self, span: Span) -> str:
        """What stands in a span."""
        return self.text[span.start : span.end]

    def tokens(self, span: Span) -> Sequence[Token]:
        """The tokens in a span, comments included."""
        return tokens_in(self.reading.tokens, span)

    def commented(self, span: Span) -> bool:
        """Whether a comment stands in a span, which a change of it could lose."""
        return any(token.kind in ("comment", "doc") for token in self.tokens(span))

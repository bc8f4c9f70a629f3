"""The structure of a text: what tree-sitter finds in the skeleton, with the tokens put back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.base.structs import Frozen

if TYPE_CHECKING:
    from vigil_lang.abstraction.shell.tokens import Lexed, Parts, RedirectToken, Token, WordToken


class Simple(Frozen, frozen=True):
    """A simple command: words and redirections as they come."""

    lexed: Lexed
    start: int
    end: int
    tokens: tuple[Token, ...]


class Pipeline(Frozen, frozen=True):
    stages: tuple[Node, ...]


class Negated(Frozen, frozen=True):
    body: Node


class Background(Frozen, frozen=True):
    body: Node


class AndOr(Frozen, frozen=True):
    """``first && … || …``: the rest with the operator before each."""

    first: Node
    rest: tuple[tuple[str, Node], ...]


class Sequence(Frozen, frozen=True):
    items: tuple[Node, ...]


class Subshell(Frozen, frozen=True):
    body: Node


class If(Frozen, frozen=True):
    """Conditions with what follows each, and the `else`."""

    branches: tuple[tuple[Node, Node], ...]
    otherwise: Node | None


class While(Frozen, frozen=True):
    condition: Node
    body: Node


class For(Frozen, frozen=True):
    """`words` is None for ``for x; do`` (the arguments); `select` asks and never knows."""

    name: str
    words: tuple[WordToken, ...] | None
    body: Node
    select: bool


class ForArithmetic(Frozen, frozen=True):
    inside: Parts
    body: Node


class Case(Frozen, frozen=True):
    """`complete`: the last pattern takes everything."""

    words: tuple[WordToken, ...]
    """What is compared, and the patterns it is compared with."""
    branches: tuple[Node, ...]
    complete: bool


class Function(Frozen, frozen=True):
    name: str
    text: str
    line: int


class Redirected(Frozen, frozen=True):
    """A compound command with redirections."""

    lexed: Lexed
    start: int
    end: int
    body: Node
    redirects: tuple[RedirectToken, ...]


class Broken(Frozen, frozen=True):
    """What is left of a piece that is no Bash: it may run, and how is not known."""

    body: Node


Node = (
    Simple
    | Pipeline
    | Negated
    | Background
    | AndOr
    | Sequence
    | Subshell
    | If
    | While
    | For
    | ForArithmetic
    | Case
    | Function
    | Redirected
    | Broken
)

"""The structure of a text: what tree-sitter finds in the skeleton, with the tokens put back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vigil_lang.abstraction.shell.tokens import Lexed, Parts, RedirectToken, Token, WordToken


@dataclass(frozen=True, slots=True)
class Simple:
    """A simple command: words and redirections as they come."""

    lexed: Lexed
    start: int
    end: int
    tokens: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Pipeline:
    stages: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Negated:
    body: Node


@dataclass(frozen=True, slots=True)
class Background:
    body: Node


@dataclass(frozen=True, slots=True)
class AndOr:
    """``first && … || …``: the rest with the operator before each."""

    first: Node
    rest: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Subshell:
    body: Node


@dataclass(frozen=True, slots=True)
class If:
    """Conditions with what follows each, and the `else`."""

    branches: tuple[tuple[Node, Node], ...]
    otherwise: Node | None


@dataclass(frozen=True, slots=True)
class While:
    condition: Node
    body: Node


@dataclass(frozen=True, slots=True)
class For:
    """`words` is None for ``for x; do`` (the arguments); `select` asks and never knows."""

    name: str
    words: tuple[WordToken, ...] | None
    body: Node
    select: bool


@dataclass(frozen=True, slots=True)
class ForArithmetic:
    inside: Parts
    body: Node


@dataclass(frozen=True, slots=True)
class Case:
    """`complete`: the last pattern takes everything."""

    words: tuple[WordToken, ...]
    """What is compared, and the patterns it is compared with."""
    branches: tuple[Node, ...]
    complete: bool


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Redirected:
    """A compound command with redirections."""

    lexed: Lexed
    start: int
    end: int
    body: Node
    redirects: tuple[RedirectToken, ...]


@dataclass(frozen=True, slots=True)
class Broken:
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

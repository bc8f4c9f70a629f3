"""What is read out of a command line: the simple commands it runs, and the state of the shell around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import field

from vigil_lang.abstraction.step import Word
from vigil_lang.base.node import Node
from vigil_lang.base.structs import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.trace import Status

Value = tuple[Word, ...]
"""A variable's value: one word, or the elements of an array."""

UNKNOWN: Value = (Word("", known=False),)
"""The value of a variable that was set to something only the run knows."""


class ShellState(Frozen, frozen=True):
    """What a shell keeps from one command to the next. Never changed in place.

    A variable that is not in `variables` may be set outside and is not known either. `functions` holds the text of
    each body, and None for a name that may stand for something else than the program (an alias, say); `pushed` what
    `popd` goes back to (last is next), `previous` what ``cd -`` does.
    """

    cwd: str | None = "."
    variables: dict[str, Value] = field(default_factory=dict)
    functions: dict[str, str | None] = field(default_factory=dict)
    previous: str | None = None
    pushed: tuple[str | None, ...] = ()
    arguments: Value | None = None
    """``$1`` and what follows; None where they are not known."""
    errexit: bool | None = False
    """``set -e``: it ends at the first command that fails. None where that cannot be told."""
    pipefail: bool | None = False
    """``set -o pipefail``: a pipeline fails with any of its commands. None where that cannot be told."""


class Redirect(Frozen, frozen=True):
    """One redirection: `op` as written without its descriptor (``>``, ``>>``, ``2>&1`` is ``>&`` with `fd` 2).

    From and to a process substitution, whose commands are commands of their own, `op` is ``<(`` and ``>(``.
    """

    op: str
    target: Word | None = None
    """The file, the descriptor of ``>&`` and ``<&``, None for a here-document, here-string or process substitution."""
    body: Word | None = None
    """The text of a here-document (with its last newline) or of a here-string (without)."""
    fd: int | None = None


class Command(Node, frozen=True, eq=False, gc=False):
    """A simple command. One without words is the redirections of a compound command, after the commands in it."""

    _ASIDE: ClassVar[frozenset[str]] = frozenset({"variables"})

    words: tuple[Word, ...]
    assignments: tuple[tuple[str, Word], ...] = ()
    """What stands before the program: ``A=b program``."""
    redirects: tuple[Redirect, ...] = ()
    cwd: str | None = None
    """The directory it runs in; None where that cannot be told."""
    excerpt: str = ""
    """How it is written, at most 200 characters."""
    if_ok: Status = "unknown"
    """Its status where the whole line exits with 0."""
    if_error: Status = "unknown"
    """Its status where the whole line exits with anything else."""
    certain: bool = False
    """Whether it runs whenever the line runs to its end, that is, is not ended early by `exit` or ``set -e``."""
    piped_from: int | None = None
    """The index of the command whose output it reads."""
    piped_to: bool = False
    """Whether its output goes to another command and not to what the line shows."""
    line: int = 1
    """Where it begins in the text, from 1."""
    rebound: bool = False
    """Its name may stand for a function or an alias whose text is not known."""
    variables: Mapping[str, Value] = field(default_factory=dict)
    """What the shell knows of its variables when it runs."""
    after: tuple[int, ...] = ()
    """The commands that run one after the other before it, and that all have to succeed: ``a && b && this``."""
    fed: bool = False
    """Whether its standard input is a file, a pipe or a text: its own, or that of a command around it."""


class Reading(Frozen, frozen=True):
    """The commands of a text in the order they run in, and the shell afterwards if all of them succeed."""

    commands: tuple[Command, ...]
    after: ShellState
    partly: ShellState
    """The shell wherever the reading stops: what any command may have changed is unknown."""
    trouble: tuple[str, ...] = ()
    """What was not understood or went beyond a limit; the commands are then not all there is."""

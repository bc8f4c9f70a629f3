"""The parts a call is taken apart into: words, steps, and the commands that a script spawns."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import field

from vigil_lang.base.structs import Mutable
from vigil_lang.trace import Status  # noqa: TC001 - snapshots of runs are read by these types

EXCERPT = 200
"""Code points of the piece of a call that a step was read from."""


class Word(NamedTuple):
    """A word of a command line after quotes are removed and what is literal is expanded.

    Where `known` is false some part of it is decided when it runs (`$OUT/a.csv`, `$(date).log`); `text` is then as it
    is written. `glob` marks an unquoted `*`, `?` or `[…]` in it, kept as it is. `quoted` marks a word some of which
    stood in quotes: it is no option of a reader's invention, and its `~` means itself.
    """

    text: str
    known: bool = True
    glob: bool = False
    quoted: bool = False


class Step(Mutable):
    """One thing a call does. It becomes an event of that call."""

    action: str
    kinds: tuple[str, ...]
    """Kinds of the vocabulary, without the ones they imply."""
    roles: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Canonical texts by role or argument name; paths are absolute (see `paths.resolve`)."""
    unresolved: tuple[str, ...] = ()
    """Roles that have a value which cannot be told from the call."""
    inferred: bool = False
    """Read out of a script: it may have happened."""
    if_ok: Status = "unknown"
    """Its status once the call is known to have succeeded (a shell: with exit code 0)."""
    if_error: Status = "unknown"
    """Its status once the call is known to have failed."""
    prints: bool = True
    """Whether it can write to what the call shows."""
    says: str | None = None
    """The very text it writes there, where that is known: `echo` and its like."""
    excerpt: str = ""
    """The piece of the call or script it was read from, 200 characters at most."""
    line: int | None = None
    """The line of the script, from 1, for a step that was read out of one."""
    content: str | None = None
    """The text it leaves in its one `path`, where that is known: a later step may run it."""
    after: tuple[int, ...] = ()
    """The places of the programs that certainly run before it, each only if those before it, and then this, succeed."""
    reads: str = ""
    """What it shows or hands on of its paths where its kinds do not tell: `files`, or `folders` with all below them."""


def effect(
    kind: str, paths: tuple[str, ...], *, missing: bool = False, program: str | None = None, excerpt: str = ""
) -> Step:
    """What is done to files: a step whose action is its kind. `missing` where some path cannot be told."""
    roles: dict[str, tuple[str, ...]] = {"path": paths} if paths else {}
    if program is not None:
        roles["program"] = (program,)
    unresolved = ("path",) if missing else ()
    return Step(kind, (kind,), roles, unresolved, prints=False, excerpt=excerpt[:EXCERPT])


class Spawn(Mutable):
    """A command that a script runs: an argument vector, or a line for a shell."""

    argv: tuple[Word, ...] = ()
    shell: str | None = None
    cwd: str | None = None
    """The directory it is given; None where it inherits the script's."""
    certain: bool = False
    """Whether it runs whenever the script runs to its end."""
    excerpt: str = ""
    line: int | None = None
    stdin: str | None = None
    """The text it is given on its standard input, where that is known."""
    fed: bool = False
    """Whether it is given something on its standard input."""
    variables: dict[str, Word] = field(default_factory=dict)
    """Variables of its environment that the script has set, or gives it."""
    checked: bool = False
    """Whether the script does not go on where the command fails."""
    scripts: tuple[str, ...] = ()
    """The files it was read out of, as in the role `from_script`."""


class ScriptReading(Mutable):
    """What a script does, in the order it would happen, and what of it could not be read."""

    steps: tuple[Step | Spawn, ...] = ()
    trouble: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    """Why it may have effects that no step tells, each with its line; empty where all it does is told."""

"""What the catalogue says of a program, and what one of its command lines comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import field

from vigil_lang.base.structs import Frozen
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.abstraction.step import Step, Word

PATH_ROLES = frozenset(
    {"path", "source", "target", "directory", "archive", "script", "config", "file", "executable", "from_script"}
)
"""The roles of type `path` of the vocabulary, here so that reading a command need not read the vocabulary."""

Takes = Literal["nothing", "value", "attached"]

_RUNS = regex(
    r"exec(?!utable)|command|cmd|-prog(?:ram)?(?:$|-)|program$|hook|shell|script|pager|editor|rsh|plugin|preload|eval"
    r"|wrapper|launcher|askpass|checkpoint-action|-filter-cmd"
)
"""Names of options whose value is a program, or code."""


class Slot(NamedTuple):
    """What a value or an operand is: a role (``_``: none), or something that is run."""

    role: str
    form: Literal["", "code", "script", "module", "command", "shell", "elsewhere", "upload"] = ""
    language: str = ""
    """Of code, a script or a module."""
    rest: bool = False
    """All words that follow belong to what is run."""


class Option(NamedTuple):
    """One option under all its names, as they are written."""

    names: tuple[str, ...]
    takes: Takes = "nothing"
    slot: Slot | None = None
    until: bool = False
    """Its value is all words up to ``;`` or ``+``: find's -exec."""
    words: int = 1
    """How many words its value is; 0 for all up to the next option."""

    runs: bool = False
    """It runs or loads something, or changes what is run."""

    @property
    def opens(self) -> bool:
        """Whether what it runs is not known: the catalogue says so, or its name does where the catalogue is silent."""
        return self.runs or (self.slot is None and self.takes != "nothing" and any(map(_RUNS.search, self.names)))


class Operand(NamedTuple):
    """A place among the words that are no options."""

    slot: Slot
    required: bool = True
    repeated: bool = False
    form: str = ""
    """The expression that a word is to match for an optional place to be its."""


class Change(Frozen, frozen=True):
    """What an option, an operand or a value changes about an entry; None leaves a thing as it is."""

    has: tuple[str, ...] = ()
    also_has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    arg: tuple[str, str] | None = None
    like: tuple[str, str] | None = None
    """A role, and an expression that one of its values begins with."""
    remote: str | None = None
    fed: bool | None = None
    """Whether standard input is a file, a pipe or a text."""
    early: bool = True
    """It depends on options alone, so that it can decide what the operands are."""
    kinds: tuple[str, ...] | None = None
    also: tuple[str, ...] = ()
    operands: tuple[tuple[Operand, ...], tuple[Operand, ...] | None] | None = None
    effects: Mapping[str, tuple[str, ...]] | None = None
    stdin: str | None = None
    default: Mapping[str, str] | None = None
    derive: Mapping[str, str] | None = None
    set: Mapping[str, str] = field(default_factory=dict)
    unseen: bool | None = None
    reads: str | None = None


class Program(Frozen, frozen=True):
    """A program, or a subcommand of one: see the catalogue's files for what each field means."""

    name: str
    summary: str = ""
    subject: str = ""
    """The catalogue file it stands in, without its extension."""
    kinds: tuple[str, ...] | None = None
    """Besides `process.run`; None for a subcommand that has its program's."""
    options: Mapping[str, Option] = field(default_factory=dict)
    operands: tuple[Operand, ...] = ()
    trailing: tuple[Operand, ...] | None = None
    """The operands after ``--``, where these differ."""
    effects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    into: str = ""
    within: str = ""
    stdin: str = ""
    feed: str = ""
    remote: str = ""
    plus: bool = False
    single: bool = False
    stop: bool = False
    strict: bool = False
    itself: bool = False
    """A subcommand whose name is the first word of the command that it runs: `yarn eslint src`."""
    bundle: bool = False
    assign: Mapping[str, str] | str = ""
    ignore: frozenset[str] = frozenset()
    chdir: frozenset[str] = frozenset()
    default: Mapping[str, str] = field(default_factory=dict)
    derive: Mapping[str, str] = field(default_factory=dict)
    suffix: Mapping[str, str] = field(default_factory=dict)
    set: Mapping[str, str] = field(default_factory=dict)
    when: tuple[Change, ...] = ()
    unseen: bool | None = None
    """Whether it runs code that its words do not show; None where its kinds tell."""
    reads: str | None = None
    """`files` or `folders`: what of its paths it shows or hands on, where its kinds do not tell."""
    environment: frozenset[str] = frozenset()
    """Variables that make it run something else."""
    settings: tuple[str, ...] = ()
    """Files, as globs, that say what it runs besides."""
    safe: tuple[str, ...] = ()
    """Values, as globs, of options that may run something and of settings, with which nothing is run."""
    families: tuple[str, ...] = ()
    """What options without a meaning here begin with."""
    versions: frozenset[str] = frozenset()
    """Words with which, alone, it tells its version, besides those that nearly all programs have."""
    base: str = ""
    """The address that an operand of the role `url` is below which names no machine."""
    hands_over: bool = False
    """One of its operand places takes all the words that follow."""
    commands: Mapping[str, Program] | None = None
    """Subcommands by name and alias; ``_`` is any other. None for a program without."""


class Effect(Frozen, frozen=True):
    """What a command does to files besides what its own event says."""

    kind: str
    paths: tuple[str, ...]
    unresolved: bool = False
    """There are further paths, which cannot be told from the command."""
    reads: str = ""
    """`folders` where what lies below the paths is read too."""


class Inner(Frozen, frozen=True):
    """A command that a command runs on the same machine."""

    words: tuple[Word, ...]
    cwd: str | None
    assignments: tuple[tuple[str, Word], ...] = ()


class Code(Frozen, frozen=True):
    """Code that a command runs: given in place, in a file, or on standard input; none of these for a module."""

    language: str
    text: Word | None = None
    script: Word | None = None
    stdin: bool = False
    arguments: tuple[Word, ...] = ()


class Invocation(Frozen, frozen=True):
    """A simple command as read with the catalogue."""

    step: Step
    effects: tuple[Effect, ...] = ()
    inner: tuple[Inner, ...] = ()
    code: Code | None = None
    known: bool = False
    """The catalogue has the program."""
    unseen: bool = False
    """It runs code, of which nothing more is known, on this machine."""
    packages: tuple[tuple[str, str | None], ...] = ()
    """The packages that are named, each with the version that it is asked for."""
    sends: bool = False
    """What it reads from standard input is its source."""

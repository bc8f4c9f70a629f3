"""The state of one reading: what is known so far, the steps found, and how much work is left."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from vigil_lang.abstraction import paths
from vigil_lang.abstraction.scripts.values import truth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from vigil_lang.abstraction.scripts.libraries import Libraries
    from vigil_lang.abstraction.scripts.site import Arguments, Site
    from vigil_lang.abstraction.scripts.tree import Body, Expr, Lambda, Module
    from vigil_lang.abstraction.scripts.values import Base, Class, Function, Pause, Scope, Thing, Value
    from vigil_lang.abstraction.step import Spawn, Step, Word

    Special: TypeAlias = "Callable[[Run, str, Thing | None, Arguments, Site], Value]"


MAX_WORK = 60_000
"""Expressions and statements that are looked at, over all calls and turns of loops."""

MAX_STEPS = 500
"""Steps of one script."""

MAX_PLAIN = 300
"""Steps of one script that only say which function is called: there is to be room for those with an effect."""

MAX_DEPTH = 100
"""How deeply what is looked at may be nested, through calls too."""

MAX_CALLS = 12
"""How deeply functions are followed into each other."""

MAX_ALL_TURNS = 500
"""Turns of all loops together."""

MAX_MODULES = 16
"""Modules of the script's own that are followed."""

MAX_REASONS = 20
"""Reasons that are kept why a script is not wholly seen."""

MAX_AGAIN = 40
"""Functions that are looked at again at the end, because something that is not followed may call them."""

NEXT, RETURN, BREAK, CONTINUE, EXIT, FAIL, RAISE = 1, 2, 4, 8, 16, 32, 64
"""Ways a block can end: it goes on, leaves the function or the loop, ends the script well or not, raises something."""


class Exhausted(Exception):
    """A limit is reached: what was found so far is all there will be."""


_CONSTANTS = frozenset({"os.environ", "process.env", "sys.argv", "process.argv", "sys.path", "pathlib.Path"})
"""What has a name like a function's and does nothing when it is handed on."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The recursion: an expression has calls in it, a call goes through statements, and these have expressions."""

    apply: Callable[[Run, Value, Arguments, Site], Value]
    invoke: Callable[[Run, Function, list[tuple[Expr, Value]], Arguments | None], Value]
    block: Callable[[Run, Body, Scope], int]
    special: Mapping[str, Special]
    """Functions of libraries that are more than a step, or something else."""


@dataclass(slots=True)
class Run:
    """One reading. `certain` says whether what is looked at happens whenever the script ends normally."""

    interpreter: Interpreter
    language: str
    library: Libraries
    cwd: str | None
    files: Callable[[str], str | None]
    changed: Callable[[str], bool]
    translate: Callable[[str], Module]
    argv: Value
    file: str | None
    """The script's own file; None for code given in place."""
    steps: list[Step | Spawn] = field(default_factory=list)
    trouble: dict[str, None] = field(default_factory=dict)
    certain: bool = True
    moved: bool = False
    """The script has changed its directory."""
    work: int = MAX_WORK
    plain: int = 0
    """How many steps there are that only say which function is called."""
    depth: int = 0
    turns: int = MAX_ALL_TURNS
    calls: list[Lambda] = field(default_factory=list)
    returned: list[list[Value]] = field(default_factory=list)
    """The values returned so far, for each function that is being followed."""
    leaves: int = 0
    """How the statement at hand may end because of a call in it (see `flow`)."""
    stops: bool = False
    """A call in the statement at hand ends the script."""
    repeated: set[object] | None = None
    """What the loop at hand has done already."""
    libraries: bool = False
    """It imports some library besides the language's own."""
    modules: dict[str, Class | None] = field(default_factory=dict)
    roots: list[str] = field(default_factory=list)
    """Directories in which modules are looked for besides the script's own."""
    line: int = 0
    """The line of what is looked at."""
    lines: dict[str, list[str]] = field(default_factory=dict)
    """The lines of each file, by what is put before its line numbers."""
    unseen: dict[str, None] = field(default_factory=dict)
    """Why there may be effects that no step tells."""
    dry: int = 0
    """More than 0 while something is looked at only for effects that no step tells yet: there are no new steps."""
    told: set[object] = field(default_factory=set)
    """The effects that steps tell."""
    loose: dict[int, Function] = field(default_factory=dict)
    """Functions that may be called by what is not followed, by the identity of what is written."""
    again: dict[int, Function] = field(default_factory=dict)
    """Functions that what is not followed may call with other arguments than those seen, by the same."""
    revisited: list[Lambda] = field(default_factory=list)
    """The functions that are being looked at for what another turn of them may do."""
    yielded: list[list[Value]] = field(default_factory=lambda: [[]])
    """The values yielded so far, for each function that is being followed."""
    placed: set[object] = field(default_factory=set)
    """What could do something, by where it was put."""
    holders: list[Value] = field(default_factory=list)
    """Where it was put."""
    variables: dict[str, Word] = field(default_factory=dict)
    """Variables of the environment that the script has set: what it runs has them."""
    paused: list[list[Pause]] = field(default_factory=lambda: [[]])
    """Where each function that is being followed has yielded something."""
    bases: dict[str, Base] = field(default_factory=dict)
    """What has been set for a whole library to be put before relative addresses, by its name."""
    texts: list[str] = field(default_factory=list)
    """The texts that are being executed as code."""
    followed: set[int] = field(default_factory=set)
    """The functions that were followed, by the identity of what is written."""
    methods: dict[str, list[Function]] = field(default_factory=dict)
    """The methods of the script's classes by name."""
    changes: int = 0
    """How often a choice was taken for decided, or what could do something was put in another place."""

    def apply(self, callee: Value, given: Arguments, site: Site) -> Value:
        """Calls a value."""
        return self.interpreter.apply(self, callee, given, site)

    def invoke(self, callee: Function, positional: list[tuple[Expr, Value]], given: Arguments | None = None) -> Value:
        """What a function of the script returns, having done what it does; unknown where it is not followed."""
        return self.interpreter.invoke(self, callee, positional, given)

    def block(self, body: Body, scope: Scope) -> int:
        """Goes through statements; the ways they can end."""
        return self.interpreter.block(self, body, scope)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Looks at something only for effects that no step tells: it may happen at any time, or never."""
        kept = self.certain, self.stops, self.leaves, self.repeated, self.line
        self.certain, self.dry = False, self.dry + 1
        yield
        self.certain, self.stops, self.leaves, self.repeated, self.line = kept
        self.dry -= 1

    def for_any(self, options: Iterable[Value], do: Callable[[Value], object]) -> None:
        """Looks at what happens if a value is any of several."""
        for each in options:
            with self.aside():
                self.spend()
                do(each)

    def look_again(self, function: Function) -> None:
        """Has a function looked at once more at the end: what is not followed may call it with whatever it likes."""
        self.again.setdefault(id(function.node), function)

    def may_act(self, name: str) -> bool:
        """Whether a name is perhaps a function's that does something; constants are written in capitals."""
        name = self.library.canonical(name)
        entry = self.library.find(name)
        if entry is not None:
            return entry.effective
        if name in _CONSTANTS or name.rpartition(".")[2].isupper():
            return False
        return name in self.interpreter.special or not self.library.only_computes(name)

    def open(self, why: str, line: int | None = None) -> None:
        """Says that there may be effects that no step tells."""
        reason = f"line {line or self.line}: {why[:100]}" if line or self.line else why[:100]
        if len(self.unseen) < MAX_REASONS:
            self.unseen[reason] = None

    def decided(self, value: Value) -> bool | None:
        """Whether a test of the value succeeds. Nothing is decided in what may run at any other time."""
        found = None if self.dry else truth(value, self.language)
        self.changes += found is not None
        return found

    def spend(self, amount: int = 1) -> None:
        """Counts work.

        Raises:
            Exhausted: there was too much of it.
        """
        self.work -= amount
        if self.work < 0:
            raise Exhausted("the script does too much to be followed to its end")

    def add(self, step: Step | Spawn, key: object) -> None:
        """Adds a step, unless a turn of the loop at hand has done the very same.

        Raises:
            Exhausted: there are too many steps.
        """
        if key is not None and getattr(step, "kinds", ()) != ("code.call",):
            if self.dry:
                if key not in self.told:
                    self.open(f"{getattr(step, 'action', 'a command')} is called where it is not followed")
                return
            self.told.add(key)
        elif self.dry:
            return
        if self.repeated is not None:
            if key in self.repeated:
                return
            self.repeated.add(key)
        if getattr(step, "kinds", ()) == ("code.call",):
            self.plain += 1
            if self.plain > MAX_PLAIN:
                self.trouble[f"the script calls more than {MAX_PLAIN} functions: of the rest only effects are told"] = (
                    None
                )
                return
        if len(self.steps) >= MAX_STEPS:
            raise Exhausted(f"the script does more than {MAX_STEPS} things: the first ones were read")
        self.steps.append(step)

    def path(self, text: str) -> str | None:
        """The normalised path a text stands for where the script is now."""
        return paths.resolve(text, self.cwd)

    def scripts(self, scope: Scope) -> tuple[str, ...]:
        """The file that a scope stands in, and the script's own where that is another; none for code in place."""
        path = (scope.module or scope).path
        if path is None or path == self.file:
            return () if self.file is None else (self.file,)
        return (path,) if self.file is None else (path, self.file)

    def excerpt(self, line: int, scope: Scope) -> tuple[str, int | None]:
        """A line of the script and its number; a line of another file has that before it and no number."""
        where = (scope.module or scope).where
        lines = self.lines.get(where, ())
        text = lines[line - 1].strip()[:200] if 0 < line <= len(lines) else ""
        return (f"{where}:{line}: {text}"[:200], None) if where else (text, line)

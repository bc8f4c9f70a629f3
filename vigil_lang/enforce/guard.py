"""Callables that do not run where a policy forbids it: `with guard(policies) as g: tool = g.wrap(tool)`."""

from __future__ import annotations

import warnings
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeVar

from msgspec.structs import replace

from vigil_lang.abstraction.run import Options
from vigil_lang.abstraction.tools import Tool
from vigil_lang.api import usable_policies
from vigil_lang.enforce.blocked import PolicyWarning
from vigil_lang.enforce.guarded_run import GuardedRun
from vigil_lang.enforce.run import PolicyMonitor
from vigil_lang.enforce.wrapping import Reader, guarded_tool, name_of
from vigil_lang.trace import Run, checked
from vigil_lang.trace.event import MESSAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from vigil_lang.enforce.guarded_run import Ask, Warn
    from vigil_lang.enforce.run import Broken, Obligation, RunOutcome
    from vigil_lang.enforce.wrapping import See
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Trace

P = ParamSpec("P")
R = TypeVar("R")

_DEFAULTS = Options()


def guard(
    policies: Policy | Iterable[Policy],
    *,
    name: str = "<memory>",
    cwd: str | None = None,
    options: Options = _DEFAULTS,
    ask: Ask | None = None,
    warn: Warn | None = None,
) -> Guard:
    """A guard whose tools run only where the policies allow it (docs/guard.md).

    `ask` is called where a statement holds a call, with the `Blocked` that would be raised; only `True`, or an
    awaitable of it for asynchronous tools, lets the call through. Without `ask` such a call is blocked. `warn` is
    called with a text where a call is made although a statement warns about it, and where a statement is violated as
    the run ends; without `warn` a `PolicyWarning` is issued. `name` is what messages call the run, `cwd` the folder
    that it starts in.

    Raises:
        TypeError: an argument is not of its type; the message names it and says what it takes.
        ValueError: there is no policy, or no statement in any.
        InputError: a policy has findings that keep statements from having a meaning.
    """
    for given, what in ((ask, "ask"), (warn, "warn")):
        if given is not None and not callable(given):
            raise TypeError(f"`{what}` takes a callable, not {checked.shown(given)}")
    if not isinstance(options, Options):
        raise TypeError(f"`options` takes `Options`, not {checked.shown(options)}")
    return Guard(PolicyMonitor(usable_policies(policies)), name, cwd, options, ask, warn)


class Guard:
    """Wraps callables. What they do is one run, or several where `run` begins others."""

    def __init__(
        self,
        monitor: PolicyMonitor,
        name: str,
        cwd: str | None,
        options: Options,
        ask: Ask | None,
        warn: Warn | None,
    ) -> None:
        self._monitor = monitor
        self._tools = dict(options.tools)
        self._options = replace(options, tools=self._tools)
        self._ask = ask
        self._warn = warn or _warn
        self._run: ContextVar[GuardedRun] = ContextVar("run")
        self._default = self.run(name=name, cwd=cwd)

    def __enter__(self) -> Guard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._default.leave(error)

    def run(self, *, name: str = "<memory>", cwd: str | None = None) -> GuardedRun:
        """A run of its own for what is called inside `with`: a task or a thread that has its own conversation.

        Raises:
            TypeError: an argument is not of its type.
        """
        run = Run(checked.named(name, "name"), cwd=None if cwd is None else checked.named(cwd, "cwd"))
        return GuardedRun(self._monitor.run(run, self._options), self._run, self._ask, self._warn)

    # --- what is wrapped ---

    def wrap(
        self,
        tool: Callable[P, R],
        *,
        name: str | None = None,
        kinds: Iterable[str] = (),
        arguments: See | None = None,
    ) -> Callable[P, R]:
        """The tool, which raises `Blocked` in place of running where a policy forbids it.

        Functions, methods, classes and other callables, synchronous, asynchronous and generators. `name` is the action
        of its calls, by default its own name; `kinds` are what it does besides. `arguments` turns the arguments by
        name into those that policies see: for values that JSON does not have.

        Raises:
            TypeError: an argument is not of its type.
            ValueError: the tool has no name of its own, or that of a message.
        """
        if isinstance(tool, classmethod | staticmethod) or not callable(tool):
            raise TypeError(
                f"`tool` takes a callable, below `staticmethod` and `classmethod`, not a {type(tool).__name__}"
            )
        if arguments is not None and not callable(arguments):
            raise TypeError(f"`arguments` takes a callable, not {checked.shown(arguments)}")
        called = name_of(tool) if name is None else checked.named(name, "name")
        wanted = checked.texts(kinds, "kinds")
        if said := MESSAGES.intersection((called, *wanted)):
            raise ValueError(f"`{min(said)}` is what `say` is for; no tool's call is one")
        if wanted:
            known = self._tools.get(called, Tool())
            self._tools[called] = replace(known, kinds=tuple(dict.fromkeys((*known.kinds, *wanted))))
        return guarded_tool(tool, Reader(tool, called, arguments), lambda: self._run.get(self._default))

    def tool(
        self, *, name: str | None = None, kinds: Iterable[str] = (), arguments: See | None = None
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """`wrap` as a decorator."""
        return lambda tool: self.wrap(tool, name=name, kinds=kinds, arguments=arguments)

    # --- the run that is current ---

    def say(self, role: Literal["user", "agent"], text: str) -> None:
        """What the user or the agent says in the current run. Raises `ValueError` where the run is closed."""
        self._run.get(self._default).say(role, text)

    def pending(self) -> tuple[Obligation, ...]:
        """What is owed in the current run, statement by statement, oldest first."""
        return self._run.get(self._default).pending()

    def trace(self) -> Trace:
        """The current run so far, calls in flight as they are."""
        return self._run.get(self._default).trace()

    @property
    def broken(self) -> tuple[Broken, ...]:
        """The violations of the current run that are certain, also those that only a call's result showed."""
        return self._run.get(self._default).broken

    @property
    def outcome(self) -> RunOutcome | None:
        """What the guard's own run came to, once it has been left."""
        return self._default.outcome


def _warn(text: str) -> None:
    warnings.warn(text, PolicyWarning, stacklevel=2)

"""Made-up events completed to what runs have: implied kinds, and the arguments of every program's event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from vigil_lang.abstraction.catalogue.load import program
from vigil_lang.abstraction.tools import tool
from vigil_lang.semantics import core
from vigil_lang.testing.sample_events import content
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from vigil_lang.trace.event import Event, Trace

_RUN: Final = "process.run"
_OF_PROGRAMS: Final = frozenset({"program", "argv", "flag", "subcommand"})
"""Arguments that only the events of programs have; what these do besides has the `program` alone."""

_OPTIONS: Final = _OF_PROGRAMS - {"program"}

_CALLED: Final = frozenset({"shell.run", "user.ask", "agent.delegate", "skill.load", "task.plan", "tool.search"})
"""Kinds of tools' calls alone: no step of a call is named after one."""

_PROGRAM: Final = "program"


class Plausible:
    """Completes made-up events to such as abstraction gives (spec.md, 5.4).

    A policy may name a program, or say `process.run` with `program`; it may name a tool, or its kind. In every run an
    event that meets one of these meets the other, so that the two do not differ.
    """

    def __init__(self, conditions: Sequence[core.Condition], recorded: Iterable[Trace]) -> None:
        self._recorded: dict[str, bool] = {}
        for event in (event for trace in recorded for event in trace.events):
            self._recorded[event.action] = self._recorded.get(event.action, False) or _RUN in event.kinds
        self._named = frozenset(name for condition in conditions for name in _programs(condition))
        tests = (test for condition in conditions for test in core.tests(condition))
        names = {name for test in tests if isinstance(test, core.ActionIn) for name in test.names}
        self._tools = {
            kind: name for name in sorted({*names, *self._recorded}, reverse=True) for kind in tool(name).kinds
        }
        self._programs = sorted(name for name in {*names, *self._named} if self._is_program(name))
        self._known: dict[object, Event] = {}

    def event(self, event: Event) -> Event:
        """The event as a run would have it. What was recorded under a name says whether that is a program's."""
        key = (content(event), event.id)
        if key not in self._known:
            self._known[key] = self._completed(event)
        return self._known[key]

    def _completed(self, event: Event) -> Event:
        known = vocabulary()
        action, args, kinds = event.action, event.args, [*event.kinds]
        if action in known.kinds:
            kinds.append(action)
        if action in known.kinds and action != _RUN:
            found = self._program_of(action, args)
            if found is not None:
                action, subcommands = found
                args = {**args, "subcommand": subcommands} if subcommands else args
            elif not _OPTIONS.isdisjoint(args):
                kinds.append(_RUN)
        if _RUN in kinds or self._is_program(action):
            given = args.get("program", ())[:1]
            if not self._is_program(action) and (given or action in known.kinds):
                action = given[0] if given else _PROGRAM
            if args.get("program") != (action,):
                args = {**args, "program": (action,)}
            kinds += [_RUN, *_kinds_of(action, args.get("subcommand", ()))]
        elif action in _CALLED:
            action = self._tools.get(action, action)
        kinds += tool(action).kinds
        closed = known.closed(kinds)
        if (action, args, closed) == (event.action, event.args, event.kinds):
            return event
        return replace(event, action=action, args=args, kinds=closed)

    def _program_of(self, kind: str, args: Mapping[str, tuple[str, ...]]) -> tuple[str, tuple[str, ...]] | None:
        """The program whose own event has a kind, with what it is told to do, if the arguments are those of one."""
        if _OF_PROGRAMS.isdisjoint(args):
            return None
        given = args.get("subcommand", ())
        for name in args.get("program") or self._programs:
            for words in (given, (kind.rpartition(".")[2], *given)):
                if kind in vocabulary().closed(_kinds_of(name, words)):
                    return name, words
        return None

    def _is_program(self, name: str) -> bool:
        """Whether events of this name are those of a program: as recorded, as a policy has it, or by the catalogue."""
        if name in self._recorded:
            return self._recorded[name]
        return name in self._named or (name not in vocabulary().kinds and program(name) is not None)


def _programs(condition: core.Condition) -> Iterator[str]:
    """The names that a condition takes for those of programs."""
    tests = core.tests(condition)
    fields = [
        test.field.name for test in tests if not isinstance(test, core.ActionIn | core.ActionMatches | core.StatusIs)
    ]
    for test in tests:
        if isinstance(test, core.In) and test.field.name == "program" and not test.field.output:
            yield from test.values
        elif isinstance(test, core.ActionIn) and not _OF_PROGRAMS.isdisjoint(fields):
            yield from test.names - vocabulary().kinds.keys()


def _kinds_of(name: str, subcommands: Sequence[str]) -> tuple[str, ...]:
    """The kinds that the catalogue gives a program with these subcommands."""
    entry = program(name)
    kinds: tuple[str, ...] = ()
    for word in (None, *subcommands):
        if word is not None and entry is not None:
            entry = entry.commands.get(word) if entry.commands is not None else None
        if entry is None:
            break
        kinds = kinds if entry.kinds is None else entry.kinds
    return kinds

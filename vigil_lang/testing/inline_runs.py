"""Runs that are written in a test: events as they are, or calls that are abstracted as a recording's would be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.abstraction.paths import resolve
from vigil_lang.diagnostics import Note
from vigil_lang.syntax import tree
from vigil_lang.trace import Event, Run, Trace
from vigil_lang.trace.record import Call, Message, Result, Start
from vigil_lang.trace.values import flatten

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from vigil_lang.abstraction.tools import Tool
    from vigil_lang.diagnostics import Span
    from vigil_lang.testing.test_errors import Faults
    from vigil_lang.trace.record import Record

UNITS = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
"""Microseconds by unit; a run that is written in a test starts in 1970."""
_LATEST = 1_000_000 * UNITS["d"]
_ROLES = {"user.message": "user", "agent.message": "agent"}


def written_run(
    given: tree.RunEvents | tree.RunCalls, path: str, faults: Faults, tools: dict[str, Tool] | None = None
) -> Trace | None:
    """The trace of a run that stands in a test; None when something is wrong with it, which is then reported.

    `tools` are those that the project describes.
    """
    return _Reader(faults, path, tools or {}).trace(given)


class _Reader:
    def __init__(self, faults: Faults, path: str, tools: dict[str, Tool]) -> None:
        self.faults = faults
        self.tools = tools
        self.run = Run(path)
        self.ids: dict[str, Span] = {}
        self._before = len(faults.found)

    @property
    def _at_fault(self) -> bool:
        """Whether something is wrong with this run."""
        return len(self.faults.found) > self._before

    def trace(self, given: tree.RunEvents | tree.RunCalls) -> Trace | None:
        if isinstance(given, tree.RunEvents):
            events = tuple(self._events(given))
            return None if self._at_fault else Trace(events, self.run)
        cwd = None if given.cwd is None else self.faults.text(given.cwd)
        if given.cwd is not None and cwd is not None and resolve(cwd, None) is None:
            self.faults.add("the folder is not absolute, and not below `~/`", given.cwd.span)
        return self._abstracted(given, replace(self.run, cwd=cwd))

    # --- events as they are ---

    def _events(self, given: tree.RunEvents) -> Iterator[Event]:
        for number, item in enumerate(given.events, 1):
            if isinstance(item, tree.Event):
                name = self._id(item, f"e{number}")
                yield self._event(item, name, name)
                continue
            for place, step in enumerate(item.events, 1):
                yield self._event(step, self._id(step, f"e{number}.{place}"), f"e{number}")

    def _id(self, item: tree.Event, name: str) -> str:
        """The id of an event, its own or the one by its place; both are taken once."""
        span = item.action.span if item.id is None else item.id.span
        name = name if item.id is None else item.id.text
        if name in self.ids:
            note = Note("the first one", self.faults.source, self.ids[name])
            self.faults.add(f"two events are called `{name}`", span, notes=(note,))
        else:
            self.ids[name] = span
        return name

    def _event(self, item: tree.Event, name: str, call: str) -> Event:
        args: dict[str, tuple[str, ...]] = {}
        try:
            args = flatten(self._args(item.args))
        except ValueError as error:
            self.faults.add(str(error), item.span)
        status, output = self._ending(item)
        kinds = tuple(self._name(kind) for kind in item.kinds)
        return Event(name, self._name(item.action), call, args, status, output, kinds, self._time(item))

    def _ending(self, item: tree.Event) -> tuple[Any, str | None]:
        if item.ending is None:
            return "unknown", None
        output = item.ending.output
        return item.ending.status or "unknown", None if output is None else self.faults.text(output)

    def _time(self, item: tree.Event) -> int | None:
        if item.time is None:
            return None
        unit = item.time.raw.lstrip("0123456789")
        time = int(item.time.raw[: -len(unit)][:18]) * UNITS[unit]
        if time > _LATEST:
            self.faults.add("no run is a million days long", item.time.span)
            return None
        return time

    # --- values ---

    def _name(self, name: tree.Name | tree.String) -> str:
        return name.text if isinstance(name, tree.Name) else self.faults.text(name) or ""

    def _args(self, args: tuple[tree.Argument, ...]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for argument in args:
            name = self._name(argument.name)
            if name in found:
                self.faults.add(f"the argument `{name}` is given twice", argument.name.span)
            found[name] = self._value(argument.value)
        return found

    def _value(self, value: tree.Value) -> Any:
        match value:
            case tree.String():
                return self.faults.text(value)
            case tree.Boolean(truth):
                return truth
            case tree.Number(raw):
                return self._number(raw, value.span)
            case tree.Composite(elements):
                named = [e for e in elements if isinstance(e, tree.Argument)]
                if not named:
                    return [self._value(e) for e in elements if not isinstance(e, tree.Argument)]
                if len(named) < len(elements):
                    self.faults.add("either every element has a name or none has", value.span)
                return self._args(tuple(named))

    def _number(self, raw: str, span: Span) -> int | Decimal:
        number = self.faults.number(raw, span)
        if number is None:
            return 0
        return int(raw) if raw.lstrip("-").isdigit() and len(raw) < 20 else number

    # --- calls ---

    def _abstracted(self, given: tree.RunCalls, run: Run) -> Trace | None:
        from vigil_lang.abstraction.calls import Unnameable
        from vigil_lang.abstraction.run import Abstraction, Options

        abstraction = Abstraction(Options(tools=self.tools))
        names: dict[str, str] = {}
        numbers = {"e": 0, "m": 0}
        abstraction.add(Start(run))
        for item in given.events:
            letter = "m" if self._name(item.action) in _ROLES else "e"
            numbers[letter] += 1
            key = f"{letter}{numbers[letter]}"
            names[key] = self._id(item, key)
            try:
                for record in self._records(item, key):
                    abstraction.add(record)
            except Unnameable as error:
                self.faults.add(str(error), item.span)
                return None
        events = [_renamed(event, names) for event in abstraction.rest()]
        for event in events:
            if event.id != event.call and event.id in self.ids:
                note = Note(f"the call with the step `{event.id}`", self.faults.source, self.ids[event.call])
                self.faults.add(f"two events are called `{event.id}`", self.ids[event.id], notes=(note,))
        return None if self._at_fault else Trace(tuple(events), abstraction.finished_run)

    def _records(self, item: tree.Event, key: str) -> Iterator[Record]:
        action, args, time = self._name(item.action), self._args(item.args), self._time(item)
        status, output = self._ending(item)
        for kind in item.kinds:
            self.faults.add("the kinds of a call are derived: to give them, write events in `run { … }`", kind.span)
        if action in _ROLES:
            if args.keys() != {"text"} or not isinstance(args["text"], str):
                self.faults.add(f'a message has a text and nothing else: `{action}(text = "…")`', item.span)
                return
            yield Message("user" if action == "user.message" else "agent", args["text"], time)
            return
        yield Call(key, action, args, time)
        if item.ending is not None:
            yield Result(key, status, output)


def _renamed(event: Event, names: dict[str, str]) -> Event:
    """The event of a call, or a step of one, by the id the test gives the call."""
    call, dot, step = event.id.partition(".")
    return replace(event, id=f"{names[call]}{dot}{step}", call=names[call])

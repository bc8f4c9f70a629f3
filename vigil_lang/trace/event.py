"""Typed events (paper, section 4.2) and the trace that orders them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast

from msgspec import field
from msgspec.structs import replace

from vigil_lang.base.structs import Frozen
from vigil_lang.trace import checked
from vigil_lang.trace.values import flatten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from decimal import Decimal

Status = Literal["ok", "error", "unknown"]

STATUSES = ("ok", "error", "unknown")

MESSAGES = frozenset({"user.message", "agent.message"})
"""The actions of events that are no calls: what the user and the agent say."""


class Event(Frozen, frozen=True):
    """One step of a run: e = ⟨a(e), e[·], s(e), o(e)⟩.

    `args` maps a flattened argument name (``params.amount``) to the canonical texts of its value: one for a
    scalar, any number for a list. An absent argument has no entry. `output` is None where nothing was seen.
    `time` is in microseconds since 1970 (UTC), None where the source does not say.

    `Event.of` takes values as they stand in JSON. The constructor takes them as they are kept, and raises `TypeError`
    or `ValueError` for any other: a text in place of a tuple of texts would be judged as its characters.
    """

    id: str
    action: str
    call: str
    args: dict[str, tuple[str, ...]] = field(default_factory=dict)
    status: Status = "unknown"
    output: str | None = None
    kinds: tuple[str, ...] = ()
    time: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not is_kept(self):
            refuse(self)

    @classmethod
    def of(
        cls,
        action: str,
        args: Mapping[str, object] | None = None,
        *,
        id: str | None = None,  # noqa: A002 - as the field is called
        call: str | None = None,
        kinds: Iterable[str] = (),
        status: Status = "unknown",
        output: str | None = None,
        time: datetime | str | float | Decimal | None = None,
    ) -> Event:
        """An event from values as they stand in JSON: texts, numbers, booleans, None, lists, mappings with text keys.

        Without an `id` it gets one by its place in a trace (`Trace.of`); `call` is the id of what it is a step of,
        its own by default. `time` is a `datetime` (without a zone: UTC), an ISO 8601 text or seconds since 1970.

        Raises:
            TypeError: an argument is not of its type; the message names it and says what it takes.
            ValueError: it is of its type and yet none: an unknown status, a number that is not finite, a time that is
                none, arguments nested too deeply.
        """
        name = "" if id is None else checked.named(id, "id")
        of = name if call is None else checked.named(call, "call")
        return cls(
            name,
            checked.named(action, "action"),
            of,
            flatten({} if args is None else checked.members(args, "args")),
            cast("Status", checked.one_of(status, "status", STATUSES)),
            None if output is None else checked.text(output, "output"),
            checked.texts(kinds, "kinds"),
            checked.moment(time, "time"),
        )

    def names(self) -> tuple[str, ...]:
        """The action's own name and its kinds: what `action in {…}` is tested against."""
        return (self.action, *self.kinds)

    def values(self, name: str) -> tuple[str, ...]:
        """The texts under an argument name, none where the event does not carry it."""
        return self.args.get(name, ())


class Run(Frozen, frozen=True):
    """What a reader learned about a recording besides its events."""

    path: str
    format: str = "vigil"
    name: str | None = None
    source: str | None = None
    cwd: str | None = None
    """The working directory the run started in, where the recording says so."""
    not_executed: int = 0
    """Calls the recording shows as denied, cancelled or rejected before they ran; they are no events."""
    label: str | None = None
    """What tells it from the other runs of its recording, where there are any; `path` then ends in ``#`` and the label.

    It is the run's name, or its number from 1 where it has none; the second of a name has `#2` behind it.
    """
    prompt: str | None = None
    """What the user asked for, where a header says so: a recording may lack it."""
    records: int = 0
    """Records that were read, where some of them were not understood."""
    not_understood: int = 0
    """Records that told nothing, and that nothing shows to be of the format as which they were read."""
    about: tuple[tuple[str, str], ...] = ()
    """What else its header says (the model, the agent, a version), as names and texts in order of name."""

    @property
    def one_of_many(self) -> bool:
        """Whether the recording holds other runs too."""
        return self.label is not None

    def is_called(self, name: str) -> bool:
        """Whether `--run` with this name means it: its label, or its name, which other runs may have as well."""
        return name in (self.label or self.name, self.name)


class Trace(Frozen, frozen=True, dict=True):
    """A finite run τ = e₁ ≺ e₂ ≺ …; ids are unique within it.

    Raises:
        TypeError: `events` is no tuple of events; `Trace.of` takes any iterable.
        ValueError: two events have one id, or one has none.
    """

    events: tuple[Event, ...]
    run: Run = Run("<memory>")

    def __post_init__(self) -> None:
        if type(self.events) is not tuple or not _EVENT.issuperset(map(type, self.events)):
            raise TypeError("`events` is a tuple of events; `Trace.of` takes any iterable of them")
        ids = {event.id for event in self.events}
        if len(ids) < len(self.events) or "" in ids:
            _refuse_ids(self.events)

    @classmethod
    def of(cls, events: Iterable[Event], *, name: str = "<memory>", cwd: str | None = None) -> Trace:
        """A trace of events in their order; those without an id get one by their place, `e1` for the first.

        `name` is what messages call the run, `cwd` the folder that it started in.

        Raises:
            TypeError: an argument is not of its type; the message names it and says what it takes.
            ValueError: two events have one id.
        """
        if isinstance(events, Event):
            raise TypeError("`events` takes several events, not a single one: write `[event]`")
        taken = list(checked.several(events, "events", "an iterable of events"))
        for place, event in enumerate(taken, 1):
            if not isinstance(event, Event):
                raise TypeError(
                    f"`events` takes events as `Event.of` makes them, not {checked.shown(event)} (number {place})"
                )
            if not event.id:
                taken[place - 1] = replace(event, id=f"e{place}", call=event.call or f"e{place}")
        run = Run(checked.named(name, "name"), cwd=None if cwd is None else checked.named(cwd, "cwd"))
        return cls(tuple(taken), run)

    def __len__(self) -> int:
        return len(self.events)

    @cached_property
    def call_index(self) -> tuple[int, ...]:
        """For each event the ordinal, from 0, of its call: what bounds in calls measure.

        A message is no call: it has the ordinal of the call before it, and -1 before the first.
        """
        seen: dict[str, int] = {}
        return tuple(len(seen) - 1 if e.action in MESSAGES else seen.setdefault(e.call, len(seen)) for e in self.events)

    @cached_property
    def characters(self) -> int:
        """How many characters all names, values and outputs have together."""
        return sum(
            len(event.action)
            + len(event.output or "")
            + sum(len(name) + sum(map(len, texts)) for name, texts in event.args.items())
            for event in self.events
        )

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Position by event id."""
        return {e.id: i for i, e in enumerate(self.events)}

    @cached_property
    def values(self) -> tuple[str, ...]:
        """V of Definition 1, argument values and outputs, in order of first appearance."""
        found: dict[str, None] = {}
        for event in self.events:
            for texts in event.args.values():
                found.update(dict.fromkeys(texts))
            if event.output is not None:
                found.setdefault(event.output)
        return tuple(found)


# --- what is taken from outside -----------------------------------------------------------------------------

_EVENT = frozenset({Event})
_TEXT = frozenset({str})
_TUPLE = frozenset({tuple})


def is_kept(event: Event) -> bool:
    """Whether every field has the form in which it is judged."""
    args = event.args
    return (
        type(event.id) is str
        and type(event.action) is str
        and type(event.call) is str
        and type(args) is dict
        and _TEXT.issuperset(map(type, args))
        and _TUPLE.issuperset(map(type, args.values()))
        and all(_TEXT.issuperset(map(type, texts)) for texts in args.values())
        and event.status in STATUSES
        and (event.output is None or type(event.output) is str)
        and type(event.kinds) is tuple
        and _TEXT.issuperset(map(type, event.kinds))
        and (event.time is None or type(event.time) is int)
        and type(event.extra) is dict
    )


def refuse(event: Event) -> None:
    """Raise the error that says which field has another form; subclasses of the types pass."""
    for name in ("id", "action", "call"):
        checked.text(getattr(event, name), name)
    if not isinstance(event.args, dict):
        raise TypeError(
            f"`args` is a dict of tuples of texts, not {checked.shown(event.args)}; `Event.of` takes JSON values"
        )
    for name, texts in cast("dict[str, object]", event.args).items():
        checked.text(name, "args")
        if not isinstance(texts, tuple):
            message = f"`args[{name!r}]` is a tuple of texts, not {checked.shown(texts)}; `Event.of` takes JSON values"
            raise TypeError(message)
        for at, text in enumerate(texts):
            checked.text(text, f"args[{name!r}][{at}]")
    checked.one_of(event.status, "status", STATUSES)
    if event.output is not None:
        checked.text(event.output, "output")
    if not isinstance(event.kinds, tuple):
        raise TypeError(f"`kinds` is a tuple of texts, not {checked.shown(event.kinds)}; `Event.of` takes any iterable")
    for at, kind in enumerate(event.kinds):
        checked.text(kind, f"kinds[{at}]")
    if event.time is not None and (not isinstance(event.time, int) or isinstance(event.time, bool)):
        raise TypeError(f"`time` is in microseconds since 1970, an int, not {checked.shown(event.time)}")
    if not isinstance(event.extra, dict):
        raise TypeError(f"`extra` is a dict, not {checked.shown(event.extra)}")


def _refuse_ids(events: tuple[Event, ...]) -> None:
    """Raise the error that says which id is missing or taken twice."""
    seen: dict[str, int] = {}
    for place, event in enumerate(events, 1):
        if not event.id:
            raise ValueError(f"event {place} has no id; `Trace.of` gives it one")
        if seen.setdefault(event.id, place) != place:
            raise ValueError(f"the id {checked.shown(event.id)} is that of event {seen[event.id]} and of event {place}")

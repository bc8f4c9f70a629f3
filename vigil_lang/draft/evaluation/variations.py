"""Events that differ from a given one in a single respect, and runs in which one value is another throughout."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.draft.evaluation.known import Known
    from vigil_lang.trace.event import Event, Status

_OTHER: Final = "another"
_ARGUMENTS: Final = 4
_KNOWN: Final = 3
_STATUSES: Final[dict[Status, Status]] = {"ok": "error", "error": "ok", "unknown": "ok"}


def variations(event: Event, known: Known, chance: random.Random, *, every: bool = False) -> Iterator[Event]:
    """The event without an argument, with another or a second value, with another output, with another status.

    The values are a few of those that are `known`, or `every` one of them.
    """
    names = sorted(event.args, key=lambda name: (name not in known.arguments, chance.random()))
    for name in names[:_ARGUMENTS]:
        rest = {other: values for other, values in event.args.items() if other != name}
        yield replace(event, args=rest)
        if name not in vocabulary().roles:  # abstraction gives no role without a value
            yield replace(event, args={**event.args, name: ()})
        values = event.args[name]
        suited = known.arguments.get(name, ())
        for value in (*(suited if every else _some(suited, chance)), _OTHER):
            # What a program does hangs on what it is told to do.
            kinds = () if name == "subcommand" else event.kinds
            yield replace(event, args={**event.args, name: (value,)}, kinds=kinds)
            yield replace(event, args={**event.args, name: (*values, value)})
            if len(values) > 1:
                at = chance.randrange(len(values))
                yield replace(event, args={**event.args, name: (*values[:at], value, *values[at + 1 :])})
        if len(suited) > 1:
            yield replace(event, args={**event.args, name: tuple(chance.sample(suited, 2))})
    yield replace(event, status=_STATUSES[event.status])
    for value in known.outputs if every else _some(known.outputs, chance):
        yield replace(event, output=value)
    if event.output is not None:
        yield replace(event, output=None)
    if event.kinds:
        yield replace(event, kinds=())


def _some(values: Sequence[str], chance: random.Random) -> Sequence[str]:
    return chance.sample(values, min(_KNOWN, len(values)))


def with_another_value(line: Sequence[Event], chance: random.Random) -> list[Event]:
    """The events with one of their values changed a little, in all of them alike; as they are where there is none."""
    values = sorted({value for event in line for texts in event.args.values() for value in texts if value})
    if not values:
        return list(line)
    old = chance.choice(values)
    new = chance.choice((f"{old}x", f"x{old}", old.swapcase(), old[1:], old[:-1]))
    return [
        replace(
            event,
            args={name: tuple(new if v == old else v for v in texts) for name, texts in event.args.items()},
            output=event.output and event.output.replace(old, new),
        )
        for event in line
    ]


def distinct(events: Iterable[Event]) -> list[Event]:
    """Each event once, whatever its place in a run."""
    return list({keyed(event): event for event in events}.values())


def keyed(event: Event) -> object:
    """What conditions see of an event."""
    return (event.action, event.kinds, tuple(sorted(event.args.items())), event.status, event.output)

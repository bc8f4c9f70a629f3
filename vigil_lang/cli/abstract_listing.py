"""How calls became events, as a person reads it: each call, and under it what it was taken to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace
from rich.text import Text

from vigil_lang.abstraction.events import not_understood, unseen
from vigil_lang.diagnostics.shorten import fit, middle
from vigil_lang.diagnostics.visible import shown_path, visible
from vigil_lang.trace import Run
from vigil_lang.trace.event import MESSAGES
from vigil_lang.verdict.calls import call_text
from vigil_lang.verdict.lines import is_step, message_text, step_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lang.trace import Event


def lines(found: Iterable[Run | Event], width: int, only: set[str]) -> Iterator[Text]:
    """Runs with their events; `only` the calls of these event ids, all where there is none."""
    first = True
    held: list[Event] = []
    for item in found:
        if isinstance(item, Run):
            yield from _held(held, width)
            if not first:
                yield Text()
            first = False
            yield Text.assemble((shown_path(item.path), "bold"), f" · {visible(item.format)}", _start(item))
        elif not only or item.id in only or item.id.partition(".")[0] in only:
            if held and (not is_step(item) or _site(item) != _site(held[0])):
                yield from _held(held, width)
            held.append(item)
    yield from _held(held, width)


def _held(held: list[Event], width: int) -> Iterator[Text]:
    """One line for steps that differ only in their values, as those of a loop do: with the values of all of them."""
    if len(held) > 1:
        yield _step(_merged(held), width, len(held))
    elif held:
        yield from _event(held[0], width)
    held.clear()


def _merged(held: list[Event]) -> Event:
    args: dict[str, dict[str, None]] = {}
    for event in held:
        for name, values in event.args.items():
            args.setdefault(name, {}).update(dict.fromkeys(values))
    return replace(held[0], args={name: tuple(values) for name, values in args.items()})


def _start(run: Run) -> str:
    return f" · starts in {visible(run.cwd)}" if run.cwd else ""


def _event(event: Event, width: int) -> Iterator[Text]:
    if event.action in MESSAGES:
        head = Text(f"{_id(event):<6}")
        yield Text.assemble(head, message_text(event, max(width - len("agent: ") - head.cell_len, 20)))
    elif is_step(event):
        yield _step(event, width)
    else:
        head = Text(f"{_id(event):<5} ", "bold")
        yield Text.assemble(head, call_text(event, max(width - head.cell_len, 40)))
        for text in not_understood(event):
            yield Text.assemble(" " * 6, (f"not understood: {visible(text)}", "yellow"))
        for text in unseen(event):
            yield Text.assemble(" " * 6, (f"not wholly seen: {visible(text)}", "yellow"))


def _id(event: Event) -> str:
    return middle(event.id, 24)


def _site(event: Event) -> tuple[object, ...]:
    """What repeated calls from one place in a script have in common."""
    return event.call, event.action, event.kinds, event.status, event.extra.get("line"), event.extra.get("excerpt")


def _step(event: Event, width: int, times: int = 1) -> Text:
    """`e5.2  ok  git  git.push, net.upload  remote=origin  ‹git push origin›`, cut where it is too wide."""
    shown = Text.assemble(f"      {_id(event):<7} ", step_text(event, times))
    fit(shown, width)
    return shown

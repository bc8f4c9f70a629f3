"""How well runs were understood, as a person reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from vigil_lang.diagnostics.visible import shown_path, visible

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from vigil_lang.abstraction.statistics import Statistics

_SHOWN = 12


def report(found: Statistics) -> Iterator[Text]:
    """The counts in a few lines, the calls that are not wholly seen, and why some were not wholly understood."""
    runs = sum(found.formats.values())
    yield Text(f"{_many(runs, 'run')}: {_listed(found.formats)}", "bold")
    skipped = f", {found.not_executed} more not executed" if found.not_executed else ""
    yield Text(
        f"{_many(found.events, 'event')}: {_many(found.calls, 'call')}{skipped}, {_many(found.messages, 'message')}"
    )
    if found.records_not_understood:
        some = f"{found.records_not_understood} of {found.records} records were not understood"
        yield Text(some, "bold yellow")
    unseen = sum(map(len, found.unseen.values()))
    yield Text()
    yield _share("calls that are wholly seen", found.calls - unseen, found.calls)
    yield _share("commands in shells with a kind", found.commands_with_kind, found.commands)
    yield _share("paths of file operations that are absolute", found.paths_resolved, found.paths)
    yield Text(f"{found.inferred:>6}  steps read out of scripts")
    yield Text()
    for title, counter in (("tools", found.tools), ("programs", found.programs)):
        if some := _listed(counter):
            yield Text(f"{title:<8}   {some}")
    for title, counter in (("tools", found.tools_without_kind), ("programs", found.programs_without_kind)):
        if some := _listed(counter):
            yield Text(f"{title} without a kind   {some}", "yellow")
    if unseen:
        yield Text()
        yield Text(f"not wholly seen, {unseen}:", "bold yellow")
    for run, events in found.unseen.items():
        some = ", ".join(map(visible, events[:_SHOWN])) + (", …" if events[_SHOWN:] else "")
        yield Text(f"  {shown_path(run)} {some}")
    if found.not_understood:
        yield Text()
        yield Text(f"not wholly understood, {len(found.not_understood)}:", "bold yellow")
    for run, event, what in found.not_understood:
        yield Text(f"  {shown_path(run)} {visible(event)}: {visible(what)}")


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _share(title: str, part: int, whole: int) -> Text:
    percent = f"{100 * part / whole:.1f} %" if whole else "–"
    return Text(f"{percent:>7}  {title} ({part} of {whole})")


def _listed(counter: Counter[str]) -> str:
    some = [(name, count) for name, count in counter.most_common() if count]
    rest = len(some) - _SHOWN
    shown = ", ".join(f"{visible(name)} {count}" for name, count in some[:_SHOWN])
    return shown + (f", … {rest} more" if rest > 0 else "")

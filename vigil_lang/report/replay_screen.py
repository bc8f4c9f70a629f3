"""Replays as a person reads them: which calls would have been disturbed, what the agent is told, and the sums."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text

from vigil_lang.diagnostics.human import STYLES, hanging
from vigil_lang.diagnostics.shorten import middle
from vigil_lang.diagnostics.visible import shown_path, visible
from vigil_lang.verdict.calls import call_text

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from vigil_lang.enforce.replay_figures import Figures
    from vigil_lang.enforce.replayed import Changed, Decided, Decision, Owing, Replayed
    from vigil_lang.trace import Event

WORDS: dict[Decided, str] = {"block": "blocked", "hold": "held", "warn": "warned", "pass": "passed"}
_STYLES: dict[Decided, str] = {
    "block": STYLES["error"], "hold": STYLES["warning"], "warn": STYLES["info"], "pass": "bold green",
}  # fmt: skip
_PAD = "    "
_IN_FULL = 10
_OWED = 5
_NAMED = 12


def print_replayed(found: Replayed, console: Console) -> bool:
    """A headline, the calls that are disturbed, and what is left at the end; whether it is more than a headline."""
    disturbed = found.disturbed
    console.print(headline(found, console.width))
    lines: list[Text] = []
    for decision in disturbed[:_IN_FULL]:
        lines += [Text(), *_decision(decision, found, console)]
    lines += _rest(disturbed[_IN_FULL:], console)
    lines += _end(found, console)
    _print(lines, console)
    return bool(lines)


def print_changed(found: Changed, console: Console) -> bool:
    """A headline, and the calls on which the two sets of policies decide differently; whether there are any."""
    changes = found.decisions
    console.print(_changed_headline(found, len(changes)))
    lines: list[Text] = []
    for change in changes[:_IN_FULL]:
        lines.append(Text())
        if change.now is None:
            lines.append(Text(f"{_PAD}{_event(change.before)}  is left out with the call that started it"))
            continue
        shown = change.now.shown or (None if change.before is None else change.before.shown)
        was = _was(change.before, found.before)
        lines += _decision(replace(change.now, shown=shown), found.now, console, was=was)
    lines += _rest([change.now or change.before for change in changes[_IN_FULL:]], console)
    appeared, gone = found.violated
    told = [("violated now", appeared), ("violated no more", gone)]
    if any(names for _, names in told):
        lines.append(Text())
    for what, names in told:
        if names:
            lines += hanging(console, Text(f"{_PAD}{what}: "), ", ".join(map(visible, names)))
    _print(lines, console)
    return bool(lines)


def headline(found: Replayed, width: int | None = None) -> Text:
    """`blocked  run.jsonl · 9 calls · 1 blocked · 1 of 4 statements violated`, broken between facts to a `width`."""
    summary = found.summary
    strongest: Decided = next((decided for decided in WORDS if summary[decided]), "pass")
    facts = [_many(len(found.decisions), "call")]
    facts += [f"{summary[decided]} {word}" for decided, word in WORDS.items() if decided != "pass" and summary[decided]]
    facts += [] if found.disturbed else ["none disturbed"]
    if found.run.not_executed:
        facts.append(f"{found.run.not_executed} not executed")
    if found.violated:
        facts.append(f"{len(found.violated)} of {_many(len(found.statements), 'statement')} violated")
    if found.owed:
        facts.append(f"{len(found.owed)} owed")
    if doubt := found.seen.told():
        facts.append(doubt)
    if found.violated and not found.disturbed:
        return _headline("violated", STYLES["error"], found.run.path, facts, width)
    return _headline(WORDS[strongest], _STYLES[strongest], found.run.path, facts, width)


def print_figures(figures: Figures, console: Console, *, broken: int = 0, unused_labels: int = 0) -> None:
    """The table by statement, and what is to be said of all runs together."""
    lines = [Text(), *_table(figures, console.width)] if figures.runs else []
    lines.append(Text())
    for text in totals(figures, broken, unused_labels):
        lines += hanging(console, Text(), text, "bold" if len(lines) and lines[-1].plain == "" else "")
    if figures.microseconds:
        times = [figures.microseconds_at(share) for share in (0.5, 0.99, 1)]
        p50, p99, most = map(_duration, times)
        lines.append(Text(f"time per decision: {p50} (p50), {p99} (p99), {most} (max)", "dim"))
    _print(lines, console)


def totals(figures: Figures, broken: int = 0, unused_labels: int = 0) -> Iterator[str]:
    """The sums in words, a line each: runs, labels, confirmations."""
    quiet = figures.runs - figures.disturbed
    parts = [(figures.disturbed, "disturbed"), (quiet, "undisturbed"), (broken, "not readable")]
    runs = ", ".join(f"{number} {word}" for number, word in parts if number)
    yield f"{_many(figures.runs + broken, 'run')}: {runs} · {_many(figures.calls, 'call')}"
    benign, harmful = figures.labelled["benign"], figures.labelled["harmful"]
    if benign:
        yield f"benign: {_of(figures.touched['benign'], benign)} would have been disturbed"
    if harmful:
        yield f"harmful: {_of(figures.caught['harmful'], harmful)} would have been caught (blocked or held)"
    if unused_labels:
        verb = "names" if unused_labels == 1 else "name"
        yield f"{_many(unused_labels, 'label')} {verb} no run that was replayed"
    yield from _confirmations(figures)


def changed_totals(runs: int, changed: int, calls: Counter[tuple[str, str]], broken: int = 0) -> str:
    """`2 runs: 1 changed, 1 unchanged · calls: 1 passed, now held`; `calls` are by what was and what is decided."""
    parts = [(changed, "changed"), (runs - changed, "unchanged"), (broken, "not readable")]
    told = ", ".join(f"{number} {word}" for number, word in parts if number)
    some = "; ".join(
        f"{number} {was}, now {now if was != now else 'by other statements'}"
        for (was, now), number in sorted(calls.items())
    )
    return f"{_many(runs + broken, 'run')}: {told}" + (f" · calls: {some}" if some else "")


def rows(figures: Figures) -> list[list[str]]:
    """The table by statement, with its head; a row for each statement that did something."""
    names = [name for _, name in figures.statements]
    found = [["statement", "blocked", "held", "warned", "owed", "violated", "runs disturbed"]]
    for (policy, name), of in figures.statements.items():
        numbers = [of.calls["block"], of.calls["hold"], of.calls["warn"], of.owed, of.violated, of.disturbed]
        if any(numbers):
            shown = name if names.count(name) == 1 else f"{name} ({shown_path(policy)})"
            found.append([shown, *map(str, numbers[:-1]), f"{of.disturbed} of {figures.runs}"])
    return found


# --- parts --------------------------------------------------------------------------------------------------


def _print(lines: Iterable[Text], console: Console) -> None:
    for line in lines:
        line.rstrip()
        console.print(line)


def _headline(word: str, style: str, path: str, facts: Sequence[str], width: int | None) -> Text:
    word = f"{word:<{len('violated')}}"
    line = Text.assemble((word, style), "  ", (shown_path(path), "bold"))
    used = line.cell_len
    for fact in facts:
        separator = " · "
        used += len(separator) + len(fact)
        if width is not None and used > width:
            separator = "\n" + " " * (len(word) + 2)
            used = len(separator) - 1 + len(fact)
        line.append(separator + fact)
    return line


def _changed_headline(found: Changed, changes: int) -> Text:
    if not found:
        return _headline("same", _STYLES["pass"], found.now.run.path, [_many(len(found.now.decisions), "call")], None)
    facts = [_many(len(found.now.decisions), "call"), f"{changes} decided differently"]
    return _headline("changed", STYLES["warning"], found.now.run.path, facts, None)


def _was(before: Decision | None, of: Replayed) -> str:
    if before is None:
        return "left out"
    return f"{WORDS[before.decided]}{_by(before, of)}"


def _by(decision: Decision, of: Replayed) -> str:
    names = ", ".join(visible(of.statements[reason.statement].name) for reason in decision.reasons)
    return f": {names}" if names else ""


def _event(decision: Decision | None) -> str:
    return middle(decision.events[0], 24) if decision is not None and decision.events else ""


def _decision(decision: Decision, of: Replayed, console: Console, *, was: str | None = None) -> Iterator[Text]:
    head = Text.assemble(_PAD, (_event(decision), _STYLES[decision.decided]), "  ")
    if decision.shown is not None:
        yield Text.assemble(head, _call(decision.shown, console.width - head.cell_len))
    else:
        yield head
    said = f"{WORDS[decision.decided]}{_by(decision, of)}"
    confirmed = sum(reason.solver is not None for reason in decision.reasons)
    said += f" (confirmed by Z3: {confirmed} of {len(decision.reasons)})" if confirmed else ""
    said += "" if decision.executed else "; the recording shows that it was refused"
    said += "" if was is None else f"; was {was}"
    yield from hanging(console, Text(_PAD * 2), said, _STYLES[decision.decided])
    if decision.told:
        yield from hanging(console, Text(f"{_PAD * 2}told: ", "dim"), decision.told)


def _call(event: Event, room: int) -> Text:
    """The call as it was proposed: how it ended was not known."""
    ending = f" → {event.status}"
    text = call_text(event, room + len(ending))
    text.right_crop(len(ending))
    return text


def _rest(more: Sequence[Decision | None], console: Console) -> Iterator[Text]:
    if more:
        yield Text()
        some = ", ".join(map(_event, more[:_NAMED])) + (", …" if len(more) > _NAMED else "")
        yield from hanging(console, Text(f"{_PAD}and {len(more)} more: "), some)


def _end(found: Replayed, console: Console) -> Iterator[Text]:
    if not (found.violated or found.owed or found.unjudged):
        return
    yield Text()
    yield Text(f"{_PAD}at the end", "bold")
    if found.violated:
        open_ones = {owing.statement for owing in found.owed}
        unforeseen = found.unforeseen
        for reason in unforeseen:
            if reason.statement in open_ones:
                continue
            told = f"{found.statements[reason.statement].name} at {reason.event}: {reason.message}"
            yield from hanging(console, Text(f"{_PAD * 2}violated: "), told)
        names = [found.statements[r.statement].name for r in found.violated if r not in unforeseen]
        if names:
            yield from hanging(console, Text(f"{_PAD * 2}violated: "), ", ".join(names))
    for owing in found.owed[:_OWED]:
        yield from hanging(console, Text(f"{_PAD * 2}owed: "), _owed(owing, found))
    if len(found.owed) > _OWED:
        yield Text(f"{_PAD * 2}and {len(found.owed) - _OWED} more owed")
    for at, why in found.unjudged:
        yield from hanging(console, Text(f"{_PAD * 2}cannot be judged: "), f"{found.statements[at].name}: {why}")


def _owed(owing: Owing, found: Replayed) -> str:
    return f"{found.statements[owing.statement].name}: {owing.message}"


def _table(figures: Figures, width: int) -> Iterator[Text]:
    table = rows(figures)
    if len(table) == 1:
        yield Text("no statement would have disturbed a call, and none is violated or owes anything")
        return
    numbers = [max(len(row[column]) for row in table) for column in range(1, len(table[0]))]
    room = max(12, width - sum(number + 2 for number in numbers))
    first = min(room, max(len(visible(row[0])) for row in table))
    for at, row in enumerate(table):
        cells = [f"{middle(row[0], first):<{first}}"]
        cells += [f"{cell:>{number}}" for cell, number in zip(row[1:], numbers, strict=True)]
        yield Text("  ".join(cells), "bold" if at == 0 else "")
    quiet = len(figures.statements) - len(table) + 1
    if quiet:
        yield Text(f"and {_many(quiet, 'statement')} without effect", "dim")


def _confirmations(figures: Figures) -> Iterator[str]:
    asked = figures.confirmations
    if not asked.timed and not asked.untimed:
        if figures.runs:
            yield "confirmations: none would have been asked for"
        return
    if asked.days:
        most = f", {asked.most} at most ({asked.busiest})" if asked.busiest is not None else ""
        days = _many(asked.days, "day")
        yield f"confirmations: {asked.timed} on {days} with calls, {asked.timed / asked.days:.1f} a day{most}"
    if asked.untimed_runs:
        runs = f"{_many(asked.untimed_runs, 'run')} without times"
        yield f"confirmations: {asked.untimed} in {runs}, {asked.untimed / asked.untimed_runs:.1f} a run"


def _of(number: int, total: int) -> str:
    return f"{number} of {_many(total, 'run')} ({number / total:.0%})"


def _duration(microseconds: int) -> str:
    if microseconds < 1_000:
        return f"{microseconds} µs"
    return f"{microseconds / 1_000:.1f} ms" if microseconds < 1_000_000 else f"{microseconds / 1_000_000:.1f} s"


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"

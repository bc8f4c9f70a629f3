"""A verdict as a person reads it: which rule, which call, why, and what happened around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from vigil_lang.diagnostics.human import STYLES, hanging
from vigil_lang.diagnostics.shorten import cut, fit, middle
from vigil_lang.diagnostics.visible import shown_path, visible
from vigil_lang.verdict.calls import call_text
from vigil_lang.verdict.spots import spots
from vigil_lang.verdict.surroundings import arguments_read, surroundings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from vigil_lang.trace import Trace
    from vigil_lang.verdict.verdict import Offence, StatementVerdict, Verdict

_IN_FULL = 3
_MARKS = {"at fault": "▶", "also at fault": "✗", "noted": "~", "around": " "}
_CLEAN = 4
"""Runs that are safe, one after the other, that have a line each."""
_FORM_LINES = 8
_FORM_LINE = 400
"""Code points of a line of a form that are shown."""
_CALL_LINES = 4
_SENTENCE = 600
"""Code points of a cited sentence that are shown."""
_PAD = "    "


def print_verdict(verdict: Verdict, console: Console, *, alone: bool = True, in_full: int = _IN_FULL) -> None:
    """One run's verdict. Statements that hold are listed only where the run stands `alone`.

    Of each statement `in_full` offences are shown with what is around them, the others by name.
    """
    console.print(headline(verdict, width=console.width) if alone else headline(verdict, column=len("unsafe")))
    violated = [s for s in verdict.statements if s.verdict == "violated"]
    for statement in violated:
        console.print()
        for line in violation(statement, verdict.trace, console, in_full):
            console.print(line)
    if violated and not alone:
        console.print()
    held = [s for s in verdict.statements if s.verdict == "satisfied"] if alone else []
    if held:
        console.print()
    column = max((len(visible(s.name)) for s in held), default=0)
    for statement in held:
        console.print(_held(statement, column, console.width))


def print_clean(verdicts: Sequence[Verdict], console: Console) -> None:
    """Runs that are safe, one after the other: a line each, or one line where there are many."""
    if len(verdicts) <= _CLEAN:
        for verdict in verdicts:
            console.print(headline(verdict, column=len("unsafe")))
        return
    events = _many(sum(len(verdict.trace) for verdict in verdicts), "event")
    unseen = sum(bool(verdict.seen.unseen) for verdict in verdicts)
    doubts = caveats(sum(verdict.vacuous for verdict in verdicts), unseen)
    first, last = (shown_path(verdicts[at].trace.run.path) for at in (0, -1))
    head = Text.assemble((f"{'safe':<{len('unsafe')}}", "bold green"), "  ")
    facts = " · ".join([events, f"{first} … {last}", *doubts])
    for line in hanging(console, head, Text.assemble((f"{len(verdicts)} runs", "bold"), f" · {facts}")):
        console.print(line)


def told(verdict: Verdict, console: Console, *, in_full: int = 1) -> Iterator[Text]:
    """The statements one below the other: those that hold in a line, of those that are violated some offences."""
    column = max((len(visible(s.name)) for s in verdict.statements), default=0)
    for at, statement in enumerate(verdict.statements):
        if statement.verdict == "violated":
            if at:
                yield Text()
            yield from violation(statement, verdict.trace, console, in_full)
        else:
            yield _held(statement, column, console.width)


def headline(verdict: Verdict, *, column: int = 0, width: int | None = None) -> Text:
    """`unsafe  run.jsonl · 9 events · 1 of 4 statements violated`; the path stands in the same `column` in a list.

    With a `width`, a line that would be longer is broken between two facts.
    """
    total = len(verdict.statements)
    broken = sum(s.verdict == "violated" for s in verdict.statements)
    vacuous = sum(s.vacuous for s in verdict.statements)
    run = verdict.trace.run
    facts = [_many(len(verdict.trace), "event")]
    if run.not_executed:
        facts.append(f"{_many(run.not_executed, 'call')} not executed")
    if broken:
        facts.append(f"{broken} of {_many(total, 'statement')} violated")
    else:
        held = f"{_many(total, 'statement')} {'holds' if total == 1 else 'hold'}"
        nothing = f" vacuously: nothing {'it speaks' if total == 1 else 'they speak'} of happened"
        some = nothing if vacuous == total else f", {vacuous} of them vacuously" if vacuous else ""
        facts.append(held + some)
    if doubt := verdict.seen.told():
        facts.append(doubt)
    style = "bold red" if broken else "bold green"
    word = f"{verdict.verdict:<{column}}"
    line = Text.assemble((word, style), "  ", (shown_path(run.path), "bold"))
    used = line.cell_len
    for fact in facts:
        separator = " · "
        used += len(separator) + len(fact)
        if width is not None and used > width:
            separator = "\n" + " " * (len(word) + 2)
            used = len(separator) - 1 + len(fact)
        line.append(separator + fact)
    return line


def totals(safe: int, unsafe: int, broken: int, *, vacuous: int = 0, unseen: int = 0) -> Text:
    """`3 runs: 1 unsafe, 1 safe, 1 not readable · in 2 not every call is wholly seen`."""
    parts = [
        f"{number} {word}" for number, word in ((unsafe, "unsafe"), (safe, "safe"), (broken, "not readable")) if number
    ]
    doubts = [f" · {text}" for text in caveats(vacuous, unseen)]
    return Text(f"{_many(safe + unsafe + broken, 'run')}: {', '.join(parts)}{''.join(doubts)}", "bold")


def caveats(vacuous: int, unseen: int) -> list[str]:
    """What is to be said beside how many of several runs are safe."""
    told = [f"in {vacuous} nothing the policies speak of happened"] if vacuous else []
    return told + ([f"in {unseen} not every call is wholly seen"] if unseen else [])


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


# --- a statement that is violated --------------------------------------------------------------------------


def violation(found: StatementVerdict, trace: Trace, console: Console, in_full: int) -> Iterator[Text]:
    """A statement that is violated, with so many offences and the calls around them."""
    level = found.statement.metadata.severity
    head = Text.assemble(("✗ ", STYLES[level]), (visible(found.name), "bold"))
    head.append("" if level == "error" else f" ({level})", STYLES[level])
    yield from hanging(console, head.append("  "), _doc(found)) if _doc(found) else (head,)
    yield from _rule(found, console)
    for offence in found.offending[:in_full]:
        yield Text()
        yield from _offence(offence, found, trace, console)
    rest = [visible(o.event) for o in found.offending[in_full:]]
    if rest:
        some = ", ".join(rest[:12]) + (", …" if len(rest) > 12 else "")
        yield Text()
        yield from hanging(console, Text(f"{_PAD}and {len(rest)} more: "), some)


def _doc(found: StatementVerdict) -> str:
    return " ".join((found.statement.metadata.doc or "").split())


def _rule(found: StatementVerdict, console: Console) -> Iterator[Text]:
    """The form as written, where it stands, and the sentence it enforces."""
    statement = found.statement
    form, last = statement.syntax.form, statement.syntax.where or statement.syntax.after or statement.syntax.form
    source, start, end = statement.source, form.span.start, last.span.end
    line, _ = source.position(start)
    own = source.line(line)
    indent = own[: len(own) - len(own.lstrip())]
    lines = [part.removeprefix(indent) for part in source.text[start:end].splitlines()]
    for part in lines[:_FORM_LINES]:
        yield from hanging(console, Text(_PAD), cut(part.replace("\t", _PAD), _FORM_LINE), "cyan")
    if len(lines) > _FORM_LINES:
        yield Text(f"{_PAD}…", "cyan")
    yield Text(f"{_PAD}{shown_path(source.path)}:{line}", "dim")
    for file, sentence in statement.metadata.cites:
        yield from hanging(console, Text(f"{_PAD}{visible(file)}: ", "dim"), f'"{cut(sentence, _SENTENCE)}"', "italic")


# --- an offence --------------------------------------------------------------------------------------------


def _offence(offence: Offence, found: StatementVerdict, trace: Trace, console: Console) -> Iterator[Text]:
    head = Text.assemble(_PAD, (middle(offence.event, 24), STYLES[found.statement.metadata.severity]), "  ")
    yield from hanging(console, head, offence.message, "bold")
    if offence.why != offence.message:
        yield from hanging(console, Text(" " * head.cell_len), offence.why)
    yield Text()
    yield from _surroundings(offence, found, trace, console)


def _surroundings(offence: Offence, found: StatementVerdict, trace: Trace, console: Console) -> Iterator[Text]:
    """The run around an event at fault, with the events that come into its explanation."""
    at = offence.index
    others = [o for o in found.offending if o is not offence]
    steps = surroundings(offence, trace, others)
    shown = [step.place for step in steps]
    call = next(place for place, event in enumerate(trace.events) if event.call == offence.call)
    telling = arguments_read(found.statement)
    ids = {place: middle(trace.events[place].id, 24) for place in shown}
    column = max(map(len, ids.values()))
    style = STYLES[found.statement.metadata.severity]
    previous = shown[0] - 1
    for place, part, note in steps:
        if place != previous + 1:
            yield Text(f"{_PAD}  ⋮", "dim")
        previous = place
        mark = _MARKS[part]
        sign = (mark, "yellow" if mark == "~" else style if mark.strip() else "")
        head = Text.assemble(_PAD, sign, " ", (f"{ids[place]:<{column}}", style if place == at else ""), "  ")
        room = max(console.width - head.cell_len, 20)
        if place == at:
            found_in = spots(found.statement, trace.events[place], offence.bindings)
            text = call_text(trace.events[place], room * _CALL_LINES - room // 2, telling, found_in)
            text.stylize_before(style)
            yield from hanging(console, head, text)
            if excerpt := trace.events[place].extra.get("excerpt"):
                line = trace.events[place].extra.get("line")
                where = f"line {line}: " if line is not None else ""
                yield from hanging(console, Text(" " * head.cell_len), f"{where}{middle(str(excerpt), 120)}", "dim")
        else:
            text = call_text(trace.events[place], room, telling)
            text.stylize_before("" if note is not None or place == call else "dim")
            yield Text.assemble(head, text)
        if note is not None:
            yield from hanging(console, Text(" " * head.cell_len), note, "yellow" if mark == "~" else style)


# --- a statement that holds --------------------------------------------------------------------------------


def _held(found: StatementVerdict, column: int, width: int) -> Text:
    name = visible(found.name).ljust(column)
    if found.vacuous:
        line = Text(f"○ {name}  held vacuously: nothing met its trigger", "dim")
    else:
        line = Text.assemble(("✓ ", "green"), name, "  ", (visible(_doc(found)), "dim"))
    fit(line, width)
    line.rstrip()
    return line

"""Findings as a person reads them: what, where in the text, and how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from vigil_lang.diagnostics.excerpt import TAB, excerpt
from vigil_lang.diagnostics.model import apply_edits
from vigil_lang.diagnostics.visible import shown_path, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from vigil_lang.diagnostics.model import Diagnostic, Fix, Source, Span

STYLES = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}
_FRAME = "blue"
_FIX_LINES = 6


def print_findings(findings: Iterable[Diagnostic], console: Console, *, summary: bool = True) -> None:
    """Every finding with its excerpt and, below them, how many there are."""
    found = list(findings)
    lines: list[Text] = []
    for finding in found:
        lines += [*_finding(finding, console), Text()]
    if summary and found:
        lines.append(Text(count(found), "bold"))
    if lines:
        console.print(Text("\n").join(lines))  # at once: each print asks the terminal anew what it can do


def count(findings: Sequence[Diagnostic]) -> str:
    """`2 errors, 1 warning`."""
    levels = [("error", "errors"), ("warning", "warnings"), ("info", "notes")]
    numbers = [(sum(f.severity == level for f in findings), level, many) for level, many in levels]
    return ", ".join(f"{n} {('note' if one == 'info' else one) if n == 1 else many}" for n, one, many in numbers if n)


def hanging(
    console: Console, head: Text, text: str | Text, style: str = "", *, width: int | None = None
) -> Iterator[Text]:
    """A head with a text beside it; the text's further lines start below its first."""
    room = max((width or console.width) - head.cell_len, 20)
    body = Text(visible(text), style) if isinstance(text, str) else text
    for n, line in enumerate(body.wrap(console, room) or [body]):
        line.rstrip()
        yield Text.assemble(head if n == 0 else " " * head.cell_len, line)


def _finding(found: Diagnostic, console: Console) -> Iterator[Text]:
    style = STYLES[found.severity]
    places = [(found.source, found.span), *((note.source, note.span) for note in found.notes)]
    gutter = max(len(str(source.position(span.end)[0])) for source, span in places)
    head = Text.assemble((f"{found.severity}[{found.code}]", style), (": ", "bold"))
    yield from hanging(console, head, found.message, "bold", width=max(console.width, 60))
    if found.source.text or f"`{found.source.path}`" not in found.message:
        yield from _place(found.source, found.span, gutter, console, style)
    pad = " " * (gutter + 1)
    if found.help:
        yield from hanging(console, Text.assemble((f"{pad}= ", _FRAME), ("help: ", "bold")), found.help)
    if found.fix:
        yield from _fix(found.source, found.fix, pad, console)
    for note in found.notes:
        yield from hanging(console, Text("note: ", "bold green"), note.message)
        yield from _place(note.source, note.span, gutter, console, "bold green", "-")


def _place(source: Source, span: Span, gutter: int, console: Console, style: str, mark: str = "^") -> Iterator[Text]:
    line, column = source.position(span.start)
    where = f"{shown_path(source.path)}:{line}:{column}" if source.text else shown_path(source.path)
    yield Text.assemble((f"{' ' * gutter}--> ", _FRAME), where)
    if not source.text:
        return
    yield Text(f"{' ' * gutter} |", _FRAME)
    for row in excerpt(source, span, max(console.width - gutter - 3, 20), mark):
        number = "" if row.number is None else str(row.number)
        shown = Text.assemble((f"{number:>{gutter}} | ", _FRAME), (row.bar, style))
        shown.append(row.text, style if row.number is None else "")
        shown.rstrip()
        yield shown


def _fix(source: Source, fix: Fix, pad: str, console: Console) -> Iterator[Text]:
    """The fix's title and, as a small diff, the lines it changes."""
    head = Text.assemble((f"{pad}= ", _FRAME), ("fix: ", "bold"))
    yield from hanging(console, head, fix.title + ("" if fix.safe else " (may change what the policy means)"))
    before, after = _changed(source, fix)
    if len(before) + len(after) > _FIX_LINES:
        return
    for sign, style, lines in (("-", "red", before), ("+", "green", after)):
        for line in lines:
            shown = Text(f"{pad}  {sign} {visible(line.replace(chr(9), TAB))}", style)
            shown.truncate(console.width, overflow="ellipsis")
            yield shown


def _changed(source: Source, fix: Fix) -> tuple[list[str], list[str]]:
    """The lines that the edits touch, as they are and as they would be."""
    old = source.text.split("\n")
    new = apply_edits(source.text, fix.edits).split("\n")
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return old[head : len(old) - tail], new[head : len(new) - tail]

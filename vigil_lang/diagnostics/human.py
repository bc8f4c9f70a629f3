"""Findings as a person reads them: what, where in the text, and how to mend it."""

from __future__ import annotations

from bisect import bisect_right
from itertools import takewhile
from typing import TYPE_CHECKING, TypeAlias

from rich.text import Text

from vigil_lang.diagnostics.diagnostic import apply_edits
from vigil_lang.diagnostics.excerpt import cells, excerpt, fit
from vigil_lang.diagnostics.visible import shown_path, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from vigil_lang.diagnostics.diagnostic import Diagnostic, Fix, Source, Span

STYLES = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}
_FRAME = "blue"
_FIX_LINES = 6
_LACKING = frozenset({"VGL401", "VGL402", "VGL405", "VGL406", "VGL408", "VGL409"})
"""What a signature lacks: held against one run, a policy about many hazards has such a finding for most of them."""
_ALIKE = 3
_LINES_NAMED = 12

Line: TypeAlias = "list[tuple[str, str]]"
"""A line as texts with their styles: there may be hundreds of thousands, and few are shown in colours."""


def print_findings(findings: Iterable[Diagnostic], console: Console, *, summary: bool = True) -> None:
    """Every finding with its excerpt and, below them, how many there are."""
    found = list(findings)
    width = console.width  # asks the terminal
    lines: list[Line] = []
    for finding, alike in _folded(found):
        lines += _finding(finding, console, width)
        if alike:
            lines += _others(alike, console, width)
        lines.append([])
    if summary and found:
        lines.append([(count(found), "bold")])
    if lines:
        print_lines(lines, console)
        console.file.flush()


def _folded(found: Sequence[Diagnostic]) -> Iterator[tuple[Diagnostic, list[Diagnostic]]]:
    """Findings in order; of many about what one signature lacks the first alone, with the others that it stands for."""
    groups: dict[tuple[str, str, str], list[Diagnostic]] = {}
    for finding in found:
        if finding.code in _LACKING and not (finding.help or finding.fix):
            groups.setdefault((finding.code, finding.severity, finding.source.path), []).append(finding)
    folded = {id(group[0]): group[1:] for group in groups.values() if len(group) > _ALIKE}
    hidden = {id(finding) for others in folded.values() for finding in others}
    for finding in found:
        if id(finding) not in hidden:
            yield finding, folded.get(id(finding), [])


def _others(alike: Sequence[Diagnostic], console: Console, width: int) -> Iterator[Line]:
    numbers = list(dict.fromkeys(str(f.source.position(f.span.start)[0]) for f in alike))
    shown = ", ".join(numbers[:_LINES_NAMED]) + (", …" if len(numbers) > _LINES_NAMED else "")
    text = f"{len(alike)} more {alike[0].code} in this file, on lines {shown}; `--format concise` has each"
    yield from beside(console, [("note: ", "bold green")], text, width)


def print_lines(lines: Sequence[Line], console: Console) -> None:
    """Lines as they are; where there are no colours it costs what writing them costs."""
    if console.color_system is None:
        console.file.write("\n".join(["".join([text for text, _ in line]) for line in lines]) + "\n")
    else:  # at once: each print asks the terminal anew what it can do
        console.print(Text("\n").join(Text.assemble(*line) for line in lines))


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


def _finding(found: Diagnostic, console: Console, width: int) -> Iterator[Line]:
    style = STYLES[found.severity]
    places = [(found.source, found.span), *((note.source, note.span) for note in found.notes)]
    gutter = max([len(str(source.position(span.end)[0])) for source, span in places])
    head = [(f"{found.severity}[{found.code}]", style), (": ", "bold")]
    yield from beside(console, head, found.message, max(width, 60), "bold")
    if found.source.text or f"`{found.source.path}`" not in found.message:
        yield from _place(found.source, found.span, gutter, width, style)
    pad = " " * (gutter + 1)
    if found.help:
        yield from beside(console, [(f"{pad}= ", _FRAME), ("help: ", "bold")], found.help, width)
    if found.fix:
        head = [(f"{pad}= ", _FRAME), ("fix: ", "bold")]
        title = found.fix.title + ("" if found.fix.safe else " (may change what the policy means)")
        yield from beside(console, head, title, width)
        yield from _difference(found.source, found.fix, pad, width)
    for note in found.notes:
        yield from beside(console, [("note: ", "bold green")], note.message, width)
        yield from _place(note.source, note.span, gutter, width, "bold green", "-")


def beside(console: Console, head: Line, text: str, width: int, style: str = "") -> Iterator[Line]:
    """What `hanging` yields, as texts with styles; most texts fit beside the head."""
    shown, used = visible(text), sum([cells(part) for part, _ in head])
    if cells(shown) <= max(width - used, 20):
        yield [*head, (shown.rstrip(), style)]
        return
    for n, line in enumerate(Text(shown).wrap(console, max(width - used, 20))):
        yield [*(head if n == 0 else [(" " * used, "")]), (line.plain.rstrip(), style)]


def _place(source: Source, span: Span, gutter: int, width: int, style: str, mark: str = "^") -> Iterator[Line]:
    line, column = source.position(span.start)
    where = f"{shown_path(source.path)}:{line}:{column}" if source.text else shown_path(source.path)
    yield [(f"{' ' * gutter}--> ", _FRAME), (where, "")]
    if not source.text:
        return
    yield [(f"{' ' * gutter} |", _FRAME)]
    for row in excerpt(source, span, max(width - gutter - 3, 20), mark):
        number = "" if row.number is None else str(row.number)
        yield _stripped(
            [(f"{number:>{gutter}} | ", _FRAME), (row.bar, style), (row.text, style if row.number is None else "")]
        )


def _stripped(line: Line) -> Line:
    """A line without the white space at its end."""
    while line:
        text, style = line.pop()
        if kept := text.rstrip():
            return [*line, (kept, style)]
    return line


def _difference(source: Source, fix: Fix, pad: str, width: int) -> Iterator[Line]:
    """As a small diff, the lines a fix changes."""
    before, after = _changed(source, fix)
    if len(before) + len(after) > _FIX_LINES:
        return
    for sign, style, lines, others in (("-", "red", before, after), ("+", "green", after, before)):
        head = f"{pad}  {sign} "
        for n, line in enumerate(lines):
            start, end = _differing(line, others[n] if n < len(others) else "")
            shown, _, _ = fit(line, start, end, max(width - len(head), 20))
            yield [(head + shown, style)]


def _differing(line: str, other: str) -> tuple[int, int]:
    """Where a line differs from another: what they have in common before and behind is left out."""
    start = _common(line, other)
    return start, len(line) - _common(line[start:][::-1], other[start:][::-1])


def _common(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _changed(source: Source, fix: Fix) -> tuple[list[str], list[str]]:
    """The lines that the edits touch, as they are and as they would be."""
    old = source.text.split("\n")
    new = apply_edits(source.text, fix.edits).split("\n")
    touched = [bisect_right(source.line_starts, at) for edit in fix.edits for at in edit.span]
    head = min(touched, default=1) - 1
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = min(len(old) - max(touched, default=0), len(old) - head, len(new) - head)
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return old[head : len(old) - tail], new[head : len(new) - tail]

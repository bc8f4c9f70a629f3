"""Coverage for people at a terminal, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from vigil_lang.diagnostics.human import hanging
from vigil_lang.diagnostics.shorten import cut_middle
from vigil_lang.diagnostics.visible import shown_path, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from vigil_lang.testing.coverage import Coverage, FileCoverage, Part
    from vigil_lang.testing.coverage_points import Seen

WORDS: dict[Seen, str] = {
    "satisfied": "never satisfied by a run that puts it to the test",
    "violated": "never violated",
    "exercised": "never put to the test",
    "true": "never true",
    "false": "never false",
    "decides": "never false while everything beside it is true",
}
_SHOWN = 200
_TEXT = 44


def print_coverage(coverage: Coverage, console: Console) -> None:
    """A table of the files, then what no test shows, file by file."""
    lines = [*_table(coverage)]
    for file in coverage.files:
        missing = [part for part in file.parts if part.missing]
        if missing:
            lines += [Text(), Text(shown_path(file.source.path), "bold"), *_missing(missing, file, console)]
    if not coverage.complete:
        lines += [Text(), Text("the runs are too long to look at all of their events", "yellow")]
    for line in lines:
        console.print(line)


def percent(value: float) -> str:
    """A whole percentage, rounded down: what is not complete is never shown as 100."""
    return f"{int(value)} %"


def missing_words(part: Part) -> str:
    """What is missing of a part, in words."""
    missing = part.missing
    if part.kind == "statement" and not part.seen:
        return WORDS["exercised"]
    if missing == ("true", "false"):
        return "never looked at"
    return ", ".join(WORDS[seen] for seen in missing)


def coverage_json(coverage: Coverage) -> dict[str, Any]:
    """The `vigil.coverage/1` object."""
    seen, wanted = coverage.counted
    return {
        "schema": "vigil.coverage/1",
        "percent": round(coverage.percent, 2),
        "seen": seen,
        "wanted": wanted,
        "complete": coverage.complete,
        "files": [_file(file) for file in coverage.files],
    }


def _table(coverage: Coverage) -> Iterator[Text]:
    rows = [(shown_path(f.source.path), *f.counted, f.percent) for f in coverage.files]
    if len(rows) != 1:
        rows.append(("all files", *coverage.counted, coverage.percent))
    column = max(len("file"), *(len(path) for path, *_ in rows))
    yield Text(f"{'file':<{column}}    seen  coverage", "dim")
    for path, seen, wanted, share in rows:
        style = "green" if seen == wanted else "yellow" if share >= 50 else "red"
        yield Text.assemble(f"{path:<{column}} {f'{seen}/{wanted}':>7}  ", (f"{percent(share):>8}", style))


def _missing(parts: Sequence[Part], file: FileCoverage, console: Console) -> Iterator[Text]:
    places = [":".join(map(str, file.source.position(part.span.start))) for part in parts[:_SHOWN]]
    texts = [shortened(part.text) for part in parts[:_SHOWN]]
    where, what = max(map(len, places)), max(map(len, texts))
    for part, place, text in zip(parts, places, texts, strict=False):
        name = "bold" if part.kind == "statement" else ""
        head = Text.assemble((f"  {place:>{where}}  ", "blue"), (f"{text:<{what}}", name), "  ")
        yield from hanging(console, head, missing_words(part))
    if len(parts) > _SHOWN:
        yield Text(f"  … and {len(parts) - _SHOWN} more")


def shortened(text: str, room: int = _TEXT) -> str:
    """A part on one line, cut in the middle where it is long."""
    return cut_middle(visible(text), room)


def _file(file: FileCoverage) -> dict[str, Any]:
    seen, wanted = file.counted
    return {
        "file": file.source.path,
        "percent": round(file.percent, 2),
        "seen": seen,
        "wanted": wanted,
        "parts": [_part(part, file) for part in file.parts],
    }


def _part(part: Part, file: FileCoverage) -> dict[str, Any]:
    start, end = file.source.position(part.span.start), file.source.position(part.span.end)
    return {
        "kind": part.kind,
        "text": part.text,
        "start": {"line": start[0], "column": start[1]},
        "end": {"line": end[0], "column": end[1]},
        "wanted": list(part.wanted),
        "seen": list(part.seen),
    }

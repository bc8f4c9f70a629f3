"""A program in a terminal of a fixed size (tmux is the terminal), and what stands on its screen as an SVG."""

from __future__ import annotations

import os
import re
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

COLUMNS, LINES = 120, 32
SECONDS = 60
"""How long is waited for what should come to stand on the screen."""

_NAME = "tmux-pictures"  # Emacs knows by the first part what to make of it
# What tmux knows about itself, and what many terminals know besides: curly and coloured underlines, all colours.
_TERMINFO = (
    f"{_NAME}|a terminal with curly underlines,use=tmux-256color,Tc,Su,\n"
    "\tSmulx=\\E[4\\:%p1%dm,Setulc=\\E[58\\:2\\:\\:%p1%{65536}%/%d\\:%p1%{256}%/%{255}%&%d\\:%p1%{255}%&%dm,ol=\\E[59m,\n"
)


class NotShown(Exception):
    """What was waited for never came to stand on the screen; with the screen as it is."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a cell looks; colours are `#rrggbb`, empty where they are the terminal's own."""

    front: str = ""
    back: str = ""
    bold: bool = False
    faint: bool = False
    italic: bool = False
    struck: bool = False
    reverse: bool = False
    underline: int = 0
    """0: none, 1: straight, 2: double, 3: curly, 4: dotted, 5: dashed."""
    underline_colour: str = ""


class Terminal:
    """A program that runs in a terminal."""

    def __init__(self, tmux: Path, socket: Path) -> None:
        self._tmux = (str(tmux), "-S", str(socket), "-f", os.devnull)

    def send(self, *keys: str) -> None:
        """Press keys, each as tmux names it (`Escape`, `C-x`, `Enter`); what is no name is typed."""
        self._run("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type a text as it stands."""
        self._run("send-keys", "-l", text)

    def text(self) -> str:
        """What stands on the screen."""
        return self._run("capture-pane", "-p")

    def wait(self, shown: str | Callable[[str], bool], settled: float = 0.6) -> None:
        """Wait until a text is shown (or what is asked of the screen is so), and the screen has been still for a while.

        Raises:
            NotShown: it never was.
        """
        is_there = shown if callable(shown) else lambda text: shown in text
        end = time.monotonic() + SECONDS
        last, since = "", time.monotonic()
        while time.monotonic() < end:
            now = self._run("capture-pane", "-p", "-e")
            if now != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since >= settled and is_there(self.text()):
                return
            time.sleep(0.05)
        raise NotShown(f"{shown} is not shown:\n{self.text()}")

    def screen(self) -> list[list[tuple[str, Style]]]:
        """The screen: its lines, each of its characters with their styles."""
        return _cells(self._run("capture-pane", "-p", "-e", "-N"))

    def cursor(self) -> tuple[int, int] | None:
        """Column and line of the cursor, from 0; None where it is hidden."""
        flag, column, line = self._run("display-message", "-p", "#{cursor_flag} #{cursor_x} #{cursor_y}").split()
        return (int(column), int(line)) if flag == "1" else None

    def _run(self, *command: str) -> str:
        done = subprocess.run(
            (*self._tmux, *command), capture_output=True, encoding="utf-8", timeout=SECONDS, check=True
        )
        return done.stdout


@contextmanager
def terminal(
    tmux: Path, work: Path, folder: Path, command: list[str], environment: dict[str, str]
) -> Iterator[Terminal]:
    """Start a program in `folder`; afterwards it is ended. `work` is a folder of our own for what this needs."""
    source = work / "terminfo.src"
    source.write_text(_TERMINFO, encoding="ascii")
    subprocess.run(["tic", "-x", "-o", str(work / "terminfo"), str(source)], check=True, capture_output=True)
    started = Terminal(tmux, work / "tmux")
    variables = {
        **environment,
        "TERMINFO": str(work / "terminfo"),
        "TERMINFO_DIRS": "/lib/terminfo:/usr/share/terminfo:/etc/terminfo",
        "COLORTERM": "truecolor",
        "LC_ALL": "C.UTF-8",
    }
    options = (("status", "off"), ("default-terminal", _NAME), ("escape-time", "0"), ("remain-on-exit", "on"))
    server = [*started._tmux, *(part for name, value in options for part in ("set-option", "-g", name, value, ";"))]
    size = ["-x", str(COLUMNS), "-y", str(LINES)]
    subprocess.run(
        [*server, "new-session", "-d", *size, "-c", str(folder), "--", *command],
        env=variables,
        check=True,
        capture_output=True,
        timeout=SECONDS,
    )
    try:
        yield started
    finally:
        subprocess.run([*started._tmux, "kill-server"], check=False, capture_output=True)


# What tmux writes of a screen

_SEQUENCE = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\].*?(?:\x07|\x1b\\)|[\x0e\x0f]|(.)", re.S)
_CUBE = (0, 95, 135, 175, 215, 255)
_BASIC = (
    *("000000", "cd3131", "0dbc79", "e5e510", "2472c8", "bc3fbc", "11a8cd", "e5e5e5"),
    *("666666", "f14c4c", "23d18b", "f5f543", "3b8eea", "d670d6", "29b8db", "ffffff"),
)


def _cells(captured: str) -> list[list[tuple[str, Style]]]:
    style = Style()
    lines = []
    for line in captured.removesuffix("\n").split("\n"):
        cells = []
        for found in _SEQUENCE.finditer(line):
            if found[1] is not None:
                style = _changed(style, found[1])
            elif found[2] is not None:
                cells.append((found[2], style))
        lines.append(cells)
    return lines


def _changed(style: Style, codes: str) -> Style:
    """A style after a sequence of codes, as `1;38;2;255;0;0` or `4:3`."""
    parts = [part.split(":") for part in codes.split(";")]
    while parts:
        first, *within = parts.pop(0)
        code = int(first or 0)
        if code in (38, 48, 58):
            if not within:  # the parts stand between semicolons
                count = 4 if parts[0] == ["2"] else 2
                within, parts = [part[0] for part in parts[:count]], parts[count:]
            name = {38: "front", 48: "back", 58: "underline_colour"}[code]
            style = replace(style, **{name: _colour([int(part) for part in within if part])})
        elif code == 4:
            style = replace(style, underline=int(within[0]) if within else 1)
        else:
            style = _plain(style, code)
    return style


def _colour(parts: list[int]) -> str:
    kind, *values = parts
    if kind == 2:
        return "#{:02x}{:02x}{:02x}".format(*values[-3:])
    number = values[0]
    if number < 16:
        return f"#{_BASIC[number]}"
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    number -= 16
    return f"#{_CUBE[number // 36]:02x}{_CUBE[number // 6 % 6]:02x}{_CUBE[number % 6]:02x}"


def _plain(style: Style, code: int) -> Style:
    match code:
        case 0:
            return Style()
        case 1:
            return replace(style, bold=True)
        case 2:
            return replace(style, faint=True)
        case 3:
            return replace(style, italic=True)
        case 7:
            return replace(style, reverse=True)
        case 9:
            return replace(style, struck=True)
        case 22:
            return replace(style, bold=False, faint=False)
        case 23:
            return replace(style, italic=False)
        case 24:
            return replace(style, underline=0)
        case 27:
            return replace(style, reverse=False)
        case 29:
            return replace(style, struck=False)
        case 39:
            return replace(style, front="")
        case 49:
            return replace(style, back="")
        case 59:
            return replace(style, underline_colour="")
        case _ if 30 <= code < 38:
            return replace(style, front=f"#{_BASIC[code - 30]}")
        case _ if 40 <= code < 48:
            return replace(style, back=f"#{_BASIC[code - 40]}")
        case _ if 90 <= code < 98:
            return replace(style, front=f"#{_BASIC[code - 82]}")
        case _ if 100 <= code < 108:
            return replace(style, back=f"#{_BASIC[code - 92]}")
    return style


# A screen as a picture

_WIDTH, _HEIGHT, _BASE, _EDGE = 8.0, 18, 13.5, 8
_FONTS = "'DejaVu Sans Mono', 'JetBrains Mono', Menlo, Consolas, monospace"


def svg(
    screen: list[list[tuple[str, Style]]], cursor: tuple[int, int] | None, *, front: str, back: str, title: str
) -> str:
    """A screen as an SVG: `front` and `back` are the colours of the terminal, `title` says what is seen."""
    width, height = COLUMNS * _WIDTH + 2 * _EDGE, LINES * _HEIGHT + 2 * _EDGE
    boxes: list[str] = []
    marks: list[str] = []
    texts: list[str] = []
    for number, line in enumerate(screen):
        top = _EDGE + number * _HEIGHT
        column = 0
        for style, run in _runs(line, cursor[0] if cursor is not None and cursor[1] == number else None):
            text = "".join(run)
            cells = sum(2 if east_asian_width(character) in "WF" else 1 for character in run)
            left, wide = _EDGE + column * _WIDTH, cells * _WIDTH
            column += cells
            ink, paper = style.front or front, style.back or back
            if style.reverse:
                ink, paper = paper, ink
            if style.faint:
                ink = _between(ink, paper)
            if paper != back:
                boxes.append(f'<rect x="{left:g}" y="{top}" width="{wide:g}" height="{_HEIGHT}" fill="{paper}"/>')
            if style.underline:
                marks.append(_line(style, left, top + _HEIGHT - 3, wide, style.underline_colour or ink))
            if style.struck:
                marks.append(f'<path d="M{left:g} {top + 10}h{wide:g}" stroke="{ink}"/>')
            if text.strip():
                texts.append(_written(text, style, left, top, ink, front))
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height}" font-family="{_FONTS}"'
            f' font-size="13.2" fill="{front}">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width:g}" height="{height}" rx="6" fill="{back}"/>',
            *boxes,
            *(('<g fill="none" stroke-width="1.1">', *marks, "</g>") if marks else ()),
            *texts,
            "</svg>\n",
        )
    )


def _runs(line: list[tuple[str, Style]], cursor: int | None) -> Iterator[tuple[Style, list[str]]]:
    """What of a line has one style and, as far as it is seen, no gap: a font's widths then add up to nothing."""
    if cursor is not None:
        line = line + [(" ", Style())] * (cursor + 1 - len(line))
        text, style = line[cursor]
        line[cursor] = text, replace(style, reverse=not style.reverse)
    for style, cells in groupby(line, key=lambda cell: cell[1]):
        yield style, [text for text, _ in cells]


def _written(text: str, style: Style, left: float, top: int, ink: str, front: str) -> str:
    bare = text.strip()
    left += (len(text) - len(text.lstrip())) * _WIDTH
    cells = sum(2 if east_asian_width(character) in "WF" else 1 for character in bare)
    marks = [f'x="{left:g}"', f'y="{top + _BASE:g}"', f'textLength="{cells * _WIDTH:g}"']
    if ink != front:
        marks.append(f'fill="{ink}"')
    if style.bold:
        marks.append('font-weight="bold"')
    if style.italic:
        marks.append('font-style="italic"')
    return f'<text {" ".join(marks)} xml:space="preserve">{escape(bare, quote=False)}</text>'


def _line(style: Style, left: float, y: float, wide: float, colour: str) -> str:
    if style.underline == 3:
        waves = "".join("q1 -3 2 0t2 0" for _ in range(round(wide / 4)))
        return f'<path d="M{left:g} {y + 1}{waves}" stroke="{colour}"/>'
    dashes = {4: ' stroke-dasharray="1.5 1.5"', 5: ' stroke-dasharray="4 2"'}.get(style.underline, "")
    return f'<path d="M{left:g} {y + 0.5}h{wide:g}" stroke="{colour}"{dashes}/>'


def _between(one: str, other: str) -> str:
    """The colour half way."""
    parts = zip(*(bytes.fromhex(colour.removeprefix("#")) for colour in (one, other)), strict=True)
    return "#{:02x}{:02x}{:02x}".format(*(sum(pair) // 2 for pair in parts))

"""What the tests of reports share: schemas, findings to report, hostile texts, and GitHub's own reading of a log."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note, Source, Span
from vigil_lang.diagnostics.visible import visible

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests/fixtures/report"
POLICY = "tests/fixtures/report/orders.vgl"
RUN = "tests/fixtures/report/orders.jsonl"

# --- findings ----------------------------------------------------------------------------------------------

# Behind a letter beyond the basic plane, columns differ by what they count: 2 UTF-16 units, 4 bytes, 1 code point.
TEXT = 'statement S: abs(a(b = "𐐀") and c(d = x))\nstatement T: prec(p(), q())\r\nstatement T: abs(r())\n'
SOURCE = Source("policies/a b.vgl", TEXT)


def span_of(text: str, within: str = TEXT, *, last: bool = False) -> Span:
    """Where a text stands, its first or its last occurrence."""
    at = within.rindex(text) if last else within.index(text)
    return Span(at, at + len(text))


def findings() -> list[Diagnostic]:
    """One of each kind: with a fix, with a note, over several lines, and about a file that has no text."""
    fix = Fix('write `"x"`', (Edit(span_of("x"), '"x"'),))
    first = Note("first declared here", SOURCE, span_of("T"))
    both = Span(span_of("prec").start, span_of("abs(r").end)
    return [
        Diagnostic.of("VGL301", "`x` occurs only once", SOURCE, span_of("x"), help="a text has quotes", fix=fix),
        Diagnostic.of("VGL202", "`T` is declared twice", SOURCE, span_of("T", last=True), notes=(first,)),
        Diagnostic.of("VGL501", "an extension", SOURCE, both),
        Diagnostic.of("VGL001", "cannot read `no.vgl`", Source("no.vgl", "")),
    ]


unhurried = settings(max_examples=60, deadline=None)
"""For properties: a machine that is busy makes no example wrong."""

# --- hostile texts -----------------------------------------------------------------------------------------

_PIECES = (
    "::error::", "::add-mask::x", "##[error]", "%0A", "%25", "]]>", "<![CDATA[", "<!--", "-->", "<script>", "&lt;",
    "`", "``", "|", "\\|", "\\", '"', "'", "\n", "\r\n", "\x1b[31m", "\x00", "\u202e", "\u2028", "\ufffe", "\uffff",
    "\ud800", "[a](https://x.y)", "![i](x)", "@name", "#1", " ", "é", "𐐀", "/", "..", ":", ",", "=", "~",
)  # fmt: skip
texts = st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=3)), min_size=1, max_size=8).map("".join)
"""Texts that mean something to the formats they are put into."""

paths = texts.map(lambda text: text.replace("\x00", "") or "x").filter(lambda text: text.strip("./ ") != "")
"""Names that a file can have on some system."""

clean = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20)


@st.composite
def diagnostics(draw: st.DrawFn) -> Diagnostic:
    """Findings in hostile texts of hostile files, with hostile messages."""
    text = draw(texts).encode("utf-8", "replace").decode()
    edges = st.integers(0, len(text))
    span = Span(*sorted((draw(edges), draw(edges))))
    source = Source(draw(paths), text)
    fix = draw(st.none() | st.builds(lambda new: Fix("mend it", (Edit(span, new),)), clean))
    code = draw(st.sampled_from(["VGL301", "VGL101", "VGL501"]))
    message, help_text = draw(texts.filter(bool)), draw(st.none() | texts)
    notes = (Note(draw(texts), source, span),) if draw(st.booleans()) else ()
    return Diagnostic.of(code, message, source, span, help=help_text, fix=fix, notes=notes)


# --- readers -----------------------------------------------------------------------------------------------


@cache
def _schema(name: str) -> Draft202012Validator:
    loaded = json.loads((FIXTURES / "schemas" / name).read_text(encoding="utf-8"))
    return Draft202012Validator(loaded, format_checker=FormatChecker())


def is_valid(document: object, schema: str) -> None:
    """Hold a document against a schema of tests/fixtures/report/schemas."""
    found = _schema(schema).iter_errors(document)
    assert [f"{error.json_path}: {error.message[:300]}" for error in found] == []


@dataclass(frozen=True, slots=True)
class Command:
    """A workflow command as the runner of GitHub Actions understands a line."""

    name: str
    properties: dict[str, str]
    text: str


_DATA = (("%0D", "\r"), ("%0A", "\n"), ("%25", "%"))
_PROPERTY = (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%"))


def command_in(line: str) -> Command | None:
    """What the runner takes a line for: it looks for `::` at its start, then for `##[` anywhere in it."""
    line = line.lstrip()
    if line.startswith("::") and (end := line.find("::", 2)) >= 0:
        name, _, given = line[2:end].partition(" ")
        pairs = (pair.split("=", 1) for pair in given.strip().split(",") if "=" in pair)
        return Command(name, {key: _unescaped(value, _PROPERTY) for key, value in pairs}, _unescaped(line[end + 2 :]))
    at = line.find("##[")
    return Command("##", {}, line[at:]) if at >= 0 and "]" in line[at:] else None


def _unescaped(text: str, table: tuple[tuple[str, str], ...] = _DATA) -> str:
    for escape, char in table:
        text = text.replace(escape, char)
    return text


def lines_of(text: str) -> list[str]:
    """The lines as the runner reads them."""
    parts = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return parts[:-1] if parts[-1] == "" else parts


def json_of(text: str) -> Any:
    """A document on one line that a terminal can show."""
    assert text.endswith("\n")
    assert text.count("\n") == 1
    assert visible(text[:-1]) == text[:-1]
    return json.loads(text)

"""Findings as a person and as a program read them."""

from __future__ import annotations

import json
from io import StringIO
from typing import TYPE_CHECKING

import pytest

from vigil_lang.cli.output import show_findings
from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note, Source, Span
from vigil_lang.diagnostics.render import concise, to_json
from vigil_lang.diagnostics.visible import safe_json, shown_path, visible

if TYPE_CHECKING:
    from pathlib import Path

    from cli_support import Golden, Vigil, Write

TEXT = """\
/// Sources of a finding, one line of each kind.
let WARPS = {warpAffine, warpPerspective}
pattern consumes(x) = action in WARPS
    and transform = x
    and status = ok
\tstatement A: abs(漢字(name = "\u202egnp.exe\x1b[31m [bold]abc\u0301[/bold]", fo\u200bo = bar))
"""
SOURCE = Source("policies/tour.vgl", TEXT)
LONG = Source("long.vgl", "let x = {" + ", ".join(f"item{n}" for n in range(300)) + "}")


def at(piece: str, source: Source = SOURCE) -> Span:
    start = source.text.index(piece)
    return Span(start, start + len(piece))


def human(*findings: Diagnostic) -> str:
    stream = StringIO()
    show_findings(findings, "human", stream)
    return stream.getvalue()


def shown(piece: str, source: Source = SOURCE) -> tuple[str, str]:
    """The source line and the line of marks below it, as shown for a finding at a piece of the text."""
    lines = human(Diagnostic.of("VGL101", "here", source, at(piece, source))).splitlines()
    gutter = lines[3].index("|") + 2
    return lines[3][gutter:], lines[4][gutter:]


def test_every_part_of_a_finding_has_its_place_on_the_screen(golden: Golden) -> None:
    respelt = Fix("write `warpAffine`", (Edit(at("warpPerspective"), "warpAffine"),))
    rewritten = Fix("write it on one line", (Edit(at("\n    and transform"), " and transform"),), safe=True)
    everything = Fix("start over", (Edit(Span(0, len(TEXT)), ""),))
    golden(
        "findings.txt",
        human(
            Diagnostic.of(
                "VGL201",
                "`warpPerspective` is not declared",
                SOURCE,
                at("warpPerspective"),
                help="did you mean `warpAffine`?",
                fix=respelt,
                notes=(Note("used here", SOURCE, at("WARPS\n")),),
            ),
            Diagnostic.of("VGL202", "a span over lines", SOURCE, at(TEXT[TEXT.index("pattern") : -90]), fix=rewritten),
            Diagnostic.of(
                "VGL205", "a span that starts within a line", SOURCE, at("action in WARPS\n    and transform")
            ),
            Diagnostic.of("VGL501", "a long span", SOURCE, Span(0, len(TEXT)), fix=everything),
            Diagnostic.of("VGL103", "hostile text: \x1b[2J\u2066 [red]x[/red]", SOURCE, at("\u202egnp.exe\x1b")),
            Diagnostic.of("VGL103", "the end of the file", SOURCE, Span(len(TEXT), len(TEXT))),
            Diagnostic.of("VGL001", "cannot read `x\ny`: no such file", Source("x\ny", "")),
            Diagnostic.of("VGL603", "not recognised", Source("run.jsonl", ""), help="readable: " + "`a`, " * 30),
            Diagnostic.of("VGL601", "an excerpt of a run", Source("run.jsonl", "{oops}", first_line=1234), Span(1, 5)),
        ),
    )


@pytest.mark.parametrize(
    ("piece", "column", "marks"),
    [
        ("statement A", 4, 11),  # after a tab, which is four columns wide
        ("漢字", 21, 4),  # two columns each
        ("name", 26, 4),
        ("\u202e", 34, 8),  # shown as \u{202e}
        ("gnp", 42, 3),
        ("\x1b", 49, 4),
        ("[bold]", 58, 6),  # no markup
        ("abc\u0301", 64, 3),  # the accent takes no room
        ("\u0301", 67, 1),  # but a mark must
        ("bar", 91, 3),
    ],
)
def test_marks_stand_below_what_they_mean(piece: str, column: int, marks: int) -> None:
    assert shown(piece)[1] == " " * column + "^" * marks


@pytest.mark.parametrize("piece", ["let", "item150", "item299", "}"])
def test_a_long_line_is_cut_around_the_span(piece: str) -> None:
    line, marks = shown(piece, LONG)
    assert len(line) <= 96
    assert line[marks.index("^") : len(marks)] == piece
    assert line.startswith("…") == (piece != "let")
    assert line.endswith("…") == (piece in ("let", "item150"))


def test_a_span_wider_than_the_screen_is_marked_as_far_as_it_is_shown() -> None:
    line, marks = shown(LONG.text[10:2000], LONG)
    assert (line[0], line[-1]) == ("…", "…")
    assert marks == " " + "^" * (len(line) - 2)


def test_a_line_of_megabytes_is_shown_at_once() -> None:
    source = Source("big.vgl", "x" * 5_000_000 + "!" + "y" * 5_000_000)
    line, marks = shown("!", source)
    assert line[marks.index("^")] == "!"


def test_a_span_that_ends_with_a_line_break_stays_on_its_line() -> None:
    line, marks = shown("and status = ok\n")
    assert (line, marks) == ("    and status = ok", "    ^^^^^^^^^^^^^^^")


def test_lines_for_programs_are_one_a_finding() -> None:
    found = Diagnostic.of("VGL201", "not\ndeclared", Source("a\nb\u202e.vgl", "one\ntwo"), Span(4, 7))
    assert concise(found) == "a\\nb\\u{202e}.vgl:2:1: VGL201 not\\ndeclared"


def test_the_published_form_has_places_in_lines_and_code_points() -> None:
    fix = Fix("drop it", (Edit(at("漢字"), "kanji"),), safe=True)
    assert to_json(Diagnostic.of("VGL201", "no", SOURCE, at("漢字"), help="h", fix=fix)) == {
        "code": "VGL201",
        "severity": "error",
        "message": "no",
        "help": "h",
        "file": "policies/tour.vgl",
        "start": {"line": 6, "column": 19},
        "end": {"line": 6, "column": 21},
        "fix": {
            "title": "drop it",
            "safe": True,
            "edits": [{"start": {"line": 6, "column": 19}, "end": {"line": 6, "column": 21}, "text": "kanji"}],
        },
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain `text` – ◇⁻ 漢字", "plain `text` – ◇⁻ 漢字"),
        ("a\tb\r\n", "a\\tb\\r\\n"),
        ("\x00\x07\x1b[31m\x7f\x85", "\\x00\\x07\\x1b[31m\\x7f\\x85"),
        ("\u202e\u2066\u200b\ufeff\u2028", "\\u{202e}\\u{2066}\\u{200b}\\u{feff}\\u{2028}"),
        ("\udcff\U000e0041", "\\u{dcff}\\u{e0041}"),
    ],
)
def test_what_acts_on_a_terminal_is_written_out(text: str, expected: str) -> None:
    assert visible(text) == expected


def test_json_on_a_terminal_is_harmless_and_says_the_same() -> None:
    value = {"text": "\x1b[31m\x7f\x9b\u202e\u2028\udcff\U000e0041 ◇⁻ 漢字"}
    text = safe_json(value)
    assert json.loads(text) == value
    assert visible(text) == text
    assert "◇⁻ 漢字" in text


def test_json_is_ascii_where_the_output_is(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ascii(StringIO):
        encoding = "ascii"

    monkeypatch.setattr("sys.stdout", Ascii())
    assert safe_json("é漢\U0001f600") == '"\\u00e9\\u6f22\\ud83d\\ude00"'


def test_paths_are_shown_relative_below_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown_path(str(tmp_path / "a" / "b.vgl")) == "a/b.vgl"
    assert shown_path("/elsewhere/b.vgl") == "/elsewhere/b.vgl"
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert shown_path("b\n.vgl") == "b\\n.vgl"


def test_colours_only_where_they_are_wanted(vigil: Vigil, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = write("a.vgl", "statement A: abs(")
    assert "\x1b[" not in vigil("check", broken).out
    assert "\x1b[1;31m" in vigil("check", broken, "--color", "always").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;31m" in vigil("check", broken).out
    assert "\x1b[" not in vigil("check", broken, "--color", "never").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in vigil("check", broken).out


@pytest.mark.parametrize("at", [0, 90, 180])
def test_a_fix_of_a_long_line_shows_where_it_differs(at: int) -> None:
    line = f"{'a' * at} user.asks {'b' * (180 - at)}"
    source = Source("long.vgl", line)
    span = Span(at + 1, at + 10)
    out = human(Diagnostic.of("VGL308", "x", source, span, fix=Fix("f", (Edit(span, "user.ask"),))))
    removed, added = (next(row for row in out.splitlines() if row.lstrip().startswith(f"{sign} ")) for sign in "-+")
    assert "user.asks" in removed
    assert "user.ask " in added
    assert max(map(len, out.splitlines())) <= 100


def test_many_findings_about_what_runs_lack_are_shown_as_one_with_their_lines() -> None:
    source = Source("many.vgl", "\n".join(f"a{n}" for n in range(30)))
    each = [
        Diagnostic.of("VGL408", f"m{n}", source, Span(source.line_starts[n], source.line_starts[n] + 2))
        for n in range(30)
    ]
    out = human(*each, Diagnostic.of("VGL401", "misspelt", source, Span(0, 2), help="did you mean `b`?"))
    assert [text for text in ("m0", "m1\n", "misspelt") if text in out] == ["m0", "misspelt"]
    assert "29 more VGL408 in this file, on lines 2, 3, 4," in " ".join(out.split())
    assert "31 warnings" in out
    few = human(*each[:3])
    assert all(f"m{n}" in few for n in range(3))

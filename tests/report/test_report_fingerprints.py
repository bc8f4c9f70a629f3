"""Fingerprints and paths: the same on every machine, and after an edit elsewhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_support import diagnostics, unhurried

from vigil_lang.diagnostics import Diagnostic, Source, Span
from vigil_lang.report.fingerprint import fingerprint, fingerprints
from vigil_lang.report.paths import Places

if TYPE_CHECKING:
    from pathlib import Path

LINES = ["statement A: abs(p(x))", "statement B: abs(q(x) and r(x))"]


def at(text: str, *words: str, code: str = "VGL301") -> list[Diagnostic]:
    source = Source("a.vgl", text)
    return [Diagnostic.of(code, "m", source, Span(text.index(w), text.index(w) + 1)) for w in words]


def marks(found: list[Diagnostic]) -> list[str]:
    return fingerprints(found, lambda path: path)


def test_moved_and_indented_lines_keep_their_fingerprints() -> None:
    # spec RC.3-3
    before = "\n".join(LINES)
    after = "// a new comment\n\n  " + "\n\n\t".join(LINES) + "  \n"
    assert marks(at(before, "p(", "q(")) == marks(at(after, "p(", "q("))


def test_another_rule_file_or_text_is_another_finding() -> None:
    ways = [("VGL301", "a.vgl", "x"), ("VGL302", "a.vgl", "x"), ("VGL301", "b.vgl", "x"), ("VGL301", "a.vgl", "y")]
    assert len({fingerprint(*way) for way in ways}) == 4
    assert fingerprint("A", "b", "c", 1, "run", "e1") != fingerprint("A", "b", "c", 1, "rune", "1")


def test_findings_of_one_line_are_told_apart_by_their_order_in_the_text() -> None:
    first, second = at(LINES[1], "q(", "r(")
    there, back = marks([first, second]), marks([second, first])
    assert there[0] != there[1]
    assert there == back[::-1]


def test_an_empty_line_does_not_stand_for_the_next() -> None:
    one, other = (Source("a.vgl", f"\n  \nstatement {name}: abs(p())\n") for name in "AB")
    assert marks([Diagnostic.of("VGL105", "m", one, Span(1, 2))]) == marks(
        [Diagnostic.of("VGL105", "m", other, Span(1, 2))]
    )


def test_a_line_of_a_megabyte_is_no_burden() -> None:
    source = Source("a.vgl", "x" * 1_000_000)
    assert len(marks([Diagnostic.of("VGL301", "m", source, Span(n, n + 1)) for n in range(5_000)])) == 5_000


@unhurried
@given(st.lists(diagnostics(), max_size=6))
def test_no_two_findings_share_a_fingerprint(found: list[Diagnostic]) -> None:
    made = marks([*found, *found])
    assert len(set(made)) == len(made)
    assert all(len(mark) == 32 and int(mark, 16) >= 0 for mark in made)


# --- paths -------------------------------------------------------------------------------------------------


def test_paths_start_at_the_root_of_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # spec RC.3-2
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub/deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "sub")
    places = Places.now()
    assert places.in_root("a.vgl") == "sub/a.vgl"
    assert places.in_root("./deep/../a.vgl") == "sub/a.vgl"
    assert places.in_root("../b.vgl") == "b.vgl"
    assert places.in_root(str(tmp_path / "sub/deep/c.vgl")) == "sub/deep/c.vgl"
    assert places.from_here("../b.vgl") == "../b.vgl"
    assert places.from_here(str(tmp_path / "sub/a.vgl")) == "a.vgl"


@pytest.mark.parametrize("name", ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"])
def test_the_ci_says_where_it_checked_out(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "repo/sub/.git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "repo/sub")
    monkeypatch.setenv(name, str(tmp_path / "repo"))
    assert Places.now().in_root("a.vgl") == "sub/a.vgl"
    monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    assert Places.now().in_root("a.vgl") == "a.vgl"


def test_what_lies_outside_shows_little_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "repo").mkdir()
    monkeypatch.chdir(tmp_path / "repo")
    monkeypatch.setattr(os, "environ", {})
    places = Places.now()
    assert places.in_root("/home/ann/rules/a.vgl") == "rules/a.vgl"
    assert places.in_root("/a.vgl") == "a.vgl"
    assert places.in_root("../rules/a.vgl") == "../rules/a.vgl"
    assert places.in_root("/nul\0/a.vgl") == "nul\0/a.vgl"


def test_a_standard_module_is_named_as_one() -> None:
    from vigil_lang.semantics.modules import standard_modules, standard_path

    name = sorted(standard_modules())[0]
    elsewhere = Places("/nowhere", "/nowhere")
    assert elsewhere.in_root(str(standard_path(name))) == name.replace(".", "/") + ".vgl"


@unhurried
@given(st.data())
def test_a_path_in_the_root_leads_back_to_its_file(data: st.DataObject) -> None:
    from report_support import paths

    places = Places("/w/repo/sub", "/w/repo")
    path = data.draw(paths)
    named = places.in_root(path)
    whole = os.path.normpath(os.path.join("/w/repo/sub", path))  # noqa: PTH118
    if whole.startswith("/w/repo/"):
        assert os.path.normpath(os.path.join("/w/repo", named)) == whole  # noqa: PTH118
    assert not named.startswith("/")

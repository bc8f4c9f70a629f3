"""A baseline lets the findings pass that it knows, wherever their lines have moved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vigil_lang.diagnostics import Diagnostic, InputError, Source, Span
from vigil_lang.lint.baseline import compare, update
from vigil_lang.lint.run import Plan, lint
from vigil_lang.project.selection import Selection

LONE = "statement R0: abs(deploy(env = production))\n"
OTHER = "statement R1: abs(rollback(env = production))\n"


def test_a_baseline_knows_old_findings_where_lines_move(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def findings(text: str) -> list[Diagnostic]:
        return list(lint(Source("a.vgl", text), Plan()).findings)

    update(findings(LONE + OTHER), ["a.vgl"], "base.json")
    moved = "// one more line\n\n" + LONE + OTHER
    compared = compare(findings(moved), ["a.vgl"], "base.json")
    assert (len(compared.new), len(compared.known), compared.gone) == (0, 2, 0)
    compared = compare(findings(moved + LONE.replace("R0: abs(deploy", "R2: abs(publish")), ["a.vgl"], "base.json")
    assert [f.source.position(f.span.start)[0] for f in compared.new] == [5]
    compared = compare(findings(LONE), ["a.vgl"], "base.json")
    assert (len(compared.new), len(compared.known), compared.gone) == (0, 1, 1)


def test_alike_lines_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    line = "statement R: abs(deploy(env = production))\n"
    found = [
        Diagnostic.of("VGL301", "x", Source("a.vgl", line * 3), Span(n * len(line), n * len(line) + 3))
        for n in range(3)
    ]
    update(found[:2], ["a.vgl"], "base.json")
    assert len(compare(found, ["a.vgl"], "base.json").new) == 1


def test_updating_for_some_files_keeps_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    both = [Diagnostic.of("VGL301", "x", Source(name, LONE), Span(0, 3)) for name in ("a.vgl", "b.vgl")]
    update(both, ["a.vgl", "b.vgl"], "base.json")
    update([], ["a.vgl"], "base.json")
    files = {entry["file"] for entry in json.loads(Path("base.json").read_text(encoding="utf-8"))["findings"].values()}
    assert files == {"b.vgl"}


def test_codes_that_were_not_looked_for_stay_in_the_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = [Diagnostic.of(code, "x", Source("a.vgl", LONE), Span(0, 3)) for code in ("VGL301", "VGL318")]
    update(found, ["a.vgl"], "base.json")
    update(found[1:], ["a.vgl"], "base.json", Selection(("VGL318",)).counts)
    compared = compare(found, ["a.vgl"], "base.json")
    assert (compared.new, compared.gone) == ((), 0)
    assert compare(found[1:], ["a.vgl"], "base.json", Selection(("VGL318",)).counts).gone == 0


def test_a_baseline_holds_wherever_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    update([Diagnostic.of("VGL301", "x", Source("sub/a.vgl", LONE), Span(0, 3))], ["sub/a.vgl"], "base.json")
    monkeypatch.chdir(tmp_path / "sub")
    compared = compare([Diagnostic.of("VGL301", "x", Source("a.vgl", LONE), Span(0, 3))], ["a.vgl"], "../base.json")
    assert (compared.new, compared.gone) == ((), 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"schema": "vigil.baseline/1"}',
        '{"schema": "vigil.baseline/1", "findings": {"x": 1}}',
        "[" * 100_000,
    ],
)
def test_what_is_no_baseline_is_refused_and_left_alone(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("base.json").write_text(text, encoding="utf-8")
    for call in (lambda: compare([], [], "base.json"), lambda: update([], [], "base.json")):
        with pytest.raises(InputError) as caught:
            call()
        assert [f.code for f in caught.value.diagnostics] == ["VGL009"]
    assert Path("base.json").read_text(encoding="utf-8") == text

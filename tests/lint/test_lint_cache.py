"""Findings as records, in several processes, and as they are remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

from vigil_lang.base import cache
from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note, Source, Span
from vigil_lang.lint import batch
from vigil_lang.lint.batch import lint_files
from vigil_lang.lint.codec import decode, encode
from vigil_lang.lint.run import Plan
from vigil_lang.lint.store import Digests, Store

LONE = "statement R0: abs(deploy(env = production))\n"


def test_findings_survive_as_records(tmp_path: Path) -> None:
    path = tmp_path / "a.vgl"
    path.write_text(LONE, encoding="utf-8")
    source, folder = Source(str(path), LONE), Source(str(tmp_path), "")
    fix = Fix("write it", (Edit(Span(3, 5), "x"),), safe=True)
    found = [
        Diagnostic.of(
            "VGL301", "one", source, Span(1, 4), help="do", fix=fix, notes=(Note("there", source, Span(2, 3)),)
        ),
        Diagnostic.of("VGL001", "two", folder, severity="info"),
    ]
    assert decode(encode(found)) == found
    path.write_text("", encoding="utf-8")  # it may have changed in the meantime
    assert decode(encode(found))[0].span == Span(0, 0)


def policies(folder: Path, count: int) -> list[str]:
    paths = [folder / f"p{n}.vgl" for n in range(count)]
    for n, path in enumerate(paths):
        path.write_text(LONE if n % 3 == 0 else 'statement R0: abs(deploy(env = "live"))\n', encoding="utf-8")
    return [str(path) for path in paths]


def test_several_processes_find_what_one_does(tmp_path: Path) -> None:
    paths = policies(tmp_path, 60)
    alone = lint_files(paths, Plan, jobs=1)
    assert [len(result.findings) for result in alone] == [1, 0, 0] * 20
    assert lint_files(paths, Plan, jobs=3) == alone


@pytest.fixture
def cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VIGIL_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture
def worked_on(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that are linted, not remembered."""
    seen: list[str] = []
    work = batch._work

    def watched(path: str, plan: Plan, digests: Digests) -> object:
        seen.append(path)
        return work(path, plan, digests)

    monkeypatch.setattr(batch, "_work", watched)
    return seen


def test_only_what_changed_is_linted_again(cached: Path, worked_on: list[str]) -> None:
    paths = policies(cached, 4)
    first = lint_files(paths, Plan, Store("options"))
    worked_on.clear()
    assert lint_files(paths, Plan, Store("options")) == first
    assert worked_on == []
    Path(paths[1]).write_text(LONE, encoding="utf-8")
    assert [len(r.findings) for r in lint_files(paths, Plan, Store("options"))] == [1, 1, 0, 1]
    assert worked_on == [paths[1]]
    lint_files(paths, Plan, Store("other options"))
    assert worked_on == [paths[1], *paths]


def test_a_used_module_and_a_missing_one_are_looked_at_again(cached: Path, worked_on: list[str]) -> None:
    shared, main = cached / "shared.vgl", cached / "main.vgl"
    main.write_text("use .shared: risky\n\nstatement R0: abs(risky)\n", encoding="utf-8")

    def found() -> list[str]:
        (result,) = lint_files([str(main)], Plan, Store(""))
        return [f.code for f in result.findings]

    assert found() == ["VGL207", "VGL201"]
    shared.write_text('pattern risky = deploy(env = "live")\n', encoding="utf-8")
    assert found() == []
    worked_on.clear()
    assert found() == []
    assert worked_on == []
    shared.write_text('pattern risky = deploy(env = "live" and env = "test")\n', encoding="utf-8")
    assert found() == ["VGL302"]
    shared.unlink()
    assert found() == ["VGL207", "VGL201"]


def test_a_module_that_lacked_a_name_is_looked_at_again(cached: Path) -> None:
    shared, main = cached / "shared.vgl", cached / "main.vgl"
    main.write_text("use .shared: risky\n\nstatement R0: abs(risky)\n", encoding="utf-8")
    shared.write_text('pattern harmless = deploy(env = "live")\n', encoding="utf-8")

    def found() -> list[str]:
        (result,) = lint_files([str(main)], Plan, Store(""))
        return [f.code for f in result.findings]

    assert found() == ["VGL201", "VGL201"]
    shared.write_text('pattern risky = deploy(env = "live")\n', encoding="utf-8")
    assert found() == []


def test_a_damaged_or_foreign_cache_is_no_cache(cached: Path) -> None:
    paths = policies(cached, 3)
    first = lint_files(paths, Plan, Store(""))
    (stored,) = (cached.parent / "cache").glob("lint-*")
    for text in ("", "{}", "not json", stored.read_text(encoding="utf-8").replace("VGL301", "VGL302")):
        stored.write_text(text, encoding="utf-8")
        assert lint_files(paths, Plan, Store("")) == first
    cache.write(stored.name, '["another linter", {}]')
    assert lint_files(paths, Plan, Store("")) == first
    cache.write(stored.name, '{"well": "formed"}')
    assert lint_files(paths, Plan, Store("")) == first


def test_what_cannot_be_read_is_not_remembered(cached: Path) -> None:
    path = cached / "a.vgl"
    (result,) = lint_files([str(path)], Plan, Store(""))
    assert result.unreadable
    path.write_text(LONE, encoding="utf-8")
    (result,) = lint_files([str(path)], Plan, Store(""))
    assert [f.code for f in result.findings] == ["VGL301"]


def test_a_file_whose_name_is_no_text_is_linted(cached: Path) -> None:
    path = cached / "\udce9.vgl"
    try:
        path.write_text(LONE, encoding="utf-8")
    except OSError:
        pytest.skip("the file system takes no such name")
    (result,) = lint_files([str(path)], Plan, Store(""))
    assert [f.code for f in result.findings] == ["VGL301"]

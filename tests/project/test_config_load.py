"""Which file counts, and what its settings come to."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from vigil_lang.project.configuration import load
from vigil_lang.project.selection import DEFAULT
from vigil_lang.project.settings import Settings


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_everything_is_as_it_is_by_default(tmp_path: Path) -> None:
    loaded = load(tmp_path)
    assert loaded.path is None
    assert loaded.findings == ()
    assert loaded.settings == Settings(folder=tmp_path)
    assert loaded.settings.lint.select == DEFAULT
    assert (loaded.settings.fail_level, loaded.settings.fmt.spelling) == ("warning", "keep")


def test_the_nearest_file_upwards_counts(tmp_path: Path) -> None:
    put(tmp_path, "vigil.toml", 'fail-level = "error"')
    put(tmp_path, "a/vigil.toml", 'fail-level = "never"')
    inner = tmp_path / "a" / "b" / "c"
    inner.mkdir(parents=True)
    assert load(inner).settings.fail_level == "never"
    assert load(inner).path == Path("../../vigil.toml")
    assert load(tmp_path).settings.fail_level == "error"


def test_a_pyproject_without_the_table_is_passed_over(tmp_path: Path) -> None:
    put(tmp_path, "vigil.toml", 'fail-level = "error"')
    for text in (
        "[tool.ruff]\n",
        '[project]\ndependencies = ["vigil-lang"]\n',
        "this is no TOML",
        "tool = 3 # vigil\n",
    ):
        put(tmp_path, "a/pyproject.toml", text)
        assert load(tmp_path / "a").settings.fail_level == "error", text


def test_pyproject_is_read_where_it_has_the_table(tmp_path: Path) -> None:
    put(tmp_path, "vigil.toml", 'fail-level = "error"')
    put(tmp_path, "a/pyproject.toml", '[tool.vigil.lint]\nignore = ["VGL3"]\n')
    loaded = load(tmp_path / "a")
    assert loaded.path == Path("pyproject.toml")
    assert loaded.settings.lint.ignore == ("VGL3",)
    assert loaded.settings.fail_level == "warning"


def test_of_both_in_one_folder_vigil_toml_counts(tmp_path: Path) -> None:
    put(tmp_path, "vigil.toml", 'fail-level = "error"')
    put(tmp_path, "pyproject.toml", '[tool.vigil]\nfail-level = "never"\n')
    assert load(tmp_path).settings.fail_level == "error"


def test_a_given_file_counts_whatever_its_name(tmp_path: Path) -> None:
    put(tmp_path, "vigil.toml", 'fail-level = "error"')
    put(tmp_path, "ci/strict.toml", 'fail-level = "info"\nruns = ["runs"]\n')
    loaded = load(tmp_path, Path("ci/strict.toml"))
    assert loaded.path == Path("ci/strict.toml")
    assert loaded.settings.fail_level == "info"
    assert loaded.settings.runs == ("ci/runs",)


def test_paths_are_those_of_the_files_folder(tmp_path: Path) -> None:
    put(
        tmp_path,
        "vigil.toml",
        f'runs = ["r/*.jsonl", "{tmp_path}/abs"]\nsignatures = ["t.json"]\nlint.baseline = "b.json"',
    )
    assert load(tmp_path).settings.runs == ("r/*.jsonl", f"{tmp_path}/abs")
    (tmp_path / "a").mkdir()
    settings = load(tmp_path / "a").settings
    assert settings.runs == ("../r/*.jsonl", f"{tmp_path}/abs")
    assert settings.signatures == ("../t.json",)
    assert settings.lint.baseline == "../b.json"


def test_a_folders_own_name_is_no_glob(tmp_path: Path) -> None:
    put(tmp_path, "[a]/c.toml", 'runs = ["*.jsonl", "one.jsonl"]')
    assert load(tmp_path, Path("[a]/c.toml")).settings.runs == ("[[]a]/*.jsonl", "[a]/one.jsonl")


def test_values_keep_their_types(tmp_path: Path) -> None:
    put(
        tmp_path,
        "vigil.toml",
        """
        params = {rate = 6, share = 0.10, hosts = ["a", "b"], strict = true, name = "x"}
        [lint]
        extend-select = ["VGL8", "ALL"]
        benign-threshold = 0.05
        obligations = true
        inline-ignores = false
        [lint.severity]
        VGL3 = "info"
        VGL302 = "error"
        [lint.per-file-ignores]
        "drafts/**" = ["VGL7"]
        [test]
        fail-under = 90
        """,
    )
    loaded = load(tmp_path)
    assert loaded.findings == ()
    settings = loaded.settings
    assert settings.params == {"rate": 6, "share": Decimal("0.10"), "hosts": ["a", "b"], "strict": True, "name": "x"}
    assert settings.lint.extend_select == ("VGL8", "ALL")
    assert settings.lint.benign_threshold == 0.05
    assert settings.lint.obligations
    assert not settings.lint.inline_ignores
    assert settings.lint.severity == {"VGL3": "info", "VGL302": "error"}
    assert settings.lint.per_file_ignores == {"drafts/**": ("VGL7",)}
    assert settings.test.fail_under == 90.0


@pytest.mark.parametrize(("written", "fits"), [("0.1", True), ("0.09", False), ("3600.0", True), ("3600.1", False)])
def test_the_bounds_of_a_number_are_within_them(tmp_path: Path, written: str, fits: bool) -> None:
    (tmp_path / "vigil.toml").write_text(f"[draft]\ntimeout = {written}\n", encoding="utf-8")
    assert load(tmp_path).broken is not fits


@pytest.mark.parametrize(
    ("pattern", "matched", "others"),
    [
        ("vendor/", ["vendor/a.vgl", "x/vendor/b/c.vgl"], ["a.vgl", "vendors/a.vgl"]),
        ("*.vgl", ["a.vgl", "x/y/a.vgl"], ["a.txt"]),
        ("/*.vgl", ["a.vgl"], ["x/a.vgl"]),
        ("drafts/*.vgl", ["drafts/a.vgl"], ["drafts/x/a.vgl", "y/drafts/a.vgl"]),
        ("drafts/**", ["drafts/a.vgl", "drafts/x/a.vgl"], ["a.vgl"]),
        ("**/old/*.vgl", ["old/a.vgl", "x/y/old/a.vgl"], ["old/x/a.vgl"]),
        ("a/**/b.vgl", ["a/b.vgl", "a/x/y/b.vgl"], ["b.vgl", "a/x/c.vgl"]),
        ("rule[12].vgl", ["rule1.vgl"], ["rule3.vgl"]),
    ],
)
def test_excluded(pattern: str, matched: list[str], others: list[str], tmp_path: Path) -> None:
    put(tmp_path, "vigil.toml", f'exclude = ["{pattern}"]')
    settings = load(tmp_path / "anywhere").settings
    assert [path for path in matched if not settings.excludes(str(tmp_path / path))] == []
    assert [path for path in others if settings.excludes(str(tmp_path / path))] == []


def test_a_glob_with_many_stars_is_matched_at_once(tmp_path: Path) -> None:
    put(tmp_path, "vigil.toml", f'exclude = ["{"**/*a*a*a" * 1}/{"**/*a" * 200}b"]')
    assert not load(tmp_path).settings.excludes(str(tmp_path / ("a" * 200 + "/") / ("a/" * 400)))

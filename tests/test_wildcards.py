"""Globs: what `glob.glob` finds, by one walk that no link and no number of `**` makes long."""

from __future__ import annotations

import glob
import os
import time
from typing import TYPE_CHECKING

import pytest

from vigil_lang.base import wildcards
from vigil_lang.base.wildcards import matching
from vigil_lang.diagnostics import InputError
from vigil_lang.project.paths import trace_paths

if TYPE_CHECKING:
    from pathlib import Path

PATTERNS = [
    "*",
    "*.jsonl",
    "runs/*.jsonl",
    "runs/**/*.jsonl",
    "**",
    "**/*.jsonl",
    "**/**/b.jsonl",
    "r?ns/[ab].jsonl",
    "runs/deep/../*.jsonl",
    "*/deep/**",
    "./runs/*",
    "nothing/*",
    "runs/.h*",
    ".hidden/*",
    "li[n]k/*.jsonl",
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with runs, hidden and linked ones among them."""
    for name in ("a.jsonl", "runs/a.jsonl", "runs/b.jsonl", "runs/deep/b.jsonl", "runs/.h.jsonl", ".hidden/a.jsonl"):
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text('{"action":"a"}\n')
    (tmp_path / "link").symlink_to("runs")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_it_finds_what_glob_finds(project: Path, pattern: str, absolute: bool) -> None:
    whole = f"{project}/{pattern}" if absolute else pattern
    found = {os.path.normpath(path) for path in matching(whole)}
    known = {os.path.normpath(path) for path in glob.glob(whole, recursive=True)}  # noqa: PTH207 - what it is held to
    through_links = {path for path in known if "link/" in path and not pattern.startswith("link/")}
    assert found == known - through_links - {str(project), "."}


def test_links_and_stars_take_no_time(project: Path) -> None:
    for name in "abcd":
        (project / "runs" / name).symlink_to("..")
        (project / "runs" / "deep" / name).symlink_to("/")
    started = time.process_time()
    assert trace_paths(["**/**/**/**/**/*.jsonl"]) == ["a.jsonl", "runs/a.jsonl", "runs/b.jsonl", "runs/deep/b.jsonl"]
    assert time.process_time() - started < 5


def test_what_looks_at_too_much_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wildcards, "MAX_LOOKED_AT", 5)
    with pytest.raises(InputError, match=r"VGL003 .* looks at more than 5 files and folders"):
        trace_paths([f"{project}/**/*.jsonl"])

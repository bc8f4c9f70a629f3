"""A sample repository: the rules of a skill, first as a model drafted them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from action_steps import programs

SAMPLE = Path(__file__).parent / "sample"


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all calls keep the parser's tables, which are costly to make."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _one_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIGIL_CACHE_DIR", str(cache))
    monkeypatch.setenv("PIP_NO_COMPILE", "1")  # of what is installed, few modules are imported


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder of programs with `vigil` among them."""
    return programs(tmp_path / "bin")


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    folder = tmp_path / "runner temp"
    folder.mkdir()
    return folder


@pytest.fixture
def mended(tmp_path: Path) -> Path:
    """A git repository with the policies as they are after review."""
    folder = tmp_path / "office"
    shutil.copytree(SAMPLE, folder, ignore=shutil.ignore_patterns("draft.vgl", "NOTICE.md"))
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main"], cwd=folder, check=True)
    return folder


@pytest.fixture
def sample(mended: Path) -> Path:
    """The same as the model drafted it."""
    shutil.copy(SAMPLE / "draft.vgl", mended / "policies" / "office.vgl")
    return mended

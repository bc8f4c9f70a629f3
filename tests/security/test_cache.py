"""What lies in a checkout is never taken for what this program stored: docs/security.md, "Running code"."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from vigil_lang.base import cache

VIGIL = [sys.executable, "-I", "-m", "vigil_lang"]
WRONG = "statement S: abs(a and b)\n"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one wrong policy; nothing is said yet of any folder."""
    folder = tmp_path / "checkout"
    (folder / "sub").mkdir(parents=True)
    (folder / "p.vgl").write_text(WRONG, encoding="utf-8")
    monkeypatch.setattr(cache, "_told", [])
    for name in ("VIGIL_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def lint(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*VIGIL, "lint", "--format=json", "p.vgl"],
        cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def planted(checkout: Path, own: Path) -> Path:
    """A cache in the checkout in which the policy has no findings, made from what our own one holds."""
    assert lint(checkout, VIGIL_CACHE_DIR=str(own)).returncode == 1
    shutil.copytree(own, checkout / "cache")
    (checkout / "cache").chmod(0o700)
    (stored,) = (checkout / "cache").glob("lint-*")
    digest, _, text = stored.read_text(encoding="utf-8").partition("\n")
    made_by, entries = json.loads(text)
    for entry in entries.values():
        entry[2] = [[], [], []]
    body = json.dumps([made_by, entries])
    stored.write_text(f"{cache._digest(body.encode()).decode()}\n{body}", encoding="utf-8")
    assert digest
    return checkout / "cache"


def test_a_planted_result_silences_nothing(checkout: Path, tmp_path: Path) -> None:
    (checkout / ".git").mkdir()
    found = lint(checkout, VIGIL_CACHE_DIR=str(tmp_path / "own")).stdout
    place = planted(checkout, tmp_path / "own")
    shutil.copytree(place, checkout / "vigil")
    (tmp_path / "link").symlink_to(checkout)
    for variable, given in (
        ("VIGIL_CACHE_DIR", "cache"),
        ("VIGIL_CACHE_DIR", "./cache/../cache"),
        ("VIGIL_CACHE_DIR", str(place)),
        ("VIGIL_CACHE_DIR", str(tmp_path / "link" / "cache")),
        ("XDG_CACHE_HOME", str(checkout)),
        ("XDG_CACHE_HOME", "."),
    ):
        environment = {name: text for name, text in os.environ.items() if name != "VIGIL_CACHE_DIR"} | {variable: given}
        done = subprocess.run(
            [*VIGIL, "lint", "--format=json", "p.vgl"],
            cwd=checkout, env=environment, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (1, found), given
        assert done.stderr.count("is not used: ") == (given != "."), done.stderr


def test_the_planted_result_would_have_counted(checkout: Path, tmp_path: Path) -> None:
    place = planted(checkout, tmp_path / "own")
    shutil.rmtree(tmp_path / "own")
    place.rename(tmp_path / "own")
    assert lint(checkout, VIGIL_CACHE_DIR=str(tmp_path / "own")).returncode == 0


@pytest.mark.parametrize("mark", [".git", ".hg", "vigil.toml", "pyproject.toml"])
def test_a_folder_in_any_project_is_no_cache(mark: str, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = checkout / "sub" / "cache"
    place.mkdir(mode=0o700)
    monkeypatch.setenv("VIGIL_CACHE_DIR", str(place))
    cache.write("a", "text")
    assert cache.read("a") == "text"
    (checkout / mark).touch()
    cache._project_around.cache_clear()
    assert cache.read("a") is None
    assert cache.folder("documents") is None
    cache.write("b", "text")
    assert not (place / "b").exists()


def test_the_users_own_folder_is_one_wherever_the_user_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("VIGIL_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    (home / "pyproject.toml").touch()
    for here in (home, home / "work", tmp_path, Path("/")):
        monkeypatch.chdir(here)
        cache.write("a", str(here))
        assert cache.read("a") == str(here)
    (home / ".git").mkdir()
    cache._project_around.cache_clear()
    assert cache.read("a") is None


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are another thing there")
def test_why_a_folder_is_left_alone_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "\x1b[2J::error::\ncache"
    place.mkdir(mode=0o777)
    place.chmod(0o777)
    monkeypatch.setattr(cache, "_told", [])
    monkeypatch.setenv("VIGIL_CACHE_DIR", str(place))
    for _ in range(3):
        cache.write("a", "text")
        assert cache.read("a") is None
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.endswith("(VIGIL_CACHE_DIR) is not used: others can write to it\n")
    assert "\x1b" not in said
    assert not list(place.iterdir())
    monkeypatch.setattr(cache, "_told", [])
    cache.say_nothing()
    assert cache.read("a") is None
    assert capsys.readouterr().err == ""

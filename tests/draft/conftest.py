"""A Messages API on the loopback interface, in place of the real one."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from draft_verbs import Result, Vigil, lay_out
from messages_api import KEY, MessagesAPI

from vigil_lang.cli.main import run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def messages_api(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[MessagesAPI]:
    """The server, which the SDK is told of as a user would: by the environment, with an empty home folder."""
    home: Path = tmp_path_factory.mktemp("home")
    for name in _OTHERS:
        monkeypatch.delenv(name, raising=False)
    with MessagesAPI().running() as api:
        for name, value in {
            "ANTHROPIC_BASE_URL": api.url,
            "ANTHROPIC_API_KEY": KEY,
            "NO_PROXY": "127.0.0.1",
            "SSL_CERT_DIR": str(home),  # nothing is encrypted here, and reading all authorities takes long
            **dict.fromkeys(("HOME", "USERPROFILE", "APPDATA"), str(home)),
        }.items():
            monkeypatch.setenv(name, value)
        yield api


@pytest.fixture(scope="session")
def _kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache for all tests, so that parser tables are made once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def project(tmp_path: Path, _kept: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a skill and two runs, to work in, and a cache outside of it that holds no drafts."""
    for stored in ("drafts", "second-readings"):
        shutil.rmtree(_kept / stored, ignore_errors=True)
    folder = tmp_path / "project"
    folder.mkdir()
    lay_out(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("VIGIL_CACHE_DIR", str(_kept))
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "VIGIL_DEBUG", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def vigil(capsys: pytest.CaptureFixture[str]) -> Vigil:
    """Calls a verb in this process: ``vigil("draft", "SKILL.md")``."""

    def call(*args: str | Path) -> Result:
        capsys.readouterr()
        status = run([str(arg) for arg in args])
        return Result(status, *capsys.readouterr())

    return call


# What else the SDK and its HTTP client read.
_OTHERS = (
    "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_CONFIG_DIR", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_LOG",
    "ANTHROPIC_FEDERATION_RULE_ID", "ANTHROPIC_ORGANIZATION_ID", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
    "http_proxy", "https_proxy", "all_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
)  # fmt: skip

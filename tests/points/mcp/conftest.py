"""State folders for the proxy, and programs that are started and ended."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tests.points.mcp.mcp_support import POLICY, PROXY, RAW, Wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def state(tmp_path: Path) -> Path:
    from vigil_lang.gate.setup import make_state

    (tmp_path / "work").mkdir()
    (tmp_path / "p.vgl").write_text(POLICY)
    folder = tmp_path / "state"
    make_state(folder, tmp_path / "work", [str(tmp_path / "p.vgl")], is_open=True)
    settings = folder / "gate.toml"
    settings.write_text(settings.read_text().replace("default = true", "default = false"))
    return folder


@pytest.fixture
def started(request: pytest.FixtureRequest) -> Iterator[Callable[..., Wire]]:
    """Start programs; they are ended with the test, those that are measured by themselves."""
    found: list[Wire] = []

    def start(argv: list[str], env: dict[str, str] | None = None) -> Wire:
        found.append(Wire(argv, env))
        return found[-1]

    yield start
    measured = request.node.get_closest_marker("processes")
    for wire in found:
        if measured:
            with suppress(OSError, subprocess.TimeoutExpired):
                wire.close()
        wire.process.kill()
        wire.process.wait()


@pytest.fixture
def proxied(state: Path, started: Callable[..., Wire]) -> Callable[..., Wire]:
    """Start the proxy before the raw server."""

    def start(*options: str, server: list[str] | None = None) -> Wire:
        argv = [*PROXY, "--state", str(state), "--name", "raw", *options, "--", *(server or [*RAW, "raw"])]
        return started(argv)

    return start

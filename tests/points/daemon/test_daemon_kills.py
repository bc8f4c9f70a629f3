"""Killed hooks and daemons lose nothing and change nothing; see `tests/points/daemon/kills.py` for more of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.points.daemon.kills import play

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.skipif(sys.platform != "linux", reason="who answers at a socket is asked as Linux tells it")
def test_killed_at_random_moments(tmp_path: Path) -> None:
    done = play(tmp_path, 20)
    assert done["passed"]
    assert done["blocked or told"]

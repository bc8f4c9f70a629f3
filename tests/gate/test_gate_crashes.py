"""A gate that is killed loses nothing that anybody was told; see `tests/gate/crashes.py` for more of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crashes import play

if TYPE_CHECKING:
    from pathlib import Path


def test_killed_at_random_points(tmp_path: Path) -> None:
    done = play(tmp_path, 40)
    assert done["pass"]
    assert done["hold"]
    assert done["approved"]

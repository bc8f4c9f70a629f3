from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from gate_support import World

sys.path.insert(0, str(Path(__file__).parents[1] / "postgres"))
from database import Databases, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

BOTH = ("test_gate", "test_gate_snapshots", "test_holds")
"""The modules whose tests are run with the log in a folder, and again with the log in a database."""

FOLDER = "folder"
"""The mark of a test that is about the files of a folder."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marks = {mark.name for mark in metafunc.definition.iter_markers()}
    if "world" in metafunc.fixturenames and metafunc.module.__name__ in BOTH and FOLDER not in marks:
        metafunc.parametrize("world", ["folder", "postgres"], indirect=True)


@pytest.fixture(scope="session")
def databases() -> Iterator[Databases]:
    """Databases of PostgreSQL, of one server for all tests."""
    with serving() as found:
        if found is None:
            pytest.skip("PostgreSQL is not installed here: `apt install postgresql` has it")
        yield found


@pytest.fixture
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    if getattr(request, "param", "folder") == "folder":
        return World(tmp_path)
    return World(tmp_path, database=request.getfixturevalue("databases").new())

"""The command line, called as in the tests of the other verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.cli_support import Result, called

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def vigil(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Calls a verb with a hundred columns and no colours."""
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("NO_COLOR", "FORCE_COLOR", "VIGIL_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return called

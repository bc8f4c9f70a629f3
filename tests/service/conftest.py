from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from service_support import Served, made_state

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with the policies of `gate_support`."""
    found = Served(made_state(tmp_path_factory.mktemp("served")))
    yield found
    found.stop()

"""One gate service for the tests of a module, and machines whose settings name it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from client_support import Machine, Service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that answers."""
    found = Service(tmp_path_factory.mktemp("served"))
    found.start()
    yield found
    found.stop()


@pytest.fixture
def machine(tmp_path: Path, service: Service) -> Machine:
    """A machine of the agent `mailer`."""
    return Machine(tmp_path, service)

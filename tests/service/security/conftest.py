from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from security_support import Site

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A service, started once a module."""
    found = Site(tmp_path_factory.mktemp("site"))
    yield found
    found.served.stop()

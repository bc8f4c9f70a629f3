from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from adapter_support import Place

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)

"""`tests.strategies` and assertions that explain themselves in the helpers, however pytest was started."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
pytest.register_assert_rewrite("semantics_support")

"""Failed claims show what was found: pytest rewrites assertions only where it is told to."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("spec_runner")

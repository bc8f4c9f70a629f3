"""How many cases the differential tests try: `VIGIL_CASES=20000 pytest tests/differential`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parents[2]))  # `tests.strategies`, however pytest was started

settings.register_profile(
    "differential",
    max_examples=int(os.environ.get("VIGIL_CASES", "400")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    database=None,
    print_blob=True,
)
settings.load_profile("differential")

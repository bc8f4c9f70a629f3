"""How many cases the differential tests try: `VIGIL_CASES=20000 pytest tests/differential`."""

from __future__ import annotations

import os

from hypothesis import settings

CASES = int(os.environ.get("VIGIL_CASES", "150"))
many = settings(max_examples=CASES)

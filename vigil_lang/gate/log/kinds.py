"""The kinds of entries that a run is followed by, and where each has a value that stands beside the log."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LOG_KEY = "log_key"
"""The kind of an entry from which on another key signs the log: `key` is its verifier key, `before` the old one's."""

OF_RUNS: Mapping[str, str | None] = MappingProxyType(
    {
        "run_start": None,
        "decision": "/inputs",
        "outcome": "/output",
        "unasked": "/made",
        "message": "/text",
        "turn_end": None,
        "halt": None,
        "resume": None,
        "run_policy": None,
        "policy_change": None,
    }
)
"""By kind, the place of its plain value (a JSON pointer), None where it has none."""

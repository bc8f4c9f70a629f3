"""Names that the tests of the command line share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).parents[2]
FIXTURES = "tests/fixtures/cli"
DASHCAM = "examples/dashcam/dashcam.vgl"
VIOLATING = "examples/dashcam/violating.jsonl"
REPAIRED = "examples/dashcam/repaired.jsonl"


@dataclass(frozen=True, slots=True)
class Result:
    """What a call of the command came to."""

    status: int
    out: str
    err: str


Vigil: TypeAlias = Callable[..., Result]
Golden: TypeAlias = Callable[[str, str], None]
Write: TypeAlias = Callable[..., Path]

"""Names that the tests of the command line share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import TypeAlias
from unittest import mock

from vigil_lang.cli.main import run

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


def called(*args: str | Path, stdin: bytes = b"") -> Result:
    """A verb called in this process, for generated tests, which have no fixtures of their own."""
    streams = {name: TextIOWrapper(BytesIO(), encoding="utf-8") for name in ("stdout", "stderr")}
    streams["stdin"] = TextIOWrapper(BytesIO(stdin), encoding="utf-8")
    with ExitStack() as stack:
        for name, stream in streams.items():
            stack.enter_context(mock.patch.object(sys, name, stream))
        status = run([str(arg) for arg in args])
        found = []
        for name in ("stdout", "stderr"):
            streams[name].flush()
            found.append(streams[name].buffer.getvalue().decode())  # type: ignore[attr-defined]
    return Result(status, *found)

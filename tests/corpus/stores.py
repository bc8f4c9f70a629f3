"""Recordings to make stores of, and what is in a store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def recordings(folder: Path, count: int, *, events: int = 5, wide: int = 1, name: str = "r") -> list[str]:
    """Recordings with so many events each, no two alike."""
    found = []
    for number in range(count):
        path = folder / f"{name}{number:03}.jsonl"
        header = {"vigil_trace": 1, "run": f"{name}{number}", "model": "ab"[number % 2]}
        lines = [json.dumps(header)]
        for at in range(events):
            text = f"{name}{number * 7919 % 1009}-{at}"
            args = {"path": f"/f{at % 7}", "text": text * wide}
            time = f"2026-01-{1 + number % 28:02}T10:{at // 60 % 60:02}:{at % 60:02}Z"
            line = {"action": ("read", "write", "fetch")[at % 3], "args": args, "status": "ok", "time": time}
            lines.append(json.dumps(line))
        path.write_text("\n".join(lines) + "\n")
        found.append(str(path))
    return found


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}

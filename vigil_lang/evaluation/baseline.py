"""Other programs that say of a run whether it is safe.

A program gets the run on its standard input, as Vigil's own format (spec.md, 5), and `{run}` in its arguments is a file
with the same. What it says last on its standard output counts: the word `safe` or `unsafe`, or a JSON object whose
`verdict` is one of these. It runs in a session of its own, which is killed when its time is up or when it has written
more than is read; its status is 0 or 1. Whatever else it does is no answer.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from vigil_lang.diagnostics.visible import visible
from vigil_lang.ingest.canonical import dump_trace

if TYPE_CHECKING:
    from vigil_lang.evaluation.corpus import Baseline
    from vigil_lang.trace import Trace

MOST_BYTES = 1 << 20
"""How much of what a program writes is read."""

_TOLD = 80
_POLL = 0.05


@dataclass(frozen=True, slots=True)
class Answer:
    """What a program said of a run, or None and why it said nothing."""

    verdict: Literal["safe", "unsafe"] | None
    why: str = ""
    seconds: float = 0.0


def ask(baseline: Baseline, trace: Trace, folder: str) -> Answer:
    """What a program says of a run; it runs in `folder`."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="vigil-", ignore_cleanup_errors=True) as place:
        path = Path(place, "run.jsonl")
        with path.open("wb") as out:
            dump_trace(trace, out.write)
        command = [argument.replace("{run}", str(path)) for argument in baseline.command]
        answer = _run(command, path, Path(place, "said"), folder, baseline.timeout)
    return Answer(*answer, time.perf_counter() - begun)


def _run(
    command: list[str], run: Path, said: Path, folder: str, seconds: float
) -> tuple[Literal["safe", "unsafe"] | None, str]:
    with run.open("rb") as given, said.open("wb") as out:
        try:
            process = subprocess.Popen(
                command, stdin=given, stdout=out, stderr=subprocess.DEVNULL, cwd=folder, start_new_session=True
            )
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            return None, f"`{visible(command[0][:_TOLD])}` cannot be run: {reason}"
        try:
            why = _wait(process, said, time.monotonic() + seconds, seconds)
        finally:
            _end(process)
    if why:
        return None, why
    if process.returncode not in (0, 1):
        ended = f"by signal {-process.returncode}" if process.returncode < 0 else f"with status {process.returncode}"
        return None, f"it ended {ended}"
    return _verdict(said.read_bytes()[:MOST_BYTES])


def _wait(process: subprocess.Popen[bytes], said: Path, end: float, seconds: float) -> str:
    """Wait until a program has ended; why it is not waited for any longer."""
    while True:
        try:
            process.wait(min(_POLL, max(end - time.monotonic(), 0.001)))
        except subprocess.TimeoutExpired:
            if said.stat().st_size > MOST_BYTES:
                return f"it wrote more than {MOST_BYTES >> 20} MB"
            if time.monotonic() >= end:
                return f"it took more than {seconds:g} s"
        else:
            return f"it wrote more than {MOST_BYTES >> 20} MB" if said.stat().st_size > MOST_BYTES else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of a program and its session."""
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _verdict(output: bytes) -> tuple[Literal["safe", "unsafe"] | None, str]:
    lines = [line for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
    if not lines:
        return None, "it said nothing"
    last = lines[-1].strip()
    said: object = last.lower()
    if last.startswith("{"):
        with suppress(msgspec.DecodeError, RecursionError):
            found = msgspec.json.decode(last)
            said = found.get("verdict") if isinstance(found, dict) else None
    if said == "safe":
        return "safe", ""
    if said == "unsafe":
        return "unsafe", ""
    return None, f"it said neither `safe` nor `unsafe`: `{visible(last[:_TOLD])}`"

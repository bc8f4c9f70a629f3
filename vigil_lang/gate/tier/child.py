"""A detector in a process of its own: one JSON object on its standard input, a number on its standard output.

As a program, this module is that process for a plug-in: `child NAME`.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from vigil_lang.gate.tier.source import Seen

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence

    from vigil_lang.trace import Event

EVENTS = 200
"""So many of a run's last events are handed over."""

LONGEST_ANSWER = 200
"""Bytes of the longest answer that is read."""


class Failed(Exception):
    """The program did not start, took too long, ended with another status than 0, or answered no number."""


def ask_program(argv: Sequence[str], seen: Seen, seconds: float) -> float | None:
    """The score that a program answers with, None where it writes nothing.

    It is killed, with all that it started in its session, when its time is over.

    Raises:
        Failed: as that says.
    """
    import subprocess  # late: most gates ask no program

    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise Failed("it does not start") from error
    with process:
        try:
            answer, _ = process.communicate(as_json(seen), timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise Failed("it takes too long") from error
        finally:
            _end(process)
    if process.returncode != 0:
        raise Failed("it fails")
    return parsed_score(answer)


def parsed_score(answer: bytes) -> float | None:
    """The number that an answer is, None where it is empty.

    Raises:
        Failed: it is anything else.
    """
    try:
        text = answer[: LONGEST_ANSWER + 1].decode("ascii").strip()
        score = float(text) if text else None
    except ValueError as error:
        raise Failed("it answers no number") from error
    if len(answer) > LONGEST_ANSWER or (score is not None and not 0 <= score <= 1):
        raise Failed("it answers no number from 0 to 1")
    return score


def as_json(seen: Seen) -> bytes:
    """What a program reads: `run`, `output`, and `events` and `pending` in the form of Vigil's own traces. Outputs of
    earlier events are left out."""
    from vigil_lang.ingest.canonical import dump_event

    def lines(events: Sequence[Event]) -> list[Any]:
        written: list[bytes] = []
        for event in events:
            dump_event(event, written.append)
        return [json.loads(line) for line in written]

    events = lines(seen.events[-EVENTS:])
    for event in events:
        event.pop("output", None)
    return json.dumps(
        {"run": seen.run, "output": seen.output, "events": events, "pending": lines(seen.pending)}
    ).encode()


def from_json(data: bytes) -> Seen:
    """What `as_json` has written."""
    from vigil_lang.trace import Event

    def events(lines: list[dict[str, Any]]) -> tuple[Event, ...]:
        return tuple(
            Event.of(
                line["action"],
                line.get("args", {}),
                id=line["event"],
                call=line.get("call", line["event"]),
                kinds=line.get("kinds", ()),
                status=line.get("status", "unknown"),
                output=line.get("output"),
                time=line.get("time"),
            )
            for line in lines
        )

    given = json.loads(data)
    return Seen(given["run"], events(given["events"]), given["output"], events(given["pending"]))


def _end(process: subprocess.Popen[bytes]) -> None:
    import signal

    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


def main(name: str) -> None:
    """Ask the plug-in of that name what standard input shows. Whatever it prints itself goes nowhere.

    Raises:
        LookupError: there is no plug-in of that name, or more than one.
    """
    from importlib.metadata import distributions

    answer = os.fdopen(os.dup(1), "w")
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), 1)
    seen = from_json(sys.stdin.buffer.read())
    found = {
        each.value: each
        for distribution in distributions()
        for each in distribution.entry_points
        if each.group == "vigil.signals" and each.name == name
    }
    if len(found) != 1:
        raise LookupError(f"{len(found)} plug-ins are called {name}")
    (entry,) = found.values()
    score = entry.load()().score(seen)
    if score is not None:
        print(float(score), file=answer, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

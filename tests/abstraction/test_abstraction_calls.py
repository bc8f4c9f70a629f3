"""Commands and the events they become, as `calls.txt` lists them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from abstraction_support import abstracted, bash, ok

from vigil_lang.trace.unseen import is_wholly_seen

if TYPE_CHECKING:
    from vigil_lang.trace import Event

_TABLE = Path(__file__).with_name("calls.txt").read_text("utf-8")
ROWS = [line for line in _TABLE.splitlines() if line and not line.startswith("#")]


def fits(event: Event, action: str, *tests: str) -> bool:
    """Whether an event is as a row says."""
    if event.action != action:
        return False
    unresolved = event.args.get("unresolved", ())
    for test in tests:
        role, equals, value = test.partition("=")
        values = ",".join(event.args.get(role, ())).replace("\n", "␤").replace(" ", "␣")
        match test[0]:
            case ".":
                holds = test[1:] in event.kinds
            case "!":
                holds = test[1:] in unresolved
            case "~":
                holds = test[1:] == event.status
            case "-":
                holds = test[2:] not in event.kinds if test[1] == "." else test[1:] not in event.args
            case _:
                holds = bool(equals) and role in event.args and values == value
        if not holds:
            return False
    return True


@pytest.mark.parametrize("row", ROWS)
def test_a_call(row: str) -> None:
    marked = row.startswith("? ")
    command, _, wanted = row.removeprefix("? ").partition(" => ")
    (call, *steps) = abstracted([bash("t", command.replace("␤", "\n")), ok("t", "")])
    at = 0
    for each in wanted.split(" | "):
        words = each.split()
        place = next((n for n in range(at, len(steps)) if fits(steps[n], *words)), None)
        assert place is not None, (each, steps)
        at = place + 1
    assert is_wholly_seen(call) is not marked

"""How often an agent was told what it owes: kept in the state folder, for each hook may be a process of its own."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

from vigil_lang.base.outputs import write_private

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from vigil_lang.gate.entering import Owed

FOLDER = "told"
AT_MOST = 2
"""How often the same obligations are told of."""
IN_A_ROW = 8
"""How often anything is told between two prompts of the user."""
_LONGEST = 10_000


class Reminders:
    """What was told in one run at the ends of its turns."""

    def __init__(self, state: Path, run: str) -> None:
        name = hashlib.sha256(run.encode("utf-8", "replace")).hexdigest()
        self._path = state / FOLDER / f"{name}.json"

    def due(self, owed: Sequence[Owed], events: int, *, capped: bool) -> bool:
        """Whether to tell it now, and note that it is told.

        The same is told a second time where the host itself ends the turn at last (`capped`), or where more events
        happened since; a third time never. What cannot be noted is not told: it might be told for ever.

        Raises:
            InputError: it cannot be written.
        """
        gist = sorted((each.policy, each.name, each.event, sorted(each.bindings.items())) for each in owed)
        digest = hashlib.sha256(json.dumps(gist).encode()).hexdigest()
        known = self._read()
        times: int = known["times"] if known["owed"] == digest else 0
        again = times < AT_MOST and (capped or known["events"] != events)
        if (times and not again) or known["row"] >= IN_A_ROW:
            return False
        self._write({"owed": digest, "times": times + 1, "events": events, "row": known["row"] + 1})
        return True

    def prompted(self) -> None:
        """The user spoke: what is told counts anew.

        Raises:
            InputError: it cannot be written.
        """
        if self._path.exists():
            self._write(self._read() | {"row": 0})

    def forget(self) -> None:
        """The run is over."""
        self._path.unlink(missing_ok=True)

    def _read(self) -> dict[str, Any]:
        known = {"owed": "", "times": 0, "events": -1, "row": 0}
        try:
            with self._path.open("rb") as file:
                found = json.loads(file.read(_LONGEST))
        except (OSError, ValueError):
            return known
        right = isinstance(found, dict) and all(type(found.get(name)) is type(value) for name, value in known.items())
        return found if right else known

    def _write(self, known: dict[str, Any]) -> None:
        os.makedirs(self._path.parent, mode=0o700, exist_ok=True)  # noqa: PTH103 - like the rest of the state
        write_private(str(self._path), json.dumps(known).encode(), replace=True)

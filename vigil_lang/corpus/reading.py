"""How recordings are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.abstraction.bounded_output import KEPT
from vigil_lang.abstraction.files import KnownFiles
from vigil_lang.abstraction.run import Options

if TYPE_CHECKING:
    from vigil_lang.abstraction.tools import Tool


@dataclass(frozen=True)
class Reading:
    """How recordings are read, as plain data that can be sent to another process."""

    format: str | None = None
    skills: str | None = None
    inferred: bool = True
    kept: int = KEPT
    probe: bool = False
    allow_empty: bool = False
    tools: dict[str, Tool] = field(default_factory=dict)

    def options(self) -> Options:
        """The same for abstraction."""
        from vigil_lang.abstraction import probe

        shipped = None if self.skills is None else Path(self.skills)
        return Options(
            kept=self.kept,
            inferred=self.inferred,
            files=lambda: KnownFiles(shipped),
            probe=probe.probe if self.probe else None,
            tools=self.tools,
            allow_empty=self.allow_empty,
        )

"""The Execution Gate: whether a pending call passes, is held or is blocked, and a log of it (docs/gate.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.gate.decide import decide

if TYPE_CHECKING:
    from vigil_lang.gate.answer import Answer
    from vigil_lang.gate.gate import Gate

__all__ = ["Answer", "Gate", "decide"]


def __getattr__(name: str) -> Any:
    """The gate, imported when it is asked for: the kernel stands alone."""
    if name in ("Answer", "Gate"):
        from vigil_lang.gate import gate

        return getattr(gate, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""The Execution Gate: whether a pending call passes, is held or is blocked, and a log of it (docs/gate.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.gate.decide import decide

if TYPE_CHECKING:
    from vigil_lang.gate.answer import Answer
    from vigil_lang.gate.client import AsyncClient, Client
    from vigil_lang.gate.gate import Gate

__all__ = ["Answer", "AsyncClient", "Client", "Gate", "decide"]


def __getattr__(name: str) -> Any:
    """The gate, imported when it is asked for: the kernel stands alone."""
    if name in ("Answer", "Gate"):
        from vigil_lang.gate import gate

        return getattr(gate, name)
    if name in ("AsyncClient", "Client"):
        from vigil_lang.gate import client

        return getattr(client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

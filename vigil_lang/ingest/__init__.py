"""Readers: recordings of agent runs become records, tool definitions become signatures.

A format is one module with a `Reader`, entered in `load`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vigil_lang.ingest.canonical import dump_trace
    from vigil_lang.ingest.load import FORMATS, opened, read_records, reader_of
    from vigil_lang.ingest.reader import Reader

__all__ = ["FORMATS", "Reader", "dump_trace", "opened", "read_records", "reader_of"]


def __getattr__(name: str) -> Any:
    """The readers, imported when they are asked for: a hook reads payloads, and no recordings."""
    if name in ("FORMATS", "opened", "read_records", "reader_of"):
        from vigil_lang.ingest import load

        return getattr(load, name)
    if name == "dump_trace":
        from vigil_lang.ingest.canonical import dump_trace

        return dump_trace
    if name == "Reader":
        from vigil_lang.ingest.reader import Reader

        return Reader
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

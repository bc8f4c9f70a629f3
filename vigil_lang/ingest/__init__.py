"""Readers: recordings of agent runs become traces, tool definitions become signatures.

A format is one module with a `Reader`, entered in `load.READERS`. What reads signatures is imported on first use:
judging a run does without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.ingest.canonical import dump_trace
from vigil_lang.ingest.load import FORMATS, READERS, load_trace, read_trace
from vigil_lang.ingest.reader import Reader

if TYPE_CHECKING:
    from vigil_lang.ingest.signatures import load_signature, read_signature

__all__ = [
    "FORMATS",
    "READERS",
    "Reader",
    "dump_trace",
    "load_signature",
    "load_trace",
    "read_signature",
    "read_trace",
]


def __getattr__(name: str) -> object:
    if name not in ("load_signature", "read_signature"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from vigil_lang.ingest import signatures

    return getattr(signatures, name)

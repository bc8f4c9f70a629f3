"""Readers: recordings of agent runs become traces, tool definitions become signatures.

A format is one module with a `Reader`, entered in `load.READERS`.
"""

from vigil_lang.ingest.canonical import dump_trace
from vigil_lang.ingest.load import FORMATS, READERS, load_trace, read_trace
from vigil_lang.ingest.reader import Reader

__all__ = ["FORMATS", "READERS", "Reader", "dump_trace", "load_trace", "read_trace"]

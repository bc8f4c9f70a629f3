"""Reading a signature from whatever states or shows one: a signature file, tool definitions, or a run."""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from typing import Any

from vigil_lang import inputs
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest.json_text import BOM, decode, fault_of, point_at
from vigil_lang.ingest.load import STDIN, recognised
from vigil_lang.ingest.stream import unreadable
from vigil_lang.ingest.tools import holds_tools, signature_of_tools
from vigil_lang.runs import read_traces
from vigil_lang.trace import Signature, observe
from vigil_lang.trace.signature_file import signature_from_json

_HEAD = 50


def load_signature(path: str | Path) -> Signature:
    """The signature in a file, or on standard input for ``-``.

    A signature file and tool definitions are read as declared there; a run of any known format is observed.

    Raises:
        InputError: VGL604 (VGL003 beyond the limits) for a definition at fault; else as `load_trace` does.
    """
    inputs.note(str(path))
    if str(path) == "-":
        return read_signature(sys.stdin.buffer.read(), STDIN)
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise unreadable(str(path), error) from error
    return read_signature(data, str(path))


def read_signature(data: bytes, path: str) -> Signature:
    """The signature in the content of a file; `path` is what messages call it. Raises as `load_signature`."""
    content = data.removeprefix(BOM)
    try:
        value = decode(content)
    except (ValueError, ArithmeticError, RecursionError) as error:
        if content.lstrip().startswith(b"[") or (content.strip() and path.endswith(".json")):
            raise fault_of(error, content, path, code="VGL604", last=True) from error
        return observe(read_traces(BytesIO(data), path))
    if _is_signature(value):
        try:
            return signature_from_json(value)
        except ValueError as error:
            fault = point_at("VGL604", f"the signature is not valid: {error}", path, content.decode(), 0, 0)
            raise InputError([fault]) from error
    if holds_tools(value) and not _is_recording(value):
        return signature_of_tools(value, path, content.decode())
    return observe(read_traces(BytesIO(data), path))


def is_definition(path: str) -> bool:
    """Whether a file holds a signature or tool definitions."""
    try:
        value = decode(Path(path).read_bytes().removeprefix(BOM))
    except (OSError, ValueError, ArithmeticError, RecursionError):
        return False
    return _is_signature(value) or (holds_tools(value) and not _is_recording(value))


def _is_signature(value: Any) -> bool:
    return isinstance(value, dict) and str(value.get("schema")).startswith("vigil.signature/")


def _is_recording(value: Any) -> bool:
    """Whether a list holds what happened in a run, such as messages, rather than definitions."""
    head = value[:_HEAD] if isinstance(value, list) else []
    return all(isinstance(item, dict) for item in head) and recognised(head) is not None

"""Reading a signature from whatever states or shows one: a signature file, tool definitions, or a run."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

from vigil_lang.abstraction.run import Options
from vigil_lang.base import inputs
from vigil_lang.base.files import read_bytes
from vigil_lang.diagnostics import InputError
from vigil_lang.ingest.json_text import BOM, decode, fault_of, point_at
from vigil_lang.ingest.load import STDIN, recognised
from vigil_lang.ingest.stream import MAX_SIZE, too_large, unreadable
from vigil_lang.ingest.tools import holds_tools, signature_of_tools
from vigil_lang.runs import read_traces, usable
from vigil_lang.trace import Signature, observe
from vigil_lang.trace.signature_file import signature_from_json

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = 50
_DEFAULTS = Options()
_LARGEST_DEFINITION = 64 << 20
"""Beyond that, what nobody named is no list of tools; cut off there, it is no JSON."""


def load_signature(path: str | Path, options: Options = _DEFAULTS) -> Signature:
    """The signature in a file, or on standard input for ``-``.

    A signature file and tool definitions are read as declared there; a run of any known format is observed.

    Raises:
        InputError: VGL604 (VGL003 beyond the limits) for a definition at fault; else as `load_trace` does.
    """
    inputs.note(str(path))
    name = STDIN if str(path) == "-" else str(path)
    try:
        data = read_bytes(path, MAX_SIZE)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise unreadable(name, error) from error
    if len(data) > MAX_SIZE:
        raise too_large(name, f"it is larger than {MAX_SIZE >> 20} MB")
    return read_signature(data, name, options)


def read_signature(data: bytes, path: str, options: Options = _DEFAULTS) -> Signature:
    """The signature in the content of a file; `path` is what messages call it. Raises as `load_signature`."""
    content = data.removeprefix(BOM)
    try:
        value = decode(content)
    except (ValueError, ArithmeticError, RecursionError) as error:
        if content.lstrip().startswith(b"[") or (content.strip() and path.endswith(".json")):
            raise fault_of(error, content, path, code="VGL604", last=True) from error
        return observe(usable(read_traces(BytesIO(data), path, None, options), options))
    if _is_signature(value):
        try:
            return signature_from_json(value)
        except ValueError as error:
            fault = point_at("VGL604", f"the signature is not valid: {error}", path, content.decode(), 0, 0)
            raise InputError([fault]) from error
    if holds_tools(value) and not _is_recording(value):
        return signature_of_tools(value, path, content.decode())
    return observe(usable(read_traces(BytesIO(data), path, None, options), options))


def is_definition(path: str) -> bool:
    """Whether a file holds a signature or tool definitions."""
    try:
        value = decode(read_bytes(path, _LARGEST_DEFINITION).removeprefix(BOM))
    except (OSError, ValueError, ArithmeticError, RecursionError):
        return False
    return _is_signature(value) or (holds_tools(value) and not _is_recording(value))


def _is_signature(value: Any) -> bool:
    return isinstance(value, dict) and str(value.get("schema")).startswith("vigil.signature/")


def _is_recording(value: Any) -> bool:
    """Whether a list holds what happened in a run, such as messages, rather than definitions."""
    head = value[:_HEAD] if isinstance(value, list) else []
    return all(isinstance(item, dict) for item in head) and recognised(head) is not None

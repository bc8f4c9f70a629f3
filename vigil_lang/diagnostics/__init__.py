"""The one diagnostic model: what is wrong, where, and how to mend it.

Everything that judges input (parser, checker, readers) reports through `Diagnostic`; everything that shows
findings reads it. Neither side knows the other.
"""

from vigil_lang.diagnostics.codes import CODES, SEVERITIES, Code, Severity
from vigil_lang.diagnostics.diagnostic import (
    Diagnostic,
    Edit,
    Fix,
    InputError,
    Note,
    Source,
    Span,
    TooCostly,
    apply_edits,
    nearest,
)

__all__ = [
    "CODES",
    "SEVERITIES",
    "Code",
    "Diagnostic",
    "Edit",
    "Fix",
    "InputError",
    "Note",
    "Severity",
    "Source",
    "Span",
    "TooCostly",
    "apply_edits",
    "nearest",
]

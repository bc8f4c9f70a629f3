"""Vigil: executable behavioural policies for AI agents.

Five lines to a verdict::

    import vigil_lang as vigil

    policy = vigil.load_policy("dashcam.vgl")
    verdict = vigil.verify([policy], vigil.load_trace("run.jsonl"))
    for statement, offence in verdict.offences():
        print(statement.name, offence.event, offence.message)

Names are imported on first use, so that ``import vigil_lang`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from vigil_lang.diagnostics import Diagnostic as Diagnostic
    from vigil_lang.diagnostics import InputError as InputError
    from vigil_lang.engines.smt.verify import verify as verify
    from vigil_lang.runs import load_trace as load_trace
    from vigil_lang.runs import load_traces as load_traces
    from vigil_lang.semantics.policy import Policy as Policy
    from vigil_lang.semantics.policy import load_policy as load_policy
    from vigil_lang.trace import Event as Event
    from vigil_lang.trace import Signature as Signature
    from vigil_lang.trace import Trace as Trace
    from vigil_lang.verdict import Verdict as Verdict

_HOME = {
    "Diagnostic": "vigil_lang.diagnostics",
    "Event": "vigil_lang.trace",
    "InputError": "vigil_lang.diagnostics",
    "Policy": "vigil_lang.semantics.policy",
    "Signature": "vigil_lang.trace",
    "Trace": "vigil_lang.trace",
    "Verdict": "vigil_lang.verdict",
    "load_policy": "vigil_lang.semantics.policy",
    "load_trace": "vigil_lang.runs",
    "load_traces": "vigil_lang.runs",
    "verify": "vigil_lang.engines.smt.verify",
}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__

"""Vigil: executable behavioural policies for AI agents.

Five lines to a verdict::

    import vigil_lang as vigil

    policy = vigil.load_policy("dashcam.vgl")
    verdict = vigil.verify(policy, vigil.load_trace("run.jsonl"))
    for statement, offence in verdict.offences():
        print(statement.name, offence.event, offence.message)

docs/api.md says more. Names are imported on first use, so that ``import vigil_lang`` costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # without `typing`, whose import takes longer than a hook has
if TYPE_CHECKING:
    from vigil_lang.abstraction.run import Options as Options
    from vigil_lang.api import Call as Call
    from vigil_lang.api import Message as Message
    from vigil_lang.api import abstract as abstract
    from vigil_lang.api import load_policy as load_policy
    from vigil_lang.api import parse_policy as parse_policy
    from vigil_lang.api import parse_trace as parse_trace
    from vigil_lang.api import parse_traces as parse_traces
    from vigil_lang.api import verify as verify
    from vigil_lang.diagnostics import Diagnostic as Diagnostic
    from vigil_lang.diagnostics import InputError as InputError
    from vigil_lang.enforce.blocked import Blocked as Blocked
    from vigil_lang.enforce.blocked import PolicyWarning as PolicyWarning
    from vigil_lang.enforce.guard import Guard as Guard
    from vigil_lang.enforce.guard import guard as guard
    from vigil_lang.enforce.monitor import Monitor as Monitor
    from vigil_lang.runs import load_trace as load_trace
    from vigil_lang.runs import load_traces as load_traces
    from vigil_lang.semantics.policy import Policy as Policy
    from vigil_lang.signatures import load_signature as load_signature
    from vigil_lang.trace import Event as Event
    from vigil_lang.trace import Signature as Signature
    from vigil_lang.trace import Trace as Trace
    from vigil_lang.verdict import Verdict as Verdict
    from vigil_lang.version import __version__ as __version__

_HOME = {
    "Blocked": "vigil_lang.enforce.blocked",
    "Call": "vigil_lang.api",
    "Diagnostic": "vigil_lang.diagnostics",
    "Event": "vigil_lang.trace",
    "Guard": "vigil_lang.enforce.guard",
    "InputError": "vigil_lang.diagnostics",
    "Message": "vigil_lang.api",
    "Monitor": "vigil_lang.enforce.monitor",
    "Options": "vigil_lang.abstraction.run",
    "Policy": "vigil_lang.semantics.policy",
    "PolicyWarning": "vigil_lang.enforce.blocked",
    "Signature": "vigil_lang.trace",
    "Trace": "vigil_lang.trace",
    "Verdict": "vigil_lang.verdict",
    "__version__": "vigil_lang.version",
    "abstract": "vigil_lang.api",
    "guard": "vigil_lang.enforce.guard",
    "load_policy": "vigil_lang.api",
    "load_signature": "vigil_lang.signatures",
    "load_trace": "vigil_lang.runs",
    "load_traces": "vigil_lang.runs",
    "parse_policy": "vigil_lang.api",
    "parse_trace": "vigil_lang.api",
    "parse_traces": "vigil_lang.api",
    "verify": "vigil_lang.api",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__

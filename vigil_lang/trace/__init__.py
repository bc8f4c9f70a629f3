"""Runs: events in order, the signature they exhibit, and what a reader learned of their origin."""

from vigil_lang.trace.event import Event, Run, Status, Trace
from vigil_lang.trace.signature import Action, Argument, Signature, merge, observe

__all__ = ["Action", "Argument", "Event", "Run", "Signature", "Status", "Trace", "merge", "observe"]

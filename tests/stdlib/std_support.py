"""Small runs as Python values, and what a pattern of the standard library makes of them."""

from __future__ import annotations

from typing import Any

from vigil_lang.diagnostics import Source
from vigil_lang.semantics.denotation import violations
from vigil_lang.semantics.policy import Policy, load_policy, read_policy
from vigil_lang.trace import Event, Trace
from vigil_lang.trace.values import flatten


def call(action: str, *kinds: str, status: str = "ok", output: str | None = None, **args: Any) -> Event:
    """A call as Claude Code records it; `kinds` as an abstraction adds them."""
    return Event("", action, "", flatten(args), status, output, kinds)  # type: ignore[arg-type]


def bash(command: str, **members: Any) -> Event:
    return call("Bash", command=command, **members)


def run(*events: Event) -> Trace:
    """The events in order, named e1, e2, …"""
    named = (Event(f"e{n}", e.action, f"e{n}", e.args, e.status, e.output, e.kinds) for n, e in enumerate(events, 1))
    return Trace(tuple(named))


def policy(text: str) -> Policy:
    """A policy that is read without a finding."""
    found = read_policy(Source("<stdin>", text))
    assert not found.diagnostics, found.diagnostics
    return found


def matches(module: str, pattern: str, event: Event) -> bool:
    """Whether an applied pattern of a module holds of a single call."""
    (statement,) = policy(f"use {module}\nstatement S: abs({pattern})\n").statements
    return bool(violations(statement.requirement, run(event)))


def offenders(module: str, *events: Event) -> dict[str, list[str]]:
    """The events each statement of a module names, statements that hold left out."""
    trace = run(*events)
    found = {s.name: violations(s.requirement, trace) for s in load_policy(module).statements}
    return {name: [trace.events[at].id for at, _ in faults] for name, faults in found.items() if faults}

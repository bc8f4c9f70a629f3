"""Small runs, of recorded calls and of typed events, and what a module of the standard library makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from vigil_lang.abstraction.run import Abstraction
from vigil_lang.diagnostics import Source
from vigil_lang.engines.smt.verify import verify
from vigil_lang.semantics.denotation import violations
from vigil_lang.semantics.policy import Policy, load_policy, read_policy
from vigil_lang.trace import Event, Run, Trace
from vigil_lang.trace.record import Call, Message, Result, Start
from vigil_lang.trace.values import flatten

if TYPE_CHECKING:
    from vigil_lang.trace import Status

Tool: TypeAlias = tuple[str, dict[str, Any], "Status", str | None]
Given: TypeAlias = str | Tool | Message | Event
"""A command line that a shell ran well, a call of a tool, a message, or an event of another harness."""


def tool(name: str, status: Status = "ok", output: str | None = "", **args: Any) -> Tool:
    """A call of a tool as it is recorded."""
    return name, args, status, output


def bash(command: str, status: Status = "ok", output: str | None = "") -> Tool:
    """A command line, with what came of it."""
    return tool("Bash", status, output, command=command)


def said(text: str) -> Message:
    """A message of the user."""
    return Message("user", text)


def event(action: str, *kinds: str, status: Status = "ok", output: str | None = None, **args: Any) -> Event:
    """An event that states its kinds itself."""
    return Event("", action, "", flatten(args), status, output, kinds)


def trace(*given: Given) -> Trace:
    """A run in /repo. Calls and their steps are e1, e1.1, …, messages m1, …, other events t and their place."""
    run = Run("run.jsonl", "claude-code", cwd="/repo")
    made = Abstraction()
    made.add(Start(run))
    for place, item in enumerate(given, 1):
        match item:
            case Message():
                made.add(item)
            case Event():
                name = f"t{place}"
                made.add(Event(name, item.action, name, item.args, item.status, item.output, item.kinds))
            case _:
                name, args, status, output = bash(item) if isinstance(item, str) else item
                made.add(Call(f"c{place}", name, args))
                made.add(Result(f"c{place}", status, output))
    return Trace(tuple(made.rest()), run)


def policy(text: str) -> Policy:
    """A policy that is read without a finding."""
    found = read_policy(Source("<stdin>", text))
    assert not found.diagnostics, found.diagnostics
    return found


def holds(module: str, pattern: str, *given: Given) -> list[str]:
    """The actions of the events of which an applied pattern of a module holds."""
    (statement,) = policy(f"use {module}\nstatement S: abs({pattern})\n").statements
    run = trace(*given)
    return [run.events[at].action for at, _ in violations(statement.requirement, run)]


def offenders(policy: str | Policy, *given: Given) -> dict[str, list[str]]:
    """The events that each statement of a policy, or of a module, names; statements that hold are left out."""
    chosen = load_policy(policy) if isinstance(policy, str) else policy
    verdict = verify([chosen], trace(*given))
    return {s.name: [offence.event for offence in s.offending] for s in verdict.statements if s.offending}

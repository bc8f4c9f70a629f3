"""Deciding a query with Z3: the verdict with its minimal core, and a certificate for all offending events."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import z3

from vigil_lang.smt import script
from vigil_lang.smt.symbols import shown

if TYPE_CHECKING:
    from vigil_lang.smt.encode import Encoding
    from vigil_lang.smt.query import Formula


class SolverDisagrees(Exception):
    """Z3 did not confirm what the run's facts determine: a fault of this program, never of its input."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What Z3 said of one statement: `unsat` exactly when the run breaks it.

    `core` holds the names of a minimal set of conditions that the facts contradict; `offending` every condition that
    fails by itself, as (event index, first failing binding).
    """

    result: str
    core: tuple[str, ...]
    offending: tuple[tuple[int, tuple[str | None, ...]], ...]
    seconds: float


_HEAD = ["(set-option :produce-unsat-cores true)", "(set-option :smt.core.minimize true)"]
_SYMBOL = re.compile(r"\|[^|]*\||[^\s()|]+")


def assertion_name(statement: str, event: str) -> str:
    """The name Rφ(e) is asserted under: `R3@e5`."""
    return f"{statement}@{shown(event)}"


def decide(encoding: Encoding, statement: str) -> Decision:
    """Check unsat(⟦τ⟧ ∧ Rφ).

    Raises:
        SolverDisagrees: Z3's answer is not the one the facts determine.
    """
    started = time.perf_counter()
    query, events = encoding.query, encoding.trace.events
    goals = [(c, query.all([formula for _, formula in c.cases])) for c in encoding.conditions]
    names = _names(statement, [events[c.event].id for c, _ in goals])
    lines = [*_HEAD, f"(set-logic {script.logic(query)})", *script.facts(query), *script.definitions(query)]
    lines += script.named(zip(names, (goal for _, goal in goals), strict=True))
    result, core = _check(lines)
    failing = [(c, goal) for c, goal in goals if not query.value(goal)]
    if (result == "unsat") != bool(failing):
        raise SolverDisagrees(f"{statement}: the facts say {len(failing)} events offend, Z3 says {result}")
    if failing:
        _certify(encoding, statement, goals)
    first = _first_bindings(encoding, [c.cases for c, _ in failing])
    offending = tuple((c.event, binding) for (c, _), binding in zip(failing, first, strict=True))
    return Decision(result, core, offending, time.perf_counter() - started)


def _names(statement: str, ids: list[str]) -> list[str]:
    """Distinct assertion names; two ids that are shown alike are told apart by a number."""
    seen: dict[str, int] = {}
    names = []
    for event in ids:
        name = assertion_name(statement, event)
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return names


def _check(lines: list[str]) -> tuple[str, tuple[str, ...]]:
    """(`sat` or `unsat`, names in the core)."""
    answer = evaluate([*lines, "(check-sat)"], "(get-unsat-core)")
    result, _, rest = answer.partition("\n")
    if result == "unsat":
        return result, tuple(symbol.strip("|") for symbol in _SYMBOL.findall(rest))
    if result != "sat":
        raise SolverDisagrees(f"Z3 answered: {answer[:200]}")
    return result, ()


def evaluate(lines: list[str], after_unsat: str = "") -> str:
    """What Z3 prints for a script, and for one more command if that was `unsat`."""
    context = z3.Context()
    answer = z3.Z3_eval_smtlib2_string(context.ref(), "\n".join(lines)).strip()
    if answer == "unsat" and after_unsat:
        answer += "\n" + z3.Z3_eval_smtlib2_string(context.ref(), after_unsat).strip()
    return str(answer)


def _certify(encoding: Encoding, statement: str, goals: list[tuple[object, Formula]]) -> None:
    """One query for all events: the conditions that hold and the negations of those that fail are consistent.

    The facts fix every symbol, so there is one model at most: `sat` says that exactly these events offend.
    """
    query = encoding.query
    lines = [f"(set-logic {script.logic(query)})", *script.facts(query), *script.definitions(query)]
    lines += [
        f"(assert {script.term(goal)})" if query.value(goal) else f"(assert (not {script.term(goal)}))"
        for _, goal in goals
    ]
    answer = evaluate([*lines, "(check-sat)"])
    if answer != "sat":
        raise SolverDisagrees(f"{statement}: Z3 does not confirm the offending events: {answer[:200]}")


def _first_bindings(
    encoding: Encoding, cases: list[tuple[tuple[tuple[str | None, ...], Formula], ...]]
) -> list[tuple[str | None, ...]]:
    """For each offending event the first failing binding: the fresh text, then values as the run shows them."""
    query, rank = encoding.query, None
    first = []
    for event_cases in cases:
        failing = [key for key, formula in event_cases if not query.value(formula)]
        if len(failing) > 1:
            rank = rank or {value: at for at, value in enumerate(encoding.trace.values)}
            failing.sort(key=lambda key: [-1 if v is None else rank[v] for v in key])  # type: ignore[index]
        first.append(failing[0])
    return first

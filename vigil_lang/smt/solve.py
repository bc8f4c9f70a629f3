"""Deciding a query with Z3: the verdict with its minimal core, and a certificate for all offending events."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import z3

from vigil_lang.collector import collector_paused
from vigil_lang.smt import script
from vigil_lang.smt.symbols import Distinct, shown

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


def decide(encoding: Encoding, statement: str) -> Decision:
    """Check unsat(⟦τ⟧ ∧ Rφ), and in the same session that exactly the offending events offend.

    The second check asserts the conditions that hold and the negations of those that fail: the facts fix every
    symbol, so there is at most one model, and `sat` confirms each event's condition at once.

    Raises:
        SolverDisagrees: Z3's answer is not the one the facts determine.
    """
    started = time.perf_counter()
    with collector_paused():
        return _decide(encoding, statement, started)


def _decide(encoding: Encoding, statement: str, started: float) -> Decision:
    query, events = encoding.query, encoding.trace.events
    goals = [query.all([formula for _, formula in c.cases]) for c in encoding.conditions]
    terms = [script.term(goal) for goal in goals]
    met = [query.value(goal) for goal in goals]
    names = assertion_names(statement, [events[c.event].id for c in encoding.conditions])
    session = Session([*_HEAD, f"(set-logic {script.logic(query)})", *script.facts(query), *script.definitions(query)])
    result, core = session.check([f"(assert (! {t} :named |{n}|))" for t, n in zip(terms, names, strict=True)])
    if result != ("unsat" if False in met else "sat"):
        raise SolverDisagrees(f"{statement}: the facts say {met.count(False)} events offend, Z3 says {result}")
    if result == "unsat":
        certificate = [f"(assert {t})" if holds else f"(assert (not {t}))" for t, holds in zip(terms, met, strict=True)]
        if session.check(certificate)[0] != "sat":
            raise SolverDisagrees(f"{statement}: Z3 does not confirm which events offend")
    failing = [c for c, holds in zip(encoding.conditions, met, strict=True) if not holds]
    bindings = _first_bindings(encoding, [c.cases for c in failing])
    offending = tuple((c.event, binding) for c, binding in zip(failing, bindings, strict=True))
    return Decision(result, core, offending, time.perf_counter() - started)


def assertion_names(statement: str, ids: list[str]) -> list[str]:
    """The name each Rφ(e) is asserted under, `R3@e5`; ids that are shown alike are told apart by a number."""
    distinct = Distinct()
    return [distinct(f"{statement}@{shown(event)}") for event in ids]


def evaluate(lines: list[str]) -> str:
    """What Z3 prints for a whole script, in a context of its own: its limits bind no other."""
    return _answer(z3.Context(), "\n".join(lines))


def answer_and_core(lines: list[str]) -> tuple[str, tuple[str, ...]]:
    """What Z3 says of a script in a context of its own, and the names in the core where that is `unsat`."""
    context = z3.Context()
    answer = _answer(context, "\n".join([*lines, "(check-sat)"]))
    return answer, _names(_answer(context, "(get-unsat-core)")) if answer == "unsat" else ()


def _names(core: str) -> tuple[str, ...]:
    return tuple(symbol.strip("|") for symbol in _SYMBOL.findall(core))


def _z3(text: str) -> str:
    """What Z3 prints for some commands. Each thread has one context: making one takes longer than most queries."""
    if not hasattr(_own, "context"):
        _own.context = z3.Context()
    return _answer(_own.context, text)


def _answer(context: z3.Context, text: str) -> str:
    try:
        return str(z3.Z3_eval_smtlib2_string(context.ref(), text)).strip()
    except z3.Z3Exception as error:
        if "max. resource limit exceeded" in str(error):  # how Z3 says `unknown` after a `push`
            return "unknown"
        raise SolverDisagrees(f"Z3 rejected a script: {error}") from error


_own = threading.local()


class Session:
    """A script Z3 has read, and checks on top of it. A thread has one at a time; the next begins by a reset.

    Z3 reads text several times faster than its Python interface builds terms, and the text is what `vigil compile`
    shows.
    """

    def __init__(self, lines: list[str]) -> None:
        self._unread = ["(reset)", *lines]

    def check(self, assertions: list[str]) -> tuple[str, tuple[str, ...]]:
        """(`sat`, `unsat` or `unknown`, names in the core) under some more assertions, which are then withdrawn.

        Raises:
            SolverDisagrees: Z3 rejected the script.
        """
        answer = _z3("\n".join([*self._unread, "(push 1)", *assertions, "(check-sat)"]))
        self._unread = ["(pop 1)"]
        if answer not in ("sat", "unsat", "unknown"):
            raise SolverDisagrees(f"Z3 answered: {answer[:200]}")
        return answer, _names(_z3("(get-unsat-core)")) if answer == "unsat" else ()


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
            failing.sort(key=lambda key: [-1 if v is None else rank[v] for v in key])
        first.append(failing[0])
    return first

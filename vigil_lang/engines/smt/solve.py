"""Z3 confirms what the facts of a run determine: a minimal core, and a certificate for all offending events."""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING

import z3

from vigil_lang.base.collector import collector_paused
from vigil_lang.engines.interface import Certificate
from vigil_lang.engines.smt import script
from vigil_lang.engines.smt.symbols import Distinct, shown

if TYPE_CHECKING:
    from collections.abc import Collection

    from vigil_lang.engines.smt.encode import Encoding


class SolverDisagrees(Exception):
    """Z3 did not confirm what the run's facts determine: a fault of this program, never of its input."""


_HEAD = ["(set-option :produce-unsat-cores true)", "(set-option :smt.core.minimize true)"]
_SYMBOL = re.compile(r"\|[^|]*\||[^\s()|]+")


def certify(encoding: Encoding, statement: str, offending: Collection[int]) -> Certificate:
    """Check unsat(⟦τ⟧ ∧ Rφ), and in the same session that exactly the `offending` events, by their indices, offend.

    The second check asserts the conditions that hold and the negations of those that fail: the facts fix every
    symbol, so there is at most one model, and `sat` confirms each event's condition at once.

    Raises:
        SolverDisagrees: Z3's answer is not the one given.
    """
    started = time.perf_counter()
    with collector_paused():
        return _certified(encoding, statement, offending, started)


def _certified(encoding: Encoding, statement: str, offending: Collection[int], started: float) -> Certificate:
    query, events = encoding.query, encoding.trace.events
    terms = [script.term(query.all([formula for _, formula in c.cases])) for c in encoding.conditions]
    met = [c.event not in offending for c in encoding.conditions]
    if met.count(False) < len(offending):
        raise SolverDisagrees(f"{statement}: an event is said to offend whose condition is true of every run")
    names = assertion_names(statement, [events[c.event].id for c in encoding.conditions])
    session = Session([*_HEAD, f"(set-logic {script.logic(query)})", *script.facts(query), *script.definitions(query)])
    result, core = session.check([f"(assert (! {t} :named |{n}|))" for t, n in zip(terms, names, strict=True)])
    if result != ("unsat" if False in met else "sat"):
        raise SolverDisagrees(f"{statement}: the facts say {met.count(False)} events offend, Z3 says {result}")
    if result == "unsat":
        confirming = [f"(assert {t})" if holds else f"(assert (not {t}))" for t, holds in zip(terms, met, strict=True)]
        if session.check(confirming)[0] != "sat":
            raise SolverDisagrees(f"{statement}: Z3 does not confirm which events offend")
    return Certificate(result, core, time.perf_counter() - started)


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

"""Queries as SMT-LIB 2.6 text: what Z3 is given and what `vigil compile` writes are the same lines."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from pysmt import operators as op

from vigil_lang.engines.smt.symbols import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.engines.smt.query import Formula, Query

_OPERATORS = {op.AND: "and", op.OR: "or", op.NOT: "not", op.IMPLIES: "=>", op.ITE: "ite", op.PLUS: "+", op.LE: "<="}


def term(formula: Formula) -> str:
    """A formula as an SMT-LIB term. Definitions keep formulas shallow, so plain recursion serves."""
    kind = formula.node_type()
    if kind == op.SYMBOL:
        return quoted(formula.symbol_name())
    if kind == op.BOOL_CONSTANT:
        return "true" if formula.constant_value() else "false"
    if kind == op.INT_CONSTANT:
        return format(Decimal(formula.constant_value()), "f")  # `str` refuses a number of thousands of digits
    return f"({_OPERATORS[kind]} {' '.join(map(term, formula.args()))})"


def logic(query: Query) -> str:
    """The logic a query needs: counting calls takes integers, all else is propositional."""
    return "QF_LIA" if query.uses_integers else "QF_UF"


def facts(query: Query) -> list[str]:
    """⟦τ⟧: a symbol for everything a condition of the statement sees the run do."""
    return [fact(symbol) for symbol in query.facts]


def fact(symbol: Formula) -> str:
    """One fact: declared and asserted."""
    name = term(symbol)
    return f"(declare-const {name} Bool) (assert {name})"


def definitions(query: Query) -> list[str]:
    """What the requirement builds on: chains, blocks and counters over the facts."""
    lines = []
    for symbol, body in query.definitions:
        name, sort = term(symbol), "Bool" if symbol.symbol_type().is_bool_type() else "Int"
        lines.append(f"(declare-const {name} {sort}) (assert (= {name} {term(body)}))")
    return lines


def named(assertions: Iterable[tuple[str, Formula]]) -> list[str]:
    """Rφ(e), one named assertion an event."""
    return [f"(assert (! {term(formula)} :named {quoted(name)}))" for name, formula in assertions]

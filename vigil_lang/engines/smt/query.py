"""The query unsat(⟦τ⟧ ∧ Rφ): pySMT formulas over Boolean facts, and the value the run gives to each.

Closed world: a fact that holds is a symbol asserted true; one that does not is `false` and never written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from pysmt import operators as op
from pysmt.fnode import FNode, FNodeContent
from pysmt.formula import FormulaManager
from pysmt.typing import BOOL, INT

from vigil_lang.engines.effort import SOLVED
from vigil_lang.engines.smt.symbols import Distinct

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Formula: TypeAlias = Any  # pysmt.fnode.FNode; pySMT is not typed


class _Terms(FormulaManager):  # type: ignore[misc]
    """Builds formulas without typing each one again: they are well-sorted by construction, and Z3 checks.

    Equal formulas are one object, so the constants are told by identity.
    """

    def new_symbol(self, name: str, sort: Any) -> Formula:
        """A symbol whose name no other has, so that there is no equal formula to look for."""
        self._next_free_id += 1
        return FNode(FNodeContent(op.SYMBOL, (), (name, sort)), self._next_free_id - 1)

    def _do_type_check(self, formula: Formula) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Condition:
    """Rφ(e): the conjunction of Θ(e, x̄) over the bindings that can fail."""

    event: int
    cases: tuple[tuple[tuple[str | None, ...], Formula], ...]


class Query:
    """Facts and definitions as they are made, in an order in which every symbol precedes its use."""

    def __init__(self, make: Callable[[int], None]) -> None:
        """`make` is told of every symbol, and raises where they become too many."""
        self._make = make
        self._terms = _Terms()
        self.true: Formula = self._terms.TRUE()
        self.false: Formula = self._terms.FALSE()
        self.facts: list[Formula] = []
        self.definitions: list[tuple[Formula, Formula]] = []
        self.uses_integers = False
        self._values: dict[Formula, bool | int] = {}
        self._distinct = Distinct()

    def fact(self, name: str) -> Formula:
        """A symbol for something the run did."""
        self._make(1)
        symbol = self._symbol(name, BOOL)
        self.facts.append(symbol)
        self._values[symbol] = True
        return symbol

    def define(self, name: str, body: Formula) -> Formula:
        """A Boolean symbol equal to a formula; constants and symbols stand for themselves."""
        if body is self.true or body is self.false or body.node_type() == op.SYMBOL:
            return body
        self._make(SOLVED)
        symbol = self._symbol(name, BOOL)
        self._values[symbol] = self.value(body)
        self.definitions.append((symbol, body))
        return symbol

    def total(self, name: str, before: Formula | None, cases: Sequence[tuple[Formula, int]]) -> Formula | None:
        """An integer symbol: `before` (0 when None) plus the amount of each case that holds."""
        body = self._sum(before, cases)
        return body if body is before else self._number(name, body)

    def cleared(self, name: str, reset: Formula, before: Formula) -> Formula:
        """An integer symbol: 0 if `reset` holds, else `before`."""
        return self._number(name, self._terms.Ite(reset, self._terms.Int(0), before))

    def at_least(
        self,
        counter: Formula | None,
        amount: int,
        start: Formula | None = None,
        cases: Sequence[tuple[Formula, int]] = (),
    ) -> Formula:
        """counter + the cases that hold ≥ start + amount, where None is 0."""
        terms = self._terms
        total = self._sum(counter, cases)
        if total is None:
            return self.true if amount <= 0 and start is None else self.false
        least = terms.Int(amount) if start is None else terms.Plus(start, terms.Int(amount))
        return terms.GE(total, least)

    def enough(self, cases: Sequence[tuple[Formula, int]], amount: int) -> Formula:
        """Whether the cases that hold come to an amount."""
        if sum(number for formula, number in cases if formula is not self.false) < amount:
            return self.false
        if amount == 1 and all(number == 1 for _, number in cases):
            return self.any([formula for formula, _ in cases])
        self._make(len(cases))
        return self.at_least(None, amount, None, cases)

    def _sum(self, before: Formula | None, cases: Sequence[tuple[Formula, int]]) -> Formula | None:
        terms = self._terms
        parts = [terms.Ite(f, terms.Int(number), terms.Int(0)) for f, number in cases if f is not self.false and number]
        if not parts:
            return before
        self.uses_integers = True
        return terms.Plus([before, *parts]) if before is not None else terms.Plus(parts) if parts[1:] else parts[0]

    def _number(self, name: str, body: Formula) -> Formula:
        self._make(SOLVED)
        symbol = self._symbol(name, INT)
        self._values[symbol] = self.value(body)
        self.definitions.append((symbol, body))
        return symbol

    def negate(self, body: Formula) -> Formula:
        """¬body."""
        if body is self.true:
            return self.false
        return self.true if body is self.false else self._terms.Not(body)

    def all(self, items: Sequence[Formula]) -> Formula:
        """∧ items, constants folded."""
        true, false = self.true, self.false
        kept = [i for i in items if i is not true]
        if any(i is false for i in kept):
            return false
        if not kept:
            return true
        return kept[0] if len(kept) == 1 else self._terms.And(kept)

    def any(self, items: Sequence[Formula]) -> Formula:
        """∨ items, constants folded."""
        true, false = self.true, self.false
        kept = [i for i in items if i is not false]
        if any(i is true for i in kept):
            return true
        if not kept:
            return false
        return kept[0] if len(kept) == 1 else self._terms.Or(kept)

    def implies(self, left: Formula, right: Formula) -> Formula:
        """left ⇒ right; a false consequent stays visible as ¬left."""
        if left is self.false or right is self.true:
            return self.true
        if left is self.true:
            return right
        return self._terms.Not(left) if right is self.false else self._terms.Implies(left, right)

    def value(self, formula: Formula) -> Any:
        """What the run makes of a formula: its facts determine every symbol."""
        kind = formula.node_type()
        if kind == op.SYMBOL:
            return self._values[formula]
        if kind in (op.BOOL_CONSTANT, op.INT_CONSTANT):
            return formula.constant_value()
        args = formula.args()
        if kind == op.NOT:
            return not self.value(args[0])
        if kind == op.AND:
            return all(map(self.value, args))
        if kind == op.OR:
            return any(map(self.value, args))
        if kind == op.IMPLIES:
            return not self.value(args[0]) or self.value(args[1])
        if kind == op.ITE:
            return self.value(args[1] if self.value(args[0]) else args[2])
        if kind == op.PLUS:
            return sum(map(self.value, args))
        if kind == op.LE:
            return self.value(args[0]) <= self.value(args[1])
        raise AssertionError(kind)

    def _symbol(self, name: str, sort: Any) -> Formula:
        """A new symbol; a name that is taken gets a number."""
        return self._terms.new_symbol(self._distinct(name), sort)

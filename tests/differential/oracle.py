"""The meaning of statements once more, straight from the language's definition, sharing no code with the engines.

It reads events as the JSON objects of a trace and statements as parsed, expands declarations by itself, and tries
every binding. Where the definition leaves something open, the reading taken is marked "Reading".
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from itertools import product
from typing import Any

from tests.differential.oracle_texts import canonical, flattened, glob, unescaped
from vigil_lang.syntax import tree

UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
Binding = dict[str, str | None]


class Oracle:
    """One file of statements on one run."""

    def __init__(self, file: tree.File, lines: list[dict[str, Any]]) -> None:
        self.declared = {i.name.text: i for i in file.items if isinstance(i, tree.Let | tree.Param | tree.Pattern)}
        self.events = lines
        found = (flattened("", line.get("args", {})) for line in lines)
        self.args = [{name[1:]: texts for name, texts in args.items()} for args in found]
        calls = [line.get("call", f"own {at}") for at, line in enumerate(lines)]
        self.call = [list(dict.fromkeys(calls)).index(call) for call in calls]
        self.values = dict.fromkeys(
            text for at in range(len(lines)) for texts in [*self.args[at].values(), self.output(at)] for text in texts
        )

    def output(self, at: int) -> list[str]:
        output = self.events[at].get("output")
        return [] if output is None else [canonical(output)]

    # --- statements ---

    def offences(self, statement: tree.Statement, variables: tuple[str, ...]) -> list[tuple[int, Binding]]:
        """Every event whose condition fails, with the first binding that fails it."""
        bindings = self.bindings(variables)
        failing = [(at, [b for b in bindings if not self.allowed(statement, at, b)]) for at in range(len(self.events))]
        return [(at, found[0]) for at, found in failing if found]

    def exercised(self, statement: tree.Statement, variables: tuple[str, ...]) -> bool:
        """Reading: `abs`, and `always` without `implies` at the top, are always put to the test."""
        form = statement.form
        if form.name == "abs" or (form.name == "always" and not isinstance(form.args[0], tree.Implies)):
            return True
        trigger = form.args[0].left if isinstance(form.args[0], tree.Implies) else form.args[0]
        return any(
            self.true(trigger, at, b, {}) and self.after(statement, at, b)
            for at in range(len(self.events))
            for b in self.bindings(variables)
        )

    def bindings(self, variables: tuple[str, ...]) -> list[Binding]:
        """The fresh text (None), then the values of the run, for every variable."""
        domain = [None, *self.values]
        return [dict(zip(variables, v, strict=True)) for v in product(domain, repeat=len(variables))]

    def allowed(self, statement: tree.Statement, at: int, b: Binding) -> bool:
        """Table VI; `after` restricts it to triggers with an earlier event of the scope."""
        form, later = statement.form, range(at + 1, len(self.events))
        first, *others = form.args
        if form.name == "always":
            return self.true(first, at, b, {})
        if not (self.true(first, at, b, {}) and self.after(statement, at, b)):
            return True
        holds = [lambda i, e=expr: self.true(e, i, b, {}) for expr in others]
        match form.name:
            case "abs":
                return False
            case "prec":
                return any(map(holds[0], range(at)))
            case "resp" | "bresp":
                return any(holds[0](i) and self.near(at, i, form.bound) for i in later)
            case "rslv":
                return holds[0](at) or any(holds[0](i) or self.true(first, i, b, {}) for i in later)
            case "until":
                bad = [i for i in later if holds[1](i)]
                return all(any(map(holds[0], range(at + 1, i))) for i in bad)
            case _:  # Reading: an early call that goes on after the limit was reached is named again.
                met = {self.call[i] for i in range(at) if self.true(first, i, b, {}) and self.after(statement, i, b)}
                return len(met - {self.call[at]}) < int(form.bound.raw)

    def after(self, statement: tree.Statement, at: int, b: Binding) -> bool:
        return statement.after is None or any(self.true(statement.after, i, b, {}) for i in range(at))

    def near(self, at: int, to: int, bound: tree.Bound | None) -> bool:
        """Reading: distances are signed, so what lies later in the run and earlier by the clock is near."""
        at, to = min(at, to), max(at, to)
        if bound is None or bound.raw.isdigit():
            return bound is None or self.call[to] - self.call[at] <= int(bound.raw)
        start, end = (self.events[i].get("time") for i in (at, to))
        amount, unit = re.fullmatch(r"(\d+)(\w+)", bound.raw).groups()
        limit = timedelta(**{UNITS[unit]: int(amount)})
        return bool(start and end) and datetime.fromisoformat(end) - datetime.fromisoformat(start) <= limit

    # --- bodies and conditions ---

    def true(self, expr: Any, at: int, b: Binding, params: dict[str, Any]) -> bool:
        match expr:
            case tree.Not(body):
                return not self.true(body, at, b, params)
            case tree.And(items):
                return all(self.true(item, at, b, params) for item in items)
            case tree.Or(items):
                return any(self.true(item, at, b, params) for item in items)
            case tree.Implies(left, right):
                return not self.true(left, at, b, params) or self.true(right, at, b, params)
            case tree.Diamond(direction, bound, body):
                others = range(at) if direction == "earlier" else range(at + 1, len(self.events))
                return any(self.true(body, i, b, params) and self.near(at, i, bound) for i in others)
            case tree.ActionIn(names):
                return bool(self.names(at) & self.set(names))
            case tree.ActionIs(name):
                return (name.text if isinstance(name, tree.Name) else unescaped(name.raw)) in self.names(at)
            case tree.ActionMatches(text):
                return any(self.matches(text, name) for name in self.names(at))
            case tree.StatusIs(status):
                return self.events[at].get("status") == status
            case tree.Has(field):
                return bool(self.output(at)) if field.kind == "output" else unescaped(field.name) in self.args[at]
            case tree.Apply(tree.Name(name), args) if isinstance(self.declared.get(name), tree.Pattern):
                pattern = self.declared[name]
                given = [a.name if isinstance(a, tree.Apply) else a for a in args or ()]
                inner = {p.text: self.term(g, params) for p, g in zip(pattern.params, given, strict=True)}
                return self.true(pattern.body, at, b, inner)
            case tree.Apply(name, args):
                action = name.text if isinstance(name, tree.Name) else unescaped(name.raw)
                return action in self.names(at) and all(self.true(a, at, b, params) for a in args)
        reads, operand = expr.field, expr.operand
        texts = self.output(at) if reads.kind == "output" else self.args[at].get(unescaped(reads.name), [])
        return any(self.test(expr.operator, text, operand, b, params) for text in texts)

    def test(self, operator: str, text: str, operand: Any, b: Binding, params: dict[str, Any]) -> bool:
        if operator in ("in", "not in"):
            return (text in self.set(operand)) == (operator == "in")
        if operator in ("~", "!~"):
            return self.matches(operand, text) == (operator == "~")
        value = self.value(operand, b, params)
        if operator in ("=", "!="):
            return (text == value) == (operator == "=")
        if operator == "contains":
            return bool(value) and value in text
        try:
            number, limit = Decimal(text), Decimal(value)
        except InvalidOperation:
            return False
        return {"<": number < limit, "<=": number <= limit, ">": number > limit, ">=": number >= limit}[operator]

    def names(self, at: int) -> set[str]:
        return {self.events[at]["action"], *self.events[at].get("kinds", [])}

    def set(self, union: tree.SetUnion) -> set[str]:
        found: set[str] = set()
        for part in union.parts:
            if isinstance(part, tree.SetLiteral):
                found |= {self.word(element) for element in part.elements}
            else:
                item = self.declared[part.text]
                found |= self.set(item.value if isinstance(item, tree.Let) else item.default)
        return found

    def word(self, element: Any) -> str | None:
        """An element of a set: what it is declared as, else its own text."""
        own = isinstance(element, tree.Name) and element.text not in self.declared
        return element.text if own else self.value(element, {}, {})

    def term(self, term: Any, params: dict[str, Any]) -> Any:
        return params.get(term.text, term) if isinstance(term, tree.Name) else term

    def value(self, term: Any, b: Binding, params: dict[str, Any]) -> str | None:
        """The text a term stands for: a literal, a declared value, or the variable's."""
        match self.term(term, params):
            case tree.String(raw):
                return unescaped(raw)
            case tree.Number(raw):
                return canonical(Decimal(raw))
            case tree.Boolean(value):
                return canonical(value)
            case tree.Name(name) if name in self.declared:
                item = self.declared[name]
                return self.value(item.value if isinstance(item, tree.Let) else item.default, b, {})
            case tree.Name(name):
                return b[name]

    def matches(self, pattern: Any, text: str) -> bool:
        if isinstance(pattern, tree.Regex):
            return re.search(pattern.raw, text, re.IGNORECASE if pattern.ignore_case else 0) is not None
        if isinstance(pattern, tree.Name):
            item = self.declared[pattern.text]
            pattern = item.value if isinstance(item, tree.Let) else item.default
        return glob(pattern.raw, text)

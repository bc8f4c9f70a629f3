"""The meaning of statements once more, straight from the language's definition, sharing no code with the engines.

It reads events as the JSON objects of a trace and statements as parsed, expands declarations by itself, and tries
every binding. Where the definition leaves something open, the reading taken is marked "Reading".
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from tests.differential.oracle_texts import canonical, flattened, glob, unescaped
from tests.differential.oracle_views import entry, viewed
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
Binding = dict[str, str | None]
Args = dict[str, list[str]]


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
        bindings = self.bindings(statement, variables)
        failing = [(at, [b for b in bindings if not self.allowed(statement, at, b)]) for at in range(len(self.events))]
        return [(at, found[0]) for at, found in failing if found]

    def exercised(self, statement: tree.Statement, variables: tuple[str, ...]) -> bool:
        """Reading: `abs`, `atleast`, and `always` without `implies` at the top, are always put to the test, unless
        they have a scope (for `abs` even then)."""
        form = statement.form
        implies = form.name == "always" and isinstance(form.args[0], tree.Implies)
        scoped = statement.after is not None or statement.where is not None
        if form.name == "abs" or (form.name in ("always", "atleast") and not implies and not scoped):
            return True
        return any(
            self.triggered(statement, at, b)
            for at in range(len(self.events))
            for b in self.bindings(statement, variables)
        )

    def triggered(self, statement: tree.Statement, at: int, b: Binding) -> bool:
        """What comes first in most forms, what stands before `implies` in `always`, the end of the run in `atleast`."""
        first = statement.form.args[0]
        match statement.form.name:
            case "always":
                return self.scope(statement, at, b) and (
                    not isinstance(first, tree.Implies) or self.true(first.left, at, b, {})
                )
            case "atleast":
                return at == len(self.events) - 1 and self.scope(statement, at, b, or_at_once=True)
            case _:
                return self.true(first, at, b, {}) and self.scope(statement, at, b)

    def bindings(self, statement: tree.Statement, variables: tuple[str, ...]) -> list[Binding]:
        """The fresh text (None), then the values of the run, for every variable."""
        domain = [None, *self.domain(statement)]
        return [dict(zip(variables, v, strict=True)) for v in product(domain, repeat=len(variables))]

    def domain(self, statement: tree.Statement) -> list[str]:
        """V: event by event its texts, then what the views make of them that a variable is compared with."""
        form = statement.form
        first, *others = form.args
        after, since = [statement.after], [form.since]
        order = [first, *after, *others, *since]
        if form.name == "atleast" or (form.name == "always" and not isinstance(first, tree.Implies)):
            order = [*after, first]
        elif form.name == "always":
            order = [first.left, *after, first.right]
        fields = [field for expr in order if expr is not None for field in self.compared(expr, {})]
        found: list[str] = []
        for at in range(len(self.events)):
            found += [text for texts in [*self.args[at].values(), self.output(at)] for text in texts]
            found += [text for read in fields for text in self.made(at, *read)]
        return list(dict.fromkeys(found))

    def compared(self, expr: Any, params: dict[str, Any]) -> Iterator[tuple[tree.Field, tree.Field | None]]:
        """The fields with views, and the members of entries, that stand before `= x`, from left to right."""
        match expr:
            case tree.Test(field, "=", operand):
                found = self.term(operand, params)
                if isinstance(found, tree.Name) and found.text not in self.declared and field.views:
                    yield field, None
            case tree.Entry(field, body):
                for test in tests_in(body):
                    found = self.term(test.operand, params)
                    if test.operator == "=" and isinstance(found, tree.Name) and found.text not in self.declared:
                        yield field, test.field
            case tree.Apply(tree.Name(name), args) if isinstance(self.declared.get(name), tree.Pattern):
                pattern = self.declared[name]
                yield from self.compared(pattern.body, self.inside(pattern, args, params))
            case tree.Not(body) | tree.Diamond(_, _, body) | tree.Repeated(_, body):
                yield from self.compared(body, params)
            case tree.Implies(left, right) | tree.Interval(_, _, _, left, right):
                yield from self.compared(left, params)
                yield from self.compared(right, params)
            case tree.And(items) | tree.Or(items):
                for item in items:
                    yield from self.compared(item, params)
            case tree.Apply(_, args):
                for item in args or ():
                    yield from self.compared(item, params)

    def made(self, at: int, field: tree.Field, member: tree.Field | None) -> list[str]:
        if member is None:
            return self.texts(field, at)
        found = [one for text in self.texts(field, at) if (one := entry(text)) is not None]
        texts = [text for one in found for text in one.get(unescaped(member.name), [])]
        return viewed(member.views, texts)

    def allowed(self, statement: tree.Statement, at: int, b: Binding) -> bool:
        """Table VI; `after` restricts it to triggers with an earlier event of the scope, `where` to some values."""
        form, later = statement.form, range(at + 1, len(self.events))
        first, *others = form.args
        if not self.triggered(statement, at, b):
            return True
        holds = [lambda i, e=expr: self.true(e, i, b, {}) for expr in others]
        match form.name:
            case "always":
                return self.true(first.right if isinstance(first, tree.Implies) else first, at, b, {})
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
        resets = [i for i in range(at) if form.since is not None and self.true(form.since, i, b, {})]
        counted = [
            i
            for i in range(max(resets, default=-1) + 1, at + 1)
            if self.near(i, at, form.window) and self.true(first, i, b, {}) and self.scope(statement, i, b)
        ]
        if form.name == "budget":
            own, limit = self.texts(form.field, at), Fraction(self.value(form.limit, {}, {}))
            numbers = [n for i in counted for text in self.texts(form.field, i) if (n := number(text)) is not None]
            return any(number(text) is not None for text in own) and sum(n for n in numbers if n > 0) <= limit
        count = self.count(counted, form.field)
        asked = int(form.bound.raw.split()[0])
        return count >= asked if form.name == "atleast" else count <= asked

    def count(self, events: list[int], distinct: tree.Field | None) -> int:
        """How many calls these events are of, or how many values the field has at them."""
        if distinct is None:
            return len({self.call[i] for i in events})
        return len({text for i in events for text in self.texts(distinct, i)})

    def scope(self, statement: tree.Statement, at: int, b: Binding, *, or_at_once: bool = False) -> bool:
        """What `after` asks for at an earlier event (at the end of the run: there, too), and `where` of the values."""
        events = range(at + or_at_once)
        if statement.after is not None and not any(self.true(statement.after, i, b, {}) for i in events):
            return False
        values = {x: [v] for x, v in b.items() if v is not None}
        return statement.where is None or self.of_args(statement.where, values, b, {})

    def near(self, first: int, second: int, bound: tree.Bound | None) -> bool:
        """Reading: distances are signed, so what lies later in the run and earlier by the clock is near, but for a
        bound that has a least distance."""
        if bound is None:
            return True
        first, second = min(first, second), max(first, second)
        limits, _, unit = bound.raw.partition(" ")
        least, dots, most = limits.partition("..")
        least, most = (least, most) if dots else ("0", least)
        start, end = (self.events[i].get("time") for i in (first, second))
        far: Any
        if any(limit.endswith(tuple(UNITS)) for limit in (least, most)):
            if not (start and end):
                return False
            far, measure = datetime.fromisoformat(end) - datetime.fromisoformat(start), duration
        elif unit.startswith("step"):
            far, measure = second - first, int
        else:
            far, measure = self.call[second] - self.call[first], int
        return (not most or far <= measure(most)) and (not least.strip("0msdh") or far >= measure(least))

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
            case tree.Interval(direction, weak, bound, left, right):
                others = range(at - 1, -1, -1) if direction == "since" else range(at + 1, len(self.events))
                found = [i for i in others if self.near(at, i, bound) and self.true(right, i, b, params)]
                lefts = {i: self.true(left, i, b, params) for i in others}
                between = [[j for j in others if abs(j - at) < abs(i - at)] for i in found]
                strong = any(all(lefts[j] for j in interval) for interval in between)
                return strong or (weak and all(lefts[i] for i in others if self.near(at, i, bound)))
            case tree.Repeated(bound, body, distinct):
                met = [i for i in range(at + 1) if self.true(body, i, b, params)]
                return self.count(met, distinct) >= int(bound.raw.split()[0])
            case tree.Entry(field, body):
                found = (entry(text) for text in self.texts(field, at))
                return any(one is not None and self.of_args(body, one, b, params) for one in found)
            case tree.Has(field) if field.kind == "output" or field.views:
                return bool(self.texts(field, at))
            case tree.Apply(tree.Name(name), args) if isinstance(self.declared.get(name), tree.Pattern):
                pattern = self.declared[name]
                return self.true(pattern.body, at, b, self.inside(pattern, args, params))
            case tree.Apply(name, args):
                action = name.text if isinstance(name, tree.Name) else unescaped(name.raw)
                return action in self.names(at) and all(self.true(a, at, b, params) for a in args or ())
        if expr.field.kind == "output":
            return self.some(expr, self.texts(expr.field, at), b, params)
        return self.of_args(expr, self.args[at], b, params)

    def of_args(self, expr: Any, args: Args, b: Binding, params: dict[str, Any]) -> bool:
        """A condition on arguments alone: an event's, an entry's members, or the variables' values."""
        match expr:
            case tree.Not(body):
                return not self.of_args(body, args, b, params)
            case tree.And(items):
                return all(self.of_args(item, args, b, params) for item in items)
            case tree.Or(items):
                return any(self.of_args(item, args, b, params) for item in items)
            case tree.Has(field):
                name = unescaped(field.name)
                return bool(viewed(field.views, args.get(name, []))) if field.views else name in args
            case tree.Test(field):
                return self.some(expr, viewed(field.views, args.get(unescaped(field.name), [])), b, params)
        raise AssertionError(expr)

    def some(self, test: tree.Test, texts: list[str], b: Binding, params: dict[str, Any]) -> bool:
        return any(self.test(test.operator, text, test.operand, b, params) for text in texts)

    def texts(self, field: tree.Field, at: int) -> list[str]:
        found = self.output(at) if field.kind == "output" else self.args[at].get(unescaped(field.name), [])
        return viewed(field.views, found)

    def inside(self, pattern: tree.Pattern, args: Any, params: dict[str, Any]) -> dict[str, Any]:
        """What the parameters of a pattern stand for in one application."""
        given = [a.name if isinstance(a, tree.Apply) else a for a in args or ()]
        return {p.text: self.term(g, params) for p, g in zip(pattern.params, given, strict=True)}

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
        found, limit = number(text), number(value or "")
        if found is None or limit is None:
            return False
        return {"<": found < limit, "<=": found <= limit, ">": found > limit, ">=": found >= limit}[operator]

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
        match pattern:
            case tree.Regex(raw, ignore_case):
                return re.search(raw, text, re.IGNORECASE if ignore_case else 0) is not None
            case tree.SetUnion(parts):
                return any(self.matches(part, text) for part in parts)
            case tree.SetLiteral(elements):
                return any(self.matches(element, text) for element in elements)
            case tree.Name(name) if name in self.declared:
                item = self.declared[name]
                return self.matches(item.value if isinstance(item, tree.Let) else item.default, text)
            case tree.Name(own):
                return own == text
            case tree.String(raw):
                return glob(raw, text)
            case literal:
                return self.value(literal, {}, {}) == text


def tests_in(body: Any) -> Iterator[tree.Test]:
    """The tests of an entry's members, from left to right."""
    match body:
        case tree.Test():
            yield body
        case tree.Not(inner):
            yield from tests_in(inner)
        case tree.And(items) | tree.Or(items):
            for item in items:
                yield from tests_in(item)


def number(text: str) -> Fraction | None:
    """The number that a text is as a whole."""
    if re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", text) is None:
        return None
    return Fraction(text)


def duration(text: str) -> timedelta:
    amount, unit = re.fullmatch(r"(\d+)(\w+)", text).groups()
    return timedelta(**{UNITS[unit]: int(amount)})

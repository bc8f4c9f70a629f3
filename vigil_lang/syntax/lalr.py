"""A parser that runs the tables Lark makes, in one loop without a call for every token.

A state is its row of the table: a dict that gives for a terminal the row to go to or the rule to reduce by, and for
the name of a rule, once that was reduced, the way on.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from vigil_lang.diagnostics.diagnostic import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vigil_lang.syntax.terminals import Body, Terminals

END = "$END"
_END_OF_INPUT = (("", "", 0, 0),)
_MOST_REMEMBERED = 10_000
_LONGEST_REMEMBERED = 40

Row: TypeAlias = "dict[str, Any]"
Reduction: TypeAlias = "tuple[int, Callable[..., Any], bool, str]"
"""How many symbols become one, what makes a value of theirs, whether it takes them one by one, and the rule's name."""


class Token(Struct, frozen=True, gc=False):
    """A token of the input, with the terminal that it stands for in its place."""

    type: str
    text: str
    start: int
    end: int

    def __str__(self) -> str:
        return self.text

    @property
    def span(self) -> Span:
        """Where it stands."""
        return Span(self.start, self.end)


class Child(Struct, frozen=True, gc=False):
    """One symbol of a rule that its value is made of: so many absent ones come before it; `spread`, it is several."""

    at: int
    absent_before: int
    spread: bool


class Rule(Struct, frozen=True, gc=False):
    """A rule of the grammar. `method` of the builder makes its value; without one it is the list of its children.

    `children` are those of its symbols that matter; `single`, an only child is passed on as it is.
    """

    origin: str
    size: int
    method: str
    single: bool
    children: tuple[Child, ...]
    absent_after: int


class Tables(Struct, frozen=True):
    """A grammar, worked out: of each state what to do with a symbol (shift to a state, or ~ the rule to reduce by).

    `starts` and `ends` are the states before and after an input of each kind; `terminals` names and expressions, the
    ones to be preferred first.
    """

    terminals: list[tuple[str, str]]
    rules: list[Rule]
    states: list[dict[str, int]]
    starts: dict[str, int]
    ends: dict[str, int]


class Unexpected(Exception):
    """What stands here cannot stand here. `accepted` are the terminals that can; `at_end`, the input ended too soon."""

    def __init__(self, accepted: set[str], *, at_end: bool) -> None:
        super().__init__(f"expected {sorted(accepted)}")
        self.accepted = accepted
        self.at_end = at_end


class Parser:
    """Reads one input after another; what is known of terminals and ways through the table is kept between them."""

    def __init__(self, tables: Tables, terminals: Terminals, builder: object) -> None:
        self._terminals = terminals
        self._known: dict[str, str | tuple[str, ...]] = {}
        rows: list[Row] = [{} for _ in tables.states]
        reductions = [_reduction(rule, builder) for rule in tables.rules]
        origins = {rule.origin for rule in tables.rules}
        for row, state in zip(rows, tables.states, strict=True):
            for symbol, action in state.items():
                if action < 0:
                    row[symbol] = reductions[~action]
                else:
                    row[symbol] = _Way(row, rows[action]) if symbol in origins else rows[action]
        self._starts = {name: rows[at] for name, at in tables.starts.items()}
        for at in tables.ends.values():
            rows[at][END] = {}

    def parse(self, body: Body, start: str) -> Any:
        """The value of an input that is of the kind `start`.

        Raises:
            Unexpected: it is none.
        """
        known, named = self._known, body.terminals
        row = self._starts[start]
        stack: list[Row] = [row]
        values: list[Any] = []
        name: Any
        action: Any
        for kind, text, begin, end in chain(body.tokens, _END_OF_INPUT):
            if kind == "string":
                name = "STRING"
            elif text:
                name = known.get(text) or self._names(text)
                if name.__class__ is tuple:
                    names = name
                    for name in names:
                        if name in row:
                            break
                    else:
                        name = names[0]
            else:
                name = END
            if text:
                named.append(name)
            action = row.get(name)
            while action.__class__ is tuple:
                size, build, one_by_one, origin = action
                if size == 1:
                    value = values[-1]
                    values[-1] = build(value) if one_by_one else build([value])
                    stack.pop()
                else:
                    at = len(values) - size
                    children = values[at:]
                    del values[at:], stack[at + 1 :]
                    values.append(build(*children) if one_by_one else build(children))
                row = stack[-1][origin][name]
                stack.append(row)
                action = row.get(name)
            if action is None:
                raise Unexpected(accepted(stack), at_end=not text)
            row = action
            stack.append(row)
            values.append(Token(name, text, begin, end))
        return values[-2]

    def start(self, kind: str) -> Row:
        """The state before an input of a kind."""
        return self._starts[kind]

    def terminals(self, text: str) -> tuple[str, ...]:
        """The terminals that a text, which is no string, can be; the preferred first."""
        found = self._known.get(text) or self._names(text)
        return found if isinstance(found, tuple) else (found,)

    def _names(self, text: str) -> str | tuple[str, ...]:
        """The terminals that a text can be: one, or several with the preferred first."""
        found = self._terminals.matching(text)
        names = found if len(found) > 1 else found[0]
        if len(text) < _LONGEST_REMEMBERED and len(self._known) < _MOST_REMEMBERED:
            self._known[text] = names
        return names


class _Way(dict[str, Row]):
    """Where a reduced rule leads from one row, by the terminal that comes next.

    Rules that only pass their one child on are gone through at once; how is found out when it is first needed.
    """

    def __init__(self, below: Row, row: Row) -> None:
        super().__init__()
        self._below = below
        self._row = row

    def __missing__(self, terminal: str) -> Row:
        row = self._row
        while (action := row.get(terminal)).__class__ is tuple and action[1] is _same:
            row = self._below[action[3]]._row
        self[terminal] = row
        return row


def accepted(stack: list[Row]) -> set[str]:
    """The terminals that could come next: those that are shifted in the end."""
    return {t for t in stack[-1] if t.isupper() and shifted(t, stack)}


def shifted(terminal: str, stack: list[Row]) -> bool:
    """Whether a terminal can come next."""
    rows = list(stack)
    while (action := rows[-1].get(terminal)).__class__ is tuple:
        size, _, _, origin = action
        del rows[len(rows) - size :]
        rows.append(rows[-1][origin][terminal])
    return action is not None


# --- values ------------------------------------------------------------------------------------------------


def _same(child: Any) -> Any:
    return child


def _reduction(rule: Rule, builder: object) -> Reduction:
    plain = rule.absent_after == 0 and [c.at for c in rule.children] == list(range(rule.size))
    plain = plain and not any(c.spread or c.absent_before for c in rule.children)
    if plain and rule.single and rule.size == 1:
        return 1, _same, True, rule.origin
    build: Any = getattr(builder, rule.method) if rule.method else list
    if plain and not rule.single:
        inner = getattr(build, "__wrapped__", None)  # what takes its children one by one is called so at once
        if inner is not None:
            return rule.size, inner.__get__(builder), True, rule.origin
        return rule.size, build, False, rule.origin
    return rule.size, _gathering(rule.children, rule.absent_after, build, single=rule.single), False, rule.origin


def _gathering(
    wanted: tuple[Child, ...], absent_after: int, build: Callable[[list[Any]], Any], *, single: bool
) -> Callable[[Sequence[Any]], Any]:
    """What picks the children that matter, then makes the value."""

    steps = [(child.at, child.absent_before, child.spread) for child in wanted]

    def gather(symbols: Sequence[Any]) -> Any:
        found: list[Any] = []
        for at, absent, spread in steps:
            if absent:
                found += [None] * absent
            if spread:
                found += symbols[at]
            else:
                found.append(symbols[at])
        if absent_after:
            found += [None] * absent_after
        return found[0] if single and len(found) == 1 else build(found)

    return gather

"""VGL309: alternatives of which one always holds, by the solver: `status = ok or not status = ok`.

`env != "a" or env != "b"` is no different: it holds of every event that has an `env` at all.
"""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note, Span
from vigil_lang.lint.connectives import MAX_PARTS, Part, Reader, about, disjuncts
from vigil_lang.semantics import core
from vigil_lang.semantics.text_patterns import Glob
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.lint.policy_parts import Connective
    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.modules import Module

_NEGATIVE = frozenset({"!=", "not in", "!~"})
_ORDER = frozenset({"<", "<=", ">", ">="})
_NEGATED_CLASS = re.compile(r"\[\^|\\[DWSPB]")


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The disjunctions that always hold, or that hold of whatever value a field has."""
    reader = Reader(subject, "VGL309")
    for connective in subject.parts.disjunctions:
        parts = list(disjuncts(connective.expr))
        if len(parts) <= MAX_PARTS:
            yield from exhaustive(connective, parts, reader)
    for statement in subject.policy.statements:
        where = statement.syntax.where
        if where is None or isinstance(where, tree.Not):  # what cannot fail there is a contradiction, which is VGL302
            continue
        if _always_holds(statement.syntax, where, reader):
            yield Diagnostic.of(
                "VGL309",
                "this condition holds whatever the values of the variables are",
                statement.source,
                where.span,
                help="leave `where` out, or say which values are meant",
            )


def _always_holds(statement: tree.Statement, where: tree.Expr, reader: Reader) -> bool:
    """Whether a `where` condition holds of all values; each of its variables has one."""
    condition = reader.meaning(statement, where)
    if condition is None:
        return False
    values = [core.Matches(core.Reads(x), Glob("*")) for x in core.named_in_where(condition)]
    found = reader.excluded([core.NotC(condition), *values])
    return found is not None and 0 in found.conjuncts


def exhaustive(connective: Connective, parts: Sequence[Part], reader: Reader) -> Iterator[Diagnostic]:
    """What is wrong with a disjunction of which something always holds."""
    if _may_exhaust(parts, reader.subject):
        yield from _exhaustive(connective, parts, reader)


def _may_exhaust(parts: Sequence[Part], subject: Subject) -> bool:
    """Whether two parts look at the same thing, one of them for what it is not or for a number."""
    module, known = subject.policy.module, subject.parts.looked_at
    if not any(_excludes(part.expr, module) for part in parts):
        return False
    seen: set[str] = set()
    for part in parts:
        names = about(part.expr, module, known)
        if not seen.isdisjoint(names):
            return True
        seen |= names
    return False


def _excludes(expr: tree.Expr, module: Module) -> bool:
    """Whether a condition may say what something is not; of a pattern it is not known."""
    match expr:
        case tree.Not():
            return True
        case tree.Test(_, "~", tree.Regex(raw)):
            return _NEGATED_CLASS.search(raw) is not None
        case tree.Test(_, operator):
            return operator in _NEGATIVE or operator in _ORDER
        case tree.And(items) | tree.Or(items):
            return any(_excludes(item, module) for item in items)
        case tree.Apply(name, args):
            if isinstance(name, tree.Name) and module.find(name.text) is not None:
                return True
            tests = (a for a in args or () if not isinstance(a, tree.String | tree.Number | tree.Boolean))
            return any(_excludes(test, module) for test in tests)
        case _:
            return False


def _exhaustive(connective: Connective, parts: Sequence[Part], reader: Reader) -> Iterator[Diagnostic]:
    meant = reader.meant(connective.item, parts)
    failing = [core.NotC(condition) for _, condition in meant]
    found = reader.excluded(failing)
    if found is not None:
        if len(found.conjuncts) > 1 and not connective.negative:  # under `not` it is a contradiction, which is VGL302
            yield _finding(connective, [meant[at][0] for at in found.conjuncts], "one of these always holds", reader)
        return
    fields = _fields([condition for _, condition in meant])
    if not fields:
        return
    found = reader.excluded([*failing, *(_some_value(field, numeric) for field, numeric in fields.items())])
    if found is None:
        return
    at_fault = [at for at in found.conjuncts if at < len(meant)]
    if len(at_fault) > 1:
        known = list(fields)
        named = [known[at - len(meant)].name for at in found.conjuncts if at >= len(meant)]
        message = f"one of these holds whatever {' and '.join(f'`{name}`' for name in named)} is"
        yield _finding(connective, [meant[at][0] for at in at_fault], message, reader)


def _fields(conditions: Sequence[core.Condition]) -> dict[core.Reads, bool]:
    """The fields that conditions look at for a value, and whether they compare numbers; not those they ask for."""
    found: dict[core.Reads, bool] = {}
    asked: set[core.Reads] = set()
    for condition in conditions:
        for test in core.tests(condition):
            match test:
                case core.Has(field):
                    asked.add(field)
                case core.Matches(field, Glob(pattern)) if not pattern.strip("*"):
                    asked.add(field)
                case core.In(field) | core.Matches(field) | core.Equals(field):
                    found.setdefault(field, False)
                case core.Compares(field):
                    found[field] = True
    return {field: numeric for field, numeric in found.items() if field not in asked}


def _some_value(field: core.Reads, numeric: bool) -> core.Condition:
    if not numeric:
        return core.Matches(field, Glob("*"))
    return core.OrC((core.Compares(field, "<", Decimal(0)), core.Compares(field, ">=", Decimal(0))))


def _finding(connective: Connective, parts: list[Part], message: str, reader: Reader) -> Diagnostic:
    source = reader.subject.policy.module.source
    first, *others = parts
    return Diagnostic.of(
        "VGL309",
        message,
        source,
        first.expr.span.to(parts[-1].expr.span) if len(parts) == _size(connective.expr) else first.expr.span,
        help=_help(parts, reader.subject.policy.module),
        fix=_with_and(connective.expr, parts),
        notes=tuple(Note("together with this", source, part.expr.span) for part in others),
    )


def _help(parts: list[Part], module: Module) -> str:
    if all(_excludes(part.expr, module) for part in parts):
        return "`and` asks that all of them hold"
    return "leave them out, or say what was meant"


def _size(expr: tree.Expr) -> int:
    return sum(1 for _ in disjuncts(expr))


def _with_and(expr: tree.Expr, parts: list[Part]) -> Fix | None:
    """`and` for `or` where all alternatives say what something is not: one that meets each was meant."""
    if not isinstance(expr, tree.Or) or len(parts) != len(expr.items) or any(p.parent is not expr for p in parts):
        return None
    if not all(isinstance(p.expr, tree.Not) or getattr(p.expr, "operator", "") in _NEGATIVE for p in parts):
        return None
    spans = [p.expr.span for p in parts]
    edits = [Edit(Span(a.end, b.start), " and ") for a, b in pairwise(spans)]
    return Fix("write `and`", tuple(edits))

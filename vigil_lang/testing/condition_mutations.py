"""Small changes to a condition or a temporal body as written, each a source edit and the meaning it has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace

from vigil_lang.diagnostics.diagnostic import Edit, Span
from vigil_lang.diagnostics.shorten import cut_middle
from vigil_lang.semantics import core
from vigil_lang.syntax import tree
from vigil_lang.syntax.print import to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vigil_lang.diagnostics import Source
    from vigil_lang.semantics.modules import Module
    from vigil_lang.testing.condition_parts import ConditionPart, Reader

MAX_ELEMENTS: Final = 6
"""Elements of a set that are taken out one by one."""

MAX_PLACES: Final = 4
"""Word boundaries of one expression, and pairs of variables, that are changed one by one."""

_NOT = re.compile(r"not\b\s*|¬\s*")
_STATUS = re.compile(r"(ok|error|⊤|⊥)(?=[\s)]*$)")
_ANCHORS = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|[\^$]", re.DOTALL)
_OPPOSITE: Final[dict[str, tree.Operator]] = {
    "=": "!=", "!=": "=", "in": "not in", "not in": "in", "~": "!~", "!~": "~"
}  # fmt: skip
_BOUNDARY: Final[dict[str, tuple[tree.Operator, int]]] = {
    "<": ("<=", -1), "<=": ("<", 1), ">": (">=", 1), ">=": (">", -1)
}  # fmt: skip
"""The operator that differs at the limit alone, and the step to a limit that differs at the next number alone."""

Meaning: TypeAlias = "Callable[[Reader, ConditionPart], core.Condition]"
"""What a changed part means in one of the scopes it stands in."""


@dataclass(frozen=True, slots=True)
class Redeclared:
    """Another value of a declared set, for whatever names it."""

    path: str
    name: str
    value: tree.SetUnion


@dataclass(frozen=True, slots=True)
class ConditionMutation:
    """One edit of a source, or two that swap. `told` says what it does, `missing` which test would have shown it."""

    source: Source
    edits: tuple[Edit, ...]
    told: str
    missing: str
    meaning: Meaning | Redeclared


def condition_mutations(part: ConditionPart, droppable: bool) -> Iterator[ConditionMutation]:
    """The changes of one part, not of those within it. `droppable`: it is an operand that can itself be left out."""
    expr = part.expr
    match expr:
        case tree.And() | tree.Apply() if part.kind in ("and", "call"):
            yield from _without_conjunct(part)
            yield from _swapped_variables(part)
        case tree.Or():
            yield from _without_disjunct(part)
        case tree.Not(body):
            yield from _without_not(part, expr, body)
        case tree.Apply(_, args) if part.kind == "pattern" and args:
            yield from _swapped_arguments(part, expr)
        case tree.StatusIs(status):
            yield from _flipped_status(part, expr, status)
        case tree.Has():
            edit = Edit(Span(expr.span.start, expr.span.start), "not ")
            missing = f"no test depends on whether `{_shown(part)}` holds"
            yield ConditionMutation(part.source, (edit,), "negates the test", missing, _negated)
        case tree.ActionIn(names):
            yield from _fewer(part, expr, names)
        case tree.ActionMatches(tree.SetUnion() as patterns):
            yield from _fewer(part, expr, patterns)
        case tree.ActionMatches(tree.String() | tree.Name() | tree.Regex() as text):
            yield from _other_patterns(part, expr, text)
        case tree.Test():
            yield from _test(part, expr, droppable)


def _test(part: ConditionPart, expr: tree.Test, droppable: bool) -> Iterator[ConditionMutation]:
    operand, operator = expr.operand, expr.operator
    if isinstance(part.condition, core.OF_VARIABLES) and operator not in _BOUNDARY:
        if not droppable and isinstance(part.condition, core.Equals):
            has = tree.Has(expr.field, expr.span)
            missing = f"no test has `{expr.field.name}` with another value than `{_text(operand)}`"
            yield _retold(part, has, "drops the join", missing)
        return
    if isinstance(operand, tree.SetUnion):
        yield from _fewer(part, expr, operand)
    if operator in ("~", "!~") and isinstance(operand, tree.String | tree.Name | tree.Regex):
        yield from _other_patterns(part, expr, operand)
    if operator in _BOUNDARY:
        yield from _other_limits(part, expr)
    if operator in _OPPOSITE:
        opposite = _OPPOSITE[operator]
        edit = Edit(Span(expr.field.span.end, operand.span.start), f" {opposite} ")
        missing = f"no test depends on whether `{_shown(part)}` holds"
        yield ConditionMutation(
            part.source, (edit,), "negates the test", missing, _read(replace(expr, operator=opposite))
        )


# --- connectives -------------------------------------------------------------------------------------------


def _without_conjunct(part: ConditionPart) -> Iterator[ConditionMutation]:
    for at, item in enumerate(part.items):
        missing = f"no test has an event that meets `{_text(_rest(part.expr, item.expr))}` and not `{_shown(item)}`"
        yield ConditionMutation(part.source, (_cut(part, at),), f"drops `{_shown(item)}`", missing, _but(at))


def _rest(expr: tree.Expr, item: tree.Expr) -> tree.Expr:
    """A conjunction or a call without one of its operands."""
    if isinstance(expr, tree.Apply):
        return replace(expr, args=tuple([arg for arg in expr.args or () if arg is not item]))
    assert isinstance(expr, tree.And)
    kept = tuple([other for other in expr.items if other is not item])
    return kept[0] if len(kept) == 1 else tree.And(kept)


def _without_disjunct(part: ConditionPart) -> Iterator[ConditionMutation]:
    for at, item in enumerate(part.items):
        missing = f"no test rests on an event that meets `{_shown(item)}` and none of the other alternatives"
        yield ConditionMutation(part.source, (_cut(part, at),), f"drops `{_shown(item)}`", missing, _but(at))


def _but(at: int) -> Meaning:
    """The part without one operand."""

    def meaning(_: Reader, part: ConditionPart) -> core.Condition:
        kept = tuple([item.condition for n, item in enumerate(part.items) if n != at])
        if part.kind == "call":
            assert isinstance(part.condition, core.AndC)
            kept = (part.condition.items[0], *kept)
        if len(kept) == 1:
            return kept[0]
        return core.OrC(kept) if part.kind == "or" else core.AndC(kept)

    return meaning


def _cut(part: ConditionPart, at: int) -> Edit:
    """An operand taken out, with what joins it to the next, or the last to the one before."""
    return _cut_span([item.span for item in part.items], at)


def _cut_span(spans: list[Span], at: int) -> Edit:
    if at + 1 < len(spans):
        return Edit(Span(spans[at].start, spans[at + 1].start), "")
    if at:
        return Edit(Span(spans[at - 1].end, spans[at].end), "")
    return Edit(spans[at], "")


def _without_not(part: ConditionPart, expr: tree.Not, body: tree.Expr) -> Iterator[ConditionMutation]:
    found = _NOT.search(part.source.text, expr.span.start, body.span.start)
    if found is not None:
        missing = f"no test depends on whether `{_shown(part)}` holds"
        edit = Edit(Span(*found.span()), "")
        yield ConditionMutation(part.source, (edit,), "drops the negation", missing, lambda _, p: p.items[0].condition)


def _swapped_variables(part: ConditionPart) -> Iterator[ConditionMutation]:
    """Two tests of one conjunction that give each other's variable."""
    joins = [
        (at, item.expr, item.expr.operand, item.condition.variable)
        for at, item in enumerate(part.items)
        if isinstance(item.expr, tree.Test)
        and isinstance(item.expr.operand, tree.Name)
        and isinstance(item.condition, core.Equals | core.Contains)
    ]
    pairs = [(one, two) for n, one in enumerate(joins) for two in joins[n + 1 :] if one[3] != two[3]]
    for (at, one, x, _), (other, two, y, _) in pairs[:MAX_PLACES]:
        edits = (Edit(x.span, y.text), Edit(y.span, x.text))
        swapped = {at: replace(one, operand=y), other: replace(two, operand=x)}
        missing = f"no test has different values for `{x.text}` and `{y.text}` where `{_shown(part)}` holds"
        yield ConditionMutation(part.source, edits, f"swaps `{x.text}` and `{y.text}`", missing, _with(swapped))


def _with(exprs: dict[int, tree.Test]) -> Meaning:
    """The part with some operands read anew."""

    def meaning(reader: Reader, part: ConditionPart) -> core.Condition:
        new = {at: reader.conditions.condition(expr, part.scope) for at, expr in exprs.items()}
        kept = tuple([new.get(at, item.condition) for at, item in enumerate(part.items)])
        if part.kind == "call":
            assert isinstance(part.condition, core.AndC)
            kept = (part.condition.items[0], *kept)
        return core.AndC(kept)

    return meaning


def _swapped_arguments(part: ConditionPart, expr: tree.Apply) -> Iterator[ConditionMutation]:
    args = expr.args or ()
    for at in range(min(len(args) - 1, MAX_PLACES)):
        one, two = args[at], args[at + 1]
        if one != two:
            shown = _text(one), _text(two)
            edits = (Edit(one.span, shown[1]), Edit(two.span, shown[0]))
            swapped = replace(expr, args=(*args[:at], two, one, *args[at + 2 :]))
            missing = f"no test has different values for `{shown[0]}` and `{shown[1]}` where `{_shown(part)}` holds"
            yield ConditionMutation(part.source, edits, f"swaps `{shown[0]}` and `{shown[1]}`", missing, _read(swapped))


# --- tests -------------------------------------------------------------------------------------------------


def _flipped_status(part: ConditionPart, expr: tree.StatusIs, status: str) -> Iterator[ConditionMutation]:
    found = _STATUS.search(part.source.text, expr.span.start, expr.span.end)
    if found is not None:
        other: tree.StatusIs = replace(expr, status="error" if status == "ok" else "ok")
        edit = Edit(Span(*found.span(1)), other.status)
        missing = f"no test has an event that differs in `status` alone: `{status}` here, `{other.status}` there"
        yield ConditionMutation(part.source, (edit,), "flips the status", missing, _read(other))


def _fewer(
    part: ConditionPart, expr: tree.ActionIn | tree.ActionMatches | tree.Test, union: tree.SetUnion
) -> Iterator[ConditionMutation]:
    """A set without one of the elements written in it, or in what it names."""
    yield from _smaller_let(part, union)
    literals = [(at, p) for at, p in enumerate(union.parts) if isinstance(p, tree.SetLiteral)]
    written = sum(len(p.elements) for _, p in literals)
    if written > MAX_ELEMENTS or (written < 2 and len(union.parts) < 2):
        return
    for place, literal in literals:
        for at, element in enumerate(literal.elements):
            left = replace(literal, elements=(*literal.elements[:at], *literal.elements[at + 1 :]))
            smaller = replace(union, parts=(*union.parts[:place], left, *union.parts[place + 1 :]))
            field = {tree.ActionIn: "names", tree.ActionMatches: "text", tree.Test: "operand"}[type(expr)]
            new = replace(expr, **{field: smaller})
            edit = _cut_span([e.span for e in literal.elements], at)
            missing = f"no test rests on an event with `{_text(element)}` in `{_shown(part)}`"
            yield ConditionMutation(part.source, (edit,), f"drops `{_text(element)}`", missing, _read(new))


def _smaller_let(part: ConditionPart, union: tree.SetUnion) -> Iterator[ConditionMutation]:
    """A declared set without one of its elements."""
    for name in union.parts:
        found = None if isinstance(name, tree.SetLiteral) else _declared(name, part)
        if found is None:
            continue
        module, declared, literal = found
        for at, element in enumerate(literal.elements):
            left = replace(literal, elements=(*literal.elements[:at], *literal.elements[at + 1 :]))
            edit = _cut_span([e.span for e in literal.elements], at)
            missing = f"no test rests on an event with `{_text(element)}` in `{_shown(part)}`"
            meaning = Redeclared(module.source.path, declared, tree.SetUnion((left,)))
            yield ConditionMutation(module.source, (edit,), f"drops `{_text(element)}`", missing, meaning)


def _declared(name: tree.Name, part: ConditionPart) -> tuple[Module, str, tree.SetLiteral] | None:
    """The one set that a `let` writes out, with the name it has where it is declared."""
    match None if name.text in part.scope.arguments else part.scope.module.find(name.text):
        case module, tree.Let(declared, tree.SetUnion((tree.SetLiteral(elements) as literal,))):
            return (module, declared.text, literal) if 2 <= len(elements) <= MAX_ELEMENTS else None
        case _:
            return None


def _other_patterns(
    part: ConditionPart, expr: tree.ActionMatches | tree.Test, text: tree.String | tree.Name | tree.Regex
) -> Iterator[ConditionMutation]:
    """A glob that matches more on one side; an expression without an anchor, or blind to case the other way."""
    if isinstance(text, tree.Name):
        yield from _smaller_let(part, tree.SetUnion((text,)))
        return
    found: list[tuple[tree.String | tree.Regex, str, str]] = []
    if isinstance(text, tree.String):
        sides = [(f"*{text.raw}", "start"), (f"{text.raw}*", "end")]
        stars = text.raw.startswith("*"), text.raw.endswith("*") and not text.raw.endswith("\\*")
        for (raw, side), starred in zip(sides, stars, strict=True):
            missing = f"no test has a value with more at its {side} than `{_text(text)}` matches"
            if not starred:
                found.append((replace(text, raw=raw), "widens the glob", missing))
    else:
        for raw, anchor in _unanchored(text.raw):
            missing = f"no test has a value that `{_text(text)}` does not match because of `{anchor}`"
            found.append((replace(text, raw=raw), f"drops `{anchor}`", missing))
        if text.raw.casefold() != text.raw.upper():
            other = replace(text, ignore_case=not text.ignore_case)
            missing = "no test has a value in other letters, capital or small, than the expression"
            found.append((other, "changes what case means", missing))
    for new, told, missing in found:
        changed = replace(expr, text=new) if isinstance(expr, tree.ActionMatches) else replace(expr, operand=new)
        yield ConditionMutation(part.source, (Edit(text.span, to_text(new)),), told, missing, _read(changed))


def _unanchored(raw: str) -> list[tuple[str, str]]:
    """The expression without one of the places it tests, and that place."""
    places = [m for m in _ANCHORS.finditer(raw) if m[0] in ("^", "$", r"\b")][:MAX_PLACES]
    rest = ((raw[: m.start()] + raw[m.end() :], m[0]) for m in places)
    return [(text, place) for text, place in rest if text.strip()]


def _other_limits(part: ConditionPart, expr: tree.Test) -> Iterator[ConditionMutation]:
    operator, step = _BOUNDARY[expr.operator]
    limit = part.condition.number if isinstance(part.condition, core.Compares) else None
    edit = Edit(Span(expr.field.span.end, expr.operand.span.start), f" {operator} ")
    missing = f"no test has `{expr.field.name}` at the limit, {_text(expr.operand)}"
    yield ConditionMutation(part.source, (edit,), "moves the limit", missing, _read(replace(expr, operator=operator)))
    if limit is not None and abs(limit.adjusted()) < 15 and isinstance(expr.operand, tree.Number):
        moved = replace(expr.operand, raw=f"{limit + step:f}")
        edit = Edit(expr.operand.span, moved.raw)
        missing = f"no test has `{expr.field.name}` just beyond the limit, {limit}"
        yield ConditionMutation(part.source, (edit,), "moves the limit", missing, _read(replace(expr, operand=moved)))


def _negated(_: Reader, part: ConditionPart) -> core.Condition:
    return core.NotC(part.condition)


def _read(expr: tree.Expr) -> Meaning:
    """Another expression in the part's place."""
    return lambda reader, part: reader.conditions.condition(expr, part.scope)


def _retold(part: ConditionPart, expr: tree.Expr, told: str, missing: str) -> ConditionMutation:
    edit = Edit(part.span, to_text(expr))
    return ConditionMutation(part.source, (edit,), told, missing, _read(expr))


def _shown(part: ConditionPart) -> str:
    return _short(to_text(part.expr))


def _text(node: tree.Expr | tree.Term | tree.SetUnion | tree.Regex) -> str:
    return _short(to_text(node))


def _short(text: str) -> str:
    return cut_middle(text, 60)

"""VGL310: a conjunct that the others imply, a disjunct that implies another, an element of a set within another.

Without it the condition is the same.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, Note
from vigil_lang.lint.connectives import ACTION, MAX_PARTS, Part, Reader, about, conjuncts, disjuncts, places
from vigil_lang.lint.covered_elements import covered
from vigil_lang.lint.deletion import without
from vigil_lang.lint.rules.tautology import exhaustive
from vigil_lang.lint.rules.two_actions import wants_two_actions
from vigil_lang.semantics import core
from vigil_lang.semantics.text_patterns import Glob
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.lint.connectives import Meant
    from vigil_lang.lint.covered_elements import Element
    from vigil_lang.lint.policy_parts import Connective
    from vigil_lang.lint.subject import Subject


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The parts that change nothing, looked for from the last to the first: of two that say the same one stays."""
    reader, module = Reader(subject, "VGL310"), subject.policy.module
    for connective in subject.parts.conjunctions:
        if not _is_plain(connective.expr, set(), subject):
            parts = list(conjuncts(connective.expr, module))
            if len(parts) <= MAX_PARTS:
                found = list(_idle(connective, parts, reader, together=True))
                if found and not wants_two_actions(connective.item, connective.expr, subject):  # VGL315
                    yield from found
    for connective in subject.parts.disjunctions:
        parts = list(disjuncts(connective.expr))
        if len(parts) <= MAX_PARTS and _may_overlap(parts, subject) and not any(exhaustive(connective, parts, reader)):
            yield from _idle(connective, parts, reader, together=False)
    for literal, globs in _sets(subject):
        for element, by in covered(literal, module, globs=globs):
            yield _covered(literal, element, by, subject)


def _sets(subject: Subject) -> Iterator[tuple[tree.SetLiteral, bool]]:
    """The sets that a policy writes, and whether their texts are matched."""
    for use in subject.parts.uses:
        if isinstance(use.operand, tree.SetUnion) and use.through is None:
            yield from ((p, "~" in use.operator) for p in use.operand.parts if isinstance(p, tree.SetLiteral))
    for declaration in subject.declarations:
        if isinstance(declaration, tree.Let) and isinstance(declaration.value, tree.SetUnion):
            yield from ((p, False) for p in declaration.value.parts if isinstance(p, tree.SetLiteral))


def _covered(literal: tree.SetLiteral, element: Element, by: Element, subject: Subject) -> Diagnostic:
    source = subject.policy.module.source
    shown, other = (source.text[each.span.start : each.span.end] for each in (element, by))
    twice = shown == other
    return Diagnostic.of(
        "VGL310",
        f"{shown} stands in this set twice" if twice else f"this element is redundant: `{other}` covers it",
        source,
        element.span,
        help="leave it out, or say what was meant",
        fix=without(source, literal, element),
        notes=(Note("the first" if twice else "what matches this matches that, too", source, by.span),),
    )


def _is_plain(expr: tree.Expr, seen: set[str], subject: Subject) -> bool:
    """Whether a conjunction is of tests each of another field; most are, so this takes no detours."""
    module = subject.policy.module
    if isinstance(expr, tree.Test):
        name = expr.field.name
        # One test of a value that a variable takes leaves another of the same field something to say.
        if isinstance(expr.operand, tree.Name) and module.find(expr.operand.text) is None:
            if f"{name} has" in seen:
                return False
            seen.add(f"{name} =")
            name = f"{name} {expr.operand.text}"
        if name in seen:
            return False
        seen.add(name)
        return True
    if isinstance(expr, tree.And):
        return all(_is_plain(item, seen, subject) for item in expr.items)
    if isinstance(expr, tree.Apply) and (isinstance(expr.name, tree.String) or module.find(expr.name.text) is None):
        if ACTION in seen:
            return False
        seen.add(ACTION)
        tests = (a for a in expr.args or () if not isinstance(a, tree.String | tree.Number | tree.Boolean))
        return all(_is_plain(test, seen, subject) for test in tests)
    if isinstance(expr, tree.Has):
        name = expr.field.name
        seen.add(f"{name} has")
        return name not in seen and f"{name} =" not in seen
    names = about(expr, module, subject.parts.looked_at)
    if any(name in seen or f"{name} =" in seen or f"{name} has" in seen for name in names):
        return False
    seen.update(names, [f"{name} =" for name in names])
    return True


def _may_overlap(parts: Sequence[Part], subject: Subject) -> bool:
    """Whether two parts look at the same thing, by what is written."""
    seen: set[str] = set()
    for part in parts:
        names = about(part.expr, subject.policy.module, subject.parts.looked_at)
        if not seen.isdisjoint(names):
            return True
        seen |= names
    return False


def _idle(connective: Connective, parts: Sequence[Part], reader: Reader, *, together: bool) -> Iterator[Diagnostic]:
    meant = reader.meant(connective.item, parts)
    kept = _related(meant) if together else meant
    for one in reversed(kept[:]):
        others = [other for other in kept if other is not one]
        if one.part.parent is None or not others or _matches_all(one.condition):
            continue
        if isinstance(one.condition, core.Has) and reader.subject.has_rules:
            continue  # a gate blocks where a rule tests what a call does not tell
        if together:
            asked = [*(o.condition for o in others), core.NotC(one.condition)]
        else:
            asked = [*(core.NotC(o.condition) for o in others), one.condition]
        found = reader.excluded(asked)
        if found is not None and len(others) in found.conjuncts and len(found.conjuncts) > 1:
            kept = others
            reasons = [others[at].part for at in found.conjuncts if at < len(others)]
            yield _finding(one.part, reasons, reader.subject, together=together)


def _related(meant: list[Meant]) -> list[Meant]:
    """The conjuncts that others can have to do with: they look at the same thing, and not for a value of their own."""
    variables = Counter(x for m in meant for x in set(core.variables_of(m.condition)))
    asked = {m.condition.field for m in meant if isinstance(m.condition, core.Has)}
    kept: list[Meant] = []
    for m in meant:
        match m.condition:
            case core.Equals(field, x) | core.Contains(field, x) if variables[x] == 1 and field not in asked:
                continue
        kept.append(m)
    shared = Counter(place for m in kept for place in places(m.condition))
    return [m for m in kept if any(shared[place] > 1 for place in places(m.condition))]


def _matches_all(condition: core.Condition) -> bool:
    """Whether it is a glob that matches everything, which is VGL323."""
    match condition:
        case core.Matches(_, Glob(pattern), False) | core.ActionMatches(Glob(pattern)):
            return not pattern.strip("*")
        case _:
            return False


def _finding(part: Part, reasons: list[Part], subject: Subject, *, together: bool) -> Diagnostic:
    source = subject.policy.module.source
    several = "these" if len(reasons) > 1 else "this"
    if together:
        message = "this condition is redundant: the rest implies it"
        why = f"wherever {several} hold" if len(reasons) > 1 else "wherever this holds"
    else:
        message = "this alternative is redundant: it implies another"
        why = f"one of {several} holds, too" if len(reasons) > 1 else "this holds, too"
    assert part.parent is not None
    return Diagnostic.of(
        "VGL310",
        message,
        source,
        part.expr.span,
        help="leave it out, or say what was meant",
        fix=without(source, part.parent, part.expr),
        notes=tuple(Note(why, source, reason.expr.span) for reason in reasons),
    )

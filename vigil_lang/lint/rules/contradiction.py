"""VGL302: conditions that no event can meet, with the conjuncts at fault."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from vigil_lang.analysis.satisfiable import contradiction
from vigil_lang.analysis.witness import obviously_satisfiable
from vigil_lang.diagnostics import Diagnostic, Edit, Fix, Note, Span
from vigil_lang.lint.subject import MAX_DOUBTFUL
from vigil_lang.semantics import core
from vigil_lang.semantics.context_fields import CONTEXT
from vigil_lang.semantics.lower import parts
from vigil_lang.semantics.meanings import Argument, Place, Scope, Variable
from vigil_lang.semantics.modules import is_shipped
from vigil_lang.semantics.terms import Failed
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator

    from vigil_lang.diagnostics import Severity
    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.conditions import Conditions
    from vigil_lang.semantics.modules import Module
    from vigil_lang.trace import Signature

_FieldTest: TypeAlias = (
    core.Has
    | core.In
    | core.Matches
    | core.Compares
    | core.ComparesWith
    | core.Equals
    | core.Contains
    | core.ContainsText
)

_CODE = "VGL302"
_CONNECTIVES = (core.AndC, core.OrC, core.NotC)


@dataclass(frozen=True, slots=True)
class Conjunct:
    """One conjunct of a condition, as it is written, with the params its meaning rests on."""

    condition: core.Condition
    expr: tree.Expr
    scope: Scope
    params: frozenset[str]

    @property
    def place(self) -> Place:
        """Where it is written."""
        return self.scope.place(self.expr.span)


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Every condition of the policy's patterns, statements and rules, and each alternative in one, that never holds."""
    policy, conditions = subject.policy, subject.conditions
    search = _Search(conditions, policy.module, _lists(subject.signature), subject.doubts)
    for declaration in subject.declarations:
        if isinstance(declaration, tree.Pattern):
            yield from search.pattern(declaration, policy.module)
    for statement in policy.statements:
        if not all(_is_possible(h.condition) for h in core.conditions(statement.requirement.theta)):
            conditions.start()
            for part in parts(statement.syntax):
                yield from search.condition(part.expr, Scope(policy.module))
        if statement.syntax.where is not None:
            conditions.start()
            yield from search.condition(statement.syntax.where, Scope(policy.module), of_values=True)
    for rule in policy.rules:
        if not _is_possible(rule.condition):
            conditions.start()
            yield from search.condition(rule.syntax.when, Scope(policy.module))


def _is_possible(condition: core.Condition) -> bool:
    """Whether the condition can obviously hold, and so can whatever in it may be impossible while the whole is not."""
    return obviously_satisfiable(condition) and _is_possible_beneath(condition)


def _is_possible_beneath(condition: core.Condition) -> bool:
    match condition:
        case core.AndC(items):
            for item in items:
                if isinstance(item, _CONNECTIVES) and not _is_possible_beneath(item):
                    return False
        case core.OrC(items):
            return all(map(_is_possible, items))
        case core.NotC(body):
            return _is_possible(body)
    return True


class _Search:
    """Looks for contradictions from the outside in; what is found in a pattern is found once."""

    def __init__(self, conditions: Conditions, module: Module, lists: frozenset[str], doubts: Counter[str]) -> None:
        self._conditions = conditions
        self._module = module
        self._lists = lists
        self._doubts = doubts
        self._patterns: dict[tuple[Module, str], list[Diagnostic]] = {}

    def pattern(self, pattern: tree.Pattern, module: Module) -> list[Diagnostic]:
        """What is wrong with a pattern whatever its parameters stand for."""
        key = (module, pattern.name.text)
        if key not in self._patterns:
            scope = Scope(module)
            free = {p.text: Argument(Variable(p.text), scope.place(p.span), p.text) for p in pattern.params}
            self._patterns[key] = []
            self._conditions.start()
            self._patterns[key] = list(self.condition(pattern.body, Scope(module, free, (key,))))
        return self._patterns[key]

    def condition(self, expr: tree.Expr, scope: Scope, *, of_values: bool = False) -> Iterator[Diagnostic]:
        """The contradictions in a condition: the whole of it, or else alternatives in its conjuncts.

        A condition `of_values` is that of `where`: what it tests is never a list.
        """
        try:
            conjuncts = list(self._conjuncts(expr, scope, frozenset()))
        except Failed:
            return
        whole = core.AndC(tuple(c.condition for c in conjuncts))
        if _is_possible(whole):
            return
        fixed = [c for c in conjuncts if not c.params]
        # What holds whatever the params are is found first: with params it might be blamed on them.
        for tried in (fixed, conjuncts) if len(fixed) < len(conjuncts) else (conjuncts,):
            if self._doubts[_CODE] >= MAX_DOUBTFUL:
                return
            found = contradiction([c.condition for c in tried])
            if found is None or found.only_lists:
                self._doubts[_CODE] += not obviously_satisfiable(core.AndC(tuple(c.condition for c in tried)))
            if found is not None:
                only_lists = found.only_lists and not of_values
                yield from self._finding([tried[at] for at in found.conjuncts], scope, only_lists=only_lists)
                return
        for conjunct in conjuncts:
            if conjunct.scope.entry is None:
                yield from self._inside(conjunct, of_values)

    def _inside(self, conjunct: Conjunct, of_values: bool) -> Iterator[Diagnostic]:
        match conjunct.expr:
            case tree.Or(items):
                for item in items:
                    yield from self.condition(item, conjunct.scope, of_values=of_values)
            case tree.Not(body):
                yield from self.condition(body, conjunct.scope, of_values=of_values)

    def _conjuncts(self, expr: tree.Expr, scope: Scope, params: frozenset[str]) -> Iterator[Conjunct]:
        """The conjuncts that have a meaning (leaving one out only weakens the whole), patterns taken apart too.

        Raises:
            Failed: there are too many.
        """
        conditions = self._conditions
        conditions.count(expr, scope)
        match expr:
            case tree.And(items):
                for item in items:
                    yield from self._conjuncts(item, scope, params)
                return
            case tree.Apply(name, args):
                found = conditions.pattern_of(expr, scope)
                if found is not None:
                    yield from self._in_pattern(expr, *found, scope, params)
                    return
                if args:
                    yield from self._conjuncts(tree.Apply(name, (), name.span), scope, params)
                    for arg in args:
                        if not isinstance(arg, tree.String | tree.Number | tree.Boolean):
                            yield from self._conjuncts(arg, scope, params)
                    return
        conditions.terms.params = set(params)
        with suppress(Failed):
            condition = conditions.condition(expr, scope)
            yield Conjunct(condition, expr, scope, frozenset(conditions.terms.params))

    def _in_pattern(
        self, apply: tree.Apply, module: Module, pattern: tree.Pattern, scope: Scope, params: frozenset[str]
    ) -> Iterator[Conjunct]:
        if (module, pattern.name.text) in scope.expanding:
            return
        self._conditions.terms.params = set(params)
        try:
            inner = self._conditions.inside(apply, pattern, module, scope)
        except Failed:
            return
        yield from self._conjuncts(pattern.body, inner, frozenset(self._conditions.terms.params))

    # --- findings ---

    def _finding(self, fault: list[Conjunct], scope: Scope, *, only_lists: bool) -> Iterable[Diagnostic]:
        """The finding for a smallest set of conjuncts that exclude each other."""
        if inside := self._blamed_on_pattern(fault, scope):
            return inside
        first, *others = dict.fromkeys(c.scope.entry or c.place for c in fault)
        notes = [Note("together with this", place.source, place.span) for place in others]
        notes += [Note("this is in the pattern", c.place.source, c.place.span) for c in fault if c.scope.entry]
        if only_lists and _are_lists(fault, self._lists):
            return []
        only_lists = only_lists and not all(name.startswith(CONTEXT) for name in _fields(fault))
        severity, message, help_text = _verdict(fault, only_lists)
        return [
            Diagnostic.of(
                "VGL302",
                message,
                first.source,
                first.span,
                severity=severity,
                help=help_text,
                fix=_over_midnight(fault),
                notes=tuple(notes),
            )
        ]

    def _blamed_on_pattern(self, fault: list[Conjunct], scope: Scope) -> list[Diagnostic]:
        """What is wrong with the one pattern that all conjuncts come from, whatever it is applied to."""
        entries = {c.scope.entry for c in fault}
        if len(entries) > 1 or None in entries:
            return []
        module, name = fault[0].scope.expanding[len(scope.expanding)]
        pattern = module.own[name]
        if not isinstance(pattern, tree.Pattern) or (is_shipped(module.source.path) and module is not self._module):
            return []
        return self.pattern(pattern, module)


def _over_midnight(fault: list[Conjunct]) -> Fix | None:
    """`(context.hour >= 22 or context.hour < 6)` for what no hour is both of."""
    if len(fault) != 2 or any(c.scope.entry or not isinstance(c.condition, core.Compares) for c in fault):
        return None
    if _fields(fault) != {f"{CONTEXT}hour"}:
        return None
    one, other = (c.place for c in fault)
    text = one.source.text
    if text[one.span.end : other.span.start].split() != ["and"]:
        return None
    written = f"({text[one.span.start : one.span.end]} or {text[other.span.start : other.span.end]})"
    return Fix(f"write `{written}`", (Edit(Span(one.span.start, other.span.end), written),))


def _fields(fault: list[Conjunct]) -> set[str]:
    return {t.field.name for c in fault for t in core.tests(c.condition) if _may_be_list(t)}


def _verdict(fault: list[Conjunct], only_lists: bool) -> tuple[Severity, str, str | None]:
    """(severity, message, help): what an operator may set otherwise is no fault of the policy."""
    subject = "this condition" if len(fault) == 1 else "these conditions"
    message = f"{subject} can never hold" + ("" if len(fault) == 1 else " together")
    if only_lists:
        fields = sorted(f"`{name}`" for name in _fields(fault))
        verb = "holds" if len(fault) == 1 else "hold together"
        message = f"{subject} {verb} only where {' or '.join(fields)} is a list: no single value will do"
    params = ", ".join(sorted({f"`{p}`" for c in fault for p in c.params}))
    if params:
        return "info", message, f"with another value of {params} it may"
    return "warning" if only_lists else "error", message, None


def _are_lists(fault: list[Conjunct], known: frozenset[str]) -> bool:
    """Whether all that must be lists are known to be: by a signature, or as roles (a command has several flags)."""
    fields = _fields(fault) - known
    if not fields:
        return True
    from vigil_lang.trace.vocabulary import vocabulary

    roles = vocabulary().roles
    return all(field in roles and roles[field].many for field in fields)


def _lists(signature: Signature | None) -> frozenset[str]:
    """The arguments that are lists for some action of a signature."""
    actions = signature.actions.values() if signature else ()
    return frozenset(name for action in actions for name, argument in action.args.items() if argument.many)


def _may_be_list(test: core.Test) -> TypeGuard[_FieldTest]:
    return not isinstance(test, core.ActionIn | core.ActionMatches | core.StatusIs) and not test.field.output

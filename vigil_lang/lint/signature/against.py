"""VGL401 to VGL409: a policy held against a signature Σ = (A, K, V), name by name where each is written."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from msgspec import structs

from vigil_lang.analysis.reachability import matches_any
from vigil_lang.diagnostics import Diagnostic, Edit, Fix, nearest
from vigil_lang.lint.rules import unknown_kind
from vigil_lang.lint.signature.domains import Domain, test_findings
from vigil_lang.lint.signature.evidence import NOTHING_ELSE, SENTENCE_WINS, Evidence, evidence
from vigil_lang.lint.signature.joins import Use, joins
from vigil_lang.lint.signature.members import Member, element_of, member, members
from vigil_lang.lint.signature.vacuity import vacuous
from vigil_lang.semantics import core
from vigil_lang.semantics.context_fields import CONTEXT
from vigil_lang.semantics.lower import parts
from vigil_lang.semantics.meanings import Argument as Given
from vigil_lang.semantics.meanings import Hole, Scope, Variable
from vigil_lang.semantics.modules import is_shipped
from vigil_lang.semantics.terms import Failed
from vigil_lang.semantics.text_patterns import quote
from vigil_lang.syntax import tree
from vigil_lang.syntax.print import to_text
from vigil_lang.trace.signature import Argument
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vigil_lang.diagnostics import Severity, Span
    from vigil_lang.lint.signature.vocabulary import Actions, Vocabulary
    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.conditions import Conditions
    from vigil_lang.semantics.lower import Part
    from vigil_lang.semantics.meanings import Place
    from vigil_lang.semantics.modules import Module

_SHOWN_ACTIONS = 3
_PROGRAM = "program"


def find(subject: Subject) -> Iterator[Diagnostic]:
    """The findings of a policy's statements and patterns against a signature that has actions."""
    policy, conditions = subject.policy, subject.conditions
    known, reachability = subject.vocabulary, subject.reachability
    if known is None or reachability is None:
        return
    # What is no kind and looks like one is VGL308, which knows what was meant.
    told = frozenset(finding.span for finding in unknown_kind.find(subject))
    for statement in policy.statements:
        conditions.start()
        uses: list[Use] = []
        known_else = evidence(subject, statement)
        by_part: list[tuple[Part, list[Diagnostic]]] = []
        for part in parts(statement.syntax):
            reading = Reading(policy.module, known, conditions, part.role != "forbidden", told, uses, known_else)
            by_part.append((part, list(reading.findings(part.expr, Scope(policy.module)))))
        for _, found in by_part:
            yield from found
        yield from joins(uses, known.signature)
        finding = vacuous(statement, reachability)
        if finding is not None and not _told(finding, by_part) and not any(map(finding.span.holds, told)):
            yield finding
    for rule in policy.rules:
        conditions.start()
        yield from Reading(policy.module, known, conditions, True, told).findings(
            rule.syntax.when, Scope(policy.module)
        )
    for pattern in subject.declarations:
        if isinstance(pattern, tree.Pattern):
            conditions.start()
            scope = Scope(policy.module)
            holes = {p.text: Given(Hole(), scope.place(p.span), p.text) for p in pattern.params}
            scope = structs.replace(scope, arguments=holes, expanding=((policy.module, pattern.name.text),))
            yield from Reading(policy.module, known, conditions, False, told).findings(pattern.body, scope)


def _told(finding: Diagnostic, by_part: Iterable[tuple[Part, Iterable[Diagnostic]]]) -> bool:
    """Whether a name in what can not occur is the cause, as was said: in the part itself, or in a pattern it uses."""
    for part, found in by_part:
        for one in found:
            if one.severity in ("warning", finding.severity) or one.help == SENTENCE_WINS:
                own = one.source is finding.source and part.expr.span.holds(one.span)
                place = one.span if own else part.expr.span
                if finding.span.holds(place) or (not own and place.holds(finding.span)):
                    return True
    return False


@dataclass(frozen=True)
class Reading:
    """One condition read against a signature.

    `wanted` says whether the statement hopes for such an event, or is at least about it. A recorded run without
    what a statement forbids is as it should be, so there only what looks like a slip of the pen is reported.
    """

    home: Module
    known: Vocabulary
    conditions: Conditions
    wanted: bool
    told: frozenset[Span]
    """The names in the policy's own text of which VGL308 speaks."""
    uses: list[Use] = field(default_factory=list)
    known_else: Evidence = NOTHING_ELSE

    @property
    def closed(self) -> bool:
        """Whether what the signature lacks is a mistake."""
        return self.wanted or self.known.declared

    def findings(self, expr: tree.Expr, scope: Scope, actions: Actions | None = None) -> Iterator[Diagnostic]:
        """What the signature does not know of a condition; nothing inside the standard library."""
        among = self.known.all if actions is None else actions
        with suppress(Failed):
            for finding in self._findings(expr, scope, among):
                if not self._quiet(scope):
                    yield finding

    def _quiet(self, scope: Scope) -> bool:
        return is_shipped(scope.module.source.path) and scope.module is not self.home

    def _findings(self, expr: tree.Expr, scope: Scope, actions: Actions) -> Iterator[Diagnostic]:
        match expr:
            case tree.And(items):
                within = self._within(expr, scope, actions)
                for item in items:
                    yield from self.findings(item, scope, within)
            case tree.Or(items):
                for item in items:
                    yield from self.findings(item, scope, actions)
            case tree.Not(body):
                yield from replace(self, wanted=False).findings(body, scope, actions)
            case tree.ActionIn(names):
                yield from self._actions(list(members(names, scope, self.conditions.terms)), scope.place(names.span))
            case tree.ActionIs(name):
                one = element_of(name, scope, self.conditions.terms)
                if one is not None:
                    yield from self._actions([one], one.place)
            case tree.ActionMatches(text):
                yield from self._matching(text, scope)
            case tree.Has(name) | tree.Entry(name):
                yield from self._argument(name, scope, actions)
            case tree.Test():
                yield from self._test(expr, scope, actions)
            case tree.Apply():
                yield from self._apply(expr, scope, actions)

    def _apply(self, apply: tree.Apply, scope: Scope, actions: Actions) -> Iterator[Diagnostic]:
        found = self.conditions.pattern_of(apply, scope)
        if found is not None:
            module, pattern = found
            if (module, pattern.name.text) not in scope.expanding:
                self.conditions.count(apply, scope)
                inner = self.conditions.inside(apply, pattern, module, scope)
                yield from self.findings(pattern.body, inner, self._within(apply, scope, actions))
            return
        place = scope.place(apply.name.span)
        text = self.conditions.called(apply, scope)
        yield from self._actions([Member(text, "text", place, apply.name, scope.module)], place)
        within = self._within(apply, scope, actions)
        for arg in apply.args or ():
            if not isinstance(arg, tree.String | tree.Number | tree.Boolean):
                yield from self.findings(arg, scope, within)

    # --- actions ---

    def _within(self, expr: tree.Expr, scope: Scope, actions: Actions) -> Actions:
        """The actions among these at whose events an expression can hold, as far as it names actions."""
        match expr:
            case tree.And(items):
                for item in items:
                    actions = self._within(item, scope, actions)
            case tree.Or(items):
                return frozenset[str]().union(*(self._within(item, scope, actions) for item in items))
            case tree.ActionIn(names) if not any(_is_open(n, scope) for p in names.parts for n in _terms(p)):
                return actions & self.known.called(self.conditions.terms.set_of(names, scope))
            case tree.ActionIs(name) if not _is_open(name, scope):
                return actions & self.known.called({self.conditions.terms.word(name, scope)})
            case tree.ActionMatches(text):
                matcher = self.conditions.terms.matcher(text, scope)
                known = self.known.actions
                return frozenset(a for a in actions if matches_any(matcher, known[a].kinds | {a}))
            case tree.Test() if (programs := self._programs(expr, scope)) is not None:
                return frozenset(a for a in actions if self.known.may_be_of(a, programs))
            case tree.Apply(_, args):
                self.conditions.count(expr, scope)
                found = self.conditions.pattern_of(expr, scope)
                if found is None:
                    actions &= self.known.called({self.conditions.called(expr, scope)})
                    for arg in args or ():
                        if not isinstance(arg, tree.String | tree.Number | tree.Boolean):
                            actions = self._within(arg, scope, actions)
                elif (found[0], found[1].name.text) not in scope.expanding:
                    inner = self.conditions.inside(expr, found[1], found[0], scope)
                    return self._within(found[1].body, inner, actions)
        return actions

    def _programs(self, test: tree.Test, scope: Scope) -> frozenset[str] | None:
        """The programs one of which a test asks for; None where it asks for something else."""
        operand, terms = test.operand, self.conditions.terms
        if test.operator not in ("=", "in") or self.conditions.reads(test.field, scope) != core.Reads(_PROGRAM):
            return None
        if isinstance(operand, tree.SetUnion):
            return frozenset(one.text for one in members(operand, scope, terms))
        one = member(operand, scope, terms) if isinstance(operand, tree.Name | tree.String) else None
        return None if one is None else frozenset({one.text})

    def _actions(self, named: list[Member], whole: Place) -> Iterator[Diagnostic]:
        # A run need not show every kind there is; misspelt ones are VGL308.
        closed = self.closed and not self.known.signature.shows_little
        beside = [one for one in named if one.text in vocabulary().kinds or self.known.may_be_derived(one.text)]
        beside += [one for one in named if one.module is self.home and one.place.span in self.told]
        unknown = [one for one in named if one.text not in self.known.names and one not in beside]
        if len(unknown) == len(named) > _SHOWN_ACTIONS:
            message = f"none of these {len(named)} actions is {self.known.signature.place}"
            severity: Severity = "warning" if closed else "info"
            yield Diagnostic.of("VGL401", message, whole.source, whole.span, severity=severity)
            return
        for one in unknown:
            expected = closed and len(unknown) == len(named)
            if self.known_else.says(one.text):
                yield Diagnostic.of(
                    "VGL401",
                    f"no action `{one.text}` {self.known.signature.place}",
                    one.place.source,
                    one.place.span,
                    severity="info",
                    help=SENTENCE_WINS,
                )
                continue
            near = self.known_else.taught(self.known.near(one.text))
            yield Diagnostic.of(
                "VGL401",
                f"no action `{one.text}` {self.known.signature.place}",
                one.place.source,
                one.place.span,
                severity="warning" if near or expected else "info",
                help=_did_you_mean(near),
                fix=one.replaced(near[0]) if near else None,
            )

    def _matching(
        self, text: tree.String | tree.Name | tree.Regex | tree.SetUnion, scope: Scope
    ) -> Iterator[Diagnostic]:
        matcher = self.conditions.terms.matcher(text, scope)
        if self.closed and not matches_any(matcher, self.known.names):
            message = f"no action {self.known.signature.place} matches `{to_text(text)}`"
            yield Diagnostic.of("VGL406", message, scope.module.source, text.span)

    # --- arguments ---

    def _test(self, test: tree.Test, scope: Scope, actions: Actions) -> Iterator[Diagnostic]:
        unknown = list(self._argument(test.field, scope, actions))
        argument = None if unknown else self._of(test.field, scope, actions)
        if argument is None:
            yield from unknown
            return
        shown = to_text(test.field)
        self._use(test, shown, argument, scope)
        domain, declared = Domain(shown, argument, self.closed, self.known_else), self.known.declared
        yield from test_findings(test, domain, scope, self.conditions, declared=declared)

    def _of(self, name: tree.Field, scope: Scope, actions: Actions) -> Argument | None:
        """What the actions together allow under a field; None where anything may stand, as for what a view makes."""
        if name.views:
            return None
        if name.kind == "output":
            return Argument(frozenset(), values=self.known.signature.outputs)
        text = self.conditions.reads(name, scope).name
        known = [self.known.actions[a] for a in actions]
        found = [action.args[text] for action in known if text in action.args]
        if not found or any(action.open and text not in action.args for action in known):
            return None
        values = [a.values for a in found]
        together = None if None in values else frozenset[str]().union(*(v for v in values if v is not None))
        typed = all(a.types for a in found)
        return Argument(frozenset(t for a in found for t in a.types) if typed else frozenset(), values=together)

    def _argument(self, name: tree.Field, scope: Scope, actions: Actions) -> Iterator[Diagnostic]:
        """VGL402, for a field that none of at least one action carries; those of the context no action does."""
        if name.kind == "output" or not actions or name.name.startswith(CONTEXT):
            return
        text = self.conditions.reads(name, scope).name
        known = [self.known.actions[a] for a in actions]
        if any(action.open or text in action.args for action in known):
            return
        near = self.known_else.taught(nearest(text, {other for action in known for other in action.args}))
        if not near and any(self.known.may_carry(action, text) for action in known):
            return
        whatever = self.known.declared and actions == self.known.all
        if text in vocabulary().roles and (whatever or any(action.kinds for action in known)):
            return
        yield Diagnostic.of(
            "VGL402",
            self._lacking(text, actions),
            scope.module.source,
            name.name_span,
            severity="warning" if near or self.closed else "info",
            help=_did_you_mean(near),
            fix=_renamed(name, near[0]) if near else None,
        )

    def _lacking(self, argument: str, actions: Actions) -> str:
        if len(actions) == len(self.known.actions) > 1:
            return f"no action has an argument `{argument}`"
        if len(actions) > _SHOWN_ACTIONS:
            return f"none of the {len(actions)} actions that this is about has an argument `{argument}`"
        shown = [f"`{a}`" for a in sorted(actions)]
        if len(shown) == 1:
            return f"{shown[0]} has no argument `{argument}`"
        return f"none of {', '.join(shown)} has an argument `{argument}`"

    def _use(self, test: tree.Test, shown: str, argument: Argument, scope: Scope) -> None:
        if test.operator != "=" or not isinstance(test.operand, tree.Name):
            return
        meaning = self.conditions.terms.term(test.operand, scope)
        if isinstance(meaning, Variable):
            given = scope.arguments.get(test.operand.text)
            place = given.place if given else scope.place(test.operand.span)
            place = scope.entry if scope.entry and self._quiet(scope) and not given else place
            self.uses.append(Use(meaning.name, shown, argument, place))


def _renamed(name: tree.Field, text: str) -> Fix:
    written = to_text(tree.Field(quote(text)[1:-1]))
    return Fix(f"write `{written}`", (Edit(name.name_span, written),))


def _terms(part: tree.SetLiteral | tree.Name) -> tuple[tree.Term | tree.Regex, ...]:
    return part.elements if isinstance(part, tree.SetLiteral) else (part,)


def _is_open(term: tree.Term | tree.Regex, scope: Scope) -> bool:
    """Whether a term is a pattern's parameter without a value."""
    given = scope.arguments.get(term.text) if isinstance(term, tree.Name) else None
    return given is not None and isinstance(given.meaning, Hole)


def _did_you_mean(near: list[str]) -> str | None:
    return f"did you mean {' or '.join(f'`{n}`' for n in near)}?" if near else None

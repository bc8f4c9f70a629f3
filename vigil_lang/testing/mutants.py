"""Mutants: a policy with one small change that its tests should notice."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

import msgspec

from vigil_lang.analysis import canonical
from vigil_lang.base.node import Node
from vigil_lang.diagnostics.diagnostic import Edit, Span, apply_edits
from vigil_lang.semantics import core
from vigil_lang.semantics.conditions import Failed
from vigil_lang.semantics.gate_rules import GateRules
from vigil_lang.semantics.lower import Lowering
from vigil_lang.semantics.meanings import Values
from vigil_lang.semantics.modules import is_shipped
from vigil_lang.semantics.range_restriction import unbound
from vigil_lang.syntax import tree
from vigil_lang.testing.condition_mutations import Redeclared, condition_mutations
from vigil_lang.testing.condition_parts import ConditionPart, Place, Reader, substituted
from vigil_lang.testing.form_mutations import form_mutations
from vigil_lang.testing.rules_under_test import RuleUnderTest, of_rule, under_test

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from vigil_lang.diagnostics import Source
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.modules import Module
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.testing.condition_mutations import ConditionMutation, Meaning

MAX_MUTANTS: Final = 20_000
MAX_WORK: Final = 1_000_000
"""Parts of conditions that are gone through to make mutants of them."""

_LARGE: Final = 300
"""Tests in a statement beyond which it is not looked at up to the order of its conjuncts: that takes too long."""


@dataclass(frozen=True, slots=True)
class Mutated:
    """One statement as it is, and as a mutant has it."""

    policy: Policy
    statement: Statement
    mutant: Statement


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of a source, what it does in words, which test would notice, and the statements it concerns."""

    source: Source
    edits: tuple[Edit, ...]
    told: str
    missing: str
    mutated: tuple[Mutated, ...]

    @property
    def span(self) -> Span:
        """Where the change begins."""
        return self.edits[0].span

    @property
    def text(self) -> str:
        """The whole source with the change."""
        return apply_edits(self.source.text, self.edits)

    @property
    def lines(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The lines the change touches, as they are and as they would be."""
        starts = min(e.span.start for e in self.edits), max(e.span.end for e in self.edits)
        text = self.source.text
        begin, end = text.rfind("\n", 0, starts[0]) + 1, text.find("\n", starts[1])
        end = len(text) if end < 0 else end
        inside = [
            msgspec.structs.replace(e, span=type(e.span)(e.span.start - begin, e.span.end - begin)) for e in self.edits
        ]
        old = text[begin:end]
        new = apply_edits(old, inside)
        return tuple(old.splitlines()), tuple(line for line in new.splitlines() if line.strip())


def mutants(policies: Iterable[Policy], *, shipped: bool = False) -> tuple[list[Mutant], bool]:
    """The mutants of what some policies' statements rest on, by place, and whether these are all.

    Of the modules of the standard library there are some only if it is `shipped` ones that are under test.

    Those that mean the same as the original, or as another mutant, are left out as far as that is plain to see.
    Policies may be the same file with other values for its params: a mutant then has a statement of each.
    """
    making = _Making(shipped)
    for policy in policies:
        making.read(policy)
    return making.made(), making.complete


@dataclass(frozen=True, slots=True, eq=False)
class _Subject:
    """A statement with its conditions as written."""

    policy: Policy
    statement: Statement
    reader: Reader
    conditions: Sequence[tuple[core.Holds, ConditionPart]]
    size: int

    def with_parts(self, meanings: Mapping[Place, Meaning]) -> Mutated | None:
        """The statement with other meanings for the parts at some places; None where they have none."""

        def by(part: ConditionPart) -> core.Condition | None:
            meaning = meanings.get(part.place)
            return None if meaning is None else meaning(self.reader, part)

        self.reader.restart()
        try:
            new = {h.span: w.replaced(by) for h, w in self.conditions if h.span is not None}
        except Failed:
            return None
        requirement = self.statement.requirement
        theta = substituted(requirement.theta, new)
        trigger = None if requirement.trigger is None else substituted(requirement.trigger, new)
        return self.with_requirement(core.Requirement(theta, core.variables_of(theta), trigger))

    def with_requirement(self, requirement: core.Requirement) -> Mutated | None:
        """The statement with another meaning; None where nothing would bind one of its variables."""
        if unbound(requirement):
            return None
        return Mutated(self.policy, self.statement, msgspec.structs.replace(self.statement, requirement=requirement))


def _with_let(subjects: Sequence[_Subject], new: Redeclared) -> Iterator[Mutated | None]:
    """The statements where a `let` has another value; None for those that then have no meaning."""
    lowering: dict[int, Lowering] = {}
    for subject in subjects:
        policy = subject.policy
        if id(policy) not in lowering:
            lowering[id(policy)] = Lowering(policy.module, Values(policy.params), lambda _: None)
            lowering[id(policy)].conditions.terms.redeclared[new.path, new.name] = new.value
        statement = _lowered(lowering[id(policy)], subject.statement)
        yield None if statement is None else subject.with_requirement(statement.requirement)


def _lowered(lowering: Lowering, statement: Statement) -> Statement | None:
    if not isinstance(statement, RuleUnderTest):
        return lowering.statement(statement.syntax)
    rule = GateRules(lowering.module, lowering.conditions, lowering.report).rule(statement.rule.syntax)
    return None if rule is None else of_rule(rule)


def _named(subject: _Subject) -> set[tuple[str, str]]:
    """The declarations that a statement may rest on, each by its file and name."""
    found: set[tuple[str, str]] = set()
    waiting: list[tuple[Module, Node]] = [(subject.policy.module, subject.statement.syntax)]
    while waiting:
        module, node = waiting.pop()
        for declared in map(module.find, _names(node)):
            if declared is not None and (key := (declared[0].source.path, declared[1].name.text)) not in found:
                found.add(key)
                waiting.append(declared)
    return found


def _names(node: Node) -> Iterator[str]:
    """The names that stand in a part of the tree."""
    waiting: list[object] = [node]
    while waiting:
        match waiting.pop():
            case tree.Name(text):
                yield text
            case Node() as inner:
                waiting += (getattr(inner, field) for field in inner.__struct_fields__)
            case tuple() as several:
                waiting += several


class _Making:
    """All parts of all statements by place, with the statements that rest on them."""

    def __init__(self, shipped: bool) -> None:
        self._shipped = shipped
        self._parts: dict[Place, tuple[ConditionPart, bool]] = {}
        self._resting: dict[Place, list[_Subject]] = {}
        self._subjects: list[_Subject] = []
        self._keys: dict[int, str] = {}
        self._seen: set[tuple[tuple[str, str, str], ...]] = set()
        self._left = MAX_WORK

    def read(self, policy: Policy) -> None:
        """Note the parts of a policy's statements."""
        reader = Reader(policy)
        for statement in under_test(policy):
            conditions = reader.statement(statement)
            size = sum(len(core.tests(written.condition)) for _, written in conditions)
            subject = _Subject(policy, statement, reader, conditions, size)
            self._subjects.append(subject)
            places: set[Place] = set()
            for _, written in conditions:
                self._walk(written, False, places)
            for place in places:
                self._resting.setdefault(place, []).append(subject)

    def _walk(self, part: ConditionPart, droppable: bool, places: set[Place]) -> None:
        if part.place in places:
            return
        places.add(part.place)
        if self._counts(part.place.path):
            self._parts.setdefault(part.place, (part, droppable))
        for item in part.items:
            self._walk(item, part.kind in ("and", "call"), places)

    @property
    def complete(self) -> bool:
        """Whether there was enough time for every change."""
        return self._left >= 0

    def made(self) -> list[Mutant]:
        """The mutants that differ, in the order of their places."""
        found = []
        for mutant in islice(chain(self._of_parts(), self._of_forms()), MAX_MUTANTS):
            keys = tuple([(m.policy.path, m.statement.name, self._keys.pop(id(m.mutant), "")) for m in mutant.mutated])
            if keys not in self._seen or any(not key for _, _, key in keys):
                self._seen.add(keys)
                found.append(mutant)
        return sorted(found, key=lambda m: (m.source.path, m.span.start, m.span.end))

    def _of_parts(self) -> Iterator[Mutant]:
        """One a change; the same edit of a declared set changes every test of it."""
        grouped: dict[tuple[str, tuple[Edit, ...]], tuple[ConditionMutation, dict[Place, Meaning]]] = {}
        redeclared: dict[tuple[str, tuple[Edit, ...]], tuple[ConditionMutation, Redeclared]] = {}
        for place in sorted(self._parts):
            for change in condition_mutations(*self._parts[place]):
                key = change.source.path, change.edits
                if isinstance(change.meaning, Redeclared):
                    redeclared.setdefault(key, (change, change.meaning))
                else:
                    grouped.setdefault(key, (change, {}))[1][place] = change.meaning
        for change, meanings in grouped.values():
            resting = list({id(s): s for place in meanings for s in self._resting[place]}.values())
            yield from self._mutant(change, resting, (s.with_parts(meanings) for s in resting))
        named = [(subject, _named(subject)) for subject in self._subjects] if redeclared else []
        for change, new in redeclared.values():
            resting = [subject for subject, names in named if (new.path, new.name) in names]
            yield from self._mutant(change, resting, _with_let(resting, new))

    def _mutant(
        self, change: ConditionMutation, resting: Sequence[_Subject], changed: Iterable[Mutated | None]
    ) -> Iterator[Mutant]:
        """The mutant of the statements that rest on what is changed, if that is a policy and one of them differs."""
        if not self._counts(change.source.path):
            return
        self._left -= sum(subject.size for subject in resting)
        if self._left < 0:
            return
        mutated = [m for m in changed if m is not None]
        if len(mutated) < len(resting):
            return  # the file would be no policy: it is one source that changes, for all its statements
        kept = tuple([m for m, subject in zip(mutated, resting, strict=True) if self._differs(m, subject.size)])
        if kept:
            yield Mutant(change.source, change.edits, change.told, change.missing, kept)

    def _of_forms(self) -> Iterator[Mutant]:
        grouped: dict[tuple[str, tuple[Edit, ...]], Mutant] = {}
        for subject in self._subjects:
            source = subject.statement.source
            for new in form_mutations(subject.statement) if self._counts(source.path) else ():
                mutated = subject.with_requirement(new.requirement)
                self._left -= subject.size
                if self._left < 0:
                    return
                if mutated is not None and self._differs(mutated, subject.size):
                    before = grouped.get((source.path, new.edits))
                    several = (*before.mutated, mutated) if before else (mutated,)
                    grouped[source.path, new.edits] = Mutant(source, new.edits, new.told, new.missing, several)
        yield from grouped.values()

    def _counts(self, path: str) -> bool:
        return self._shipped or not is_shipped(path)

    def _differs(self, mutated: Mutated, size: int) -> bool:
        """Whether the statements mean something else, as far as that is plain to see."""
        before, after = mutated.statement.requirement.theta, mutated.mutant.requirement.theta
        if size > _LARGE:
            return before != after
        if id(mutated.statement) not in self._keys:
            self._keys[id(mutated.statement)] = canonical.key(before)
        key = self._keys[id(mutated.mutant)] = canonical.key(after)
        return key != self._keys[id(mutated.statement)]

"""VGL322: statements that another statement of the policy implies."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count, islice
from typing import TYPE_CHECKING, Final, NamedTuple

from vigil_lang.analysis import canonical
from vigil_lang.analysis.condition_implication import constraints, plainly_impossible
from vigil_lang.analysis.counterexample import counterexample
from vigil_lang.analysis.field_constraints import FieldConstraints, may_imply
from vigil_lang.analysis.statement_entailment import entails, valid
from vigil_lang.analysis.tableau import within
from vigil_lang.base.identity import by_identity
from vigil_lang.diagnostics import SEVERITIES, Diagnostic, Note
from vigil_lang.lint.obligations import triggering
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import satisfied
from vigil_lang.semantics.forms import FORMS
from vigil_lang.semantics.matching_cost import is_laborious
from vigil_lang.semantics.metadata import REACTIONS
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.analysis.condition_implication import Implications
    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.forms import Form
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Trace

_MAX_PAIRS: Final = 1_000
"""Pairs of statements of one policy that are looked at closely."""

_MAX_LOOKS: Final = 20_000
"""Pairs that are looked at in passing."""

_MOST_KNOWN: Final = 20_000
"""Pairs of which it is remembered what was found."""


class _Looks(NamedTuple):
    """What a statement looks at: its trigger (None where it has no plain one), what else may not occur, its guard."""

    trigger: FieldConstraints | None
    others: list[FieldConstraints]
    guard: FieldConstraints | None
    scope: FieldConstraints | None

    @property
    def hits(self) -> list[FieldConstraints]:
        """What a statement is put to the test or broken by."""
        return [hit for hit in (self.trigger, *self.others) if hit is not None]


class Sides(NamedTuple):
    """A statement, by its number, and what it looks at; the smaller the numbers of its consequences, the graver."""

    statement: Statement
    number: int
    looks: _Looks
    severity: int
    reaction: int


def find(subject: Subject) -> Iterator[Diagnostic]:
    """Statements that are idle beside another one that is reported at least as severely.

    Those that rest on params are left out: with other values they may say something. In a file of tests statements
    are there to be tried, not to be kept.
    """
    if any(isinstance(item, tree.TestCase) for item in subject.policy.module.file.items):
        return
    odd = {id(found.statement) for found in subject.unjoined if found.amiss}  # they say something else than they should
    statements = [s for s in subject.policy.statements if not s.params and id(s) not in odd]
    if len(statements) < 2:
        return
    comparison = _Comparison(subject.implications)
    sides = [_sides(s, comparison) for s in statements]
    said: set[str] = set()
    for mine, theirs in islice(_pairs(sides, comparison), _MAX_PAIRS):
        one, other = mine.statement, theirs.statement
        milder = mine.severity > theirs.severity or mine.reaction > theirs.reaction
        if milder or other.name in said or one.name in said:
            continue
        if comparison.implied(mine, theirs):
            said.add(other.name)
            yield Diagnostic.of(
                "VGL322",
                f"`{other.name}` says nothing that `{one.name}` does not say already",
                other.source,
                other.span,
                help="leave it out, or say what it adds",
                notes=(Note("said here", one.source, one.span),),
            )


def _sides(statement: Statement, comparison: _Comparison) -> Sides:
    about = statement.metadata
    severity, reaction = SEVERITIES.index(about.severity), REACTIONS.index(about.on_violation)
    return Sides(statement, comparison.number(statement), _looks(statement.meaning), severity, reaction)


@dataclass(frozen=True, slots=True)
class _Memory:
    """What was found of pairs of statements, by numbers of their forms and meanings: hashing those takes a while.

    A number means the same for as long as there is the memory, whoever asks: nothing is ever taken out of one.
    """

    _numbers: dict[tuple[str, core.Requirement], int] = field(default_factory=dict)
    _unused: Iterator[int] = field(default_factory=count)
    conceivable: dict[tuple[int, int], bool] = field(default_factory=dict)
    """Pairs of which the first may imply the second, at a look."""
    implied: dict[tuple[int, int], bool] = field(default_factory=dict)

    @property
    def full(self) -> bool:
        """Whether the next comparison should begin another one."""
        return max(len(self.conceivable), len(self.implied), len(self._numbers)) > _MOST_KNOWN

    def number(self, statement: Statement) -> int:
        """The number of what a statement says, which no other one has, also where threads ask at once."""
        return self._numbers.setdefault((statement.form, statement.meaning), next(self._unused))


_latest = _Memory()


def _with_room() -> _Memory:
    """The memory to begin with. A comparison that has begun keeps its own when another one takes its place."""
    global _latest
    memory = _latest
    if memory.full:
        memory = _latest = _Memory()
    return memory


@dataclass
class _Comparison:
    """Compares the statements of one policy.

    An editor asks again after every keystroke, when little has changed, so answers are kept for the next time.
    """

    implications: Implications
    _memory: _Memory = field(default_factory=_with_room)
    _runs: dict[int, Trace | None] = field(default_factory=dict)

    def number(self, statement: Statement) -> int:
        """The number of what a statement says."""
        return self._memory.number(statement)

    def conceivable(self, one: Sides, other: Sides) -> bool:
        """Whether the first may say what the second says, at a look."""
        key, known = (one.number, other.number), self._memory.conceivable
        found = known.get(key)
        if found is None:
            found = known[key] = _conceivable(one, other)
        return found

    def implied(self, one: Sides, other: Sides) -> bool:
        """Whether it is certain that the second says nothing beside the first."""
        key, known = (one.number, other.number), self._memory.implied
        if key not in known:
            known[key] = (
                not _is_laborious(one, other)
                and not self._told_apart(one, other)
                and _implied(one, other, self.implications)
            )
        return known[key]

    def _told_apart(self, one: Sides, other: Sides) -> bool:
        if other.number not in self._runs:
            self._runs[other.number] = counterexample(other.statement.requirement)
        return _told_apart(one, other, self._runs[other.number])


def _is_laborious(*sides: Sides) -> bool:
    bodies = [body for each in sides for body in core.bodies(each.statement.requirement.theta)]
    return is_laborious(core.AndC(tuple([b.condition for b in bodies if isinstance(b, core.Holds | core.Where)])))


def _told_apart(one: Sides, other: Sides, run: Trace | None) -> bool:
    """Whether a run is at hand that keeps the first and breaks the second: cheaper than to look for a proof in vain."""
    requirement = one.statement.requirement
    if run is not None and satisfied(requirement, run):
        return True
    mine, theirs = _trigger(requirement), _trigger(other.statement.requirement)
    if mine is None or (theirs is not None and plainly_impossible((theirs.condition, core.NotC(mine.condition)))):
        return False
    run = counterexample(other.statement.requirement, mine.condition)
    return run is not None and satisfied(requirement, run)


@by_identity
def _looks(requirement: core.Requirement) -> _Looks:
    theta, trigger = requirement.theta, _trigger(requirement)
    others: list[FieldConstraints] = []
    guard = scope = None
    for holds in core.conditions(theta):
        role = holds.role
        if holds is trigger:
            continue
        if role == "scope":
            scope = constraints(holds.condition)
        elif role in ("guard", "response", "resolver"):
            guard = constraints(holds.condition)
        elif role in ("forbidden", "condition"):
            others.append(constraints(holds.condition))
    return _Looks(None if trigger is None else constraints(trigger.condition), others, guard, scope)


def _trigger(requirement: core.Requirement) -> core.Holds | None:
    """What puts a statement to the test, or what `abs` forbids."""
    match requirement.theta:
        case core.Implies(left, _):
            return triggering(left)
        case core.Not(body):
            return triggering(body)
        case _:
            return None


def _pairs(sides: list[Sides], comparison: _Comparison) -> Iterator[tuple[Sides, Sides]]:
    """Pairs of which the first may say what the second says: found by their forms and the actions they speak of."""
    by_form: dict[str | None, dict[str | None, dict[int, Sides]]] = {}  # then by action, None where they name none
    for one in sides:
        form, trigger = one.statement.preset, one.looks.trigger
        by_action = by_form.setdefault(None if form is None else form.name, {})
        for action in (None,) if trigger is None or trigger.names is None else trigger.names:
            by_action.setdefault(action, {})[id(one)] = one
    looks = 0
    for other in sides:
        if looks > _MAX_LOOKS:
            return
        hits = other.looks.hits
        for by_action in filter(None, map(by_form.get, _may_imply(other.statement.preset))):
            found = dict(by_action.get(None, ()))
            for hit in hits:
                if hit.names:
                    found.update(by_action.get(min(hit.names), ()))
                elif hit.loose:
                    found.update(one for each in by_action.values() for one in each.items())
            looks += len(found)
            for one in found.values():
                if one is not other and comparison.conceivable(one, other):
                    yield one, other


@lru_cache
def _may_imply(form: Form | None) -> tuple[str | None, ...]:
    """The forms that may say what a form says, by name, the likeliest first; None for `always`."""
    outright = [other.name for other in FORMS.values() if other.forbids_outright]
    alike = [name for name in FORMS if name not in outright] if form is None else [form.name, *form.implied_by]
    return tuple(dict.fromkeys((*alike, *outright, None)))


def _conceivable(one: Sides, other: Sides) -> bool:
    """Whether the first may say what the second says, at a look."""
    form, asked = one.statement.preset, other.statement.preset
    mine, theirs = one.looks, other.looks
    if mine.trigger is None:
        return form is None
    if mine.scope is not None and asked is not None and not _as_wide(theirs.scope, mine.scope):
        return False
    if form is None or form.forbids_outright or asked is None:
        return any(may_imply(hit, mine.trigger, renaming="right") for hit in theirs.hits)
    if theirs.trigger is None or not may_imply(theirs.trigger, mine.trigger, renaming="right"):
        return False
    guard, asked_for = mine.guard, theirs.guard
    if guard is not None and asked_for is not None and not may_imply(guard, asked_for, renaming="left"):
        return False
    return _as_tight(one.statement.requirement.theta, other.statement.requirement.theta)


def _as_wide(narrow: FieldConstraints | None, wide: FieldConstraints) -> bool:
    """Whether what comes after one event may come after another, as far as a look can tell."""
    return narrow is not None and may_imply(narrow, wide, renaming="right")


def _as_tight(one: core.Theta, other: core.Theta) -> bool:
    """Whether the bound of one form is no looser than that of another."""
    match one, other:
        case core.Implies(_, core.Later(_, bound)), core.Implies(_, core.Later(_, limit)):
            return within(bound, limit)
        case core.Implies(_, core.Not(core.Repeated(count))), core.Implies(_, core.Not(core.Repeated(limit))):
            return count <= limit
        case _:
            return True


def _may_be_valid(statement: Statement) -> bool:
    """Whether a statement without a scope may be unbreakable though its conditions may hold and may fail."""
    theta = statement.requirement.theta
    return statement.preset is None or (isinstance(theta, core.Implies) and isinstance(theta.right, core.Or))


def _implied(one: Sides, other: Sides, known: Implications) -> bool:
    mine, theirs = one.statement.requirement, other.statement.requirement
    if not entails(mine, theirs, known):
        return False
    # What says nothing by itself, and what says just the same, are found as such.
    conditions = [h.condition for h in core.conditions(theirs.theta)]
    if any(known.impossible((c,)) for c in conditions):
        return False
    if (other.looks.scope is not None or _may_be_valid(other.statement)) and valid(theirs, known):
        return False
    mutual = one.statement.form == other.statement.form and _conceivable(other, one)
    return not mutual or canonical.key(mine.theta) != canonical.key(theirs.theta)

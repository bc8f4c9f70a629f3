"""Mutation testing: which small changes of the policies no test notices."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain, count
from typing import TYPE_CHECKING, Final, Literal

from vigil_lang.engines.index import RunIndex
from vigil_lang.semantics.modules import is_shipped
from vigil_lang.testing.distinguishing_runs import MAX_EVENTS, Telling, tell
from vigil_lang.testing.expectations import Indices, answer, mismatch
from vigil_lang.testing.mutants import mutants
from vigil_lang.testing.rules_under_test import RuleUnderTest, in_context, taken_apart, under_test
from vigil_lang.testing.run_notation import event_text
from vigil_lang.trace.values import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vigil_lang.semantics.policy import Policy
    from vigil_lang.testing.case import Case, Expected
    from vigil_lang.testing.mutants import Mutant, Mutated

LIMIT: Final = 2_000_000
"""Events that mutants are tried on, of all tests together; enough for a minute or so."""

_SEARCHES: Final = 400
"""Survivors for which a run is looked for."""

_IN_VAIN: Final = 20
"""Searches that find nothing before the others are made short."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that no test notices.

    `telling` is a run that a test could have, None where none was found; `name` what such a test may be called: no
    other test is, unless it has the same run. `statement` is what the test calls the statement that the run is for.
    """

    mutant: Mutant
    by: Mutated
    statement: str
    telling: Telling | None = None
    name: str = ""


@dataclass(frozen=True)
class Mutation:
    """What became of the mutants.

    `survivors` differ from the policy for certain; of `doubtful` ones no run is known that tells them apart, so they
    count neither way; `equivalent` mean the same, as the solver says. `untested` are mutants of statements that no
    test names: they survive too. `skipped` were not tried, there were too many; unless `complete`, there are even more.
    """

    killed: tuple[Mutant, ...]
    survivors: tuple[Survivor, ...]
    doubtful: tuple[Survivor, ...] = ()
    equivalent: tuple[Mutant, ...] = ()
    untested: tuple[Mutant, ...] = ()
    skipped: tuple[Mutant, ...] = ()
    complete: bool = True

    @property
    def survived(self) -> int:
        """How many mutants some test should have noticed."""
        return len(self.survivors) + len(self.untested)

    @property
    def percent(self) -> float:
        """The share of mutants that the tests noticed, of those that differ for certain."""
        total = len(self.killed) + self.survived
        return 100.0 * len(self.killed) / total if total else 100.0


def mutate(cases: Sequence[Case], policies: Iterable[Policy] = (), *, limit: int = LIMIT) -> Mutation:
    """Try every mutant of the policies under test on the tests that name its statements.

    A mutant is killed when an expectation that the policy itself meets is not met. `policies` are mutated too, though
    no test may name them. The same tests give the same answer: `limit` counts events, not seconds.
    """
    trial = _Trial(cases, policies, limit)
    killed: list[Mutant] = []
    untested: list[Mutant] = []
    skipped: list[Mutant] = []
    alive: list[Mutant] = []
    made, complete = mutants(trial.policies, shipped=trial.shipped)
    for mutant in made:
        if not trial.names(mutant):
            untested.append(mutant)
        elif trial.exhausted:
            skipped.append(mutant)
        else:
            (killed if trial.kills(mutant) else alive).append(mutant)
    survivors: list[Survivor] = []
    doubtful: list[Survivor] = []
    equivalent: list[Mutant] = []
    search = _Search((case.name for case in cases), trial.policies)
    for at, mutant in enumerate(alive):
        found = search.survivor(mutant) if at < _SEARCHES else search.unsought(mutant)
        if found is None:
            equivalent.append(mutant)
        else:
            (survivors if found.telling or at >= _SEARCHES else doubtful).append(found)
    groups = (tuple(killed), tuple(survivors), tuple(doubtful), tuple(equivalent), tuple(untested), tuple(skipped))
    return Mutation(*groups, complete)


class _Search:
    """Runs that tell survivors apart, each with the name of a test."""

    def __init__(self, names: Iterable[str], policies: Iterable[Policy]) -> None:
        """`names` are those of tests; of `policies` all that are under test."""
        self._taken = set(names)
        self._statements = Counter(name for _, name in {(p.path, s.name) for p in policies for s in under_test(p)})
        self._proposed: dict[int, list[tuple[Telling, str]]] = {}
        self._in_vain = 0

    def survivor(self, mutant: Mutant) -> Survivor | None:
        """A run for the first statement that has one; None where every statement means the same."""
        for by in mutant.mutated:
            # A run that tells an earlier mutant of the statement apart may do for this one too.
            for telling, name in self._proposed.get(id(by.statement), ()):
                if bool(answer(by.mutant, RunIndex(telling.trace)).offending) != bool(telling.before):
                    return Survivor(mutant, by, self._called(by), telling, name)
        unknown: Mutated | None = None
        for by in mutant.mutated:
            most = MAX_EVENTS if self._in_vain < _IN_VAIN else MAX_EVENTS // 10
            told = tell(by.statement.requirement, by.mutant.requirement, most)
            if isinstance(told, Telling) and isinstance(by.statement, RuleUnderTest):
                told = _asked(by, told)
            if isinstance(told, Telling):
                name = self._name(by, told)
                self._proposed.setdefault(id(by.statement), []).append((told, name))
                return Survivor(mutant, by, self._called(by), told, name)
            if told == "unknown":
                self._in_vain += 1
                unknown = unknown or by
        return Survivor(mutant, unknown, self._called(unknown)) if unknown else None

    def unsought(self, mutant: Mutant) -> Survivor:
        """A survivor for which no run is looked for."""
        by = mutant.mutated[0]
        return Survivor(mutant, by, self._called(by))

    def _called(self, by: Mutated) -> str:
        """What a test calls the statement: with its policy's name where another policy has one of that name."""
        name = by.statement.name
        return f"{by.policy.name}.{name}" if self._statements[name] > 1 else name

    def _name(self, by: Mutated, telling: Telling) -> str:
        """The event that the policy and the mutant disagree on, and a number if that was told before."""
        at = min({*telling.before} ^ {*telling.after}, default=0)
        trace, verb = telling.trace, "forbids" if at in telling.before else "allows"
        if isinstance(by.statement, RuleUnderTest):
            apart = taken_apart(trace)
            trace = trace if apart is None else apart[0]
            verb = "matches" if at in telling.before else "leaves"
        event = event_text(trace.events[at]).replace('"', "")
        plain = f"{self._called(by)} {verb} {event}"
        name = next(n for n in chain((plain,), (f"{plain} ({k})" for k in count(2))) if n not in self._taken)
        self._taken.add(name)
        return name


def _asked(by: Mutated, told: Telling) -> Telling | Literal["unknown"]:
    """The run that tells a rule and its mutant apart, if it does as the gate asks them."""
    apart = taken_apart(told.trace)
    if apart is None:
        return "unknown"
    context = {name: tuple(map(canonical, v if isinstance(v, list) else [v])) for name, v in apart[1].items()}
    moments = in_context(apart[0], context)
    before, after = (answer(rule, RunIndex(moments)) for rule in (by.statement, by.mutant))
    if (before.offending, before.unknown) == (after.offending, after.unknown):
        return "unknown"
    return Telling(moments, *(tuple([at for at, _ in found.offending]) for found in (before, after)))


@dataclass(slots=True)
class _Tried:
    """A test with the expectations of one statement that the policy meets."""

    case: Case
    index: RunIndex
    met: list[Expected] = field(default_factory=list)


class _Trial:
    """The tests, by the statement they name, with what the policies make of them."""

    def __init__(self, cases: Sequence[Case], policies: Iterable[Policy], limit: int) -> None:
        self._chosen: dict[tuple[str, str, str], Policy] = {}
        self._left = limit
        self.shipped = any(is_shipped(case.path) for case in cases)
        self._tried: dict[tuple[int, str], list[_Tried]] = {}
        for policy in policies:
            self._one(policy)
        for case in cases:
            self._baseline(case)
        for tried in self._tried.values():
            tried.sort(key=lambda t: len(t.case.trace))  # short runs first: most mutants fall to them

    @property
    def policies(self) -> list[Policy]:
        """Each policy once, and once more for other values of its params."""
        return list(self._chosen.values())

    @property
    def exhausted(self) -> bool:
        """Whether the limit of events is reached."""
        return self._left <= 0

    def names(self, mutant: Mutant) -> bool:
        """Whether some test expects something of one of the mutant's statements that is so."""
        return any((id(m.policy), m.statement.name) in self._tried for m in mutant.mutated)

    def kills(self, mutant: Mutant) -> bool:
        """Whether some test notices the mutant."""
        for mutated in mutant.mutated:
            for tried in self._tried.get((id(mutated.policy), mutated.statement.name), ()):
                self._left -= len(tried.case.trace) + 1
                found = answer(mutated.mutant, tried.index)
                if any(mismatch(mutated.mutant, expected, found, tried.index) is not None for expected in tried.met):
                    return True
        return False

    def _one(self, policy: Policy) -> Policy:
        """One policy for all that read the same file with the same values."""
        key = policy.path, policy.module.source.text, repr(sorted(policy.params.items()))
        return self._chosen.setdefault(key, policy)

    def _baseline(self, case: Case) -> None:
        chosen = {policy.path: self._one(policy) for policy in case.policies}
        indices = Indices(case)
        by_statement: dict[tuple[str, str], list[Expected]] = {}
        for expected in case.expected:
            by_statement.setdefault((expected.policy, expected.statement), []).append(expected)
        for (path, name), expectations in by_statement.items():
            policy = chosen.get(path)
            statement = next((s for s in under_test(policy) if s.name == name), None) if policy else None
            if policy is None or statement is None:
                continue
            index = indices.of(statement)
            found = answer(statement, index)
            met = [e for e in expectations if mismatch(statement, e, found, index) is None]
            if met:
                self._tried.setdefault((id(policy), name), []).append(_Tried(case, index, met))

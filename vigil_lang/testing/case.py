"""A test of policies and its outcome."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from vigil_lang.diagnostics import Source, Span
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.syntax.tree import Expected as Verdict
    from vigil_lang.trace import Trace

OF_RULES: Final[frozenset[Verdict]] = frozenset({"holds", "blocks", "passes"})
"""What is expected of rules, and not of statements."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a test expects of one statement, or of one rule.

    `policy` is the path of the statement's policy. `events` are exactly the offending ones, None where any will do;
    `bindings` are values of variables under which each of them offends. `span` is the statement's name in the test.
    """

    policy: str
    statement: str
    verdict: Verdict
    events: tuple[str, ...] | None
    bindings: tuple[tuple[str, str], ...]
    span: Span

    @property
    def words(self) -> str:
        """What is expected, as a test says it: `violated at a.2 with x = 3`."""
        at = f" at {', '.join(self.events)}" if self.events is not None else ""
        values = f" with {', '.join(f'{x} = {value}' for x, value in self.bindings)}" if self.bindings else ""
        return f"{self.verdict}{at}{values}"


@dataclass(frozen=True)
class Case:
    """One `test`: policies, already with the values it sets, a run, and what is expected.

    `span` is the test's name in `source`; `path` the test file's; `doc` its documentation. `moments` is the run as a
    gate's rules see it, with the fields of the context on each event.
    """

    path: str
    name: str
    span: Span
    source: Source = field(repr=False)
    policies: tuple[Policy, ...] = field(repr=False)
    trace: Trace = field(repr=False)
    moments: Trace = field(repr=False)
    expected: tuple[Expected, ...]
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a run makes of one statement.

    `offending` has, for each event at fault in run order, its index and every binding under which it offends, the one
    that a verdict reports first; None stands for any value the run does not carry. `exercised`: something put the
    statement to the test. Of a rule, `offending` are the events that it matches, without bindings, and `unknown` those
    for which the gate cannot tell.
    """

    offending: tuple[tuple[int, tuple[dict[str, str | None], ...]], ...]
    exercised: bool
    unknown: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """An expectation that was not met, said in words. `span` is in the test's source.

    `found` is what came instead, as a test would say it: `violated at a.2`.
    """

    expected: Expected
    message: str
    span: Span
    found: str


@dataclass(frozen=True)
class Outcome:
    """A test that was run: it passed when there are no failures."""

    case: Case
    failures: tuple[Failure, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether every expectation was met."""
        return not self.failures

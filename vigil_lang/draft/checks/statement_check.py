"""One drafted statement checked by itself: nothing that another clause says has a part in it.

It is built as a tree, printed and read back, linted against the signature, the runs and the sentence it comes from,
encoded, and judged on the runs. What an observed signature has not seen is no mistake if it is a value: a rule names
what it forbids, and a run that breaks it is still to come. A name that nothing knows cannot be grounded (section 6).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from vigil_lang.analysis.counterexample import counterexample
from vigil_lang.analysis.statement_entailment import valid
from vigil_lang.base.collector import collector_paused
from vigil_lang.diagnostics import Source
from vigil_lang.documents.library import Library
from vigil_lang.draft.building import build
from vigil_lang.draft.checks.weakening import weaknesses
from vigil_lang.draft.clause_result import Drafted, RunCounts
from vigil_lang.engines.index import RunIndex
from vigil_lang.engines.indexed import Judgement
from vigil_lang.engines.smt.encode import Encoding
from vigil_lang.engines.smt.event import meeting
from vigil_lang.engines.smt.solve import evaluate
from vigil_lang.english.constraints import constraints
from vigil_lang.lint.judging import judged
from vigil_lang.lint.run import Plan, lint_policy
from vigil_lang.project.selection import Selection
from vigil_lang.semantics import core
from vigil_lang.semantics.policy import read_policy
from vigil_lang.syntax import parse
from vigil_lang.syntax.print import to_text
from vigil_lang.trace.event import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.draft.clause_result import Clause, Requirement
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.syntax import tree
    from vigil_lang.trace import Signature

MAX_STATEMENTS: Final = 8
"""Statements that one clause may become."""

MAX_TEXT: Final = 6_000
"""Characters of one statement, so that none can make the policy larger than policies may be."""

MAX_PROBLEMS: Final = 12
"""Findings on one statement that are shown."""

_UNKNOWN = frozenset({"VGL401", "VGL402", "VGL403", "VGL404"})
"""Names and types that nothing knows."""
_UNSEEN = frozenset({"VGL405", "VGL406", "VGL407", "VGL408", "VGL409"})
"""What the signature has not seen: a mistake where it was declared, a remark where it was observed."""
_REMARKS = frozenset({"VGL321"})
_OF_ONE = frozenset({"VGL701", "VGL703"})
"""What a sentence limits or orders: enough if one of its statements has it."""
_BY_ITSELF = Selection(
    select=("VGL0", "VGL1", "VGL2", "VGL3", "VGL4", "VGL6", "VGL708", "VGL9"),
    # About a file as a whole, and about runs, which are judged here.
    ignore=("VGL205", "VGL206", "VGL304", "VGL322", "VGL331", "VGL332"),
)
_AGAINST_SENTENCE = Selection(select=("VGL701", "VGL702", "VGL703", "VGL704", "VGL707"))
_UNBREAKABLE = "no run was found that breaks it: say what must not happen, in a simpler condition if need be"
_WORD = re.compile(r"says `([^`]*)`")
_FEW: Final = 3
_LIMIT: Final = "(set-option :reproducible-resource-limit 200000)"
"""Counted in Z3's steps, so that the answer does not depend on how busy the machine is."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What the checks say: the statements if all passed, else what is wrong, in words for whoever drafted them.

    `doubts` may be wrong: whoever drafted the statements has to look at them again, and may stand by what they said.
    """

    drafted: tuple[Drafted, ...]
    problems: tuple[str, ...] = ()
    doubts: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class Checks:
    """What statements are checked against.

    `path` is where the policy will be: the documents its statements cite are found from there. It need not exist.
    """

    signature: Signature | None
    runs: Sequence[Trace]
    path: str = "policy.vgl"
    library: Library = field(default_factory=Library, repr=False)

    def check(self, requirements: Sequence[Requirement], clause: Clause) -> Checked:
        """Check the statements that a clause became. What one of them lacks of its sentence, another may have."""
        drafted: list[Drafted] = []
        problems: list[str] = []
        for number, requirement in enumerate(requirements, 1):
            name = build.statement_name(requirement.name, clause, [one.statement.name.text for one in drafted])
            found = self._alone(requirement, clause, name)
            if not isinstance(found, Drafted):
                problems += (f"statement {number}: {text}" if len(requirements) > 1 else text for text in found)
            elif all(not alike(found, other) for other in drafted):
                drafted.append(found)
        if problems:
            return Checked((), _some(problems))
        findings = self._against_sentence(drafted)
        doubts = [finding for finding in findings if _is_doubt(finding, clause)]
        if len(doubts) < len(findings):
            return Checked((), _some(map(with_help, findings)))
        return Checked(tuple(drafted), (), tuple(doubts[:MAX_PROBLEMS]))

    def _alone(self, requirement: Requirement, clause: Clause, name: str) -> Drafted | tuple[str, ...]:
        """The statement that a requirement describes, or what is wrong with it."""
        try:
            statement = build.statement(requirement, name, [(clause.path, clause.text)])
        except build.Unbuildable as error:
            return (str(error),)
        source = self._source([statement])
        if len(source.text) > MAX_TEXT:
            return (f"the statement is longer than {MAX_TEXT:,} characters",)
        policy, findings = self._linted(source, _BY_ITSELF)
        problems = [with_help(finding) for finding in findings if self._rejects(finding)]
        if parse(source).file.items != (statement,) or len(policy.statements) != 1:
            return tuple(problems) or ("it does not read back as the statement it was written from",)
        lowered = policy.statements[0]
        found = list(weaknesses(lowered, clause, self.signature))
        problems += (weakness.text for weakness in found if weakness.certain)
        if problems:
            return tuple(problems)
        counts = self._run_counts(lowered)
        if not breakable(lowered.requirement, counts):
            return (_UNBREAKABLE,)
        notes = [*map(brief, findings), *(weakness.text for weakness in found)]
        if counts.runs and counts.violated == counts.runs:
            notes.append("every run breaks it" if counts.runs > 1 else "the run breaks it")
        return Drafted(requirement, statement, counts, _some(notes))

    def _against_sentence(self, drafted: Sequence[Drafted]) -> list[Diagnostic]:
        """What the statements of a clause lack of their sentence: words and orders that none of them has.

        A sentence may state several obligations, and then each statement is about one. Of names and numbers the
        linter itself knows that another statement has them.
        """
        _, findings = self._linted(self._source([one.statement for one in drafted]), _AGAINST_SENTENCE)
        lacking = Counter(map(_lacks, findings))
        return [f for f in findings if f.code not in _OF_ONE or lacking[_lacks(f)] >= len(drafted)]

    def _source(self, statements: Sequence[tree.Statement]) -> Source:
        return Source(self.path, "\n\n".join(("policy draft", *map(to_text, statements))) + "\n")

    def _linted(self, source: Source, selection: Selection) -> tuple[Policy, tuple[Diagnostic, ...]]:
        """What the linter finds; no comment suppresses it."""
        signature = self.signature if self.signature is not None and self.signature.actions else None
        plan = Plan(selection, {}, signature, self.runs or None, inline_ignores=False, documents=self.library)
        policy = read_policy(source)
        return policy, lint_policy(policy, plan).findings

    def _rejects(self, finding: Diagnostic) -> bool:
        if finding.code in _UNKNOWN:
            return True
        if finding.code in _UNSEEN and self.signature is not None and self.signature.origin == "observed":
            return False
        return finding.severity != "info" and finding.code not in _REMARKS

    def _run_counts(self, statement: Statement) -> RunCounts:
        with collector_paused():
            # It compiles, be there runs or not.
            Encoding(Judgement(statement.requirement, RunIndex(Trace(()))), name=statement.name)
        verdicts = judged([statement], self.runs)[0]
        return RunCounts(
            len(verdicts),
            sum(verdict.concerned for verdict in verdicts),
            sum(verdict.offending is not None for verdict in verdicts),
        )


def breakable(requirement: core.Requirement, counts: RunCounts) -> bool:
    """Whether a requirement says anything: a given run breaks it, a guessed one, or (if need be) a conceivable one.

    In doubt it says nothing: a condition so involved that neither guesses nor the solver find an event for it is none
    that a reviewer understands.
    """
    if counts.violated or counterexample(_with_few(requirement)) is not None:
        return True
    if valid(requirement):
        return False
    theta = requirement.theta
    wanted = core.conditions(theta.left if isinstance(theta, core.Implies) else theta)
    return counts.exercised > 0 or all(_possible(holds.condition) for holds in wanted)


def _with_few(requirement: core.Requirement) -> core.Requirement:
    """A requirement with its count made small: if many events can pass it, few can pass the small one."""
    match requirement.theta:
        case core.Implies(left, core.Not(core.Repeated(count) as counted)) if count > _FEW:
            theta = core.Implies(left, core.Not(msgspec.structs.replace(counted, count=_FEW)))
            return core.Requirement(theta, requirement.variables, requirement.trigger)
        case _:
            return requirement


def _possible(condition: core.Condition) -> bool:
    script = meeting([condition], lists=True)
    return script is not None and evaluate([_LIMIT, *script, "(check-sat)"]) == "sat"


def alike(one: Drafted, other: Drafted) -> bool:
    """Whether two statements are written alike, whatever they are called and where they come from."""
    mine, others = one.statement, other.statement
    return (mine.form, mine.after, mine.where) == (others.form, others.after, others.where)


def brief(finding: Diagnostic) -> str:
    """A finding in one line; its code makes it possible to look it up."""
    return f"{finding.message} ({finding.code})"


def with_help(finding: Diagnostic) -> str:
    """A finding in one line, with what helps to mend it."""
    return brief(finding) + (f"; {finding.help}" if finding.help else "")


def _is_doubt(finding: Diagnostic, clause: Clause) -> bool:
    """Whether a finding may well be wrong: a word that limits the sentence and has another counterpart than is known.

    Without such a limit a statement asks for more than the sentence. One that has some of the sentence's names may
    stand for the others by their kind, or by what they do; what has none of them, or another number, is about
    something else.
    """
    if finding.code == "VGL701":
        return not finding.message.endswith(" alone")
    if finding.code != "VGL702" or "has the number" in finding.message:
        return False
    missing = finding.message.partition(", and nothing in ")[0].count("`") // 2
    return ", …" not in finding.message and missing < len(constraints(clause.text).names)


def _lacks(finding: Diagnostic) -> tuple[str, str]:
    """A code, and the word of the sentence that it is about."""
    said = _WORD.search(finding.message)
    return finding.code, said[1] if said else ""


def _some(problems: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(problems))
    more = len(found) - MAX_PROBLEMS
    return found if more <= 0 else (*found[:MAX_PROBLEMS], f"… and {more} more")

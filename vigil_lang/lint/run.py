"""Linting one policy by every selected rule; a rule that fails does not stop the others."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import CODES, Diagnostic, Span
from vigil_lang.documents.library import Library
from vigil_lang.lint.registry import all_rules, basic_rules
from vigil_lang.lint.subject import Subject
from vigil_lang.lint.suppress import suppressed
from vigil_lang.project.selection import INVENTORY, Selection
from vigil_lang.semantics.modules import FROM_DISK, is_shipped
from vigil_lang.semantics.policy import read_policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from vigil_lang.abstraction.tools import Tool
    from vigil_lang.diagnostics import Source
    from vigil_lang.lint.memory import Memory
    from vigil_lang.lint.rule import Rule
    from vigil_lang.semantics.modules import Access, Module
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Signature, Trace


@dataclass(frozen=True)
class Plan:
    """The rules and inputs of a lint run. `runs`, `benign` and the threshold are as in `Subject`.

    `basic`: only by the rules of `vigil check`.
    """

    selection: Selection = field(default_factory=Selection)
    params: Mapping[str, object] = field(default_factory=dict)
    signature: Signature | None = field(default=None, repr=False)
    runs: Sequence[Trace] | None = field(default=None, repr=False)
    benign: Sequence[Trace] | None = field(default=None, repr=False)
    benign_threshold: float = 0.0
    inline_ignores: bool = True
    tools: dict[str, Tool] = field(default_factory=dict, repr=False)
    documents: Library = field(default_factory=Library, repr=False)
    access: Access = field(default=FROM_DISK, repr=False)
    """How policies and modules are read."""
    basic: bool = False

    @cached_property
    def rules(self) -> Sequence[Rule]:
        """The rules that are asked for."""
        rules = basic_rules() if self.basic else all_rules()
        return [rule for rule in rules if any(map(self.selection.counts, rule.codes))]


@dataclass(frozen=True)
class Linted:
    """The result for one policy: its findings in order, and those that comments suppress.

    `needs` are the paths of the other files that this rests on.
    """

    policy: Policy
    findings: tuple[Diagnostic, ...]
    suppressed: tuple[Diagnostic, ...] = ()
    needs: tuple[str, ...] = ()


class Stopped(Exception):
    """The caller no longer wants the result."""


def lint(source: Source, plan: Plan) -> Linted:
    """Lint one policy; the findings of modules it uses that are not shipped are among its own."""
    return lint_policy(read_policy(source, plan.params, access=plan.access), plan)


def lint_policy(
    policy: Policy, plan: Plan, going: Callable[[], bool] = lambda: True, memory: Memory | None = None
) -> Linted:
    """Lint a policy that was read with the plan's `params`. Before each rule `going` says whether to continue.

    With a `memory` of the policy's last text, local rules look only at what changed since.

    Raises:
        Stopped: `going` said no.
    """
    subject = Subject(
        policy,
        plan.signature,
        plan.runs,
        plan.benign,
        plan.benign_threshold,
        plan.documents.afresh(),
        plan.access,
        tools=plan.tools,
        occurring=None if memory is None else memory.occurring(plan.signature),
    )
    looked_for = _looked_for(plan)
    findings = list(policy.diagnostics)

    def found_by(rule: Rule, of: Subject) -> Iterable[Diagnostic]:
        if not going():
            raise Stopped
        return _found(rule, of)

    remembered: dict[Rule, list[Diagnostic]] = {}
    if memory is not None:
        local = [rule for rule in plan.rules if rule.local]
        inputs = (plan.signature, plan.params, plan.tools)
        remembered = dict(zip(local, memory.findings(subject, local, inputs, found_by), strict=True))
    for rule in plan.rules:
        findings += remembered[rule] if rule in remembered else found_by(rule, subject)
    found = _distinct(findings)
    kept: list[Diagnostic] = []
    silent: list[Diagnostic] = []
    modules = _modules(policy.module)
    for module in modules:
        own = [f for f in found if f.source is module.source]
        if plan.inline_ignores:
            # Citations of a module in use are looked at where that module itself is linted: only there is one unused.
            own, away = suppressed(module.file, own, looked_for if module is policy.module else lambda _: False)
            silent += plan.selection.applied(away, module.source.path)
        kept += plan.selection.applied(own, module.source.path)
    elsewhere = [f for f in found if all(f.source is not module.source for module in modules)]
    kept += plan.selection.applied(elsewhere, "")
    kept = _each_cause_once(policy, kept)
    kept.sort(key=lambda f: (f.source.path != policy.path, f.source.path, f.span.start, f.code))
    return Linted(policy, tuple(kept), tuple(silent), tuple(dict.fromkeys(_needs(subject, modules))))


def _found(rule: Rule, subject: Subject) -> Iterator[Diagnostic]:
    """A rule's findings, or VGL902 if it fails."""
    try:
        yield from rule.find(subject)
    except Exception as error:
        if os.environ.get("VIGIL_DEBUG"):
            raise
        message = f"the rule {rule.codes[0]} failed: {type(error).__name__}: {error}"
        help_text = "this is a fault in vigil; VIGIL_DEBUG=1 shows the traceback. The other rules were applied"
        yield Diagnostic.of("VGL902", message, subject.policy.module.source, help=help_text)


def _distinct(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    once: dict[tuple[str, str, Span], Diagnostic] = {}
    for finding in findings:
        once.setdefault((finding.code, finding.source.path, finding.span), finding)
    return list(once.values())


def _each_cause_once(policy: Policy, found: list[Diagnostic]) -> list[Diagnostic]:
    """The findings, but not that no run puts a statement to the test where what the runs cannot have is the cause."""
    causes = ("VGL308", "VGL330", "VGL334")
    names = [(f.source, f.span) for f in found if f.code == "VGL401" or (f.code in causes and f.severity == "warning")]
    if not names:
        return found
    caused = {
        (statement.source, statement.span)
        for statement in policy.statements
        if statement.meaning.trigger is None  # else VGL408 speaks of it
        and any(source is statement.source and statement.syntax.span.holds(span) for source, span in names)
    }
    return [f for f in found if f.code != "VGL332" or (f.source, f.span) not in caused]


def _modules(module: Module) -> list[Module]:
    """A module and those it uses, also where nothing came of that."""
    found, pending = [module], [module]
    while pending:
        for _, used in pending.pop().uses:
            if all(used is not other for other in found):
                found.append(used)
                pending.append(used)
    return found


def _needs(subject: Subject, modules: Iterable[Module]) -> Iterator[str]:
    """The modules that are not shipped, the documents that statements cite, and the tests that tell of runs."""
    yield from (m.source.path for m in modules if not is_shipped(m.source.path))
    yield from subject.documents.looked_at
    if subject.runs:
        from vigil_lang.lint.signature.known_bad import tests_of

        yield from filter(None, [tests_of(subject.policy.module.source.path)])


def _looked_for(plan: Plan) -> Callable[[str], bool]:
    """Whether a code, or one with a prefix, could have been found."""
    idle = {INVENTORY, "VGL706"}
    idle |= set() if plan.signature else {code for code in CODES if code.startswith("VGL4")}
    idle |= set() if plan.runs else {"VGL321", "VGL332"}
    idle |= set() if plan.benign else {"VGL331"}
    if plan.basic:
        idle |= {code for rule in all_rules() if not rule.basic for code in rule.codes}
    return lambda prefix: any(c.startswith(prefix) and c not in idle and plan.selection.counts(c) for c in CODES)

"""From a file of tests to cases: what each test runs, by which policies it is judged, and what is expected."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.base.files import read_source
from vigil_lang.diagnostics import Diagnostic, InputError, Note, Source, Span
from vigil_lang.engines.index import RunIndex
from vigil_lang.semantics import core
from vigil_lang.semantics.context_fields import CONTEXT, VIOLATES, is_known, suggestion
from vigil_lang.semantics.modules import is_test_file
from vigil_lang.semantics.policy import read_policy
from vigil_lang.syntax import tree
from vigil_lang.testing.case import OF_RULES, Case, Expected
from vigil_lang.testing.expectations import answer
from vigil_lang.testing.fixtures import Fixtures, leads_out
from vigil_lang.testing.inline_runs import written_run
from vigil_lang.testing.policies_under_test import PoliciesUnderTest, statements
from vigil_lang.testing.rules_under_test import RuleUnderTest, in_context
from vigil_lang.testing.test_errors import Faults
from vigil_lang.trace.values import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Trace


@dataclass(frozen=True)
class Suite:
    """The tests of one file that are valid, in order, and what is wrong with the others.

    `policies` are those under test, with the values that params have by themselves.
    """

    source: Source = field(repr=False)
    cases: tuple[Case, ...]
    findings: tuple[Diagnostic, ...]
    policies: tuple[Policy, ...] = field(default=(), repr=False)


def read_tests(path: str, fixtures: Fixtures | None = None) -> Suite:
    """The tests of a file. `fixtures` may be shared by several files.

    Raises:
        InputError: it cannot be read, is a pipe, or is a link out of its project.
    """
    place = Path(path)
    if place.exists() and not place.is_file() and not place.is_dir():
        raise InputError([Diagnostic.of("VGL001", f"`{path}` is no file", Source(path, ""))])
    if leads_out(place):
        raise InputError([Diagnostic.of("VGL610", "the file leads out of the project's folder", Source(path, ""))])
    source = read_source(path)
    own = read_policy(source)
    broken = own.module.file.broken
    errors = [d for d in own.errors if d.code != "VGL210"]  # a param may get its value from each test
    subjects = PoliciesUnderTest(own)
    serious = [d for d in errors if d.source != source or not any(b.start <= d.span.start <= b.end for b in broken)]
    serious = serious or subjects.errors()
    if serious:
        return Suite(source, (), tuple(dict.fromkeys([*errors, *serious])))
    found = find_tests(own, fixtures or Fixtures(), subjects)
    return Suite(source, found.cases, (*errors, *found.findings), subjects.policies({}))


def find_tests(own: Policy, fixtures: Fixtures, subjects: PoliciesUnderTest | None = None) -> Suite:
    """The tests of a file that was read as a policy, with the findings about them alone."""
    source = own.module.source
    reader = _Reader(Faults(source), fixtures, subjects or PoliciesUnderTest(own))
    tests = [item for item in own.module.file.items if isinstance(item, tree.TestCase)]
    if tests and not is_test_file(source.path) and source.path != "<stdin>":
        reader.faults.add(
            "a test stands in a file whose name ends in `_test.vgl`", tests[0].name.span, "nothing runs it here"
        )
        return Suite(source, (), tuple(reader.faults.found))
    cases = [case for test in tests if (case := reader.case(test)) is not None]
    findings = sorted(reader.faults.found, key=lambda f: f.span.start)
    return Suite(source, tuple(cases), tuple(findings))


@dataclass
class _Reader:
    faults: Faults
    fixtures: Fixtures
    subjects: PoliciesUnderTest
    names: dict[str, tree.TestCase] = field(default_factory=dict)

    def case(self, test: tree.TestCase) -> Case | None:
        """One test, or None when something is wrong with it, which is then reported."""
        faults = self.faults
        before = len(faults.found)
        name = faults.text(test.name) or ""
        if not name.strip():
            faults.add("the test has no name", test.name.span, "say what it shows")
        elif name in self.names:
            note = Note("the first one", faults.source, self.names[name].name.span)
            faults.add("two tests have this name", test.name.span, notes=(note,))
        self.names.setdefault(name, test)
        expectations = [c for c in test.clauses if isinstance(c, tree.Expectation)]
        if not expectations:
            faults.add("the test expects nothing", test.name.span, "say what, such as `expect R0 satisfied`")
        trace = self._run(test)
        policies = self.subjects.policies(self._values(test))
        if unset := {e.message for p in policies for e in p.errors if e.code == "VGL210"}:
            for message in sorted(unset):
                faults.add(message, test.name.span, "the test can give it one: `set NAME = …`")
            return None
        expected = self._expected(expectations, policies, trace)
        context = self._context(test)
        if len(faults.found) > before or trace is None:
            return None
        path = faults.source.path
        moments = in_context(trace, context, _broken(policies, trace)) if _have_rules(policies) else trace
        return Case(path, name, test.name.span, faults.source, policies, trace, moments, expected, test.doc)

    def _run(self, test: tree.TestCase) -> Trace | None:
        given = [c for c in test.clauses if isinstance(c, tree.RunFile | tree.RunEvents | tree.RunCalls)]
        if not given:
            self.faults.add("the test has no run", test.name.span, 'give it one: `run "run.jsonl"`, or `run { … }`')
            return None
        for other in given[1:]:
            note = Note("the first one", self.faults.source, given[0].span)
            at = Span(other.span.start, other.span.start + len("calls" if isinstance(other, tree.RunCalls) else "run"))
            self.faults.add("a test has one run", at, "a second one is a test of its own", notes=(note,))
        first = given[0]
        if isinstance(first, tree.RunFile):
            name = self.faults.text(first.path)
            return None if name is None else self.fixtures.trace(name, first.path.span, self.faults)
        return written_run(
            first, f"{self.faults.source.path}: {self.faults.text(test.name)}", self.faults, self.fixtures.tools
        )

    # --- values of params ---

    def _values(self, test: tree.TestCase) -> dict[str, object]:
        settings = [c for c in test.clauses if isinstance(c, tree.Setting) and not _of_context(c)]
        params = self.subjects.params() if settings else {}
        values: dict[str, object] = {}
        for setting in settings:
            name = setting.name
            if name.text not in params:
                self.faults.unknown(f"no policy has a param `{name.text}`", name.text, name.span, params)
            elif name.text in values:
                self.faults.add(f"`{name.text}` is set twice", name.span)
            else:
                value = self._value(setting)
                if value is not None and self._fits(params[name.text], value, setting):
                    values[name.text] = value
        return values

    def _context(self, test: tree.TestCase) -> dict[str, tuple[str, ...]]:
        """The fields of the context that a test sets."""
        found: dict[str, tuple[str, ...]] = {}
        for setting in (c for c in test.clauses if isinstance(c, tree.Setting) and _of_context(c)):
            name = setting.name
            if not is_known(name.text):
                help_text, _ = suggestion(name.text)
                self.faults.add(f"the context has no `{name.text}`", name.span, help_text)
            elif name.text in found:
                self.faults.add(f"`{name.text}` is set twice", name.span)
            elif (value := self._value(setting)) is not None:
                values = value if isinstance(value, list) else [value]
                found[name.text] = tuple([canonical(each) for each in values])
        return found

    def _fits(self, params: list[tree.Param], value: object, setting: tree.Setting) -> bool:
        written = {str: "text", bool: "bool", list: "set"}.get(type(value), "number")
        other = next((param.type for param in params if param.type != written), None)
        if other is not None:
            self.faults.add(f"param `{setting.name.text}` is a {other}, not a {written}", setting.value.span)
        return other is None

    def _value(self, setting: tree.Setting) -> object:
        match setting.value:
            case tree.SetUnion(parts):
                values: list[object] = []
                for part in parts:
                    if isinstance(part, tree.Name):
                        self.faults.add(f"`{part.text}` is not a value: write the values out", part.span)
                        return None
                    values += [self._literal(e) for e in part.elements]
                return None if None in values else values
            case value:
                return self._literal(value)

    def _literal(self, term: tree.Term | tree.Regex) -> object:
        match term:
            case tree.Name(text):
                return text
            case tree.String():
                return self.faults.text(term)
            case tree.Boolean(truth):
                return truth
            case tree.Number(raw):
                return self.faults.number(raw, term.span)
            case tree.Regex():
                self.faults.add("a value is a text, a number or a name, not a regular expression", term.span)
                return None

    # --- what is expected ---

    def _expected(
        self, expectations: list[tree.Expectation], policies: tuple[Policy, ...], trace: Trace | None
    ) -> tuple[Expected, ...]:
        known: dict[str, list[tuple[Policy, Statement]]] = {}
        for called, policy, statement in statements(policies):
            known.setdefault(called, []).append((policy, statement))
        found: dict[tuple[str, str], Expected] = {}
        for expectation in expectations:
            events = self._events(expectation, trace)
            for name in expectation.statements:
                target = self._statement(name, known, policies)
                if target is None:
                    continue
                policy, statement = target
                key = (policy.path, statement.name)
                if not self._can_be(expectation, name, statement):
                    continue
                if key in found:
                    note = Note("the other time", self.faults.source, found[key].span)
                    self.faults.add(f"`{name.text}` is expected twice", name.span, notes=(note,))
                if expectation.verdict == "vacuous" and statement.requirement.trigger is None:
                    message = f"`{name.text}` is never vacuous: it has no trigger"
                    self.faults.add(message, name.span, "a run that keeps it makes it `satisfied`")
                bindings = self._bindings(expectation, statement)
                found[key] = Expected(*key, expectation.verdict, events, bindings, name.span)
        return tuple(found.values())

    def _can_be(self, expectation: tree.Expectation, name: tree.Name, statement: Statement) -> bool:
        """Whether what is expected can be so of what has this name; else that is reported."""
        verdict = expectation.verdict
        if not isinstance(statement, RuleUnderTest):
            if verdict in OF_RULES:
                help_text = "a statement is `satisfied`, `vacuous` or `violated`"
                self.faults.add(f"`{name.text}` is a statement, and no rule", name.span, help_text)
            return verdict not in OF_RULES
        then = statement.rule.then
        if verdict not in OF_RULES:
            self.faults.add(f"`{name.text}` is a rule, and no statement", name.span, "a rule holds, blocks or passes")
        elif (verdict, then) in (("holds", "block"), ("holds", "pass"), ("blocks", "pass")):
            self.faults.add(f"`{name.text}` never {verdict}: it says `then {then}`", name.span)
        elif verdict == "passes" and then != "pass" and expectation.events:
            help_text = f"name those that it {then}s"
            self.faults.add(f"`{name.text}` passes nothing by itself: it says `then {then}`", name.span, help_text)
        else:
            return True
        return False

    def _statement(
        self, name: tree.Name, known: Mapping[str, list[tuple[Policy, Statement]]], policies: tuple[Policy, ...]
    ) -> tuple[Policy, Statement] | None:
        targets = known.get(name.text, [])
        if len(targets) == 1:
            return targets[0]
        if targets:
            names = ", ".join(f"`{policy.name}.{name.text}`" for policy, _ in targets)
            self.faults.add(f"`{name.text}` can be several statements", name.span, f"write one of {names}")
        elif not known:
            self.faults.add(
                f"there is no statement `{name.text}`",
                name.span,
                "`use` the policy to be tested" if not policies else "the policies under test have none",
            )
        else:
            own = [n for n in known if "." not in n or n.startswith(f"{name.text.rpartition('.')[0]}.")]
            self.faults.unknown(f"there is no statement `{name.text}`", name.text, name.span, own)
        return None

    def _events(self, expectation: tree.Expectation, trace: Trace | None) -> tuple[str, ...] | None:
        if not expectation.events:
            return None
        names = []
        for event in expectation.events:
            name = event.text if isinstance(event, tree.Name) else self.faults.text(event)
            if name is None or trace is None:
                continue
            if name not in trace.index_of:
                steps = [i for i in trace.index_of if "." in name and i.startswith(f"{name.rpartition('.')[0]}.")]
                known = steps or trace.index_of
                quoted = isinstance(event, tree.String)
                self.faults.unknown(f"the run has no event `{name}`", name, event.span, known, quoted=quoted)
            elif name in names:
                self.faults.add(f"`{name}` is named twice", event.span)
            names.append(name)
        return tuple(names)

    def _bindings(self, expectation: tree.Expectation, statement: Statement) -> tuple[tuple[str, str], ...]:
        found: dict[str, str] = {}
        variables = statement.requirement.variables
        for binding in expectation.bindings:
            name, value = binding.name, self._literal(binding.value)
            if name.text not in variables:
                message = f"`{statement.name}` has no variable `{name.text}`"
                self.faults.unknown(message, name.text, name.span, variables)
            elif name.text in found:
                self.faults.add(f"`{name.text}` has two values", name.span)
            elif value is not None:
                found[name.text] = canonical(value)
        return tuple(found.items())


def _of_context(setting: tree.Setting) -> bool:
    return setting.name.text.startswith(CONTEXT)


def _have_rules(policies: tuple[Policy, ...]) -> bool:
    return any(policy.rules for policy in policies)


def _broken(policies: tuple[Policy, ...], trace: Trace) -> Iterator[tuple[str, int]]:
    """The statements that some rule asks about, by name, with each event at which one is violated."""
    asked = {
        name
        for policy in policies
        for rule in policy.rules
        for test in core.tests(rule.condition)
        if isinstance(test, core.In) and test.field.name == VIOLATES
        for name in test.values
    }
    index = RunIndex(trace)
    for policy in policies:
        for statement in policy.statements:
            names = {statement.name, f"{policy.name}.{statement.name}"} & asked
            offending = answer(statement, index).offending if names else ()
            yield from ((name, at) for name in names for at, _ in offending)

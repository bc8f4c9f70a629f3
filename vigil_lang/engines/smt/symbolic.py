"""`vigil compile --length N`: a statement over a run nobody recorded, for questions of one's own.

Each of N events has an action, a status, an output and the arguments the statement reads, as strings the solver is
free to choose within the signature. What is fixed, so that two solvers can decide it: an argument has at most one
value, its numbers are integers, every event is a call of its own, and times do not decrease.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from itertools import product
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, InputError
from vigil_lang.engines.smt.smtlib import heading
from vigil_lang.engines.smt.strings import Unsupported, literal, regular
from vigil_lang.engines.smt.symbols import quoted, shown
from vigil_lang.semantics import core
from vigil_lang.semantics.text_patterns import predicate
from vigil_lang.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.semantics.lower import Statement
    from vigil_lang.trace import Signature

MAX_LENGTH = 200
MAX_INSTANCES = 20_000


def export_symbolic(statements: Iterable[Statement], length: int, signature: Signature | None = None) -> str:
    """One script a statement, blocks separated by `(reset)`: `sat` with a run of `length` events that complies.

    The conditions are named `|R3@e5|` as on a recorded run, and defined as `|R3 at e5|`, so that a script that goes
    on may negate one.

    Raises:
        InputError: a text has no counterpart in SMT-LIB, or the script would be too large.
    """
    blocks = [_lines(statement, length, signature) for statement in statements]
    head = f"; vigil {__version__}: every run of {length} events\n\n"
    return head + "\n(reset)\n\n".join("\n".join(block) + "\n" for block in blocks)


def _lines(statement: Statement, length: int, signature: Signature | None) -> list[str]:
    try:
        return _Block(statement, length, signature).lines()
    except Unsupported as error:
        message = f"a text of `{statement.name}` has no counterpart in SMT-LIB: {error}"
        raise InputError([Diagnostic.of("VGL003", message, statement.source, statement.span)]) from None


@dataclass
class _Block:
    """One statement over a symbolic run."""

    statement: Statement
    length: int
    signature: Signature | None
    _roles: dict[int, str] = field(default_factory=dict)

    def lines(self) -> list[str]:
        theta = self.statement.requirement.theta
        leaves = list({id(h): h for h in core.conditions(theta)}.values())
        for holds in leaves:
            taken = {*self._roles.values(), self.statement.name}
            names = (holds.role if n == 0 else f"{holds.role}{n}" for n in range(len(taken) + 2))
            self._roles[id(holds)] = next(n for n in names if n not in taken and n != "condition")
        self._refuse_if_too_large()
        return [
            *heading(self.statement, [(self._roles[id(h)], h) for h in leaves]),
            "(set-option :produce-models true)",
            "(set-option :produce-unsat-cores true)",
            "(set-logic ALL)",
            "",
            "; --- the run",
            *(line for at in range(self.length) for line in self._event(at)),
            *self._fresh_text(),
            "",
            "; --- conditions",
            *(self._leaf(holds, at) for holds in leaves for at in range(self.length)),
            "",
            "; --- requirement: one condition an event, for every value of the variables",
            *(line for at in range(self.length) for line in self._requirement(at)),
            "",
            "(check-sat)",
        ]

    # --- the run ---

    def _fields(self) -> list[core.Reads]:
        """What the statement reads, each once; a variable that is only searched for may take any of their values."""
        found = [
            t.field
            for h in core.conditions(self.statement.requirement.theta)
            for t in core.tests(h.condition)
            if not isinstance(t, (core.ActionIn, core.ActionMatches, core.StatusIs))
        ]
        return list(dict.fromkeys(found))

    def _event(self, at: int) -> list[str]:
        name = f"e{at + 1}"
        lines = [
            f"(declare-const {self._own('action', at)} String)",
            f"(declare-const {self._own('status', at)} String)",
            f"(assert {_among(self._own('status', at), ('ok', 'error', 'unknown'))})",
        ]
        if self._uses_time():
            lines.append(f"(declare-const {self._own('time', at)} Int)")
            if at:
                lines.append(f"(assert (<= {self._own('time', at - 1)} {self._own('time', at)}))")
        for reads in self._fields():
            lines.append(f"(declare-const {self._value(reads, at)} String)")
            lines.append(f"(declare-const {self._has(reads, at)} Bool)")
        lines += self._numbers(at)
        if self.signature is not None:
            actions = _or(self._of_action(action, at) for action in sorted(self.signature.actions))
            lines.append(f"(assert {actions})")
        return [f"; {name}", *lines]

    def _of_action(self, action: str, at: int) -> str:
        """The event is a call of this action of the signature and carries only what it may."""
        assert self.signature is not None
        described = self.signature.actions[action]
        parts = [f"(= {self._own('action', at)} {literal(action)})"]
        for reads in self._fields():
            if reads.output:
                continue
            argument = described.args.get(reads.name)
            if argument is None:
                parts += [] if described.open else [f"(not {self._has(reads, at)})"]
            elif argument.values is not None:
                parts.append(f"(=> {self._has(reads, at)} {_among(self._value(reads, at), argument.values)})")
            elif argument.types == {"bool"}:
                parts.append(f"(=> {self._has(reads, at)} {_among(self._value(reads, at), ('true', 'false'))})")
        return _and(parts)

    def _numbers(self, at: int) -> list[str]:
        """Order tests read an argument as an integer, which its text then spells."""
        lines = []
        for reads in self._compared():
            number, value = self._number(reads, at), self._value(reads, at)
            spelled = f'(ite (>= {number} 0) (str.from_int {number}) (str.++ "-" (str.from_int (- {number}))))'
            lines += [
                f"(declare-const {number} Int)",
                f"(declare-const {self._is_number(reads, at)} Bool)",
                f"(assert (ite {self._is_number(reads, at)}"
                f" (= {value} {spelled}) (not (str.in_re {value} {_DECIMAL}))))",
            ]
        return lines

    def _compared(self) -> list[core.Reads]:
        holds = core.conditions(self.statement.requirement.theta)
        tests = [t for h in holds for t in core.tests(h.condition)]
        return list(dict.fromkeys(t.field for t in tests if isinstance(t, core.Compares)))

    def _fresh_text(self) -> list[str]:
        """One text that no event carries stands for all others."""
        if not self.statement.requirement.variables:
            return []
        fields = [(reads, at) for reads in self._fields() for at in range(self.length)]
        parts = [f"(not (str.contains {self._value(reads, at)} |any other value|))" for reads, at in fields]
        return ["; a value no event carries", "(declare-const |any other value| String)",
                '(assert (not (= |any other value| "")))', *(f"(assert {part})" for part in parts)]  # fmt: skip

    # --- conditions ---

    def _leaf(self, holds: core.Holds, at: int) -> str:
        params = " ".join(f"({quoted(x)} String)" for x in core.variables_of(holds.condition))
        body = self._condition(holds.condition, at)
        return f"(define-fun {self._symbol(self._roles[id(holds)], at)} ({params}) Bool {body})"

    def _condition(self, condition: core.Condition, at: int) -> str:
        match condition:
            case core.NotC(body):
                return f"(not {self._condition(body, at)})"
            case core.AndC(items):
                return _and(self._condition(i, at) for i in items)
            case core.OrC(items):
                return _or(self._condition(i, at) for i in items)
            case core.ActionIn(names):
                return self._action_among(sorted(names) if self.signature is None else self._with_kind(names), at)
            case core.ActionMatches(matcher):
                if self.signature is None:
                    return f"(str.in_re {self._own('action', at)} {regular(matcher)})"
                test = predicate(matcher)
                known = self.signature.actions.items()
                return self._action_among(sorted(n for n, a in known if test(n) or any(map(test, a.kinds))), at)
            case core.StatusIs(status):
                return f"(= {self._own('status', at)} {literal(status)})"
            case core.Entry() | core.ComparesWith():
                raise Unsupported("a test of entries, or of a variable's number")
            case _ if condition.field.views:
                raise Unsupported("a view of a field")
            case core.Has(reads):
                return self._has(reads, at)
        value = self._value(condition.field, at)
        return f"(and {self._has(condition.field, at)} {self._test(condition, value, at)})"

    def _test(self, test: core.Test, value: str, at: int) -> str:
        match test:
            case core.In(_, values, negated):
                among = _among(value, values)
                return f"(not {among})" if negated else among
            case core.Matches(_, matcher, negated):
                matches = f"(str.in_re {value} {regular(matcher)})"
                return f"(not {matches})" if negated else matches
            case core.Compares(reads, operator, number):
                limit = _integer_limit(operator, number)
                return f"(and {self._is_number(reads, at)} ({operator} {self._number(reads, at)} {limit}))"
            case core.Equals(_, x):
                return f"(= {value} {quoted(x)})"
            case core.Contains(_, x):
                return f'(and (not (= {quoted(x)} "")) (str.contains {value} {quoted(x)}))'
            case core.ContainsText(_, text):
                return f"(str.contains {value} {literal(text)})" if text else "false"
            case _:
                raise AssertionError(test)

    def _action_among(self, names: list[str], at: int) -> str:
        return _among(self._own("action", at), names)

    def _with_kind(self, names: frozenset[str]) -> list[str]:
        assert self.signature is not None
        return sorted(n for n, action in self.signature.actions.items() if n in names or action.kinds & names)

    # --- the requirement ---

    def _requirement(self, at: int) -> list[str]:
        requirement, name = self.statement.requirement, self.statement.name
        params = " ".join(f"({quoted(x)} String)" for x in requirement.variables)
        own, named = quoted(f"{name} at e{at + 1}"), quoted(f"{name}@e{at + 1}")
        lines = [f"(define-fun {own} ({params}) Bool {self._theta(requirement.theta, at)})"]
        if not requirement.variables:
            return [*lines, f"(assert (! {own} :named {named}))"]
        instances = []
        for values in product(*(self._instances(x) for x in requirement.variables)):
            applied = f"({own} {' '.join(value for value, _ in values)})"
            carried = [has for _, has in values if has]
            instances.append(f"(=> {_and(carried)} {applied})" if carried else applied)
        return [*lines, f"(assert (! {_and(instances)} :named {named}))"]

    def _instances(self, variable: str) -> list[tuple[str, str | None]]:
        """(a value the variable may take, the condition that some event carries it)."""
        tests = [t for h in core.conditions(self.statement.requirement.theta) for t in core.tests(h.condition)]
        fields = [t.field for t in tests if isinstance(t, core.Equals) and t.variable == variable]
        if any(isinstance(t, core.Contains) and t.variable == variable for t in tests):
            fields = self._fields()
        events = range(self.length)
        values = [(self._value(f, at), self._has(f, at)) for f in dict.fromkeys(fields) for at in events]
        return [*values, ("|any other value|", None)]

    def _theta(self, theta: core.Theta, at: int) -> str:
        match theta:
            case core.Holds():
                variables = core.variables_of(theta.condition)
                symbol = self._symbol(self._roles[id(theta)], at)
                return f"({symbol} {' '.join(map(quoted, variables))})" if variables else symbol
            case core.Not(body):
                return f"(not {self._theta(body, at)})"
            case core.And(items):
                return _and(self._theta(i, at) for i in items)
            case core.Or(items):
                return _or(self._theta(i, at) for i in items)
            case core.Implies(left, right):
                return f"(=> {self._theta(left, at)} {self._theta(right, at)})"
            case core.Earlier(body, bound):
                return _or(self._near(body, bound, o, o, at) for o in range(at))
            case core.Later(body, bound):
                return _or(self._near(body, bound, o, at, o) for o in range(at + 1, self.length))
            case core.Clear(resolver, forbidden):
                cases = []
                for bad in range(at + 1, self.length):
                    between = _or(self._theta(resolver, c) for c in range(at + 1, bad))
                    cases.append(f"(=> {self._theta(forbidden, bad)} {between})")
                return _and(cases)
            case core.Since(left, right, bound, weak) | core.Until(left, right, bound, weak):
                return self._interval(isinstance(theta, core.Since), left, right, bound, weak, at)
            case core.Repeated(count, body, None, None, None):
                held = " ".join(f"(ite {self._theta(body, other)} 1 0)" for other in range(at + 1))
                return f"(>= (+ 0 0 {held}) {count})"
            case core.Repeated() | core.Exceeds():
                raise Unsupported("a count with a window, a reset or distinct values, or a sum")
            case core.Where():
                raise Unsupported("a `where` condition")
            case core.Last():
                return "true" if at == self.length - 1 else "false"

    def _interval(self, past: bool, left: core.Theta, right: core.Theta, bound: core.Bound, weak: bool, at: int) -> str:
        others = range(at) if past else range(at + 1, self.length)
        cases = []
        for other in others:
            first, second = sorted((other, at))
            between = _and(self._theta(left, c) for c in range(first + 1, second))
            cases.append(_and([self._near(right, bound, other, first, second), between]))
        if weak:
            broken = (self._near(core.negated(left), bound, o, *sorted((o, at))) for o in others)
            cases.append(f"(not {_or(broken)})")
        return _or(cases)

    def _near(self, body: core.Theta, bound: core.Bound, other: int, first: int, second: int) -> str:
        match bound:
            case core.Calls(most, least) | core.Steps(most, least) if not least <= second - first <= most:
                return "false"
            case core.Within(most, least):
                apart = f"(- {self._own('time', second)} {self._own('time', first)})"
                longer = f"(>= {apart} {least}) " if least else ""
                return f"(and {longer}(<= {apart} {most}) {self._theta(body, other)})"
            case _:
                return self._theta(body, other)

    def _uses_time(self) -> bool:
        def timed(theta: core.Theta) -> bool:
            match theta:
                case core.Earlier(body, bound) | core.Later(body, bound):
                    return isinstance(bound, core.Within) or timed(body)
                case core.Since(left, right, bound) | core.Until(left, right, bound):
                    return isinstance(bound, core.Within) or timed(left) or timed(right)
                case core.Not(body) | core.Repeated(_, body):
                    return timed(body)
                case core.And(items) | core.Or(items):
                    return any(map(timed, items))
                case core.Implies(left, right) | core.Clear(left, right):
                    return timed(left) or timed(right)
                case _:
                    return False

        return timed(self.statement.requirement.theta)

    def _refuse_if_too_large(self) -> None:
        instances = self.length
        for variable in self.statement.requirement.variables:
            instances *= len(self._instances(variable))
        if self.length > MAX_LENGTH or instances > MAX_INSTANCES:
            message = f"`{self.statement.name}` over {self.length} events is too large: try a smaller --length"
            raise InputError([Diagnostic.of("VGL003", message, self.statement.source, self.statement.span)])

    # --- symbols: e1.action, e1[file], has e1[file] ---

    def _own(self, what: str, at: int) -> str:
        return quoted(f"e{at + 1}.{what}")

    def _symbol(self, what: str, at: int) -> str:
        return quoted(f"{what}@e{at + 1}")

    def _value(self, reads: core.Reads, at: int) -> str:
        return quoted(_field(reads, at))

    def _has(self, reads: core.Reads, at: int) -> str:
        return quoted(f"has {_field(reads, at)}")

    def _number(self, reads: core.Reads, at: int) -> str:
        return quoted(f"number {_field(reads, at)}")

    def _is_number(self, reads: core.Reads, at: int) -> str:
        return quoted(f"is a number {_field(reads, at)}")


def _field(reads: core.Reads, at: int) -> str:
    return f"e{at + 1}.output" if reads.output else f"e{at + 1}[{shown(reads.name)}]"


def _and(items: Iterable[str]) -> str:
    parts = [item for item in items if item != "true"]
    return parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})" if parts else "true"


def _or(items: Iterable[str]) -> str:
    parts = [item for item in items if item != "false"]
    return parts[0] if len(parts) == 1 else f"(or {' '.join(parts)})" if parts else "false"


def _among(value: str, texts: Iterable[str]) -> str:
    return _or(f"(= {value} {literal(text)})" for text in sorted(texts))


_DIGITS = '(re.+ (re.range "0" "9"))'
_SIGN = '(re.opt (re.union (str.to_re "+") (str.to_re "-")))'
_POINTED = f'(re.++ {_DIGITS} (re.opt (re.++ (str.to_re ".") {_DIGITS})))'
_EXPONENT = f'(re.opt (re.++ (re.union (str.to_re "e") (str.to_re "E")) {_SIGN} {_DIGITS}))'
_DECIMAL = f"(re.++ {_SIGN} {_POINTED} {_EXPONENT})"


def _integer_limit(operator: str, number: Decimal) -> str:
    """The bound an integer has to be compared with to be in the same relation to a decimal."""
    rounding = ROUND_CEILING if operator in ("<", ">=") else ROUND_FLOOR
    limit = int(number.to_integral_value(rounding))
    return str(limit) if limit >= 0 else f"(- {-limit})"

"""What a test names: statements and their variables, params, policies, and the events of its own run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Span
from vigil_lang.semantics.text_patterns import BadEscape, unescape
from vigil_lang.syntax import tree
from vigil_lsp.symbols import Kind, Mention, Role, Symbol, module_symbol, path_of, tested

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.semantics.modules import Module

_MESSAGES = ("user.message", "agent.message")


def mentions_in(test: tree.TestCase, owner: Symbol, module: Module, namesake: Module | None) -> list[Mention]:
    """The mentions of one test of a module; `owner` is the test, `namesake` the policy the module is named after."""
    found = _Reader(test, owner, module, namesake)
    found.read()
    return found.mentions


@dataclass
class _Reader:
    test: tree.TestCase
    owner: Symbol
    module: Module
    namesake: Module | None
    mentions: list[Mention] = field(default_factory=list)

    def read(self) -> None:
        events, steps = self._events()
        for name, span in events.items():
            self._add(self._event(name), span, "declaration")
        for clause in self.test.clauses:
            if isinstance(clause, tree.Setting):
                self._setting(clause)
            elif isinstance(clause, tree.Expectation):
                self._expectation(clause)
                for event in clause.events:
                    self._offender(event, events, steps=steps)

    def _add(self, symbol: Symbol, span: Span, role: Role = "reference") -> None:
        self.mentions.append(Mention(symbol, span, role, self.owner))

    # --- events ---

    def _event(self, name: str) -> Symbol:
        return Symbol("event", name, self.owner.path, ("test", self.owner.name))

    def _events(self) -> tuple[dict[str, Span], bool]:
        """Where events are, by what they are called, and whether they take steps, which are called after them.

        An event without a name of its own is where its action stands.
        """
        given = next((c for c in self.test.clauses if isinstance(c, tree.RunEvents | tree.RunCalls)), None)
        found: dict[str, Span] = {}
        for name, event in _numbered(given):
            found.setdefault(event.id.text if event.id else name, (event.id or event.action).span)
        return found, isinstance(given, tree.RunCalls)

    def _offender(self, event: tree.Name | tree.String, known: dict[str, Span], *, steps: bool) -> None:
        name, span = event.text if isinstance(event, tree.Name) else event.raw, event.span
        if isinstance(event, tree.String):
            span = Span(span.start + 1, span.end - 1)
            try:
                name = unescape(name)
            except BadEscape:
                return
        while name not in known and steps and "." in name:
            name = name.rpartition(".")[0]
        if name in known:
            quoted = isinstance(event, tree.String) and event.raw[: len(name)] != name
            self._add(self._event(name), span if quoted else Span(span.start, span.start + len(name)))

    # --- params, statements and their variables ---

    def _setting(self, setting: tree.Setting) -> None:
        """Every param of that name that a test of the file may set."""
        reached = [self.module, *self._tested()]
        for module in reached:
            reached += [used for _, used in module.uses if used not in reached]
        paths = {path_of(m): m.own.get(setting.name.text) for m in reached}
        for path, declared in paths.items():
            if isinstance(declared, tree.Param):
                self._add(Symbol("param", setting.name.text, path), setting.name.span)

    def _tested(self) -> list[Module]:
        return tested(self.module, self.namesake)

    def _expectation(self, expectation: tree.Expectation) -> None:
        for name in expectation.statements:
            for policy, statement in self._statements(name.text):
                kind: Kind = "statement" if isinstance(statement, tree.Statement) else "rule"
                symbol = Symbol(kind, statement.name.text, path_of(policy))
                start = name.span.end - len(symbol.name)
                self._add(symbol, Span(start, name.span.end))
                if start > name.span.start:
                    self._add(module_symbol(policy), Span(name.span.start, start - 1))
                for binding in expectation.bindings:
                    variable = Symbol("variable", binding.name.text, symbol.path, ("statement", symbol.name))
                    self._add(variable, binding.name.span)

    def _statements(self, called: str) -> Iterator[tuple[Module, tree.Statement | tree.Rule]]:
        for policy in self._tested():
            name = policy.file.name.text if policy.file.name else Path(policy.source.path).stem
            for item in policy.file.items:
                if isinstance(item, tree.Statement | tree.Rule) and called in (
                    item.name.text,
                    f"{name}.{item.name.text}",
                ):
                    yield policy, item


def _numbered(given: tree.RunEvents | tree.RunCalls | None) -> Iterator[tuple[str, tree.Event]]:
    """The events of a run, each with what it is called unless it has a name."""
    match given:
        case tree.RunEvents(events):
            for number, item in enumerate(events, 1):
                if isinstance(item, tree.Event):
                    yield f"e{number}", item
                else:
                    for place, step in enumerate(item.events, 1):
                        yield f"e{number}.{place}", step
        case tree.RunCalls(_, calls):
            numbers = {"e": 0, "m": 0}
            for call in calls:
                action = call.action.text if isinstance(call.action, tree.Name) else call.action.raw
                letter = "m" if action in _MESSAGES else "e"
                numbers[letter] += 1
                yield f"{letter}{numbers[letter]}", call

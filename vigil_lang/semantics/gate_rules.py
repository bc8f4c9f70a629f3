"""The rules of the Execution Gate: what a policy asks to be done with a pending call (spec 12)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vigil_lang.semantics.meanings import Scope
from vigil_lang.semantics.metadata import Metadata, metadata
from vigil_lang.semantics.terms import Failed
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.diagnostics import Diagnostic, Source, Span
    from vigil_lang.semantics import core
    from vigil_lang.semantics.conditions import Conditions
    from vigil_lang.semantics.modules import Module


@dataclass(frozen=True)
class GateRule:
    """One rule of a policy with its meaning.

    `record` has the names of arguments and `context.` fields; `relaxes` the bare names of rules and statements of the
    default layer; `params` are those that the condition rests on.
    """

    name: str
    then: tree.Mode
    condition: core.Condition
    record: tuple[str, ...]
    relaxes: tuple[str, ...]
    syntax: tree.Rule = field(repr=False)
    source: Source = field(repr=False)
    metadata: Metadata = field(default_factory=Metadata)
    params: frozenset[str] = frozenset()

    @property
    def delegable(self) -> bool:
        """Whether the user may confirm it herself, where the rule is her organisation's."""
        return self.metadata.delegable

    @property
    def span(self) -> Span:
        """Where the rule's name stands."""
        return self.syntax.name.span


class GateRules:
    """Lowers the rules of one module; what has no meaning is reported and left out."""

    def __init__(self, module: Module, conditions: Conditions, report: Callable[[Diagnostic], None]) -> None:
        self._module = module
        self._conditions = conditions
        self._report = report
        self._scope = Scope(module)

    def rules(self) -> list[GateRule]:
        """Every rule that resolves."""
        items = [item for item in self._module.file.items if isinstance(item, tree.Rule)]
        return [rule for item in items if (rule := self.rule(item)) is not None]

    def rule(self, item: tree.Rule) -> GateRule | None:
        """One rule; None where it has no meaning."""
        about = metadata(item, self._module.source, self._report)
        self._conditions.start("rule")
        try:
            condition = self._conditions.condition(item.when, self._scope)
            record = tuple([self._named(name) for name in item.record])
        except Failed:
            return None
        relaxes = tuple(dict.fromkeys(name.text.removeprefix("default.") for name in item.relaxes))
        params = frozenset(self._conditions.terms.params)
        return GateRule(item.name.text, item.then, condition, record, relaxes, item, self._module.source, about, params)

    def _named(self, name: tree.Name | tree.String) -> str:
        if isinstance(name, tree.Name):
            return name.text
        return self._conditions.terms.unescaped(name.raw, self._scope, name.span)

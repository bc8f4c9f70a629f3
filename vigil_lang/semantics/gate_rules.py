"""The rules of the Execution Gate: what a policy asks to be done with a pending call (spec 10)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from msgspec import field

from vigil_lang.base.structs import Frozen
from vigil_lang.diagnostics import Diagnostic, Edit, Fix, nearest
from vigil_lang.semantics import core
from vigil_lang.semantics.conditions import LAYERS, Failed
from vigil_lang.semantics.context_fields import CONTEXT
from vigil_lang.semantics.meanings import Scope
from vigil_lang.semantics.mentions import mention
from vigil_lang.semantics.metadata import Metadata, metadata
from vigil_lang.semantics.text_patterns import quote
from vigil_lang.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.diagnostics import Source, Span
    from vigil_lang.semantics.conditions import Conditions
    from vigil_lang.semantics.meanings import Place
    from vigil_lang.semantics.modules import Module

_DEFAULT = "default."
_MOST = 20
"""Variables of one rule that are reported."""


class GateRule(Frozen, frozen=True):
    """One rule of a policy with its meaning.

    `record` has the names of arguments and `context.` fields; `relaxes` the bare names of rules and statements of the
    default layer; `params` are those that the condition rests on.
    """

    _UNSHOWN: ClassVar[frozenset[str]] = frozenset({"syntax", "source"})

    name: str
    then: tree.Mode
    condition: core.Condition
    record: tuple[str, ...]
    relaxes: tuple[str, ...]
    syntax: tree.Rule
    source: Source
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
            self._refuse_variables(item, condition)
            record = self._once(item.record)
        except Failed:
            return None
        params, relaxes = frozenset(self._conditions.terms.params), self._relaxed(item)
        return GateRule(item.name.text, item.then, condition, record, relaxes, item, self._module.source, about, params)

    def _refuse_variables(self, item: tree.Rule, condition: core.Condition) -> None:
        variables = core.variables_of(condition)
        for variable in variables[:_MOST]:
            place = mention(item.when, variable, self._scope, self._conditions) or self._scope.place(item.name.span)
            tests = [test for test in core.tests(condition) if isinstance(test, core.OF_VARIABLES)]
            ordered = any(isinstance(test, core.ComparesWith) and test.variable == variable for test in tests)
            near = nearest(variable, self._module.names(), 1)
            meant = near[0] if near else None if ordered else quote(variable)
            help_text = f"did you mean `{meant}`?" if near else f"a text is written `{meant}`"
            if meant is None:
                help_text = f"declare the number with `let {variable} = …` or `param {variable}: number`"
            fix = Fix(f"write `{meant}`", (Edit(place.span, meant),)) if meant and self._once_in(item, place) else None
            message = f"`{variable}` is declared nowhere, and a rule has no variables"
            self._say("VGL342", message, place.span, help_text, fix, place.source)
        if variables:
            raise Failed

    def _once_in(self, item: tree.Rule, place: Place) -> bool:
        """Whether what stands at a place of the rule's condition stands there alone."""
        text, whole = place.source.text, item.when.span
        if place.source is not self._module.source or not whole.start <= place.span.start < whole.end:
            return False
        name = re.escape(text[place.span.start : place.span.end])
        return len(re.findall(rf"(?<![\w.-]){name}(?![\w.-])", text[whole.start : whole.end])) == 1

    def _once(self, names: tuple[tree.Name | tree.String, ...]) -> tuple[str, ...]:
        """What is to be recorded, each once."""
        found: dict[str, None] = {}
        terms = self._conditions.terms
        for name in names:
            text = name.text if isinstance(name, tree.Name) else terms.unescaped(name.raw, self._scope, name.span)
            if text.startswith(CONTEXT):
                self._conditions.of_context(text, name.span, self._scope)
            if text in found:
                self._say("VGL346", f"`{text}` is recorded twice", name.span)
            found[text] = None
        return tuple(found)

    def _relaxed(self, item: tree.Rule) -> tuple[str, ...]:
        """The bare names of what the rule relaxes in the default layer, each once."""
        found: dict[str, None] = {}
        for name in item.relaxes:
            text = name.text.removeprefix(_DEFAULT)
            if text == name.text and text.startswith(LAYERS):
                layer = text.partition(".")[0]
                self._say("VGL345", f"what the {layer} layer asks for cannot be relaxed", name.span)
                continue
            if text in found:
                self._say("VGL346", f"`{text}` is relaxed twice", name.span)
            found[text] = None
        if item.then == "pass" and not item.relaxes:
            message = f"`{item.name.text}` relaxes nothing, so that it never changes a decision"
            self._say("VGL345", message, item.name.span, "what it lowers stands after `relaxes`")
        return tuple(found)

    def _say(
        self,
        code: str,
        message: str,
        span: Span,
        help_text: str | None = None,
        fix: Fix | None = None,
        source: Source | None = None,
    ) -> None:
        where = self._module.source if source is None else source
        self._report(Diagnostic.of(code, message, where, span, help=help_text, fix=fix))

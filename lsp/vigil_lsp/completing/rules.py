"""What stands in the rules of a gate: fields of the context, statements, what is recorded and what is relaxed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import CompletionItemKind as Kind
from msgspec.structs import replace

from vigil_lang.syntax import tree
from vigil_lsp.completing import events
from vigil_lsp.completing.candidate import Candidate
from vigil_lsp.completing.constraints import allowed, elements
from vigil_lsp.completing.declarations import first_line
from vigil_lsp.cursor import walk
from vigil_lsp.default_layer import DEFAULT, default_layer
from vigil_lsp.expansion import expanded
from vigil_lsp.operator_help import CONTEXT_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.semantics.modules import Module
    from vigil_lsp.completing.context import CompletionContext

_VALUES = {
    "context.tier": tuple(map(str, range(4))),
    "context.hour": tuple(map(str, range(24))),
    "context.weekday": ("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
}


def context_fields(context: CompletionContext) -> Iterator[Candidate]:
    """What a rule can ask of the moment; a pattern, too, which rules may apply."""
    if context.slot.within == "statement":
        return
    group = 17 if context.slot.role == "condition" and context.slot.within == "rule" else 62
    for name, said in CONTEXT_FIELDS.items():
        if name not in context.slot.used:
            yield Candidate(name, Kind.Property, name, group, said, about=("context", name))


def context_values(context: CompletionContext) -> Iterator[Candidate]:
    """What a field of the context can be."""
    for value in _VALUES.get(context.slot.subject, ()):
        if value not in context.slot.used:
            yield Candidate(value, Kind.EnumMember, value, 10, filter=value)


def statements(context: CompletionContext) -> Iterator[Candidate]:
    """The statements that a call can violate: those of the file and of what it uses, then the default layer's."""
    for module in (context.module, *(used for _, used in context.module.uses)):
        for item in module.judged.values():
            if isinstance(item, tree.Statement):
                name, about = item.name.text, ("statement", item.name.text, module.source.path)
                yield Candidate(name, Kind.Event, name, 10, first_line(item.doc), about=about)
    for _, item in _default():
        if isinstance(item, tree.Statement):
            yield _of_default(item, 12)


def recorded(context: CompletionContext) -> Iterator[Candidate]:
    """Arguments of the calls that the rule is about, and fields of the context."""
    for candidate in events.arguments(context, assigns=True):
        yield replace(candidate, snippet="", ends=(",",))
    yield from context_fields(context)


def relaxed(context: CompletionContext) -> Iterator[Candidate]:
    """The rules and statements of the default layer; first those that are about the same kinds of calls."""
    mine = context.slot.actions
    for module, item in _default():
        near = mine is not None and isinstance(item, tree.Rule) and not mine.isdisjoint(_kinds(item, module))
        if not {item.name.text, DEFAULT + item.name.text} & context.slot.used:
            yield _of_default(item, 10 if near else 12)


def _kinds(rule: tree.Rule, module: Module) -> frozenset[str]:
    """The names that its events can have; where it leaves that open, those it speaks of."""
    known = allowed(rule.when, module)
    if known is not None:
        return known
    sets = (node.names for node in walk(expanded(rule.when, module)) if isinstance(node, tree.ActionIn))
    return frozenset().union(*(elements(names, module) or () for names in sets))


def _default() -> Iterator[tuple[Module, tree.Statement | tree.Rule]]:
    return ((module, item) for module in default_layer() for item in module.judged.values())


def _of_default(item: tree.Statement | tree.Rule, group: int) -> Candidate:
    name = DEFAULT + item.name.text
    kind = Kind.Operator if isinstance(item, tree.Rule) else Kind.Event
    asked = f"{item.then}: " if isinstance(item, tree.Rule) else ""
    return Candidate(name, kind, name, group, f"{asked}{first_line(item.doc)}", about=("default", name), ends=(",",))

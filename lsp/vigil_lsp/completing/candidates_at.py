"""Completion at one place: which of all there is to say is said there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lsprotocol.types import CompletionItemKind as Kind

from vigil_lang.syntax import tree
from vigil_lsp.completing import annotation_values, declarations, events, modules, rules, test_clauses, values
from vigil_lsp.completing.candidate import Candidate
from vigil_lsp.completing.constraints import compared_with, use_of
from vigil_lsp.completing.keywords import bounds, forms, keywords, views, windows
from vigil_lsp.completing.slot import Slot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lsp.completing.context import CompletionContext


def candidates(context: CompletionContext) -> Iterator[Candidate]:
    """Everything that can be written at a place, in no order that matters between groups."""
    yield from _own(context)
    yield from keywords(context)
    if context.slot.role == "item" or context.place.fresh:
        yield from annotation_values.notes("@")


def _own(context: CompletionContext) -> Iterator[Candidate]:
    """What the slot asks for beside keywords."""
    slot = context.slot
    match slot.role:
        case "condition":
            yield from _conditions(context)
        case "term":
            yield from declarations.variables(context)
            yield from _terms(context)
        case "field":
            yield from events.arguments(context)
            yield from rules.context_fields(context)
        case "violated":
            yield from rules.statements(context)
        case "recorded":
            yield from rules.recorded(context)
        case "relaxed":
            yield from rules.relaxed(context)
        case "action":
            yield from events.names(context)
            yield from declarations.variables(context, 14)
            yield from declarations.single(context, "text")
        case "element" | "set" | "operand" | "glob" | "number" | "contained":
            yield from _compared(context)
        case "member":
            yield from _members(context)
        case "action glob":
            yield from values.action_globs(context)
            yield from declarations.single(context, "text")
        case "form":
            yield from forms(context)
        case "bound":
            yield from bounds(context)
        case "window":
            yield from windows()
        case "limit":
            yield from declarations.single(context, "number", group=10)
        case "view":
            yield from views()
        case "variable":
            yield from declarations.variables(context)
        case "status":
            yield from values.statuses(context)
        case "value":
            yield from _assigned(context, slot.subject)
        case "module":
            yield from modules.modules(context)
        case "imported":
            yield from declarations.imported(context)
        case "annotation":
            yield from annotation_values.notes()
        case "annotation value":
            yield from annotation_values.annotation_values(context)
        case _:
            yield from _in_test(context)


def _in_test(context: CompletionContext) -> Iterator[Candidate]:
    match context.slot.role:
        case "setting":
            yield from test_clauses.params(context)
        case "param value":
            yield from _assigned(context, test_clauses.type_of_param(context))
        case "binding value":
            yield from test_clauses.bound_values(context)
        case "recording":
            yield from test_clauses.recordings(context)
        case "event":
            if "NAME" in context.place.accepted:
                yield from events.called(context)
        case "event argument":
            yield from events.arguments(context, assigns=True)
        case "event value":
            yield from values.values(context)
        case "kind":
            yield from events.kinds(context)
        case "moment":
            yield from values.moments()
        case "expected":
            yield from test_clauses.statements(context)
        case "offender":
            yield from test_clauses.events(context)
        case "binding":
            yield from test_clauses.bindings(context)


def _assigned(context: CompletionContext, wanted: str) -> Iterator[Candidate]:
    """What a param of a type, or a `let`, can be."""
    match wanted:
        case "" | "set":
            yield from declarations.sets(context)
            yield _a_set()
        case "bool":
            yield from (Candidate(word, Kind.Keyword, word, 8) for word in ("true", "false"))
            yield from declarations.single(context, "bool")
        case "number" | "text":
            yield from declarations.single(context, wanted)


def _a_set() -> Candidate:
    return Candidate("{…}", Kind.Struct, "{", 14, "a set of values", "{$1}", filter="{")


def _conditions(context: CompletionContext) -> Iterator[Candidate]:
    """Where a condition begins: arguments of the event at hand, patterns, calls."""
    in_call = bool(context.slot.subject)
    yield from events.arguments(context)
    yield from declarations.patterns(context, 12 if context.slot.actions is None else 18, imports=not in_call)
    if not in_call:
        yield from events.calls(context)
        yield from rules.context_fields(context)


def _terms(context: CompletionContext) -> Iterator[Candidate]:
    """What can be given to a pattern: values, and what was seen where the pattern uses the parameter."""
    yield from declarations.single(context)
    yield from declarations.sets(context, 20)
    module, pattern = context.module.find(context.slot.subject) or (context.module, None)
    if not isinstance(pattern, tree.Pattern) or context.slot.index >= len(pattern.params):
        return
    use = use_of(pattern, pattern.params[context.slot.index].text, module)
    if use is not None:
        is_glob, argument, actions = use
        there = replace(context, slot=Slot("glob" if is_glob else "operand", argument, actions))
        yield from values.globs(there) if is_glob else values.values(there)


def _members(context: CompletionContext) -> Iterator[Candidate]:
    """What a set that has a name can hold: by what the policy compares with it, and else actions, as most sets do."""
    files = [module.file for module in (context.module, context.namesake) if module is not None]
    subjects = set[str]().union(*(compared_with(file, context.slot.subject) for file in files)) or {""}
    if "" in subjects:
        yield from events.names(context)
    for argument in sorted(subjects - {""}):
        yield from values.values(replace(context, slot=replace(context.slot, subject=argument)))
    yield from declarations.single(context, group=20)


def _compared(context: CompletionContext) -> Iterator[Candidate]:
    """What a field is compared with."""
    slot = context.slot
    yield from rules.context_values(context)
    match slot.role:
        case "set":
            yield from declarations.sets(context)
            yield _a_set()
        case "element" if slot.about_action:
            yield from events.names(context)
            yield from declarations.single(context, "text", group=20)
        case "element":
            yield from values.values(context)
            yield from declarations.parameters(context)
            yield from declarations.single(context)
        case "operand":
            yield from values.values(context)
            yield from declarations.parameters(context) if "NE" in slot.used else declarations.variables(context)
            yield from declarations.single(context)
        case "glob":
            yield from values.globs(context)
            yield from declarations.parameters(context)
            yield from declarations.single(context, "text")
            yield from declarations.sets(context, 20)
        case "number":
            yield from values.values(context, only_numbers=True)
            yield from declarations.variables(context)
            yield from declarations.single(context, "number")
        case "contained":
            yield from declarations.variables(context)
            yield from declarations.single(context, "text")

"""Completion at one place: which of all there is to say is said there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lsprotocol.types import CompletionItemKind as Kind

from vigil_lang.syntax import tree
from vigil_lsp.completing import citing, declared, events, importing, testing, values
from vigil_lsp.completing.keywords import bounds, forms, keywords
from vigil_lsp.completing.meant import compared_with, use_of
from vigil_lsp.completing.offer import Offer
from vigil_lsp.completing.slot import Slot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lsp.completing.scene import Scene


def offers(scene: Scene) -> Iterator[Offer]:
    """Everything that can be written at a place, in no order that matters between groups."""
    yield from _own(scene)
    yield from keywords(scene)
    if scene.slot.role == "item" or scene.place.fresh:
        yield from citing.notes("@")


def _own(scene: Scene) -> Iterator[Offer]:
    """What the slot asks for beside keywords."""
    slot = scene.slot
    match slot.role:
        case "condition":
            yield from _conditions(scene)
        case "term":
            yield from declared.variables(scene)
            yield from _terms(scene)
        case "field":
            yield from events.arguments(scene)
        case "action":
            yield from events.names(scene)
            yield from declared.variables(scene, 14)
            yield from declared.single(scene, "text")
        case "element" | "set" | "operand" | "glob" | "number" | "contained":
            yield from _compared(scene)
        case "member":
            yield from _members(scene)
        case "action glob":
            yield from values.action_globs(scene)
            yield from declared.single(scene, "text")
        case "form":
            yield from forms(scene)
        case "bound":
            yield from bounds(scene)
        case "status":
            yield from values.statuses(scene)
        case "value":
            yield from _assigned(scene, slot.subject)
        case "module":
            yield from importing.modules(scene)
        case "imported":
            yield from declared.imported(scene)
        case "annotation":
            yield from citing.notes()
        case "annotation value":
            yield from citing.annotation_values(scene)
        case _:
            yield from _in_test(scene)


def _in_test(scene: Scene) -> Iterator[Offer]:
    match scene.slot.role:
        case "setting":
            yield from testing.params(scene)
        case "param value":
            yield from _assigned(scene, testing.type_of_param(scene))
        case "binding value":
            yield from testing.bound_values(scene)
        case "recording":
            yield from testing.recordings(scene)
        case "event":
            if "NAME" in scene.place.accepted:
                yield from events.called(scene)
        case "event argument":
            yield from events.arguments(scene, assigns=True)
        case "event value":
            yield from values.values(scene)
        case "kind":
            yield from events.kinds(scene)
        case "moment":
            yield from values.moments()
        case "expected":
            yield from testing.statements(scene)
        case "offender":
            yield from testing.events(scene)
        case "binding":
            yield from testing.bindings(scene)


def _assigned(scene: Scene, wanted: str) -> Iterator[Offer]:
    """What a param of a type, or a `let`, can be."""
    match wanted:
        case "" | "set":
            yield from declared.sets(scene)
            yield _a_set()
        case "bool":
            yield from (Offer(word, Kind.Keyword, word, 8) for word in ("true", "false"))
            yield from declared.single(scene, "bool")
        case "number" | "text":
            yield from declared.single(scene, wanted)


def _a_set() -> Offer:
    return Offer("{…}", Kind.Struct, "{", 14, "a set of values", "{$1}", filter="{")


def _conditions(scene: Scene) -> Iterator[Offer]:
    """Where a condition begins: arguments of the event at hand, patterns, calls."""
    in_call = bool(scene.slot.subject)
    yield from events.arguments(scene)
    yield from declared.patterns(scene, 12 if scene.slot.actions is None else 18, imports=not in_call)
    if not in_call:
        yield from events.calls(scene)


def _terms(scene: Scene) -> Iterator[Offer]:
    """What can be given to a pattern: values, and what was seen where the pattern uses the parameter."""
    yield from declared.single(scene)
    yield from declared.sets(scene, 20)
    module, pattern = scene.module.find(scene.slot.subject) or (scene.module, None)
    if not isinstance(pattern, tree.Pattern) or scene.slot.index >= len(pattern.params):
        return
    use = use_of(pattern, pattern.params[scene.slot.index].text, module)
    if use is not None:
        is_glob, argument, actions = use
        there = replace(scene, slot=Slot("glob" if is_glob else "operand", argument, actions))
        yield from values.globs(there) if is_glob else values.values(there)


def _members(scene: Scene) -> Iterator[Offer]:
    """What a set that has a name can hold: by what the policy compares with it, and else actions, as most sets do."""
    files = [module.file for module in (scene.module, scene.namesake) if module is not None]
    subjects = set[str]().union(*(compared_with(file, scene.slot.subject) for file in files)) or {""}
    if "" in subjects:
        yield from events.names(scene)
    for argument in sorted(subjects - {""}):
        yield from values.values(replace(scene, slot=replace(scene.slot, subject=argument)))
    yield from declared.single(scene, group=20)


def _compared(scene: Scene) -> Iterator[Offer]:
    """What a field is compared with."""
    slot = scene.slot
    match slot.role:
        case "set":
            yield from declared.sets(scene)
            yield _a_set()
        case "element" if slot.about_action:
            yield from events.names(scene)
            yield from declared.single(scene, "text", group=20)
        case "element":
            yield from values.values(scene)
            yield from declared.parameters(scene)
            yield from declared.single(scene)
        case "operand":
            yield from values.values(scene)
            yield from declared.parameters(scene) if "NE" in slot.used else declared.variables(scene)
            yield from declared.single(scene)
        case "glob":
            yield from values.globs(scene)
            yield from declared.parameters(scene)
            yield from declared.single(scene, "text")
        case "number":
            yield from values.values(scene, only_numbers=True)
            yield from declared.parameters(scene)
            yield from declared.single(scene, "number")
        case "contained":
            yield from declared.variables(scene)
            yield from declared.single(scene, "text")

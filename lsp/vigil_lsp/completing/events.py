"""Actions, kinds and arguments, those of the runs first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import CompletionItemKind as Kind

from vigil_lang.semantics.text import quote
from vigil_lang.trace.vocabulary import vocabulary
from vigil_lsp.completing.offer import Offer, calling
from vigil_lsp.completing.scene import seen
from vigil_lsp.completing.spelling import inside, operand, word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lsp.completing.scene import Scene

_MOST_ACTIONS = 80
_AGAIN = 43
"""The group of arguments that are tested already: behind the others and the patterns."""


def calls(scene: Scene) -> Iterator[Offer]:
    """Actions and kinds as conditions: `Bash(command …)`."""
    sure = scene.slot.actions is not None
    for name, count, is_kind in _names(scene):
        if sure and not is_kind:
            continue  # an event has one name
        hidden = scene.module.find(name) is not None
        text = quote(name) if hidden else operand(name)
        group = (46 if sure else 16 if is_kind else 14) if count else 50
        yield Offer(
            name,
            Kind.Interface if is_kind else Kind.Event,
            text,
            group,
            _told(scene, name, count, is_kind),
            calling(text, ()),
            inside(name),
            about=("action", name),
        )


def names(scene: Scene, group: int = 10) -> Iterator[Offer]:
    """Actions and kinds by their names: in a set, or after `action =`."""
    for name, count, is_kind in _names(scene):
        text = quote(name) if scene.module.find(name) is not None else word(name)
        kind = Kind.Interface if is_kind else Kind.Event
        likely = group + (0 if count and not is_kind else 1 if count else 5)
        if name not in scene.slot.used:
            yield Offer(
                name, kind, text, likely, _told(scene, name, count, is_kind), "", inside(name), about=("action", name)
            )


def kinds(scene: Scene) -> Iterator[Offer]:
    """Kinds alone: of an event in a test."""
    for name, count, is_kind in _names(scene):
        if is_kind:
            detail = _told(scene, name, count, is_kind)
            yield Offer(name, Kind.Interface, word(name), 10, detail, raw=inside(name), about=("action", name))


def called(scene: Scene) -> Iterator[Offer]:
    """Actions of the events that a test writes."""
    for name, count, is_kind in _names(scene):
        if word(name) == name:
            kind = Kind.Interface if is_kind else Kind.Event
            yield Offer(
                name,
                kind,
                name,
                10 if count and not is_kind else 15,
                _told(scene, name, count, is_kind),
                calling(name, ()),
                about=("action", name),
            )


def _names(scene: Scene) -> Iterator[tuple[str, int, bool]]:
    """(name, how many events have it, whether it is a kind), the most frequent first, then the vocabulary's."""
    known = scene.known
    found: dict[str, tuple[int, bool]] = {}
    if known is not None:
        for name, action in list(known.samples.actions.items())[:_MOST_ACTIONS]:
            found.setdefault(name, (action.events, False))
        for name, action in known.samples.kinds.items():
            found.setdefault(name, (action.events, True))
        for name in known.signature.actions:
            if len(found) < 2 * _MOST_ACTIONS:
                found.setdefault(name, (0, False))
    for name in vocabulary().kinds:
        found.setdefault(name, (0, True))
    for name, (count, is_kind) in found.items():
        if name.isprintable() and len(name) <= 120:
            yield name, count, is_kind


def _told(scene: Scene, name: str, count: int, is_kind: bool) -> str:
    kind = vocabulary().kinds.get(name) if is_kind else None
    return _with(kind.summary if kind is not None else "", seen(count, scene.known))


def _with(summary: str, said: str) -> str:
    return f"{summary} ({said})" if summary and said else summary or said


def arguments(scene: Scene, *, assigns: bool = False) -> Iterator[Offer]:
    """Arguments that the event at hand carries; those that are said already last, or not where once is enough.

    `assigns`, they get a value (in a test) rather than being tested.
    """
    slot = scene.slot
    group = 8 if slot.actions is not None else 40
    total, has_runs = 0, scene.known is not None and bool(scene.known.runs)
    for name, count in scene.arguments(slot.actions):
        again = name in slot.used
        if (again and slot.role != "condition") or not name.isprintable() or len(name) > 120 or not name:
            continue
        if slot.actions is None and not count and has_runs:
            continue  # of all there is, only what was seen
        total += 1
        if total > (40 if slot.actions is None else 100):
            return
        role = vocabulary().roles.get(name)
        detail = _with("" if count or role is None else role.summary, seen(count, scene.known))
        text = word(name) if assigns else operand(name)
        snippet = f"{text.replace('$', chr(92) + '$')} = $1" if assigns else ""
        likely = _AGAIN if again else group if count or not has_runs else group + 2
        about = ("argument", name, *sorted(slot.actions or ())[:20])
        yield Offer(name, Kind.Field, text, likely, detail, snippet, inside(name), about=about)

"""Actions, kinds and arguments, those of the runs first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprotocol.types import CompletionItemKind as Kind

from vigil_lang.semantics.text_patterns import quote
from vigil_lang.trace.discreet import LONGEST
from vigil_lang.trace.vocabulary import vocabulary
from vigil_lsp.completing.candidate import Candidate, calling
from vigil_lsp.completing.context import seen
from vigil_lsp.completing.spelling import inside, operand, word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lsp.completing.context import CompletionContext

_MOST_ACTIONS = 80
_AGAIN = 43
"""The group of arguments that are tested already: behind the others and the patterns."""


@dataclass(frozen=True, slots=True)
class _Name:
    """The name of an action or kind, and how many events of the runs have it."""

    text: str
    count: int
    is_kind: bool


def calls(context: CompletionContext) -> Iterator[Candidate]:
    """Actions and kinds as conditions: `Bash(command …)`."""
    sure = context.slot.actions is not None
    for name in _names(context):
        if sure and not name.is_kind:
            continue  # an event has one name
        group = (46 if sure else 16 if name.is_kind else 14) if name.count else 50
        text = quote(name.text) if context.module.find(name.text) is not None else operand(name.text)
        yield _offer(context, name, text, group, calling(text, ()))


def names(context: CompletionContext, group: int = 10) -> Iterator[Candidate]:
    """Actions and kinds by their names: in a set, or after `action =`."""
    for name in _names(context):
        if name.text not in context.slot.used:
            text = quote(name.text) if context.module.find(name.text) is not None else word(name.text)
            yield _offer(context, name, text, group + (5 if not name.count else int(name.is_kind)))


def kinds(context: CompletionContext) -> Iterator[Candidate]:
    """Kinds alone: of an event in a test."""
    return (_offer(context, name, word(name.text), 10) for name in _names(context) if name.is_kind)


def called(context: CompletionContext) -> Iterator[Candidate]:
    """Actions of the events that a test writes."""
    for name in _names(context):
        if word(name.text) == name.text:
            group = 10 if name.count and not name.is_kind else 15
            yield _offer(context, name, name.text, group, calling(name.text, ()))


def _offer(context: CompletionContext, name: _Name, text: str, group: int, snippet: str = "") -> Candidate:
    kind = vocabulary().kinds.get(name.text) if name.is_kind else None
    detail = _with(kind.summary if kind is not None else "", seen(name.count, context.known))
    icon = Kind.Interface if name.is_kind else Kind.Event
    return Candidate(name.text, icon, text, group, detail, snippet, inside(name.text), about=("action", name.text))


def _with(summary: str, said: str) -> str:
    return f"{summary} ({said})" if summary and said else summary or said


def _names(context: CompletionContext) -> Iterator[_Name]:
    """What events can be called, the most frequent first, then the vocabulary's."""
    known = context.known
    found: dict[str, _Name] = {}
    if known is not None:
        for name, action in list(known.samples.actions.items())[:_MOST_ACTIONS]:
            found[name] = _Name(name, action.events, is_kind=False)
        for name, action in known.samples.kinds.items():
            found.setdefault(name, _Name(name, action.events, is_kind=True))
        for name in known.signature.actions:
            if len(found) < 2 * _MOST_ACTIONS:
                found.setdefault(name, _Name(name, 0, is_kind=False))
    for name in vocabulary().kinds:
        found.setdefault(name, _Name(name, 0, is_kind=True))
    return (name for name in found.values() if _is_short(name.text))


def _is_short(name: str) -> bool:
    return name.isprintable() and 0 < len(name) <= LONGEST


def arguments(context: CompletionContext, *, assigns: bool = False) -> Iterator[Candidate]:
    """Arguments that the event at hand carries; those that are said already last, or not where once is enough.

    `assigns`, they get a value (in a test) rather than being tested.
    """
    slot = context.slot
    group = 8 if slot.actions is not None else 40
    total, has_runs = 0, context.known is not None and bool(context.known.runs)
    for name, count in context.arguments(slot.actions):
        again = name in slot.used
        if (again and slot.role != "condition") or not _is_short(name):
            continue
        if slot.actions is None and not count and has_runs:
            continue  # of all there is, only what was seen
        total += 1
        if total > (40 if slot.actions is None else 100):
            return
        role = vocabulary().roles.get(name)
        detail = _with("" if count or role is None else role.summary, seen(count, context.known))
        text = word(name) if assigns else operand(name)
        snippet = f"{text.replace('$', chr(92) + '$')} = $1" if assigns else ""
        likely = _AGAIN if again else group if count or not has_runs else group + 2
        about = ("argument", name, *sorted(slot.actions or ())[:20])
        yield Candidate(name, Kind.Field, text, likely, detail, snippet, inside(name), about=about)

"""A run as an editor shows it: each event with its line in the recording, and what statements say of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from vigil_lang.base.files import read_bytes
from vigil_lang.diagnostics.secrets import learn, masked, masked_words
from vigil_lang.diagnostics.visible import visible
from vigil_lang.ingest.stream import MAX_SIZE
from vigil_lang.report.recording import event_lines, file_of
from vigil_lang.semantics import core
from vigil_lang.verdict.lines import event_text
from vigil_lsp.recordings.results import EventView, RunView, StatementNote, digest_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from vigil_lang.semantics.policy import Policy
    from vigil_lang.trace import Event
    from vigil_lsp.recordings.cached_run import CachedRun

MAX_EVENTS = 20_000
"""Events of a run that are shown, from its beginning."""

_ROOM = 110
_ARGUMENTS = 12
_VALUES = 3
_LENGTH = 80


def view(recorded: CachedRun, policies: Sequence[Policy], most: int = MAX_EVENTS) -> Iterator[RunView | None]:
    """The first events of a run under some policies: yields None after each step, and the view at the end."""
    trace = recorded.trace
    mentions: dict[int, list[StatementNote]] = defaultdict(list)
    violates: dict[int, list[StatementNote]] = defaultdict(list)
    for policy in policies:
        for statement in policy.statements:
            level = statement.metadata.severity
            for at, _, message in recorded.answer(statement).offending:
                violates[at].append(StatementNote(policy.path, statement.name, message, level))
            for at in _touched(recorded, core.conditions(statement.requirement.theta)):
                mentions[at].append(StatementNote(policy.path, statement.name, "", level))
            yield None
    shown = trace.events[:most]
    for event in shown:
        learn(event.args)
    lines = event_lines(trace, range(len(shown)))
    events = []
    for at, event in enumerate(shown):
        broken = [replace(one, message=masked(one.message)) for one in violates.get(at, ())]
        events.append(_event(at, event, lines.get(at), mentions.get(at, ()), broken))
        if at % 500 == 499:
            yield None
    file = file_of(trace.run)
    yield RunView(recorded.path, file, _digest(file), len(trace), len(violates), tuple(events))


def _digest(file: str) -> bytes:
    try:
        return digest_of(read_bytes(file, MAX_SIZE))
    except OSError:
        return b""


def _touched(recorded: CachedRun, conditions: Iterable[core.Holds]) -> list[int]:
    """The events that some condition of a statement holds of."""
    found: dict[int, None] = {}
    for holds in conditions:
        found.update(dict.fromkeys(recorded.columns.events(holds.condition) or ()))
    return sorted(found)


def _event(
    at: int, event: Event, line: int | None, mentions: Iterable[StatementNote], violates: Iterable[StatementNote]
) -> EventView:
    return EventView(
        at,
        event.id,
        line,
        event_text(event, _ROOM).plain,
        visible(event.action),
        tuple(map(visible, event.kinds)),
        tuple((visible(name), tuple(map(_short, masked_words(name, texts)[:_VALUES]))) for name, texts in _some(event)),
        event.status,
        tuple(mentions),
        tuple(violates),
    )


def _some(event: Event) -> list[tuple[str, tuple[str, ...]]]:
    return list(event.args.items())[:_ARGUMENTS]


def _short(text: str) -> str:
    return visible(text[:_LENGTH]) + ("…" if len(text) > _LENGTH else "")

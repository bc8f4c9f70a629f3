"""How well runs were understood: formats, programs, kinds, paths, and what was not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vigil_lang.abstraction.events import not_understood
from vigil_lang.trace.event import MESSAGES
from vigil_lang.trace.unseen import is_wholly_seen
from vigil_lang.trace.vocabulary import vocabulary

if TYPE_CHECKING:
    from vigil_lang.trace import Event, Run

_OF_FILES = ("file.", "dir.", "archive.")
_PATHS = ("path", "source", "target", "archive", "directory")


@dataclass(slots=True)
class Statistics:
    """Counts over runs; `add` a run's header, then its events."""

    formats: Counter[str] = field(default_factory=Counter)
    events: int = 0
    calls: int = 0
    not_executed: int = 0
    records: int = 0
    """Records of the recordings of which some were not understood."""
    records_not_understood: int = 0
    messages: int = 0
    tools: Counter[str] = field(default_factory=Counter)
    tools_without_kind: Counter[str] = field(default_factory=Counter)
    commands: int = 0
    """Simple commands that calls give to a shell, not those that scripts run."""
    commands_with_kind: int = 0
    programs: Counter[str] = field(default_factory=Counter)
    programs_without_kind: Counter[str] = field(default_factory=Counter)
    paths: int = 0
    """Path arguments of calls and commands that deal with files."""
    paths_resolved: int = 0
    """Those that are absolute or below the user's home."""
    inferred: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    not_understood: list[tuple[str, str, str]] = field(default_factory=list)
    """Run, event, and what of it was not understood."""
    unseen: dict[str, list[str]] = field(default_factory=dict)
    """By run the calls that are not wholly seen."""
    _run: str = ""
    _marked: set[str] = field(default_factory=set)

    def add(self, found: Run | Event) -> None:
        """Take in a run's header or one of its events."""
        from vigil_lang.trace import Run

        if isinstance(found, Run):
            self.formats[found.format] += 1
            self.not_executed += found.not_executed
            self.records += found.records
            self.records_not_understood += found.not_understood
            self._run = found.path
            self._marked = set()
        else:
            self._count(found)

    def _count(self, event: Event) -> None:
        self.events += 1
        self.kinds.update(event.kinds)
        marked = event.action not in MESSAGES and not is_wholly_seen(event)
        if marked and event.call not in self._marked:
            self._marked.add(event.call)
            self.unseen.setdefault(self._run, []).append(event.id.partition(".")[0])
        if event.args.get("inferred"):
            self.inferred += 1
            return
        if event.action in MESSAGES:
            self.messages += 1
            return
        is_step = event.id != event.call and "." in event.id
        telling = [kind for kind in event.kinds if kind != "process.run"]
        if not is_step:
            self.calls += 1
            self.tools[event.action] += 1
            self.tools_without_kind[event.action] += not telling
        elif "process.run" in event.kinds:
            self.commands += 1
            self.commands_with_kind += bool(telling)
            self.programs[event.action] += 1
            self.programs_without_kind[event.action] += not telling
        if any(kind.startswith(_OF_FILES) for kind in telling):
            self._count_paths(event)
        self.not_understood += [(self._run, event.id, text) for text in not_understood(event)]

    def _count_paths(self, event: Event) -> None:
        unresolved = event.args.get("unresolved", ())
        for role in _PATHS:
            values = event.args.get(role, ())
            self.paths += len(values) + (role in unresolved)
            self.paths_resolved += sum(value.startswith(("/", "~")) or value[1:2] == ":" for value in values)

    def to_json(self) -> dict[str, Any]:
        """The counts as JSON, `vigil.abstraction/1`; counters are objects, most frequent first."""
        return {
            "schema": "vigil.abstraction/1",
            "runs": sum(self.formats.values()),
            "formats": dict(self.formats.most_common()),
            "events": self.events,
            "calls": self.calls,
            "unseen": sum(map(len, self.unseen.values())),
            "not_executed": self.not_executed,
            "records": self.records,
            "records_not_understood": self.records_not_understood,
            "messages": self.messages,
            "inferred": self.inferred,
            "tools": dict(self.tools.most_common()),
            "tools_without_kind": _some(self.tools_without_kind),
            "commands": self.commands,
            "commands_with_kind": self.commands_with_kind,
            "programs": dict(self.programs.most_common()),
            "programs_without_kind": _some(self.programs_without_kind),
            "paths": self.paths,
            "paths_resolved": self.paths_resolved,
            "kinds": {kind: self.kinds[kind] for kind in vocabulary().kinds if kind in self.kinds},
            "unseen_events": [{"run": run, "events": events} for run, events in self.unseen.items()],
            "not_understood": [{"run": run, "event": event, "what": what} for run, event, what in self.not_understood],
        }


def _some(counter: Counter[str]) -> dict[str, int]:
    return {name: count for name, count in counter.most_common() if count}

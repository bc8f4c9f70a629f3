"""Which calls may change the workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vigil_lang.trace.unseen import is_wholly_seen

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vigil_lang.trace import Event

LOOKS = frozenset(
    {
        "agent.message", "container.read", "data.process", "dir.change", "dir.list", "file.read", "file.search",
        "file.stat", "git.read", "infra.read", "job.read", "package.list", "review.read", "shell.control", "shell.run",
        "skill.load", "system.read", "task.plan", "text.print", "tool.search", "user.ask", "user.message",
    }
)  # fmt: skip
"""Kinds of what only looks at something; a shell's programs are steps of their own."""


def may_change(events: Iterable[Event]) -> bool:
    """Whether a call with these events may change files: unless each is known only to look, and wholly seen."""
    return any(not event.kinds or not LOOKS.issuperset(event.kinds) or not is_wholly_seen(event) for event in events)

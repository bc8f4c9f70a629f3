"""What a scripted model says, in words that are no host's: turns of texts and actions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

DELEGATED = "Delegated task:"
"""Begins what a sub-agent is asked for, by which its requests are told from the main agent's."""


@dataclass(frozen=True, slots=True)
class Run:
    """Runs a command in the shell."""

    command: str


@dataclass(frozen=True, slots=True)
class Write:
    """Writes a new file."""

    path: str
    content: str


@dataclass(frozen=True, slots=True)
class Read:
    """Reads a file."""

    path: str


@dataclass(frozen=True, slots=True)
class Delegate:
    """Has a sub-agent do something: `Script.delegated` are its turns."""

    task: str = "look after it"


@dataclass(frozen=True, slots=True)
class Finish:
    """Says that a sub-agent is done, where a host has a tool for that."""


Action: TypeAlias = Run | Write | Read | Delegate | Finish


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of the model: all actions of it are asked for at once."""

    actions: tuple[Action, ...] = ()
    text: str = ""
    tokens: int = 1000
    """How long the model says the conversation is: hosts compact long ones."""


def turn(*actions: Action, text: str = "", tokens: int = 1000) -> Turn:
    """A turn of the actions."""
    return Turn(actions, text, tokens)


@dataclass(frozen=True, slots=True)
class Script:
    """The turns of the main agent, and those of the sub-agent; after the last one the model says that it is done."""

    turns: Sequence[Turn]
    delegated: Sequence[Turn] = ()

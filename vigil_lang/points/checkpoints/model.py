"""What a checkpoint knows of a workspace, and what keeps its contents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Kind: TypeAlias = Literal["git", "copy"]
"""`git` leaves out what the workspace's `.gitignore` names; `copy` keeps everything but `.git`."""


class CheckpointError(Exception):
    """A checkpoint cannot be taken or read. The text says why."""


class Kept(NamedTuple):
    """A file as a checkpoint has it: what it is (a file, one that may be executed, a link), and the id of its content.

    The content of a link is where it leads.
    """

    kind: Literal["file", "program", "link"]
    content: str


Files: TypeAlias = "Mapping[str, Kept]"
"""The files of a workspace by their paths within it; folders are what files lie in."""


class Keeper(Protocol):
    """Keeps the contents of a workspace, each once."""

    def take(self, workspace: Path) -> str:
        """Keep the workspace as it is now; gives the id of its tree.

        Raises:
            CheckpointError: it cannot be kept whole.
        """

    def files(self, tree: str) -> Files:
        """The files of a tree.

        Raises:
            CheckpointError: it is not known, or damaged.
        """

    def content(self, kept: Kept) -> bytes:
        """What a file held.

        Raises:
            CheckpointError: it is not known, or damaged.
        """

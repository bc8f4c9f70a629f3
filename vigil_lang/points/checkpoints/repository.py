"""Checkpoints by git, in a repository of their own: that of the workspace, if it has one, is neither read nor changed.

What `.gitignore` names is not kept. No setting of the user, the machine or the workspace counts, so that no program
that one of them names (a filter, a hook, a monitor of files) is started.
"""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

from vigil_lang.points.checkpoints.model import CheckpointError, Files, Kept

if TYPE_CHECKING:
    from pathlib import Path

_PATIENCE = 60.0
"""Seconds that git may take for one step."""

_KINDS = {"100644": "file", "100755": "program", "120000": "link"}

_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "core.excludesFile=/dev/null",
    "core.attributesFile=/dev/null",
    "core.quotePath=false",
    "core.fileMode=true",
    "core.symlinks=true",
    "gc.auto=0",
)


class Repository:
    """A repository in a folder of its own, which nobody else can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def take(self, workspace: Path) -> str:
        """Keep the workspace as it is now. Raises as `Keeper.take`."""
        if not (self._folder / "HEAD").exists():
            self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._git(None, "init", "--quiet", "--bare", "--template=", str(self._folder))
            self._folder.chmod(0o700)
        self._git(workspace, "add", "--all", "--", ".")
        return self._git(workspace, "write-tree").decode().strip()

    def files(self, tree: str) -> Files:
        """The files of a tree. Raises as `Keeper.files`."""
        found: dict[str, Kept] = {}
        for line in self._git(None, "ls-tree", "-r", "-z", "--full-tree", _id(tree)).split(b"\0"):
            if line:
                told, _, name = line.partition(b"\t")
                mode, _, content = told.decode().split(" ")
                if mode in _KINDS:  # a repository within the workspace is no file
                    found[os.fsdecode(name)] = Kept(_KINDS[mode], content)  # type: ignore[arg-type]
        return found

    def content(self, kept: Kept) -> bytes:
        """What a file held. Raises as `Keeper.content`."""
        return self._git(None, "cat-file", "blob", _id(kept.content))

    def _git(self, workspace: Path | None, *args: str) -> bytes:
        own = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        own |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        own |= {"GIT_DIR": str(self._folder), "HOME": os.devnull, "GIT_ATTR_NOSYSTEM": "1"}
        if workspace is not None:
            own["GIT_WORK_TREE"] = str(workspace)
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        try:
            done = subprocess.run(
                ["git", *settings, *args],
                env=own, cwd=workspace or "/", stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE,
                check=True,
            )  # fmt: skip
        except FileNotFoundError as error:
            raise CheckpointError("git is not installed, or the workspace is gone") from error
        except subprocess.TimeoutExpired as error:
            raise CheckpointError(f"git took longer than {_PATIENCE:g} s") from error
        except (subprocess.CalledProcessError, OSError) as error:
            said = error.stderr.decode(errors="replace").strip() if hasattr(error, "stderr") else str(error)
            raise CheckpointError(f"git could not do it: {said.splitlines()[-1] if said else error}") from error
        return done.stdout


def _id(text: str) -> str:
    if len(text) not in (40, 64) or not text.isalnum():
        raise CheckpointError("this is no id of git's")
    return text

"""What has been found so far of the steps of one call, within bounds, and what they do to files that are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import field
from msgspec.structs import replace

from vigil_lang.base.structs import Frozen, Mutable

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.abstraction.catalogue import Program
    from vigil_lang.abstraction.files import KnownFiles
    from vigil_lang.abstraction.step import Step
    from vigil_lang.trace import Status

MOST_STEPS = 1000
"""Steps of one call; what it does beyond them is not told."""

MAX_DEPTH = 8
"""How deeply shells, wrappers and scripts may run each other."""

MOST_TEXT = 4_000_000
"""Code points of scripts and command lines read for one call."""

_CHANGES = ("file.delete", "file.append", "file.edit", "file.write")
# What of these kinds changes files that no word names.
_CHANGES_MANY = frozenset({"archive.extract", "git.checkout", "git.merge", "git.rewrite"})
# What of these kinds changes what lies in the folders that it names.
_CHANGES_FOLDERS = frozenset({"git.clone", "system.change"})
_CHANGE_NO_FILES = (("push",), ("commit",), ("branch",), ("tag",), ("reflog",))


class Taken(Mutable):
    """The steps found so far in one call, and what could not be understood."""

    files: KnownFiles
    probe: Callable[[str], Program | None] | None = None
    steps: list[Step] = field(default_factory=list)
    owners: list[int | None] = field(default_factory=list)
    """For each step the place of the program it came from; None for a program of the call's own line."""
    trouble: dict[str, None] = field(default_factory=dict)
    unseen: dict[str, None] = field(default_factory=dict)
    """Why a script of the call may do more than its steps tell."""
    text: int = 0

    def add(self, step: Step, owner: int | None) -> int | None:
        """Keep a step; its place, None where there is no room for more."""
        if len(self.steps) == MOST_STEPS:
            self.trouble[f"more than {MOST_STEPS} steps in one call"] = None
            return None
        self.steps.append(step)
        self.owners.append(owner)
        self._remember(step)
        return len(self.steps) - 1

    def _remember(self, step: Step) -> None:
        """Follow what a step does to the texts that are known."""
        if not _CHANGES_MANY.isdisjoint(step.kinds) and step.roles.get("subcommand") not in _CHANGE_NO_FILES:
            self.changes_all()
        for path in step.roles.get("source", ()) if "file.link" in step.kinds or "file.move" in step.kinds else ():
            self.files.forget(path)
        if not _CHANGES_FOLDERS.isdisjoint(step.kinds):
            for path in (*step.roles.get("directory", ()), *step.roles.get("path", ())):
                self.files.forget(path)
        kind = next((kind for kind in _CHANGES if kind in step.kinds), None)
        if kind is None:
            return
        if "path" in step.unresolved:
            self.changes_all()
        paths = step.roles.get("path", ())
        for path in paths:
            if kind == "file.write" and step.content is not None and len(paths) == 1:
                self.files.put(path, step.content)
            elif kind == "file.append" and step.content is not None and (old := self.files.expected(path)) is not None:
                self.files.put(path, old + step.content)
            else:
                self.files.forget(path)

    def changes_all(self) -> None:
        """What runs may have changed any file: what was known of them is so no longer."""
        self.files.forget_all()

    def programs_of(self, place: int) -> list[int]:
        """The places of a program and of those it runs as a wrapper, not in a script."""
        found = [place]
        for at in range(place + 1, len(self.steps)):
            if self.owners[at] in found and "process.run" in self.steps[at].kinds and not self.steps[at].inferred:
                found.append(at)
        return found

    def may_go(self, depth: int) -> bool:
        """Whether what runs this deeply is looked at, and the reason kept where it is not."""
        if depth > MAX_DEPTH:
            self.trouble[f"programs that run each other more than {MAX_DEPTH} deep"] = None
        return depth <= MAX_DEPTH

    def may_read(self, text: str, depth: int) -> bool:
        """Whether another text is read, and the reason kept where it is not."""
        if not self.may_go(depth):
            return False
        self.text += len(text)
        if self.text > MOST_TEXT:
            self.trouble[f"more than {MOST_TEXT} characters of commands and scripts in one call"] = None
            return False
        return True


class Place(Frozen, frozen=True):
    """Where in a call something runs: what its own end says about the call's, and whether it is only inferred."""

    if_ok: Status = "ok"
    if_error: Status = "error"
    owner: int | None = None
    depth: int = 0
    inferred: bool = False
    line: int | None = None
    scripts: tuple[str, ...] = ()
    """The files of the scripts it is read out of, the innermost first."""

    def where(self, if_ok: Status, if_error: Status) -> Place:
        """The place of something whose end says this much about the end of what runs here."""
        ok = if_ok if self.if_ok == "ok" else "unknown"
        error = if_error if self.if_error == "error" else "unknown"
        return replace(self, if_ok=ok, if_error=error)

    def within(self, script: str) -> Place:
        """The place of what a script does whose file this is."""
        return replace(self, inferred=True, scripts=(script, *self.scripts))

    def inside(self, owner: int) -> Place:
        """The place of what a program that runs here does."""
        return replace(self, owner=owner, depth=self.depth + 1)

    def mark(self, step: Step, if_error: Status = "unknown") -> Step:
        """The step as one that happens here."""
        step.if_ok, step.if_error = self.if_ok, if_error
        step.inferred, step.line = self.inferred, self.line
        if self.scripts:
            step.roles["from_script"] = self.scripts
        return step

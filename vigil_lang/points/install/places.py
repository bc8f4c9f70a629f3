"""The settings files of hosts by scope: what installing and uninstalling would change in each, and how each stands."""

from __future__ import annotations

import difflib
import re
import shutil
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.base.files import real_path
from vigil_lang.points.install import managed_toml
from vigil_lang.points.install import registration as json_form
from vigil_lang.points.install.hosts import HOSTS, SCOPES
from vigil_lang.points.install.registration import Unusable, missing_or_changed, registered
from vigil_lang.points.install.settings_file import Change, Kept, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from vigil_lang.points.install.hosts import Host, Scope
    from vigil_lang.points.install.registration import Registration, Standing


@dataclass(frozen=True, slots=True)
class Place:
    """Where a host reads its hooks from."""

    host: Host
    scope: Scope
    path: Path

    @property
    def _is_toml(self) -> bool:
        return self.path.suffix == ".toml"

    def standing(self, text: str) -> list[Standing]:
        """The hooks of ours in a text. Raises Unusable where it cannot be read."""
        return managed_toml.standing(text) if self._is_toml else json_form.standing(self.host, text)

    def installing(self, registration: Registration, kept: Kept) -> tuple[Change, str | None]:
        """What installing changes, and what the file holds without us.

        Raises:
            Unusable: the file cannot be read or changed.
        """
        now = read(self.path)
        original = self._original(now, kept)
        hooks = registration.hooks()
        text = now or ""
        after = managed_toml.installed(text, hooks) if self._is_toml else json_form.installed(self.host, text, hooks)
        return Change(self.path, now, after), original

    def uninstalling(self, kept: Kept) -> tuple[Change, str | None]:
        """What uninstalling changes, and what the file holds without us. Raises as `installing`."""
        now = read(self.path)
        original = self._original(now, kept)
        return Change(self.path, now, original), original

    def _original(self, now: str | None, kept: Kept) -> str | None:
        known, before = kept.before(self.path, now)
        if known or now is None:
            return before
        if not self.standing(now):
            return now
        bare = managed_toml.uninstalled(now) if self._is_toml else json_form.uninstalled(self.host, now)
        ours = not bare.strip() if self._is_toml else self.path.name == "vigil.json"
        return None if ours and (self._is_toml or json_form.is_bare(self.host, bare)) else bare


def place(host: Host, scope: Scope, project: Path, env: Mapping[str, str]) -> Place:
    """Where a host reads the hooks of a scope from."""
    return Place(host, scope, host.path(scope, project, env))


def places(project: Path, env: Mapping[str, str]) -> Iterator[Place]:
    """All places of all hosts."""
    for host in HOSTS.values():
        for scope in SCOPES:
            yield place(host, scope, project, env)


def unified_diff(change: Change, shown: str) -> str:
    """A change as a diff."""
    lines = difflib.unified_diff(
        (change.before or "").splitlines(),
        (change.after or "").splitlines(),
        shown if change.before is not None else "/dev/null",
        shown if change.after is not None else "/dev/null",
        lineterm="",
    )
    return "\n".join(lines)


# --- status -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Status:
    """How a place stands: `installed`, `not installed`, `damaged`, or `unreadable`, and what is to be said of it."""

    place: Place
    state: str
    remarks: tuple[str, ...] = ()
    registration: Registration | None = None


def status(place: Place) -> Status:
    """How a place stands, by what its file says."""
    try:
        text = read(place.path)
        found = place.standing(text) if text is not None else []
    except Unusable as error:
        return Status(place, "unreadable", (str(error),))
    if not found:
        return Status(place, "not installed")
    registration = registered(place.host, found)
    wrong = missing_or_changed(place.host, found)
    remarks = [f"missing, changed or there twice: {', '.join(wrong)}"] if wrong else []
    if registration is not None:
        gone = [each for each in (registration.program[0], registration.program[-1]) if not Path(each).exists()]
        remarks += [f"`{each}` is gone: install again with the Vigil that is here" for each in gone]
        options = registration.options
        policies = [v for n, v in pairwise(options) if n == "--policy"]
        lost = [p for p in policies if not p.startswith("std.") and not Path(p).is_file()]
        remarks += [f"the policy `{each}` is gone, so every call is blocked" for each in lost]
        wrong += gone + lost
    return Status(place, "damaged" if wrong else "installed", (*remarks, *_switches(place, text or "")), registration)


def _switches(place: Place, text: str) -> Iterator[str]:
    """Settings beside ours that keep hooks from running."""
    if re.search(r'"disableAllHooks"\s*:\s*true', text):
        yield "`disableAllHooks` is set: the host runs no hook"
    if place.host.name == "gemini" and re.search(r'"hooksConfig"\s*:\s*\{[^}]*"enabled"\s*:\s*false', text):
        yield "`hooksConfig.enabled` is false: the host runs no hook"
    if place.host.name == "codex" and place.scope != "managed":
        yield "Codex runs it once you trusted it there, by `/hooks`, and again after each change"


def program_of(host: Host, project: Path) -> Path | None:
    """The host's program on the PATH, unless it lies in the project."""
    found = shutil.which(host.program)
    if found is None or Path(real_path(found)).is_relative_to(real_path(project)):
        return None
    return Path(found)

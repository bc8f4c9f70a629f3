"""The vocabulary of typed events (`stdlib/vocabulary.toml`): kinds, what they imply, roles, where secrets are kept."""

from __future__ import annotations

from fnmatch import fnmatchcase, translate
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from vigil_lang.base.structs import Frozen
from vigil_lang.base.tables import table
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable

GATHERING = frozenset({"program_text"})
"""The roles that stand for others, here so that reading a policy need not read the vocabulary."""

RoleType = Literal["path", "url", "text", "number", "bool"]


class Kind(Frozen, frozen=True):
    """An operation that events can be an instance of. `implies` is closed: what is implied implies nothing new."""

    name: str
    summary: str
    roles: tuple[str, ...]
    implies: tuple[str, ...]


class Role(Frozen, frozen=True):
    """A name under which an event's values stand."""

    name: str
    summary: str
    type: RoleType
    many: bool
    """A list by nature: an event often has several values of it."""
    gathers: tuple[tuple[str, str], ...] = ()
    """The roles that it stands for, each with the kind of the events whose role is meant; empty for all events."""


class Vocabulary(Frozen, frozen=True):
    """All kinds and roles by name, and which paths hold secrets."""

    kinds: dict[str, Kind]
    roles: dict[str, Role]
    _secret: re.Pattern[str]
    _harmless: re.Pattern[str]
    _places: tuple[str, ...]
    """Where secrets lie by convention: paths below home or absolute ones, and names that any folder may have."""

    def closed(self, kinds: Iterable[str]) -> tuple[str, ...]:
        """The kinds with those they imply, each once, in the order they come up."""
        found: dict[str, None] = {}
        for name in kinds:
            found[name] = None
            if name in self.kinds:
                found.update(dict.fromkeys(self.kinds[name].implies))
        return tuple(found)

    def holds_secrets(self, path: str) -> bool:
        """Whether a file of this path is there to hold secrets; `path` may be a glob."""
        return bool(self._secret.match(path)) and not self._harmless.match(path)

    def covers_secrets(self, path: str, *, below: bool = False, anywhere: bool = False) -> bool:
        """Whether a path holds secrets, or a glob stands for some, or a folder has some `below` it.

        Where a glob may match `anywhere`, its stars stand for folders too.
        """
        if self.holds_secrets(path):
            return True
        pattern = _GLOB.search(path) is not None
        if not below and not anywhere and not pattern:
            return False
        if pattern and len(path) > _LONGEST:
            return True  # not worth the time it takes to tell
        return any(_covers(_HOMES.sub("~", path), place, below, anywhere) for place in self._places)


@cache
def vocabulary() -> Vocabulary:
    """The shipped vocabulary."""
    data = table("vocabulary.toml")
    kinds = {
        name: Kind(name, given["summary"], tuple(given["roles"]), _implied(name, data["kinds"]))
        for name, given in data["kinds"].items()
    }
    roles = {
        name: Role(
            name, given["summary"], given["type"], given.get("many", False), tuple(given.get("gathers", {}).items())
        )
        for name, given in data["roles"].items()
    }
    secrets = data["secrets"]
    return Vocabulary(kinds, roles, _any_of(secrets["paths"]), _any_of(secrets["except"]), tuple(secrets["places"]))


_GLOB = regex(r"[*?\[]")
_HOMES = regex(r"^(?:/root|/(?:home|Users)/[^/]+|[A-Za-z]:/Users/[^/]+|~[^/]+)(?=/|$)")
_ALL_HOMES = ("/", "/home", "/Users", "~")
_LONGEST = 1000


def _covers(path: str, place: str, below: bool, anywhere: bool) -> bool:
    """Whether a path, which may be a glob, is or matches a place of secrets, or is a folder above it."""
    if "/" not in place:  # a name that any folder may have
        name = path.rpartition("/")[2]
        return name[:1] not in ("*", "?", "[", "") and bool(_GLOB.search(name)) and fnmatchcase(place, name)
    if anywhere:
        return fnmatchcase(place, path) or (place[0] == "~" and fnmatchcase("/home/u" + place[1:], path))
    if below and place[0] == "~" and path in _ALL_HOMES:
        return True
    asked, there = path.split("/"), place.split("/")
    if path == "/":
        return below
    if len(asked) > len(there) or (len(asked) < len(there) and not below):
        return False
    return all(name == each or _stands_for(each, name) for each, name in zip(asked, there, strict=False))


def _stands_for(pattern: str, name: str) -> bool:
    """Whether a shell's pattern for one name matches it; a dot at its beginning is matched by a dot alone."""
    hidden = name[:1] == "." and pattern[:1] not in (".", "[")
    return _GLOB.search(pattern) is not None and not hidden and fnmatchcase(name, pattern)


def _implied(name: str, given: dict[str, Any]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    waiting = list(given[name].get("implies", ()))
    while waiting:
        implied = waiting.pop(0)
        if implied not in found:
            found[implied] = None
            waiting += given[implied].get("implies", ())
    return tuple(found)


def _any_of(globs: Iterable[str]) -> re.Pattern[str]:
    """A pattern for paths that match one of some globs; `*/x` is also a bare `x`."""
    return regex("|".join(translate(g) + (f"|{translate(g[2:])}" if g.startswith("*/") else "") for g in globs))

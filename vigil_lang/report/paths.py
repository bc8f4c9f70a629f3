"""Paths as reports name them: relative to the repository, the same on every machine."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from vigil_lang.base.files import real_path
from vigil_lang.base.resources import resource

# Where GitHub and GitLab check a repository out; what they show is relative to it.
_CHECKOUTS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")


@dataclass(frozen=True, slots=True)
class Places:
    """The working directory, and the root of the repository that it belongs to."""

    here: str
    root: str

    @classmethod
    def now(cls) -> Places:
        """As they are: the checkout that the CI names, else the nearest folder with `.git`, else the directory."""
        try:
            here = str(Path.cwd())
        except OSError:  # the working directory is gone
            return cls("", "")
        return cls(here, _root(here))

    @classmethod
    def around(cls, file: str) -> Places:
        """The working directory, and the root of the repository that a file belongs to; else the file's own folder."""
        places = cls.now()
        folder = os.path.dirname(os.path.normpath(os.path.join(places.here, file)))  # noqa: PTH118, PTH120 - texts
        return cls(places.here, _root(folder))

    def in_root(self, path: str) -> str:
        """A path from the root, with forward slashes. What lies outside is named by as little as tells it apart."""
        return _in_root(self, path)

    def from_here(self, path: str) -> str:
        """A path from the working directory, with forward slashes."""
        whole = os.path.normpath(os.path.join(self.here, path))  # noqa: PTH118
        if _below(self.root, whole) is None:
            return self.in_root(path)
        return _slashes(os.path.relpath(whole, self.here))


@lru_cache(maxsize=1024)
def _in_root(places: Places, path: str) -> str:
    whole = os.path.normpath(os.path.join(places.here, path))  # noqa: PTH118 - texts; nothing is looked up
    inside = _below(places.root, whole)
    if inside is not None:
        return inside
    with suppress(OSError, ValueError):  # a NUL in the path, a working directory that is gone, or no shipped file
        return "std/" + Path(real_path(whole)).relative_to(resource("stdlib", "std").resolve()).as_posix()
    if Path(path).is_absolute():
        return _slashes(str(Path(*Path(whole).parts[-2:])).lstrip(os.sep))
    return _slashes(os.path.normpath(path))


def as_unicode(path: str) -> str:
    """A path that any reader of JSON takes: what is no Unicode (bytes of a name in another encoding) is written out."""
    return path if path.isascii() else path.encode("utf-8", "backslashreplace").decode()


def _root(here: str) -> str:
    for name in _CHECKOUTS:
        checkout = os.environ.get(name)
        if checkout and _below(os.path.normpath(checkout), here) is not None:
            return os.path.normpath(checkout)
    for folder in (Path(here), *Path(here).parents):
        if os.path.exists(folder / ".git"):  # noqa: PTH110 - a folder that may not be entered has none
            return str(folder)
    return here


def _below(base: str, path: str) -> str | None:
    """The path from a folder above it; None where it does not lie in the folder."""
    if base and path.startswith(os.path.join(base, "")):  # noqa: PTH118
        return _slashes(path[len(os.path.join(base, "")) :])  # noqa: PTH118
    return "." if base and path == base else None


def _slashes(path: str) -> str:
    return path.replace(os.sep, "/")

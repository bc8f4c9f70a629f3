"""What a run is known to have in its files: texts it wrote or read, and the files that came with its skills."""

from __future__ import annotations

from bisect import bisect_left
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.abstraction.paths import START, is_below
from vigil_lang.base import inputs
from vigil_lang.base.files import real_path

if TYPE_CHECKING:
    from vigil_lang.abstraction.state import FilesState

LARGEST = 1_000_000
"""Code points; a longer text is not remembered."""

MOST = 32_000_000
"""Code points over all files; what was remembered first is forgotten first."""

_DEEP = 100
"""Folders above a file: with more, it takes less time to look at every change than at every folder."""

Changes = dict[str, tuple[str | None, bool, bool]]
"""By path the text a file had, whether that was certain, and whether it was known to say what runs."""


class KnownFiles:
    """Texts by normalised path (see `paths.resolve`).

    `shipped` is a folder with the files of skills, one folder a skill: the path ``…/skills/NAME/FILE`` of a run is
    looked for there as ``NAME/FILE`` where the run itself has not shown it.
    """

    def __init__(self, shipped: Path | None = None) -> None:
        self._texts: dict[str, str] = {}
        self._paths: list[str] = []
        """The path of every text that there ever was, sorted: those in one folder stand together."""
        self._total = 0
        self._shipped = Path(real_path(shipped)) if shipped else None
        self._gone: set[str] = set()
        self._large: set[str] = set()
        self._telling: set[str] = set()
        """Files that were changed which say what runs: programs, and hidden files with settings."""
        self._programs: dict[str, int] = {}
        """The names of those that are programs."""
        self._doubtful: set[str] = set()
        """Files that something may have changed since their text was known."""
        self._held: dict[str, int] = {}
        """Paths that calls change which are not over, with how many do."""
        self._before: Changes = {}
        """What the call that is being read has changed, as it found it."""

    def copy(self) -> KnownFiles:
        """The same, and what becomes of one is not seen in the other."""
        other = KnownFiles.__new__(KnownFiles)
        other._texts, other._paths, other._total = self._texts.copy(), self._paths.copy(), self._total
        other._shipped = self._shipped
        other._gone, other._large, other._telling = self._gone.copy(), self._large.copy(), self._telling.copy()
        other._programs, other._doubtful = self._programs.copy(), self._doubtful.copy()
        other._held, other._before = self._held.copy(), self._before.copy()
        return other

    def state(self) -> FilesState:
        """What is known between two calls, but for the files that came with skills."""
        from vigil_lang.abstraction.state import FilesState

        held = dict(sorted(self._held.items()))
        sets = (self._gone, self._large, self._telling, self._doubtful)
        gone, large, telling, doubtful = map(sorted, sets)
        return FilesState(self._texts, gone, large, telling, doubtful, held)

    def load(self, state: FilesState) -> None:
        """Take over what `state` gave."""
        self._texts, self._total, self._held = {}, 0, state.held
        for path, text in state.texts.items():
            self._know(path, text)
        self._gone, self._large, self._doubtful = set(state.gone), set(state.large), set(state.doubtful)
        for path in state.telling:
            self._tell(path)

    def get(self, path: str) -> str | None:
        """The text a file has, None where that is not known.

        It is not while a call that changes it is not over, nor after something that may have changed it.
        """
        return None if path in self._held or path in self._doubtful else self.expected(path)

    def expected(self, path: str) -> str | None:
        """The text a file has if the calls that are not over succeed, and nothing unseen has changed it."""
        found = self._texts.get(path)
        return found if found is not None or self._is_gone(path) else self._from_skills(path)

    def was_changed(self, path: str) -> bool:
        """Whether the run has changed a file, or something in the folder of that name."""
        return path in self._gone or any(is_below(each, path) for each in self._gone)

    def _is_gone(self, path: str) -> bool:
        """Whether a file that came with a skill, or a folder above it, was changed."""
        if path.count("/") > _DEEP:
            return any(is_below(path, each) for each in self._gone)
        while path not in self._gone:
            above = path.rpartition("/")[0]
            if not above or above == path:
                return False
            path = above
        return True

    def put(self, path: str, text: str) -> None:
        """A file now has this text."""
        self.forget(path)
        if len(text) > LARGEST:
            self._large.add(path)
            return
        self._know(path, text)
        while self._total > MOST:
            self._total -= len(self._texts.pop(next(iter(self._texts))))

    def forget(self, path: str) -> None:
        """A file has another text than before, or is gone; all that lies in a folder of that name may have."""
        self._note(path)
        self._drop(path)
        self._gone.add(path)
        self._tell(path)
        whole = path.partition("*")[0].rpartition("/")[0] if "*" in path else path
        if whole == START or whole in self._texts or self._is_folder(whole.rstrip("/")):
            for each in [each for each in self._texts if is_below(each, whole or "/")]:
                self._doubt(each)

    def forget_all(self) -> None:
        """What was read or written may have changed, wherever it lies; what came with skills is taken to stay."""
        for path in self._texts.keys() - self._doubtful:
            self._doubt(path)

    def _doubt(self, path: str) -> None:
        self._note(path)
        self._doubtful.add(path)

    def _know(self, path: str, text: str) -> None:
        self._texts[path] = text
        self._total += len(text)
        at = bisect_left(self._paths, path)
        if self._paths[at : at + 1] != [path]:
            self._paths.insert(at, path)

    def _is_folder(self, path: str) -> bool:
        """Whether there ever was a text below a path, which has no slash at its end."""
        at = bisect_left(self._paths, f"{path}/")
        return at < len(self._paths) and self._paths[at].startswith(f"{path}/")

    def _note(self, path: str) -> None:
        if path not in self._before:
            self._before[path] = (self._texts.get(path), path not in self._doubtful, path in self._telling)

    def _tell(self, path: str) -> None:
        name = _as_program(path)
        if path not in self._telling and (name or "/." in path or path[:1] == "."):
            self._telling.add(path)
            if name:
                self._programs[name] = self._programs.get(name, 0) + 1

    def _untell(self, path: str) -> None:
        if path in self._telling:
            self._telling.discard(path)
            if name := _as_program(path):
                self._programs[name] -= 1

    def _drop(self, path: str) -> None:
        self._total -= len(self._texts.pop(path, ""))
        self._large.discard(path)
        self._doubtful.discard(path)

    def is_replaced(self, program: str) -> bool:
        """Whether something of this name was put where programs are looked for."""
        return self._programs.get(program, 0) > 0

    def has_changed(self, globs: tuple[str, ...]) -> bool:
        """Whether the run has changed a hidden file, or one in a hidden folder, that one of these matches."""
        return any(fnmatchcase("/" + path, each) for path in self._telling for each in globs)

    def begin(self) -> None:
        """A call is read next; until its end is known, what it changes is known to nobody else."""
        self._before = {}

    def hold(self) -> Changes:
        """The call was read: what it changes, as it found it."""
        before, self._before = self._before, {}
        for path in before:
            self._held[path] = self._held.get(path, 0) + 1
        return before

    def settle(self, before: Changes, *, executed: bool, failed: bool) -> None:
        """The end of a call is known: what it changed is so, is as it was, or cannot be told."""
        for path, (text, certain, telling) in before.items():
            others = self._held.get(path, 1) - 1
            if others:
                self._held[path] = others
            else:
                self._held.pop(path, None)
            if executed and not failed and not others:
                continue
            self._drop(path)
            if not executed and not others:
                if not telling:
                    self._untell(path)
                if text is not None:
                    self._know(path, text)
                    self._doubtful.update(() if certain else (path,))
        self._before = {}

    def too_large(self, path: str) -> bool:
        """Whether a file was shown and had too long a text to be remembered."""
        return path in self._large

    def replace(self, path: str, old: str, new: str, *, everywhere: bool) -> None:
        """A text in a file is replaced; where the file is not known it stays so."""
        text = self.expected(path)
        if text is None:
            return
        if not old or old not in text:
            self.forget(path)
        else:
            self.put(path, text.replace(old, new) if everywhere else text.replace(old, new, 1))

    def _from_skills(self, path: str) -> str | None:
        if self._shipped is None:
            return None
        _, found, below = path.rpartition("/skills/")
        if not found:
            return None
        place = Path(real_path(self._shipped / below))
        try:
            if not (place.is_relative_to(self._shipped) and place.is_file() and place.stat().st_size <= LARGEST):
                return None
            inputs.note(str(place))
            return place.read_text(encoding="utf-8")
        except (OSError, ValueError):
            return None


def _as_program(path: str) -> str:
    """The name under which a file is found as a program, empty where it does not lie in a folder of programs."""
    folder, _, name = path.rpartition("/")
    return name if folder.endswith(("bin", "Scripts")) else ""

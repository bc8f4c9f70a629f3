"""What paths that a person names stand for: files, folders, globs, standard input, standard modules."""

from __future__ import annotations

import glob
import os
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from msgspec import field

from vigil_lang.base import inputs
from vigil_lang.base.files import leads_out, project_root, real_path, waits
from vigil_lang.base.structs import Mutable
from vigil_lang.diagnostics import Diagnostic, InputError, Source, nearest
from vigil_lang.patterns import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

POLICIES = (".vgl",)
TESTS = "_test.vgl"
_TOLD = 20
"""Links out of the project that are told of; whoever makes so many is not helped by more."""
_SPELLED_OUT = regex(r"\[([*?[])\]")
"""A character that a glob stands for literally, as `glob.escape` writes it."""
DATA = (".jsonl", ".json")
RUNS = (".jsonl", ".json", ".txt", ".traj", ".eval", ".log", ".gz")


Refused: TypeAlias = "list[Diagnostic] | None"
"""Where links that lead out of the project are told of, so that the other files count; None raises that at once."""


def _none(path: str) -> bool:  # noqa: ARG001 - the signature of what excludes
    return False


def policy_paths(args: Iterable[str], excludes: Callable[[str], bool] = _none, refused: Refused = None) -> list[str]:
    """Policies in the order of the arguments, each once. Of a folder its `*.vgl`, however deep.

    What is found in a folder or by a glob is not taken where `excludes` says so, nor where it is a link out of the
    project: what the call does not name may be anybody's.

    Raises:
        InputError: VGL001 for an argument that stands for nothing, or for links that lead out.
    """
    return _all(args, _Wanted(POLICIES, excludes), refused)


def test_paths(args: Iterable[str], excludes: Callable[[str], bool], refused: Refused) -> list[str]:
    """Files of tests in the order of the arguments, each once: of a folder its `*_test.vgl`. Else as `policy_paths`."""
    return _all(args, _Wanted((TESTS,), excludes), refused)


def trace_paths(args: Iterable[str], *, definitions: bool = False, refused: Refused = None) -> list[str]:
    """Runs in the order of the arguments, each once. Of a folder the files in a format that is known, however deep.

    With `definitions` also tool definitions and signatures. Else as `policy_paths`.
    """
    return _all(args, _Wanted(RUNS, _none, definitions), refused)


def data_paths(args: Iterable[str]) -> list[str]:
    """Files of data in the order of the arguments, each once: of a folder all JSON, whatever it holds.

    Else as `policy_paths`.
    """
    return _all(args, _Wanted(DATA, _none, whatever=True), None)


def split(args: Iterable[str], excludes: Callable[[str], bool] = _none) -> tuple[list[str], list[str]]:
    """Policies and runs among mixed arguments: `*.vgl` and standard modules are policies, all else runs.

    Of a folder its tests are left out: they are no policies to judge by. Else as `policy_paths`.
    """
    found = _all(args, _Wanted(POLICIES + RUNS, lambda path: path.endswith(TESTS) or excludes(path)), None)
    policies = [path for path in found if path.endswith(POLICIES) or _is_module(path)]
    return policies, [path for path in found if path not in set(policies)]


class _Wanted(Mutable):
    """The files that are taken of a folder: those whose names end so, and that are not excluded.

    `refused` tells of links out of the project; `passed_over` counts them and what is excluded.
    """

    suffixes: tuple[str, ...]
    excludes: Callable[[str], bool]
    definitions: bool = False
    whatever: bool = False
    """Whether a file is taken whatever it holds."""
    refused: list[Diagnostic] = field(default_factory=list)
    passed_over: int = 0

    def takes(self, path: str, root: Path) -> bool:
        """Whether a file that was found may be read; what lies elsewhere must not seem to be clean, so it is told."""
        excluded = self.excludes(path)
        if not excluded and not leads_out(path, root):
            return True
        self.passed_over += 1
        if not excluded and len(self.refused) < _TOLD:
            message = "the link leads out of the project: it is followed only where the command line names it"
            self.refused.append(Diagnostic.of("VGL001", message, Source(path, "")))
        return False

    @property
    def noun(self) -> str:
        nouns = {
            POLICIES: "no policy (`*.vgl`)",
            RUNS: "no run in a known format",
            (TESTS,): "no tests (`*_test.vgl`)",
            DATA: "no JSON",
        }
        return nouns.get(self.suffixes, "no policy and no run")


def _all(args: Iterable[str], wanted: _Wanted, refused: Refused) -> list[str]:
    found = _once(path for arg in args for path in _expand(arg, wanted))
    if wanted.refused and refused is None:
        raise InputError(wanted.refused)
    if refused is not None:
        refused += wanted.refused
    inputs.note(*found)
    return found


def _expand(arg: str, wanted: _Wanted) -> Iterable[str]:
    if arg == "-" or (".vgl" in wanted.suffixes and _is_module(arg)):
        return [arg]
    if "\0" in arg:
        raise _nothing(arg, "a path cannot hold a NUL character")
    before = wanted.passed_over
    if arg and Path(arg).is_dir():
        found = list(_below(arg, wanted, _root(arg)))
        if not found and wanted.passed_over == before:
            raise _nothing(arg, f"{wanted.noun} in `{arg}`")
        return found
    if os.path.lexists(arg):
        return [arg]
    if glob.has_magic(arg):
        # A quoted pattern means what a shell would have made of it, save that it follows no link out of the project.
        from vigil_lang.base.wildcards import MAX_LOOKED_AT, TooManyNames, matching

        try:
            matched = matching(arg)
        except TooManyNames:
            message = f"`{arg}` looks at more than {MAX_LOOKED_AT:,} files and folders"
            raise InputError([Diagnostic.of("VGL003", message, Source(arg, ""))]) from None
        if not matched:
            raise _nothing(arg, f"nothing matches `{arg}`")
        root = _root(parted(arg)[0] or ".")
        found = [path for match in matched for path in _matched(match, wanted, root)]
        if not found and wanted.passed_over == before:
            raise _nothing(arg, f"nothing that matches `{arg}` is a file")
        return found
    raise _missing(arg)


def _root(folder: str) -> Path:
    return project_root(Path(real_path(folder)))


def _matched(match: str, wanted: _Wanted, root: Path) -> Iterable[str]:
    if not wanted.takes(match, root):
        return ()
    return _below(match, wanted, root) if Path(match).is_dir() else (match,)


def _below(folder: str, wanted: _Wanted, root: Path) -> Iterator[str]:
    """Files below a folder in a fixed order; what is hidden is skipped, and links to folders are not followed.

    Raises:
        InputError: VGL001 where a folder cannot be read.
    """

    def give_up(error: OSError) -> None:
        reason = (error.strerror or str(error)).lower()
        raise _nothing(folder, f"cannot read `{error.filename or folder}`: {reason}")

    for place, folders, names in os.walk(folder, onerror=give_up):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = os.path.join(place, name)  # noqa: PTH118 - keeps `./` as it was typed
            if not name.endswith(wanted.suffixes) or name.startswith("."):
                continue
            if not wanted.takes(path, root) or waits(path):
                continue
            if wanted.whatever or name.endswith(POLICIES) or _is_meant(path, definitions=wanted.definitions):
                yield path


def parted(pattern: str) -> tuple[str, list[str]]:
    """A glob's plain beginning, which all it stands for is or lies below, and its parts from the first magic one on."""
    parts = (pattern.replace(os.sep, "/") if os.sep == "\\" else pattern).split("/")
    plain = list(takewhile(lambda part: not glob.has_magic(_SPELLED_OUT.sub("", part)), parts))
    start = "/" if plain == [""] else _SPELLED_OUT.sub(r"\1", "/".join(plain))
    return start, parts[len(plain) :]


def _is_meant(path: str, *, definitions: bool) -> bool:
    """Whether a file that nobody named is a run: what else lies in a folder is passed over."""
    from vigil_lang.runs import is_run

    if definitions and path.endswith(".json"):
        from vigil_lang.signatures import is_definition

        return is_definition(path) or is_run(path)
    return is_run(path)


def _once(paths: Iterable[str]) -> list[str]:
    """The paths without those that name a file again; the file itself rather than a link to it."""
    by_file: dict[str, str] = {}
    for path in paths:
        file = path if path == "-" else real_path(path)
        if file not in by_file or (os.path.islink(by_file[file]) and not os.path.islink(path)):  # noqa: PTH114
            by_file[file] = path
    return list(by_file.values())


def _is_module(arg: str) -> bool:
    if not arg.startswith("std."):
        return False
    from vigil_lang.semantics.modules import is_standard

    return is_standard(arg)


def _missing(arg: str) -> InputError:
    if arg.startswith("std."):
        from vigil_lang.semantics.modules import standard_modules

        near = nearest(arg, standard_modules(), 1)
        message = f"there is no standard module `{arg}`"
    else:
        place = arg[: arg.rfind("/") + 1]
        near = [place + name for name in nearest(arg[len(place) :], _names(place or "."), 1)]
        message = f"there is no file or folder `{arg}`"
    return _nothing(arg, message, f"did you mean `{near[0]}`?" if near else None)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names, not paths
    except OSError:
        return []


def _nothing(arg: str, message: str, help_text: str | None = None) -> InputError:
    return InputError([Diagnostic.of("VGL001", message, Source(arg, ""), help=help_text)])

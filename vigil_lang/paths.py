"""What paths that a person names stand for: files, folders, globs, standard input, standard modules."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import Diagnostic, InputError, Source, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

POLICIES = (".vgl",)
TESTS = "_test.vgl"
RUNS = (".jsonl", ".json", ".txt", ".traj", ".eval", ".log", ".gz")


def policy_paths(args: Iterable[str]) -> list[str]:
    """Policies in the order of the arguments, each once. Of a folder its `*.vgl`, however deep.

    Raises:
        InputError: VGL001 for an argument that stands for nothing.
    """
    return _once(path for arg in args for path in _expand(arg, POLICIES))


def test_paths(args: Iterable[str]) -> list[str]:
    """Files of tests in the order of the arguments, each once. Of a folder its `*_test.vgl`, however deep.

    Raises:
        InputError: VGL001 for an argument that stands for nothing.
    """
    return _once(path for arg in args for path in _expand(arg, (TESTS,)))


def trace_paths(args: Iterable[str], *, definitions: bool = False) -> list[str]:
    """Runs in the order of the arguments, each once. Of a folder the files in a format that is known, however deep.

    With `definitions` also tool definitions and signatures.

    Raises:
        InputError: VGL001 for an argument that stands for nothing.
    """
    return _once(path for arg in args for path in _expand(arg, RUNS, definitions=definitions))


def split(args: Iterable[str]) -> tuple[list[str], list[str]]:
    """Policies and runs among mixed arguments: `*.vgl` and standard modules are policies, all else runs.

    Of a folder its tests are left out: they are no policies to judge by.

    Raises:
        InputError: VGL001 for an argument that stands for nothing.
    """
    found = _once(path for arg in args for path in _expand(arg, POLICIES + RUNS) if path == arg or not _tests(path))
    policies = [path for path in found if path.endswith(POLICIES) or _is_module(path)]
    return policies, [path for path in found if path not in set(policies)]


def _expand(arg: str, suffixes: tuple[str, ...], *, definitions: bool = False) -> Sequence[str]:
    if arg == "-" or (".vgl" in suffixes and _is_module(arg)):
        return [arg]
    if "\0" in arg:
        raise _nothing(arg, "a path cannot hold a NUL character")
    if arg and Path(arg).is_dir():
        found = list(_below(arg, suffixes, definitions=definitions))
        if not found:
            wanted = {
                POLICIES: "no policy (`*.vgl`)",
                RUNS: "no run in a known format",
                (TESTS,): "no tests (`*_test.vgl`)",
            }
            raise _nothing(arg, f"{wanted.get(suffixes, 'no policy and no run')} in `{arg}`")
        return found
    if os.path.lexists(arg):
        return [arg]
    if glob.has_magic(arg):
        # A quoted pattern means what a shell would have made of it: what it matches counts as named.
        from vigil_lang.wildcards import MAX_LOOKED_AT, TooManyNames, matching

        try:
            matched = matching(arg)
        except TooManyNames:
            message = f"`{arg}` looks at more than {MAX_LOOKED_AT:,} files and folders"
            raise InputError([Diagnostic.of("VGL003", message, Source(arg, ""))]) from None
        if not matched:
            raise _nothing(arg, f"nothing matches `{arg}`")
        files = [
            path
            for match in matched
            for path in (_below(match, suffixes, definitions=definitions) if Path(match).is_dir() else [match])
        ]
        if not files:
            raise _nothing(arg, f"nothing that matches `{arg}` is a file")
        return files
    raise _missing(arg)


def _below(folder: str, suffixes: tuple[str, ...], *, definitions: bool) -> Iterator[str]:
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
            if not name.endswith(suffixes) or name.startswith("."):
                continue
            if waits(path):
                continue
            if name.endswith(POLICIES) or _is_meant(path, definitions=definitions):
                yield path


def waits(path: str) -> bool:
    """Whether a path is that of a pipe or a device, which could make us wait for ever."""
    return os.path.exists(path) and not os.path.isfile(path)  # noqa: PTH110, PTH113 - texts


def _is_meant(path: str, *, definitions: bool) -> bool:
    """Whether a file that nobody named is a run: what else lies in a folder is passed over."""
    from vigil_lang.runs import is_run

    if definitions and path.endswith(".json"):
        from vigil_lang.signatures import is_definition

        return is_definition(path) or is_run(path)
    return is_run(path)


def _tests(path: str) -> bool:
    return path.endswith(TESTS)


def _once(paths: Iterable[str]) -> list[str]:
    """The paths without those that name a file again."""
    by_file: dict[str, str] = {}
    for path in paths:
        by_file.setdefault(path if path == "-" else os.path.realpath(path), path)
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

"""Processes of this program's own: they import what this one may, and nothing from the folder they are started in.

Whoever reads a checkout stands in it, and a `json.py` there is not ours to run. Besides,
`abstraction/probe.py` and `gate/authority/keys.py` start programs that are not ours.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import ProcessPoolExecutor

_RUN = (
    "import sys; sys.path[:] = sys.argv.pop(1).split('\\n'); import runpy; "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)


def import_path() -> list[str]:
    """`sys.path` without what is relative and the working directory, unless this program itself lies there."""
    try:
        here = os.path.realpath(os.getcwd())  # noqa: PTH109 - texts: this runs before anything is imported
    except OSError:  # it is gone, and nothing is in it
        here = ""
    ours = os.path.realpath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))  # noqa: PTH118, PTH120
    return [p for p in sys.path if os.path.isabs(p) and (here == ours or os.path.realpath(p) != here)]  # noqa: PTH117


def command(module: str) -> list[str]:
    """The command line that runs a module as a program, with what this process may import."""
    return [sys.executable, "-I", "-c", _RUN, "\n".join(import_path()), module]


def can_spawn() -> bool:
    """Whether `spawned` works: not where Python was told to ignore its environment, and only that."""
    return sys.flags.safe_path or not sys.flags.ignore_environment


def processors() -> int:
    """How many processes can work at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def spawned(jobs: int, begin: Callable[..., None], *given: object) -> Iterator[ProcessPoolExecutor]:
    """Processes, each of which begins with what is given, and imports nothing from the working directory."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    context = get_context("spawn")  # the same everywhere; a process that has threads cannot be forked safely
    with _importing_nothing_here(), ProcessPoolExecutor(jobs, context, begin, given) as pool:
        yield pool


@contextmanager
def _importing_nothing_here() -> Iterator[None]:
    """Within it, `multiprocessing` spawns processes that import nothing from the working directory.

    They run `python -c`, which by itself looks there first.
    """
    names = ("PYTHONSAFEPATH", "PYTHONPATH")
    before = {name: os.environ.get(name) for name in names}
    os.environ["PYTHONSAFEPATH"] = "1"
    os.environ["PYTHONPATH"] = os.pathsep.join(import_path())
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

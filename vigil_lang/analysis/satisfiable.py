"""Whether some event can meet a condition, decided by the solver."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from vigil_lang.analysis.witness import obviously_satisfiable
from vigil_lang.semantics import core

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_TESTS: Final = 400
"""Tests in a condition, beyond which it is not put to the solver."""

_HEAD: Final = (
    "(set-option :produce-unsat-cores true)",
    "(set-option :smt.core.minimize true)",
    # A count of Z3's steps, so that the answer does not depend on how busy the machine is. SMT-LIB's name for it, as
    # what is set by Z3's own, `:rlimit`, binds every other script of the process too.
    "(set-option :reproducible-resource-limit 200000)",
)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Why conjuncts cannot hold together: the positions of a smallest set of them that no event meets.

    With `only_lists`, an event whose arguments are lists may still meet them.
    """

    conjuncts: tuple[int, ...]
    only_lists: bool = False


def contradiction(conjuncts: Sequence[core.Condition]) -> Contradiction | None:
    """What keeps the conjuncts from holding of one event under one binding.

    None when nothing does, and when the solver gives up: a contradiction is claimed only where it is certain.
    """
    return _contradiction(tuple(conjuncts))


@lru_cache(maxsize=2048)  # an editor asks again after every keystroke, and little has changed
def _contradiction(conjuncts: tuple[core.Condition, ...]) -> Contradiction | None:
    whole = core.AndC(conjuncts)
    if obviously_satisfiable(whole) or len(core.tests(whole)) > MAX_TESTS:
        return None
    single = _core(conjuncts, lists=False)
    if not isinstance(single, tuple):
        return None
    listed = _core(conjuncts, lists=True)
    if isinstance(listed, tuple):
        return Contradiction(listed)
    return Contradiction(single, only_lists=True) if listed == "sat" else None


def _core(conjuncts: Sequence[core.Condition], *, lists: bool) -> tuple[int, ...] | str:
    """The positions of an unsatisfiable core; where it is none, what Z3 says instead, `sat` or `unknown`."""
    from vigil_lang.engines.smt.event import meeting
    from vigil_lang.engines.smt.solve import answer_and_core

    lines = meeting(conjuncts, lists=lists)
    if lines is None:
        return "unknown"
    answer, names = answer_and_core([*_HEAD, *lines])
    return tuple(sorted(int(name[1:]) for name in names)) if answer == "unsat" else answer

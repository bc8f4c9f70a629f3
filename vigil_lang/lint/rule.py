"""What a rule is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.lint.subject import Subject


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing to look for.

    `codes` are those its findings have; severity and summary of each are in `diagnostics/codes.py`, its page in
    `docs/codes/`, its cases in `tests/lint/rules/`. `basic` rules are part of `vigil check`. `local`: what it finds in
    a policy is what it finds at each statement, declaration and rule of it alone, which rests on that item and what it
    names (`memory.py`).
    """

    codes: tuple[str, ...]
    find: Callable[[Subject], Iterable[Diagnostic]]
    basic: bool = False
    local: bool = False

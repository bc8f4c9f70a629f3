"""The one list of rules."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vigil_lang.lint.rule import Rule

_BASIC = ("lone_variable", "contradiction", "duplicate", "placeholder", "unknown_kind", "signature")
_FURTHER = ("extension",)


@cache
def basic_rules() -> tuple[Rule, ...]:
    """The rules of `vigil check`."""
    return tuple(map(_rule, _BASIC))


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order they are run."""
    return (*basic_rules(), *map(_rule, _FURTHER))


def _rule(name: str) -> Rule:
    rule: Rule = import_module(f"vigil_lang.lint.rules.{name}").RULE
    return rule

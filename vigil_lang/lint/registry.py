"""The one list of rules."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vigil_lang.lint.rule import Rule

_BASIC = (
    "lone_variable",
    "alike_variables",
    "contradiction",
    "duplicate",
    "placeholder",
    "unknown_kind",
    "signature",
    "tests",
)
_FURTHER = (
    "extension",
    # forms
    "self_guard",
    "restless_response",
    "forbidden_resolver",
    "unbreakable",
    "two_actions",
    "implied",
    # conditions and the texts in them
    "tautology",
    "redundant",
    "empty_regex",
    "word_boundary",
    "plain_glob",
    "relative_path",
    "any_text",
    "operator_in_text",
    "confusable",
    # held against runs
    "idle_bound",
    "benign",
    "unexercised",
    # against the cited document
    "limiting_word",
    "named_value",
    "temporal_word",
    "missing_sentence",
    "unread_document",
    "weakened",
    # house style
    "naming",
    "documented",
    "sourced",
    "order",
)


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

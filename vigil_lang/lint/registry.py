"""The one list of rules: the codes of each, and the function that finds them."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from vigil_lang.lint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vigil_lang.diagnostics import Diagnostic
    from vigil_lang.lint.subject import Subject
    from vigil_lang.semantics.lower import Statement

_BASIC = {
    "VGL301": "rules.lone_variable",
    "VGL325": "rules.alike_variables",
    "VGL326": "rules.variable_as_argument",
    "VGL302": "rules.contradiction",
    "VGL304": "rules.duplicate",
    "VGL307": "rules.placeholder",
    "VGL308": "rules.unknown_kind",
    "VGL401 VGL402 VGL403 VGL404 VGL405 VGL406 VGL407 VGL408 VGL409": "signature.against",
    "VGL610": "rules.unrunnable_test",
}
_FURTHER = {
    "VGL501": "rules.extension",
    # forms
    "VGL311": "rules.self_guard",
    "VGL312": "rules.self_triggering_response",
    "VGL313": "rules.forbidden_resolver",
    "VGL314": "rules.unbreakable",
    "VGL315": "rules.two_actions",
    "VGL322": "rules.implied_statement",
    "VGL327": "rules.unpreventable_violation",
    "VGL333": "rules.no_way",
    "VGL335": "rules.nearly_any_event",
    "VGL336": "rules.let_through",
    # rules of a gate
    "VGL351": "rules.idle_rule",
    "VGL352 VGL353": "rules.relaxed_names",
    # conditions and the texts in them
    "VGL309": "rules.tautology",
    "VGL310": "rules.redundant",
    "VGL316": "rules.empty_regex",
    "VGL317": "rules.word_boundary",
    "VGL318": "rules.glob_without_wildcard",
    "VGL319": "rules.relative_path",
    "VGL323": "rules.matches_anything",
    "VGL324": "rules.operator_in_text",
    "VGL329": "rules.regex_in_glob",
    "VGL330": "rules.role_values",
    "VGL334": "rules.role_by_another_name",
    "VGL708": "rules.confusable",
    # held against runs
    "VGL321": "rules.unreached_bound",
    "VGL331": "rules.broken_by_benign_runs",
    "VGL332": "rules.unexercised",
    # against the cited document
    "VGL701": "source.limiting_words",
    "VGL702": "source.named_values",
    "VGL703": "source.temporal_order",
    "VGL704": "source.missing_sentence",
    "VGL705": "source.unread_document",
    "VGL707": "source.weakened_obligation",
    # house style
    "VGL801": "rules.house_style:misnamed",
    "VGL802": "rules.house_style:undocumented",
    "VGL803": "rules.house_style:unsourced",
    "VGL804": "rules.house_style:misordered",
    "VGL328": "rules.value_no_view_gives",
}
"""Codes and modules; a module that holds several rules is followed by the function's name."""


_IN_TIME = re.compile(r"\b(?:before|after|prior|following|once|until|ahead)\b", re.IGNORECASE)

_LOCAL = frozenset(
    {
        "VGL302", "VGL307", "VGL308", "VGL309", "VGL310", "VGL311", "VGL312", "VGL313", "VGL314", "VGL315", "VGL316",
        "VGL317", "VGL318", "VGL319", "VGL323", "VGL324", "VGL325", "VGL326", "VGL327", "VGL328", "VGL329", "VGL330",
        "VGL334", "VGL335", "VGL336", "VGL701", "VGL703",
        "VGL401 VGL402 VGL403 VGL404 VGL405 VGL406 VGL407 VGL408 VGL409",
    }
)  # fmt: skip
"""The rules that look at one item alone."""


@cache
def basic_rules() -> tuple[Rule, ...]:
    """The rules of `vigil check`."""
    return tuple(_rule(codes, place, basic=True) for codes, place in _BASIC.items())


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order they are run."""
    return (*basic_rules(), *(_rule(codes, place, basic=False) for codes, place in _FURTHER.items()))


def _rule(codes: str, place: str, *, basic: bool) -> Rule:
    if codes == "VGL703":
        find = _where(lambda subject: any(map(_tells_of_time, subject.policy.statements)), place)
    elif place.startswith("source."):
        find = _where(lambda subject: any(s.metadata.cites for s in subject.policy.statements), place)
    elif place.startswith("signature."):
        find = _where(lambda subject: subject.signature is not None, place)
    else:
        find = _imported(place)
    return Rule(tuple(codes.split()), find, basic, codes in _LOCAL)


def _tells_of_time(statement: Statement) -> bool:
    """Whether a statement cites a sentence, or its documentation may tell of an order."""
    return bool(statement.metadata.cites) or _IN_TIME.search(statement.metadata.doc or "") is not None


def _where(needed: Callable[[Subject], bool], place: str) -> Callable[[Subject], Iterable[Diagnostic]]:
    """A rule that is imported only for what it applies to: it takes a while."""
    return lambda subject: _imported(place)(subject) if needed(subject) else ()


def _imported(place: str) -> Callable[[Subject], Iterable[Diagnostic]]:
    module, _, name = place.partition(":")
    find: Callable[[Subject], Iterable[Diagnostic]] = getattr(
        import_module(f"vigil_lang.lint.{module}"), name or "find"
    )
    return find

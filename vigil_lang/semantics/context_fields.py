"""The fields of `context.`: what a rule of the gate may ask of the moment (spec 10.2)."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from vigil_lang.diagnostics import nearest
from vigil_lang.semantics import core
from vigil_lang.semantics.denotation import compare
from vigil_lang.trace.values import number

if TYPE_CHECKING:
    from collections.abc import Iterable

CONTEXT = "context."
"""What the names of fields begin with that speak of the moment, not of the call."""

VIOLATES = f"{CONTEXT}violates"
"""The field that `violates` reads: the names of the statements that the event at hand would violate."""

_OF_USER = f"{CONTEXT}user."
_TEXTS = frozenset({"agent", "user", "run", "host"})
_NUMBERS = {"tier": (0, 3), "hour": (0, 23), "calls": (0, 10**9)}
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAYS = tuple(day[:3] for day in DAYS)

FIELDS = tuple(f"{CONTEXT}{name}" for name in (*_NUMBERS, "weekday", *sorted(_TEXTS)))
"""The fields that the context always has; those of `context.user.` are the user's own."""


def is_known(field: str) -> bool:
    """Whether a field of the context may be there."""
    return field in FIELDS or (field.startswith(_OF_USER) and field != _OF_USER)


def suggestion(field: str) -> tuple[str, str | None]:
    """What helps where a field is unknown, and what was probably meant."""
    if field == VIOLATES:
        return "which statements a call would violate is asked by `violates NAME`", None
    near = nearest(field.removeprefix(CONTEXT), [known.removeprefix(CONTEXT) for known in FIELDS], 1)
    if near:
        return f"did you mean `{CONTEXT}{near[0]}`?", f"{CONTEXT}{near[0]}"
    return f"the context has {_listed(FIELDS)} and `{_OF_USER}…`", None


def never(test: core.Condition) -> str | None:
    """Why a test of a field of the context asks for what it never is; None where it may be so."""
    if not isinstance(test, core.In | core.Compares) or test.field.views:
        return None
    field, name = test.field.name, test.field.name.removeprefix(CONTEXT)
    if isinstance(test, core.Compares):
        if name in _TEXTS or name == "weekday":
            return f"`{field}` is text, and an order test needs a number"
        fits = name not in _NUMBERS or any(compare(Decimal(n), test.operator, test.number) for n in _NUMBERS[name])
        return None if fits else f"`{field}` is never {test.operator} {test.number}: {_range(name)}"
    odd = next((value for value in sorted(test.values) if not _may_be(name, value)), None)
    return None if odd is None else f"`{field}` is never `{odd}`: {_range(name)}"


def _may_be(name: str, value: str) -> bool:
    if name == "weekday":
        return value in _WEEKDAYS
    if name not in _NUMBERS:
        return True
    found = number(value)
    least, most = _NUMBERS[name]
    return found is not None and found == found.to_integral_value() and least <= found <= most


def _range(name: str) -> str:
    if name == "weekday":
        return f"it is one of {_listed(_WEEKDAYS)}"
    return "it is a whole number" if name == "calls" else f"it is a whole number from 0 to {_NUMBERS[name][1]}"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)

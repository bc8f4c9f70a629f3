"""Values that a program hands over, taken as what an argument takes or refused with its name.

Each function raises `TypeError` for a value of another type and `ValueError` for one that is of the type and yet none;
the message names the argument and says what it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

from vigil_lang.diagnostics.shorten import cut
from vigil_lang.diagnostics.visible import visible
from vigil_lang.trace.values import MAX_DEPTH, parse_time

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHOWN = 60


def text(value: object, name: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise TypeError(f"`{name}` takes a text, not {shown(value)}")
    return value


def named(value: object, name: str) -> str:
    """A text that is not empty."""
    if not text(value, name):
        raise ValueError(f"`{name}` takes a text that is not empty")
    return cast("str", value)


def flag(value: object, name: str) -> None:
    """See that a value is a boolean: any other would count as one."""
    if not isinstance(value, bool):
        raise TypeError(f"`{name}` takes a boolean, not {shown(value)}")


def count(value: object, name: str) -> None:
    """See that a value is a number of things."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"`{name}` takes an int, not {shown(value)}")
    if value < 0:
        raise ValueError(f"`{name}` takes an int that is not negative, not {value}")


def one_of(value: object, name: str, choices: Sequence[str]) -> str:
    """One of some texts."""
    if not isinstance(value, str) or value not in choices:
        message = f"`{name}` takes {', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}, not {shown(value)}"
        raise ValueError(message) if isinstance(value, str) else TypeError(message)
    return value


def several(values: object, name: str, what: str) -> Iterable[Any]:
    """An iterable other than a text, which is one of characters, and a mapping, which is one of names."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise TypeError(f"`{name}` takes {what}, not {shown(values)}")
    return values


def texts(values: object, name: str) -> tuple[str, ...]:
    """An iterable of texts that are not empty."""
    return tuple(named(value, name) for value in several(values, name, "an iterable of texts, as a list"))


def members(values: object, name: str) -> dict[str, Any]:
    """A mapping of names to values as JSON has them."""
    if not isinstance(values, Mapping):
        raise TypeError(f"`{name}` takes a mapping of names to values as JSON has them, not {shown(values)}")
    found: dict[str, Any] = _json(values, name, 0)
    return found


def moment(value: object, name: str) -> int | None:
    """A time in microseconds since 1970 (UTC), from a datetime, an ISO 8601 text or seconds since 1970."""
    what = "a datetime, an ISO 8601 text or seconds since 1970"
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, datetime | str | int | float | Decimal):
        raise TypeError(f"`{name}` takes {what}, not {shown(value)}")
    found = parse_time(value.isoformat() if isinstance(value, datetime) else value)
    if found is None:
        raise ValueError(f"`{name}` takes {what}, not {shown(value)}")
    return found


def shown(value: object) -> str:
    """A value for a message: short, and without anything that a terminal obeys."""
    if isinstance(value, str | bytes | float | Decimal | None):
        some = cut(value, _SHOWN) if isinstance(value, str) else value[:_SHOWN] if isinstance(value, bytes) else value
        whole = repr(some)
        return visible(cut(whole, _SHOWN))
    if isinstance(value, int):
        return "a very large int" if value.bit_length() > _SHOWN else repr(value)
    return f"a {type(value).__name__}"


def _json(value: object, place: str, depth: int) -> Any:
    """A value as JSON gives it; `place` is what messages call it."""
    if depth > MAX_DEPTH:
        raise ValueError(f"`{place[:_SHOWN]}…` is nested more than {MAX_DEPTH} deep")
    match value:
        case None | bool() | int() | str():
            return value
        case float() | Decimal():
            number = value if isinstance(value, Decimal) else Decimal(repr(value))
            if not number.is_finite():
                raise ValueError(f"`{place}` takes a finite number, not {shown(value)}")
            return number
        case list() | tuple():
            return [_json(item, f"{place}[{at}]", depth + 1) for at, item in enumerate(value)]
        case Mapping():
            return {
                text(key, f"{place}: a name"): _json(item, _inner(place, key), depth + 1) for key, item in value.items()
            }
    what = "a text, a number, a boolean, None, a list or a mapping"
    raise TypeError(f"`{place}` takes {what}, not {shown(value)}")


def _inner(place: str, key: object) -> str:
    return f"{place}[{shown(key)}]"

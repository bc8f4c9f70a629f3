"""JSON as signed and logged forms need it: one reading of every text, or none."""

from __future__ import annotations

import json
from typing import NoReturn


class Malformed(ValueError):
    """A text is not what it has to be; the message says why, without quoting more of it than a member's name."""


def read_json(data: bytes, limit: int) -> object:
    """The value that UTF-8 bytes hold. Its numbers are integers.

    Raises:
        Malformed: there are more than `limit` bytes; it is no UTF-8 or JSON, or opens with a byte order mark; an object
            has a member twice; a number is no integer; half of a character; it is nested too deeply.
    """
    if len(data) > limit:
        raise Malformed(f"it has more than {limit:,} bytes")
    try:
        text = data.decode("utf-8")
        value: object = json.loads(
            text, object_pairs_hook=_members, parse_float=_no_integer, parse_constant=_no_integer
        )
    except Malformed:
        raise
    except UnicodeDecodeError:
        raise Malformed("it is not UTF-8 text") from None
    except RecursionError:
        raise Malformed("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise Malformed(f"it is no JSON: {error.msg.lower()} at line {error.lineno}, column {error.colno}") from None
    except ValueError:
        raise Malformed("a number has too many digits") from None
    if "\\u" in text:  # the only way to half of a character
        _refuse_halves(value)
    return value


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise Malformed(f"the member `{name[:40]}` stands twice")
        found[name] = value
    return found


def _no_integer(_: str) -> NoReturn:
    raise Malformed("a number is no integer")


def _refuse_halves(value: object) -> None:
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str(text) if any("\ud800" <= letter <= "\udfff" for letter in text):
                raise Malformed("a text has half of a character")
            case list(items):
                waiting += items
            case dict(members):
                waiting += [*members, *members.values()]
            case _:
                pass

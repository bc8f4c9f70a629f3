"""Views of a field: total, deterministic functions on its texts, worked out before a test (spec 7.12).

A text on which a view is not defined (no URL has no host, no JSON has no members) gives no text.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import msgspec

from vigil_lang.base.recent import Recent
from vigil_lang.diagnostics import Diagnostic, Source, TooCostly
from vigil_lang.patterns import regex
from vigil_lang.semantics.text_patterns import finder
from vigil_lang.trace.values import canonical, flatten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.semantics.core import View

VIEWS: Final[dict[str, str]] = {
    "lower": "nothing",
    "host": "nothing",
    "base": "nothing",
    "dir": "nothing",
    "ext": "nothing",
    "length": "nothing",
    "count": "nothing",
    "json": "path",
    "find": "expression",
    "without": "expression",
}
"""The views of the language, and what each takes between its brackets."""

MAX_TEXTS: Final = 10_000
"""Texts that a view may make of one."""

MAX_TEXT: Final = 16_000_000
"""Characters of a text that `json` looks into."""

MAX_SEARCHED: Final = 1_000_000
"""Characters of a text that `find` and `without` look into: each match may look at all that is left."""

_DECODER = msgspec.json.Decoder(float_hook=Decimal)
_ENCODER = msgspec.json.Encoder(decimal_format="number")

_REMEMBERED: Final = 2_000
_LONGEST_REMEMBERED: Final = 4_000

_SCHEME = regex(r"(?:https?|wss?|ftp):[/\\\\]*|(?:[A-Za-z][A-Za-z0-9+.-]*:)?[/\\\\]{2}", re.IGNORECASE | re.ASCII)
"""What stands before a host: browsers take backslashes for slashes, and do without those of the schemes they know.

A scheme is of ASCII letters: beyond ASCII, `İ` and `ſ` would count as an `i` and an `s` of either case.
"""
_PASSED_OVER = str.maketrans("", "", "\t\n\r")
_SCP = regex(r"(?:[^@/:\s]+@)([^:/\s]+):")
_MAIL = regex(r"[^@\s]+@([^@\s/:]+)")
_STEP = regex(r"\.?([^.\[\]]+)|\[(\*|[0-9]{1,9})\]|\[\"((?:[^\"\\]|\\.)*)\"\]")


class BadView(ValueError):
    """A view's argument has no meaning."""


_known: Recent[tuple[View, str], tuple[str, ...]] = Recent(_REMEMBERED)


def viewed(views: Sequence[View], texts: tuple[str, ...]) -> tuple[str, ...]:
    """A field's texts through its views, from left to right.

    Raises:
        TooCostly: a text is longer, or gives more texts, than a view looks at: nothing can be said of its event.
    """
    for view in views:
        if view.name == "count":
            texts = (str(len(texts)),)
            continue
        found: list[str] = []
        for text in texts:
            found += _seen(view, text)
        if len(found) > MAX_TEXTS:
            raise _too_many(view.name)
        texts = tuple(found)
    return texts


def gives(view: str, text: str) -> bool:
    """Whether a view may make a text of some text; true where that rests on what the view takes."""
    match view:
        case "lower":
            return text == text.lower()
        case "length" | "count":
            return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")
        case "host":
            return text in (_host(f"https://{text}/"), _host(f"https://[{text}]/"))
        case "base":
            return "/" not in text and "\\" not in text
        case "dir":
            return text == "/" or not (text.endswith("/") or "\\" in text)
        case "ext":
            return not any(mark in text for mark in "./\\")
        case _:
            return True


def _seen(view: View, text: str) -> tuple[str, ...]:
    if len(text) > _LONGEST_REMEMBERED:
        return _worked_out(view, text)
    found = _known.get((view, text))
    if found is None:
        found = _worked_out(view, text)
        _known.put((view, text), found)
    return found


def _worked_out(view: View, text: str) -> tuple[str, ...]:
    match view.name:
        case "lower":
            return (text.lower(),)
        case "length":
            return (str(len(text)),)
        case "host":
            host = _host(text)
            return () if host is None else (host,)
        case "base":
            return (text.rstrip("/\\").replace("\\", "/").rpartition("/")[2],)
        case "dir":
            return (_directory(text),)
        case "ext":
            stem, dot, extension = text.replace("\\", "/").rpartition("/")[2].rpartition(".")
            return (extension,) if dot and stem else ()
        case "find" | "without" if len(text) > MAX_SEARCHED:
            raise _refused(f"`{view.name}` looks at texts of at most {MAX_SEARCHED:,} characters")
        case "json" | "member" if len(text) > MAX_TEXT:
            raise _refused(f"`{view.name}` looks at texts of at most {MAX_TEXT:,} characters")
        case "json":
            return tuple(_selected(text, view.path))
        case "member":
            return (members(text) or {}).get(view.path, ())
        case "find":
            assert view.expression is not None
            return tuple(_matches(finder(view.expression), text))
        case _:
            assert view.expression is not None
            left, matches = finder(view.expression).subn("", text, MAX_TEXTS + 1)
            if matches > MAX_TEXTS:
                raise _too_many("without")
            return (str(left),)


def _too_many(view: str) -> TooCostly:
    return _refused(f"`{view}` makes more than {MAX_TEXTS:,} values of what an event carries")


def _refused(why: str) -> TooCostly:
    return TooCostly([Diagnostic.of("VGL003", f"a run cannot be judged: {why}", Source("<run>", ""))])


def _host(text: str) -> str | None:
    """The host of a URL, of `user@host:path`, or of a mail address: in lower case, without a final dot."""
    text = text.translate(_PASSED_OVER).strip()
    scheme = _SCHEME.match(text)
    if scheme is not None:
        authority = re.split(r"[/?#\\]", text[scheme.end() :], maxsplit=1)[0].rpartition("@")[2]
        bracket = re.match(r"\[([^\]]*)\]", authority)
        host = bracket.group(1) if bracket else authority.partition(":")[0]
    elif (found := _SCP.match(text)) or (found := _MAIL.fullmatch(text)):
        host = found.group(1)
    else:
        return None
    return host.rstrip(".").lower() or None


def _directory(text: str) -> str:
    plain = text.replace("\\", "/")
    folder = plain.rstrip("/").rpartition("/")[0]
    return folder or ("/" if plain.startswith("/") else ".")


def _matches(expression: Any, text: str) -> Iterator[str]:
    """Each match, or what its first group holds where it has one."""
    group = 1 if expression.groups else 0
    for number, match in enumerate(expression.finditer(text)):
        if number >= MAX_TEXTS:
            raise _too_many("find")
        found = match.group(group)
        if found is not None:
            yield found


# --- JSON --------------------------------------------------------------------------------------------------


def path_steps(path: str) -> list[str | int | None]:
    """The steps of a path such as `fields[*].name`: a member's name, a place in a list, None for every place.

    Raises:
        BadView: it is none.
    """
    steps: list[str | int | None] = []
    at = 0
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None or (step.group(1) is not None and (path[at] == ".") != bool(steps)):
            raise BadView(f"`{path}` is no path: write members and places, as in `total` or `items[*].price`")
        name, place, quoted = step.groups()
        if name is not None:
            steps.append(name)
        elif quoted is not None:
            try:
                steps.append(msgspec.json.decode(f'"{quoted}"', type=str))
            except (msgspec.DecodeError, UnicodeEncodeError):
                raise BadView(f'`"{quoted}"` is no JSON string') from None
        else:
            steps.append(None if place == "*" else int(place))
        at = step.end()
    return steps


def _parsed(text: str) -> list[Any]:
    """A text as JSON, alone in a list; nothing where it is none.

    Raises:
        TooCostly: it is nested so deeply that nobody reads it.
    """
    try:
        return [_DECODER.decode(text)]
    except RecursionError:
        raise _refused("`json` meets a text that is nested too deeply") from None
    except (msgspec.DecodeError, UnicodeEncodeError, ArithmeticError):
        return _parsed_leniently(text)


def _parsed_leniently(text: str) -> list[Any]:
    """What readers less strict take, too: half characters, numbers of any length, `NaN`, a mark of the byte order.

    One odd member must not hide the others.
    """
    try:
        return [
            json.loads(text.removeprefix("\ufeff"), parse_int=_number, parse_float=_number, parse_constant=_nothing)
        ]
    except RecursionError:
        raise _refused("`json` meets a text that is nested too deeply") from None
    except ValueError:
        return []


def _number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except ArithmeticError:
        raise _refused("`json` meets a number whose exponent is out of range") from None


def _nothing(_: str) -> None:
    return None


def _selected(text: str, path: str) -> Iterator[str]:
    found = _parsed(text)
    for step in path_steps(path):
        found = [inner for value in found for inner in _step(value, step)]
        if len(found) > MAX_TEXTS:
            raise _too_many("json")
    for value in found:
        for entry in value if isinstance(value, list) else [value]:
            if isinstance(entry, dict | list):
                yield _ENCODER.encode(entry).decode()
            elif entry is not None:
                yield canonical(entry)


def _step(value: Any, step: str | int | None) -> list[Any]:
    if isinstance(step, str):
        return [value[step]] if isinstance(value, dict) and step in value else []
    if not isinstance(value, list):
        return []
    if step is None:
        return value
    return [value[step]] if step < len(value) else []


def members(text: str) -> dict[str, tuple[str, ...]] | None:
    """The members of a JSON object as arguments; None where the text is no object.

    Raises:
        TooCostly: they are nested too deeply.
    """
    found = _parsed(text)
    if not found or not isinstance(found[0], dict):
        return None
    try:
        return flatten(found[0])
    except ValueError as error:
        raise _refused(str(error)) from None

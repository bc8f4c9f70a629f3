"""The arguments of a call as recordings hold them: an object, or a text that should be the JSON of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vigil_lang.ingest.json_text import REFUSED, decode
from vigil_lang.trace.values import flatten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.ingest.lines import Lines

_NESTED = frozenset({dict, list})


def arguments_of(
    lines: Lines, given: Any, place: str | Sequence[str | int] = (), name: str = "input"
) -> dict[str, Any]:
    """The arguments given as an object; anything else but null, as of a call cut short, is the one argument `name`.

    Raises:
        InputError: VGL601 at `place` for what is nested too deeply to be flattened.
    """
    args = given if type(given) is dict else {} if given is None else {name: given}
    if not _NESTED.isdisjoint(map(type, args.values())):
        try:
            flatten(args)
        except ValueError as error:
            raise lines.fault(str(error), place) from error
    return args


def decoded_arguments(
    lines: Lines, given: Any, place: str | Sequence[str | int] = (), name: str = "input"
) -> dict[str, Any]:
    """Arguments that are recorded as the text of a JSON object; a text that is none is the one argument `name`."""
    return arguments_of(lines, decoded(given), place, name)


def decoded(given: Any) -> Any:
    """The object whose JSON a text holds, None for an empty text; else what is given."""
    if not isinstance(given, str):
        return given
    try:
        value = decode(given.encode("utf-8", "replace")) if given.lstrip()[:1] == "{" else None
    except REFUSED:
        value = None
    return value if isinstance(value, dict) or not given.strip() else given

"""Texts that views are likely to make given texts of: how an event is guessed that meets tests of views (spec 7.12)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from vigil_lang.semantics import core
from vigil_lang.semantics.views import path_steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LONGEST: Final = 1_000


def preimages(wanted: Iterable[tuple[Sequence[core.View], str]]) -> list[str]:
    """Texts that may give each of some texts through its views, the likeliest first; guesses, to be checked."""
    found = list(dict.fromkeys([_preimage(views, text) for views, text in wanted]))
    if len(found) < 2:
        return found
    whole = _parsed(found[0])
    for text in found[1:]:
        whole = _joined(whole, _parsed(text))
    return [json.dumps(whole, ensure_ascii=False), *found] if isinstance(whole, dict | list) else found


def without_entries(condition: core.Condition) -> core.Condition:
    """A condition with tests of all entries in place of those of one: they hold where these do."""
    match condition:
        case core.AndC(items) | core.OrC(items):
            return replace(condition, items=tuple([without_entries(item) for item in items]))
        case core.NotC(body):
            return core.NotC(without_entries(body))
        case core.Entry(field, body):
            return core.mapped_tests(without_entries(body), lambda test: _of_member(test, field))
        case _:
            return condition


def _of_member(test: core.Test, entries: core.Reads) -> core.Test:
    if isinstance(test, core.ActionIn | core.ActionMatches | core.StatusIs):
        return test
    return replace(test, field=core.member_of(entries, test.field))


def _preimage(views: Sequence[core.View], text: str) -> str:
    for view in reversed(views):
        match view.name:
            case "host":
                text = f"https://{text}/"
            case "dir":
                text = f"{text}/a"
            case "ext":
                text = f"a.{text}"
            case "length":
                text = "a" * min(int(text), _LONGEST) if text.isdecimal() and len(text) < 9 else text
            case "json":
                value = _parsed(text)
                for step in reversed(path_steps(view.path)):
                    value = {step: value} if isinstance(step, str) else [*[None] * min(step or 0, _LONGEST), value]
                text = json.dumps(value, ensure_ascii=False)
            case "member":
                text = json.dumps({view.path: _parsed(text)}, ensure_ascii=False)
            case _:
                pass
    return text


def _parsed(text: str) -> Any:
    """An object or a list of the texts that are made here; of any other text, itself."""
    if text[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _joined(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        return one | {name: _joined(one[name], value) if name in one else value for name, value in other.items()}
    if isinstance(one, list) and isinstance(other, list):
        return [
            *(_joined(a, b) for a, b in zip(one, other, strict=False)),
            *max(one, other, key=len)[min(len(one), len(other)) :],
        ]
    return other if one is None else one

"""Signatures as JSON: ``{"schema": "vigil.signature/1", "origin": …, "actions": {…}}``, in a fixed order."""

from __future__ import annotations

import json
from typing import Any, get_args

from vigil_lang.diagnostics.secrets import masked_value, masked_words
from vigil_lang.trace.signature import Action, Argument, Origin, Signature, ValueType

SCHEMA = "vigil.signature/1"


def signature_to_json(signature: Signature, *, masked: bool = False) -> str:
    """The text of a signature file. Equal signatures have equal texts. `masked`: to be looked at, without secrets."""
    members: dict[str, Any] = {"schema": SCHEMA, "origin": signature.origin}
    members["actions"] = {name: _action(action, masked) for name, action in sorted(signature.actions.items())}
    if signature.outputs is not None:
        members["outputs"] = sorted(signature.outputs)
    return json.dumps(masked_value(members) if masked else members, ensure_ascii=False, indent=2) + "\n"


def _action(action: Action, masked: bool) -> dict[str, Any]:
    args = {name: _argument(name, argument, masked) for name, argument in sorted(action.args.items())}
    return {"kinds": sorted(action.kinds), "open": action.open, "args": args}


def _argument(name: str, argument: Argument, masked: bool) -> dict[str, Any]:
    values: list[str] | None = None if argument.values is None else sorted(argument.values)
    values = masked_words(name, values) if masked and values is not None else values
    return {"types": sorted(argument.types), "many": argument.many, "values": values}


def signature_from_json(value: Any) -> Signature:
    """The signature that the decoded content of a signature file stands for.

    Raises:
        ValueError: the content is no signature; the message says where, as a JSON pointer.
    """
    top = _object(value, "")
    if top.get("schema") != SCHEMA:
        raise ValueError(f"`/schema` must be `{SCHEMA}`")
    actions = {
        name: _read_action(action, _at("/actions", name))
        for name, action in _object(top.get("actions"), "/actions").items()
    }
    origin: Origin = _one_of(top.get("origin"), get_args(Origin), "/origin")
    return Signature(actions, origin, _texts(top.get("outputs"), "/outputs"))


def _read_action(value: Any, place: str) -> Action:
    members = _object(value, place)
    args = {
        name: _read_argument(argument, _at(f"{place}/args", name))
        for name, argument in _object(members.get("args", {}), f"{place}/args").items()
    }
    kinds = _texts(members.get("kinds", []), f"{place}/kinds") or frozenset()
    return Action(args, kinds, _bool(members.get("open", False), f"{place}/open"))


def _read_argument(value: Any, place: str) -> Argument:
    members = _object(value, place)
    known: tuple[ValueType, ...] = get_args(ValueType)
    named = _texts(members.get("types"), f"{place}/types")
    types = known if named is None else [_one_of(name, known, f"{place}/types") for name in named]
    many = _bool(members.get("many", False), f"{place}/many")
    return Argument(frozenset(types), many, _texts(members.get("values"), f"{place}/values"))


def _at(place: str, name: str) -> str:
    return f"{place}/{name.replace('~', '~0').replace('/', '~1')}"


def _object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"`{place or '/'}` must be an object")
    return value


def _bool(value: Any, place: str) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"`{place}` must be true or false")
    return value


def _texts(value: Any, place: str) -> frozenset[str] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"`{place}` must be a list of strings")
    return frozenset(value)


def _one_of(value: Any, allowed: tuple[Any, ...], place: str) -> Any:
    if value not in allowed:
        raise ValueError(f"`{place}` must be one of {', '.join(f'`{name}`' for name in allowed)}")
    return value

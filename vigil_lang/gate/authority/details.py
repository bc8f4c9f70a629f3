"""RFC 9396 `authorization_details` as the text of a grant."""

from __future__ import annotations

import re
from typing import NoReturn
from urllib.parse import urlsplit

from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.diagnostics.visible import visible
from vigil_lang.gate.strict_json import Malformed, read_json
from vigil_lang.semantics.text_patterns import quote

MAX_BYTES = 65_536
MAX_DETAILS = 100

_UNTOLD = frozenset({"datatypes", "identifier", "privileges"})
"""Members of the RFC that say nothing about the arguments of a call."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z0-9_]+)*")
_WILD = re.compile(r"[*\\\[\]\s]")


def grant_of_details(data: bytes, name: str) -> str:
    """The grant that `authorization_details` stand for: any call that one of them describes.

    `type` names a kind or action, and with `actions` the first part of its name: `file` with `read` is `file.read`.
    `locations` are the URLs of the call. Other members are arguments of the call, each with the text, whole number or
    truth value that it has to be, or a list of those that it may be.

    Raises:
        InputError: VGL641, they are no such details, or say what no condition on a call says. `name` is the file's.
    """
    try:
        value = read_json(data, MAX_BYTES)
    except Malformed as error:
        _refuse(name, f"{error}")
    details = [value] if isinstance(value, dict) else value
    if not isinstance(details, list) or not 1 <= len(details) <= MAX_DETAILS:
        _refuse(name, f"`authorization_details` are a JSON array of 1 to {MAX_DETAILS} objects")
    return " or ".join(_call(each, f"detail {place}", name) for place, each in enumerate(details, 1))


def _call(detail: object, which: str, name: str) -> str:
    kind = detail.get("type") if isinstance(detail, dict) else None
    if not isinstance(detail, dict) or not isinstance(kind, str) or not kind:
        _refuse(name, f"{which}: it is no object with a text `type`")
    for member in sorted(_UNTOLD & detail.keys()):
        help_text = "leave it out, or say by arguments what it means"
        _refuse(name, f"{which}: `{member}` says nothing about the arguments of a call", help_text)
    names = [f"{kind}.{action}" for action in _texts(detail, "actions", which, name)] or [kind]
    locations = [_location(text, which, name) for text in _texts(detail, "locations", which, name)]
    tests = [" or ".join(locations)] if locations else []
    for member, wanted in detail.items():
        if member not in ("type", "actions", "locations"):
            tests.append(_argument(member, wanted, which, name))
    return " or ".join(f"{_named(each)}({', '.join(tests)})" for each in names)


def _texts(detail: dict[str, object], member: str, which: str, name: str) -> list[str]:
    if member not in detail:
        return []
    found = detail[member]
    texts = [item for item in found if isinstance(item, str) and item] if isinstance(found, list) else []
    if not texts or texts != found:
        _refuse(name, f"{which}: `{member}` is a list of texts, and not empty")
    return texts


def _location(text: str, which: str, name: str) -> str:
    """A host with all that is below it, or one URL. A folder of a host is neither: `..` leads out of it."""
    try:
        parts = urlsplit(text)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
    except ValueError:
        whole = False
    if not whole or _WILD.search(text):
        _refuse(name, f"{which}: the location `{visible(text[:80])}` is no http or https URL without wildcards")
    if parts.path in ("", "/") and not parts.query and not parts.fragment:
        base = quote(f"{parts.scheme}://{parts.netloc}")
        return f'url = {base} or url ~ {base[:-1]}/*"'
    return f"url = {quote(text)}"


def _argument(member: str, wanted: object, which: str, name: str) -> str:
    field = _named(member)
    match wanted:
        case str() | bool() | int():
            return f"{field} = {_literal(wanted)}"
        case [_, *_] as items:
            values = [_literal(item) for item in items if isinstance(item, (str, int))]
            if len(values) == len(items):
                return f"{field} in {{{', '.join(values)}}}"
        case _:
            pass
    help_text = "write it as a condition, by --allow"
    _refuse(name, f"{which}: `{visible(member[:40])}` is neither a value nor a list of values", help_text)


def _literal(value: str | int) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return quote(value)


def _named(name: str) -> str:
    """A name that the language would read as one of its own words only where it has no dot is quoted."""
    return name if "." in name and _NAME.fullmatch(name) else quote(name)


def _refuse(name: str, message: str, help_text: str | None = None) -> NoReturn:
    raise InputError([Diagnostic.of("VGL641", message, Source(name, ""), help=help_text)]) from None

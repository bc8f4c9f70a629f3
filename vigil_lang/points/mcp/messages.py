"""JSON-RPC messages: read so that every reader takes them alike, and written on one line."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]
Id: TypeAlias = str | int

MAX_BYTES = 64_000_000
"""The size of the largest message; a longer one ends the connection that it comes from."""

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
CONNECTION_CLOSED = -32000

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"

_ENVELOPE = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
_PARAMS = frozenset({"name", "arguments", "_meta", "inputResponses", "requestState", "task"})


class Malformed(ValueError):
    """What came is no message; `code` is that of the error which answers it, `id` the id of its sender where known."""

    def __init__(self, message: str, code: int = INVALID_REQUEST, id: Id | None = None) -> None:  # noqa: A002
        super().__init__(message)
        self.code = code
        self.id = id


def read_message(data: bytes, *, strict: bool = True) -> Message:
    """A message from its line.

    With `strict`, as for what a client sends, it is refused where two readers could take it for different messages: a
    member stands twice, or is one of JSON-RPC but for its case.

    Raises:
        Malformed: it is no JSON, no single message of JSON-RPC, or ambiguous.
    """
    try:
        found = json.loads(
            data, object_pairs_hook=_unique if strict else None, parse_constant=_refused, parse_float=_finite
        )
    except Malformed:
        raise
    except (ValueError, RecursionError) as error:
        raise Malformed("Parse error", PARSE_ERROR) from error
    if not isinstance(found, dict):
        raise Malformed("a message is a JSON object; batches are not taken")
    return checked(found, strict=strict)


def checked(found: Message, *, strict: bool = True) -> Message:
    """A message that was decoded. Raises as `read_message`."""
    sender = found.get("id")
    known = sender if isinstance(sender, str | int) and not isinstance(sender, bool) else None
    if "id" in found and known is None and not ("error" in found and sender is None):
        raise Malformed("an id is a text or an integer")
    if strict:
        refuse_likeness(found, _ENVELOPE, known)
    if "method" in found:
        if not isinstance(found["method"], str):
            raise Malformed("a method is a text", id=known)
        if not isinstance(found.get("params", {}), dict):
            raise Malformed("params are an object", INVALID_PARAMS, known)
        if strict and found["method"] == "tools/call":
            refuse_likeness(found.get("params", {}), _PARAMS, known)
    elif "id" not in found or ("result" in found) == ("error" in found):
        raise Malformed("neither a request, a notification nor a response", id=known)
    return found


def refuse_likeness(found: Message, known: frozenset[str], sender: Id | None) -> None:
    """Refuse members that differ from known ones in their case alone: some readers take them for those.

    Raises:
        Malformed: there is one.
    """
    for name in found:
        if name not in known and name.casefold() in _folded(known):
            raise Malformed(f"the member {name[:40]!r} is one of the protocol's but for its case", id=sender)


def _folded(names: frozenset[str]) -> frozenset[str]:
    return frozenset(name.casefold() for name in names)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Malformed("a member stands twice in one object")
    return found


def _refused(text: str) -> object:
    raise Malformed(f"{text} is no number of JSON", PARSE_ERROR)


def _finite(text: str) -> float:
    found = float(text)
    if found in (float("inf"), float("-inf")):
        raise Malformed("a number is beyond those of a double", PARSE_ERROR)
    return found


def line(message: Message) -> bytes:
    """A message as a line."""
    try:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:  # half of a character, which only an escape can say
        return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def request(sender: Id, method: str, params: Message | None) -> Message:
    """A request."""
    return {"jsonrpc": "2.0", "id": sender, "method": method, **({} if params is None else {"params": params})}


def notification(method: str, params: Message) -> Message:
    """A notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def result(sender: Id, found: object) -> Message:
    """The answer to a request."""
    return {"jsonrpc": "2.0", "id": sender, "result": found}


def error(sender: Id | None, code: int, message: str, data: object = None) -> Message:
    """The answer to a request that failed."""
    found: Message = {"code": code, "message": message}
    return {"jsonrpc": "2.0", "id": sender, "error": found if data is None else found | {"data": data}}


def meta(params: Message) -> Message:
    """The `_meta` of params, empty where there is none."""
    found = params.get("_meta")
    return found if isinstance(found, dict) else {}

"""What the gate is asked: a request as JSON (`vigil.request/1`), read strictly."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Literal

from msgspec import field

from vigil_lang.base.structs import Frozen
from vigil_lang.gate.canonical import NotCanonical, canonical
from vigil_lang.semantics.context_fields import CONTEXT
from vigil_lang.trace import Event
from vigil_lang.trace.values import flatten

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = "vigil.request/1"
MAX_BYTES = 4_000_000
MAX_NAME = 256
"""Characters of the name of a run, an agent or a tool."""

_MOST_KINDS = 20

OWN = frozenset({"tier", "agent", "run", "hour", "weekday", "calls", "violates"})
"""The fields of the context that the gate itself fills in."""

_MEMBERS = frozenset(
    {"schema", "run", "agent", "user", "host", "cwd", "action", "events", "authority", "context", "outcomes"}
    | {"call", "session", "parent", "directory", "observe"}
)


class BadRequest(ValueError):
    """A request that nothing is decided about; the text says what is wrong with it."""


class Request(Frozen, frozen=True):
    """An action that an agent asks for in a run: a call of a tool, or events as they will be judged.

    `context` has the `context.` fields that the asker gives; `authority` the path of the chain that it names, `chain`
    the chain itself, where its holder proved to a service that it is her; `cwd` the folder that the run started in. Of
    the first request of a run, `outcomes` says whether the outcomes of its calls are reported; where they are not, a
    call is over when the next one is asked for.

    `call` is the host's id of the call, unique in the run. A sub-agent's call has its `session` and `parent`, as in
    `trace.record.Call`; `directory` is the working directory of this very call. With `observe` the call is made
    whatever the answer is. Of a call, `kinds` has those of the vocabulary that the asker says it is of, the first of
    which it is named by. With `approval`, the id of a hold, it blocks where that is not approved for this action.
    """

    run: str
    agent: str
    tool: str
    input: Mapping[str, object] | None = None
    events: tuple[Event, ...] = ()
    user: str | None = None
    host: str | None = None
    cwd: str | None = None
    authority: str | None = None
    chain: bytes | None = None
    context: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    outcomes: Literal["assumed", "reported"] = "assumed"
    call: str | None = None
    session: str = ""
    parent: str | None = None
    directory: str | None = None
    observe: bool = False
    approval: str | None = None
    kinds: tuple[str, ...] = ()

    @property
    def action(self) -> dict[str, object]:
        """The action as it was given: what a binding and the digest of an action are made of."""
        if self.input is not None:
            said = {"kinds": list(self.kinds)} if self.kinds else {}
            return {"tool": self.tool, "input": self.input, **said}
        return {"tool": self.tool, "events": [_plain(event) for event in self.events]}


def read_request(data: bytes | str) -> Request:
    """A request from its JSON.

    Raises:
        BadRequest: it is no JSON object of the published form; a member is doubled, unknown or of the wrong type; a
            number is one that not every reader keeps; a text has half of a character.
    """
    if len(data) > MAX_BYTES:
        raise BadRequest(f"the request has more than {MAX_BYTES:,} bytes")
    return request_of(read_json(data))


def read_json(data: bytes | str) -> Any:
    """JSON as whatever is hashed has to be, with decimals for its numbers that are no integers.

    Raises:
        BadRequest: it is no JSON; a member is doubled; a number is one that not every reader keeps; a text has half of
            a character.
    """
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        found = json.loads(
            text, object_pairs_hook=_members, parse_float=_number, parse_int=_integer, parse_constant=_no_number
        )
        canonical(found)
        return found
    except BadRequest:
        raise
    except UnicodeDecodeError as error:
        raise BadRequest(f"the request is not UTF-8: byte {error.start} is wrong") from error
    except json.JSONDecodeError as error:
        raise BadRequest(f"the request is no JSON: {error.msg} in line {error.lineno}, column {error.colno}") from error
    except NotCanonical as error:
        raise BadRequest(f"the request cannot be hashed: {error}") from error
    except RecursionError as error:
        raise BadRequest("the request is nested too deeply") from error


def request_of(found: object) -> Request:
    """A request from its decoded JSON. Raises as `read_request`."""
    if not isinstance(found, dict):
        raise BadRequest("the request is no JSON object")
    if found.get("schema", SCHEMA) != SCHEMA:
        raise BadRequest(f"`schema` has to be {SCHEMA}")
    if unknown := sorted(set(found) - _MEMBERS):
        raise BadRequest(f"the request has a member that is not known: {_shown(unknown[0])}")
    named: dict[str, Any] = {
        "run": _name(found.get("run"), "run"),
        "agent": _name(found.get("agent"), "agent"),
        "user": _optional(found, "user"),
        "host": _optional(found, "host"),
        "cwd": _optional(found, "cwd"),
        "authority": _optional(found, "authority"),
        "context": _context(found.get("context", {})),
        "outcomes": found.get("outcomes", "assumed"),
        "call": None if found.get("call") is None else _name(found["call"], "call"),
        "session": _optional(found, "session") or "",
        "parent": _optional(found, "parent"),
        "directory": _optional(found, "directory"),
        "observe": found.get("observe", False),
    }
    if not isinstance(named["observe"], bool):
        raise BadRequest("`observe` is true or false")
    if named["outcomes"] not in ("assumed", "reported"):
        raise BadRequest('`outcomes` is "assumed" or "reported"')
    if ("action" in found) == ("events" in found):
        raise BadRequest("the request has to have either `action` or `events`")
    if "events" in found:
        events = _events(found["events"])
        return Request(tool=events[0].action, events=events, **named)
    action = found["action"]
    if not isinstance(action, dict) or set(action) - {"tool", "input", "kinds"}:
        raise BadRequest("`action` has to be an object with `tool`, `input` and `kinds`")
    given = action.get("input", {})
    if not isinstance(given, dict):
        raise BadRequest("`action.input` is no object")
    kinds = action.get("kinds", [])
    if not isinstance(kinds, list) or len(kinds) > _MOST_KINDS:
        raise BadRequest(f"`action.kinds` is a list of at most {_MOST_KINDS} kinds")
    kinds = tuple(_name(each, "action.kinds") for each in kinds)
    return Request(tool=_name(action.get("tool"), "action.tool"), input=given, kinds=kinds, **named)


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        doubled = next(name for name in names if names.count(name) > 1)
        raise BadRequest(f"the member {_shown(doubled)} stands twice in one object")
    return found


def _number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent beyond what decimals have
        raise BadRequest("a number is beyond ±(2^53−1), or has more digits than a double keeps") from None


def _integer(text: str) -> int:
    if len(text) > 17:
        raise BadRequest("a number is beyond ±(2^53−1)")
    return int(text)


def _no_number(text: str) -> object:
    raise BadRequest(f"{text} is no number of JSON")


def _name(value: object, member: str) -> str:
    if not isinstance(value, str) or not value:
        raise BadRequest(f"`{member}` has to be a text that is not empty")
    if len(value) > MAX_NAME:
        raise BadRequest(f"`{member}` has more than {MAX_NAME} characters")
    return value


def _optional(found: dict[str, object], member: str) -> str | None:
    return None if found.get(member) is None else _text(found[member], member)


def _text(value: object, member: str) -> str:
    if not isinstance(value, str) or len(value) > 4096:
        raise BadRequest(f"`{member}` has to be a text of at most 4,096 characters")
    return value


def _context(given: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(given, dict):
        raise BadRequest("`context` is no object")
    if taken := sorted(OWN & set(given)):
        raise BadRequest(f"`context.{taken[0]}` is for the gate to fill in")
    return {f"{CONTEXT}{name}": texts for name, texts in flatten(given).items()}


def _events(given: object) -> tuple[Event, ...]:
    if not isinstance(given, list) or not given:
        raise BadRequest("`events` has to be a list that is not empty")
    found = []
    for at, one in enumerate(given):
        if not isinstance(one, dict) or set(one) - {"event", "call", "action", "kinds", "args", "time"}:
            raise BadRequest(f"`events[{at}]` is an object with `action`, `kinds` and `args`")
        try:
            found.append(
                Event.of(
                    one.get("action"),  # type: ignore[arg-type]
                    one.get("args"),
                    id=one.get("event"),
                    call=one.get("call"),
                    kinds=one.get("kinds", ()),
                    time=one.get("time"),
                )
            )
        except (TypeError, ValueError) as error:
            raise BadRequest(f"`events[{at}]` is no event: {error}") from error
    return tuple(found)


def _plain(event: Event) -> dict[str, object]:
    args = {name: list(texts) for name, texts in event.args.items()}
    return {"action": event.action, "kinds": list(event.kinds), "args": args}


def _shown(name: str) -> str:
    return repr(name[:80])

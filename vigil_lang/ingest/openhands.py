"""OpenHands event streams: actions and the observations they cause, as a list or one event a line.

Versions before 1 name an event by its `action` or `observation` and an observation's action by `cause`; later ones
have a `kind`, and pair by `tool_call_id`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from vigil_lang.ingest.arguments import arguments_of, decoded_arguments
from vigil_lang.ingest.calls import Calls
from vigil_lang.ingest.content import integer, joined, moment, obj, output_text, string
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Call, Message, Result, Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.record import Record

_NO_CALLS = frozenset(
    {"message", "system", "finish", "recall", "change_agent_state", "null", "pause", "resume", "start", "reject"}
    | {"condensation", "condensation_request", "think", "loop_recovery"}
)
_KINDS = frozenset({"ActionEvent", "MessageEvent", "ObservationEvent", "SystemPromptEvent", "UserRejectObservation"})
_OBSERVED = frozenset({"ObservationEvent", "UserRejectObservation", "AgentErrorEvent"})
_ABOUT = frozenset(
    {"thought", "hidden", "confirmation_state", "is_confirmed", "security_risk", "blocking", "is_input", "is_static"}
)
_SOURCES: dict[str | None, Literal["user", "agent"]] = {"user": "user", "agent": "agent"}
_REJECTED = frozenset({"user_rejected", "UserRejectObservation"})
_ERRORS = frozenset({"error", "AgentErrorEvent"})


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether some of the first objects is an action, an observation or a typed event."""
    return any(_is_own(event) for event in head)


def _knows(line: dict[str, Any]) -> bool:
    """Whether an object is an event, of a kind that is known or not."""
    return "source" in line and "id" in line and not {"action", "observation", "kind"}.isdisjoint(line)


def _is_own(event: dict[str, Any]) -> bool:
    if string(event, "kind") in _KINDS:
        return "source" in event
    if "source" not in event or "id" not in event:
        return False
    return isinstance(event.get("args"), dict) if "action" in event else "observation" in event and "content" in event


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """The calls, results and messages of a stream."""
    run = replace(run, source="OpenHands")
    yield Start(run)
    calls = Calls()
    for event in lines:
        time = moment(event.get("timestamp"))
        kind = string(event, "kind")
        if kind == "MessageEvent":
            yield from _message(string(event, "source"), joined(obj(event.get("llm_message")).get("content")), time)
        elif kind == "ActionEvent":
            yield from _message("agent", joined(event.get("thought")), time)
            yield from _typed_call(lines, calls, event, time)
        elif kind in _OBSERVED:
            given = string(event, "tool_call_id", "action_id")
            if given:
                yield from calls.settle(given, _observed(event, obj(event.get("observation")), str(kind)))
        elif isinstance(event.get("action"), str):
            yield from _action(lines, calls, event, time)
        elif isinstance(event.get("observation"), str):
            cause = integer(event.get("cause"))
            if cause is not None and calls.knows(str(cause)):
                yield from calls.settle(str(cause), _observed(event, event, event["observation"]))


READER = Reader("openhands", "OpenHands events", detect, read, _knows)


def _action(lines: Lines, calls: Calls, event: dict[str, Any], time: int | None) -> Iterator[Record]:
    action, args = event["action"], arguments_of(lines, event.get("args"), "args")
    source = _SOURCES.get(string(event, "source"))
    if action == "message":
        yield from _message(source, string(args, "content"), time)
    elif action == "finish":
        yield from _message(source, string(args, "final_thought") or string(event, "message"), time)
    elif action not in _NO_CALLS and source == "agent":
        yield from _message(source, string(args, "thought"), time)
        name = string(obj(event.get("tool_call_metadata")), "function_name") or action
        given = {key: value for key, value in args.items() if key not in _ABOUT}
        yield from calls.issue(str(event.get("id")), Call("", name, given, time))


def _typed_call(lines: Lines, calls: Calls, event: dict[str, Any], time: int | None) -> Iterator[Record]:
    action, call = obj(event.get("action")), obj(event.get("tool_call"))
    name = string(event, "tool_name") or string(call, "name") or string(obj(call.get("function")), "name") or "unknown"
    if name == "finish":
        yield from _message("agent", string(action, "message"), time)
    elif name != "think":
        given = {key: value for key, value in action.items() if key != "kind" and value is not None}
        written = call.get("arguments", obj(call.get("function")).get("arguments"))
        args = arguments_of(lines, given, "action") or decoded_arguments(lines, written, "tool_call")
        yield from calls.issue(string(event, "tool_call_id", "id"), Call("", name, args, time))


def _observed(event: dict[str, Any], observation: dict[str, Any], kind: str) -> Result:
    """What came of an action; a command that still runs has exit code -1."""
    extras = obj(event.get("extras")) or observation
    details = obj(extras.get("metadata"))
    output = string(event, "error", "rejection_reason")
    if output is None:
        output = output_text(observation.get("content", observation.get("output", observation.get("result"))))
    result = Result("", "unknown", output, kind not in _REJECTED)
    failed = observation.get("is_error", observation.get("error"))
    if kind in _ERRORS or kind in _REJECTED or failed is True or (isinstance(failed, str) and failed):
        result.status = "error"
    elif failed is False:
        result.status = "ok"
    code = integer(details.get("exit_code"))
    code = integer(extras.get("exit_code")) if code is None else code
    if code == -1:
        result.status = "unknown"
    elif code is not None:
        result.exit_code = code
        result.status = "error" if code else "ok"
    result.cwd = string(details, "working_dir")
    return result


def _message(source: str | None, text: str | None, time: int | None) -> Iterator[Message]:
    role = _SOURCES.get(source)
    if role and text and text.strip():
        yield Message(role, text, time)

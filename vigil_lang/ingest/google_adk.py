"""Google ADK: sessions as their services keep them, and their events, in snake case or camel case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest.arguments import arguments_of
from vigil_lang.ingest.calls import Calls
from vigil_lang.ingest.content import moment, obj, objects, output_text, present, string
from vigil_lang.ingest.message_parts import status_of
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Call, Message, Result, Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.record import Record

_ASKS = "adk_request_"
"""How calls begin that ADK makes up to ask the user for something: no tool of the agent's."""

_CODE = "code_execution"
_RAN = "OUTCOME_OK"


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether the first object is an event, or a session with a list of them."""
    return bool(head) and (_is_event(head[0]) or _is_session(head[0]))


def _is_session(line: dict[str, Any]) -> bool:
    """Whether this is a session; a dump of one may have lost its names, but not what makes an event."""
    named = bool(string(line, "app_name", "appName")) and bool(string(line, "user_id", "userId"))
    return (named and isinstance(line.get("events"), list)) or any(map(_is_event, objects(line.get("events"))))


def _is_event(line: dict[str, Any]) -> bool:
    return isinstance(line.get("author"), str) and not {"invocation_id", "invocationId"}.isdisjoint(line)


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """One run a session, and one for events that stand alone."""
    calls: Calls | None = None
    number = 0
    for line in lines:
        if _is_event(line):
            if calls is None:
                calls = Calls()
                yield Start(run)
            yield from _event(lines, line, calls, ())
            continue
        if not _is_session(line):
            continue
        lines.open()
        number += 1
        name = string(line, "id") or (str(number) if number > 1 else None)
        yield Start(replace(run, name=name, source=string(line, "app_name", "appName")))
        own = Calls()
        for at, event in enumerate(line["events"]):
            lines.count(understood=_is_event(obj(event)))
            yield from _event(lines, obj(event), own, ("events", at))
    if calls is None and not number:
        yield Start(run)


READER = Reader("google-adk", "Google ADK sessions and events", detect, read)


def _event(lines: Lines, event: dict[str, Any], calls: Calls, place: tuple[str | int, ...]) -> Iterator[Record]:
    if event.get("partial") is True:  # a piece of an answer that comes whole afterwards
        lines.told = True
        return
    time, texts = moment(event.get("timestamp")), []
    role = "user" if event.get("author") == "user" else "agent"
    for part in objects(obj(event.get("content")).get("parts")):
        call, response = obj(present(part, "function_call", "functionCall")), _response(part)
        if isinstance(part.get("text"), str) and part.get("thought") is not True:
            texts.append(part["text"])
        elif name := string(call, "name"):
            yield from _said(role, texts, time)
            if not name.startswith(_ASKS):
                args = arguments_of(lines, call.get("args"), place)
                yield from calls.issue(string(call, "id") or name, Call("", name, args, time))
        elif given := string(response, "id", "name"):
            if not (string(response, "name") or "").startswith(_ASKS):
                result = response.get("response")
                status = status_of(obj(result), "ok")  # what raised has no response
                yield from calls.settle(given, Result(given, status, output_text(_returned(result))))
        elif code := obj(present(part, "executable_code", "executableCode")):
            yield from _said(role, texts, time)
            args = {name: code[name] for name in ("code", "language") if isinstance(code.get(name), str)}
            yield from calls.issue(_CODE, Call("", _CODE, args, time))
        elif ran := obj(present(part, "code_execution_result", "codeExecutionResult")):
            yield from calls.settle(
                _CODE, Result(_CODE, "ok" if ran.get("outcome") == _RAN else "error", string(ran, "output"))
            )
    yield from _said(role, texts, time)


def _response(part: dict[str, Any]) -> dict[str, Any]:
    return obj(present(part, "function_response", "functionResponse"))


def _returned(result: Any) -> Any:
    """What a tool gave back: ADK puts what is no object under `result`, and what went wrong under `error`."""
    alone = next(iter(result)) if isinstance(result, dict) and len(result) == 1 else None
    return result[alone] if alone in ("result", "error") else result


def _said(role: Any, texts: list[str], time: int | None) -> Iterator[Message]:
    if text := "".join(texts).strip():
        yield Message(role, text, time)
    texts.clear()

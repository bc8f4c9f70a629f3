"""OpenAI Responses: items as they stand in a conversation, requests with `input`, responses with `output`.

Items alone (JSON Lines or a list) are one run, and so are the requests and responses of one file: items that a
later object repeats are read once. Only a shell's exit code, a hosted tool's error and the status of hosted tools
say how a call ended; the status of an item says no more than that the model finished writing it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.ingest.arguments import arguments_of, decoded_arguments
from vigil_lang.ingest.content import (
    error_text,
    integer,
    moment,
    obj,
    objects,
    output_text,
    parsed,
    present,
    quoted,
    string,
)
from vigil_lang.ingest.message_parts import Conversation, History
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.record import Call, Result, Start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.event import Status
    from vigil_lang.trace.record import Record

_WITH_NAME = frozenset({"function_call", "custom_tool_call", "mcp_call"})
_HOSTED = frozenset({"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"})
_ACTIONS = {
    "local_shell_call": "local_shell",
    "shell_call": "shell",
    "computer_call": "computer",
    "apply_patch_call": "apply_patch",
}
_CALLS = _WITH_NAME | _HOSTED | _ACTIONS.keys()
_OUTPUTS = frozenset(
    {"function_call_output", "custom_tool_call_output", "computer_call_output", "apply_patch_call_output"}
    | {"local_shell_call_output", "shell_call_output"}
)
_TEXTS = frozenset({"input_text", "output_text"})
_SHELLS = frozenset({"local_shell_call_output", "shell_call_output"})
_STATED: dict[str | None, Status] = {"completed": "ok", "failed": "error"}


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether the first objects hold items of this API, or are responses of it."""
    return any(line.get("object") == "response" or any(map(_is_own, _items(line))) for line in head)


def _is_own(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    kind = string(item, "type")
    if kind in _CALLS or kind in _OUTPUTS:
        return "role" not in item
    return isinstance(item.get("role"), str) and any(string(p, "type") in _TEXTS for p in objects(item.get("content")))


def _items(line: dict[str, Any]) -> list[Any]:
    """The items of a request or response, or the line as an item of its own."""
    if isinstance(line.get("type"), str) or isinstance(line.get("role"), str):
        return [line]
    given = line.get("input")
    before = [{"role": "user", "content": given}] if isinstance(given, str) else given
    after = line.get("output")
    return [*(before if isinstance(before, list) else ()), *(after if isinstance(after, list) else ())]


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """The records of all items, each once."""
    talk = Conversation(lines, "input")
    history = History()
    started = False
    for line in lines:
        if not started:
            name = string(line, "id") if isinstance(line.get("output"), list) and "type" not in line else None
            yield Start(replace(run, name=name, source=string(line, "model")))
            started = True
        items = _items(line)
        # A request holds the whole conversation, unless it refers to the response it continues.
        whole = isinstance(line.get("input"), list) and not line.get("previous_response_id")
        for item in [items[n] for n in history.fresh(items)] if whole and "type" not in line else items:
            if not isinstance(item, dict):
                raise lines.fault(f"an item must be an object, not {quoted(item)}", "input")
            yield from _item(talk, item, moment(present(line, "created_at", "timestamp")))
    if not started:
        yield Start(run)


READER = Reader("openai-responses", "OpenAI Responses", detect, read)


def _item(talk: Conversation, item: dict[str, Any], time: int | None) -> Iterator[Record]:
    talk.calls.turn += 1
    kind = string(item, "type") or "message"
    given = string(item, "call_id", "id")
    if kind == "message":
        yield from talk.read(item | {"type": None}, time)
    elif kind in _OUTPUTS:
        key = talk.calls.result(given)
        if key is not None:
            yield _result(key, item)
    elif kind in _CALLS:
        name = string(item, "name") if kind in _WITH_NAME else _ACTIONS.get(kind) or kind.removesuffix("_call")
        if not name:
            raise talk.lines.fault(f"a `{kind}` has no name", "name")
        key = talk.calls.call(given, name)
        yield Call(key, name, _arguments(talk, item), time, cwd=string(obj(item.get("action")), "working_directory"))
        if kind == "mcp_call" or kind in _HOSTED:
            talk.calls.result(given)
            yield from _hosted(key, item)


def _arguments(talk: Conversation, item: dict[str, Any]) -> dict[str, Any]:
    """The arguments: of a shell its command line, of other built-in tools what describes the call."""
    match item.get("type"):
        case "custom_tool_call":
            return arguments_of(talk.lines, item.get("input"), "input")
        case "function_call" | "mcp_call":
            return decoded_arguments(talk.lines, item.get("arguments"), "arguments", "arguments")
        case "code_interpreter_call":
            return arguments_of(talk.lines, {"code": item.get("code")}, "code")
        case "file_search_call":
            return arguments_of(talk.lines, {"queries": item.get("queries")}, "queries")
        case "apply_patch_call":
            return arguments_of(talk.lines, item.get("operation"), "operation", "operation")
    return arguments_of(talk.lines, item.get("action"), "action", "action")


def _result(key: str, item: dict[str, Any]) -> Result:
    """What an output item reports; of those the format defines, only a shell's has an exit code."""
    given = item.get("output")
    kind = item["type"]
    if kind not in _SHELLS:
        status = _STATED.get(string(item, "status"), "unknown") if kind == "apply_patch_call_output" else "unknown"
        return Result(key, status, output_text(given))
    if isinstance(given, list):
        return _shell(key, objects(given))
    value = obj(parsed(given) if isinstance(given, str) else given)
    code = integer(present(value | obj(value.get("metadata")), "exit_code"))
    text = present(value, "output", "stdout") if code is not None else given
    return Result(key, _ended(code), output_text(text), exit_code=code)


def _shell(key: str, pieces: list[dict[str, Any]]) -> Result:
    """One output a command; the outcome of the last is that of the call."""
    texts = [text for piece in pieces for name in ("stdout", "stderr") if (text := string(piece, name))]
    outcome = obj(pieces[-1].get("outcome")) if pieces else {}
    code = integer(outcome.get("exit_code"))
    status = "error" if outcome.get("type") == "timeout" else _ended(code)
    return Result(key, status, "\n".join(texts), exit_code=code)


def _ended(code: int | None) -> Status:
    return "unknown" if code is None else "error" if code else "ok"


def _hosted(key: str, item: dict[str, Any]) -> Iterator[Result]:
    """The outcome of a tool the provider runs, which stands in the call's own item."""
    output = present(item, "output", "outputs", "results", "result")
    status: Status = "ok" if "error" in item and output is not None else "unknown"
    if item.get("error"):
        yield Result(key, "error", error_text(item["error"]))
    elif output is not None or string(item, "status") in _STATED:
        yield Result(key, _STATED.get(string(item, "status"), status), output_text(output))

"""What the results of Codex tools say: exit codes in the harness's header of an output, and in its events."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from vigil_lang.ingest.content import error_text, integer, joined, obj, output_text, parsed, string
from vigil_lang.patterns import regex
from vigil_lang.trace.record import Result

if TYPE_CHECKING:
    from vigil_lang.trace.event import Status

SHELLS = frozenset(
    {"exec_command", "shell", "shell_command", "local_shell", "container.exec", "write_stdin", "unified_exec"}
)
_OWN = SHELLS | {"apply_patch", "view_image"}

# Only the header is the harness's: what follows `Output:` is the program's own.
_HEADER = regex(
    r"""
    (?:Chunk\ ID:.*\n)? (?:Wall\ time:.*\n)?
    (?: (?:Exit\ code:|Process\ exited\ with\ code)\ (?P<code>-?\d{1,10})
      | Process\ running\ with\ session\ ID\ \S+ ) \n
    (?:(?:Wall\ time|Total\ output\ lines|Original\ token\ count):.*\n)*
    (?:Output:(?:\n|\Z))?""",
    re.VERBOSE,
)
_NEVER_RAN = regex(
    r"""
    (?:exec\ command|patch|command|tool\ call|apply_patch)\ (?:was\ )?rejected\ by\ (?:the\ )?user
  | (?:Command|Tool\ call)\ blocked\ by\ PreToolUse\ hook
  | (?:unsupported\ call|unsupported\ custom\ tool\ call)[ :]
  | failed\ to\ parse\ function\ arguments
  | approval\ policy\ is\ .*;\ reject\ command
  | approval\ required\ by\ policy
  | This\ action\ was\ rejected\ due\ to\ unacceptable\ risk""",
    re.VERBOSE,
)
_STATUS: dict[Any, Status] = {"completed": "ok", "failed": "error", "declined": "error"}


def shown_result(name: str, output: Any, before: Result | None) -> Result:
    """What the output that was shown to the model says of a call of the tool `name`."""
    inner = obj(output)
    success = inner.get("success")
    text = joined(inner["content"]) if "content" in inner else output_text(output)
    result = Result("", "unknown" if not isinstance(success, bool) else "ok" if success else "error", text)
    if text is None or name not in _OWN:
        return result
    if text.startswith("{"):
        wrapped = obj(parsed(text))
        if isinstance(wrapped.get("output"), str) and "metadata" in wrapped:
            result.output = wrapped["output"]
            return _exited(result, obj(wrapped["metadata"]).get("exit_code"))
    header = _HEADER.match(text)
    if header:
        result.output = text[header.end() :]
        return _exited(result, int(header["code"]) if header["code"] else None)
    if _NEVER_RAN.match(text) and not (before and before.exit_code is not None):
        result.executed = False
        result.status = "error"
    return result


def ended(item: dict[str, Any]) -> Result:
    """What an event or an item says of a command or a patch that came to its end."""
    status = _STATUS.get(str(item.get("status")).lower(), "unknown")
    success = item.get("success")
    if isinstance(success, bool):
        status = "ok" if success else "error"
    result = Result("", status, _printed(item), str(item.get("status")).lower() != "declined")
    # A command that never ran may carry a code of the harness's own.
    return _exited(result, item.get("exit_code")) if result.executed else result


def mcp_ended(item: dict[str, Any]) -> Result:
    """What an event or an item says of a call of an MCP server's tool."""
    answer = obj(item.get("result"))
    error: Any = item.get("error") or answer.get("Err")
    answer = obj(answer.get("Ok", answer))
    failed = bool(error) or answer.get("is_error") is True or answer.get("isError") is True
    status: Status = "error" if failed else "ok" if answer else _STATUS.get(str(item.get("status")).lower(), "unknown")
    if error:
        return Result("", status, error_text(error))
    content = answer.get("content")
    return Result("", status, "" if content == [] else output_text(content))


def _printed(item: dict[str, Any]) -> str | None:
    for name in ("aggregated_output", "formatted_output"):
        if isinstance(item.get(name), str):
            return str(item[name])
    texts = [text for name in ("stdout", "stderr") if (text := string(item, name))]
    return "\n".join(texts) if texts else None


def _exited(result: Result, code: Any) -> Result:
    result.exit_code = integer(code)
    if result.exit_code is not None:
        result.status = "error" if result.exit_code else "ok"
    return result

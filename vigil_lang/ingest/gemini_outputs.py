"""What Gemini CLI's outputs say of a call: the exit code in what follows a command's output, and refusals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from vigil_lang.ingest.content import obj, objects, output_text
from vigil_lang.patterns import regex
from vigil_lang.trace.record import Result

if TYPE_CHECKING:
    from vigil_lang.trace.event import Status

SHELL = "run_shell_command"

_WRAPPER = regex(r"\s*<untrusted_context>\n(.*?)\n?</untrusted_context>\s*\Z", re.DOTALL)
# The harness writes this after the program's output, which may hold such lines too.
_TRAILER = regex(
    r"(?:^|\n)Exit Code: (-?\d{1,10}|\(none\))(?:\nSignal: ([^\n]*))?(?:\nBackground PIDs: [^\n]*)?"
    r"(?:\nProcess Group PGID: [^\n]*)?\s*\Z"
)
_SIGNAL = regex(r"\nSignal: (?!\(none\)|0\b)[^\n]*(?:\nBackground PIDs: [^\n]*)?(?:\nProcess Group PGID: [^\n]*)?\s*\Z")
_TAIL = 4000
_NEVER_RAN = regex(
    r"""(?:\[Operation\ Cancelled\]\ (?:Reason:\ )?)?
    (?: Tool\ execution\ (?:denied\ by\ policy|blocked) | Tool\ "[^"\n]*"\ not\ found\ in\ registry
      | User\ (?:denied\ execution|did\ not\ allow\ tool\ call) )""",
    re.VERBOSE,
)


def unwrapped(text: str) -> str:
    """An output without the tags that mark it as data for the model."""
    wrapped = _WRAPPER.match(text)
    return wrapped[1] if wrapped else text


def response_text(result: Any) -> str | None:
    """The output in a recorded result: a list of parts with function responses, or texts."""
    texts: list[str] = []
    for part in objects(result if isinstance(result, list) else [result]):
        response = obj(obj(part.get("functionResponse")).get("response"))
        value = response.get("output", response.get("error", response.get("content", part.get("text"))))
        text = output_text(value)
        if text is not None:
            texts.append(text)
    return "\n".join(texts) if texts else result if isinstance(result, str) else None


def result_of(key: str, name: str, text: str | None, status: Status, *, cancelled: bool = False) -> Result:
    """The result with that text; a failed call may never have run, and a command may have failed all the same."""
    if text is not None:
        text = unwrapped(text)
    result = Result(key, status, text)
    if text is None:
        return result
    if (cancelled or status != "ok") and _NEVER_RAN.match(text):
        result.executed = False
    elif name == SHELL and status != "error":
        _exited(result, text)
    return result


def _exited(result: Result, text: str) -> None:
    """A shell command counts as a success whatever its exit code, which newer versions leave out if it is 0."""
    tail = text[-_TAIL:]
    trailer = _TRAILER.search(tail)
    if trailer and trailer[1] != "(none)":
        result.exit_code = int(trailer[1])
        result.status = "error" if result.exit_code else "ok"
    elif _SIGNAL.search(tail):
        result.status = "error"
    elif not text.startswith("Output:") or result.status != "ok":
        result.status = "unknown"
    else:
        result.exit_code = 0

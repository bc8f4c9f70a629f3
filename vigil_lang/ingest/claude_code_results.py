"""What a Claude Code tool result says: whether the call ran, whether it failed, and what the model saw."""

from __future__ import annotations

import re
from typing import Any

from vigil_lang.patterns import regex
from vigil_lang.trace.record import Result

# The harness's own words for a call it never ran, for versions that record no decision beside the result.
_NEVER_RAN = regex(
    r"""
    (?:<tool_use_error>)? \s* (?:Error:\s)?
    (?: InputValidationError
      | No\ such\ tool\ available
      | Cancelled:\ parallel\ tool\ call
      | Sibling\ tool\ call\ errored
      | The\ user\ doesn't\ want\ to\ proceed\ with\ this\ tool\ use
      | Claude\ requested\ permissions\ to\b
      | Permission\ to\ use\b.*\bdenied\b
      | PreToolUse:\S*\ hook\ error
      | \S+\ operation\ blocked\ by\ hook
      | Hook\ PreToolUse:\S*\ denied\ this\ tool
      | This\ command\ requires\ approval
      | \S+\ (?:in|to)\ '[^']*'\ was\ blocked\.\ For\ security,\ Claude\ Code\ may\ only
    )""",
    re.VERBOSE,
)


SHELL = "Bash"

_EXIT_CODE = regex(r"Exit code (\d{1,5})(?:\n|$)")
_MOVED = regex(r"(?:^|\n)Shell cwd was reset to ([^\n]+)\n*\Z")
_NUMBERED = regex(r" *(\d+)[→\t](.*)")
_BACKGROUND = "Command running in background with ID"
_TAIL = 4000
"""Characters from the end in which the note on the directory is looked for."""
_MAX_LINES = 2000
_MAX_COLUMNS = 2000
"""Read shows that much of a file and of a line by default."""


def whole_file(name: str, args: dict[str, Any]) -> str | None:
    """The file of which a call reads everything, unless it is too long."""
    path = args.get("file_path")
    if name != "Read" or not isinstance(path, str) or any(args.get(key) is not None for key in ("offset", "limit")):
        return None
    return path


def result_of(
    key: str, line: dict[str, Any], block: dict[str, Any], *, shell: bool, reads: str | None, home: str | None
) -> Result:
    """What a `tool_result` block of a `user` line reports of the call `key`.

    `reads` is the file the call reads whole, `home` the directory the run started in.
    """
    error = block.get("is_error") is True
    output = _text(block.get("content"))
    several = sum(_member(other, "type") == "tool_result" for other in line["message"]["content"]) > 1
    details = None if several else line.get("tool_use_result", line.get("toolUseResult"))
    executed = _executed(line, block, error, output or "")
    result = Result(key, "error" if error else "ok", output, executed)
    if shell:
        _shell_result(result, details, error, home)
    elif not error:
        result.file = _file_shown(details, reads, output or "")
    return result


def _shell_result(result: Result, details: Any, error: bool, home: str | None) -> None:
    """The exit code, and where the shell was put back to; a command left in the background is not done yet."""
    text = result.output or ""
    if error:
        code = _EXIT_CODE.match(text)
        result.exit_code = int(code[1]) if code else None
    elif _member(details, "backgroundTaskId") or text.startswith(_BACKGROUND) or _member(details, "interrupted"):
        result.status = "unknown"
    elif isinstance(_member(details, "stdout"), str):
        # `grep` that finds nothing ends with 1, which the harness takes for success and explains.
        result.exit_code = 1 if _member(details, "returnCodeInterpretation") else 0
    noted = _member(details, "stderr") if isinstance(_member(details, "stderr"), str) else text
    moved = _MOVED.search(noted[-_TAIL:])
    # A program may print those words too: the shell is only ever put back to where it started.
    if moved and result.executed and home in (None, moved[1].rstrip()):
        result.cwd = moved[1].rstrip()


def _file_shown(details: Any, reads: str | None, output: str) -> tuple[str, str] | None:
    """A file that a result shows from its first line to its last: from the details, or from the numbered lines."""
    match _member(details, "file"):
        case {"filePath": str(path), "content": str(text)} as file:
            whole = file.get("startLine", 1) == 1 and file.get("numLines") == file.get("totalLines")
            return (path, text) if whole else None
    if reads is None:
        return None
    shown: list[str] = []
    lines = output.split("\n")
    for number, line in enumerate(lines, 1):
        numbered = _NUMBERED.fullmatch(line)
        if not numbered or numbered[1] != str(number):
            rest = "\n".join(lines[number - 1 :]).lstrip()
            if rest and not rest.startswith("<system-reminder>"):
                return None
            break
        if len(numbered[2]) >= _MAX_COLUMNS or number >= _MAX_LINES:
            return None
        shown.append(numbered[2])
    return (reads, "\n".join(shown)) if shown else None


def _executed(line: dict[str, Any], block: dict[str, Any], error: bool, output: str) -> bool:
    """A recorded decision settles it; only without one do the words of a failed result count.

    A tool that did run could otherwise hide its call from every policy by printing those words.
    """
    decision = _member(line.get("permissionDecision"), "decision")
    never = bool(line.get("toolDenialKind"))
    meta = line.get("tool_result_meta")
    for entry in meta if isinstance(meta, list) else ():
        if _member(entry, "id") == block.get("tool_use_id"):
            never = never or bool(_member(entry, "non_execution_kind"))
            decision = _member(_member(entry, "permission_decision"), "decision") or decision
    if never or decision == "reject":
        return False
    return decision == "accept" or not (error and never_ran(output))


def never_ran(text: str) -> bool:
    """Whether these are the harness's words for a call it did not run."""
    return bool(_NEVER_RAN.match(text))


def _member(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _text(content: Any) -> str | None:
    """The texts of a result's content, joined by line breaks; empty where it has no content at all."""
    if isinstance(content, str):
        return content
    if not content:
        return ""
    blocks = content if isinstance(content, list) else [content]
    texts = [text for block in blocks if isinstance(text := _member(block, "text"), str)]
    return "\n".join(texts) if texts else None

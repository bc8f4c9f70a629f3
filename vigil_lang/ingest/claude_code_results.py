"""What a Claude Code tool result says: whether the call ran, whether it failed, and what the model saw."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

# The harness's own words for a call it never ran, for versions that record no decision beside the result.
_NEVER_RAN = re.compile(
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
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one call. `output` is None where the model was shown no text (an image, say)."""

    error: bool
    executed: bool
    output: str | None


def result_of(line: dict[str, Any], block: dict[str, Any]) -> Result:
    """The outcome that a `tool_result` block of a `user` line reports."""
    error = block.get("is_error") is True
    output = _text(block.get("content"))
    return Result(error, _executed(line, block, error, output or ""), output)


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
    return decision == "accept" or not (error and _NEVER_RAN.match(output))


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

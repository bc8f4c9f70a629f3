"""What a host tells by a payload, and what hosts answer alike."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from vigil_lang.base.structs import Frozen
from vigil_lang.ingest import hook_payloads
from vigil_lang.ingest.arguments import decoded
from vigil_lang.ingest.content import string
from vigil_lang.patterns import regex
from vigil_lang.points.invocation import Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.trace.record import Call, Message, Result

Kind: TypeAlias = Literal[
    "start", "before", "after", "refused", "batch", "prompt", "stop", "sub_start", "sub_stop", "end", "compact",
    "config", "other",
]  # fmt: skip
"""What happens: `refused` is a call that the host itself did not make, `batch` the end of all calls of a message."""

_KINDS: dict[str, Kind] = {
    **dict.fromkeys(hook_payloads.BEFORE, "before"),
    **dict.fromkeys(hook_payloads.AFTER, "after"),
    **dict.fromkeys(hook_payloads.PROMPTS, "prompt"),
    "PermissionDenied": "refused",
    "PostToolBatch": "batch",
    "Stop": "stop",
    "AgentStop": "stop",
    "AfterAgent": "stop",
    "SubagentStart": "sub_start",
    "SubagentStop": "sub_stop",
    "SessionStart": "start",
    "SessionEnd": "end",
    "PreCompact": "compact",
    "PostCompact": "compact",
    "PreCompress": "compact",
    "ConfigChange": "config",
}

_NAMED = regex(rb'(?<!\\)"(?:hook_event_name|hookEventName|hookName)"\s*:\s*"([A-Za-z]{1,60})"')
_OWN_CALL = regex(rb'(?<!\\)"toolName"\s*:')


class Heard(Frozen, frozen=True):
    """What a payload tells: `event` by the host's name, `run` by its id. `problem` says what of it cannot be."""

    kind: Kind
    event: str
    run: str | None = None
    directory: str | None = None
    call: Call | None = None
    result: Result | None = None
    batch: tuple[tuple[Call, Result], ...] = ()
    message: Message | None = None
    file: str | None = None
    transcript: str | None = None
    source: str | None = None
    agent: str = ""
    problem: str | None = None


class Host:
    """A host. Its answers are those that most hosts obey; each of the others says what it does otherwise."""

    name = ""
    asks = False
    """Whether it can ask its user about a call."""
    caps_stops = False
    """Whether it ends a turn at last although a hook goes on telling what is owed."""

    def read(self, payload: dict[str, Any]) -> Heard:
        """What a payload tells. Nothing is raised, whatever it holds."""
        event = hook_payloads.event_of(payload) or ""
        kind = _KINDS.get(event, "other") if event else "before"
        agent = hook_payloads.agent_of(payload) or ""
        if kind == "stop" and agent:
            kind = "sub_stop"
        run = hook_payloads.run_of(payload)
        directory = hook_payloads.directory_of(payload)
        call, problem = self._call(payload) if kind in ("before", "after", "refused") else (None, None)
        problem = _problem(payload, event, run, directory) or problem
        result = None
        if kind == "after":
            result = hook_payloads.result_of(payload, directory)
        elif kind == "refused":
            result = hook_payloads.refusal_of(payload)
        return Heard(
            kind,
            string(payload, "hook_event_name", "hookEventName", "hookName") or event,
            run,
            directory,
            call,
            result,
            tuple(hook_payloads.batch_of(payload)) if kind == "batch" else (),
            hook_payloads.message_of(payload),
            string(payload, "file_path"),
            string(payload, "transcript_path", "transcriptPath"),
            string(payload, "source", "scope"),
            agent,
            problem,
        )

    def _call(self, payload: dict[str, Any]) -> tuple[Call, str | None]:
        call = hook_payloads.call_of(payload)
        args: Any = decoded(call.args)
        call.args = args if isinstance(args, dict) else {}
        if call.name == "unknown":
            return call, "it names no tool"
        if not isinstance(args, dict) and args is not None:
            return call, "the input of the tool is no object"
        return call, None

    def settings_files(self, folder: str, env: Mapping[str, str]) -> tuple[str, ...]:
        """The files, by absolute paths, from which this host takes its hooks for a folder."""
        raise NotImplementedError

    def disarmed(self, heard: Heard, folder: str, env: Mapping[str, str]) -> str | None:  # noqa: ARG002
        """Why a change of the host's settings is not to count: it would take our hook away; None where it may."""
        return None

    # --- answers ------------------------------------------------------------------------------------------------

    def block(self, heard: Heard, text: str) -> Reply:  # noqa: ARG002 - others need it
        """The call is not made. Exactly these members: a host that finds another one makes the call."""
        own = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": text}
        return written({"decision": "block", "reason": text, "hookSpecificOutput": own})

    def ask(self, heard: Heard, text: str) -> Reply:
        """The host's user decides; where it cannot ask, the call is not made."""
        return self.block(heard, text)

    def halt(self, heard: Heard, text: str) -> Reply:
        """The call is not made, and the host stops if it can: the run is halted anyway."""
        return self.block(heard, text)

    def tell(self, heard: Heard, text: str) -> Reply:
        """The agent is told, and nothing else happens."""
        return written({"hookSpecificOutput": {"hookEventName": heard.event, "additionalContext": text}})

    def owed(self, heard: Heard, text: str) -> Reply:  # noqa: ARG002 - others need it
        """The turn goes on, for something is owed."""
        return written({"decision": "block", "reason": text})

    def refuse_change(self, heard: Heard, text: str) -> Reply:  # noqa: ARG002 - others need it
        """A change of the host's settings does not count."""
        return written({"decision": "block", "reason": text})

    def nothing(self, heard: Heard | None = None) -> Reply:  # noqa: ARG002 - others need it
        """Everything goes on as it would without a hook."""
        return Reply()

    def fault(self, heard: Heard, text: str) -> Reply:
        """We failed: before a call that blocks; anything else goes on, for it must not loop at the end of a turn."""
        if heard.kind == "before":
            return self.block(heard, text)
        return Reply(stderr=(text + "\n").encode("utf-8", "replace"))


def written(answer: dict[str, Any]) -> Reply:
    """An answer as one line of ASCII, which no locale and no terminal changes."""
    return Reply((json.dumps(answer, ensure_ascii=True, separators=(",", ":")) + "\n").encode("ascii"))


def guessed(data: bytes) -> Heard:
    """What a payload that cannot be read is of: a call, unless all events that it names are others.

    The agent's own words cannot name an event here: within a text the quotes would be escaped.
    """
    names = {name.decode() for name in _NAMED.findall(data)}
    kinds = {_KINDS.get(name[:1].upper() + name[1:], "other") for name in names}
    if not kinds or "before" in kinds or _OWN_CALL.search(data):
        return Heard("before", "PreToolUse")
    return Heard("other", min(names))


def under(home: str | None, *names: str) -> tuple[str, ...]:
    """Files in a folder, where there is one."""
    return tuple(os.path.join(home, name) for name in names) if home else ()  # noqa: PTH118 - texts


def upwards(folder: str, *names: str) -> tuple[str, ...]:
    """Files in a folder and those above it."""
    found: list[str] = []
    here = os.path.normpath(folder)
    while True:
        found += under(here, *names)
        above = os.path.dirname(here)  # noqa: PTH120 - texts
        if above == here:
            return tuple(found)
        here = above


def _problem(payload: dict[str, Any], event: str, run: str | None, directory: str | None) -> str | None:
    if not event:
        return "it names no event"
    if run is None:
        return "it names no session"
    if len(run) > 256:
        return "the name of the session has more than 256 characters"
    if payload.get("cwd") is not None and directory is None:
        return "`cwd` is no text"
    if directory is not None and not os.path.isabs(directory):  # noqa: PTH117 - a text
        return "`cwd` is no absolute path"
    return None

"""What is registered with a host, put into a text of its settings, found in it, and taken out of it again."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from vigil_lang.base.files import real_path
from vigil_lang.points.daemon import client
from vigil_lang.points.install import jsonc
from vigil_lang.points.install.wrapper import MARK, unwrapped, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from vigil_lang.points.install.hosts import Host

DEADLINE = 25
"""Seconds in which our program answers, beside those that it waits for a person; it may have to wait for a lock."""
GRACE = 5
"""Seconds that the wrapper gives it beyond that, and the host gives the wrapper again."""


class Unusable(Exception):
    """Settings cannot be changed; the text says why. They are as they were."""


@dataclass(frozen=True, slots=True)
class Registration:
    """What is registered: the program with its options, and the seconds that a held call waits for a person."""

    host: Host
    program: tuple[str, ...]
    options: tuple[str, ...]
    wait: int = 0
    observe: bool = False

    def hooks(self) -> dict[str, dict[str, Any]]:
        """The hook of each event. The program has a deadline of its own: it has better words than the wrapper."""
        found: dict[str, dict[str, Any]] = {}
        for event, moment in self.host.events.items():
            seconds = DEADLINE + (self.wait if moment == "before" else 0)
            fault = "" if self.observe else self.host.fault(moment)
            options = [*self.options, "--deadline", str(seconds)]
            command = wrapped([*self.program, *options], seconds + GRACE, fault)
            found[event] = self.host.hook(command, moment, seconds + 2 * GRACE, observe=self.observe)
        return found


def own_program() -> tuple[str, ...]:
    """The command that runs our hook: this Python, without its site, and the client by its path."""
    return sys.executable, "-I", "-S", real_path(client.__file__)


def registration(
    host: Host,
    state: Path,
    *,
    policies: Sequence[str] = (),
    agent: str | None = None,
    wait: int = 0,
    observe: bool = False,
    after_block: str | None = None,
    checkpoint: str | None = None,
    policy_changes: str | None = None,
) -> Registration:
    """A registration with the options of `vigil hook`. It names the state, for the host sets our environment."""
    options = ["--host", host.name, "--state", str(state)]
    options += [part for each in policies for part in ("--policy", each)]
    given = {"--agent": agent, "--after-block": after_block, "--checkpoint": checkpoint}
    given |= {"--policy-changes": policy_changes, "--wait": str(wait) if wait else None}
    options += [part for name, value in given.items() if value for part in (name, value)]
    options += ["--observe"] * observe
    return Registration(host, own_program(), tuple(options), wait, observe)


# --- what stands in settings ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Standing:
    """A hook of ours that stands in settings."""

    event: str
    hook: dict[str, Any]
    group: dict[str, Any] | None


def standing(host: Host, text: str) -> list[Standing]:
    """The hooks of ours in a text.

    Raises:
        Unusable: it is no JSON, or the hooks in it have another form than the host's.
    """
    return [Standing(event, hook.value, group.value if group else None) for event, _, group, hook in _ours(host, text)]


def program_of(host: Host, hook: Mapping[str, Any]) -> tuple[int, str, list[str]] | None:
    """The seconds, the answer for faults and the program of a hook; None where it is not as we write them."""
    command = host.command_of(hook)
    return None if command is None else unwrapped(command)


def registered(host: Host, found: list[Standing]) -> Registration | None:
    """The registration that hooks were written for, as far as they tell."""
    for each in found:
        if host.events.get(each.event) == "before" and (parts := program_of(host, each.hook)):
            program, options = parts[2][:4], parts[2][4:]
            if "--deadline" in options:
                options = options[: options.index("--deadline")]
            wait = next((v for n, v in pairwise(options) if n == "--wait"), "0")
            observe = "--observe" in options
            seconds = int(wait) if wait.isdigit() else 0
            return Registration(host, tuple(program), tuple(options), seconds, observe)
    return None


def missing_or_changed(host: Host, found: list[Standing]) -> list[str]:
    """The events whose hook of ours is missing, there twice, or not as it was written."""
    told = registered(host, found)
    if told is None:
        return [event for event, moment in host.events.items() if moment == "before"]
    wanted = told.hooks()
    wrong = []
    for event, hook in wanted.items():
        here = [each for each in found if each.event == event]
        narrowed = any(each.group is not None and each.group.get("matcher", "*") not in ("", "*") for each in here)
        narrowed = narrowed or any(each.hook.get("matcher", "*") not in ("", "*") for each in here)
        if len(here) != 1 or narrowed or {k: v for k, v in here[0].hook.items() if k != "matcher"} != hook:
            wrong.append(event)
    return wrong


def installed(host: Host, text: str, hooks: Mapping[str, dict[str, Any]]) -> str:
    """A text of settings with these hooks of ours and no others; the same text where they are there.

    Raises:
        Unusable: it is no JSON, or the hooks in it have another form than the host's.
    """
    if not text.strip():
        wanted = {event: [_entry(host, hook)] for event, hook in hooks.items()}
        whole: dict[str, Any] = {"version": 1, "hooks": wanted} if host.numbered else {"hooks": wanted}
        return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"
    text = _taken_out(host, text, hooks)
    for event, hook in hooks.items():
        text = _with_hook(host, text, event, hook)
    return text


def uninstalled(host: Host, text: str) -> str:
    """A text of settings without hooks of ours, and without what is empty for that reason.

    Raises:
        Unusable: it is no JSON, or the hooks in it have another form than the host's.
    """
    return _taken_out(host, text, {})


def is_bare(host: Host, text: str) -> bool:
    """Whether settings say nothing, beside the version of their form."""
    value = _parsed(host, text).value if text.strip() else {}
    return not value or (host.numbered and value == {"version": 1})


def _parsed(host: Host, text: str) -> jsonc.Node:
    try:
        root = jsonc.parse(text, comments=host.comments)
    except jsonc.NotJson as error:
        line, column = text.count("\n", 0, error.at) + 1, error.at - text.rfind("\n", 0, error.at)
        is_comment = not host.comments and text[error.at : error.at + 2] in ("//", "/*")
        why = f"a comment, which {host.title} is not known to read" if is_comment else str(error)
        raise Unusable(f"it is no JSON: line {line}, column {column}: {why}") from None
    if not isinstance(root.value, dict):
        raise Unusable("it is no JSON object")
    hooks = root.members.get("hooks")
    if hooks is None:
        return root
    if not isinstance(hooks.value, dict):
        raise Unusable("its `hooks` is no object")
    for event, entries in hooks.members.items():
        if event in host.events and not isinstance(entries.value, list):
            raise Unusable(f"its `hooks.{event}` is no array")
    return root


_Place = tuple[str, jsonc.Node, "jsonc.Node | None", jsonc.Node]
"""An event, its array, the group that a hook is in, and the hook."""


def _ours(host: Host, text: str) -> Iterator[_Place]:
    if not text.strip():
        return
    hooks = _parsed(host, text).members.get("hooks")
    for event, entries in hooks.members.items() if hooks else ():
        for entry in entries.items:
            if not host.grouped:
                if _is_ours(host, entry.value):
                    yield event, entries, None, entry
            elif isinstance(entry.value, dict) and (inner := entry.members.get("hooks")) is not None:
                yield from ((event, entries, entry, hook) for hook in inner.items if _is_ours(host, hook.value))


def _is_ours(host: Host, hook: object) -> bool:
    if not isinstance(hook, dict):
        return False
    said = json.dumps([hook.get(host.command), hook.get("command"), hook.get("args")])
    return MARK in said or "points/daemon/client.py" in said


def _entry(host: Host, hook: dict[str, Any]) -> dict[str, Any]:
    return {"hooks": [hook]} if host.grouped else hook


def _with_hook(host: Host, text: str, event: str, hook: dict[str, Any]) -> str:
    if any(place[0] == event for place in _ours(host, text)):
        return text
    root = _parsed(host, text)
    hooks = root.members.get("hooks")
    if hooks is None:
        if host.numbered and "version" not in root.members:
            text = jsonc.with_child(text, root, 1, "version")
            root = _parsed(host, text)
        return jsonc.with_child(text, root, {event: [_entry(host, hook)]}, "hooks")
    entries = hooks.members.get(event)
    if entries is None:
        return jsonc.with_child(text, hooks, [_entry(host, hook)], event)
    return jsonc.with_child(text, entries, _entry(host, hook))


def _taken_out(host: Host, text: str, keep: Mapping[str, dict[str, Any]]) -> str:
    """Without our hooks but the first of each event that is as `keep` has it, alone in a group for all calls."""
    while True:
        kept: set[str] = set()
        for event, entries, group, hook in _ours(host, text):
            whole = (group or hook).value == (_entry(host, keep[event]) if event in keep else None)
            if whole and event not in kept:
                kept.add(event)
                continue
            text = _without(host, text, event, entries, group, hook)
            break
        else:
            return text


def _without(host: Host, text: str, event: str, entries: jsonc.Node, group: jsonc.Node | None, hook: jsonc.Node) -> str:
    if group is not None and len(group.members["hooks"].items) > 1:
        return jsonc.without_child(text, group.members["hooks"], hook)
    if len(entries.items) > 1:
        return jsonc.without_child(text, entries, group or hook)
    root = _parsed(host, text)
    hooks = root.members["hooks"]
    if len(hooks.members) > 1:
        return jsonc.without_child(text, hooks, hooks.members[event])
    return jsonc.without_child(text, root, root.members["hooks"])

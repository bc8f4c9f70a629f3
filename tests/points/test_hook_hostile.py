"""Payloads and registrations that cannot be judged: a call is blocked in the host's form, nothing else is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from points_support import HOSTS, Hooks, before, blocked, event

from vigil_lang.points import hook
from vigil_lang.points.hook import BadCall, Gates, handle, options_of
from vigil_lang.points.hosts.host import guessed
from vigil_lang.points.invocation import Invocation, Reply

if TYPE_CHECKING:
    from pathlib import Path

CALL = before("claude", "Bash", {"command": "ls"})
NO_CALL = event("claude", "Stop", stop_hook_active=False)
ENDS = ("Stop", "SubagentStop", "AfterAgent", "SessionEnd", "PostToolUse", "UserPromptSubmit", "SessionStart")

GARBAGE = {
    "nothing": b"",
    "text": b"hello",
    "half": json.dumps(CALL).encode()[:-5],
    "list": b"[1]",
    "null": b"null",
    "not UTF-8": json.dumps(CALL).encode().replace(b"ls", b"\xff\xfe"),
    "a byte order mark": b"\xef\xbb\xbf" + json.dumps(CALL).encode(),
    "deep": b'{"hook_event_name":"PreToolUse","tool_input":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "doubled": json.dumps(CALL).encode().replace(b'"cwd"', b'"tool_name":"Read","cwd"'),
    "doubled within": json.dumps(CALL).encode().replace(b'"command"', b'"command":"rm -rf /","command"'),
    "no number": json.dumps(CALL).encode().replace(b'"ls"', b"NaN"),
    "long number": json.dumps(CALL).encode().replace(b'"ls"', b"9" * 5000),
    "a bare call": json.dumps(CALL | {"hook_event_name": None}).encode(),
    "no session": json.dumps({name: value for name, value in CALL.items() if name != "session_id"}).encode(),
    "an odd session": json.dumps(CALL | {"session_id": 5}).encode(),
    "a long session": json.dumps(CALL | {"session_id": "x" * 300}).encode(),
    "an odd cwd": json.dumps(CALL | {"cwd": 7}).encode(),
    "a relative cwd": json.dumps(CALL | {"cwd": "here"}).encode(),
    "an odd tool": json.dumps(CALL | {"tool_name": ["Bash"]}).encode(),
    "odd input": json.dumps(CALL | {"tool_input": "ls"}).encode(),
    "a list of input": json.dumps(CALL | {"tool_input": ["ls"]}).encode(),
}


@pytest.mark.parametrize("name", GARBAGE)
@pytest.mark.parametrize("host", HOSTS)
def test_garbage_before_a_call_blocks_it(host: str, name: str, tmp_path: Path) -> None:
    hooks = Hooks(tmp_path, host)
    reason = blocked(host, hooks.raw(GARBAGE[name]))
    assert reason is not None
    assert "Traceback" not in reason
    assert not hooks.state.exists()


@pytest.mark.parametrize("kind", ENDS)
@pytest.mark.parametrize("host", HOSTS)
def test_garbage_elsewhere_is_told_on_standard_error_alone(host: str, kind: str, tmp_path: Path) -> None:
    hooks = Hooks(tmp_path, host)
    whole = json.dumps(event(host, kind)).encode()
    for data in (whole[:-1], whole.replace(b"/repo", b"\xff"), whole.replace(b'"r1"', b"5")):
        reply = hooks.raw(data)
        assert (reply.stdout, reply.status) == (b"", 0)
        assert reply.stderr.count(b"\n") == 1


def test_events_that_are_not_known_are_nothing_to_us(tmp_path: Path) -> None:
    for host in HOSTS:
        assert Hooks(tmp_path, host).ask(event(host, "SomeFutureEventV2", data={"x": 1})) == Reply()


def test_a_payload_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook, "MAX_PAYLOAD", 100)
    hooks = Hooks(tmp_path)
    assert "more than 100 bytes" in str(blocked("claude", hooks.ask(CALL)))
    assert hooks.ask(NO_CALL | {"last_assistant_message": "x" * 100}).stdout == b""


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b'{"hook_event_name":"Stop", ...', "other"),
        (b'{"hook_event_name" : "PreToolUse", ...', "before"),
        (b'{"hook_event_name":"PreToolUse","tool_input":{"a":"{\\"hook_event_name\\":\\"Stop\\"}', "before"),
        (b'{"tool_input":{"a":"\\"hook_event_name\\":\\"Stop\\""', "before"),
        (b'{"hook_event_name":"Stop","hook_event_name":"PreToolUse"', "before"),
        (b'{"toolName":"x","toolArgs":{"hook_event_name":"Stop"}', "before"),
        (b"", "before"),
    ],
)
def test_what_a_broken_payload_is_taken_for(data: bytes, kind: str) -> None:
    """The words of an agent stand within a text, and name no event."""
    assert guessed(data).kind == kind


def test_registrations_that_are_wrong_block_too(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    for options in (["--bogus"], ["--wait"], ["--wait", "soon"], ["--after-block=shrug"], ["--policy", ""], ["x"]):
        assert blocked("claude", hooks.ask(CALL, *options)) is not None
        assert hooks.ask(NO_CALL, *options).stdout == b""


def test_without_a_host_the_answer_is_one_that_all_obey(tmp_path: Path) -> None:
    for args in ((), ("--host",), ("--host", "emacs"), ("--host=emacs",)):
        for payload, status in ((CALL, 2), (NO_CALL, 0)):
            reply = handle(Invocation(args, json.dumps(payload).encode(), str(tmp_path)), Gates())
            assert (reply.stdout, reply.status) == (b"", status)
            assert reply.stderr


def test_options() -> None:
    found = options_of(("--host=claude", "--policy", "a", "--policy=b", "--wait", "2.5", "--observe"))
    assert (found.policies, found.wait, found.observe, found.apply_changes) == (("a", "b"), 2.5, True, False)
    assert options_of(("--host", "codex", "--policy-changes", "apply")).apply_changes
    for wrong in (("--host", "claude", "--wait", "nan"), ("--host", "claude", "--observe=1"), ("--wait", "1")):
        with pytest.raises(BadCall):
            options_of(wrong)


class Failing(Gates):
    """Gates that fail, each time in the same way."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def at(self, state: Path) -> None:  # type: ignore[override]  # noqa: ARG002 - it fails
        raise self.error


@pytest.mark.parametrize("error", [MemoryError(), RecursionError(), KeyError("x"), SystemExit(0), KeyboardInterrupt()])
@pytest.mark.parametrize("host", HOSTS)
def test_whatever_fails_within_blocks(host: str, error: BaseException, tmp_path: Path) -> None:
    hooks = Hooks(tmp_path, host)
    hooks.gates = Failing(error)
    assert "without judging it" in str(blocked(host, hooks.ask(before(host, "Bash", {}))))
    for kind in ENDS:
        assert hooks.ask(event(host, kind, tool_name="Bash", tool_input={})).stdout == b""


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(HOSTS))
def test_no_bytes_raise(data: bytes, host: str) -> None:
    reply = handle(Invocation(("--host", host), data, "/"), Failing(KeyError()))
    assert reply.stdout or reply.stderr


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_NAMES = st.sampled_from([*CALL, "tool_response", "tool_calls", "prompt", "agent_id", "turn_id", "conversation_id"])


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(_NAMES, _VALUES, max_size=8), st.sampled_from(["PreToolUse", *ENDS, "PostToolBatch"]))
def test_no_members_raise(members: dict[str, object], kind: str) -> None:
    data = json.dumps(members | {"hook_event_name": kind, "session_id": "r"}).encode()
    for host in HOSTS:
        reply = handle(Invocation(("--host", host), data, "/"), Failing(KeyError()))
        assert bool(reply.stdout) == (kind == "PreToolUse")

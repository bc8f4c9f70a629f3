"""What is answered to the calls of an agent, host by host, and what the gate takes in of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from points_support import HOSTS, Hooks, before, blocked, event

from vigil_lang.points.invocation import Reply

if TYPE_CHECKING:
    from pathlib import Path

POLICY = """
policy shop

/// Nothing is published without a test that passed.
statement tested: prec(shell.run(command = "make publish"), shell.run(command = "make test", status = ok))

/// Builds are not thrown away.
rule kept: when shell.run(command = "rm -rf build") then block

/// The user confirms what leaves the machine.
rule leaves: when shell.run(command = "make send") then hold

/// Lists are long.
@on_violation(warn)
statement long: abs(shell.run(command = "make list"))
"""
SHELL = {"claude": "Bash", "codex": "Bash", "gemini": "run_shell_command", "copilot": "bash", "cursor": "Shell"}


def shell(host: str, command: str, key: str = "t1", **more: Any) -> dict[str, Any]:
    return before(host, SHELL[host], {"command": command}, key, **more)


@pytest.mark.parametrize("host", HOSTS)
def test_pass_warn_block_and_hold(host: str, tmp_path: Path) -> None:
    hooks = Hooks(tmp_path, host)
    hooks.policy(POLICY)
    passed = hooks.ask(shell(host, "ls", "t1"))
    assert passed.stdout == (b'{"permission":"allow"}\n' if host == "cursor" else b"")
    assert blocked(host, hooks.ask(shell(host, "make list", "t2"))) is None
    reason = str(blocked(host, hooks.ask(shell(host, "rm -rf build", "t3"))))
    assert "`kept`" in reason
    held = str(blocked(host, hooks.ask(shell(host, "make send", "t4"))))
    (hold,) = hooks.gate.store.holds()
    assert f"held, {hold.id}" in held
    reason = str(blocked(host, hooks.ask(shell(host, "make publish", "t5"))))
    assert "`tested`" in reason
    assert "make test" in reason


def test_observing_lets_everything_pass_and_records_it(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path, "claude", "--observe")
    hooks.policy(POLICY)
    assert hooks.ask(shell("claude", "rm -rf build")) == Reply()
    (entry,) = [
        json.loads(line)
        for line in (hooks.state / "log.jsonl").read_text(encoding="utf-8").splitlines()
        if json.loads(line)["kind"] == "decision"
    ]
    assert (entry["mode"], entry["observed"]) == ("block", True)


def test_asking_where_the_host_can(tmp_path: Path) -> None:
    for host in HOSTS:
        hooks = Hooks(tmp_path / host, host, "--after-block", "ask")
        hooks.policy(POLICY)
        for command in ("make send", "rm -rf build"):
            told = json.loads(hooks.ask(shell(host, command, command)).stdout)
            own = told.get("hookSpecificOutput", told)
            asked = own.get("permissionDecision", told.get("decision", told.get("permission")))
            assert asked == ("ask" if host in ("claude", "gemini", "copilot") else "deny"), host


def test_halting(tmp_path: Path) -> None:
    for host in HOSTS:
        hooks = Hooks(tmp_path / host, host, "--after-block", "halt")
        hooks.policy(POLICY)
        told = json.loads(hooks.ask(shell(host, "rm -rf build")).stdout)
        assert told.get("continue", True) is (host not in ("claude", "gemini"))
        told = hooks.ask(shell(host, "ls", "t2")).stdout.decode()
        assert "deny" in told
        assert "halted" in told


def test_a_registration_does_not_lower_what_is_asked(tmp_path: Path) -> None:
    """Nobody is asked whether the agent may disarm us."""
    for host in ("claude", "gemini", "copilot"):
        hooks = Hooks(tmp_path / host, host, "--after-block", "ask")
        payload = before(host, "Write" if host == "claude" else "write_file", {
            "file_path": str(hooks.work / ".claude" / "settings.json"), "content": "{}"
        })  # fmt: skip
        if host == "claude":
            assert "registration" in str(blocked(host, hooks.ask(payload)))


def test_what_is_owed_is_told_a_bounded_number_of_times(tmp_path: Path) -> None:
    policy = 'policy p\nstatement shut: resp(shell.run(command = "open"), shell.run(command = "close"))\n'
    stops = {"claude": "Stop", "codex": "Stop", "gemini": "AfterAgent", "copilot": "Stop", "cursor": "stop"}
    for host in HOSTS:
        hooks = Hooks(tmp_path / host, host)
        hooks.policy(policy)
        hooks.ask(shell(host, "open"))
        stop = event(host, stops[host])
        answers = [hooks.ask(stop) for _ in range(5)]
        told = [each for each in answers if each.stdout]
        assert len(told) == (2 if host in ("claude", "cursor") else 1)
        assert answers[: len(told)] == told
        assert all(each.status == 0 for each in answers)
        text = json.loads(told[0].stdout).get("reason") or json.loads(told[0].stdout)["followup_message"]
        assert text.startswith("Vigil: before you stop, do what is owed: `shut`")


def test_what_was_done_against_a_policy_is_told_afterwards(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    hooks.policy(POLICY)
    ran = event("claude", "PostToolUse", tool_name="Bash", tool_input={"command": "make publish"}, tool_use_id="t9",
                tool_response={"stdout": "", "stderr": ""})  # fmt: skip
    told = json.loads(hooks.ask(ran).stdout)
    assert "`tested`" in told["hookSpecificOutput"]["additionalContext"]


def test_a_failed_guard_is_no_guard(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    hooks.policy(POLICY)

    def made(key: str, name: str, **more: Any) -> None:
        assert hooks.ask(shell("claude", "make test", key)) == Reply()
        hooks.ask(event("claude", name, tool_name="Bash", tool_input={"command": "make test"}, tool_use_id=key, **more))

    made("t1", "PostToolUseFailure", error="Exit code 2\nbroken")
    assert blocked("claude", hooks.ask(shell("claude", "make publish", "t2"))) is not None
    made("t3", "PostToolUse", tool_response={"stdout": "fine", "stderr": ""})
    assert blocked("claude", hooks.ask(shell("claude", "make publish", "t4"))) is None


def test_a_session_goes_on_after_it_was_ended_cleared_or_compacted(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    hooks.policy(POLICY)
    hooks.ask(shell("claude", "make test", "t1"))
    ran = {"tool_name": "Bash", "tool_input": {"command": "make test"}, "tool_response": {"stdout": "", "stderr": ""}}
    hooks.ask(event("claude", "PostToolUse", tool_use_id="t1", **ran))
    for name, more in (
        ("PreCompact", {"trigger": "auto"}),
        ("SessionStart", {"source": "compact"}),
        ("SessionEnd", {"reason": "resume"}),
        ("SessionStart", {"source": "resume"}),
    ):
        assert hooks.ask(event("claude", name, **more)) == Reply()
    assert blocked("claude", hooks.ask(shell("claude", "make publish", "t2"))) is None
    other = shell("claude", "make publish", "t3") | {"session_id": "r2"}
    assert blocked("claude", hooks.ask(other)) is not None


def test_sub_agents_are_part_of_the_run(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    hooks.policy(POLICY)
    inside = {"agent_id": "a1", "agent_type": "Explore"}
    assert hooks.ask(event("claude", "SubagentStart", **inside)) == Reply()
    assert blocked("claude", hooks.ask(shell("claude", "rm -rf build", "t1", **inside))) is not None
    hooks.ask(shell("claude", "make test", "t2", **inside))
    assert hooks.ask(event("claude", "SubagentStop", last_assistant_message="done", **inside)) == Reply()
    assert blocked("claude", hooks.ask(shell("claude", "make publish", "t3"))) is not None


def test_calls_of_one_message_are_no_guards_of_each_other(tmp_path: Path) -> None:
    for host in HOSTS:
        hooks = Hooks(tmp_path / host, host)
        hooks.policy(POLICY)
        assert blocked(host, hooks.ask(shell(host, "make test", "t1"))) is None
        assert blocked(host, hooks.ask(shell(host, "make publish", "t2"))) is not None


def test_a_call_that_is_told_twice_is_one_call(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    for _ in range(3):
        assert hooks.ask(shell("claude", "ls")) == Reply()
    assert len(hooks.gate.trace("r1").events) == 2
    assert blocked("claude", hooks.ask(shell("claude", "rm x"))) is not None


def test_a_sub_agent_with_a_session_of_its_own_belongs_to_the_run_of_who_began_it(tmp_path: Path) -> None:
    """As Copilot CLI has it. What the sub-agent is asked for is not the user's word; nothing is owed by it alone."""
    hooks = Hooks(tmp_path, "copilot")
    hooks.policy("""
policy shop
statement tested: prec(shell.run(command = "make publish"), shell.run(command = "make test", status = ok))
statement confirmed: prec(shell.run(command = "make send"), user.message(text = "yes, send it"))
statement cleaned: resp(shell.run(command = "make publish"), shell.run(command = "make clean"))
""")
    done = {"tool_name": "bash", "tool_input": {"command": "make test"}, "session_id": "s1", "cwd": "/repo"}
    done["tool_result"] = {"result_type": "success", "text_result_for_llm": "<shellId: 0 completed with exit code 0>"}
    hooks.ask({"hook_event_name": "PreToolUse", **done})
    hooks.ask({"hook_event_name": "PostToolUse", **done})
    delegated = {"session_id": "a1", "agent_id": "a1", "parent_agent_id": "s1", "cwd": "/repo"}
    hooks.ask({"hook_event_name": "UserPromptSubmit", **delegated, "prompt": "yes, send it"})
    sends, publishes = (
        {"tool_name": "bash", "tool_input": {"command": f"make {each}"}} for each in ("send", "publish")
    )
    assert blocked("copilot", hooks.ask({"hook_event_name": "PreToolUse", **delegated, **sends})) is not None
    assert blocked("copilot", hooks.ask({"hook_event_name": "PreToolUse", **delegated, **publishes})) is None
    assert hooks.ask({"hook_event_name": "Stop", **delegated}) == Reply()
    lines = (hooks.state / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert {entry["run"] for line in lines if "run" in (entry := json.loads(line))} == {"s1"}

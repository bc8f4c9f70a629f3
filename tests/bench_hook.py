"""Timings of hooks as a host meets them, each beside a bare interpreter: part of `make bench`.

`python tests/bench_hook.py` prints these rows alone. Whole processes take turns with a bare `python -I -S`, so that a
busy machine slows both; the ratio of their medians says more than the milliseconds. Decisions are asked of a daemon
over its socket, by as many threads as a machine has agents, each of which waits for its answer before it asks again.

The peers decide about the same call by a rule of their own kind, in a hook that is as short as it can be: they keep no
log, no run and no holds. They are installed in an environment of their own, where they can be.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import venv
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent.parent))

from vigil_lang.points.daemon import asking, wire
from vigil_lang.points.daemon.server import stop

CLIENT = Path(wire.__file__).with_name("client.py")
BARE = [sys.executable, "-I", "-S", "-c", "pass"]
RUNS, THREADS = 50, 4
POLICY = """
policy p

/// Tests pass before each push.
statement tested: prec(Bash(command ~ "git push*"), Bash(command ~ "make test*" and status = ok))
"""

CEDAR = '''
import cedarpy, json, sys
call = json.load(sys.stdin)
request = {"principal": 'Agent::"a"', "action": 'Action::"run"', "resource": 'Tool::"Bash"',
           "context": {"command": call["tool_input"]["command"]}}
policy = """permit(principal, action, resource);
forbid(principal, action, resource) when {context.command like "git push*"};"""
sys.exit(0 if cedarpy.is_authorized(request, policy, []).decision == cedarpy.Decision.Allow else 2)
'''
AGENT_OS = """
import json, sys
from agent_os.policies import PolicyEvaluator
from agent_os.policies.schema import PolicyAction, PolicyCondition, PolicyDocument, PolicyOperator, PolicyRule
call = json.load(sys.stdin)
condition = PolicyCondition(field="command", operator=PolicyOperator.MATCHES, value="^git push")
rule = PolicyRule(name="r", condition=condition, action=PolicyAction.DENY)
policy = PolicyDocument(name="p", version="1.0", rules=[rule])
sys.exit(0 if PolicyEvaluator([policy]).evaluate({"command": call["tool_input"]["command"]}).allowed else 2)
"""
PEERS = {"cedarpy": (["cedarpy"], CEDAR), "agent-os-kernel": (["agent-os-kernel", "pyyaml"], AGENT_OS)}
"""What to install, and a hook that uses it; the second is the policy engine of Microsoft's Agent Governance Toolkit."""


def payload(run: str, number: int, command: str = "ls -la") -> bytes:
    """What a host sends before a call."""
    call = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"toolu_{number}"}
    return json.dumps({"session_id": run, "hook_event_name": "PreToolUse", "cwd": "/", **call}).encode()


def outcome(run: str, number: int) -> bytes:
    """What it sends when the call has ended."""
    call = json.loads(payload(run, number)) | {"hook_event_name": "PostToolUse"}
    return json.dumps(call | {"tool_response": {"stdout": "x", "stderr": "", "interrupted": False}}).encode()


def seconds(line: list[str], stdin: bytes, **environ: str) -> float:
    """How long a process takes from its start to its end."""
    began = time.perf_counter()
    done = subprocess.run(line, input=stdin, env={**os.environ, **environ}, capture_output=True, check=False)
    took = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    return took


def beside_bare(what: str, line: list[str], count: int, target: float | None = None, **environ: str) -> None:
    """A row about a process, which takes turns with a bare interpreter. `target` is in bare starts."""
    own, bare = [], []
    for number in range(count):
        bare.append(seconds(BARE, b""))
        own.append(seconds(line, payload("bench", number), **environ))
    ratio = median(own) / median(bare)
    mark = "" if target is None else f"target {target:4.1f} ×  {'ok' if ratio <= target else 'MISS'}"
    best = f"best {min(own) * 1000:.1f} and {min(bare) * 1000:.1f} ms"
    print(f"{what:<44}{median(own) * 1000:8.1f} ms {ratio:5.1f} × a bare start  {mark:<20} {best}", flush=True)


def through_the_daemon(state: Path, args: list[str], count: int) -> None:
    """Hooks a second, asked over the socket for many runs at once: each decision, and the outcome of its call."""
    spent: list[float] = []

    def ask(thread: int) -> None:
        for number in range(thread, count, THREADS):
            began = time.perf_counter()
            said = asking._asked(str(state), args, payload(f"run-{number % RUNS}", number))
            spent.append(time.perf_counter() - began)
            if said is None or said[0]:
                raise RuntimeError(f"{said}")
            asking._asked(str(state), args, outcome(f"run-{number % RUNS}", number))

    for run in range(RUNS):  # each begins before it is timed
        asking._asked(str(state), args, payload(f"run-{run}", 1_000_000))
        asking._asked(str(state), args, outcome(f"run-{run}", 1_000_000))
    threads = [threading.Thread(target=ask, args=(number,)) for number in range(THREADS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    ordered = sorted(spent)
    p50, p99 = (ordered[len(ordered) * part // 100] * 1000 for part in (50, 99))
    rate = 2 * len(ordered) / took
    mark = f"target 1,000 a second, p99 20 ms  {'ok' if rate >= 1000 and p99 <= 20 else 'MISS'}"
    what = f"hooks, {RUNS} runs, {THREADS} clients"
    print(f"{what:<44}{rate:8.0f} a second; a decision p50 {p50:.1f}, p99 {p99:.1f} ms  {mark}")


def peers(count: int) -> None:
    """The peers' rows; why not, where one cannot be installed."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder, "bin", "python"))
        for name, (packages, program) in PEERS.items():
            install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
            try:
                subprocess.run(install, capture_output=True, check=True, timeout=300)
            except (subprocess.SubprocessError, OSError) as error:
                print(f"{f'a hook with {name}':<44}left out: it does not install ({type(error).__name__})")
                continue
            hook = Path(folder, "hook.py")
            hook.write_text(program, encoding="utf-8")
            beside_bare(f"a hook with {name}", [python, "-I", str(hook)], count)


def hooks(count: int = 20, decisions: int = 3_000) -> None:
    """Print the rows."""
    print("a hook before a call, as a process")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        state, policy = folder / "state", folder / "p.vgl"
        policy.write_text(POLICY, encoding="utf-8")
        args = ["--host", "claude", "--state", str(state), "--policy", str(policy)]
        hook = [sys.executable, "-I", "-S", str(CLIENT), *args]
        beside_bare("the hook alone, after the first of its run", hook, count, 5.3, VIGIL_DAEMON="off")
        seconds(hook, payload("bench", 0))
        end = time.monotonic() + 60
        while asking._asked(str(state), args, payload("bench", 0)) is None and time.monotonic() < end:
            time.sleep(0.1)
        try:
            beside_bare("the hook with a daemon", hook, count, 1.8)
            through_the_daemon(state, args, decisions)
        finally:
            stop(state)
    peers(count)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20, help="processes of each kind")
    parser.add_argument("--decisions", type=int, default=3_000)
    given = parser.parse_args()
    hooks(given.count, given.decisions)

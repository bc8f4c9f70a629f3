"""Hostile inputs cost no more than their size warrants: a minute and a gigabyte for a megabyte, whatever it holds.

Each bomb is judged by the real command in a process that may not have more memory.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from vigil_lang import Event, Trace, parse_policy
from vigil_lang.base import files
from vigil_lang.engines.effort import SHOWN, Effort
from vigil_lang.engines.smt.verify import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.cli_support import Vigil, Write

resource: Any = pytest.importorskip("resource")

MEGABYTE = 1_000_000
POLICY = "statement S: prec(copy(source = x, target = y), ok(source = x, target = y))\n"
RUN = '{"action":"copy","args":{"source":"1","target":"2"}}\n'


def command(*args: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """The command with a gigabyte of memory and a minute of time."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))

    words = [sys.executable, "-m", "vigil_lang", *map(str, args)]
    return subprocess.run(words, input=stdin, capture_output=True, timeout=300, check=False, preexec_fn=limited)


def lists(*actions: str, size: int) -> bytes:
    """Events whose two lists have `size` values each, the same in all events."""
    args = {"source": [f"s{n}" for n in range(size)], "target": [f"t{n}" for n in range(size)]}
    return "".join(json.dumps({"action": action, "args": args}) + "\n" for action in actions).encode()


def generated(seed: int) -> tuple[str, bytes]:
    """A policy and a run of pieces put together at random, ten kilobytes each; many are out of place."""
    chance = random.Random(seed)
    conditions = [
        "copy(source = x)",
        "ok(target = y)",
        'a(f ~ "*b?")',
        "a(f ~ /(a|b)*c{9}/)",
        "copy(source contains x)",
    ]
    forms = ["abs({})", "prec({}, {})", "resp({}, {})", "until({}, {}, {})", "atmost[2]({})", "always {} implies {}"]
    statements = []
    while len(statements) * 60 < MEGABYTE // 100:
        form = chance.choice(forms)
        parts = [chance.choice([" and ", " or ", " and not "]).join(chance.choices(conditions, k=2)) for _ in range(3)]
        statements.append(f"statement S{len(statements)}: " + form.format(*parts[: form.count("{}")]))
    texts = ["1", "é" * 50, ["1", "2", "3"], {"f": [[["1"]]]}, 1e300, "\ud800", None, [], True]
    events = []
    while len(events) * 90 < MEGABYTE // 100:
        args = {chance.choice(["source", "target", "f"]): chance.choice(texts) for _ in range(2)}
        events.append(json.dumps({"action": chance.choice(["copy", "ok", "a"]), "args": args}))
    return "\n".join(statements), "\n".join(events).encode()


BOMBS: dict[str, tuple[str, bytes | Callable[[], bytes], str]] = {
    "two lists of 300": (POLICY, lists("ok", "copy", size=300), "safe"),
    "gzip that is not called so": (POLICY, lambda: gzip.compress(b" " * (200 << 20)), "unpacks to more than 25 times"),
    "nested groups": (f"statement S: abs(a(f ~ /{'(' * 15_000}a{')' * 15_000}/))", b'{"action":"a"}\n', "safe"),
    "a glob": ('statement S: abs(a(f ~ "' + "?*a" * 300_000 + '"))', b'{"action":"a"}\n', "too large"),
    "growing sets": (
        "let s0 = {a0}\n" + "\n".join(f"let s{n} = {{a{n}}} | s{n - 1}" for n in range(1, 20_000)),
        b'{"action":"a"}\n',
        "more than 1,000,000 elements",
    ),
    "nested values": (POLICY, b'{"action":"ok","args":{"source":' + b"[" * MEGABYTE, "VGL601"),
    "a number": (POLICY, b'{"action":"ok","args":{"source":' + b"9" * 100_000 + b"}}\n", "a number is out of range"),
    "a deep path": (
        POLICY,
        "".join(
            json.dumps({"tool": tool, "args": {"file_path": "/d" * 150_000 + "/f", "content": tool}}) + "\n"
            for tool in ("Write", "Read", "Write")
        ).encode(),
        "safe",
    ),
    "brackets": (f"statement S: abs(a({'(' * MEGABYTE}", b'{"action":"a"}\n', "more than 500,000 tokens"),
}


@pytest.mark.unmeasured
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_judged_or_refused(name: str, tmp_path: Path) -> None:
    policy, run, said = BOMBS[name]
    (tmp_path / "p.vgl").write_text(policy)
    (tmp_path / "run.jsonl").write_bytes(run if isinstance(run, bytes) else run())
    done = command("verify", tmp_path / "p.vgl", tmp_path / "run.jsonl")
    assert said in (done.stdout + done.stderr).decode(), done
    assert done.returncode == (0 if said == "safe" else 2)


_LONG = "a" * 200_000
TESTS = {
    "a regex": f"command ~ /{_LONG}/",
    "a glob": f'command ~ "?*{_LONG}"',
    "a text": f'command = "{_LONG}"',
    "not a regex": f"command !~ /{_LONG}/",
}


@pytest.mark.unmeasured
@pytest.mark.parametrize("one", TESTS)
@pytest.mark.parametrize("other", TESTS)
def test_long_texts_are_linted_with_whatever_else_is_asked(one: str, other: str, tmp_path: Path) -> None:
    a, b = TESTS[one], TESTS[other]
    statements = [f"abs(Bash({a}) and Bash({b}))", f"prec(Bash({a}), ok({b}))", f"abs(Bash({b}))"]
    statements.append(f"abs(Bash(command = x)) where {a.replace('command', 'x')}")
    (tmp_path / "p.vgl").write_text("".join(f"statement S{n}: {each}\n" for n, each in enumerate(statements)))
    done = command("lint", tmp_path / "p.vgl")
    assert done.returncode in (0, 1), done
    assert len(done.stdout) < 20_000


def test_a_message_cuts_what_an_expression_or_a_value_makes_of_it(vigil: Vigil, write: Write) -> None:
    broken = write("broken.vgl", f"statement S: abs(a(f ~ /({'b' * 100_000}/))\n")
    policy = write("p.vgl", '@message("saw {x}")\nstatement S: abs(a(f = x))\n')
    run = write("run.jsonl", json.dumps({"action": "a", "args": {"f": "b" * 100_000}}) + "\n")
    for form in ("human", "json", "sarif", "concise"):
        assert "not valid: missing )" in (said := vigil("check", broken, "--format", form)).out + said.err
        assert "b" * 200 not in said.out + said.err
    verdict = json.loads(vigil("verify", policy, run, "--format", "json").out)
    (offence,) = verdict["statements"][0]["offending"]
    assert offence["message"].startswith("saw b")
    assert len(offence["message"]) < 100


@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_made_at_random_is_judged_or_refused(seed: int, tmp_path: Path) -> None:
    policy, run = generated(seed)
    (tmp_path / "p.vgl").write_text(policy)
    (tmp_path / "run.jsonl").write_bytes(run)
    done = command("verify", tmp_path / "p.vgl", tmp_path / "run.jsonl")
    assert done.returncode in (0, 1, 2), done
    assert b"Traceback" not in done.stderr


def test_what_is_too_costly_is_said_with_its_statement_and_event(vigil: Vigil, write: Write) -> None:
    sources, targets = ([f"{side}{n}" for n in range(1_000)] for side in "st")
    events = [("ok", [s], [t]) for s, t in zip(sources, targets, strict=True)] + [("copy", sources, targets)]
    lines = (json.dumps({"action": action, "args": {"source": s, "target": t}}) for action, s, t in events)
    policy, run = write("p.vgl", POLICY), write("run.jsonl", "\n".join(lines))
    for verb in (("verify", policy, run), ("compile", policy, "--trace", run)):
        result = vigil(*verb)
        assert result.status == 2
        assert (
            "error[VGL003]: `S` cannot be judged at `e1001`: the values of its variables can be combined" in result.err
        )
    assert vigil("lint", policy, "--trace", run).status in (0, 1)


# --- what has no end ---------------------------------------------------------------------------------------


def verbs(path: object, policy: object, run: object) -> dict[str, tuple[object, ...]]:
    """Every place that takes a file, with this one there."""
    return {
        "policy": ("verify", path, run),
        "check": ("check", path),
        "fmt": ("fmt", "--check", path),
        "lint": ("lint", path),
        "test": ("test", path),
        "run": ("verify", policy, path),
        "abstract": ("abstract", path),
        "signature of a run": ("signature", path),
        "signature": ("check", policy, "--signature", path),
        "params": ("verify", policy, run, "--params", path),
        "configuration": ("lint", policy, "--config", path),
        "baseline": ("lint", policy, "--baseline", path),
        "document": ("lint", policy, "--document", path),
    }


PLACES = sorted(verbs("", "", ""))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["/dev/zero", "link", "pipe", "socket", "folder"])
def test_what_has_no_end_is_refused(
    kind: str, place: str, vigil: Vigil, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_PATIENCE", 0.01)
    policy, run = write("p.vgl", POLICY), write("run.jsonl", RUN)
    path = tmp_path / {"policy": "in.vgl", "test": "in_test.vgl", "run": "in.jsonl"}.get(place, "in")
    match kind:
        case "/dev/zero":
            path = Path(kind)
        case "link":
            path.symlink_to("/dev/zero")
        case "pipe":
            os.mkfifo(path)
        case "socket":
            monkeypatch.chdir(tmp_path)
            socket.socket(socket.AF_UNIX).bind(path.name)
        case _:
            path.mkdir()
    result = vigil(*verbs(path, policy, run)[place])
    if kind == "folder":
        assert result.status in (0, 2), result
    else:
        assert result.status == 2, result


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="descriptors have no paths here")
def test_a_pipe_that_a_shell_hands_over_is_read(vigil: Vigil, write: Write) -> None:
    reading, writing = os.pipe()
    threading.Thread(target=lambda: (os.write(writing, RUN.encode()), os.close(writing))).start()
    result = vigil("verify", write("p.vgl", POLICY), f"/dev/fd/{reading}")
    os.close(reading)
    assert result.status == 1


def test_standard_input_that_is_a_device_is_refused() -> None:
    for verb in (["abstract", "-"], ["check", "-"]):
        with Path("/dev/zero").open("rb") as zeros:
            done = subprocess.run(
                [sys.executable, "-m", "vigil_lang", *verb], stdin=zeros, capture_output=True, timeout=60, check=False
            )
        assert done.returncode in (1, 2)
        assert b"it is a device, not a file" in done.stderr + done.stdout


def test_nothing_at_all_is_read(vigil: Vigil, write: Write) -> None:
    assert vigil("check", os.devnull).status == 0
    assert "VGL605" in vigil("verify", write("p.vgl", POLICY), os.devnull).err


def test_a_statement_costs_what_its_tests_do_on_every_run() -> None:
    """Many runs by few statements of many tests are as much work as few runs by many statements."""
    trace = Trace.of([Event.of("a", {"f": "1"})])
    taken = {}
    for size in (1, 400):
        tests = " or ".join(f'b(f = x, g = "{n}")' for n in range(size))
        effort = Effort()
        verify([parse_policy(f"statement S: prec(a(f = x), {tests})")], trace, effort)
        taken[size] = effort.taken
    assert taken[400] - taken[1] > 2 * 399 * SHOWN

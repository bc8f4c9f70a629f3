"""Nothing that lies in a checkout is run by looking at it: docs/security.md, "Running code"."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.security.planted import has_run, plant
from vigil_lang.base.processes import command, import_path
from vigil_lang.cli.replay import WORTH_A_PROCESS as WORTH_MORE
from vigil_lang.lint.batch import WORTH_A_PROCESS

ROOT = Path(__file__).parents[2]
VIGIL = [str(Path(sys.executable).with_name("vigil"))]
ISOLATED = [sys.executable, "-I", "-m", "vigil_lang"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A project with a policy, tests, runs and a document, and what nobody should run."""
    folder = tmp_path / "checkout"
    shutil.copytree(ROOT / "examples" / "dashcam", folder)
    return folder


def run(arguments: list[str], folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        arguments, cwd=folder, env={**os.environ, **more}, capture_output=True, text=True, check=False, timeout=120
    )


def test_what_is_planted_would_run(checkout: Path) -> None:
    told = plant(checkout)
    run([sys.executable, "-c", "import venv, z3, vigil_lang"], checkout)
    assert {"venv", "z3", "vigil_lang"} <= set(has_run(told))


VERBS = [
    ["check", "dashcam.vgl"],
    ["lint"],
    ["fmt", "--check", "."],
    ["test"],
    ["verify", "dashcam.vgl", "violating.jsonl"],
    ["replay", "dashcam.vgl", "violating.jsonl"],
    ["compile", "dashcam.vgl", "--trace", "violating.jsonl"],
    ["abstract", "violating.jsonl"],
    ["signature", "violating.jsonl"],
    ["draft", "SKILL.md", "--skeleton"],
    ["explain", "VGL101"],
    ["completion", "bash"],
]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb[0])
def test_no_verb_runs_what_lies_in_the_checkout(verb: list[str], checkout: Path) -> None:
    told = plant(checkout)
    done = run([*VIGIL, *verb], checkout)
    assert done.returncode < 2, done.stderr
    assert has_run(told) == []


_WATCHED = """\
import json, os, sys
opened, here = set(), os.path.join(os.getcwd(), "")
def watch(event, given):
    looks = event in ("open", "ctypes.dlopen")
    if looks and isinstance(given[0], (str, bytes, os.PathLike)):
        opened.add(os.path.abspath(os.fsdecode(given[0])))
    elif event in ("subprocess.Popen", "os.exec", "os.fork", "os.posix_spawn", "os.system"):
        opened.add(here + event)
sys.addaudithook(watch)
from vigil_lang.cli.main import run
statuses = [run(verb) for verb in json.loads(sys.argv[1])]
print("\\n" + json.dumps([statuses, sorted(path[len(here):] for path in opened if path.startswith(here))]))
"""


def test_a_verb_opens_what_it_reads_and_nothing_else_of_the_checkout(checkout: Path) -> None:
    """Whatever else lies there, planted or thought of by nobody: no verb so much as looks into it."""
    told = plant(checkout)
    (checkout / "vigil.toml").touch()
    for name in (".env", ".netrc", "pyvenv.cfg", "conftest.py", ".pythonrc", "active_config", "entry_points.txt"):
        (checkout / name).write_text("import os\n", encoding="utf-8")
    own = {path.name for path in checkout.glob("*") if path.suffix in (".vgl", ".jsonl", ".md", ".toml")}
    done = run([sys.executable, "-I", "-c", _WATCHED, json.dumps([*VERBS, ["demo"]])], checkout, VIGIL_CACHE_DIR="")
    statuses, opened = json.loads(done.stdout.splitlines()[-1])
    assert set(statuses) <= {0, 1}, done.stderr
    assert {"dashcam.vgl", "violating.jsonl", "SKILL.md", "vigil.toml"} <= set(opened)
    assert {name for name in opened if (checkout / name).is_file()} <= own
    assert has_run(told) == []


@pytest.mark.parametrize(("program", "path"), [(VIGIL, None), (ISOLATED, ":.")], ids=["vigil", "isolated"])
def test_processes_that_lint_run_nothing_of_the_checkout(program: list[str], path: str | None, checkout: Path) -> None:
    for number in range(WORTH_A_PROCESS):
        shutil.copy(checkout / "dashcam.vgl", checkout / f"p{number}.vgl")
    told = plant(checkout)
    more = {} if path is None else {"PYTHONPATH": path}
    done = run([*program, "lint", "--no-cache", "--jobs=2", "."], checkout, **more)
    assert done.returncode < 2, done.stderr
    assert has_run(told) == []


def test_processes_that_replay_run_nothing_of_the_checkout(checkout: Path) -> None:
    for number in range(WORTH_MORE):
        shutil.copy(checkout / "violating.jsonl", checkout / f"r{number}.jsonl")
    told = plant(checkout)
    done = run([*VIGIL, "replay", "--jobs=2", "."], checkout)
    assert done.returncode == 1, done.stderr
    assert has_run(told) == []


def test_a_process_of_ours_imports_what_this_one_does_and_nothing_from_here(checkout: Path) -> None:
    told = plant(checkout)
    done = run(command("json.tool"), checkout, PYTHONPATH=str(checkout))
    assert done.returncode != 2, done.stderr
    assert has_run(told) == []
    shown = run([*command("json.tool")[:3], "import sys, json; print(json.dumps(sys.path))", "x"], checkout)
    assert str(checkout) not in json.loads(shown.stdout)


def test_the_working_directory_is_left_out_unless_this_program_lies_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.setattr(sys, "path", ["", ".", "relative", str(tmp_path), str(tmp_path / "link"), "/lib", str(ROOT)])
    monkeypatch.chdir(tmp_path)
    assert import_path() == ["/lib", str(ROOT)]
    monkeypatch.chdir(ROOT)
    assert import_path() == [str(tmp_path), str(tmp_path / "link"), "/lib", str(ROOT)]
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert str(ROOT) in import_path()


def test_z3_takes_its_library_from_its_package(tmp_path: Path) -> None:
    for name in ("libz3.so", "libz3.so.5.4", "libz3.dylib"):
        (tmp_path / name).write_bytes(b"no library")
    looked = (
        "import sys; opened = []; sys.addaudithook(lambda e, a: e == 'ctypes.dlopen' and opened.append(str(a[0])));"
        "import vigil_lang.engines.smt.query, vigil_lang.engines.smt.solve, json;"
        "print(json.dumps([o for o in opened if 'z3' in o]))"
    )
    places = f"{tmp_path}:.:"
    done = run([sys.executable, "-I", "-c", looked], tmp_path, PATH=places, Z3_LIBRARY_PATH=str(tmp_path))
    (opened,) = json.loads(done.stdout)
    assert Path(opened).parent.parent.name == "z3"


STARTS = {
    "vigil_lang/abstraction/probe.py": {"subprocess"},
    "vigil_lang/gate/tier/child.py": {"subprocess"},
    "vigil_lang/base/processes.py": {"multiprocessing", "ProcessPoolExecutor"},
    "vigil_lang/gate/authority/keys.py": {"subprocess"},
    # A command of the operator's own settings, told of holds.
    "vigil_lang/gate/notify.py": {"subprocess"},
    # Only the type of a pool that base/processes.py makes.
    "vigil_lang/corpus/alone.py": {"ProcessPoolExecutor"},
    "vigil_lang/corpus/recordings.py": {"ProcessPoolExecutor"},
    # What a corpus names, where --baselines asks for it.
    "vigil_lang/evaluation/baseline.py": {"subprocess"},
    # This program itself: the daemon.
    "vigil_lang/points/daemon/asking.py": {"posix_spawn"},
    # git, in a repository of our own and without anybody's settings.
    "vigil_lang/points/checkpoints/repository.py": {"subprocess"},
    # The server that the proxy was called with.
    "vigil_lang/points/mcp/servers.py": {"create_subprocess_exec"},
    # The registered hook, and the host's own `--version`, where a person asks by `vigil hook status`.
    "vigil_lang/points/install/trial.py": {"subprocess"},
    "lsp/vigil_lsp/recordings/process.py": {"create_subprocess_exec"},
    # Between the server and the process that it started.
    "lsp/vigil_lsp/recordings/messages.py": {"pickle"},
}
"""Where a process may be started, or what was written down be made into objects again."""

_MODULES = {"code", "codeop", "dill", "marshal", "multiprocessing", "pickle", "pty", "runpy", "shelve", "subprocess"}
_NAMES = {"ProcessPoolExecutor", "__import__", "create_subprocess_exec", "create_subprocess_shell", "eval", "exec"}
_OF_OS = re.compile(r"(exec|spawn)[lv]p?e?|fork|forkpty|popen|posix_spawnp?|startfile|system")


def found_in(path: Path) -> set[str]:
    """What a module has that starts processes or runs texts."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names):
                found |= {name.name.partition(".")[0] for name in names} & _MODULES
            case ast.ImportFrom(module=str(module), names=names):
                found |= {module.partition(".")[0]} & _MODULES
                found |= {name.name for name in names} & _NAMES
            case ast.Call(ast.Name(name)) if name in _NAMES:
                found.add(name)
            case ast.Attribute(ast.Name(owner), name) if name in _NAMES or (owner == "os" and _OF_OS.fullmatch(name)):
                found.add(name)
    return found


def test_processes_are_started_in_few_places() -> None:
    modules = [path for folder in ("vigil_lang", "lsp") for path in (ROOT / folder).rglob("*.py")]
    found = {str(path.relative_to(ROOT)): found_in(path) for path in modules if "node_modules" not in path.parts}
    assert {name: what for name, what in found.items() if what} == STARTS

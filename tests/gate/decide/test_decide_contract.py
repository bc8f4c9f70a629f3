"""What the kernel is allowed to rest on, and that every branch of it is tried."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import vigil_lang
from tests.architecture import files_of, imported
from vigil_lang.gate.decide.conditions import MAX_DEPTH, Facts, ask, compiled, every
from vigil_lang.semantics import core

KERNEL = Path(vigil_lang.__file__).parent / "gate" / "decide"
MAY_IMPORT = ("vigil_lang.gate.decide", "vigil_lang.semantics", "vigil_lang.trace", "vigil_lang.base.node")
FOREIGN = {"msgspec", "re2"}
OF_MSGSPEC = {"typing_extensions"}
MUST_NOT_LOAD = {"z3", "pysmt", "click", "sqlite3", "cryptography", "socket", "random", "asyncio", "subprocess"}
LOADED = """
import sys
sys.modules["vigil_lang"] = type(sys)("vigil_lang")
sys.modules["vigil_lang"].__path__ = [sys.argv[1]]
sys.modules["vigil_lang.gate"] = type(sys)("vigil_lang.gate")
sys.modules["vigil_lang.gate"].__path__ = [sys.argv[1] + "/gate"]
before = set(sys.modules)
import vigil_lang.gate.decide
print(*sorted(set(sys.modules) - before))
"""


def test_what_the_kernel_imports() -> None:
    for path in files_of(KERNEL):
        for module in imported(path):
            own = module.startswith("vigil_lang")
            assert not own or any(module == may or module.startswith(f"{may}.") for may in MAY_IMPORT), module
            assert own or module.partition(".")[0] in FOREIGN | sys.stdlib_module_names, module


def test_what_is_loaded_with_the_kernel() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, str(KERNEL.parents[1])], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    foreign = {name for name in loaded - {"vigil_lang"} if name not in sys.stdlib_module_names}
    assert {name for name in foreign if not name.startswith("_")} <= FOREIGN | OF_MSGSPEC
    assert not loaded & MUST_NOT_LOAD
    own = {".".join(name.split(".")[1:2]) for name in done.stdout.split() if name.startswith("vigil_lang.")}
    assert own <= {"gate", "semantics", "trace", "base", "diagnostics", "patterns"}


def test_what_is_loaded_with_the_kernel_where_the_package_is_whole() -> None:
    code = "import sys, vigil_lang.gate.decide; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & MUST_NOT_LOAD


def test_the_kernel_does_nothing_but_decide() -> None:
    """No clock, file, network, chance or module state: no call of what would be one, and no `global`."""
    forbidden = {"open", "eval", "exec", "print", "input", "__import__", "time", "hash", "id", "getattr", "setattr"}
    for path in files_of(KERNEL):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not isinstance(node, ast.Global | ast.Nonlocal)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in forbidden, (path.name, node.lineno)


def test_the_kernel_is_small() -> None:
    lines = [line for path in files_of(KERNEL) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len([line for line in lines if line.strip()]) <= 515


def test_the_deepest_condition_is_evaluated_within_the_limits_of_the_interpreter() -> None:
    facts = Facts(("a",), ("a",), {}, {})
    for layer in (core.NotC, lambda inner: core.AndC((inner,)), lambda inner: core.OrC((inner,))):
        condition: core.Condition = core.AndC(())
        for _ in range(MAX_DEPTH):
            condition = layer(condition)
        assert ask(compiled(condition, every), facts) is True

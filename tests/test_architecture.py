"""The floor plan: which package may import which, and who may know a solver."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1] / "vigil_lang"

LAYERS = (
    "__init__", "version", "diagnostics", "base",
    "trace", "syntax", "semantics", "verdict", "ingest", "abstraction", "runs",
    "signatures", "project", "engines", "api", "documents", "analysis", "report", "pygments", "testing", "lint",
    "draft", "cli", "action", "__main__",
)  # fmt: skip
"""The packages and modules, each below those that may import it."""

SOLVER = ("z3", "pysmt")
FILES = sorted(ROOT.rglob("*.py"))


def layer(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, at once or later, also where only types need them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = node.module == "vigil_lang"
            yield from (f"{node.module}.{alias.name}" if whole else node.module for alias in node.names)


def test_every_package_has_its_place() -> None:
    assert {layer(path) for path in FILES} == set(LAYERS)


@pytest.mark.parametrize("name", [name for name in LAYERS if name != "__init__"])
def test_imports_point_one_way(name: str) -> None:
    """`__init__` names what it exports, and imports it when it is asked for."""
    below = set(LAYERS[: LAYERS.index(name) + 1])
    wrong = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in FILES
        if layer(path) == name
        for module in imported(path)
        if module.startswith("vigil_lang.") and module.split(".")[1] in LAYERS and module.split(".")[1] not in below
    ]
    assert wrong == []


def test_only_the_smt_engine_knows_the_solver() -> None:
    knowing = {
        path.relative_to(ROOT).parts[:2]
        for path in FILES
        for module in imported(path)
        if module.partition(".")[0] in SOLVER
    }
    assert knowing == {("engines", "smt")}


def test_what_decides_without_a_solver_does_not_reach_it() -> None:
    deciding = [path for path in FILES if layer(path) == "engines" and "smt" not in path.parts]
    assert deciding
    assert not [path for path in deciding for module in imported(path) if module.startswith("vigil_lang.engines.smt")]


def test_nobody_imports_the_server() -> None:
    assert not [
        path for path in FILES for module in imported(path) if module.startswith("vigil_lsp") and layer(path) != "cli"
    ]

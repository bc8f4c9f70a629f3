"""The floor plan: which package may import which, and who may know a solver."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from vigil_lang.semantics.forms import FORMS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1] / "vigil_lang"

LAYERS = (
    "__init__", "version", "diagnostics", "base", "english",
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


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, at once or later, also where only types need them."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = node.module == "vigil_lang"
            yield from (f"{node.module}.{alias.name}" if whole else node.module for alias in node.names)


CIRCLES = {
    frozenset({"vigil_lang.syntax.memory", "vigil_lang.syntax.parse"}),  # types only: a memory keeps what parsing read
    frozenset({"vigil_lang.report.content", "vigil_lang.report.junit"}),  # types only: a report keeps JUnit's suites
}
"""The modules that may import each other, and why."""


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")


def import_graph() -> dict[str, set[str]]:
    """Each module with those it imports, at once or later, also where only types need them."""
    modules = {dotted(path): path for path in FILES}
    graph: dict[str, set[str]] = {}
    for name, path in modules.items():
        found: set[str] = set()
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                wanted = ((f"{node.module}.{alias.name}", node.module) for alias in node.names)
                found.update(inner if inner in modules else outer for inner, outer in wanted)
        graph[name] = found & modules.keys()
    return graph


def circles(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """The strongly connected components of more than one module."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        waiting = [start]
        seen = reached[start] = set()
        while waiting:
            new = graph[waiting.pop()] - seen
            seen |= new
            waiting += new
    found = {frozenset(n for n in reached[name] if name in reached[n]) | {name} for name in graph}
    return {each for each in found if len(each) > 1}


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


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    assert circles(import_graph()) == CIRCLES


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


FORM_NAMES = {*FORMS, "always"}
OTHER_WORDS = {
    "vigil_lang/abstraction/shell/structure.py: until": "the shell's loop",
    "vigil_lang/cli/output.py: always": "colours, always",
    "lsp/vigil_lsp/completing/keywords.py: always": "what the editor says of the one form that has no row",
}
KNOWING_FORMS = ("syntax", "semantics/forms.py", "semantics/lower.py", "draft")


def compared(path: Path) -> Iterator[str]:
    """The texts that a file compares with something, matches, or looks up in a set or a table of its own."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Compare():
                parts: list[ast.expr] = [node.left, *node.comparators]
            case ast.MatchValue(value):
                parts = [value]
            case ast.Dict(keys):
                parts = [key for key in keys if key is not None]
            case _:
                continue
        for part in parts:
            yield from (n.value for n in ast.walk(part) if isinstance(n, ast.Constant) and isinstance(n.value, str))


def test_no_file_after_lowering_knows_a_form_by_its_name() -> None:
    """What tells forms apart is in their table, `semantics/forms.py`, so that a new form is a row there."""
    server = ROOT.parent / "lsp" / "vigil_lsp"
    files = [path for path in FILES if not path.relative_to(ROOT).as_posix().startswith(KNOWING_FORMS)]
    knowing = {
        f"{path.relative_to(ROOT.parent)}: {name}"
        for path in (*files, *server.rglob("*.py"))
        for name in compared(path)
        if name in FORM_NAMES
    }
    assert knowing == set(OTHER_WORDS)

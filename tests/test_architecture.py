"""The floor plan: which package may import which, and who may know a solver."""

from __future__ import annotations

import ast
import os
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.architecture import (
    CHECKOUT,
    PAGE,
    QUESTIONS,
    ROOT,
    SERVER,
    files_of,
    graph,
    imported,
    page,
    parsed,
    summary,
    unit,
)
from vigil_lang.semantics.forms import FORMS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LAYERS = (
    "__init__", "version", "patterns", "diagnostics", "base", "english",
    "trace", "syntax", "semantics", "verdict", "ingest", "abstraction", "runs",
    "signatures", "project", "engines", "api", "enforce", "gate", "documents", "analysis", "report", "pygments",
    "corpus", "service", "points", "adapters", "testing", "lint", "draft", "evaluation", "cli", "action", "__main__",
)  # fmt: skip
"""The packages and modules, each below those that may import it."""

SOLVER = ("z3", "pysmt")
FILES = files_of(ROOT)


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")


def module_graph() -> dict[str, set[str]]:
    """Each module with those it imports, at once or later, also where only types need them."""
    modules = {dotted(path): path for path in FILES}
    found_in: dict[str, set[str]] = {}
    for name, path in modules.items():
        found: set[str] = set()
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                wanted = ((f"{node.module}.{alias.name}", node.module) for alias in node.names)
                found.update(inner if inner in modules else outer for inner, outer in wanted)
        found_in[name] = found & modules.keys()
    return found_in


def circles(imports: dict[str, set[str]]) -> set[frozenset[str]]:
    """The strongly connected components of more than one module."""
    reached: dict[str, set[str]] = {}
    for start in imports:
        waiting = [start]
        seen = reached[start] = set()
        while waiting:
            new = imports[waiting.pop()] - seen
            seen |= new
            waiting += new
    found = {frozenset(n for n in reached[name] if name in reached[n]) | {name} for name in imports}
    return {each for each in found if len(each) > 1}


def test_every_package_has_its_place() -> None:
    assert {unit(path) for path in FILES} == set(LAYERS)


@pytest.mark.parametrize("name", [name for name in LAYERS if name != "__init__"])
def test_imports_point_one_way(name: str) -> None:
    """`__init__` names what it exports, and imports it when it is asked for."""
    allowed = set(LAYERS[: LAYERS.index(name)])
    wrong = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in FILES
        if unit(path) == name
        for module in imported(path)
        if module.startswith("vigil_lang.") and module.split(".")[1] in set(LAYERS) - allowed - {name}
    ]
    assert wrong == []


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    assert circles(module_graph()) == set()


def test_only_the_smt_engine_knows_the_solver() -> None:
    knowing = {
        path.relative_to(ROOT).parts[:2]
        for path in FILES
        for module in imported(path)
        if module.partition(".")[0] in SOLVER
    }
    assert knowing == {("engines", "smt")}


def test_what_decides_without_a_solver_does_not_reach_it() -> None:
    deciding = [path for path in FILES if unit(path) == "engines" and "smt" not in path.parts]
    assert deciding
    assert not [path for path in deciding for module in imported(path) if module.startswith("vigil_lang.engines.smt")]


def test_nobody_imports_the_server() -> None:
    assert not [
        path for path in FILES for module in imported(path) if module.startswith("vigil_lsp") and unit(path) != "cli"
    ]


FORM_NAMES = {*FORMS, "always"}
OTHER_WORDS = {
    "vigil_lang/abstraction/shell/structure.py: until": "the shell's loop",
    "vigil_lang/cli/output.py: always": "colours, always",
    "vigil_lang/gate/confirmation.py: until": "the end of a release, as it is signed",
    "vigil_lang/gate/hold_json.py: until": "the end of an approval, as it is published",
    "lsp/vigil_lsp/operator_help.py: until": "the operator between two conditions",
    "lsp/vigil_lsp/completing/keywords.py: always": "what the editor says of the one form that has no row",
}
KNOWING_FORMS = ("syntax", "semantics/forms.py", "semantics/lower.py", "draft")


def compared(path: Path) -> Iterator[str]:
    """The texts that a file compares with something, matches, or looks up in a set or a table of its own."""
    for node in ast.walk(parsed(path)):
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


# --- the language server -----------------------------------------------------------------------------------

UNKNOWN = {
    "recordings": {"actions", "completing", "features", "hovering", "server"},
    "actions": {"completing", "features", "hovering", "recordings", "server"},
    "completing": {"actions", "features", "hovering"},
    "hovering": {"actions"},
}
"""What a package of the server must not import. `recordings` is another process; the others are asked by features."""

SHARED = {
    "code_lens": {"documents"},
    "document_symbol": {"call_hierarchy", "workspace_symbol"},
    "trace": {"definition", "document_link", "hover"},
}
"""Features that others import. There should be no more: what features share belongs beside them."""


@pytest.mark.parametrize("name", UNKNOWN)
def test_packages_of_the_server_do_not_know(name: str) -> None:
    imports = graph(SERVER)
    assert imports.get(name, set()) & UNKNOWN[name] == set()


def test_features_do_not_import_each_other() -> None:
    wrong = [
        f"{path.name}: {module}"
        for path in files_of(SERVER / "features")
        for module in imported(path)
        if module.startswith("vigil_lsp.features.") and path.stem not in SHARED.get(module.split(".")[2], set())
    ]
    assert wrong == []


def test_what_runs_beside_the_server_speaks_no_protocol() -> None:
    """The process that knows the runs is started often: it imports neither pygls nor the protocol's types."""
    speaking = {
        path.name
        for path in files_of(SERVER / "recordings")
        for module in imported(path)
        if module.partition(".")[0] in {"pygls", "lsprotocol"}
    }
    assert speaking == set()


# --- the tests ---------------------------------------------------------------------------------------------


def test_modules_of_tests_differ_in_name() -> None:
    """They belong to no package: pytest imports each by its last name alone, whichever of them run together."""
    names = Counter(path.name for path in files_of(CHECKOUT / "tests") if "node_modules" not in path.parts)
    assert {name for name, count in names.items() if count > 1} <= {"conftest.py"}


# --- docs/architecture.md ----------------------------------------------------------------------------------


def test_the_page_is_what_the_code_says() -> None:
    made = page()
    if os.environ.get("VIGIL_UPDATE"):
        PAGE.write_text(made, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == made, "VIGIL_UPDATE=1 pytest tests/test_architecture.py"


@pytest.mark.parametrize("tree", [ROOT, SERVER], ids=lambda tree: tree.name)
def test_every_package_says_what_lives_there(tree: Path) -> None:
    assert not [path for path in tree.rglob("__init__.py") if not summary(path)]


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_is_looked_for_is_there(question: str) -> None:
    assert (CHECKOUT / QUESTIONS[question]).exists()

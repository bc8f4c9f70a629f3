"""What imports what, read from the code; and docs/architecture.md, which shows it.

The page is written anew by ``VIGIL_UPDATE=1 pytest tests/test_architecture.py``.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

CHECKOUT = Path(__file__).parents[1]
ROOT = CHECKOUT / "vigil_lang"
SERVER = CHECKOUT / "lsp" / "vigil_lsp"
PAGE = CHECKOUT / "docs" / "architecture.md"

Graph = dict[str, set[str]]
"""Units (a package or a module at the top of a tree), each with those that it imports."""


def files_of(tree: Path) -> list[Path]:
    """The modules of a tree, in order."""
    return sorted(tree.rglob("*.py"))


def unit(path: Path, tree: Path = ROOT) -> str:
    """The package, or the module at the top, that a file belongs to."""
    return path.relative_to(tree).parts[0].removesuffix(".py")


@cache
def imported(path: Path) -> tuple[str, ...]:
    """The modules that a file imports, at once or later, also where only types need them."""
    found: list[str] = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = "." not in node.module
            found += (f"{node.module}.{alias.name}" if whole else node.module for alias in node.names)
    return tuple(found)


@cache
def graph(tree: Path) -> Graph:
    """Which units of a tree import which others of it."""
    found: Graph = {unit(path, tree): set() for path in files_of(tree)}
    for path in files_of(tree):
        importer = unit(path, tree)
        for module in imported(path):
            whole, _, rest = module.partition(".")
            name = rest.partition(".")[0]
            if whole == tree.name and name in found and name != importer:
                found[importer].add(name)
    return found


def below(name: str, imports: Graph) -> set[str]:
    """Everything that a unit imports, itself or through others; there must be no cycle."""
    found = set(imports[name])
    for other in imports[name]:
        found |= below(other, imports)
    return found


def level(name: str, imports: Graph) -> int:
    """How many units lie below, one on the other: 0 for what imports none."""
    return max((level(other, imports) + 1 for other in imports[name]), default=0)


def summary(path: Path) -> str:
    """The first sentence of the docstring of a module, or of a package by its folder."""
    place = path / "__init__.py" if path.is_dir() else path
    paragraph = (ast.get_docstring(parsed(place)) or "").partition("\n\n")[0]
    return re.split(r"(?<=[.:])\s*$|(?<=\.)\s", " ".join(paragraph.split()))[0].rstrip(".:")


@cache
def parsed(path: Path) -> ast.Module:
    """A module's tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


# --- docs/architecture.md ----------------------------------------------------------------------------------

QUESTIONS = {
    "the grammar of the language": "grammar/vigil.lark",
    "where text becomes a tree": "vigil_lang/syntax/parse.py",
    "what a node of the tree holds": "vigil_lang/syntax/tree.py",
    "how `vigil fmt` lays a policy out": "vigil_lang/syntax/format.py",
    "what `prec`, `resp` and the other forms mean": "vigil_lang/semantics/forms.py",
    "the core language that forms end in": "vigil_lang/semantics/core.py",
    "the meaning that every engine is held to": "vigil_lang/semantics/denotation.py",
    "how conditions match a text: globs and regular expressions": "vigil_lang/semantics/text_patterns.py",
    "what an event and a run are": "vigil_lang/trace/event.py",
    "which reader takes a recording": "vigil_lang/ingest/load.py",
    "how a call becomes events": "vigil_lang/abstraction/run.py",
    "how a shell line is read": "vigil_lang/abstraction/shell",
    "what a program does with its arguments": "stdlib/commands",
    "which kinds and roles there are": "stdlib/vocabulary.toml",
    "what an engine is asked and answers": "vigil_lang/engines/interface.py",
    "what a pending call would break": "vigil_lang/enforce/run.py",
    "how a host's payload is read and answered": "vigil_lang/points/hosts/host.py",
    "what `vigil hook` does": "vigil_lang/points/hook.py",
    "what an agent is told": "vigil_lang/points/words.py",
    "how a callable is guarded": "vigil_lang/enforce/guard.py",
    "how a hook gets into a host's settings": "vigil_lang/points/install/settings_file.py",
    "what a host does where the hook fails": "vigil_lang/points/install/wrapper.py",
    "what an agent cannot do to its hook": "stdlib/gate/registration.vgl",
    "what `vigil runs` and `vigil why` show": "vigil_lang/gate/history.py",
    "what `vigil rollback` undoes": "vigil_lang/points/checkpoints/rollback.py",
    "how a client's servers get behind the MCP proxy": "vigil_lang/points/mcp/wrap.py",
    "what becomes of an action: pass, hold or block": "vigil_lang/gate/decide/decision.py",
    "one decision from request to answer": "vigil_lang/gate/gate.py",
    "which policies are in force, by layer": "vigil_lang/gate/layers.py",
    "what an agent is granted": "vigil_lang/gate/authority/chain.py",
    "what the MCP proxy does with a call": "vigil_lang/points/mcp/calling.py",
    "how an entry gets into the log": "vigil_lang/gate/log/log.py",
    "how a log is checked": "vigil_lang/gate/log/verifying.py",
    "the life of a hold": "vigil_lang/gate/holds.py",
    "how an agent of another SDK asks the gate": "vigil_lang/adapters/mediation.py",
    "what is derived from the log": "vigil_lang/gate/store.py",
    "how a hook is answered by a daemon, or without one": "vigil_lang/points/daemon/asking.py",
    "every setting of `gate.toml`": "vigil_lang/gate/settings.py",
    "how a run is judged without a solver": "vigil_lang/engines/indexed.py",
    "how many runs are judged at once": "vigil_lang/engines/columnar/plan.py",
    "what a store of events is": "vigil_lang/corpus/store.py",
    "how Z3 confirms a verdict": "vigil_lang/engines/smt/solve.py",
    "which part of a run decides a verdict": "vigil_lang/engines/slicing.py",
    "how a run is judged while it is recorded": "vigil_lang/cli/follow.py",
    "how a file that grows is read": "vigil_lang/ingest/growing.py",
    "why a statement is violated, in words": "vigil_lang/engines/explanation.py",
    "whether one statement implies another": "vigil_lang/analysis/statement_entailment.py",
    "every diagnostic code": "vigil_lang/diagnostics/codes.py",
    "every rule of the linter": "vigil_lang/lint/registry.py",
    "every setting of `vigil.toml`": "vigil_lang/project/settings.py",
    "which sentences of a document ask for something": "vigil_lang/documents/obligations.py",
    "how a test of a policy is judged": "vigil_lang/testing/expectations.py",
    "how a recorded run is judged as if online": "vigil_lang/enforce/replay.py",
    "how policies are held against labelled runs": "vigil_lang/evaluation/evaluate.py",
    "how a benchmark's files become runs with labels": "vigil_lang/evaluation/layouts.py",
    "the options of a verb": "vigil_lang/cli",
    "what a program can import": "vigil_lang/api.py",
    "a method of the language server": "lsp/vigil_lsp/features",
    "the only place where files are written": "vigil_lang/base/outputs.py",
}
"""What a newcomer looks for, with the file or folder that answers it."""

_PAGE = """\
# Architecture

<!-- made by tests/architecture.py: VIGIL_UPDATE=1 pytest tests/test_architecture.py -->

Text becomes a tree, the tree becomes meaning, a recording becomes events, an engine brings meaning and events together,
and what comes out is a verdict. Imports point one way: each package may import those below it, none above. The tests
hold this, and that this page is what the code says. Why things are as they are is in [docs/adr](adr/README.md).

## What imports what

An arrow goes from a package to one that it imports. Arrows that others already imply are left out; the table has all.

```mermaid
{diagram}
```

| layer | | what lives there | imports |
|---|---|---|---|
{packages}

Imports count wherever they stand: at the top of a file, in a function, or for types alone. Only `engines/smt/` knows
the solver.

Within packages:

| | what lives there |
|---|---|
{inner}

## The language server

It stands on `vigil_lang`, which does not know it (`vigil lsp` starts it). Its packages:

| | what lives there | imports, of the server's other packages |
|---|---|---|
{server}

## Where do I find …

| | | |
|---|---|---|
{questions}
"""


def page() -> str:
    """docs/architecture.md as the code has it."""
    imports, server = graph(ROOT), graph(SERVER)
    packages = {name for name in server if (SERVER / name).is_dir()}
    # `__init__` only names what others hold, when it is asked for.
    units = sorted(set(imports) - {"__init__"}, key=lambda name: (-level(name, imports), name))
    return _PAGE.format(
        diagram=_diagram({name: imports[name] for name in units}),
        packages=_rows(
            (level(name, imports), _code(ROOT, name), summary(_place(ROOT, name)), _listed(ROOT, imports[name]))
            for name in units
        ),
        inner=_rows(
            (f"`{path.parent.relative_to(ROOT)}/`", summary(path.parent))
            for path in files_of(ROOT)
            if path.name == "__init__.py" and len(path.relative_to(ROOT).parts) == 3
        ),
        server=_rows(
            (_code(SERVER, name), summary(_place(SERVER, name)), _listed(SERVER, server[name] & packages))
            for name in sorted(packages)
        ),
        questions=_rows(
            (question, f"[{path}](../{path})", summary(CHECKOUT / path) if _is_code(path) else "")
            for question, path in QUESTIONS.items()
        ),
    )


def _diagram(imports: Graph) -> str:
    lines = ["flowchart TD"]
    lines += [f'    {_id(name)}["{_label(ROOT, name)}"]' for name in imports]
    for name, others in imports.items():
        implied = set().union(*(below(other, imports) for other in others))
        lines += [f"    {_id(name)} --> {_id(other)}" for other in sorted(others - implied)]
    return "\n".join(lines)


def _id(name: str) -> str:
    return f"p_{name.strip('_')}"


def _place(tree: Path, name: str) -> Path:
    return tree / name if (tree / name).is_dir() else tree / f"{name}.py"


def _label(tree: Path, name: str) -> str:
    return f"{name}/" if (tree / name).is_dir() else f"{name}.py"


def _code(tree: Path, name: str) -> str:
    return f"`{_label(tree, name)}`"


def _listed(tree: Path, names: Iterable[str]) -> str:
    return ", ".join(_code(tree, name) for name in sorted(names))


def _is_code(path: str) -> bool:
    return path.endswith(".py") or (CHECKOUT / path / "__init__.py").is_file()


def _rows(rows: Iterable[tuple[object, ...]]) -> str:
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows)

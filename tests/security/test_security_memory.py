"""What is remembered between questions is bounded, and right whoever asks at once: docs/security.md, "Using time"."""

from __future__ import annotations

import ast
import re
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.abstraction.tools import tool
from vigil_lang.analysis.condition_implication import Implications
from vigil_lang.diagnostics import Source
from vigil_lang.lint.rules import implied_statement
from vigil_lang.semantics.policy import read_policy
from vigil_lang.semantics.text_patterns import Glob, predicate

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]
BOUNDED_BY_WHAT_SHIPS = {
    "vigil_lang/abstraction/sql.py:_words": "the lists of stdlib/sql.toml; others raise",
    "vigil_lang/abstraction/catalogue/load.py:_program": "the tables of the catalogue's own files",
    "vigil_lang/abstraction/scripts/libraries.py:_pure_roots": "the languages of pure.toml; others raise",
    "vigil_lang/abstraction/scripts/libraries.py:_roots": "the languages of stdlib/libraries; others raise",
    "vigil_lang/abstraction/scripts/libraries.py:libraries": "the languages of stdlib/libraries; others raise",
    "vigil_lang/service/page/rendering.py:_file": "the files of the page",
    "vigil_lang/report/pages.py:rule_of": "the codes of the registry; others raise",
    "vigil_lang/project/shape.py:tables": "the kinds of files of settings that there are",
    "vigil_lang/project/validate.py:_homes": "the kinds of files of settings that there are",
    "vigil_lang/diagnostics/secrets.py:_compiled": "the expressions of the table of secrets",
    "lsp/vigil_lsp/findings.py:_description": "the codes of the registry",
    "lsp/vigil_lsp/semantic_highlighting.py:_below": "the types of nodes of a tree",
}
"""Functions that remember everything they were asked, and why that is not much."""

HELD = {
    "vigil_lang/abstraction/scripts/parsed.py:_kept": "trees of no more text than `MAX_KEPT`, the oldest are dropped",
    "vigil_lang/base/cache.py:_told": "one reason",
    "vigil_lang/base/inputs.py:_calls": "the files of the calls of the command that are under way",
    "vigil_lang/cli/replay.py:_prepared": "one piece of work, in a process that replays and ends",
    "vigil_lang/evaluation/judging.py:_prepared": "one piece of work, in a process that judges and ends",
    "vigil_lang/lint/batch.py:_begun": "one plan, in a process that lints and ends",
    "vigil_lang/semantics/layout.py:_known": "as long as the modules it is about",
    "lsp/vigil_lsp/names.py:_known": "as long as the trees it is about",
}
"""What modules fill while they run, and what bounds it."""


_CONTAINERS = {
    "dict", "list", "set", "defaultdict", "deque", "OrderedDict", "Counter", "WeakKeyDictionary", "WeakValueDictionary",
}  # fmt: skip


@cache
def modules() -> dict[str, ast.Module]:
    paths = [path for folder in ("vigil_lang", "lsp/vigil_lsp") for path in (ROOT / folder).rglob("*.py")]
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


_TEXTS = {"File", "Lexed", "Loaded", "Module", "Parsed", "Policy", "Reading", "Source", "Subject"}


def unbounded(module: ast.Module) -> set[str]:
    """The functions with parameters whose every answer is remembered, under whatever name that was imported."""
    names = {"cache"} | {
        name.asname or name.name
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom) and node.module == "functools"
        for name in node.names
        if name.name == "cache"
    }
    found: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if any(_remembers_all(decorator, names) for decorator in node.decorator_list) and _has_parameters(node):
                found.add(node.name)
        elif isinstance(node, ast.Call) and _remembers_all(node.func, names) and node.args:
            found.add(ast.unparse(node))
    return found


def _remembers_all(node: ast.expr, names: set[str]) -> bool:
    match node:
        case ast.Name(name) | ast.Attribute(ast.Name("functools"), name):
            return name in names
        case ast.Call(ast.Name("lru_cache") | ast.Attribute(_, "lru_cache"), args, keywords):
            sizes = [*args, *(keyword.value for keyword in keywords if keyword.arg == "maxsize")]
            return bool(sizes) and isinstance(sizes[0], ast.Constant) and sizes[0].value is None
        case _:
            return False


def _has_parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    given = node.args
    return bool(given.posonlyargs or given.args or given.kwonlyargs or given.vararg or given.kwarg)


def keeps_texts(module: ast.Module) -> set[str]:
    """The functions whose answers are remembered by a whole file, and with it, of many texts that were typed over."""
    return {
        node.name
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef)
        and any("by_identity" in ast.unparse(each) or "lru_cache" in ast.unparse(each) for each in node.decorator_list)
        and any(_names_a_text(given.annotation) for given in (*node.args.posonlyargs, *node.args.args))
    }


def _names_a_text(annotation: ast.expr | None) -> bool:
    return annotation is not None and not _TEXTS.isdisjoint(re.findall(r"\w+", ast.unparse(annotation)))


def filled(module: ast.Module) -> set[str]:
    """Names of a module that begin as something empty."""
    found: set[str] = set()
    for node in module.body:
        match node:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
                empty = isinstance(value, ast.Dict | ast.List) and not ast.unparse(value).strip("[]{}")
                made = isinstance(value, ast.Call) and not value.args and not value.keywords
                if empty or (made and ast.unparse(value.func).rpartition(".")[2] in _CONTAINERS):
                    found.add(name)
    return found


def test_the_scan_sees_what_it_should() -> None:
    module = ast.parse(
        "from functools import cache as once, lru_cache\nimport functools\n"
        "@once\ndef a(x): ...\n@functools.cache\ndef b(*x): ...\n@lru_cache(None)\ndef c(x): ...\n"
        "@lru_cache(maxsize=None)\ndef d(*, x): ...\n@once\ndef e(): ...\n@lru_cache(maxsize=9)\ndef f(x): ...\n"
        "g = {}\nh: list[int] = []\ni = dict()\nj = {1: 2}\nk = once(len)\n"
    )
    assert unbounded(module) == {"a", "b", "c", "d", "once(len)"}
    assert filled(module) == {"g", "h", "i"}


def test_what_is_remembered_for_good_is_bounded_by_what_ships() -> None:
    found = {f"{path}:{name}" for path, module in modules().items() for name in unbounded(module)}
    assert found == set(BOUNDED_BY_WHAT_SHIPS)
    assert {f"{path}:{name}" for path, module in modules().items() for name in filled(module)} == set(HELD)


def test_no_text_that_was_typed_over_is_remembered() -> None:
    wrong = "@by_identity\ndef a(file: tree.File): ...\n@lru_cache(maxsize=9)\ndef b(x: int, of: Source): ...\n"
    right = "@by_identity\ndef c(of: core.Requirement): ...\ndef d(file: tree.File): ...\n"
    assert keeps_texts(ast.parse(wrong + right)) == {"a", "b"}
    assert {f"{path}:{name}" for path, module in modules().items() for name in keeps_texts(module)} == set()


def test_many_names_do_not_fill_the_memory() -> None:
    for number in range(6_000):
        tool(f"tool_{number}")
        predicate(Glob(f"*{number}*"))
    assert tool.cache_info().currsize <= 4096
    assert predicate.cache_info().currsize <= 4096


TEXT = 'statement one: abs(a())\nstatement two: abs(a(x = "1"))\nstatement three: abs(b())\n'


def sides(comparison: implied_statement._Comparison) -> list[implied_statement.Sides]:
    return [
        implied_statement.Sides(s, comparison.number(s), implied_statement._looks(s.meaning), 0, 0)
        for s in read_policy(Source("p.vgl", TEXT)).statements
    ]


def test_a_comparison_is_right_although_a_newer_one_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    older = implied_statement._Comparison(Implications())
    one, two, three = sides(older)
    assert not older.implied(two, one)
    monkeypatch.setattr(implied_statement, "_MOST_KNOWN", 0)  # whatever is remembered is too much
    newer = implied_statement._Comparison(Implications())
    mine, yours, others = sides(newer)
    assert not newer.implied(others, mine)
    assert not newer.implied(mine, others)
    assert older.implied(one, two)
    assert newer.implied(mine, yours)
    assert not older.implied(three, two)


def test_threads_that_compare_at_once_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(implied_statement, "_MOST_KNOWN", 1)
    wrong: list[tuple[int, int]] = []

    def compare() -> None:
        for _ in range(50):
            comparison = implied_statement._Comparison(Implications())
            own = sides(comparison)
            for at, first in enumerate(own):
                for to, second in enumerate(own):
                    if at != to and comparison.implied(first, second) != ((at, to) == (0, 1)):
                        wrong.append((at, to))

    threads = [threading.Thread(target=compare) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []

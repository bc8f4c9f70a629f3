"""Every diagnostic code has a page, and every example on it does what the page says.

Blocks: `vgl wrong` has its page's code, and those named after `wrong`, and no other; `vgl right` has none. Both
are held against the page's `json signature`, `jsonl run` and `jsonl benign`. `jsonl wrong` and `jsonl right` are
runs, `yaml wrong` and `yaml right` rules in another notation, `json wrong` and `json right` tool definitions or
signatures (of VGL611 policy documents). `vgl as NAME`, or of another kind, is a file of that name; a `console` block is
called beside those above it and prints just this.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from rule_cases import lay_out, plan_of, source
from spec_blocks import Block, blocks

from vigil_lang.cli.main import run
from vigil_lang.diagnostics import CODES, InputError, Source
from vigil_lang.documents.coverage import uncited
from vigil_lang.documents.library import Library
from vigil_lang.draft.document import read_document
from vigil_lang.gate.importing import import_rules_text
from vigil_lang.lint.run import lint
from vigil_lang.runs import read_trace
from vigil_lang.signatures import read_signature
from vigil_lang.syntax.format import format_text

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "codes"
PAGES = sorted(FOLDER.glob("*.md"))
BLOCKS = [(page, block) for page in PAGES for block in blocks(page)]

ELSEWHERE = {
    "VGL354": "tests/lint/test_rule_layers.py",
    "VGL612": "tests/draft/test_draft_failures.py",
    "VGL614": "tests/draft/test_draft_run.py",
    "VGL615": "tests/draft/test_draft_run.py",
    "VGL901": "tests/cli/test_cli_verify.py",
    "VGL902": "tests/lint/test_lint_engine.py",
}
"""Codes that no example can show, with the test that does."""


def test_each_code_has_a_page_and_each_page_a_code() -> None:
    assert [page.stem for page in PAGES] == sorted(CODES)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_a_page_has_the_usual_form(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines[0] == f"# {page.stem}: {CODES[page.stem].summary}"
    assert re.findall(r"^## .*$", text, re.MULTILINE) == ["## Why", "## Example", "## Instead"]
    assert [line for line in lines if len(line) > 110 or line != line.rstrip()] == []
    assert text.endswith("\n")
    assert "\n\n\n" not in text


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_the_examples_of_a_page_show_its_code(page: Path) -> None:
    found = blocks(page)
    shown = any(b.args[:1] == ("wrong",) or (b.kind == "console" and f"[{page.stem}]" in b.text) for b in found)
    if page.stem in ELSEWHERE:
        assert not shown
        assert page.stem in (ROOT / ELSEWHERE[page.stem]).read_text(encoding="utf-8")
    else:
        assert shown
        assert any(b.args[:1] == ("right",) or (b.kind == "console" and page.stem not in b.text) for b in found)


@pytest.mark.parametrize(("page", "block"), BLOCKS, ids=lambda p: p.stem if isinstance(p, Path) else str(p))
def test_block(page: Path, block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if block.kind != "console":
        lay_out(blocks(page), tmp_path)
    lay_out(block.before, tmp_path)
    match block.kind, block.args:
        case "console", ():
            monkeypatch.setenv("COLUMNS", "100")
            for name in ("NO_COLOR", "FORCE_COLOR"):
                monkeypatch.delenv(name, raising=False)
            assert _replayed(block.text) == block.text
        case kind, ("wrong", *others):
            assert _codes(kind, page, block) == {page.stem, *others}
        case kind, ("right",):
            assert _codes(kind, page, block) == set()
            if kind == "vgl":
                assert format_text(Source("policy.vgl", block.text)) == block.text
        case _, ("as", _):
            pass
        case ("json", ("signature",)) | ("jsonl", ("run" | "benign",)):
            plan_of([block], page.stem)
        case _:
            raise AssertionError(f"{page.name}:{block.line}: no block is called `{block}`")


def _codes(kind: str, page: Path, block: Block) -> set[str]:
    if kind == "vgl":
        linted = lint(source(block.text, Path("policy.vgl")), plan_of(blocks(page), page.stem))
        cites = [cite for s in linted.policy.statements for cite in s.metadata.cites]
        beside = uncited([("policy.vgl", cites)], Library())[0] if page.stem == "VGL706" else []
        return {finding.code for finding in (*linted.findings, *beside)}
    data = block.text.encode()
    try:
        if kind == "yaml":
            import_rules_text(Source("rules.yaml", block.text))
        elif kind == "json" and page.stem == "VGL611":
            read_document(Source("draft.json", block.text))
        elif kind == "json":
            read_signature(data, "tools.json")
        else:
            read_trace(data.splitlines(keepends=True), "run.jsonl")
    except InputError as error:
        return {finding.code for finding in error.diagnostics}
    return set()


def _replayed(text: str) -> str:
    """A console session with what its commands print now; all but `vigil` is the shell's."""
    screen = TextIOWrapper(BytesIO(), encoding="utf-8", newline="\n", write_through=True)
    for line in text.splitlines():
        if not line.startswith("$ "):
            continue
        screen.write(line + "\n")
        command = line.removeprefix("$ ")
        if command.startswith("vigil "):
            with redirect_stdout(screen), redirect_stderr(screen):
                run(command.split()[1:])
        elif sys.platform == "win32":
            pytest.skip("the session needs a shell")
        else:
            done = subprocess.run(["sh", "-c", command], check=True, capture_output=True, text=True, timeout=60)
            screen.write(done.stdout)
    shown = screen.buffer.getvalue().decode()
    return re.sub(r"\n\n(?=\$ |\Z)", "\n", shown)


@pytest.mark.slow
def test_each_code_is_reported_somewhere() -> None:
    """A literal that a call is given; sets of codes only choose among what others report."""
    reported: set[str] = set()
    for path in sorted((ROOT / "vigil_lang").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.name == "codes.py" or not re.search(r"VGL\d{3}", text):
            continue
        tree = ast.parse(text)
        sets = {id(element) for node in ast.walk(tree) if isinstance(node, ast.Set) for element in node.elts}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in sets:
                reported.update(re.findall(r"\AVGL\d{3}\Z", node.value))
    assert sorted(set(CODES) - reported) == [], "reported by nothing"
    assert sorted(reported - set(CODES)) == [], "not in the registry"

"""The committed parser is what the tree-sitter command makes of the grammar, and its own tests pass there."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import tree_sitter_support as support

from tests.editors import install

MADE = (
    "parser.c",
    "grammar.json",
    "node-types.json",
    "tree_sitter/parser.h",
    "tree_sitter/array.h",
    "tree_sitter/alloc.h",
)
VERSION = "0.26.11"
"""Another version may write the same parser in other words."""


@pytest.fixture
def command() -> Path:
    try:
        return install.find("tree-sitter")
    except install.Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(support.GRAMMAR, tmp_path / "tree-sitter-vigil"))


def run(command: Path, copy: Path, *arguments: str) -> str:
    """What the command prints; what it keeps goes beside the copy."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(copy.parent / "cache"), "XDG_CONFIG_HOME": str(copy.parent)}
    done = subprocess.run(
        [command, *arguments], cwd=copy, capture_output=True, encoding="utf-8", env=environment, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_parser_is_made_of_the_grammar(command: Path, copy: Path) -> None:
    version = run(command, copy, "--version").split()[1]
    if version != VERSION:
        pytest.skip(f"tree-sitter {version} may write the parser differently than {VERSION}")
    for name in MADE:
        (copy / "src" / name).unlink()
    run(command, copy, "generate", "--abi", "14")
    assert [n for n in MADE if (copy / "src" / n).read_bytes() != (support.GRAMMAR / "src" / n).read_bytes()] == []


def test_corpus_and_highlights_there(command: Path, copy: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("the tree-sitter command wants a C compiler to test with")
    told = run(command, copy, "test")
    assert f"successful parses: {len(support.corpus())};" in told
    assert "policy.vgl" in told
    assert "✗" not in told


def test_tags_there(command: Path, copy: Path) -> None:
    if shutil.which("cc") is None:
        pytest.skip("the tree-sitter command wants a C compiler to read with")
    (copy / "p.vgl").write_text("pattern p(x) = q(x)\n", encoding="utf-8")
    (copy.parent / "tree-sitter").mkdir()
    (copy.parent / "tree-sitter" / "config.json").write_text(f'{{"parser-directories": ["{copy.parent}"]}}')
    told = [line.split()[:4] for line in run(command, copy, "tags", "p.vgl").splitlines()]
    assert told == [["p", "|", "function", "def"], ["q", "|", "call", "ref"], ["x", "|", "call", "ref"]]

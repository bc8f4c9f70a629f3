"""The committed tree-sitter parser, compiled and loaded, and what its trees say beside Vigil's own."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tree_sitter import Language, Parser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Tree

GRAMMAR = Path(__file__).parents[2] / "grammar" / "tree-sitter-vigil"
_SOURCES = ("parser.c", "scanner.c")


@cache
def language() -> Language:
    """The grammar, of the parser in `src/`; the test is skipped where there is no C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no C compiler to build the tree-sitter parser with")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "vigil.so"
        files = [str(GRAMMAR / "src" / name) for name in _SOURCES]
        command = [compiler, "-std=c11", "-shared", "-fPIC", f"-I{GRAMMAR / 'src'}", *files, "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        loaded = ctypes.CDLL(str(library))  # stays loaded when the file is gone
    loaded.tree_sitter_vigil.restype = ctypes.c_void_p
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return Language(capsule(loaded.tree_sitter_vigil(), b"tree_sitter.Language", None))


def read(text: str) -> Tree:
    """The tree of a text."""
    return Parser(language()).parse(text.encode())


class Offsets:
    """From bytes to code points of one text."""

    def __init__(self, text: str) -> None:
        self._points: dict[int, int] = {}
        at = 0
        for index, character in enumerate(text):
            self._points[at] = index
            at += len(character.encode())
        self._points[at] = len(text)

    def span(self, node: Node) -> tuple[int, int]:
        return self._points[node.start_byte], self._points[node.end_byte]


def nodes(node: Node) -> Iterator[Node]:
    """A node and all below it, in the order of the text."""
    yield node
    for child in node.children:
        yield from nodes(child)


def items(tree: Tree) -> list[Node]:
    """The items of a file that have no error in them."""
    return [node for node in tree.root_node.children if node.type.endswith("_declaration") and not node.has_error]


def item_name(node: Node) -> str:
    """An item's name as written, or the module it imports."""
    named = node.child_by_field_name("module" if node.type == "use_declaration" else "name")
    assert named is not None
    assert named.text is not None
    return named.text.decode()


def s_expression(node: Node, field: str | None = None) -> str:
    """A tree on one line as corpus files write it: named nodes, errors and what is missing, with their fields."""
    start = f"{field}: (" if field else "("
    if node.is_missing:
        name = node.type if node.is_named else f'"{node.type}"'
        return f"{start}MISSING {name})"
    inner = [
        s_expression(child, node.field_name_for_child(at))
        for at, child in enumerate(node.children)
        if child.is_named or child.is_missing
    ]
    return start + " ".join([node.type, *inner]) + ")"


@dataclass(frozen=True)
class Case:
    """One test of a corpus file."""

    name: str
    text: str
    expected: str


_CASE = re.compile(r"^===+\n(?P<name>[^\n]+)\n===+\n(?P<text>.*?)^---+\n(?P<expected>.*?)(?=^===|\Z)", re.M | re.S)


def corpus() -> dict[str, Case]:
    """Every test of `test/corpus/`, by file and name; the expected tree is brought to one line."""
    found: dict[str, Case] = {}
    for path in sorted((GRAMMAR / "test" / "corpus").glob("*.txt")):
        for case in _CASE.finditer(path.read_text(encoding="utf-8")):
            expected = " ".join(case["expected"].split()).replace(" )", ")")
            found[f"{path.stem}: {case['name']}"] = Case(case["name"], case["text"].strip("\n"), expected)
    return found


@dataclass(frozen=True)
class Assertion:
    """A comment that says how the character above it is coloured; rows and columns count from 0, in code points."""

    row: int
    column: int
    expected: str


_ASSERTION = re.compile(r"^\s*//\s*(?P<mark><-|\^)\s*(?P<name>[a-z.]+)\s*$")


def assertions(text: str) -> list[Assertion]:
    """What the comments of a highlight test say, as the tree-sitter command reads them."""
    found = []
    row = 0
    for at, line in enumerate(text.splitlines()):
        match = _ASSERTION.match(line)
        if match is None:
            row = at
            continue
        column = match.start("mark") if match["mark"] == "^" else line.index("//")
        found.append(Assertion(row, column, match["name"]))
    return found

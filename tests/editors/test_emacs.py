"""The major mode for Emacs: compiled without a warning, and what it makes of policies in an Emacs without a screen."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.editors import install
from vigil_lang.diagnostics import Source
from vigil_lang.syntax import parse, tree

ROOT = Path(__file__).parents[2]
MODE = ROOT / "lsp" / "editors" / "emacs" / "vigil-mode.el"
CHECK = Path(__file__).parent / "emacs" / "check.el"
GRAMMAR = ROOT / "grammar" / "tree-sitter-vigil" / "src"
EXAMPLES = sorted((ROOT / "examples").rglob("*.vgl"))


@pytest.fixture(scope="module")
def emacs() -> Path:
    try:
        return install.find("emacs")
    except install.Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, emacs: Path) -> Path:
    """A home with the compiled mode; `vigil` on its path is the one under test."""
    home = tmp_path_factory.mktemp("emacs")
    shutil.copy(MODE, home)
    vigil = home / "vigil"
    vigil.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m vigil_lang "$@"\n', encoding="utf-8")
    vigil.chmod(0o755)
    done = run(emacs, home, "--eval", "(setq byte-compile-error-on-warn t)", "-f", "batch-byte-compile", MODE.name)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    assert (home / "vigil-mode.elc").exists()
    return home


def run(emacs: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "PATH": f"{home}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), str(ROOT / "lsp"), os.environ.get("PYTHONPATH")))),
    }
    command = [emacs, "-Q", "--batch", "-L", home, *arguments]
    return subprocess.run(
        command, cwd=home, env=environment, capture_output=True, encoding="utf-8", timeout=120, check=False
    )


def check(emacs: Path, home: Path, function: str, *arguments: str) -> Any:
    done = run(emacs, home, "-l", str(CHECK), "-f", f"check-{function}", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


POLICY = """\
/// About it.
@severity(error)
policy p.q

// Why.
let A = {a, "b // c", 3} | B
param limit: number = 6
pattern writes(x) = action in A and not path ~ /"https?:\\/\\/[^"]*$/i or has output // end
pattern text(error) = set = error and in = or
statement R3: prec(writes(x), test() and not earlier[30s] b) after status = ok
statement R4: always a ⇒ ◇⁻ b
rule large: when pay(amount > limit) or violates R3 and context.tier >= 2
    then hold
    record amount, then
rule drafts: when when(record = then) then pass record relaxes relaxes default.outside
test "a // run" {
    set limit = 7
    run { e1: f(x = "M") -> error "no" }
    expect R3 violated at e1 with x = "M"
}
"""
FACES = [
    ("/// About it.\n", "doc"),
    ("@severity", "preprocessor"),
    ("policy", "keyword"),
    ("p.q", "constant"),
    ("// ", "comment-delimiter"),
    ("Why.\n", "comment"),
    ("let", "keyword"),
    ("A", "constant"),
    ('"b // c"', "string"),
    ("3", "number"),
    ("param", "keyword"),
    ("limit", "constant"),
    ("number", "type"),
    ("6", "number"),
    ("pattern", "keyword"),
    ("writes", "function-name"),
    ("action", "builtin"),
    ("in", "keyword"),
    ("and", "keyword"),
    ("not", "keyword"),
    ('/"https?:\\/\\/[^"]*$/', "regexp"),
    ("or", "keyword"),
    ("has", "keyword"),
    ("// ", "comment-delimiter"),
    ("end\n", "comment"),
    ("pattern", "keyword"),
    ("text", "function-name"),
    ("and", "keyword"),
    ("statement", "keyword"),
    ("R3", "type"),
    ("prec", "builtin"),
    ("writes", "function-call"),
    ("test", "function-call"),
    ("and", "keyword"),
    ("not", "keyword"),
    ("earlier", "keyword"),
    ("30s", "number"),
    ("after", "keyword"),
    ("status", "builtin"),
    ("ok", "constant"),
    ("statement", "keyword"),
    ("R4", "type"),
    ("always", "builtin"),
    ("⇒", "operator"),
    ("◇⁻", "operator"),
    ("rule", "keyword"),
    ("large", "type"),
    ("when", "keyword"),
    ("pay", "function-call"),
    ("or", "keyword"),
    ("violates", "keyword"),
    ("R3", "type"),
    ("and", "keyword"),
    ("context.tier", "builtin"),
    ("2", "number"),
    ("then", "keyword"),
    ("hold", "constant"),
    ("record", "keyword"),
    ("rule", "keyword"),
    ("drafts", "type"),
    ("when", "keyword"),
    ("when", "function-call"),
    ("then", "keyword"),
    ("pass", "constant"),
    ("record", "keyword"),
    ("relaxes", "keyword"),
    ("test", "keyword"),
    ('"a // run"', "string"),
    ("set", "keyword"),
    ("7", "number"),
    ("run", "keyword"),
    ("f", "function-call"),
    ('"M"', "string"),
    ("error", "constant"),
    ('"no"', "string"),
    ("expect", "keyword"),
    ("violated", "constant"),
    ("at", "keyword"),
    ("with", "keyword"),
    ('"M"', "string"),
]


INDEX = [
    ["Tests", ["a // run"]],
    ["Parameters", ["limit"]],
    ["Values", ["A"]],
    ["Patterns", ["writes", "text"]],
    ["Rules", ["large", "drafts"]],
    ["Statements", ["R3", "R4"]],
]


def short(face: str) -> str:
    return face.removeprefix("font-lock-").removesuffix("-face")


def test_faces(emacs: Path, home: Path) -> None:
    (home / "p.vgl").write_text(POLICY, encoding="utf-8")
    mode, *found = check(emacs, home, "faces", "p.vgl")
    assert mode == "vigil-mode"
    assert [(text, short(face)) for text, face in found] == FACES


@pytest.mark.parametrize("path", EXAMPLES[:6], ids=lambda path: path.name)
def test_what_is_in_a_string_or_a_comment_has_its_face(emacs: Path, home: Path, path: Path) -> None:
    """No quote or slash of an example leads the mode astray."""
    text = path.read_text(encoding="utf-8")
    _, *found = check(emacs, home, "faces", str(path))
    strings = [part for part, face in found if short(face) == "string"]
    comments = "".join(part for part, face in found if short(face) in ("doc", "comment", "comment-delimiter"))
    file = parse(Source("p", text)).file
    written = sorted(node.span for node in literals(file))
    assert strings == [text[slice(*span)] for span in written]
    assert comments.split() == " ".join(comment.text for comment in file.comments).split()


def literals(node: object) -> list[tree.String]:
    """Every string of a tree."""
    if isinstance(node, tree.String):
        return [node]
    if isinstance(node, tuple):
        return [found for part in node for found in literals(part)]
    if isinstance(node, tree.Node):
        return [found for name in node.__struct_fields__ for found in literals(getattr(node, name))]
    return []


def test_faces_by_tree_sitter(emacs: Path, home: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler to build the grammar with")
    files = [str(GRAMMAR / name) for name in ("parser.c", "scanner.c")]
    library = str(home / "libtree-sitter-vigil.so")
    subprocess.run([compiler, "-shared", "-fPIC", f"-I{GRAMMAR}", *files, "-o", library], check=True)
    (home / "p.vgl").write_text(POLICY, encoding="utf-8")
    mode, *found = check(emacs, home, "ts-faces", str(home), "p.vgl")
    assert mode == "vigil-ts-mode"
    coloured = [(text, short(face)) for text, face in found]
    for text, face in (
        ("/// About it.", "doc"),
        ("pattern", "keyword"),
        ("text", "function-name"),
        ("set", "property-use"),
        ('/"https?:\\/\\/[^"]*$/i', "regexp"),
        ("prec", "builtin"),
        ("earlier", "keyword"),
        ("30s", "number"),
        ("violated", "constant"),
        ("R3", "type"),
        ("rule", "keyword"),
        ("large", "type"),
        ("when", "keyword"),
        ("violates", "keyword"),
        ("context.tier", "builtin"),
        ("then", "keyword"),
        ("hold", "constant"),
        ("record", "keyword"),
        ("relaxes", "keyword"),
        ("default.outside", "type"),
    ):
        assert (text, face) in coloured
    count, index = check(emacs, home, "ts-index", str(home), "p.vgl")
    assert count == 9
    assert sorted(index) == sorted(INDEX)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_formatted_policies_keep_their_indentation(emacs: Path, home: Path, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    (home / "p.vgl").write_text("".join(line.lstrip() + "\n" for line in text.splitlines()), encoding="utf-8")
    assert check(emacs, home, "indentation", "p.vgl") == [text]


def test_index(emacs: Path, home: Path) -> None:
    (home / "p.vgl").write_text(POLICY, encoding="utf-8")
    assert check(emacs, home, "index", "p.vgl") == [9, INDEX]


def test_comments(emacs: Path, home: Path) -> None:
    (home / "p.vgl").write_text("let A = {a}\nlet B = A\n", encoding="utf-8")
    assert check(emacs, home, "comment", "p.vgl") == [
        "// let A = {a}\n// let B = A\n",
        "let A = {a}\nlet B = A\n",
    ]


def test_eglot_shows_the_findings(emacs: Path, home: Path) -> None:
    project = home / "project"
    project.mkdir()
    text = "policy p\n\nstatement S: abs(wrong(x))\nstatement T: abs(a\n"
    (project / "p.vgl").write_text(text, encoding="utf-8")
    expected = [finding.message for finding in parse(Source("p.vgl", text)).diagnostics]
    found = check(emacs, home, "eglot", str(project / "p.vgl"))
    errors = [(line, told) for line, kind, told in found if kind == "eglot-error"]
    assert len(expected) == 1
    assert any(line == 4 and expected[0] in told for line, told in errors)


def test_eglot_shows_the_findings_of_a_configuration(emacs: Path, home: Path) -> None:
    project = home / "configured"
    project.mkdir()
    (project / "vigil.toml").write_text('[tools.t]\nkinds = ["file.raed"]\n', encoding="utf-8")
    ((line, kind, told),) = check(emacs, home, "eglot", str(project / "vigil.toml"))
    assert (line, kind) == (2, "eglot-warning")
    assert "the vocabulary has no kind `file.raed`" in told


def test_lsp_mode_is_told_of_the_server(emacs: Path, home: Path) -> None:
    languages, command, modes = check(emacs, home, "lsp-mode")
    assert command == ["vigil", "lsp"]
    assert modes == ["vigil-mode", "vigil-ts-mode", "vigil-config-mode"]
    assert dict(languages) == {
        "vigil-mode": "vigil",
        "vigil-ts-mode": "vigil",
        "vigil-config-mode": "toml",
    }

"""What keeps a text from being a path as events carry it."""

from __future__ import annotations

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.lint.paths import ROLES, fault_of
from vigil_lang.lint.run import Plan, lint
from vigil_lang.trace.vocabulary import vocabulary


def test_the_roles_are_the_vocabulary_s() -> None:
    assert {role.name for role in vocabulary().roles.values() if role.type == "path"} == ROLES


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("src/*.py", "relative"), ("./a", "relative"), ("../a", "relative"), (".env", "relative"), ("a", "relative"),
        ("~ann/x", "home"), ("~/.ssh/*", None), ("~", None), ("~/a//b", "not normal"),
        ("/a//b", "not normal"), ("/a/./b", "not normal"), ("/a/../b", "not normal"), ("/a/", "not normal"),
        ("/a/..", "not normal"), ("*/src/", "not normal"),
        ("/", None), ("/a/b", None), ("*", None), ("*.py", None), ("*/src/*", None), ("?:/x", None), ("C:/x", None),
        ("C:\\\\x", "backslash"), ("\\\\\\\\host\\\\x", None), ("https://a//b", None), ("$HOME/x", None), ("", None),
        ("-", None),        ("/a/*/", None), ("/a/.hidden", None), ("/a/..b", None),
    ],
)  # fmt: skip
def test_faults(text: str, fault: str | None) -> None:
    assert fault_of(text) == fault


@pytest.mark.parametrize("regex", ["a(b$", "^a(", "[b$", "a**"])
def test_what_is_no_regular_expression_is_said_once(regex: str) -> None:
    text = f"pattern p = file.write(path ~ /{regex}/)\n\n/// D.\nstatement S: prec(p, file.read(path !~ /{regex}/))\n"
    codes = [found.code for found in lint(Source("p.vgl", text), Plan()).findings]
    assert codes == ["VGL305", "VGL305"]

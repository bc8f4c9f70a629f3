"""`vigil check --core`: every use of more than the paper's language, where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from semantics_support import read

from vigil_lang.diagnostics import Source
from vigil_lang.lint.rules.extension import uses
from vigil_lang.semantics.policy import read_policy

if TYPE_CHECKING:
    from pathlib import Path

USES = [
    ("abs(a() «or» b())", "a() or b()", "`or` in a condition"),
    ("abs(a(not f = 1))", "not f = 1", "`not` in a condition"),
    ("abs(f != 1)", "f != 1", "`!=`"),
    ("abs(f not in {a})", "f not in {a}", "`not in`"),
    ('abs(f !~ "a*")', 'f !~ "a*"', "`!~`"),
    ("abs(f >= 3)", "f >= 3", "`>=`"),
    ("abs(has f)", "has f", "`has`"),
    ('abs(action ~ "a*")', 'action ~ "a*"', "`action ~`"),
    ('abs(f contains "a")', 'f contains "a"', "`contains`"),
    ("prec(a(f = x), output contains x)", "output contains x", "`output contains`"),
    ("prec(a(f = x), output = x)", "output = x", "`output =`"),
    ("prec(a(), b()) after c()", "c()", "`after`"),
    ("bresp[30s](a(), b())", "30s", "a bound in time"),
    ("atmost[2](a())", "atmost[2](a())", "`atmost`"),
    ("always (a() implies earlier[3] b())", "3", "a bound on `earlier`"),
    ("prec(a(f = x, g = y), b(f = x, g = y))", "y", "`y`, a further variable,"),
]


@pytest.mark.parametrize(("form", "place", "what"), USES, ids=[what for _, _, what in USES])
def test_a_use(form: str, place: str, what: str) -> None:
    text = "statement S: " + form.replace("«", "").replace("»", "")
    (found,) = uses(read(text))
    assert found.code == "VGL501"
    assert found.message == f"{what} is an extension of the paper's language"
    assert text[found.span.start : found.span.end] == place


CORE = """
let WARPS = {warpAffine, warpPerspective}
pattern consumes(x) = action in WARPS and transform = x and status = ok

statement A: abs(output ~ "*.csr" and status = error)
statement B: prec(consumes(x), validate(target = x))
statement C: bresp[3](a(f = 1), b(f ~ /x/))
statement D: always (a() or not b() implies not earlier (c() or d()))
statement E: until(a(), b(), c())
"""


def test_the_papers_language_has_none() -> None:
    assert uses(read(CORE)) == []


def test_a_pattern_counts_once_where_it_is_declared_and_an_imported_one_where_it_is_applied(tmp_path: Path) -> None:
    (tmp_path / "one.vgl").write_text(
        "pattern inner = not a()\n\npattern outer(x) = f = x or inner\n\npattern plain = b()", encoding="utf-8"
    )
    text = (
        "use .one\n\npattern own = f > 1\n\n"
        'statement S: prec(own, outer("a"))\n\nstatement T: prec(own, plain)\n\n'
        'statement U: always not earlier outer("b")'
    )
    found = uses(read_policy(Source(str(tmp_path / "main.vgl"), text)))
    assert [(text[f.span.start : f.span.end], f.message.partition(" is an")[0]) for f in found] == [
        ("f > 1", "`>`"),
        ('outer("a")', "`or`, `not` in the pattern `outer`"),
        ('outer("b")', "`or`, `not` in the pattern `outer`"),
    ]


def test_each_use_counts() -> None:
    text = "statement S: atmost[2](a(f != 1 or g < 2) and not has h) after output = 3"
    shown = [text[f.span.start : f.span.end] for f in uses(read(text))]
    assert shown == [
        "atmost[2](a(f != 1 or g < 2) and not has h)",
        "f != 1",
        "f != 1 or g < 2",
        "g < 2",
        "not has h",
        "has h",
        "output = 3",
        "output = 3",
    ]

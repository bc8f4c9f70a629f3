"""Names that nothing uses, while an item is being written: what it may mean is used, and nothing else is hidden."""

from __future__ import annotations

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.semantics.policy import load_module, lowered

POLICY = """let LIMIT = 3
let forgotten = 4
pattern big = write(size > LIMIT)
pattern quota(x) = read(file = x)
statement S: abs(write(size > 9))
"""
TYPED = "statement T: prec(big and mode = 3, deploy(n > LIMIT))"


def unused(text: str) -> set[str]:
    found = lowered(load_module(Source("p.vgl", text))).diagnostics
    return {f.source.text[f.span.start : f.span.end] for f in found if f.code == "VGL205"}


@pytest.mark.parametrize("end", range(1, len(TYPED) + 1))
@pytest.mark.parametrize("first", [True, False], ids=["above", "below"])
def test_what_is_being_typed_hides_only_what_it_may_mean(end: int, *, first: bool) -> None:
    typed = TYPED[:end] + "\n"
    lines = POLICY.splitlines(keepends=True)
    found = unused("".join([*lines[:4], typed, lines[4]]) if first else POLICY + typed)
    assert {"forgotten", "quota"} <= found
    assert found <= {"forgotten", "quota", "big"}
    if end > TYPED.index("big") and TYPED[:end][-1].isalnum():
        assert "big" not in found, "a beginning of a name, too, may be it"


@pytest.mark.parametrize("word", ["forgotten", "forgoten", "forg", "x.forgotten"])
@pytest.mark.parametrize("item", ["statement T: abs(write(n > {})", "statement T: abs({})", "rule r: when {} then"])
def test_a_name_that_may_be_meant_is_used(word: str, item: str) -> None:
    assert unused(POLICY + item.format(word) + "\n") == {"quota", "big"}


def test_an_item_that_is_being_written_is_the_first_one() -> None:
    assert unused("let a = 1\nlet other = 2\nstatement T: abs(write(n > other\n") == {"a"}
    assert unused("let a = 1\npattern p = (\n") == set(), "of a library nothing is reported"


def test_an_import_may_be_what_is_not_found() -> None:
    assert unused("use std.files\nstatement S: abs(write())\nstatement T: abs(\n") == set()
    assert unused("use std.files\nstatement S: abs(write())\n") == {"std.files"}

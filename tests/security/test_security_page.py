"""Every promise of docs/security.md names tests, and those tests exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
PROMISES = {
    found[1]: found[0]
    for found in re.finditer(r"^\*\*([RFSLGN]\d+)\. .*?(?=^\*\*[RFSLGN]\d+\. |^## )", TEXT, re.M | re.S)
}


def test_promises_are_numbered_without_gaps() -> None:
    numbers = [(name[0], int(name[1:])) for name in PROMISES]
    lengths = {letter: sum(name == letter for name, _ in numbers) for letter in "RFSLGN"}
    assert numbers == [(letter, number) for letter in "RFSLGN" for number in range(1, lengths[letter] + 1)]
    told = re.findall(r"\| ([RFSLGN])1 to \1(\d+):", TEXT)
    assert told == [(letter, str(count)) for letter, count in lengths.items()]


@pytest.mark.parametrize("name", PROMISES)
def test_a_promise_names_tests_that_exist(name: str) -> None:
    files = re.findall(r"`((?:tests|lsp|stdlib)/[\w./-]*(?:_test\.vgl|test[\w.]*\.(?:py|mjs)|/))`", PROMISES[name])
    assert files
    assert [file for file in files if not (ROOT / file).exists()] == []
    texts = "".join((ROOT / file).read_text(encoding="utf-8") for file in files if (ROOT / file).is_file())
    cited = re.findall(r"`(test_\w+)`", PROMISES[name])
    assert [test for test in cited if f"def {test}(" not in texts] == []

"""Tests cite the rules of spec.md, code and pages its sections, and what they cite is there."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from spec_blocks import RULE

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
SPEC = ROOT / "spec.md"
TEXT = SPEC.read_text(encoding="utf-8")
NUMBERED = re.findall(rf"^\*\*({RULE.pattern})", TEXT, re.MULTILINE)
SECTIONS = set(re.findall(r"^##+ ([0-9A-E.]+) ", TEXT, re.MULTILINE))

_CITED = re.compile(r"\bspec(?:\.md)?,? (?:section |annex )?(\d+(?:\.\d+)?|[A-E](?:\.\d+)?)\b")


def _files(*folders: str) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".md", ".vgl", ".toml", ".lark") and "node_modules" not in path.parts:
                yield path


def _citing_tests() -> set[str]:
    """The rules that tests cite: examples of spec.md on their first line, other tests anywhere in their text."""
    cited = {rule for fence in re.findall(r"^```.+$", TEXT, re.MULTILINE) for rule in RULE.findall(fence)}
    for path in _files("tests"):
        cited.update(RULE.findall(path.read_text(encoding="utf-8")))
    return cited


def test_every_rule_is_cited_by_a_test_and_every_rule_that_is_cited_exists() -> None:
    cited = _citing_tests()
    assert sorted(set(NUMBERED) - cited) == [], "no test cites these rules"
    assert sorted(cited - set(NUMBERED)) == [], "these rules do not exist"


def test_rules_are_numbered_upwards_within_their_section() -> None:
    places = [tuple(rule.removeprefix("R").split("-")) for rule in NUMBERED]
    assert {section for section, _ in places} <= SECTIONS
    for (section, number), (next_section, next_number) in pairwise(places):
        assert next_section != section or int(number) < int(next_number)
    assert len(set(NUMBERED)) == len(NUMBERED)
    for heading in re.split(r"^##+ ", TEXT, flags=re.MULTILINE)[1:]:
        inside = re.findall(rf"^\*\*({RULE.pattern})", heading, re.MULTILINE)
        assert {rule.removeprefix("R").split("-")[0] for rule in inside} <= {heading.partition(" ")[0]}


def test_every_section_that_is_cited_exists() -> None:
    pages = [SPEC, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    wrong, found = [], 0
    for path in [*pages, *_files("vigil_lang", "lsp", "stdlib", "grammar", "docs", "examples", "tests")]:
        for cited in _CITED.findall(path.read_text(encoding="utf-8")):
            found += 1
            if cited not in SECTIONS:
                wrong.append(f"{path.relative_to(ROOT)}: {cited}")
    assert wrong == []
    assert found > 20

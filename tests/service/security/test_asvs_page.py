"""docs/asvs.md has every requirement of levels 1 and 2 once, in order, and names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "asvs.md").read_text("utf-8")
NUMBERS = {
    "1.1": 2, "1.2": 9, "1.3": 11, "1.4": 3, "1.5": 2, "2.1": 3, "2.2": 3, "2.3": 4, "2.4": 1, "3.2": 2, "3.3": 4,
    "3.4": 6, "3.5": 5, "3.7": 2, "4.1": 3, "4.2": 1, "4.3": 2, "4.4": 4, "5.1": 1, "5.2": 3, "5.3": 2, "5.4": 3,
    "6.1": 3, "6.2": 12, "6.3": 4, "6.4": 4, "6.5": 5, "6.6": 3, "6.8": 4, "7.1": 3, "7.2": 4, "7.3": 2, "7.4": 5,
    "7.5": 2, "7.6": 2, "8.1": 2, "8.2": 3, "8.3": 1, "8.4": 1, "9.1": 3, "9.2": 4, "10.1": 2, "10.2": 2, "10.3": 4,
    "10.4": 11, "10.5": 5, "10.6": 2, "10.7": 3, "11.1": 2, "11.2": 3, "11.3": 3, "11.4": 4, "11.5": 1, "11.6": 1,
    "12.1": 3, "12.2": 2, "12.3": 4, "13.1": 1, "13.2": 5, "13.3": 2, "13.4": 5, "14.1": 2, "14.2": 4, "14.3": 3,
    "15.1": 3, "15.2": 3, "15.3": 7, "16.1": 1, "16.2": 5, "16.3": 4, "16.4": 3, "16.5": 3, "17.1": 1, "17.2": 4,
    "17.3": 2,
}  # fmt: skip
"""How many requirements of levels 1 and 2 each section of ASVS 5.0.0 has; they are the first ones of each."""

ROW = re.compile(r"^\| (\d+\.\d+)\.(\d+)(?: to (\d+))? \| ([^|]+) \| (.+) \|$", re.M)


def test_every_requirement_is_walked_through() -> None:
    found = [
        f"{section}.{number}"
        for section, first, last, *_ in ROW.findall(TEXT)
        for number in range(int(first), int(last or first) + 1)
    ]
    assert found == [f"{section}.{number}" for section, most in NUMBERS.items() for number in range(1, most + 1)]


def test_every_test_that_is_named_exists() -> None:
    written = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)", file.read_text("utf-8"))
    }
    named = set(re.findall(r"`(test_\w+)`", TEXT))
    assert len(named) > 60
    assert not named - written


def test_what_is_not_met_is_told_first() -> None:
    told = re.findall(r"^- (\d+\.\d+\.\d+)", TEXT.partition("## Ways in")[0], re.M)
    rows = [f"{section}.{first}" for section, first, _, _, how in ROW.findall(TEXT) if "**NOT met**" in how]
    assert told == rows

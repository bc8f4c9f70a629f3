"""How well obligations are found: precision and recall over sentences that a reader marked by hand."""

from __future__ import annotations

import tomllib
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.documents.obligations import obligations
from vigil_lang.documents.read import read_document
from vigil_lang.english.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MARKS = tomllib.loads((Path(__file__).parent / "marks.toml").read_text(encoding="utf-8"))
SETS = ("passage", "held_out")

Passage = dict[str, Any]


def markdown(section: Sequence[Passage]) -> str:
    """The passages of one section as Markdown again: items nested under the leads they had."""
    headings, kind = section[0]["headings"], section[0].get("kind", "item")
    lines = [f"{'#' * level} {text}\n" for level, text in enumerate(headings[: -1 if kind == "cell" else None], 1)]
    if kind == "cell":
        lines += [f"| {headings[-1]} |", "|---|"]
    depths: dict[str, int] = {}
    for passage in section:
        lead = passage.get("lead", "")
        if lead and lead not in depths:
            lines.append(f"\n{lead}\n")
            depths[lead] = 0
        for mark in passage["sentences"]:
            text, depth = mark[2:], depths.get(lead, 0)
            match passage.get("kind", "item"):
                case "item":
                    lines.append(f"{'  ' * depth}- {text}")
                    depths[text] = depth + 1
                case "prose":
                    lines.append(f"\n{text}\n")
                    depths[text] = 0
                case _:
                    lines.append(f"| {text} |")
    return "\n".join(lines)


def judged(name: str) -> Iterator[tuple[bool, bool, str]]:
    """For each mark: whether the reader and whether the extraction calls it an obligation, and what it is."""
    for (source, _), group in groupby(MARKS[name], key=lambda p: (p["source"], p["headings"])):
        section = list(group)
        document = read_document(Source(source, markdown(section)))
        read = {" ".join(words(sentence.text)) for sentence in document.sentences}
        found = {" ".join(words(o.sentence.text)) for o in obligations(document)}
        for mark in (mark for passage in section for mark in passage["sentences"]):
            text = " ".join(words(mark[2:]))
            assert text in read, f"{source}: the sentence came out as another one: {mark}"
            yield mark.startswith("+ "), text in found, f"{source}: {mark[2:]}"


@pytest.mark.parametrize("name", SETS)
def test_precision_and_recall(name: str) -> None:
    marks = list(judged(name))
    both = sum(wanted and found for wanted, found, _ in marks)
    precision = both / sum(found for _, found, _ in marks)
    recall = both / sum(wanted for wanted, _, _ in marks)
    print(f"\n{name}: precision {precision:.3f}, recall {recall:.3f} over {len(marks)} marked sentences")
    for wanted, found, text in marks:
        if wanted != found:
            print(f"  {'missed' if wanted else 'wrongly found'}: {text}")
    assert recall >= 0.97
    assert precision >= 0.87


def test_there_are_enough_marks_from_enough_documents() -> None:
    for name, wanted, others in (("passage", 120, 180), ("held_out", 50, 90)):
        marks = [mark for passage in MARKS[name] for mark in passage["sentences"]]
        assert {mark[:2] for mark in marks} == {"+ ", "- "}
        assert sum(mark.startswith("+") for mark in marks) >= wanted
        assert sum(mark.startswith("-") for mark in marks) >= others
        assert len({passage["source"] for passage in MARKS[name]}) >= 10

"""Finding what is quoted, and what it was before somebody changed it."""

from __future__ import annotations

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.documents.passages import nearest_sentence, occurrences
from vigil_lang.documents.read import read_document

TEXT = """# Rules

- **Never** release an archive that is “not
  validated” (< v1.2.0).
- Ask the user, then delete `old_data`. Log it.

```sh
vigil check --strict
```

Never release an archive on Fridays.
"""
DOCUMENT = read_document(Source("SKILL.md", TEXT))


@pytest.mark.parametrize(
    "quotation",
    [
        'never release an archive that is "not validated"',
        "- **Never** release an archive that is “not\n  validated” (< v1.2.0).",
        "Never release … (< v1.2.0)",
        "Ask the user ... Log it.",
        "vigil check --strict",
        "Rules",
    ],
)
def test_a_quotation_that_the_document_holds(quotation: str) -> None:
    assert len(occurrences(DOCUMENT, quotation)) == 1


@pytest.mark.parametrize(
    "quotation",
    [
        "Never release an archive that is validated",
        "that is “not validated” (> v1.2.0)",
        "elease an archiv",
        "Log it. … Ask the user",
        "",
        "…",
        "!!!",
    ],
)
def test_a_quotation_that_it_does_not_hold(quotation: str) -> None:
    assert occurrences(DOCUMENT, quotation) == []


def test_every_occurrence_with_its_sentence() -> None:
    found = occurrences(DOCUMENT, "never release an archive")
    owners = [[DOCUMENT.sentences[i].text for i, _ in DOCUMENT.sentences_in(p)] for p in found]
    assert owners == [
        ["Never release an archive that is “not validated” (< v1.2.0)."],
        ["Never release an archive on Fridays."],
    ]


def test_code_is_no_sentence() -> None:
    (passage,) = occurrences(DOCUMENT, "vigil check --strict")
    assert DOCUMENT.sentences_in(passage) == []


def test_the_nearest_sentence() -> None:
    near = nearest_sentence(DOCUMENT, "Ask the owner, then delete `old_data`.")
    assert near is not None
    assert near.text == "Ask the user, then delete `old_data`."
    assert nearest_sentence(DOCUMENT, "Feed the cat every morning.") is None
    assert nearest_sentence(DOCUMENT, "…") is None

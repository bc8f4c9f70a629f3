"""Nothing that a document says is lost: each sentence is a clause or is listed with the reason (docs/draft.md)."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vigil_lang.diagnostics import Source
from vigil_lang.documents.read import read_document
from vigil_lang.draft import skeleton
from vigil_lang.draft.clause_result import Why
from vigil_lang.draft.clauses import Clauses, read_clauses
from vigil_lang.project.drafting import TAKEN

if TYPE_CHECKING:
    from collections.abc import Collection

    from vigil_lang.project.drafting import Taken

SAID = (
    "Never push to `main`.",
    "Before any release:",
    "run the suite",
    "First check the branch.",
    "Is it late?",
    "At most three retries per job",
    '"Always ask before you delete."',
    "A release needs a tag first",
    "The sky is blue.",
    "Prefer small steps",
    "Use `uv` only when the network is down!",
    "Never:",
    "**Before each run**",
    "Each has one.",
    "See [the guide](guide.md) and do not skip it.",
    "e.g. in v1.2.3 vs. others",
    "_Ensure_ that <b>it</b> is so &amp; stays",
    "[Rule]: Never merge on Fridays.",
    "Warning",
    "必须停。不要推送。",
    "never \\*stop\\*",
    "a|b",
    "Why? Because. So be it!",
    "'Do not touch it.'",
    "No release without a tag",
    "3. out of 4",
    "…",
    "(Never mind.)",
    "Stop. Wait.",
    ">300 files need a split",
    "`a|b` ``` never <br>- Push<br/>to main",
    "<rule>",
    "</rule>",
    "**Safety:**",
    "Write <!-- and go on",
)
TEXTS = st.sampled_from(SAID) | st.text("xY .:;!?\"'`*_<>|#-[]()\\\t1é", max_size=12)
LINES = st.tuples(
    st.sampled_from(
        (
            "",
            "",
            "# ",
            "## ",
            "- ",
            "  - ",
            "1. ",
            "> ",
            "> - ",
            "- [ ] ",
            "* **Label:** ",
            "    ",
            "a. ",
            "!!! note ",
            "[!TIP] ",
            ": ",
        )
    ),
    TEXTS,
).map("".join)
BLOCKS = st.one_of(
    LINES,
    st.lists(TEXTS, min_size=2, max_size=3).map(lambda row: "| " + " | ".join(row) + " |\n|" + "---|" * len(row)),
    TEXTS.map(lambda text: f"```sh\n{text}\n```"),
    TEXTS.map(lambda text: f"<!-- {text} -->"),
    st.just(""),
)
DOCUMENTS = st.lists(BLOCKS, max_size=12).map("\n".join)


def read(text: str, take: Collection[Taken] = ()) -> Clauses:
    """What is read of a document, as if it lay in the working folder."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "SKILL.md"
        path.write_text(text, encoding="utf-8", newline="")
        found = read_clauses([str(path)], None, take)
    return Clauses(
        tuple(replace(clause, path="SKILL.md") for clause in found.clauses),
        ("SKILL.md",),
        tuple(replace(other, path="SKILL.md") for other in found.others),
    )


@settings(max_examples=300, deadline=None)
@given(DOCUMENTS, st.sets(st.sampled_from(TAKEN)))
def test_each_sentence_is_a_clause_or_is_listed_with_the_reason(text: str, take: set[Taken]) -> None:
    found = read(text, take)
    source = Source("SKILL.md", text)
    said = Counter((source.position(s.span.start)[0], s.text) for s in read_document(source).sentences)
    hidden = [other for other in found.others if other.why in ("code", "comment")]
    told = Counter((each.line, each.text) for each in (*found.clauses, *found.others) if each not in hidden)
    assert told == said
    assert {other.why for other in found.others} <= set(get_args(Why)) - take
    # Who takes more loses no clause, but that one may now introduce others.
    leads = [other for other in found.others if other.why == "lead"]
    obliging = Counter((clause.line, clause.text) for clause in read(text).clauses)
    assert obliging <= Counter((each.line, each.text) for each in (*found.clauses, *leads))


@settings(max_examples=300, deadline=None)
@given(DOCUMENTS)
def test_no_word_of_a_document_is_in_no_sentence_and_no_block(text: str) -> None:
    source = Source("SKILL.md", text)
    document = read_document(source)
    left = list(text)
    for span in (*(s.span for s in document.sentences), *document.code, *document.comments):
        left[span.start : span.end] = " " * (span.end - span.start)
    # What Markdown is made of: the marks of lists, fences with their language, boxes, the targets of links.
    rest = "".join(left)
    rest = re.sub(r"(?m)^[ \t>:]*(?:[-*+] )*(?:\[ \] )?(?:(?:\d+|[A-Za-z])[.)](?:[ \t]+|$))+", " ", rest)
    rest = re.sub(r"(?m)^[ \t>]*```sh|guide\.md|</?b>|<br/?>|!!! note|\[!TIP\]|amp", " ", rest)
    assert not any(map(str.isalnum, rest)), rest


@settings(max_examples=150, deadline=None)
@given(DOCUMENTS, st.sampled_from(("", " ", "  ", "\\")))
def test_a_document_says_the_same_with_either_end_of_lines(text: str, before_the_end: str) -> None:
    def said(text: str) -> list[str]:
        return [s.text.rstrip("\\ ") for s in read_document(Source("SKILL.md", text)).sentences]

    unix = text.replace("\n", before_the_end + "\n")
    assert said(unix.replace("\n", "\r\n")) == said(unix)


@settings(max_examples=100, deadline=None)
@given(DOCUMENTS)
def test_a_skeleton_has_a_statement_or_a_line_for_each(text: str) -> None:
    found = read(text)
    written = skeleton.policy(found, "demo")
    assert len(re.findall(r"(?m)^// statement ", written)) == len(found.clauses)
    assert len(re.findall(r"(?m)^// - SKILL\.md:\d+: .", written)) == len(found.others)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("# Never push to main\n", 1, "heading"),
        ("Is it so?\n", 1, "question"),
        ("Never push.\n\nNever push.\n", 3, "repeated"),
        ("Never:\n\n- push\n", 1, "lead"),
        ("# A\n\n## Weigh (must be done first)\n\nAsk the owner.\n", 3, "lead"),
        ("A\n\n```\nnever push\n```\n", 4, "code"),
        ("A\n\n<!--\nnever push -->\n", 3, "comment"),
        ("---\nname: x\n---\n", 1, "code"),
    ],
)
def test_what_is_listed(text: str, line: int, why: Why) -> None:
    assert (line, why) in {(other.line, other.why) for other in read(text).others}

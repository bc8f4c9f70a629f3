"""Markdown read into sentences, each with its place."""

from __future__ import annotations

import time

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.documents.obligations import obligations
from vigil_lang.documents.read import read_document, sentences_of

PAGE = """---
name: archive
---
# Archives

The first line
goes on here. **Never** delete
`a. B` (e.g. in v0.292.0, see AGENTS.md). Is that all? Yes!

1. Pack the file:
   - with [zip](https://example.org/a_(b).html), or
   - with *tar*
2. Test it.

| Flag | Meaning |
|:--|--:|
| `a | b` | Do it. Never twice. |

> Quoted text, which
> goes on.

Setext
------

```md
# no heading
Not a sentence.
```

<!-- hidden.
still hidden. --> Shown again.

    indented code

Last<br>one.
"""


def test_sentences_with_kind_and_place() -> None:
    document = read_document(Source("SKILL.md", PAGE))
    shown = [(*document.source.position(s.span.start), s.kind, s.text) for s in document.sentences]
    assert shown == [
        (4, 3, "heading", "Archives"),
        (6, 1, "prose", "The first line goes on here."),
        (7, 17, "prose", "Never delete `a. B` (e.g. in v0.292.0, see AGENTS.md)."),
        (8, 43, "prose", "Is that all?"),
        (8, 56, "prose", "Yes!"),
        (10, 4, "item", "Pack the file:"),
        (11, 6, "item", "with zip, or"),
        (12, 6, "item", "with tar"),
        (13, 4, "item", "Test it."),
        (15, 3, "heading", "Flag"),
        (15, 10, "heading", "Meaning"),
        (17, 3, "cell", "`a | b`"),
        (17, 13, "cell", "Do it."),
        (17, 20, "cell", "Never twice."),
        (19, 3, "prose", "Quoted text, which goes on."),
        (22, 1, "heading", "Setext"),
        (31, 19, "prose", "Shown again."),
        (35, 1, "prose", "Last one."),
    ]


def test_headings_columns_and_leads() -> None:
    document = read_document(Source("SKILL.md", "# A\n## B\nOnly:\n- x\n  - y\n# C\n| D |\n|---|\n| z |\n"))
    found = {s.text: (s.headings, s.lead) for s in document.sentences}
    assert found["B"] == (("A",), "")
    assert found["x"] == (("A", "B"), "Only:")
    assert found["y"] == (("A", "B"), "")
    assert found["z"] == (("C", "D"), "")


def test_a_sentence_is_cut_from_its_source() -> None:
    document = read_document(Source("SKILL.md", PAGE))
    written = [PAGE[s.span.start : s.span.end] for s in document.sentences]
    assert written[2] == "Never** delete\n`a. B` (e.g. in v0.292.0, see AGENTS.md)."
    assert written[6] == "with [zip](https://example.org/a_(b).html), or"


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Ask Dr. No. Then go.", ("Ask Dr. No.", "Then go.")),
        ("Use U.S. English, i.e. no `u`. Always.", ("Use U.S. English, i.e. no `u`.", "Always.")),
        ("It is 3.5 MB (see No. 5). Go!", ("It is 3.5 MB (see No. 5).", "Go!")),
        ("He said “stop.” She did.", ("He said “stop.”", "She did.")),
        ("Zip, tar, etc. Then test.", ("Zip, tar, etc.", "Then test.")),
        ("不要删除。请备份！", ("不要删除。", "请备份！")),
        ("First line  \nSecond line", ("First line", "Second line")),
        ("snake_case_name and __init__ and 2*3*4", ("snake_case_name and init and 2*3*4",)),
        ("`` a `b` `` &lt;path&gt; \\*not\\* <https://x.org>", ("`a `b`` <path> *not* https://x.org",)),
        ("Push. <!-- Never --> Pull. <!-- and", ("Push.", "Pull.", "<!-- and")),
        ("<!-- a\nb --> Go. <!-- c -->", ("Go.",)),
        ("Write `<!-- x` and `-->`. Go.", ("Write `<!-- x` and `-->`.", "Go.")),
        ("[!NOTE]\n::: tip\nGo.\n\n***\n[a]: https://x.org\nStay.", ("Go.", "Stay.")),
        ("# A #\n## \n+ b\n\n  c\n\n      d", ("A", "b", "c", "d")),
        ("~~~\nx\n```\n~~~\nGo.", ("Go.",)),
        ("> ```\n> x\n> ```\n> Go.", ("Go.",)),
        ("+++\nx = 1\n+++\nGo.", ("Go.",)),
        ("---\nGo.", ("Go.",)),
        ("One\\\ntwo", ("One", "two")),
        (
            "You must (see below. And here) go on. (Never push. Always pull.)",
            ("You must (see below. And here) go on.", "(Never push.", "Always pull.)"),
        ),
        ("Wait (for. Long. Then go.", ("Wait (for.", "Long.", "Then go.")),
        ("Never use ver. 2. Go on.", ("Never use ver. 2.", "Go on.")),
        ("See [^1].\n\n[^1]: Never push.\n[^2]: Always pull.", ("See [^1].", "Never push.", "Always pull.")),
        ("- a. Sign it.\n- 2. Never push.", ("Sign it.", "Never push.")),
        ("**Note**\nDo not run\n**this** twice.", ("Note", "Do not run this twice.")),
        ("***", ()),
        ("", ()),
    ],
)
def test_where_sentences_end(text: str, sentences: tuple[str, ...]) -> None:
    assert sentences_of(text) == sentences


def test_a_fence_that_quotes_markdown_may_hold_fences() -> None:
    text = "```markdown\n```python\nx = 1\n```\nNot a sentence.\n```\nA sentence.\n"
    assert sentences_of(text) == ("A sentence.",)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("- a\n  ```\n  code\n\nNever push.\n", ("a", "Never push.")),
        ("- a\n  ```\n  code\n- Ask first.\n\nEnd it.\n", ("a", "Ask first.", "End it.")),
        ("1. a\n   ```sh\n   rm\n\n   x\nNever do.\n\n# H\n", ("a", "Never do.", "H")),
        ("- a\n  - b\n    ~~~\n    code\n  - Ask first.\n", ("a", "b", "Ask first.")),
        ("> ```\n> x\n\nNever after.\n", ("Never after.",)),
        ("- a\n  ```\n  code\n\n  more\n  ```\n  Never stop.\n", ("a", "Never stop.")),
        ("```\ncode\n- Never listed.\n", ()),
    ],
)
def test_a_fence_ends_with_the_item_it_stands_in(text: str, sentences: tuple[str, ...]) -> None:
    assert sentences_of(text) == sentences


HOSTILE = {
    "quotes": "> " * 100_000 + "x",
    "brackets": "[" * 200_000,
    "links": "[a](b" * 100_000,
    "back quotes": "".join("`" * (n % 500 + 1) + " " for n in range(3000)),
    "stars": "*a " * 100_000,
    "comments": "<!--\n" * 100_000,
    "comments in a line": "<!-- --> `<!--" * 50_000,
    "bars": "|a" * 50_000 + "\n|-|\n" + "|a" * 50_000,
    "dots": "A. " * 100_000,
    "tags": "<a " * 100_000,
    "sections": "<rule>\n\n" * 20_000 + "</rule>\n\n" * 20_000,
    "deep lists": "".join(" " * (n % 2000) + "- a\n" for n in range(3000)),
    "words": "never do not before " * 50_000,
    "asides": "x (a. ) A. " * 50_000 + "(A. " * 50_000,
    "one long word": "a" * 1_000_000,
    "lists in quotes": ("- > " * 30 + "a\n") * 1000,
    "marks of lists": "- " * 100_000 + "a",
    "lazy lines": ("> " * 20 + "a\n" + "b\n") * 2000,
    "references": "[a]:\n" * 20_000,
    "headings in lists": "- # a\n" * 10_000,
    "rows without cells": "|a|b|\n|-|-|\n" + "|\n" * 20_000,
    "underlined": "a\n" * 20_000 + "===\n",
    "open fences": "- ```\n  x\n" * 10_000 + "`" * 100_000 + "<!--",
    "code in cells": "|a|b|\n|-|-|\n" + ("|" + "`` ` " * 400 + "a|b|c|\n") * 100,
    "titles": "**a**\n__b__:\n" * 20_000,
    "comments within lines": "a <!-- " * 50_000,
    "callouts": '!!! note "a"\n    b\n' * 10_000,
    "nothing": "\0\u202e\ud7ff" * 100_000,
}


@pytest.mark.slow
@pytest.mark.unmeasured
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_documents_are_read_in_linear_time(text: str) -> None:
    started = time.process_time()
    document = read_document(Source("SKILL.md", text))
    obligations(document)
    assert document.words
    assert time.process_time() - started < 10


def test_what_is_nested_too_deep_is_read_as_text() -> None:
    text = "- " * 100 + "Never push.\n\n" + "> " * 100 + "Always ask.\n\nGo on.\n"
    assert [s for s in sentences_of(text) if not s.startswith(("- ", ">"))] == ["Go on."]
    assert sum("Never push." in s or "Always ask." in s for s in sentences_of(text)) == 2


def test_lines_of_a_plain_text_may_stand_by_themselves() -> None:
    text = "Never push to main\nAlways ask before a release\nKeep the copies,\nAll of them,\nor none of them\n"
    wrapped = "This line is long enough to be one that was wrapped where it ends\nGermany is the rest of it"
    apart = read_document(Source("rules.txt", text)).sentences
    assert [" ".join(sentence.text.split()) for sentence in apart] == [
        "Never push to main",
        "Always ask before a release",
        "Keep the copies, All of them, or none of them",
    ]
    assert len(read_document(Source("rules.md", text)).sentences) == 1
    assert len(read_document(Source("rules.txt", wrapped)).sentences) == 1


@pytest.mark.parametrize("rule", ["---", "- ", "==="])
def test_a_comment_is_no_heading(rule: str) -> None:
    document = read_document(Source("a.md", f"<!-- a licence -->\n{rule}\n\nNever push.\n"))
    assert [(s.text, s.kind, s.headings) for s in document.sentences] == [("Never push.", "prose", ())]

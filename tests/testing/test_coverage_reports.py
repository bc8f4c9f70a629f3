"""Coverage as people and programs read it."""

from __future__ import annotations

import io
import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from tests.testing.policies_under_test import under_test
from vigil_lang.testing.coverage import measure
from vigil_lang.testing.coverage_html import coverage_html
from vigil_lang.testing.coverage_report import coverage_json, print_coverage

if TYPE_CHECKING:
    from pathlib import Path

    from vigil_lang.testing.coverage import Coverage

POLICY = """\
statement R0: abs(sample(fps != 6))

/// Whoever <b>writes</b> & reads.
statement R1: prec(release(file ~ "*.csr") or ship(),
    validate())
"""
TESTS = 'test "t" { run { release(file = "a.csr") } expect R1 violated }'


@pytest.fixture
def coverage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Coverage:
    monkeypatch.chdir(tmp_path)
    found = under_test(tmp_path, POLICY, TESTS)
    return measure(found.cases, found.policies)


def printed(coverage: Coverage) -> str:
    stream = io.StringIO()
    print_coverage(coverage, Console(file=stream, width=100, markup=False, highlight=False, soft_wrap=True))
    return stream.getvalue()


class Page(HTMLParser):
    """What a browser makes of a page: its elements, its ids and links, and the text of the sources."""

    VOID = frozenset({"meta", "br", "hr", "img", "link"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.sources: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "pre" and dict(attrs).get("class") == "text":
            self.sources.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "pre" in self.open and self.sources:
            self.sources[-1] += data

    def with_attribute(self, name: str) -> list[str]:
        return [value for _, attrs in self.tags if (value := attrs.get(name))]


def test_the_terminal_lists_what_no_test_shows(coverage: Coverage) -> None:
    assert printed(coverage) == (
        "file     seen  coverage\n"
        "p.vgl    6/17      35 %\n"
        "\n"
        "p.vgl\n"
        "  1:11  R0                                 never put to the test\n"
        "  1:19  sample(fps != 6)                   never looked at\n"
        "  1:26  fps != 6                           never false while everything beside it is true\n"
        "  4:11  R1                                 never satisfied by a run that puts it to the test\n"
        '  4:20  release(file ~ "*.csr") or ship()  never false\n'
        '  4:20  release(file ~ "*.csr")            never false\n'
        '  4:28  file ~ "*.csr"                     never false while everything beside it is true\n'
        "  4:47  ship()                             never true\n"
        "   5:5  validate()                         never true\n"
    )


def test_the_places_of_a_listing_are_those_of_the_text(coverage: Coverage) -> None:
    for place, text in re.findall(r"^ +(\d+:\d+)  (\S+)", printed(coverage), re.MULTILINE):
        line, column = map(int, place.split(":"))
        assert POLICY.splitlines()[line - 1][column - 1 :].startswith(text)


def test_as_json(coverage: Coverage) -> None:
    read = json.loads(json.dumps(coverage_json(coverage)))
    assert (read["schema"], read["complete"]) == ("vigil.coverage/1", True)
    (file,) = read["files"]
    assert file["seen"] == sum(len(part["seen"]) for part in file["parts"])
    assert file["wanted"] == sum(len(part["wanted"]) for part in file["parts"])
    assert file["parts"][0] == {
        "kind": "statement", "text": "R0", "wanted": ["satisfied", "violated"], "seen": [],
        "start": {"line": 1, "column": 11}, "end": {"line": 1, "column": 13},
    }  # fmt: skip


def test_the_page_is_well_formed_and_shows_the_source_as_it_is(coverage: Coverage) -> None:
    page = Page(coverage_html(coverage))
    assert page.open == []
    assert page.sources == [POLICY]


def test_the_page_needs_nothing_else(coverage: Coverage) -> None:
    html = coverage_html(coverage)
    page = Page(html)
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    assert all(href.startswith("#") for href in page.with_attribute("href"))
    assert "url(" not in html
    assert "@import" not in html


def test_every_link_of_the_page_leads_somewhere(coverage: Coverage) -> None:
    page = Page(coverage_html(coverage))
    ids = page.with_attribute("id")
    assert len(ids) == len(set(ids))
    assert {href[1:] for href in page.with_attribute("href")} <= set(ids)


def test_what_is_missing_can_be_reached_by_keyboard(coverage: Coverage) -> None:
    page = Page(coverage_html(coverage))
    told = [attrs for _, attrs in page.tags if "data-told" in attrs]
    assert len(told) == sum(1 for part in coverage.files[0].parts if part.missing)
    assert all(attrs["tabindex"] == "0" and attrs["title"] for attrs in told)


def test_hostile_names_and_texts_stay_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    policy = 'statement S: abs("</pre><script>alert(1)</script>"(f = "\\" onload=\\"x", g ~ "&lt;*"))'
    found = under_test(tmp_path, policy, "")
    coverage = measure((), found.policies)
    page = Page(coverage_html(coverage))
    assert page.sources == [policy]
    assert "script" not in {tag for tag, _ in page.tags}
    assert page.with_attribute("onload") == []


def test_nothing_to_cover() -> None:
    empty = measure(())
    assert printed(empty).splitlines()[-1].split()[-2:] == ["100", "%"]
    assert Page(coverage_html(empty)).sources == []
    assert coverage_json(empty)["percent"] == 100

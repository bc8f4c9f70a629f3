"""The pictures of docs/editors.md: those that the script takes, each there and small; and how a screen becomes one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from tests.editors.install import ROOT, Unavailable
from tests.editors.screenshots import IMAGES, PICTURES, neovim
from tests.editors.screenshots.terminal import Style, _cells, svg

if TYPE_CHECKING:
    from pathlib import Path


def named(page: str) -> set[str]:
    """The files in docs/images that a page shows."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return set(re.findall(r"(?:\]\(|srcset=\"|src=\")(?:docs/)?images/([^\")]+)", text))


def test_the_page_shows_what_the_script_takes() -> None:
    assert named("docs/editors.md") == set(PICTURES)


@pytest.mark.parametrize("page", ["README.md", "docs/editors.md", "docs/page.md", "docs/first-session.md"])
def test_pictures_that_are_named_exist(page: str) -> None:
    assert {name for name in named(page) if not (IMAGES / name).exists()} == set()


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_small(name: str) -> None:
    content = (IMAGES / name).read_bytes()
    assert 1_000 < len(content) < 150_000
    if name.endswith(".svg"):
        text = "".join(ElementTree.fromstring(content).itertext())
        assert "/tmp" not in text
        assert "transf" in text


def test_codes_of_a_terminal() -> None:
    plain, red = Style(), Style(front="#ff0000", underline=3, underline_colour="#00ff00")
    (line,) = _cells("a\x1b[38;2;255;0;0m\x1b[4:3m\x1b[58:2::0:255:0mb\x1b[0mc\n")
    assert line == [("a", plain), ("b", red), ("c", plain)]
    ((_, grey),) = _cells("\x1b[1;3;7;38;5;240;48:5:196mx")[0]
    assert grey == Style(front="#585858", back="#ff0000", bold=True, italic=True, reverse=True)


def test_a_screen_as_a_picture() -> None:
    screen = [[*((letter, Style()) for letter in "a <"), ("b", Style(reverse=True))]]
    drawn = svg(screen, (0, 0), front="#000000", back="#ffffff", title="a & b")
    texts = [each.text for each in ElementTree.fromstring(drawn).iter() if each.text and each.text.strip()]
    assert texts == ["a & b", "a", "<", "b"]
    assert drawn.count('fill="#ffffff"') == 3, "the paper, and what is written in reverse: the cursor and b"


def test_neovim_draws_the_counts_once_the_runs_are_read(tmp_path: Path) -> None:
    """Also where a lens or a finding is drawn while it waits for the hints."""
    try:
        drawn = neovim.fix(tmp_path, "dark")
    except Unavailable as reason:
        pytest.skip(str(reason))
    texts = [each.text for each in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    assert "0 events" in texts
    assert "3 events" in texts
    assert any("Write `transform`" in (text or "") for text in texts)

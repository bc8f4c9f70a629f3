"""How the page looks, and whether everybody can use it: on a phone and a desk, light and dark, zoomed, by axe-core."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from page_support import HOSTILE, Site, settled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

IMAGES = Path(__file__).parents[3] / "docs" / "images"
PHONE, DESK, ZOOMED = (390, 844), (1280, 800), (320, 256)
"""A window of 1280×1024 that is zoomed to 400 % is one of 320×256."""

COLOURED = ("holds", "hold", "witness", "hostile", "log", "kill")
"""The pages that have every colour between them."""

WIDTH = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A service where nobody did anything else."""
    found = Site(tmp_path_factory.mktemp("looks"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def tab(browser: Browser, site: Site) -> Iterator[Page]:
    """A tab in which the operator signed in."""
    found = browser.new_page(reduced_motion="reduce")
    found.goto(site.service.auth.sign_in_link(site.url))
    yield found
    found.close()


@pytest.fixture(scope="module")
def addresses(site: Site) -> dict[str, str]:
    """Every page, with something on it."""
    return settled(site) | {"passkeys": "/passkeys", "people": "/people"}


def at(page: Page, size: tuple[int, int], scheme: Any) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(color_scheme=scheme)


def grave(page: Page, *rules: str) -> list[str]:
    """What axe-core finds that is serious or critical, by all of its rules or by some."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core looks at the page")
    options = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
    found = axe.Axe().run(page, options=options).response["violations"]
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found if each["impact"] in ("serious", "critical")
    ]


def small(page: Page) -> list[str]:
    """What is to be touched on a phone and is smaller than a finger: buttons, fields, and links that stand alone."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('button, select, input:not([type=hidden]), summary, nav a, a.button')]
        .filter(each => each.checkVisibility())
        .map(each => [each, (each.closest('label') || each).getBoundingClientRect().height])
        .filter(([each, height]) => height < 43.5)
        .map(([each, height]) => `${height} ${each.outerHTML.slice(0, 80)}`)"""
    )
    return found


@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "dark"), (DESK, "light"), (PHONE, "light"), (DESK, "dark")])
def test_everybody_can_use_every_page(
    site: Site, tab: Page, addresses: dict[str, str], size: tuple[int, int], scheme: str
) -> None:
    at(tab, size, scheme)
    wrong = {}
    for name, address in addresses.items():
        tab.goto(site.url + address)
        tab.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
        wide, room = tab.evaluate(WIDTH)
        problems = [f"{wide - room} pixels too wide"] if wide > room else []
        # Colours differ by scheme, what is named and how it is nested does not.
        problems += grave(tab) if (size, scheme) == (PHONE, "dark") else []
        problems += grave(tab, "color-contrast") if (size, scheme) == (DESK, "light") and name in COLOURED else []
        problems += small(tab) if size == PHONE else []
        if problems:
            wrong[name] = problems
    assert wrong == {}


def test_zoomed_to_400_percent_a_page_is_read_in_one_direction(
    site: Site, tab: Page, addresses: dict[str, str]
) -> None:
    at(tab, ZOOMED, "light")
    for name, address in addresses.items():
        tab.goto(site.url + address)
        wide, room = tab.evaluate(WIDTH)
        assert wide <= room, name
    tab.goto(site.url + addresses["holds"])
    assert tab.evaluate("getComputedStyle(document.querySelector('.bar')).position") == "static", (
        "it hides what is read"
    )


def test_what_is_stated_by_colour_is_also_stated_in_words(site: Site, tab: Page, addresses: dict[str, str]) -> None:
    tab.goto(site.url + addresses["holds"])
    tab.goto(site.url + addresses["witness"])
    words = tab.get_by_role("main").inner_text()
    assert all(each in words for each in ("waits", "asks for a confirmation", "this call"))


def test_hostile_texts_do_nothing(site: Site, tab: Page, addresses: dict[str, str]) -> None:
    asked: list[str] = []
    tab.on("dialog", lambda each: (asked.append(each.message), each.dismiss()))
    for name in ("hostile", "holds", "log", "runs", "hostile run", "hostile entry"):
        tab.goto(site.url + addresses[name])
        assert tab.locator("main script, main img, main iframe").count() == 0, name
        text = tab.content()
        assert not [char for char in "\u202e\u2066\u200b\x00\x1b" if char in text], name
    assert asked == []
    tab.goto(site.url + addresses["hostile"])
    assert HOSTILE["markup"].replace('"', '\\"') in tab.locator(".action").inner_text()


SHOTS = {
    "page-holds-desk-light": ("holds", DESK, "light"),
    "page-hold-phone-light": ("hold", PHONE, "light"),
    "page-hold-phone-dark": ("hold", PHONE, "dark"),
    "page-witness-desk-dark": ("witness", DESK, "dark"),
    "page-log-desk-light": ("log", DESK, "light"),
    "page-stop-phone-dark": ("kill", PHONE, "dark"),
}
"""The pictures of docs/page.md."""


@pytest.mark.parametrize("name", SHOTS)
def test_the_pictures_of_the_manual_are_made_from_the_page(
    site: Site, tab: Page, addresses: dict[str, str], name: str
) -> None:
    of, size, scheme = SHOTS[name]
    at(tab, size, scheme)
    tab.goto(site.url + addresses[of])
    image = tab.screenshot()
    assert image.startswith(b"\x89PNG")
    if os.environ.get("VIGIL_UPDATE"):
        IMAGES.mkdir(exist_ok=True)
        (IMAGES / f"{name}.png").write_bytes(image)
    assert (IMAGES / f"{name}.png").exists()

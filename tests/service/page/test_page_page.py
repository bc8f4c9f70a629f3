"""docs/page.md: its pictures are those that the tests make, its addresses are there, and so is what it links to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from test_page_looks import SHOTS

from vigil_lang.service.apps import control_routes

if TYPE_CHECKING:
    from page_support import Site

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "page.md").read_text(encoding="utf-8")


def test_the_pictures_are_those_that_the_tests_make() -> None:
    shown = re.findall(r"!\[([^\]]+)\]\(images/([^)]+)\.png\)", PAGE)
    assert sorted(name for _, name in shown) == sorted(SHOTS)
    assert all((DOCS / "images" / f"{name}.png").exists() for _, name in shown)


def test_every_address_is_there(plain: Site) -> None:
    routes = {route.path for route in control_routes(plain.service)}
    named = re.findall(r"^\| `(/[a-z]+)` \|", PAGE, re.MULTILINE)
    assert len(named) == 7
    assert set(named) <= routes
    for address in named:
        assert plain.client.get(address).status_code in (200, 403), address

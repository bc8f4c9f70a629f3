from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from page_support import Site

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, ConsoleMessage, Page

CHROMIUM = "/usr/bin/chromium"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the tests of a module.

    While it is there its event loop runs in this thread, so that no test of another module could run one.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="the page is looked at with playwright")
    if not os.path.exists(CHROMIUM):  # noqa: PTH110
        pytest.skip(f"the page is looked at with {CHROMIUM}, which is not here")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A service whose page is looked at in a browser."""
    found = Site(tmp_path_factory.mktemp("site"))
    yield found
    found.close()


@pytest.fixture
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A service of the test's own, where everybody is the operator."""
    found = Site(tmp_path_factory.mktemp("plain"), no_auth=True)
    yield found
    found.close()


@pytest.fixture(scope="module")
def signed_in(browser: Browser, site: Site) -> Iterator[Page]:
    """A tab in which the operator signed in, by the link that the service prints, and made a passkey."""
    page = browser.new_page()
    page.set_default_timeout(10_000)
    problems: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and "status of 4" not in message.text:  # a refusal is none
            problems.append(message.text)

    page.on("console", heard)
    page.on("pageerror", lambda each: problems.append(str(each)))
    tools = page.context.new_cdp_session(page)
    tools.send("WebAuthn.enable")
    options: dict[str, Any] = {
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
        "isUserVerified": True, "automaticPresenceSimulation": True,
    }  # fmt: skip
    tools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    page.goto(site.service.auth.sign_in_link(site.url))
    page.goto(f"{site.url}/passkeys")
    page.get_by_label("What to call it").fill("this laptop")
    page.get_by_role("button", name="Add a passkey").click()
    page.get_by_text("this laptop").first.wait_for()
    yield page
    assert problems == [], "what the browser complained about"
    page.context.close()


@pytest.fixture
def tab(signed_in: Page) -> Page:
    """That tab, as wide as a desk's screen and light."""
    signed_in.set_viewport_size({"width": 1280, "height": 800})
    signed_in.emulate_media(color_scheme="light")
    return signed_in

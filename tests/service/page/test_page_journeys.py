"""What people do on the page, in a real browser with a passkey: by mouse, and by the keyboard alone."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cli_support import called

if TYPE_CHECKING:
    from page_support import Site
    from playwright.sync_api import Page


def state_of(site: Site, hold: str) -> str:
    return site.gate.holds.look(hold).state


def focused(tab: Page) -> str:
    found: str = tab.evaluate("document.activeElement.textContent.trim()")
    return found


def tab_to(tab: Page, text: str) -> None:
    """Press the Tab key until what begins with a text has the focus, which is seen then."""
    for _ in range(80):
        tab.keyboard.press("Tab")
        if focused(tab).startswith(text):
            outline = tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", text
            return
    raise AssertionError(f"`{text}` is not reached by the keyboard")


def test_a_hold_is_confirmed_with_a_passkey_and_the_evidence_is_checked_offline(site: Site, tab: Page) -> None:
    hold = site.held("payment.transfer", run="confirmed", amount=700, recipient="Paper Ltd")
    tab.goto(f"{site.url}/holds")
    tab.locator(f'a[href="/holds/{hold}"]').click()
    assert "payer wants to do" in tab.get_by_role("heading", level=1).inner_text()
    tab.get_by_role("button", name="Confirm, once").click()
    tab.get_by_role("heading", name="What was allowed").wait_for()
    assert state_of(site, hold) == "approved"
    passed = site.ask("payment.transfer", run="confirmed", amount=700, recipient="Paper Ltd")
    assert passed.decision.mode == "pass"
    assert site.ask("payment.transfer", run="confirmed", amount=701, recipient="Paper Ltd").decision.mode == "hold"
    site.gate.checkpoint()
    audit = called("audit", "verify", "--state", str(site.world.state))
    assert audit.status == 0, audit.out + audit.err


def test_a_hold_is_denied_by_the_keyboard_alone(site: Site, tab: Page) -> None:
    hold = site.held("payment.transfer", run="denied", amount=801, recipient="Somebody")
    tab.goto(f"{site.url}/holds/{hold}")
    tab_to(tab, "Skip to the content")
    tab.keyboard.press("Enter")
    tab_to(tab, "Deny")
    tab.keyboard.press("Enter")
    tab.get_by_text("denied").first.wait_for()
    assert state_of(site, hold) == "denied"


def test_calls_like_it_are_released_for_an_hour(site: Site, tab: Page) -> None:
    hold = site.held("message.send", run="mails", agent="mailer", recipient="bob@example.com", body="Hi")
    tab.goto(f"{site.url}/holds/{hold}")
    tab_to(tab, "Release calls like this for 1 h")
    tab.keyboard.press("Enter")
    words = tab.get_by_text("Calls like this pass unasked").inner_text()
    assert "1,000 times in 1 h" in words
    tab_to(tab, "Confirm, and release")
    tab.keyboard.press("Enter")
    tab.get_by_role("heading", name="What was allowed").wait_for()
    other = site.ask("message.send", run="other", agent="mailer", recipient="eve@example.com", body="Hello")
    assert other.decision.mode == "pass"
    assert site.ask("message.send", run="other", agent="another", recipient="eve@example.com").decision.mode == "hold"


def test_several_are_confirmed_at_once_by_the_keyboard_alone(site: Site, tab: Page) -> None:
    names = [site.held("payment.transfer", run="batch", amount=amount, recipient="Ann") for amount in (601, 602, 603)]
    tab.goto(f"{site.url}/holds")
    for name in names[:2]:
        tab.locator(f'input[value="{name}"]').focus()
        tab.keyboard.press("Space")
    tab_to(tab, "Confirm the chosen")
    tab.keyboard.press("Enter")
    tab.get_by_role("heading", name="Confirm 2 holds?").wait_for()
    assert {state_of(site, name) for name in names} == {"pending"}
    tab_to(tab, "Confirm all 2 with a passkey")
    tab.keyboard.press("Enter")
    tab.get_by_role("heading", name="What became of them").wait_for()
    assert [state_of(site, name) for name in names] == ["approved", "approved", "pending"]


def test_what_a_passkey_does_not_sign_changes_nothing(site: Site, tab: Page) -> None:
    hold = site.held("payment.transfer", run="late", amount=950, recipient="Late")
    tab.goto(f"{site.url}/holds/{hold}")
    site.gate.holds.cancel([hold], "not wanted any more")
    tab.get_by_role("button", name="Confirm, once").click()
    tab.get_by_role("alert").get_by_text("waits no more").wait_for()
    assert state_of(site, hold) == "cancelled"


def test_news_are_said_and_nothing_moves(site: Site, tab: Page) -> None:
    site.held("payment.transfer", run="news", amount=711, recipient="First")
    tab.goto(f"{site.url}/holds")
    cards = tab.locator(".card h2").all_inner_texts()
    time.sleep(0.3)  # the stream is listened to
    site.held("payment.transfer", run="news", amount=712, recipient="Second")
    news = tab.locator("#news")
    news.get_by_text("Something changed").wait_for()
    assert news.get_attribute("aria-live") == "polite"
    assert tab.locator(".card h2").all_inner_texts() == cards
    news.get_by_role("link", name="Show it").click()
    tab.get_by_text("Second").first.wait_for()


def test_the_time_left_is_counted_down(site: Site, tab: Page) -> None:
    hold = site.held("payment.transfer", run="time", amount=713, recipient="Time")
    tab.goto(f"{site.url}/holds/{hold}")
    left = tab.locator("time[data-ends]").first
    before = left.inner_text()
    tab.wait_for_function("text => document.querySelector('time[data-ends]').textContent !== text", arg=before)
    assert " min " in left.inner_text()


def test_the_log_is_searched_and_says_how_far_it_was_checked(site: Site, tab: Page) -> None:
    site.made("get_invoice", run="looked-for", invoice="inv-1")
    site.gate.checkpoint()
    tab.goto(f"{site.url}/log")
    tab.get_by_label("Part of the name").fill("looked-f")
    tab.get_by_role("button", name="Search").click()
    tab.get_by_role("link", name="looked-for").first.click()
    assert "run=looked-for" in tab.url
    tab.get_by_label("Kind").select_option("outcome")
    tab.get_by_role("button", name="Search").click()
    entries = tab.get_by_role("list", name="Entries, newest first").get_by_role("listitem")
    assert entries.count() == 1
    entries.get_by_role("link").first.click()
    tab.get_by_text("The log's key signed it, and it was not changed since.").wait_for()


def test_an_agent_is_stopped_and_its_runs_acknowledge_that(site: Site, tab: Page) -> None:
    site.made("get_invoice", run="rogue-1", agent="rogue", invoice="inv-1")
    tab.goto(f"{site.url}/runs")
    tab.get_by_role("link", name="rogue-1").click()
    tab.get_by_text("It owes:").wait_for()
    tab.get_by_role("link", name="Stop the agent").click()
    assert tab.get_by_role("combobox", name="Its name").input_value() == "rogue"
    tab_to(tab, "Stop it now")
    with site.gate.watching():
        tab.keyboard.press("Enter")
        tab.get_by_role("heading", name="the agent `rogue` is stopped").wait_for()
    told = tab.get_by_role("status").last.inner_text()
    assert "acknowledged" in told
    assert site.ask("get_invoice", run="rogue-1", agent="rogue", invoice="inv-2").decision.mode == "block"
    tab.get_by_role("button", name="Stop it no more").first.click()
    tab.get_by_text("is stopped no more").first.wait_for()
    assert site.ask("get_invoice", run="rogue-1", agent="rogue", invoice="inv-2").decision.mode == "pass"


def test_it_works_without_script_but_for_passkeys(site: Site, tab: Page) -> None:
    hold = site.held("payment.transfer", run="scriptless", amount=714, recipient="Noscript")
    context = tab.context.browser.new_context(java_script_enabled=False)  # type: ignore[union-attr]
    context.add_cookies(tab.context.cookies())  # type: ignore[arg-type]
    page = context.new_page()
    for address in ("/holds", f"/holds/{hold}", "/log", "/runs", "/policies", "/kill", "/people"):
        answer = page.goto(site.url + address)
        assert answer is not None
        assert answer.status == 200
    page.goto(f"{site.url}/holds/{hold}")
    page.get_by_role("button", name="Confirm, once").click()
    assert "takes a passkey" in page.get_by_role("main").inner_text()
    assert state_of(site, hold) == "pending"
    context.close()

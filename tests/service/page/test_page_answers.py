"""What the page answers, without a browser: what changes nothing, what is refused, how large it is, what it hides.

The properties of docs/page.md, each with cases made for it.
"""

from __future__ import annotations

import html
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from page_support import HOSTILE, settled

from vigil_lang.diagnostics.visible import visible
from vigil_lang.service.page.rendering import HEADERS, path_of, run_at, shown, ticks
from vigil_lang.service.page.texts import PART, of_action, parts

if TYPE_CHECKING:
    from page_support import Site

LARGEST = 100_000
"""Bytes of a page."""

FORM = {"content-type": "application/x-www-form-urlencoded"}


def get(site: Site, address: str) -> httpx.Response:
    return site.client.get(address)


def csrf_of(site: Site) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', get(site, "/holds").text)
    assert found is not None
    return html.unescape(found[1])


def post(site: Site, address: str, fields: dict[str, Any], **headers: str) -> httpx.Response:
    return site.client.post(address, data=fields, headers={"origin": site.url, **headers})


def test_nothing_is_decided_or_written_by_get(plain: Site) -> None:
    addresses = settled(plain)
    hold = addresses["hold"]
    before = plain.gate.log.size
    states = [each.state for each in plain.gate.holds.listed(every=True)]
    for address in (*addresses.values(), f"{hold}/confirm", f"{hold}/deny", f"{hold}?what=approve&answer=1",
                    f"/holds/batch?hold={hold[7:]}&what=approve", "/kill?kind=all&everyone=yes&undo=yes"):  # fmt: skip
        assert get(plain, address).status_code in (200, 404, 405), address
    assert [each.state for each in plain.gate.holds.listed(every=True)] == states
    assert plain.gate.log.size == before
    assert not plain.gate.revoked().count


def test_every_page_says_what_a_browser_may_do_with_it(plain: Site) -> None:
    for name, address in settled(plain).items():
        answer = get(plain, address)
        for header, value in HEADERS.items():
            assert answer.headers.get_list(header) == [value], (name, header)
        assert answer.headers["cache-control"] == "no-store"
        assert not re.search(r"<script(?![^>]* src=)|<style| style=| on[a-z]+=\"|javascript:", answer.text), name
        assert len(answer.content) <= LARGEST, name
    policy = HEADERS["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.unmeasured
def test_a_page_is_never_large_whatever_it_has_to_show(plain: Site) -> None:
    for at, text in enumerate(
        ("<" * 30_000, "\u202e" * 30_000, "\U0001f600" * 15_000, "\n" * 15_000, "&\x00" * 15_000)
    ):
        fields = {f"argument {number} {text[:60]}": text for number in range(3)}
        hold = plain.held("payment.transfer", run=f"r{at} {text[:200]}", agent=text[:250], amount=900, **fields)
        opened = plain.gate.holds.get(hold).opened
        for address in ("/holds", f"/holds/{hold}", f"/holds/{hold}/action?part=2", "/log", "/runs",
                        run_at(opened["run"]), f"/log/{plain.gate.log.size - 1}", "/kill"):  # fmt: skip
            answer = get(plain, address)
            assert answer.status_code == 200, (at, address)
            assert len(answer.content) <= LARGEST, (at, address)


def test_a_page_of_many_holds_is_not_large_either(plain: Site) -> None:
    for number in range(60):
        plain.held(
            "payment.transfer",
            run="r" * 200,
            agent=f"{'<' * 200}{number}",
            amount=900 + number,
            to="<&>" * 200,
            cc="\u202e" * 300,
        )
    answer = get(plain, "/holds")
    assert "60 actions wait" in answer.text
    assert len(answer.content) <= LARGEST
    assert get(plain, "/holds?page=2").text.count('class="card"') == 30
    assert "Page 2 of 2" in get(plain, "/holds?page=2").text


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_shown_escaped_in_every_field(plain: Site, name: str) -> None:
    text = HOSTILE[name]
    hold = plain.held("payment.transfer", run=text[:200], agent=text[:200], amount=900, note=text, **{text[:200]: 1})
    plain.gate.halt(text[:200], text[:2000])
    run = path_of(text[:200])
    for address in ("/holds", f"/holds/{hold}", "/log", f"/log?run={run}&text={run}", run_at(text[:200]), "/runs",
                    f"/kill?kind=run&name={run}"):  # fmt: skip
        answer = get(plain, address)
        assert answer.status_code == 200, address
        own = re.sub(r"<(link|script) [^>]*/static/[^>]*>", "", answer.text)
        assert "<script" not in own, address
        assert "<img" not in own, address
        # A field of a form has to give back what it was given.
        told = re.sub(r'value="[^"]*"', "", own)
        assert not [char for char in "\x00\x1b\x07\u202e\u2066\u200b\ufeff\u2028" if char in told], address


@given(st.text(max_size=300), st.integers(10, 100))
@settings(max_examples=100, deadline=None)
def test_what_is_shown_is_the_text_made_visible(text: str, most: int) -> None:
    told = html.unescape(re.sub(r"<[^>]*>", "", shown(text)))
    assert told == visible(text)
    assert len(re.sub(r"<[^>]*>", "", html.unescape(shown(text, most)))) <= 20 * most + 60
    assert html.unescape(re.sub(r"<[^>]*>", "", ticks(text))).replace("`", "") == visible(text).replace("`", "")


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=50),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=20), _VALUES | st.text(min_size=1000, max_size=9000), max_size=6))
@settings(max_examples=30, deadline=None)
def test_an_action_is_shown_whole_in_parts_that_fit(value: dict[str, Any]) -> None:
    found = parts(of_action({"tool": "x", "input": value}))
    rows = [row for part in found for row in part]
    assert {row.name for row in rows} == set(value)
    for part in found:
        assert sum(len(line.encode()) for row in part for line in row.lines) <= PART + 60_000
    for name, each in value.items():
        lines = [line for row in rows if row.name == name for line in row.lines]
        told = html.unescape(re.sub(r"<[^>]*>", "", "".join(lines)))
        if isinstance(each, str) and "\n" not in each:
            assert re.sub(r"\\.|[^a-zA-Z0-9]", "", told) or not re.sub(r"\\.|[^a-zA-Z0-9]", "", visible(each))


def test_a_hold_that_nobody_can_see_whole_says_so(plain: Site) -> None:
    hold = plain.held("payment.transfer", amount=900, note="x" * 100_000)
    page = get(plain, f"/holds/{hold}").text
    assert "This is part 1 of 3" in page
    assert page.index("900") < page.index("xxxx")
    assert get(plain, f"/holds/{hold}/action?part=3").status_code == 200
    assert get(plain, f"/holds/{hold}/action?part=4").status_code == 404


def test_what_is_not_confirmed_with_a_passkey_is_not_confirmed(plain: Site) -> None:
    hold = plain.held("payment.transfer", amount=900)
    csrf = csrf_of(plain)
    for answer in ("", "x", "[]", "{}", '{"ticket": "x", "credential": {}}', "{" * 10_000):
        for address in (f"/holds/{hold}/confirm", f"/holds/{hold}/deny"):
            refused = post(plain, address, {"csrf": csrf, "hold": hold, "what": "approve", "answer": answer})
            assert refused.status_code in (400, 403), answer
    batch = {"csrf": csrf, "hold": [hold], "what": "approve", "reviewed": "yes", "answer": ""}
    assert post(plain, "/holds/batch", batch).status_code == 400
    assert plain.gate.holds.look(hold).state == "pending"


def test_another_site_does_nothing(plain: Site) -> None:
    hold = plain.held("payment.transfer", amount=900)
    csrf = csrf_of(plain)
    for address in (f"/holds/{hold}/confirm", f"/holds/{hold}/deny", "/holds/batch", "/holds/challenge", "/kill"):
        fields = {"csrf": csrf, "hold": hold, "what": "deny", "kind": "all", "everyone": "yes", "answer": "{}"}
        assert post(plain, address, fields, origin="https://example.com").status_code == 403, address
        assert post(plain, address, fields, **{"sec-fetch-site": "cross-site"}).status_code == 403, address
        assert post(plain, address, fields | {"csrf": "x" * len(csrf)}).status_code == 403, address
        assert post(plain, address, {"what": "deny"}).status_code == 403, address
    assert plain.gate.revoked().count == 0


def test_what_is_no_form_is_refused(plain: Site) -> None:
    csrf = csrf_of(plain)
    hold = plain.held("payment.transfer", amount=900)
    for content, headers in (
        (b"{}", {"content-type": "application/json"}),
        (b"csrf=\xff", FORM),
        (b"&".join(b"a=%d" % number for number in range(1000)), FORM),
        (b"hold=x&" * 3, {"content-type": "multipart/form-data; boundary=x"}),
    ):
        answer = plain.client.post("/holds/batch", content=content, headers={"origin": plain.url, **headers})
        assert answer.status_code == 400
    with suppress(httpx.ReadError, httpx.WriteError):  # the connection may end before the rest is sent
        assert plain.client.post("/kill", content=b"a=" + b"x" * (2 << 20), headers=FORM).status_code == 413
    for fields, status in (
        ({"what": "approve"}, 400),
        ({"what": "both", "hold": hold}, 400),
        ({"what": "approve", "hold": "nothing"}, 409),
        ({"what": "approve", "hold": [f"h{number}" for number in range(101)]}, 400),
    ):
        assert post(plain, "/holds/batch", {"csrf": csrf, **fields}).status_code == status, fields
    challenge = post(plain, "/holds/challenge", {"csrf": csrf, "what": "approve", "hold": hold, "release": "999999999"})
    assert (challenge.status_code, challenge.json()["error"]["code"]) == (400, "release")
    for fields in (
        {"kind": "all"},
        {"kind": "x", "name": "y"},
        {"kind": "agent", "name": ""},
        {"kind": "key", "name": "x"},
    ):
        assert post(plain, "/kill", {"csrf": csrf, **fields}).status_code in (400, 503), fields
    assert plain.gate.revoked().count == 0


NOWHERE = (
    "/holds/nothing", "/log/99999", "/log/x", "/log/-1", "/runs/nobody", "/policies/99", "/static/../routes.py",
    "/static/page.py", "/policies/0?part=99",
)  # fmt: skip


@pytest.mark.parametrize("address", NOWHERE)
def test_what_is_not_there_is_said_to_be_not_there(plain: Site, address: str) -> None:
    assert get(plain, address).status_code == 404


def test_nobody_sees_anything_who_did_not_sign_in(site: Site) -> None:
    for address in (
        "/",
        "/holds",
        "/holds/x",
        "/log",
        "/log/0",
        "/runs",
        "/runs/x",
        "/policies",
        "/policies/0",
        "/kill",
    ):
        answer = site.client.get(address)
        assert (answer.status_code, answer.headers["location"].split("?")[0]) == (303, "/sign-in"), address
    for address in ("/holds/x/confirm", "/holds/x/deny", "/holds/batch", "/holds/challenge", "/kill"):
        assert site.client.post(address, data={"what": "approve"}).status_code == 401, address
    assert site.client.get("/sign-in").status_code == 200


def test_who_may_only_look_is_offered_nothing_else(site: Site) -> None:
    hold = site.held("payment.transfer", run="looking", amount=900)
    membership = site.service.auth.membership
    _, secret = membership.invite("viewer", "viewer", "operator")
    with httpx.Client(base_url=site.url, verify=False) as client:
        joined = client.post("/sign-in/invitation", data={"invitation": secret}, headers={"origin": site.url})
        assert joined.status_code == 303
        page = client.get(f"/holds/{hold}").text
        assert "You may look, and not confirm" in page
        assert '<button class="confirm"' not in page
        assert "/kill" not in page
        csrf = re.search(r'name="csrf" value="([^"]+)"', page)
        assert csrf is not None
        fields = {"csrf": html.unescape(csrf[1]), "hold": hold, "what": "approve", "answer": "{}"}
        for address in (f"/holds/{hold}/confirm", f"/holds/{hold}/deny", "/holds/batch", "/holds/challenge", "/kill"):
            assert client.post(address, data=fields, headers={"origin": site.url}).status_code == 403, address
        assert client.get("/kill").status_code == 403


def test_without_the_key_the_page_says_how_to_stop_an_agent_in_a_terminal(plain: Site) -> None:
    (plain.world.state / "keys" / "revoker.pem").unlink()
    assert "vigil kill NAME" in get(plain, "/kill").text
    answer = post(plain, "/kill", {"csrf": csrf_of(plain), "kind": "agent", "name": "pay er"})
    assert answer.status_code == 409
    assert "vigil kill --agent &#39;pay er&#39;" in answer.text
    assert plain.gate.revoked().count == 0


def test_the_last_change_of_the_policies_is_shown(plain: Site) -> None:
    from tests.gate.gate_support import request
    from vigil_lang.gate.gate import Gate

    assert "They have not changed" in get(plain, "/policies").text
    plain.ask("file.read", path="x")
    policy = plain.world.folder / "personal.vgl"
    policy.write_text(
        policy.read_text(encoding="utf-8") + "\n/// <b>New.</b>\nrule more: when payment.refund() then hold\n"
    )
    Gate(plain.world.state).decide(request("file.read", path="x"))
    page = get(plain, "/policies").text
    assert "<ins>+rule more: when payment.refund() then hold</ins>" in page
    assert "&lt;b&gt;New.&lt;/b&gt;" in page


def test_a_log_that_was_changed_is_said_to_be_changed(plain: Site) -> None:
    plain.made("get_invoice", invoice="inv-1")
    plain.gate.checkpoint()
    assert "are those that the log&#39;s key signed" in get(plain, "/log").text.replace("'", "&#39;")
    plain.made("get_invoice", invoice="inv-2")
    plain.gate.checkpoint()
    log = plain.world.state / "log.jsonl"
    text = log.read_bytes()
    log.write_bytes(text.replace(b'"status":"ok"', b'"status":"no"'))
    page = get(plain, "/log").text
    assert "The log does not stand" in page or "cannot judge" in page

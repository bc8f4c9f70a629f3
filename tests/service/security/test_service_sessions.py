"""What another site, a thief of what was sent, or a late answer can do with a person's session: nothing."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from security_support import Person, Site, ask
from service_support import asked

from vigil_lang.gate.authority.keys import Key
from vigil_lang.gate.canonical import base64url

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMS = ["/sign-out", "/people/invite", "/people/role", "/people/remove", "/people/sign-out", "/kill", "/holds/batch",
         "/holds/challenge", "/passkeys/register/options", "/passkeys/register/verify", "/passkeys/remove"]  # fmt: skip
JSON = ["/v1/holds/approve", "/v1/holds/deny", "/v1/holds/x/cancel", "/v1/revocations"]


# --- cross-site request forgery -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost"},
        {"origin": "http://localhost.evil.example"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "none"},
    ],
    ids=lambda each: "=".join(*each.items()),
)
def test_another_site_changes_nothing(site: Site, headers: dict[str, str]) -> None:
    operator = site.person("operator")
    size = len(site.entries())
    for path in FORMS:
        answer = operator.post(path, {"name": "Eve", "role": "administrator", "person": "operator"}, **headers)
        assert answer.status_code == 403, (path, answer.text)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    for path in JSON:
        for kind in ("application/json", "text/plain", "application/x-www-form-urlencoded"):
            answer = operator.web.post(path, content=b"{}", headers={**sent, "Content-Type": kind})
            assert answer.status_code == 403, (path, answer.text)
    assert operator.is_signed_in()
    assert {each["kind"] for each in site.entries()[size:]} <= {"access_refused"}


@pytest.mark.parametrize("path", FORMS)
def test_a_form_needs_the_token_of_its_session(site: Site, path: str) -> None:
    operator = site.person("operator")
    own = operator.csrf()
    for wrong in ("", "x", own[:-1], own + "x", own.swapcase(), site.person("ann").csrf(), "é", "\x00"):
        assert operator.post(path, {"csrf": wrong, "name": "Eve", "role": "viewer"}).status_code == 403
    sent = {"Origin": site.control, "Content-Type": "application/x-www-form-urlencoded"}
    assert operator.web.post(path, content=b"name=Eve&role=viewer", headers=sent).status_code == 403
    assert operator.web.post(f"{path}?csrf={own}", content=b"name=Eve", headers=sent).status_code == 403
    for kind in ("text/plain", "application/json", "multipart/form-data; boundary=x"):
        answer = operator.web.post(path, content=f"csrf={own}".encode(), headers={**sent, "Content-Type": kind})
        assert answer.status_code == 400
    assert operator.is_signed_in()


@pytest.mark.parametrize("path", [*FORMS, *JSON, "/holds/x/confirm", "/holds/x/deny", "/sign-in/invitation"])
def test_nothing_is_changed_by_get(site: Site, path: str) -> None:
    operator = site.person("operator")
    size = len(site.entries())
    query = {"csrf": operator.csrf(), "name": "Eve", "role": "viewer", "hold": "x", "answer": "{}", "kind": "all"}
    operator.web.get(path, params=query, headers={"Sec-Fetch-Site": "same-origin"})
    operator.web.head(path, params=query)
    assert len(site.entries()) == size
    assert operator.is_signed_in()


def test_no_answer_is_for_other_origins(site: Site) -> None:
    for path in ("/v1/holds", "/holds", "/openapi.json", "/healthz", "/static/page.js"):
        for base in (site.control, site.data):
            answer = ask("GET", base + path, headers={"Origin": "https://evil.example"})
            assert not [name for name in answer.headers if name.startswith("access-control-")]
    asked_before = ask(
        "OPTIONS",
        f"{site.control}/v1/holds/approve",
        headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"},
    )
    assert asked_before.status_code == 405


# --- headers --------------------------------------------------------------------------------------------------------


def test_every_answer_says_what_a_browser_may_do_with_it(site: Site) -> None:
    operator = site.person("operator")
    hold = site.held(900, run="headers")
    pages = ["/holds", f"/holds/{hold}", "/log", "/log/0", "/runs", "/runs/headers", "/policies", "/kill", "/people",
             "/passkeys", "/sign-in", "/holds/none", "/sign-in?token=x", "/sign-in?invitation=x"]  # fmt: skip
    others = ["/v1/holds", "/v1/log", "/openapi.json", "/healthz", "/metrics", "/nothing", "/v1/log/x", "/static/none"]
    for path in pages + others:
        answer = operator.web.get(path)
        headers = answer.headers
        assert headers["x-content-type-options"] == "nosniff", path
        assert "frame-ancestors 'none'" in headers["content-security-policy"], path
        assert "default-src 'none'" in headers["content-security-policy"], path
        assert headers["cross-origin-resource-policy"] == "same-origin", path
        assert headers["referrer-policy"] in ("no-referrer", "same-origin"), path
        assert headers["cache-control"] == "no-store", path
        assert "server" not in headers
        assert "charset=utf-8" in headers["content-type"] or "json" in headers["content-type"], path
        if path in pages and not path.startswith("/sign-in"):
            assert 'action="/sign-out"' in answer.text, path
        if "text/html" in headers["content-type"]:
            policy = headers["content-security-policy"]
            assert "unsafe" not in policy
            assert "base-uri 'none'" in policy
            assert "form-action 'self'" in policy
            assert headers["x-frame-options"] == "DENY"
            assert headers["cross-origin-opener-policy"] == "same-origin"
            assert not re.search(r"<script(?![^>]* src=)|<style| on\w+=| style=|javascript:", answer.text), path
    fixed = operator.web.get("/static/page.js")
    assert fixed.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "immutable" in fixed.headers["cache-control"]


# --- sessions -------------------------------------------------------------------------------------------------------


def test_the_cookie_is_for_this_host_and_no_script(site: Site) -> None:
    person = site.invited("viewer")
    person.register()
    answer = person.sign_in()
    (cookie,) = answer.headers.get_list("set-cookie")
    name, *said = (each.strip() for each in cookie.split(";"))
    assert name.startswith("vigil=")
    assert {each.lower() for each in said} == {"httponly", "path=/", "samesite=strict"}
    assert len(cookie) < 4096


def test_no_session_is_taken_from_whoever_brings_one(site: Site) -> None:
    """Fixation: what a browser had before, of whatever making, is not what it has after."""
    person = site.invited("viewer")
    person.register()
    before = person.web.cookies["vigil"]
    for planted in ("x", "A" * 43, before):
        other = site.browser()
        other.passkeys = person.passkeys
        other.web.cookies.set("vigil", planted, domain="localhost.local")
        assert other.sign_in().status_code == 303
        now = other.web.cookies["vigil"]
        assert now != planted
        thief = site.browser()
        thief.web.headers["Cookie"] = f"vigil={planted}"
        assert not thief.is_signed_in()


def test_signing_out_ends_a_session_for_whoever_has_its_cookie(site: Site) -> None:
    person, thief = site.invited("approver"), site.browser()
    thief.web.headers["Cookie"] = f"vigil={person.web.cookies['vigil']}"
    assert thief.is_signed_in()
    answer = person.post("/sign-out")
    assert answer.headers["location"] == "/sign-in"
    assert answer.headers["clear-site-data"] == '"cache", "storage"'
    assert 'vigil="";' in answer.headers["set-cookie"]
    assert not thief.is_signed_in()
    for path in ("/v1/holds", "/v1/log", "/metrics"):
        assert thief.web.get(path).status_code == 401


@pytest.mark.parametrize("how", ["sign-out", "removed", "role"])
def test_a_stream_ends_with_its_session(site: Site, how: str) -> None:
    operator, person = site.person("operator"), site.invited("viewer")
    heard: list[str] = []
    listening, over = threading.Event(), threading.Event()

    def listen() -> None:
        with person.web.stream("GET", "/v1/log/events") as stream:
            for line in stream.iter_lines():
                heard.append(line)
                listening.set()
        over.set()

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    assert listening.wait(10)
    name = [each["id"] for each in site.entries("person") if each["change"] == "joined"][-1]
    if how == "sign-out":
        operator.post("/people/sign-out", {"person": name})
    elif how == "removed":
        operator.post("/people/remove", {"person": name})
    else:
        operator.post("/people/role", {"person": name, "role": "approver"})
    assert over.wait(5)
    site.ask("POST", "/access/v1/evaluation", json=asked(run="after"))
    thread.join(5)
    assert not [line for line in heard if '"after"' in line]


def test_streams_have_a_limit(site: Site) -> None:
    """Who listens keeps nobody from deciding, and leaves places when it goes."""

    async def go() -> list[int]:
        limits = httpx.Limits(max_connections=200)
        headers = {"Authorization": f"Bearer {site.token}"}
        async with httpx.AsyncClient(verify=False, limits=limits, timeout=20, headers=headers) as client:

            async def listen(until: asyncio.Event) -> int:
                async with client.stream("GET", f"{site.control}/v1/log/events") as answer:
                    if answer.status_code == 200:
                        await until.wait()
                    return answer.status_code

            until = asyncio.Event()
            streams = [asyncio.create_task(listen(until)) for _ in range(115)]
            end = time.monotonic() + 15
            while sum(each.done() for each in streams) < 15 and time.monotonic() < end:
                await asyncio.sleep(0.02)
            decided = await client.post(f"{site.data}/access/v1/evaluation", json=asked(run="crowd"))
            until.set()
            return [decided.status_code, *await asyncio.gather(*streams)]

    decided, *found = asyncio.run(go())
    assert decided == 200
    assert (found.count(200), found.count(429)) == (100, 15)
    end = time.monotonic() + 5
    while time.monotonic() < end:
        with httpx.stream(
            "GET", f"{site.control}/v1/log/events", headers={"Authorization": f"Bearer {site.token}"}
        ) as it:
            if it.status_code == 200:
                return
    raise AssertionError("no place became free")


@pytest.mark.parametrize(
    "where",
    ["//evil.example", "https://evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)", "/\tevil",
     "/\n/evil.example", "%2f%2fevil.example", " //evil.example", "http:evil.example", "///evil.example",
     "/" + "a" * 600, "/\u2028", "data:text/html,x"],
)  # fmt: skip
def test_nobody_is_led_to_another_site(site: Site, where: str) -> None:
    vera = site.person("vera")
    page = vera.web.get("/sign-in", params={"next": where}).text
    assert "evil" not in page.replace("%2f%2fevil.example", "")
    assert vera.post("/passkeys/sign-in/verify", {"answer": "{}", "next": where}).status_code in (400, 403)
    found = ask("GET", f"{site.control}/holds", params={"next": where}).headers["location"]
    assert found == "/sign-in?next=/holds"


def test_a_sign_in_leads_on_within_the_page(site: Site) -> None:
    person = site.invited("viewer")
    person.register()
    assert person.sign_in("//evil.example").headers["location"] == "/"
    assert person.sign_in("/log?kind=decision").headers["location"] == "/log?kind=decision"


# --- replay ---------------------------------------------------------------------------------------------------------


def test_an_answer_of_a_passkey_signs_in_once(site: Site) -> None:
    person = site.invited("viewer")
    person.register()
    answer = person.sign_in_answer()
    assert person.post("/passkeys/sign-in/verify", {"answer": answer}).status_code == 303
    for browser in (person, site.browser()):
        assert browser.post("/passkeys/sign-in/verify", {"answer": answer}).status_code == 403
    assert (
        "to sign in before"
        in [each for each in site.entries("access_refused") if each["what"] == "sign_in"][-1]["message"]
    )


def test_a_question_is_for_what_it_was_asked_for(site: Site) -> None:
    """The ticket of one ceremony is none of another, nor of another session."""
    ann, operator = site.person("ann"), site.person("operator")
    hold = site.held(1_000, run="tickets")
    word = json.loads(ann.answer(hold))
    signing_in = json.loads(ann.sign_in_answer())
    assert ann.post("/passkeys/sign-in/verify", {"answer": json.dumps(word)}).status_code == 403
    assert ann.confirm(hold, json.dumps(signing_in)).status_code == 403
    assert ann.confirm(hold, json.dumps({**word, "ticket": signing_in["ticket"]})).status_code == 403
    assert operator.confirm(hold, json.dumps(word)).status_code == 403  # of another session
    assert ann.post("/passkeys/register/verify", {"answer": json.dumps(word), "label": "x"}).status_code == 403
    again = Person(site, "127.0.0.1")
    again.passkeys = ann.passkeys
    assert again.sign_in().status_code == 303
    assert again.confirm(hold, json.dumps(word)).status_code == 403  # of an earlier session of hers
    assert site.ask("GET", f"/v1/holds/{hold}", control=True).json()["state"] == "pending"
    assert ann.confirm(hold, json.dumps(word)).status_code == 303


def test_a_confirmation_is_for_its_holds_and_counts_once(site: Site) -> None:
    ann = site.person("ann")
    first, second = site.held(1_100, run="words"), site.held(1_200, run="words")
    said = ann.answer(first)
    assert ann.confirm(second, said).status_code in (400, 403)
    assert ann.confirm(first, said, "deny").status_code in (400, 403, 409)
    assert ann.confirm(first, said).status_code == 303
    assert ann.confirm(first, said).status_code == 409
    action = asked("pay", {"amount": 1_100, "to": "acme"}, run="words")
    assert site.ask("POST", "/access/v1/evaluation", json=action).json()["decision"] is True
    later = site.ask("POST", "/access/v1/evaluation", json=action).json()
    assert later["decision"] is False  # an approval is used once
    assert later["context"]["hold"]["id"] != first
    assert ann.confirm(later["context"]["hold"]["id"], said).status_code in (400, 403, 409)
    batch = ann.answer(second, later["context"]["hold"]["id"])
    assert ann.confirm(second, batch).status_code in (400, 403)  # a part of a batch is no word on it
    assert site.ask("GET", f"/v1/holds/{second}", control=True).json()["state"] == "pending"


@pytest.mark.parametrize(
    "changed",
    [
        {"run": "r-other"}, {"agent": "clerk"}, {"audience": "vigil.local/0"}, {"at": 0}, {"nonce": "n" * 22},
        {"key": Key.new().public}, {"signature": base64url(bytes(64))}, {"signature": ""}, {"chain": [{}]},
    ],
    ids=lambda each: next(iter(each)),
)  # fmt: skip
def test_a_proof_that_was_changed_is_none(site: Site, changed: dict[str, Any]) -> None:
    answer = site.begin({**site.proof("r-proof"), **changed})
    assert answer.status_code in (400, 403)
    assert "token" not in answer.json()


def test_a_proof_is_good_once_and_for_a_minute(site: Site) -> None:
    proof = site.proof("r-once")
    assert site.begin(proof).status_code == 201
    assert site.begin(proof).status_code == 403
    for agent, key in (("payer", Key.new()), ("payer", site.keys["clerk"]), ("unknown", Key.new())):
        assert site.begin(site.proof("r-once", agent, key)).status_code == 403


# --- stale ----------------------------------------------------------------------------------------------------------


def test_an_approval_ends_with_what_it_was_given_under(site: Site) -> None:
    """Policies that changed, an agent that was revoked, a hold that ended: an earlier word lets nothing pass."""
    ann, operator = site.person("ann"), site.person("operator")
    action = asked("pay", {"amount": 1_300, "to": "acme"}, run="stale")
    hold = site.held(1_300, run="stale")
    late = ann.answer(hold)
    other = site.held(1_400, run="stale")
    waiting = ann.answer(other)
    site.ask("POST", f"/v1/holds/{other}/cancel", control=True, json={})
    assert ann.confirm(other, waiting).status_code == 409
    assert ann.confirm(hold, late).status_code == 303

    policy = {"path": "/work/more.vgl", "text": "policy more\nrule more: when Nothing() then block\n", "modules": {}}
    joined = {"run": "stale", "agent": "payer", "policies": [policy]}
    assert site.ask("POST", "/v1/runs/extend", json=joined).json() == {"joined": True}
    again = site.ask("POST", "/access/v1/evaluation", json=action).json()
    assert again["decision"] is False
    assert again["context"]["hold"]["id"] != hold

    approved = site.held(1_500, run="stale2")
    assert ann.confirm(approved, ann.answer(approved)).status_code == 303
    waits = site.held(1_600, run="stale2")
    unsaid = ann.answer(waits)
    assert operator.post("/kill", {"kind": "run", "name": "stale2"}).status_code == 200
    action = asked("pay", {"amount": 1_500, "to": "acme"}, run="stale2")
    assert site.ask("POST", "/access/v1/evaluation", json=action).json()["context"]["mode"] == "block"
    assert ann.confirm(waits, unsaid).status_code == 409
    assert operator.post("/kill", {"kind": "run", "name": "stale2", "undo": "yes"}).status_code == 200
    assert site.ask("POST", "/access/v1/evaluation", json=action).json()["context"]["mode"] == "hold"  # it stays void


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A service whose holds wait for two seconds."""
    found = Site(tmp_path_factory.mktemp("hasty"), "", timeout="2")
    yield found
    found.served.stop()


def test_nothing_is_approved_when_its_time_is_over(hasty: Site) -> None:
    operator = hasty.person("operator")
    hold = hasty.held(1_700)
    said = operator.answer(hold)
    time.sleep(2.1)
    assert operator.confirm(hold, said).status_code == 409
    assert hasty.ask("GET", f"/v1/holds/{hold}", control=True).json()["state"] == "expired"
    assert operator.challenge(hold).status_code == 409


def test_who_may_no_more_says_no_more(site: Site) -> None:
    """A role that was taken, and a person who was removed, between the question and the answer."""
    operator = site.person("operator")
    for change, form in (("role", {"role": "viewer"}), ("remove", {})):
        person = site.invited("approver")
        person.register()
        name = [each["id"] for each in site.entries("person") if each["change"] == "joined"][-1]
        hold = site.held(2_000 + len(change), run="roles")
        said = person.answer(hold)
        assert operator.post(f"/people/{change}", {"person": name, **form}).status_code == 303
        assert person.confirm(hold, said).status_code in (401, 403)
        assert site.ask("GET", f"/v1/holds/{hold}", control=True).json()["state"] == "pending"


# --- what is told ---------------------------------------------------------------------------------------------------


def test_no_secret_is_in_the_log_nor_in_what_is_shown(site: Site) -> None:
    person = site.invited("administrator")
    person.register()
    csrf, cookie = person.csrf(), person.web.cookies["vigil"]
    token = site.begin(site.proof("secrets")).json()["token"]
    link = site.served.said["sign-in"].partition("token=")[2]
    ask("GET", f"{site.control}/v1/holds?access_token={site.token}")
    written = (site.state / "log.jsonl").read_text("utf-8")
    written += person.web.get("/v1/log").text + person.web.get("/metrics").text
    for secret in (csrf, cookie, token, site.token, link, cookie.partition(".")[2]):
        assert secret not in written
    assert ask("GET", f"{site.control}/v1/holds?token={site.token}").status_code == 401
    assert ask("GET", f"{site.control}/v1/holds?access_token={site.token}").status_code == 401


def test_errors_say_nothing_of_the_inside(site: Site) -> None:
    for path in (
        "/nothing",
        "/v1/log/x",
        "/v1/holds/%00",
        "/holds/%ff",
        "/sign-in?token=%00",
        "/policies/x",
        "/readyz",
    ):
        for answer in (ask("GET", site.control + path), site.ask("GET", path, control=True)):
            assert answer.status_code < 500
            for word in ("Traceback", 'File "', "vigil_lang", ".py", "sqlite", "starlette", "uvicorn", str(site.state)):
                assert word not in answer.text, (path, word)


def test_refusals_are_in_the_log_and_cannot_fill_it(site: Site) -> None:
    before = len(site.entries("access_refused"))
    for at in range(150):
        ask("GET", f"{site.control}/v1/holds", headers={"Authorization": f"Bearer {at}"})
    assert len(site.entries("access_refused")) - before <= 30
    assert all(set(each) >= {"what", "address", "count", "message"} for each in site.entries("access_refused"))


def test_attempts_are_limited(site: Site) -> None:
    thief = site.browser()
    found = [thief.post("/passkeys/sign-in/verify", {"answer": "{}"}).status_code for _ in range(40)]
    assert set(found[:25]) <= {400, 403}
    assert found[-1] == 429
    links = [thief.web.get(f"/sign-in?token={at}").status_code for at in range(40)]
    assert links[-1] == 429
    assert site.person("vera").sign_in().status_code == 303  # others are not kept out

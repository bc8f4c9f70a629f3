"""People sign in by a one-time link, an invitation or a passkey; who they are, and that they are, is in the log."""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from typing import TYPE_CHECKING, Any

import pytest
from auth_support import CONTROL, Person, Served

from vigil_lang.gate.holds import HoldError
from vigil_lang.gate.log.reading import LogCopy
from vigil_lang.gate.log.verifying import verify
from vigil_lang.service.auth import words
from vigil_lang.service.auth.principal import Principal
from vigil_lang.service.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def served(tmp_path: Path) -> Served:
    return Served(tmp_path)


def principal(served: Served, name: str = "operator") -> Principal:
    person = next(each for each in served.auth.membership.everybody() if each.name == name)
    return Principal("person", person.name, person.role, session="s", person=person.id)


def say(
    served: Served, who: Person, holds: list[str], what: Any = "approve", name: str = "operator", **more: Any
) -> Any:
    """A person's words on holds, as the page has them."""
    by = principal(served, name)

    async def go() -> Any:
        asked = await words.challenge(served.service, by, holds, what, **more)
        answer = {"ticket": asked["ticket"], "credential": who.passkeys.get(asked)}
        return await words.confirmed(served.service, by, answer)

    return asyncio.run(go())


def test_the_link_signs_in_once_and_a_get_without_it_does_not(served: Served) -> None:
    link, one, other = served.auth.sign_in_link(CONTROL), served.browser(), served.browser()
    answer = one.follow(link)
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("vigil=")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/" in cookie
    assert one.is_signed_in()
    assert other.follow(link).status_code == 403
    assert not other.is_signed_in()
    assert other.web.get("/holds").headers["location"] == "/sign-in?next=/holds"
    signed = served.entries("sign_in")
    assert [(each["person"], each["how"]) for each in signed] == [("operator", "link")]
    assert served.entries("access_refused")[0]["what"] == "sign_in"
    assert link.split("=")[1] not in (served.world.state / "log.jsonl").read_text("utf-8")


def test_a_browser_that_looks_ahead_uses_no_link_up(served: Served) -> None:
    link, person = served.auth.sign_in_link(CONTROL).removeprefix(CONTROL), served.browser()
    assert "set-cookie" not in person.web.head(link).headers
    assert "set-cookie" not in person.web.get(link, headers={"Sec-Purpose": "prefetch;prerender"}).headers
    assert "set-cookie" in person.web.get(link).headers


def test_the_operators_token_is_an_administrator_on_both_addresses(served: Served) -> None:
    web = served.browser().web
    assert web.get("/v1/holds").status_code == 401
    assert web.get("/v1/holds").headers["www-authenticate"] == "Bearer"
    assert web.get("/v1/holds", headers={"Authorization": f"Bearer {served.auth.token}"}).status_code == 200
    for wrong in ("Bearer x", "Bearer", f"Basic {served.auth.token}", f"Bearer {served.auth.token}x", "Bearer é"):
        answer = web.get("/v1/holds", headers={"Authorization": wrong.encode()})
        assert answer.status_code == 401


def test_a_passkey_signs_in_again_and_its_answer_once(served: Served) -> None:
    operator = served.operator()
    assert operator.register().status_code == 303
    assert operator.post("/sign-out").status_code == 303
    assert not operator.is_signed_in()
    options = operator.post("/passkeys/sign-in/options").json()
    answer = json.dumps({"ticket": options["ticket"], "credential": operator.passkeys.get(options)})
    form = {"answer": answer, "next": "/holds"}
    found = operator.post("/passkeys/sign-in/verify", form)
    assert (found.status_code, found.headers["location"]) == (303, "/holds")
    assert operator.is_signed_in()
    thief = served.browser()
    assert thief.post("/passkeys/sign-in/verify", form).status_code == 403  # replayed
    assert served.node().browser().post("/passkeys/sign-in/verify", form).status_code == 403  # on another node
    assert not thief.is_signed_in()


@pytest.mark.parametrize(
    "where", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:x", "/a\nb"]
)
def test_nobody_is_led_to_another_site(served: Served, where: str) -> None:
    operator = served.operator()
    operator.register()
    assert operator.sign_in(where).headers["location"] == "/"


@pytest.mark.parametrize(
    "changed", [{"origin": "http://localhost:1"}, {"origin": "https://evil.example"}, {"type": "webauthn.create"},
                {"challenge": "AAAA"}, {"flags": 0x01}],
)  # fmt: skip
def test_a_passkey_that_was_used_elsewhere_does_not_sign_in(served: Served, changed: dict[str, Any]) -> None:
    operator = served.operator()
    operator.register()
    options = operator.post("/passkeys/sign-in/options").json()
    changed = {"challenge": options["publicKey"]["challenge"], **changed}
    flags = changed.pop("flags", 0x05)
    asked = {**options, "publicKey": {**options["publicKey"], "challenge": changed.pop("challenge")}}
    credential = operator.passkeys.get(asked, flags=flags, **changed)
    form = {"answer": json.dumps({"ticket": options["ticket"], "credential": credential})}
    assert served.browser().post("/passkeys/sign-in/verify", form).status_code == 403


@pytest.mark.parametrize(
    "answer", ["", "[]", "{", "{}", '{"ticket":1}', '{"ticket":"a.b","credential":{}}', "[" * 50_000]
)
def test_any_answer_is_refused_without_an_error(served: Served, answer: str) -> None:
    operator = served.operator()
    for path in ("/passkeys/sign-in/verify", "/passkeys/register/verify"):
        assert operator.post(path, {"answer": answer, "label": "x"}).status_code in (400, 403)
    ticket = operator.post("/passkeys/sign-in/options").json()["ticket"]
    for credential in ({}, {"id": 5}, {"id": "a", "rawId": "a"}, {"id": "a", "rawId": "a", "response": []}, 5):
        form = {"answer": json.dumps({"ticket": ticket, "credential": credential})}
        assert operator.post("/passkeys/sign-in/verify", form).status_code in (400, 403)


def test_an_invitation_is_good_once_and_for_its_role(served: Served) -> None:
    operator = served.operator()
    page = operator.post("/people/invite", {"name": "Ann", "role": "approver"})
    secret = page.text.split("invitation=")[1].split("<")[0]
    log = (served.world.state / "log.jsonl").read_text("utf-8")
    assert secret not in log
    ann, other = served.browser(), served.browser()
    assert ann.web.get(f"/sign-in?invitation={secret}").status_code == 200  # looking at it uses nothing up
    assert ann.post("/sign-in/invitation", {"invitation": secret}).status_code == 303
    assert ann.is_signed_in()
    assert other.post("/sign-in/invitation", {"invitation": secret}).status_code == 404
    assert ann.web.get("/people").status_code == 403
    assert ann.post("/people/invite", {"name": "Eve", "role": "administrator"}).status_code == 403
    assert operator.post("/people/invite", {"name": "ann", "role": "viewer"}).status_code == 409
    assert operator.post("/people/invite", {"name": "Bob", "role": "owner"}).status_code == 400
    refused = served.entries("access_refused")
    assert any("Ann" in each["message"] for each in refused)


def test_who_is_removed_is_out_at_once_on_every_node(served: Served) -> None:
    operator = served.operator()
    ann = operator.invited("Ann", "approver")
    ann.register()
    there = served.node().browser()
    there.web.cookies = ann.web.cookies
    assert there.is_signed_in()
    name = principal(served, "Ann").person or ""
    assert operator.post("/people/role", {"person": name, "role": "administrator"}).status_code == 303
    assert ann.web.get("/people").status_code == 200
    assert operator.post("/people/remove", {"person": name}).status_code == 303
    assert not ann.is_signed_in()
    assert not there.is_signed_in()
    assert ann.sign_in().status_code == 403
    assert operator.post("/people/remove", {"person": "operator"}).status_code == 403
    assert operator.post("/people/role", {"person": "operator", "role": "viewer"}).status_code == 403


def test_signing_out_ends_the_session_for_who_copied_its_cookie(served: Served) -> None:
    operator, thief = served.operator(), served.browser()
    thief.web.cookies = dict(operator.web.cookies)  # type: ignore[assignment]
    assert thief.is_signed_in()
    operator.post("/sign-out")
    assert not thief.is_signed_in()
    again = served.operator()
    other = served.operator()
    assert again.is_signed_in()
    again.post("/people/sign-out", {"person": "operator"})
    assert not other.is_signed_in()


def test_a_session_is_new_at_each_sign_in(served: Served) -> None:
    """Nobody can have a browser sign in to a session that he knows."""
    operator = served.operator()
    operator.register()
    before = operator.web.cookies["vigil"]
    assert operator.sign_in().status_code == 303
    assert operator.web.cookies["vigil"] != before
    thief = served.browser()
    thief.web.cookies.set("vigil", before)
    assert not thief.is_signed_in()


def test_a_session_ends_when_it_is_idle_and_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = Served(tmp_path, "\n[service]\nsession = 1000\nidle = 300\n")
    operator, at = served.operator(), time.time()
    monkeypatch.setattr("vigil_lang.service.auth.authentication.time.time", lambda: at + 290)
    answer = operator.web.get("/passkeys")
    assert answer.status_code == 200
    assert answer.headers["set-cookie"].startswith("vigil=")  # it was in use
    monkeypatch.setattr("vigil_lang.service.auth.authentication.time.time", lambda: at + 580)
    assert operator.is_signed_in()
    monkeypatch.setattr("vigil_lang.service.auth.authentication.time.time", lambda: at + 900)
    assert not operator.is_signed_in()  # idle
    other = served.operator()
    for later in range(900, 1900, 200):
        monkeypatch.setattr("vigil_lang.service.auth.authentication.time.time", lambda later=later: at + later)
        assert other.is_signed_in()
    monkeypatch.setattr("vigil_lang.service.auth.authentication.time.time", lambda: at + 1901)
    assert not other.is_signed_in()  # for so long as it was used


def test_a_changed_cookie_is_none(served: Served) -> None:
    operator, thief = served.operator(), served.browser()
    cookie = operator.web.cookies["vigil"]
    body, mac = cookie.split(".")
    for wrong in (
        body,
        f"{body}.",
        f".{mac}",
        f"{body}.{mac[:-1]}",
        f"{body}A.{mac}",
        f"{mac}.{body}",
        "x" * 20_000,
        ".",
    ):
        thief.web.cookies = {"vigil": wrong}  # type: ignore[assignment]
        assert not thief.is_signed_in()


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": "null"},
    ],
)
def test_no_other_site_has_a_browser_do_anything(served: Served, headers: dict[str, str]) -> None:
    operator = served.operator()
    for path in ("/sign-out", "/people/invite", "/passkeys/register/options", "/passkeys/sign-in/options"):
        assert operator.post(path, {"name": "Eve", "role": "administrator"}, **headers).status_code == 403
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    assert operator.web.post("/v1/revocations", json={}, headers=sent).status_code == 403
    assert operator.is_signed_in()


def test_a_form_takes_the_token_of_its_session(served: Served) -> None:
    operator, other = served.operator(), served.operator()
    for wrong in ("", "x", other.csrf()):
        assert operator.post("/people/invite", {"name": "Eve", "role": "viewer", "csrf": wrong}).status_code == 403
    assert operator.web.get("/people/invite").status_code == 405
    assert operator.web.get("/sign-out").status_code == 405


# --- confirming with a passkey -------------------------------------------------------------------------------------


def audited(served: Served) -> list[str]:
    return [each.message for each in verify(LogCopy(served.world.state)).problems]


@pytest.mark.parametrize("algorithm", ["ES256", "EdDSA", "RS256"])
def test_a_passkey_confirms_a_hold_and_the_log_bears_it_out(served: Served, algorithm: str) -> None:
    operator = served.operator()
    operator.register(algorithm=algorithm)
    hold = served.held()
    said = say(served, operator, [hold])
    assert [each.state for each in served.gate.holds.approve(said)] == ["approved"]
    assert served.world.ask("payment.transfer", served.gate, amount=700, recipient="x").decision.mode == "pass"
    entry = served.entries("approval")[0]
    assert entry["by"] == operator.passkeys.passkeys[0].name
    assert (entry["person"], entry["who"]) == ("operator", "organisation")
    other = served.held(800)
    with pytest.raises(HoldError, match="signature"):
        served.gate.holds.approve([type(said[0])(other, said[0].by, said[0].signature)])
    with pytest.raises(HoldError, match="signature"):
        served.gate.holds.deny([type(said[0])(other, said[0].by, said[0].signature)])
    served.gate.checkpoint()
    assert audited(served) == []


def test_a_batch_is_one_assertion(served: Served) -> None:
    operator = served.operator()
    operator.register()
    holds = [served.held(amount) for amount in (700, 800, 900)]
    said = say(served, operator, holds, "deny")
    assert len({each.signature for each in said}) == 1
    for wrong in (said[:1], said[:2], [said[1], said[0], said[2]]):
        with pytest.raises(HoldError, match="signature"):
            served.gate.holds.deny(wrong)
    assert {each.state for each in served.gate.holds.deny(said)} == {"denied"}
    assert audited(served) == []


def test_a_release_is_signed_with_its_end(served: Served) -> None:
    operator = served.operator()
    operator.register()
    said = say(served, operator, [served.held()], release=600)
    assert said[0].until is not None
    for wrong in ({"until": said[0].until + 1}, {"uses": 5}, {"until": None, "uses": 1}):
        members = {name: getattr(said[0], name) for name in ("hold", "by", "signature", "uses", "until")} | wrong
        with pytest.raises(HoldError):
            served.gate.holds.approve([type(said[0])(**members)])
    served.gate.holds.approve(said)
    assert served.world.ask("payment.transfer", served.gate, amount=999, recipient="y").decision.mode == "pass"
    assert audited(served) == []


def test_two_passkeys_of_one_person_are_one_approver(tmp_path: Path) -> None:
    served = Served(tmp_path)
    served.world.set("timeout = 300", "timeout = 300\nquorum = 2")
    served = served.node()
    operator = served.operator()
    operator.register()
    hold = served.held()
    served.gate.holds.approve(say(served, operator, [hold]))
    first = operator.passkeys.passkeys.pop()
    operator.register("phone")
    with pytest.raises(HoldError, match="person"):
        served.gate.holds.approve(say(served, operator, [hold]))
    ann = operator.invited("Ann", "approver")
    ann.register()
    assert served.gate.holds.approve(say(served, ann, [hold], name="Ann"))[0].state == "approved"
    operator.passkeys.passkeys.append(first)
    assert audited(served) == []


def test_only_people_who_may_confirm(served: Served) -> None:
    operator = served.operator()
    viewer = operator.invited("Vic", "viewer")
    viewer.register()
    hold = served.held()
    with pytest.raises(Refused, match="passkey first"):
        say(served, operator, [hold])
    with pytest.raises(Refused, match="approver"):
        say(served, viewer, [hold], name="Vic")
    operator.register()
    said = say(served, operator, [hold])
    served.gate.holds.approve(said)
    served.auth.membership.remove_passkey("operator", said[0].by, "operator")  # taken back before it was used
    assert served.world.ask("payment.transfer", served.gate, amount=700, recipient="x").decision.mode == "hold"
    operator.register()
    with pytest.raises(Refused, match="waits no more"):
        say(served, operator, [hold])
    with pytest.raises(Refused, match="no hold"):
        say(served, operator, ["nosuchhold"])


def test_an_answer_is_of_the_session_that_was_asked(served: Served) -> None:
    operator = served.operator()
    operator.register()
    hold, by = served.held(), principal(served)

    async def go(**changed: Any) -> Any:
        asked = await words.challenge(served.service, by, [hold], "approve")
        answer = {"ticket": asked["ticket"], "credential": operator.passkeys.get(asked)} | changed.pop("answer", {})
        who = Principal("person", "operator", "administrator", session=changed.pop("session", "s"), person="operator")
        return await words.confirmed(served.service, who, answer)

    assert asyncio.run(go())
    for wrong in (
        {"session": "other"},
        {"answer": {"ticket": "x.y"}},
        {"answer": {"credential": {}}},
        {"answer": {"ticket": 5}},
    ):
        with pytest.raises(Refused):
            asyncio.run(go(**wrong))


# --- the log -------------------------------------------------------------------------------------------------------


def test_an_audit_finds_a_passkeys_word_that_was_changed(served: Served, tmp_path: Path) -> None:
    operator = served.operator()
    operator.register()
    ann = operator.invited("Ann", "viewer")
    ann.register()
    served.gate.holds.approve(say(served, operator, [served.held()]))
    lines = (served.world.state / "log.jsonl").read_text("utf-8").splitlines()
    at = next(n for n, line in enumerate(lines) if '"kind":"approval"' in line)
    added = next(n for n, line in enumerate(lines) if '"change":"passkey"' in line)
    entry = json.loads(lines[at])
    vic = ann.passkeys.passkeys[0].name
    for wrong, why in (
        ({"by": vic}, "did not sign"),
        ({"person": "else"}, "another person"),
        ({"uses": 2}, "did not sign"),
        ({"signature": entry["signature"][:-2]}, "did not sign"),
        ({"release": True}, ""),
    ):
        assert any(why in each for each in changed(served, tmp_path, {at: {**entry, **wrong}})), wrong
    passkey = json.loads(lines[added])
    assert any(
        "nobody" in each for each in changed(served, tmp_path, {added: {**passkey, "change": "role", "role": "viewer"}})
    )
    assert any("another site" in each for each in changed(served, tmp_path, {added: {**passkey, "rp": "evil.example"}}))
    assert any("cannot be so" in each for each in changed(served, tmp_path, {added: {**passkey, "id": "nobody"}}))


def changed(served: Served, tmp_path: Path, entries: dict[int, dict[str, Any]]) -> list[str]:
    """What an audit says of a copy of the log with other entries, and without any checkpoint."""
    copy = tmp_path / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(
        served.world.state, copy, ignore=shutil.ignore_patterns("checkpoint*", "index*", "frontier", "lock")
    )
    (copy / "checkpoints").mkdir()
    lines = (copy / "log.jsonl").read_text("utf-8").splitlines()
    for at, entry in entries.items():
        lines[at] = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
    (copy / "log.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [each.message for each in verify(LogCopy(copy)).problems]


def test_a_flood_of_wrong_tokens_does_not_fill_the_log(served: Served) -> None:
    web = served.browser("203.0.113.5").web
    before = len(served.entries())
    for at in range(100):
        assert web.get("/v1/holds", headers={"Authorization": f"Bearer wrong{at}"}).status_code == 401
    for at in range(100):
        other = served.browser(f"203.0.113.{at}").web
        assert other.get("/v1/holds", headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert len(served.entries()) - before <= 30
    assert web.get("/v1/holds", headers={"Authorization": f"Bearer {served.auth.token}"}).status_code == 200


def test_too_many_attempts_have_to_wait(served: Served) -> None:
    person = served.browser()
    codes = [person.web.post("/passkeys/sign-in/options", data={"x": ""}).status_code for _ in range(40)]
    assert codes[:30] == [200] * 30
    assert codes[-1] == 429
    assert served.browser("203.0.113.9").web.post("/passkeys/sign-in/options", data={"x": ""}).status_code == 200


def test_people_are_known_to_an_index_that_is_made_anew(served: Served) -> None:
    operator = served.operator()
    operator.register()
    ann = operator.invited("Ann", "approver")
    ann.register()
    served.gate.holds.approve(say(served, operator, [served.held()]))
    found = served.auth.membership.everybody()
    for name in ("index.sqlite", "index.sqlite-wal", "index.sqlite-shm"):
        (served.world.state / name).unlink(missing_ok=True)
    again = served.node()
    assert again.auth.membership.everybody() == found
    assert len(found) == 2


def test_without_sign_in_everybody_on_this_machine_is_the_operator(tmp_path: Path) -> None:
    served = Served(tmp_path, no_auth=True)
    web = served.browser().web
    assert web.get("/v1/holds").status_code == 200
    assert web.get("/v1/holds", headers={"Host": "evil.example"}).status_code in (401, 421)
    assert web.post("/v1/revocations", json={}, headers={"Origin": "https://evil.example"}).status_code == 403


def test_over_https_the_cookie_is_bound_to_the_host(tmp_path: Path) -> None:
    served = Served(tmp_path, '\n[service]\norigin = "https://vigil.example"\n', origin="https://vigil.example")
    operator = served.browser()
    cookie = operator.follow(served.auth.sign_in_link("https://vigil.example")).headers["set-cookie"]
    assert cookie.startswith("__Host-vigil=")
    assert "Secure" in cookie
    assert "Domain" not in cookie
    assert operator.register().status_code == 303
    assert operator.passkeys.passkeys[0].rp == "vigil.example"
    assert operator.sign_in().status_code == 303

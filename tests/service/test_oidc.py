"""People sign in with an identity provider: only what it says, to this sign-in and this client, counts for anything."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest
from auth_support import Person, Served
from identity_provider import CLIENT, SECRET, IdentityProvider
from joserfc.jwk import OctKey, RSAKey

from vigil_lang.service.auth import words
from vigil_lang.service.auth.principal import Principal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from httpx import Response


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    made = IdentityProvider()
    yield made
    made.stop()


@pytest.fixture
def served(tmp_path: Path, provider: IdentityProvider) -> Served:
    (tmp_path / "client.secret").write_text(SECRET + "\n", encoding="utf-8")
    return Served(
        tmp_path,
        f'\n[service.oidc]\nissuer = "{provider.issuer}"\nclient_id = "{CLIENT}"\n'
        f'client_secret = "{tmp_path / "client.secret"}"\n'
        'viewer = ["staff"]\napprover = ["treasury"]\nadministrator = ["it"]\n',
    )


def left(person: Person, path: str = "/sign-in/oidc") -> str:
    answer = person.web.get(path)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def back(person: Person, query: dict[str, str]) -> Response:
    return person.web.get(f"/sign-in/oidc/callback?{urlencode(query)}")


def signed_in(
    served: Served, provider: IdentityProvider, subject: str = "ann", **claims: Any
) -> tuple[Person, Response]:
    person = served.browser()
    return person, back(person, provider.sign_in(left(person), subject, **claims))


@pytest.mark.parametrize(
    ("groups", "role"),
    [
        (["staff"], "viewer"),
        (["treasury", "staff"], "approver"),
        (["it"], "administrator"),
        ("treasury", "approver"),
        (["cooks"], None),
        ([], None),
        (None, None),
        ([5, {"it": 1}], None),
        ({"it": True}, None),
    ],
)
def test_groups_have_roles_and_without_one_there_is_no_access(
    served: Served, provider: IdentityProvider, groups: Any, role: str | None
) -> None:
    person, answer = signed_in(served, provider, name="Ann", groups=groups)
    assert answer.status_code == (403 if role is None else 200)
    assert person.is_signed_in() is (role is not None)
    if role is None:
        assert served.entries("sign_in") == []
        assert served.entries("access_refused")
        return
    (entry,) = served.entries("sign_in")
    assert (entry["how"], entry["role"]) == ("oidc", role)
    assert answer.headers["refresh"] == "0; url=/"
    assert "vigil-oidc" in answer.headers["set-cookie"]


def test_the_browser_is_led_on_to_where_it_wanted(served: Served, provider: IdentityProvider) -> None:
    for next_, url in (("/holds/a?b=c", "/holds/a?b=c"), ("//evil.example", "/")):
        person = served.browser()
        address = left(person, f"/sign-in/oidc?{urlencode({'next': next_})}")
        assert back(person, provider.sign_in(address, "ann", groups=["it"])).headers["refresh"] == f"0; url={url}"


CLAIMS: list[dict[str, Any]] = [
    {"iss": "https://other.example"},
    {"iss": None},
    {"aud": "another client"},
    {"aud": None},
    {"aud": [CLIENT, "another"]},
    {"azp": "another client"},
    {"nonce": "another"},
    {"nonce": None},
    {"exp": int(time.time()) - 3600},
    {"exp": None},
    {"nbf": int(time.time()) + 3600},
    {"sub": None},
    {"sub": 5},
    {"at_hash": "AAAA"},
]


def test_an_id_token_that_says_something_else_does_not_count(served: Served, provider: IdentityProvider) -> None:
    for provider.claims in CLAIMS:
        person, answer = signed_in(served, provider, groups=["it"])
        assert answer.status_code == 403, provider.claims
        assert not person.is_signed_in()


def test_an_id_token_of_another_key_or_none_does_not_count(served: Served, provider: IdentityProvider) -> None:
    provider.signing = RSAKey.generate_key(2048, {"kid": "one"}, auto_kid=False)
    assert signed_in(served, provider, groups=["it"])[1].status_code == 403
    secret = OctKey.import_key(SECRET)
    provider.signing, provider.header = secret, {"alg": "HS256", "kid": "one"}  # type: ignore[assignment]
    assert signed_in(served, provider, groups=["it"])[1].status_code == 403
    provider.answers["/token"] = {"access_token": "a", "token_type": "Bearer", "id_token": "e30.e30."}
    assert signed_in(served, provider, groups=["it"])[1].status_code == 403


def test_an_answer_is_to_the_sign_in_that_this_browser_began(served: Served, provider: IdentityProvider) -> None:
    one, other = served.browser(), served.browser()
    came = provider.sign_in(left(one), "ann", groups=["it"])
    address = left(other)
    assert back(other, came).status_code == 403  # another state: somebody else's sign-in is pushed on her
    assert back(served.browser(), came).status_code == 403  # no sign-in began
    assert back(other, {"state": provider.sign_in(address, "eve")["state"]}).status_code == 403
    assert back(one, came | {"iss": "https://other.example"}).status_code == 403
    cookies = dict(one.web.cookies)
    assert back(one, came).status_code == 200
    thief = served.browser()
    thief.web.cookies = cookies  # type: ignore[assignment]
    again = provider.sign_in(f"{address}&state={came['state']}", "ann", groups=["it"])
    provider.codes[again["code"]] |= {"state": came["state"]}
    assert back(thief, again | {"state": came["state"]}).status_code in (403, 502)
    assert not thief.is_signed_in()


def test_a_code_of_somebody_elses_sign_in_fails_by_pkce(served: Served, provider: IdentityProvider) -> None:
    victim, thief = served.browser(), served.browser()
    code = provider.sign_in(left(victim), "ann", groups=["it"])["code"]
    state = provider.sign_in(left(thief), "eve", groups=["it"])["state"]
    assert back(thief, {"code": code, "state": state}).status_code == 502
    assert not thief.is_signed_in()


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/keys", "/token"])
def test_a_provider_that_answers_amiss_is_no_fault_of_ours(
    served: Served, provider: IdentityProvider, path: str
) -> None:
    for answer in (b"", b"[]", b"{", b"{}", b'{"issuer":5}', b"[" * 10_000):
        provider.answers = {path: answer}
        person = served.browser()
        gone = person.web.get("/sign-in/oidc")
        if path.startswith("/.well-known"):
            assert gone.status_code == 502
            continue
        came = provider.sign_in(gone.headers["location"], "ann", groups=["it"])
        assert back(person, came).status_code in (403, 502)
        assert not person.is_signed_in()


def test_a_provider_of_another_name_is_not_asked(served: Served, provider: IdentityProvider) -> None:
    about = {
        "issuer": "https://other.example",
        "authorization_endpoint": "https://o/a",
        "token_endpoint": "https://o/t",
    }
    provider.answers["/.well-known/openid-configuration"] = {**about, "jwks_uri": "https://o/k"}
    assert served.browser().web.get("/sign-in/oidc").status_code == 502
    for address in ("http://other.example/keys", "file:///etc/passwd"):
        about = {"issuer": provider.issuer, "authorization_endpoint": f"{provider.issuer}/authorize"}
        more = {"token_endpoint": f"{provider.issuer}/token", "jwks_uri": address}
        provider.answers["/.well-known/openid-configuration"] = about | more
        assert served.browser().web.get("/sign-in/oidc").status_code == 502


def test_she_confirms_with_a_passkey_that_is_bound_to_her_subject(served: Served, provider: IdentityProvider) -> None:
    ann, _ = signed_in(served, provider, name="Ann", groups=["treasury"])
    assert ann.register().status_code == 303
    person = next(each for each in served.auth.membership.everybody() if each.name == "Ann")
    assert person.subject == f"{provider.issuer} ann"
    by = Principal("person", "Ann", "approver", session="s", person=person.id)
    hold = served.held()

    async def go() -> Any:
        asked = await words.challenge(served.service, by, [hold], "approve")
        return await words.confirmed(
            served.service, by, {"ticket": asked["ticket"], "credential": ann.passkeys.get(asked)}
        )

    assert served.gate.holds.approve(asyncio.run(go()))[0].state == "approved"
    assert ann.sign_in().status_code == 403  # the provider says whether she still is who she was
    again, answer = signed_in(served, provider, name="Ann", groups=["staff"])
    assert answer.status_code == 200
    assert len(served.auth.membership.everybody()) == 1
    assert served.world.ask("payment.transfer", served.gate, amount=700, recipient="x").decision.mode == "hold"
    assert again.is_signed_in()
    _, answer = signed_in(served, provider, name="Ann", groups=[])
    assert answer.status_code == 403
    assert not again.is_signed_in()
    assert not ann.is_signed_in()
    assert served.auth.membership.everybody() == []


def test_two_people_of_one_name_are_two(served: Served, provider: IdentityProvider) -> None:
    signed_in(served, provider, "ann", name="Ann", groups=["it"])
    signed_in(served, provider, "other", name="ann\u202e\n", groups=["it"])
    signed_in(served, provider, "third", name="Ann", groups=["it"])
    names = [each.name for each in served.auth.membership.everybody()]
    assert len(names) == len(set(names)) == 3
    assert all(name.isprintable() for name in names)


def test_her_role_is_the_providers_to_change(served: Served, provider: IdentityProvider) -> None:
    signed_in(served, provider, name="Ann", groups=["staff"])
    operator = served.operator()
    name = next(each.id for each in served.auth.membership.everybody() if each.name == "Ann")
    assert operator.post("/people/role", {"person": name, "role": "administrator"}).status_code == 403
    assert operator.post("/people/remove", {"person": name}).status_code == 303


def test_without_a_provider_there_is_none(tmp_path: Path) -> None:
    served = Served(tmp_path)
    assert served.browser().web.get("/sign-in/oidc").status_code == 404
    assert served.browser().web.get("/sign-in/oidc/callback?code=a&state=b").status_code == 404

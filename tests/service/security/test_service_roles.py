"""Who may what: the table in docs/asvs.md, asked of a running service for every route of both addresses."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from security_support import Site, status
from security_support import ask as ask_plain
from service_support import asked
from starlette.routing import Route

from vigil_lang.gate.gate import Gate
from vigil_lang.service.apps import control_routes, data_routes
from vigil_lang.service.service import Origins, Service

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx

PAGE = Path(__file__).parents[3] / "docs" / "asvs.md"
BEGIN, END = "<!-- who may what -->\n", "<!-- end of who may what -->"
WHO = ("nobody", "agent", "viewer", "approver", "administrator", "operator")
RUN, AGENT = "own", "payer"


def routes(site: Site) -> list[tuple[str, str, str]]:
    """Address, method and path of every route that the service has."""
    gate = Gate(site.state)
    service = Service(gate, Origins(site.data, site.control))
    found: dict[tuple[str, str, str], None] = {}
    for address, made in (("data", data_routes(service)), ("control", control_routes(service))):
        for route in made:
            assert isinstance(route, Route)
            for method in sorted((route.methods or set()) - {"HEAD"}):
                found[address, method, route.path] = None
        found[address, "GET", "/openapi.json"] = None
    gate.close()
    return list(found)


def body(document: dict[str, Any], method: str, path: str) -> Any:
    """The least that a route reads, about the agent's own run."""
    operation = document["paths"][re.sub(r":\w+}", "}", path)][method.lower()]
    schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if path.startswith("/access/v1/"):
        return asked(run=RUN, agent=AGENT) | {"denial": {"evaluation_id": "x.1"}}

    def least(given: dict[str, Any], name: str = "") -> Any:
        if "$ref" in given:
            return least(document["components"]["schemas"][given["$ref"].rpartition("/")[2]])
        if "anyOf" in given:
            return least(given["anyOf"][0], name)
        match given.get("type"):
            case "object":
                return {each: least(given["properties"][each], each) for each in given.get("required", ())}
            case "array":
                return [least(given["items"])] if given.get("minItems") else []
            case "integer" | "number":
                return 0
            case "boolean":
                return False
        return {"run": RUN, "agent": AGENT}.get(name, given.get("enum", ["x" * given.get("minLength", 1)])[0])

    return None if schema is None else least(schema)


def may(answer: httpx.Response) -> bool:
    """Whether somebody was let in, whatever came of it."""
    to_sign_in = answer.headers.get("location", "").startswith("/sign-in?next=")
    assert answer.status_code < 500, answer.text
    return answer.status_code not in (401, 403) and not to_sign_in


def asking(site: Site) -> dict[str, Callable[[str, str, str, Any], httpx.Response]]:
    """How each of them asks. What ends a session is asked by somebody who is there for that."""

    def by_token(token: str | None) -> Callable[[str, str, str, Any], httpx.Response]:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}

        def ask(address: str, method: str, path: str, given: Any) -> httpx.Response:
            base = site.data if address == "data" else site.control
            more = {"json": given} if given is not None else {"data": {"x": "y"}} if method == "POST" else {}
            return ask_plain(method, base + path, headers=headers, **more)

        return ask

    def signed_in(name: str) -> Callable[[str, str, str, Any], httpx.Response]:
        def ask(address: str, method: str, path: str, given: Any) -> httpx.Response:
            person = site.person("operator")
            if path == "/sign-out":
                person = site.invited(name)
            elif name != "administrator":
                person = site.person({"viewer": "vera", "approver": "ann"}[name])
            if address == "data":
                return ask_plain(
                    method,
                    site.data + path,
                    headers={"Cookie": f"vigil={person.web.cookies['vigil']}"},
                    json=given or {},
                )
            if method == "GET":
                return person.web.get(path)
            if given is not None:
                return person.web.post(path, json=given)
            return person.post(path)

        return ask

    token = site.begin(site.proof(RUN, AGENT)).json()["token"]
    return {
        "nobody": by_token(None),
        "agent": by_token(token),
        "viewer": signed_in("viewer"),
        "approver": signed_in("approver"),
        "administrator": signed_in("administrator"),
        "operator": by_token(site.token),
    }


def test_who_may_what(site: Site) -> None:
    ask = asking(site)
    documents = {
        "data": ask_plain("GET", f"{site.data}/openapi.json").json(),
        "control": ask_plain("GET", f"{site.control}/openapi.json").json(),
    }
    rows = [f"| address | route | {' | '.join(WHO)} |", f"|---|---|{'---|' * len(WHO)}"]
    for address, method, path in routes(site):
        if path == "/v1/log/events":
            continue  # it does not end: the test of streams asks it
        given = body(documents[address], method, path)
        real = re.sub(r"\{\w+(:\w+)?\}", "0", path)
        marks = ["yes" if may(ask[who](address, method, real, given)) else "–" for who in WHO]
        rows.append(f"| {address} | {method} `{path}` | {' | '.join(marks)} |")
    table = "\n".join(rows) + "\n"
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    written, _, after = rest.partition(END)
    if os.environ.get("VIGIL_UPDATE"):
        PAGE.write_text(f"{before}{BEGIN}{table}{END}{after}", "utf-8")
    else:
        assert written == table


@pytest.mark.parametrize("name", ["vera", "ann", "operator"])
def test_a_role_has_all_that_a_lower_one_has(name: str) -> None:
    """In the table: viewer < approver < administrator."""
    rows = [
        line.split("|")[3:-1] for line in PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0].splitlines()
    ]
    assert len(rows) > 50
    at = {"vera": 2, "ann": 3, "operator": 4}[name]
    for row in rows[2:]:
        marks = [each.strip() for each in row]
        if marks[0] == "yes":
            assert marks[at] == "yes"
        if at < 4 and marks[at] == "yes":
            assert marks[at + 1] == "yes"


@pytest.mark.parametrize(
    ("run", "agent"), [("other", "payer"), ("own2", "clerk"), ("own2 ", "payer"), ("OWN2", "payer"), ("", "payer")]
)
def test_an_agent_asks_about_its_own_run_alone(site: Site, run: str, agent: str) -> None:
    other = site.agent("other", "clerk")
    other.post("/access/v1/evaluation", json=asked(run="other", agent="clerk"))
    own = site.agent("own2")
    assert own.post("/access/v1/evaluation", json=asked(run="own2")).status_code == 200
    for path in ("evaluation", "evaluations", "requests"):
        given = asked(run=run, agent=agent) | {"denial": {"evaluation_id": "x.1"}}
        assert own.post(f"/access/v1/{path}", json=given).status_code in (400, 403)
    batch = own.post("/access/v1/evaluations", json={"evaluations": [asked(run=run, agent=agent)]}).json()
    assert batch["evaluations"][0]["decision"] is False
    for verb in ("status", "end", "hold", "cancel", "halt", "say", "turn_ended", "ended", "decide", "enter", "extend"):
        given = {"run": run, "agent": agent, "hold": "x", "why": "x", "role": "user", "text": "x", "tool": "x",
                 "input": {}, "id": "x", "request": {}, "policies": []}  # fmt: skip
        document = ask_plain("GET", f"{site.data}/openapi.json").json()
        least = body(document, "POST", f"/v1/runs/{verb}")
        answer = own.post(f"/v1/runs/{verb}", json={name: given.get(name, least[name]) for name in least})
        assert answer.status_code in (400, 403), (verb, answer.text)


def test_a_hold_of_another_run_is_not_there(site: Site) -> None:
    hold = site.held(5_000, run="someone")
    thief = site.agent("own3")
    for answer in (
        thief.get(f"/access/v1/requests/{hold}"),
        thief.post(f"/access/v1/requests/{hold}/cancel", json={}),
        thief.post("/v1/runs/hold", json={"run": "own3", "agent": "payer", "hold": hold}),
        thief.post("/v1/runs/wait", json={"run": "own3", "agent": "payer", "hold": hold}),
        thief.post("/v1/runs/cancel", json={"run": "own3", "agent": "payer", "hold": hold}),
    ):
        assert answer.status_code == 404
        assert "5000" not in answer.text
    unknown = thief.get("/access/v1/requests/" + "A" * len(hold))
    known = thief.get(f"/access/v1/requests/{hold}")
    assert unknown.text == known.text  # nobody learns that it is there
    assert site.ask("GET", f"/v1/holds/{hold}", control=True).json()["state"] == "pending"


def test_an_agent_reaches_nothing_of_peoples(site: Site) -> None:
    own = site.begin(site.proof("own4")).json()["token"]
    for path in (
        "/",
        "/holds",
        "/log",
        "/people",
        "/kill",
        "/v1/log",
        "/v1/runs",
        "/v1/holds",
        "/v1/revocations",
        "/metrics",
    ):
        answer = ask_plain("GET", site.control + path, headers={"Authorization": f"Bearer {own}"})
        assert answer.status_code in (401, 403), path
    cookie = ask_plain("GET", f"{site.control}/holds", headers={"Cookie": f"vigil={own}"})
    assert cookie.headers["location"].startswith("/sign-in")


def test_a_persons_cookie_is_nothing_on_the_data_address(site: Site) -> None:
    person = site.person("operator")
    cookie = person.web.cookies["vigil"]
    for headers in ({"Cookie": f"vigil={cookie}"}, {"Authorization": f"Bearer {cookie}"}):
        answer = ask_plain("POST", f"{site.data}/access/v1/evaluation", json=asked(), headers=headers)
        assert answer.status_code in (401, 403)
    assert ask_plain("GET", f"{site.control}/v1/log", headers={"Authorization": f"Bearer {cookie}"}).status_code == 401


def test_every_control_route_says_who_it_is_for(site: Site) -> None:
    """Beyond those that lead to a session, and those of supervisors, none answers to nobody."""
    free = {"/sign-in", "/sign-in/invitation", "/sign-in/oidc", "/sign-in/oidc/callback", "/passkeys/sign-in/options",
            "/passkeys/sign-in/verify", "/static/{name}", "/healthz", "/readyz", "/openapi.json"}  # fmt: skip
    for address, method, path in routes(site):
        if address != "control" or path in free:
            continue
        real = re.sub(r"\{\w+(:\w+)?\}", "0", path)
        answer = ask_plain(method, site.control + real, json={} if method == "POST" else None)
        assert not may(answer), (method, path)
        for wrong in (
            "",
            "Bearer",
            "Bearer x",
            f"Basic {site.token}",
            f"Bearer {site.token}x",
            "Bearer null",
        ):
            answer = ask_plain(method, site.control + real, headers={"Authorization": wrong})
            assert not may(answer), (method, path, wrong)
    assert status(site.raw(b"GET /v1/log HTTP/1.1\r\nHost: localhost\r\n\r\n", seconds=1)) == 401

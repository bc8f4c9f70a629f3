"""A gate service as it is started, people of each role in browsers of their own, an agent, and bytes on a socket."""

from __future__ import annotations

import json
import re
import secrets
import socket
import time
from html import unescape
from typing import TYPE_CHECKING, Any

import httpx
from authenticator import Browser
from service_support import EVALUATION, Served, asked, made_state

from vigil_lang.gate.authority.keys import Key
from vigil_lang.gate.authority.proof import signed_part
from vigil_lang.gate.canonical import base64url

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_CSRF = re.compile(r'name="csrf" value="([^"]+)"')


_CLIENT = httpx.Client(verify=False, timeout=20)


def ask(method: str, address: str, **more: Any) -> httpx.Response:
    """A request of somebody who keeps no cookies."""
    try:
        return _CLIENT.request(method, address, **more)
    finally:
        _CLIENT.cookies.clear()


class Site:
    """A service with the people `operator` (administrator), `ann` (approver) and `vera` (viewer), and two agents."""

    def __init__(self, folder: Path, settings: str = "", *options: str, timeout: str = "300") -> None:
        self.keys = {"payer": Key.new(), "clerk": Key.new()}
        agents = "\n".join(f'{name} = "{key.public}"' for name, key in self.keys.items())
        state = made_state(folder, settings=f"{settings}\n[service.agents]\n{agents}\n")
        file = state / "gate.toml"
        file.write_text(file.read_text("utf-8").replace("timeout = 300", f"timeout = {timeout}"), "utf-8")
        self.served = Served(state, *options)
        self.data, self.token = self.served.data, self.served.token
        self.control = self.served.control.replace("127.0.0.1", "localhost")
        self.state = self.served.state
        self._addresses = iter(range(2, 250))
        self._people: dict[str, Person] = {}

    # --- people ---------------------------------------------------------------------------------------------------

    def browser(self) -> Person:
        """Nobody, from an address of its own: attempts are counted by address."""
        return Person(self, f"127.0.0.{next(self._addresses)}")

    def person(self, name: str) -> Person:
        """One of the people, signed in with a passkey; the same each time."""
        if name not in self._people:
            roles = {"ann": "approver", "vera": "viewer"}
            if name == "operator":
                found = self.browser()
                assert found.web.get(self.served.said["sign-in"]).status_code == 303
            else:
                found = self.person("operator").invited(name, roles[name])
            found.register()
            self._people[name] = found
        return self._people[name]

    def invited(self, role: str) -> Person:
        """A new person of a role."""
        return self.person("operator").invited(secrets.token_hex(6), role)

    # --- agents ---------------------------------------------------------------------------------------------------

    def about(self) -> dict[str, Any]:
        found: dict[str, Any] = ask("GET", f"{self.data}/v1/sessions").json()
        return found

    def proof(self, run: str, agent: str = "payer", key: Key | None = None, **changed: Any) -> dict[str, Any]:
        """What an agent sends to begin a session; `changed` after it was signed."""
        about, key = self.about(), key or self.keys[agent]
        said = {"run": run, "agent": agent, "audience": about["audience"], "at": about["at"]}
        nonce = secrets.token_urlsafe(16)
        signature = base64url(key.sign(signed_part(run, agent, None, about["audience"], about["at"], nonce)))
        return {**said, "nonce": nonce, "key": key.public, "signature": signature, **changed}

    def begin(self, proof: Mapping[str, Any]) -> httpx.Response:
        return ask("POST", f"{self.data}/v1/sessions", json=proof)

    def agent(self, run: str, agent: str = "payer") -> httpx.Client:
        """An agent with its session in a run."""
        token = self.begin(self.proof(run, agent)).json()["token"]
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.data, headers=headers, timeout=20, verify=False)

    # --- the operator ---------------------------------------------------------------------------------------------

    def ask(self, method: str, path: str, *, control: bool = False, **more: Any) -> httpx.Response:
        """What the operator's token is answered."""
        headers = {"Authorization": f"Bearer {self.token}", **more.pop("headers", {})}
        return ask(method, (self.control if control else self.data) + path, headers=headers, **more)

    # --- what happens ---------------------------------------------------------------------------------------------

    def held(self, amount: int, run: str = "r1", to: str = "acme") -> str:
        """A hold that waits."""
        answer = self.ask("POST", EVALUATION, json=asked("pay", {"amount": amount, "to": to}, run=run)).json()
        return str(answer["context"]["hold"]["id"])

    def entries(self, kind: str | None = None) -> list[dict[str, Any]]:
        lines = (self.state / "log.jsonl").read_text("utf-8").splitlines()
        return [each for each in map(json.loads, lines) if kind in (None, each["kind"])]

    def raw(self, *parts: bytes, control: bool = True, seconds: float = 5) -> bytes:
        """What is answered to bytes, until the service closes the connection or `seconds` are over."""
        address = self.control if control else self.data
        found = b""
        with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), timeout=seconds) as connection:
            end = time.monotonic() + seconds
            try:
                for part in parts:
                    connection.sendall(part)
                while (left := end - time.monotonic()) > 0:
                    connection.settimeout(left)
                    some = connection.recv(65536)
                    if not some:
                        break
                    found += some
            except OSError:
                pass
        return found

    def get(self, path: bytes, *headers: bytes, method: bytes = b"GET", host: bytes | None = None) -> bytes:
        """What the control address answers to a request line and headers that no library would send."""
        named = b"Host: localhost" if host is None else host
        own = [named, b"Authorization: Bearer " + self.token.encode(), b"Connection: close", *headers]
        return self.raw(b"%b %b HTTP/1.1\r\n%b\r\n\r\n" % (method, path, b"\r\n".join(own)))


def status(answer: bytes) -> int:
    """The status of an answer; 0 without one."""
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0


def headers_of(answer: bytes) -> dict[str, str]:
    head = answer.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]
    return {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in head)}


class Person:
    """A browser with its cookies and passkeys, and who uses it."""

    def __init__(self, site: Site, address: str) -> None:
        self.site = site
        transport = httpx.HTTPTransport(verify=False, local_address=address)
        self._csrf = ""
        self.web = httpx.Client(base_url=site.control, transport=transport, timeout=20)
        self.passkeys = Browser(site.control)

    def csrf(self) -> str:
        """The token of her session's forms."""
        if not self._csrf:
            found = _CSRF.search(self.web.get("/passkeys").text)
            self._csrf = unescape(found[1]) if found else ""
        return self._csrf

    def post(
        self, path: str, form: Mapping[str, Any] | None = None, drop: Iterable[str] = (), **headers: str
    ) -> httpx.Response:
        """A form of this page with its token; `headers` over those of a browser, `drop` leaves some out."""
        sent = {"Origin": self.site.control, "Sec-Fetch-Site": "same-origin"}
        sent |= {name.replace("_", "-").title(): value for name, value in headers.items()}
        sent = {name: value for name, value in sent.items() if name not in drop}
        data = {"csrf": self.csrf(), **(form or {})}
        if path in ("/sign-out", "/passkeys/sign-in/verify", "/sign-in/invitation"):
            self._csrf = ""
        return self.web.post(path, data=data, headers=sent)

    def register(self) -> httpx.Response:
        """Add a passkey."""
        options = self.post("/passkeys/register/options").json()
        answer = json.dumps({"ticket": options["ticket"], "credential": self.passkeys.create(options)})
        return self.post("/passkeys/register/verify", {"answer": answer, "label": "laptop"})

    def sign_in_answer(self) -> str:
        """The answer of a passkey to the question of the sign-in page."""
        options = self.post("/passkeys/sign-in/options").json()
        return json.dumps({"ticket": options["ticket"], "credential": self.passkeys.get(options)})

    def sign_in(self, following: str = "/") -> httpx.Response:
        return self.post("/passkeys/sign-in/verify", {"answer": self.sign_in_answer(), "next": following})

    def invited(self, name: str, role: str) -> Person:
        """Another person, in a browser of her own."""
        page = self.post("/people/invite", {"name": name, "role": role})
        found = re.search(r"invitation=([\w-]+)", page.text)
        assert found, page.text
        other = self.site.browser()
        assert other.post("/sign-in/invitation", {"invitation": found[1]}).status_code == 303
        return other

    def is_signed_in(self) -> bool:
        return self.web.get("/passkeys").status_code == 200

    # --- words on holds -------------------------------------------------------------------------------------------

    def challenge(self, *holds: str, what: str = "approve", **more: str) -> httpx.Response:
        return self.post("/holds/challenge", {"hold": [*holds], "what": what, **more})

    def answer(self, *holds: str, what: str = "approve", **more: str) -> str:
        """The answer of her passkey to the question about holds."""
        asked_ = self.challenge(*holds, what=what, **more).json()
        return json.dumps({"ticket": asked_["ticket"], "credential": self.passkeys.get(asked_)})

    def confirm(self, hold: str, answer: str, what: str = "confirm") -> httpx.Response:
        return self.post(f"/holds/{hold}/{what}", {"answer": answer})

"""A gate service in this process, and browsers that keep cookies: what the tests of signing in share."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any

from authenticator import Browser
from gate_support import World
from starlette.testclient import TestClient

from vigil_lang.gate.gate import Gate
from vigil_lang.service.apps import control_app, data_app
from vigil_lang.service.service import Origins, Service

if TYPE_CHECKING:
    from pathlib import Path

    from httpx import Response

CONTROL, DATA = "http://localhost:8181", "http://127.0.0.1:8180"
_CSRF = re.compile(r'name="csrf" value="([^"]+)"')


class Served:
    """A service over a state folder of its own; the clock is the machine's, since tokens and holds go by it."""

    def __init__(self, folder: Path, settings: str = "", *, no_auth: bool = False, origin: str = CONTROL) -> None:
        self.world = World(folder)
        self.origin = origin
        if settings:
            with (self.world.state / "gate.toml").open("a", encoding="utf-8") as file:
                file.write(settings)
        self.world.gate.close()
        self.gate = Gate(self.world.state)
        self.service = Service(self.gate, Origins(DATA, origin), no_auth=no_auth)
        self.auth = self.service.auth
        self.service.decider.start()

    def node(self) -> Served:
        """Another node on the same state: what it knows, it has from the log."""
        other = object.__new__(Served)
        other.world, other.origin, other.gate = self.world, self.origin, Gate(self.world.state)
        other.service = Service(other.gate, Origins(DATA, self.origin))
        other.auth = other.service.auth
        other.service.decider.start()
        return other

    def browser(self, address: str = "198.51.100.7") -> Person:
        return Person(self, address)

    def data(self, token: str | None = None) -> TestClient:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return TestClient(data_app(self.service), DATA, headers=headers, client=("198.51.100.8", 1))

    def operator(self) -> Person:
        """A browser in which the printed link was followed."""
        person = self.browser()
        assert person.follow(self.auth.sign_in_link(self.origin)).status_code == 303
        return person

    def entries(self, kind: str | None = None) -> list[dict[str, Any]]:
        lines = (self.world.state / "log.jsonl").read_text("utf-8").splitlines()
        return [each for each in map(json.loads, lines) if kind in (None, each["kind"])]

    def held(self, amount: int = 700) -> str:
        """A hold that waits."""
        answer = self.world.ask("payment.transfer", self.gate, amount=amount, recipient="x")
        assert answer.hold is not None
        return answer.hold.id


class Person:
    """A browser with its cookies and passkeys, and who uses it."""

    def __init__(self, served: Served, address: str) -> None:
        self.served = served
        self.web = TestClient(
            control_app(served.service), served.origin, follow_redirects=False, client=(address, 1),
            raise_server_exceptions=False,
        )  # fmt: skip
        self.passkeys = Browser(served.origin)

    def follow(self, link: str) -> Response:
        return self.web.get(link.removeprefix(self.served.origin))

    def csrf(self, path: str = "/passkeys") -> str:
        found = _CSRF.search(self.web.get(path).text)
        return html.unescape(found[1]) if found else ""

    def post(self, path: str, form: dict[str, str] | None = None, **headers: str) -> Response:
        """A form of this page, with its token."""
        sent = {"Origin": self.served.origin, "Sec-Fetch-Site": "same-origin"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return self.web.post(path, data={"csrf": self.csrf(), **(form or {})}, headers=sent)

    def register(self, label: str = "laptop", **more: Any) -> Response:
        options = self.post("/passkeys/register/options")
        if options.status_code != 200:
            return options
        made = self.passkeys.create(options.json(), **more)
        answer = json.dumps({"ticket": options.json()["ticket"], "credential": made})
        return self.post("/passkeys/register/verify", {"answer": answer, "label": label})

    def sign_in(self, next_: str = "/") -> Response:
        options = self.post("/passkeys/sign-in/options").json()
        answer = json.dumps({"ticket": options["ticket"], "credential": self.passkeys.get(options)})
        return self.post("/passkeys/sign-in/verify", {"answer": answer, "next": next_})

    def invited(self, name: str, role: str, address: str = "198.51.100.9") -> Person:
        """Another person, invited by this one, in her own browser."""
        page = self.post("/people/invite", {"name": name, "role": role})
        assert page.status_code == 200, page.text
        found = re.search(r"invitation=([\w-]+)", page.text)
        assert found
        other = self.served.browser(address)
        assert other.post("/sign-in/invitation", {"invitation": found[1]}).status_code == 303
        return other

    def is_signed_in(self) -> bool:
        return self.web.get("/passkeys").status_code == 200

"""Which machine a script's request goes to: what a client puts before relative addresses, and what names no machine."""

from __future__ import annotations

import httpx
import pytest
from abstraction_support import abstracted, bash, ok
from hypothesis import example, given
from hypothesis import strategies as st

from vigil_lang.abstraction.catalogue.values import hosts_of
from vigil_lang.abstraction.scripts.addresses import joined
from vigil_lang.abstraction.scripts.values import Base

AXIOS = "const axios = require('axios'); "
GOT = "import got from 'got'; const c = got.extend({prefixUrl: 'https://a.example/v1'}); "
KY = "import ky from 'ky'; "
HTTPX = "import httpx\nc = httpx.Client(base_url='https://a.example/v1')\n"
ASKS = {"net.request", "net.connect", "browser.open"}


def asked(language: str, text: str) -> list[str]:
    """Each request of a script: the address, or with `→` the host where only that is known; `?` for neither.

    `?` stands behind an address whose host is not known, too.
    """
    program = {"python": "python3 -", "javascript": "node --input-type=module -"}[language]
    (_, *steps) = abstracted([bash("t", f"{program} <<'EOF'\n{text}\nEOF"), ok("t")])
    found = []
    for step in steps:
        if step.kinds[0] != "code.call" or ASKS.isdisjoint(step.kinds):
            continue
        url, host = step.args.get("url", ("",))[0], step.args.get("host", ("",))[0]
        is_open = not {"url", "host"}.isdisjoint(step.args.get("unresolved", ()))
        assert host or is_open, step
        assert not url or not host or host in url, step
        found.append((url if url else f"→{host}" if host else "") + "?" * (not host))
    return found


PYTHON = [
    (HTTPX + "c.get('/users'); c.post('users/3', json={}); c.delete('')", ["/v1/users", "/v1/users/3", "/v1"]),
    (HTTPX + "c.get('https://b.example/x'); c.get('//b.example/x')", ["https://b.example/x", "//b.example/x?"]),
    (HTTPX + "c.base_url = 'https://c.example'\nc.get('/x')", ["https://c.example/x"]),
    (HTTPX + "if input():\n    c.base_url = 'https://c.example'\nc.get('/x')", ["/x?"]),
    (HTTPX + "c.get(f'/users/{input()}'); c.get(f'users{input()}'); c.get(f'/{input()}')", ["→a.example", "?", "?"]),
    (HTTPX + "c.stream('GET', '/big'); c.request('PUT', '/y')", ["/v1/big", "/v1/y"]),
    ("import httpx\nwith httpx.Client(base_url='https://a.example/v1') as c: c.head('/x')", ["/v1/x"]),
    ("import httpx, os\nhttpx.Client(base_url=os.environ['API']).get('/x')", ["/x?"]),
    ("import httpx\nhttpx.Client().get('/x')", ["/x?"]),
    ("import httpx\nhttpx.Client(**settings).get('/x')", ["/x?"]),
    ("import httpx\nhttpx.stream('GET', 'https://b.example/x')", ["https://b.example/x"]),
    (
        "import asyncio, httpx\nasync def main():\n"
        "    async with httpx.AsyncClient(base_url='https://a.example/v1') as c:\n"
        "        r = await c.get('/x'); print(r.json())\nasyncio.run(main())",
        ["/v1/x"],
    ),
    (
        "import httpx\ndef client(): return httpx.Client(base_url='https://a.example/v1', timeout=3)\n"
        "def go(c): return c.get('/x').json()\ngo(client())",
        ["/v1/x"],
    ),
    (
        "import aiohttp, asyncio\nasync def main():\n"
        "    async with aiohttp.ClientSession('https://a.example/v1/') as s:\n"
        "        await s.get('/x'); await s.get('x'); await s.ws_connect('w')\nasyncio.run(main())",
        ["https://a.example/x", "/v1/x", "/v1/w"],
    ),
    (
        "from requests_toolbelt.sessions import BaseUrlSession\ns = BaseUrlSession('https://a.example/v1/')\n"
        "s.get('x'); s.get('/x'); s.get('//b.example/x'); s.get('//[x'); s.get('\\\\\\\\b.example')",
        ["/v1/x", "https://a.example/x", "https://b.example/x", "//[x?", r"\\b.example?"],
    ),
    (
        "import requests\nrequests.get('users/3'); requests.get('b.example'); requests.get('/x')",
        ["users/3?", "b.example?", "/x?"],
    ),
    ("import requests\nrequests.get(' https://b.example/x')", ["https://b.example/x"]),
    ("import requests\nrequests.get(f'https://b.example/{input()}')", ["→b.example"]),
    ("import requests\nrequests.get(f'https://u:p@b.example:80/{input()}')", ["→b.example"]),
    (
        "import requests\nrequests.get(f'https://{input()}.example/'); requests.get(f'https://b.example{input()}')",
        ["?", "?"],
    ),
    (
        "import requests\nfrom urllib.parse import urljoin\nrequests.get(urljoin('https://b.example/x/', 'y'))",
        ["https://b.example/x/y"],
    ),
    ("import requests\nfrom urllib.parse import urljoin\nrequests.get(urljoin(input(), 'y'))", ["?"]),
    ("import requests\nrequests.get('https://c.example@b.example/x')", ["https://c.example@b.example/x"]),
    (r"import requests; requests.get('https://b.example\\@c.example/x')", [r"https://b.example\@c.example/x?"]),
    ("import http.client\nc = http.client.HTTPSConnection('b.example'); c.request('POST', '/x')", ["→b.example"] * 2),
]

JAVASCRIPT = [
    (
        AXIOS + "const c = axios.create({baseURL: 'https://a.example/v1/'}); c.get('/x'); c.post('y', {})",
        ["/v1/x", "/v1/y"],
    ),
    (AXIOS + "const c = axios.create({baseURL: 'https://a.example/v1'}); c('/x'); c({url: 'y'})", ["/v1/x", "/v1/y"]),
    (
        AXIOS + "const c = axios.create({baseURL: 'https://a.example/v1'}); c.request({url: '/x', method: 'put'})",
        ["/v1/x"],
    ),
    (AXIOS + "const c = axios.create({baseURL: 'https://a.example'}); c.get('http://b.example')", ["http://b.example"]),
    (AXIOS + "const c = axios.create({baseURL: 'https://a.example'}); c.get('//b.example')", ["//b.example?"]),
    (
        AXIOS + "axios.get('/before'); axios.defaults.baseURL = 'https://a.example/v1'; axios.get('/x')",
        ["/before?", "/v1/x"],
    ),
    (AXIOS + "if (x) axios.defaults.baseURL = 'https://a.example'; axios.get('/x')", ["/x?"]),
    (AXIOS + "axios.defaults.baseURL = 'https://a.example/v1'; axios.create({timeout: 3}).get('/x')", ["/v1/x"]),
    (AXIOS + "const c = axios.create(); c.defaults.baseURL = 'https://a.example/v1'; c.get('/x')", ["/v1/x"]),
    (AXIOS + "axios.get('/x', {baseURL: 'https://a.example/v1'}); axios.get('/x')", ["/v1/x", "/x?"]),
    (AXIOS + "axios.post('/x', {a: 1}, {baseURL: 'https://a.example/v1'})", ["/v1/x"]),
    (AXIOS + "axios({url: '/x', baseURL: 'https://a.example/v1'}); axios('/x', options)", ["/v1/x", "/x?"]),
    (AXIOS + "axios.create({baseURL: process.env.API}).get('/x')", ["/x?"]),
    (AXIOS + "axios.create({...defaults}).get('/x')", ["/x?"]),
    (AXIOS + "const c = axios.create({baseURL: '/api'}); c.get('/x')", ["/x?"]),
    (
        AXIOS + "class Api { constructor(b) { this.c = axios.create({baseURL: b}) } "
        "list() { return this.c.get('/x') } } "
        "new Api('https://a.example/v1').list()",
        ["/v1/x"],
    ),
    (GOT + "await c.get('x').json(); await c('y'); c.stream('z')", ["/v1/x", "/v1/y", "/v1/z"]),
    (GOT + "await c.get('https://b.example'); await got('https://b.example')", ["?", "https://b.example"]),
    (
        GOT + "await c.extend({retry: 1}).put('x'); await got('x', {prefixUrl: 'https://a.example/v1'})",
        ["/v1/x", "/v1/x"],
    ),
    (
        KY + "const c = ky.create({prefixUrl: 'https://a.example/v1/'}); await c.get('x').json(); await c('y')",
        ["/v1/x", "/v1/y"],
    ),
    (
        KY + "const c = ky.extend({baseUrl: 'https://a.example/v1/'}); await c.get('/x'); await c('x')",
        ["https://a.example/x", "/v1/x"],
    ),
    (KY + "const c = ky.create({prefix: 'https://a.example'}); await c.get('https://b.example')", ["?"]),
    ("fetch('/x'); fetch('https:b.example/x')", ["/x?", "https:b.example/x?"]),
    (
        "fetch(new URL('/x', 'https://b.example')); fetch(new URL('https://b.example'))",
        ["https://b.example/x", "https://b.example/"],
    ),
    ("fetch(new URL('//c.example/x', 'https://b.example'))", ["https://c.example/x"]),
    ("const u = new URL('https://b.example/x'); u.host = 'c.example'; fetch(u)", ["?"]),
    ("const u = new URL('https://b.example/x?a=1'); u.searchParams.set('q', '1'); fetch(u)", ["→b.example"]),
    ("const u = new URL('x', 'https://b.example'); fetch(u.href); fetch(`${u}`)", ["https://b.example/x"] * 2),
    ("fetch(new URL('/x', process.env.API)); fetch(new URL('https://b.example/*').href)", ["/x?", "?"]),
    ("fetch(`https://b.example/${process.argv[2]}`)", ["→b.example"]),
]


def whole(expected: list[str]) -> list[str]:
    """The addresses below the usual base written out."""
    return [f"https://a.example{each}" if each.startswith("/v1") else each for each in expected]


@pytest.mark.parametrize(("text", "expected"), PYTHON)
def test_python(text: str, expected: list[str]) -> None:
    assert asked("python", text) == whole(expected)


@pytest.mark.parametrize(("text", "expected"), JAVASCRIPT)
def test_javascript(text: str, expected: list[str]) -> None:
    assert asked("javascript", text) == whole(expected)


def test_an_address_of_no_machine_leaves_nothing_open() -> None:
    (_, curl, *_) = abstracted([bash("t", "curl file:///etc/x"), ok("t")])
    assert "unresolved" not in curl.args
    (_, _, step) = abstracted([bash("t", "node -e \"fetch('data:text/plain,x')\""), ok("t")])
    assert "host" not in step.args
    assert "unresolved" not in step.args


@pytest.mark.parametrize(
    ("command", "host"),
    [
        ("curl https://user@good.example@evil.example/x", "evil.example"),
        ("curl 'https://good.example\\@evil.example/x'", None),
        ("curl 'https://good.example:\\@evil.example/x'", None),
        ("curl 'https://good.example:80\\@evil.example/x'", None),
        ("curl evil.example/x", "evil.example"),
        ("curl u:p@evil.example/x", "evil.example"),
        ("curl my_host:80", "my_host"),
        ("curl [::1]:80/", "[::1]"),
        ("curl https://%65vil.example/", None),
        ("curl https:///evil.example/x", None),
        ("http localhost a=b", None),
        ("http :8000/x", "localhost"),
    ],
)
def test_a_program_s_address(command: str, host: str | None) -> None:
    (_, step) = abstracted([bash("t", command), ok("t")])
    assert step.args.get("host") == ((host,) if host else None)
    assert ("host" in step.args.get("unresolved", ())) == (host is None)


PIECES = [
    *("https:", "HTTPS://", "ftp://", "//", "/", "\\", "a.example", "b.example", "c"),
    *("@", ":", ":80", "?", "#", "..", "%62", "$", " "),
]
CLIENTS = {base: httpx.Client(base_url=base) for base in ("https://a.example", "https://u:p@a.example:8080/v1/")}


@given(st.sampled_from(list(CLIENTS)), st.lists(st.sampled_from(PIECES), max_size=6).map("".join))
@example("https://a.example", "HTTPS://b.example:\\@c")
@example("https://a.example", "ftp://a.example ")
def test_a_client_s_machine_is_the_one_that_it_asks_or_unknown(base: str, text: str) -> None:
    address = joined(Base(base, "append"), text)
    hosts, _ = hosts_of(() if address is None else (address,), schemeless=False)
    try:
        asks = CLIENTS[base].build_request("GET", text).url.host
    except (httpx.InvalidURL, ValueError):
        return  # it asks nobody
    assert hosts in ((), (asks.lower().rstrip("."),)), address

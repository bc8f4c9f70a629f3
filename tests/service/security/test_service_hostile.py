"""Texts that an agent or a person chooses, wherever they come out: JSON, events, pages, metrics, notices, the log."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from security_support import Site
from service_support import asked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOSTILE = {
    "markup": "<script>alert(1)</script><img src=x onerror=alert(2)>\"'></textarea>&amp;",
    "template": "{{7*7}}${7*7}#{7*7}{% for x in y %}<%= 7*7 %>{{config}}%s%n{0}",
    "bidi": "pay \u202e0001\u202c \u2066hidden\u2069 \u200bzero\u200d \ufeff\U000e0041",
    "nul": "a\x00b",
    "terminal": "\x1b[2J\x1b]0;title\x07\x9b31m\r\nlog line that nobody wrote",
    "events": "x\n\nid: 999\nevent: decision\ndata: {}\n\n",
    "header": "x\r\nSet-Cookie: vigil=x\r\n\r\n<html>",
    "formula": '=HYPERLINK("https://evil.example")',
    "path": "../../etc/passwd",
    "long": "x<" * 50_000,
}
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e0fff]")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("hostile")
    found = Site(folder, f'[notify]\ncommand = ["tee", "-a", "{folder}/told"]\n')
    found.folder = folder  # type: ignore[attr-defined]
    yield found
    found.served.stop()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_only_a_text(site: Site, name: str) -> None:
    text = HOSTILE[name]
    short = text[:200]
    given = asked("pay", {"amount": 700, "to": text, text[:200] or "x": "y"}, run=short, agent=short)
    given["subject"]["properties"] = {"user": short, "note": text}
    answer = site.ask("POST", "/access/v1/evaluation", json=given)
    assert answer.status_code in (200, 400)
    if answer.status_code == 400:  # no name may be like that
        assert not HIDDEN.search(answer.text)
        given = asked("pay", {"amount": 700, "to": text}, run=f"plain-{name}")
        answer = site.ask("POST", "/access/v1/evaluation", json=given)
    hold = answer.json()["context"]["hold"]["id"]
    run = given["context"]["run"]

    shown = site.ask("GET", f"/v1/holds/{hold}", control=True)
    assert shown.headers["content-type"] == "application/json"
    assert shown.json()["action"]["input"]["to"] == text  # JSON has it as it is, and as nothing else
    operator = site.person("operator")
    for path in (f"/holds/{hold}", "/holds", "/runs", f"/runs/{quote(run, safe='')}", "/log", f"/log?run={quote(run)}",
                 f"/log?q={quote(short)}", f"/kill?kind=agent&name={quote(short)}", f"/holds/{quote(short, safe='')}",
                 f"/sign-in?next={quote(short)}", f"/sign-in?invitation={quote(short)}", "/people"):  # fmt: skip
        page = operator.web.get(path)
        assert page.status_code in (200, 404), path
        assert "<script>alert" not in page.text
        assert "<img" not in page.text
        assert "{{7*7}}" in page.text or "49" not in re.sub(r"[\w.:/-]*49[\w.:/-]*", "", page.text)
        values = re.compile(r'value="[^"]*"')  # what a form sends back is sent back as it was
        assert not HIDDEN.search(values.sub("", page.text)), path
        assert len(page.content) <= 100_000
        assert "set-cookie" not in page.headers or "vigil=x;" not in page.headers["set-cookie"]
    for path in ("/metrics", "/v1/runs", "/v1/log"):
        told = site.ask("GET", path, control=True)
        assert told.status_code == 200
        assert path != "/metrics" or short not in told.text
        assert path == "/metrics" or isinstance(told.json(), dict)


def test_one_entry_is_one_event(site: Site) -> None:
    last = site.ask("GET", "/v1/log?limit=1", control=True).json()["entries"]
    site.ask("POST", "/access/v1/evaluation", json=asked("pay", {"amount": 800, "to": HOSTILE["events"]}, run="events"))
    client = site.person("operator").web
    with client.stream("GET", f"/v1/log/events?after={last - 1}") as stream:
        found = []
        for line in stream.iter_lines():
            found.append(line)
            if line.startswith("data: ") and json.loads(line[6:])["kind"] == "decision":
                break
    ids = [int(line[4:]) for line in found if line.startswith("id: ")]
    assert ids == list(range(last, last + len(ids)))
    assert all(re.fullmatch(r"(id: \d+|event: \w+|data: \{.*\}|retry: 1000|)", line) for line in found)


@pytest.mark.parametrize("name", ["markup", "bidi", "nul", "terminal", "header", "long"])
def test_what_people_are_called_is_only_a_text(site: Site, name: str) -> None:
    operator = site.person("operator")
    answer = operator.post("/people/invite", {"name": HOSTILE[name], "role": "viewer"})
    assert answer.status_code in (200, 400)
    page = operator.web.get("/people").text
    assert "<script>alert" not in page + answer.text
    assert not HIDDEN.search(page)
    assert not HIDDEN.search(answer.text)


def test_notices_have_nothing_that_acts(site: Site) -> None:
    """After the texts above."""
    told = (site.folder / "told").read_text("utf-8")  # type: ignore[attr-defined]
    assert told
    assert not HIDDEN.search(told)
    assert max(map(len, told.splitlines())) < 20_000


def test_the_log_has_an_entry_a_line(site: Site) -> None:
    site.ask("POST", "/v1/runs/refuse", json={"run": "lines", "agent": "payer", "why": HOSTILE["terminal"][:200]})
    site.ask("GET", "/v1/holds", control=True, headers={"Authorization": "Bearer \u00e9\u009b31m".encode()})
    lines = (site.state / "log.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["v"] for line in lines]
    assert not [line for line in lines if re.search(rb"[\x00-\x1f\x7f]", line)]
    assert site.ask("GET", "/v1/log?limit=1", control=True).json()["entries"] == len(lines)

"""docs/client.md: its programs run against a service, and its tables are what the code has."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from vigil_lang.gate.run_calls import FORMS, Of
from vigil_lang.gate.settings import Remote

if TYPE_CHECKING:
    import pytest
    from client_support import Machine, Service

PAGE = (Path(__file__).parents[3] / "docs" / "client.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8080"


def test_the_programs_run(machine: Machine, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(machine.work)
    (machine.work / "mailer.pem").write_bytes(Path(service.keys["mailer"]).read_bytes())
    (machine.work / "mailer.pem").chmod(0o600)
    names: dict[str, object] = {}
    programs = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(programs) == 4
    for program in programs:
        exec(compile(program.replace(ADDRESS, service.url), "docs/client.md", "exec"), names)


def test_the_setting_is_one() -> None:
    (found,) = re.findall(r"^```toml as remote.toml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    msgspec.convert(tomllib.loads(found)["remote"], Remote)
    named = re.findall(
        r"^\| `(\w+)` \|", PAGE.partition("## One setting")[2].partition("From then on")[0], re.MULTILINE
    )
    assert tuple(named) == Remote.__struct_fields__


def test_the_table_of_verbs() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*?) ?\| (.*) \|$", PAGE.partition("## On the wire")[2], re.MULTILINE)
    assert [verb for verb, _, _ in rows] == list(FORMS)
    for verb, takes, gives in rows:
        body, answer = FORMS[verb]
        assert (
            re.findall(r"`(\w+)`(?! \()", takes)
            == [name for name in body.__struct_fields__ if name not in (*Of.__struct_fields__, "request")]
            or verb == "decide"
        ), verb
        assert set(re.findall(r"`(\w+)`", gives)) <= set(answer.__struct_fields__), verb

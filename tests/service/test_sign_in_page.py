"""docs/sign-in.md: its settings are read, and what it says of the log is what the service writes."""

from __future__ import annotations

import inspect
import re
import tomllib
from pathlib import Path
from typing import get_args

import msgspec

from vigil_lang.gate import people
from vigil_lang.gate.membership import How
from vigil_lang.gate.settings import Settings
from vigil_lang.service.auth import agents, attempts, authentication, routes

PAGE = (Path(__file__).parents[2] / "docs" / "sign-in.md").read_text("utf-8")


def test_the_settings_of_the_page_are_settings() -> None:
    found = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert len(found) == 3
    for text in found:
        msgspec.convert(tomllib.loads(text.replace('"ed25519:…"', f'"ed25519:{"A" * 43}"')), Settings)


def test_the_kinds_of_entries_are_all_there() -> None:
    table = PAGE.split("## What is in the log")[1].split("\n## ")[0]
    assert {*people.KINDS, "access_refused"} == set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE))
    changes = set(re.findall(r'"(\w+)"', "".join(re.findall(r"case (\".*)", inspect.getsource(people.changed)))))
    assert changes - {"joined"} <= set(re.findall(r"`(\w+)`", table))
    assert {*get_args(How)} <= set(re.findall(r"`(\w+)`", table))


def test_the_roles_and_numbers_are_those_of_the_code() -> None:
    assert re.findall(r"^\| `(viewer|approver|administrator)`", PAGE, re.MULTILINE) == list(people.ROLES)
    assert f"has {attempts.ATTEMPTS} attempts a minute" in PAGE
    assert f"at most {attempts.MOST_ENTRIES} entries" in PAGE
    assert f"within {routes.RECENT // 60} minutes of signing in" in PAGE
    assert f"more than {agents.WINDOW} seconds away" in PAGE
    assert authentication.AGENT_SECONDS == 3600
    assert f"`{authentication.SECURE_COOKIE}`" in PAGE

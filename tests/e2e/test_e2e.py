"""Cases on the real hosts: all of them with `VIGIL_E2E=1` (`make e2e`), else one of each kind on Claude Code, where it
is installed."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.e2e import install_hosts, page
from tests.e2e.host_cases import CASES
from tests.e2e.hosts import HOSTS
from tests.e2e.stage import staged

if TYPE_CHECKING:
    from pathlib import Path

ALL = bool(os.environ.get("VIGIL_E2E"))
ONE_OF_EACH = (
    "allowed", "blocked", "held_confirmed", "guard_failed", "sub_agent", "hook_crashes", "state_damaged",
    "owed_and_never_met",
)  # fmt: skip
"""A pass, a block, a hold, what a hook says of the past, of an agent below, at a fault, and at the end of a run."""


@pytest.mark.parametrize("name", CASES if ALL else ONE_OF_EACH)
@pytest.mark.parametrize("host", HOSTS if ALL else ["claude"])
def test_the_host_does_what_the_gate_says(host: str, name: str, tmp_path: Path) -> None:
    case = CASES[name]
    try:
        install_hosts.find(HOSTS[host].program)
    except install_hosts.Unavailable as error:
        pytest.skip(str(error))
    if host in case.without:
        page.record(host, name, "cannot", case.without[host])
        pytest.skip(case.without[host])
    page.record(host, name, "fails", "it did not end")
    with staged(host, tmp_path) as stage:
        try:
            case.play(stage)
        except BaseException as error:
            page.record(host, name, "fails", f"{type(error).__name__}: {error}"[:500])
            raise
    page.record(host, name, "holds")


def test_the_page_is_what_the_last_run_found() -> None:
    assert page.FILE.read_text(encoding="utf-8") == page.written(json.loads(page.RESULTS.read_text(encoding="utf-8")))


def test_the_last_run_played_all_cases_on_the_versions_that_are_pinned() -> None:
    last = json.loads(page.RESULTS.read_text(encoding="utf-8"))
    assert {(case["name"], case["says"]) for case in last["cases"]} == {(c.name, c.says) for c in CASES.values()}
    for name, host in last["hosts"].items():
        assert host["version"] == install_hosts.KNOWN[HOSTS[name].program].version
    assert set(last["hosts"]) == set(HOSTS)

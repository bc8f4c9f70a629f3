"""docs/service.md: its program runs against a service, and it names every address, setting and metric."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from vigil_lang.service.metrics import Metrics

if TYPE_CHECKING:
    from service_support import Served

FILE = Path(__file__).parents[2] / "docs" / "service.md"
PAGE = FILE.read_text(encoding="utf-8")


def test_the_program_runs(served: Served) -> None:
    program = "\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
    given = {"data": served.data, "control": served.control, "token": served.token, "approve": served.approve}
    exec(compile(program, str(FILE), "exec"), given)  # the page's own program


def test_every_address_is_there() -> None:
    from vigil_lang.service import (
        access_requests,
        authzen,
        holds_api,
        log_api,
        metrics_api,
        revocations,
        runs_api,
        signals,
    )

    modules = (access_requests, authzen, holds_api, log_api, metrics_api, revocations, runs_api, signals)
    paths = {
        path
        for module in modules
        for path in re.findall(r'"(/(?:v1|access|metrics)[\w/-]*)"', Path(module.__file__ or "").read_text("utf-8"))
    }
    assert len(paths) > 8
    assert [path for path in sorted(paths) if path not in PAGE] == []


def test_every_metric_is_there() -> None:
    names = {sample.name for metric in Metrics().registry.collect() for sample in metric.samples}
    names = {re.sub(r"_(bucket|sum|count|created)$", "", name) for name in names}
    names -= {"vigil_refused", "vigil_decisions", "vigil_faults", "vigil_late", "vigil_queue_full"}
    assert [name for name in sorted(names) if f"`{name}`" not in PAGE] == []

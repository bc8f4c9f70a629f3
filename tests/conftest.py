"""What all tests share: what is measured for coverage, which doubles the time that tests take.

Each line must be reached by a test that says what it does; what only a generated case reaches does not count. Tests of
the language server look at it from outside, through its messages, and are not measured either.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SERVER = Path(__file__).parent / "lsp"
MEASURED = "COVERAGE_PROCESS_CONFIG"
"""What tells processes that tests start to be measured, too."""


def pytest_configure() -> None:
    """Interrupts reach the processes that tests start, also where this one runs in the background of a shell."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """Mark the tests that are not measured."""
    for item in items:
        if item.get_closest_marker("hypothesis") or SERVER in item.path.parents:
            item.add_marker(pytest.mark.no_cover)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Workers are measured by the plugin alone, which can pause, and not besides as processes that were started."""
    os.environ.pop(MEASURED, None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Keep the measurement from the processes of tests that are not measured, those of their fixtures included."""
    kept = os.environ.pop(MEASURED, None) if item.get_closest_marker("no_cover") else None
    try:
        return (yield)
    finally:
        if kept is not None:
            os.environ[MEASURED] = kept

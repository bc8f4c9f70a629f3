"""The choice among the formats."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from vigil_lang.report.content import Report

FORMATS = ("sarif", "github", "gitlab", "junit", "rdjson")


def write(report: Report, format: str) -> str:  # noqa: A002 - the option's name
    """The report in one of `FORMATS`, ending in a line break unless it is empty."""
    render: Callable[[Report], str] = import_module(f"vigil_lang.report.{format}").render
    return render(report)

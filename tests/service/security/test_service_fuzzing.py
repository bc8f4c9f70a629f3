"""Both addresses under schemathesis: no request makes an error of the service, and answers are as documented."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from security_support import Site

PROGRAM = Path(sys.executable).with_name("schemathesis")
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,unsupported_method,negative_data_rejection"
)

SETTINGS = """[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "421", "428", "429"]
"""
"""What refuses a body that is not as documented: one may be too large as well."""

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="schemathesis is not installed")


def fuzzed(site: Site, folder: Path, address: str, examples: int, seconds: int) -> int:
    """How many requests were made; each of an operation and of its limits, the same in every run."""
    (folder / "schemathesis.toml").write_text(SETTINGS, encoding="utf-8")
    command = [
        str(PROGRAM), "run", f"{address}/openapi.json", "-H", f"Authorization: Bearer {site.token}", "--no-color",
        "--phases", "coverage,fuzzing", "-n", str(examples), "--generation-deterministic",
        "--checks", CHECKS, "--continue-on-failure", "--request-timeout", "20", "--warnings", "off",
        "--exclude-path", "/v1/log/events",  # it does not end
        "--exclude-path", "/sign-out", "--suppress-health-check", "all",
    ]  # fmt: skip
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False)
    count = re.search(r"([\d,]+) generated", found.stdout)
    shown = "\n".join(line[:400] for line in found.stdout.splitlines())  # a body may have a megabyte
    assert found.returncode == 0, shown[-8000:] + found.stderr[-2000:]
    assert count, found.stdout
    return int(count[1].replace(",", ""))


@pytest.mark.parametrize("address", ["data", "control"])
def test_some_hundred_requests(site: Site, tmp_path: Path, address: str) -> None:
    assert fuzzed(site, tmp_path, getattr(site, address), 1, 120) >= 300


@pytest.mark.skipif("VIGIL_FUZZ" not in os.environ, reason="ten thousand requests take minutes: make fuzz")
def test_ten_thousand_requests(site: Site, tmp_path: Path) -> None:
    made = sum(fuzzed(site, tmp_path, address, 130, 1200) for address in (site.data, site.control))
    assert made >= 10_000

"""Files held against the schemas their readers publish, as check-jsonschema ships them: nothing is downloaded."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def assert_valid(path: Path, schema: str) -> None:
    """The file is valid by a schema that check-jsonschema has built in."""
    options = ["--data-transform", "gitlab-ci"] if schema == "vendor.gitlab-ci" else []
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *options, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr

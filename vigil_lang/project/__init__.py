"""What a project sets once for all verbs: `vigil.toml`, or `[tool.vigil]` in pyproject.toml."""

from vigil_lang.project.configuration import Loaded, load
from vigil_lang.project.settings import EFFORTS, FAIL_LEVELS, Draft, Effort, Fmt, Lint, Settings, Test, Verify

__all__ = ["EFFORTS", "FAIL_LEVELS", "Draft", "Effort", "Fmt", "Lint", "Loaded", "Settings", "Test", "Verify", "load"]

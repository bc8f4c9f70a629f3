"""What a project sets once for all verbs: `vigil.toml`, or `[tool.vigil]` in pyproject.toml."""

from vigil_lang.project.configuration import Loaded, load
from vigil_lang.project.settings import Draft, Fmt, Lint, Settings, Test, Verify

__all__ = ["Draft", "Fmt", "Lint", "Loaded", "Settings", "Test", "Verify", "load"]

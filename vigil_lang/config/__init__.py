"""What a project sets once for all verbs: `vigil.toml`, or `[tool.vigil]` in pyproject.toml."""

from vigil_lang.config.load import Loaded, load
from vigil_lang.config.settings import Draft, Fmt, Lint, Settings, Test, Verify

__all__ = ["Draft", "Fmt", "Lint", "Loaded", "Settings", "Test", "Verify", "load"]

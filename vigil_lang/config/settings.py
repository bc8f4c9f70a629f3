"""The settings, typed. `table.py` says what each is called in a file and what it means."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from vigil_lang.config.globs import matches
from vigil_lang.config.select import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vigil_lang.diagnostics import Severity
    from vigil_lang.syntax.leaves import Spelling

FailLevel: TypeAlias = Literal["error", "warning", "info", "never"]
Effort: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]


@dataclass(frozen=True, slots=True)
class Lint:
    """`[lint]`. `benign_threshold` is a share from 0 to 1; keys of `severity` are codes or prefixes of codes."""

    select: tuple[str, ...] = DEFAULT
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    severity: Mapping[str, Severity] = field(default_factory=dict)
    baseline: str | None = None
    inline_ignores: bool = True
    benign: tuple[str, ...] = ()
    benign_threshold: float = 0.0
    obligations: bool = False


@dataclass(frozen=True, slots=True)
class Verify:
    """`[verify]`. The command line can ask for either as well, and take neither back."""

    strict: bool = False
    fail_on_vacuous: bool = False


@dataclass(frozen=True, slots=True)
class Test:
    """`[test]`. `fail_under` is in percent."""

    fail_under: float = 0.0
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fmt:
    """`[fmt]`."""

    spelling: Spelling = "keep"


@dataclass(frozen=True, slots=True)
class Draft:
    """`[draft]`. `max_cost` is in USD, prices are so per million tokens, `timeout` is in seconds.

    There is no address in it: a configuration that comes with a document could send the user's key anywhere.
    """

    model: str | None = None
    effort: Effort | None = None
    max_tokens: int = 16_000
    rounds: int = 2
    max_cost: float | None = None
    timeout: float = 600.0
    retries: int = 4
    stream: bool = True
    input_price: float | None = None
    output_price: float | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a project.

    Paths are as seen from where loading started. Globs (`exclude` and those of `per_file_ignores`) are relative to
    `folder`, which holds the configuration: `relative` and `excludes` compare.
    """

    runs: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    params: Mapping[str, object] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    fail_level: FailLevel = "warning"
    lint: Lint = Lint()
    verify: Verify = Verify()
    test: Test = Test()
    fmt: Fmt = Fmt()
    draft: Draft = Draft()
    folder: Path = Path()

    def relative(self, path: str) -> str:
        """A file's path as the globs of the configuration speak of it: from its folder, with forward slashes."""
        try:
            found = os.path.relpath(path, self.folder)
        except ValueError:  # another drive
            found = path
        return found.replace("\\", "/") if os.sep == "\\" else found

    def excludes(self, path: str) -> bool:
        """Whether a file was excluded; one that a call names outright is the caller's to decide on."""
        if not self.exclude:
            return False
        relative = self.relative(path)
        return any(matches(relative, pattern) for pattern in self.exclude)

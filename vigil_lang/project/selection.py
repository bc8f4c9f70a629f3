"""Which findings count, by code."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import field
from msgspec.structs import replace

from vigil_lang.base.structs import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vigil_lang.diagnostics import Diagnostic, Severity

ALL = "ALL"
DEFAULT = ("VGL0", "VGL1", "VGL2", "VGL3", "VGL4", "VGL6", "VGL7", "VGL9")
INVENTORY = "VGL501"
"""Says what a policy uses, not what is wrong with it: part of `ALL` for nobody."""
ALWAYS = frozenset({"VGL001", "VGL002", "VGL003", "VGL902"})
"""What keeps a file from being judged at all; nothing switches that off."""


class Selection(Frozen, frozen=True):
    """Codes and prefixes of codes (`VGL3`), `ALL` for every one. Of two that fit a code the longer decides.

    `per_file` maps globs over a file's path, as seen from `folder`, to what is ignored there.
    """

    select: tuple[str, ...] = DEFAULT
    ignore: tuple[str, ...] = ()
    per_file: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    severity: Mapping[str, Severity] = field(default_factory=dict)
    folder: str = "."

    def counts(self, code: str) -> bool:
        """Whether findings with a code are reported."""
        return code in ALWAYS or _fit(code, self.select) > _fit(code, self.ignore)

    def applied(self, findings: Iterable[Diagnostic], path: str) -> list[Diagnostic]:
        """The findings that count in a file, each with the severity asked for."""
        away = self._ignored_in(path) if self.per_file and path else ()
        kept = (f for f in findings if self.counts(f.code) and (f.code in ALWAYS or not _fit(f.code, away)))
        return [self._levelled(f) for f in kept]

    def _ignored_in(self, path: str) -> tuple[str, ...]:
        from vigil_lang.base.globs import matches, seen_from

        relative = seen_from(self.folder, path)
        return tuple(code for pattern, codes in self.per_file.items() if matches(relative, pattern) for code in codes)

    def _levelled(self, finding: Diagnostic) -> Diagnostic:
        if not self.severity:
            return finding
        fitting = [prefix for prefix in self.severity if _fit(finding.code, (prefix,))]
        if not fitting:
            return finding
        level = self.severity[max(fitting, key=len)]
        return finding if level == finding.severity else replace(finding, severity=level)


@lru_cache(maxsize=1024)
def _fit(code: str, prefixes: tuple[str, ...]) -> int:
    """The length of the longest prefix of a code, 0 where there is none; `ALL` is the shortest."""
    found = (_length(code, prefix) for prefix in prefixes)
    return max(found, default=0)


def _length(code: str, prefix: str) -> int:
    if prefix == ALL:
        return 0 if code == INVENTORY else 1
    return len(prefix) if code.startswith(prefix) else 0


def is_selector(text: str) -> bool:
    """Whether a text is a code, a prefix of one, or `ALL`."""
    from vigil_lang.diagnostics import CODES

    return text == ALL or (text.startswith("VGL") and any(code.startswith(text) for code in CODES))

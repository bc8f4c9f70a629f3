"""Settings from the data of a configuration file; whatever is wrong with it is a finding at its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vigil_lang.config.settings import Draft, Fmt, Lint, Settings, Test, Verify
from vigil_lang.config.table import KEYS, SECTIONS, Key
from vigil_lang.config.values import Values
from vigil_lang.diagnostics import Diagnostic, Edit, Fix, nearest
from vigil_lang.diagnostics.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from vigil_lang.config.positions import Place
    from vigil_lang.diagnostics import Source, Span

MAX_FINDINGS = 50
_SHOWN = 60


def read_settings(
    data: dict[str, Any], place: Place, source: Source, folder: Path, base: str
) -> tuple[Settings, list[Diagnostic]]:
    """The settings that are valid, the others as if they were not set, and the findings in order.

    `folder` holds the file; `base` is its path as paths are shown, with a slash at the end, or empty.
    """
    reader = _Reader(source, Values(source, folder, base))
    found = {section: reader.section(section, data, place) for section in ("", *SECTIONS)}
    top = found[""]
    settings = Settings(
        **top,
        lint=Lint(**found["lint"]),
        verify=Verify(**found["verify"]),
        test=Test(**found["test"]),
        fmt=Fmt(**found["fmt"]),
        draft=Draft(**found["draft"]),
        folder=folder,
    )
    findings = sorted([*reader.findings, *reader.values.findings], key=lambda f: f.span.start)
    return settings, _some(findings)


def _some(findings: list[Diagnostic]) -> list[Diagnostic]:
    """The first of very many findings, errors before warnings, and how many there are beside them."""
    if len(findings) <= MAX_FINDINGS:
        return findings
    kept = sorted(findings, key=lambda f: f.severity != "error")[:MAX_FINDINGS]
    more = Diagnostic.of(
        "VGL006", f"{len(findings) - MAX_FINDINGS:,} more findings are not shown", findings[0].source, kept[-1].span
    )
    return [*sorted(kept, key=lambda f: f.span.start), more]


@dataclass(slots=True)
class _Reader:
    source: Source
    values: Values
    findings: list[Diagnostic] = field(default_factory=list)

    def section(self, section: str, data: dict[str, Any], place: Place) -> dict[str, Any]:
        """The valid settings of a section, by the names of their attributes."""
        if section:
            inner = data.get(section, {})
            place = place.members.get(section, place)
            if not isinstance(inner, dict):
                message = f"`{section}` is a table: write `[{section}]`"
                self.findings.append(Diagnostic.of("VGL005", message, self.source, place.key))
                return {}
            data = inner
        keys = {key.parts[1]: key for key in KEYS if key.parts[0] == section}
        read: dict[str, Any] = {}
        for name, value in data.items():
            at = place.members.get(name, place)
            if name in keys:
                taken = self.values.read(keys[name], value, at)
                if taken is not None:
                    read[name.replace("-", "_")] = taken
            elif section or name not in SECTIONS:
                self._unknown(section, name, at.key, keys)
        return read

    def _unknown(self, section: str, name: str, span: Span, keys: dict[str, Key]) -> None:
        if len(self.findings) > MAX_FINDINGS:  # only how many there are will be told
            self.findings.append(Diagnostic.of("VGL006", "", self.source, span))
            return
        shown = visible(name[:_SHOWN]) + ("…" if len(name) > _SHOWN else "")
        full = f"{section}.{shown}" if section else shown
        help_text, fix = self._meant(section, name, span, keys)
        message = f"there is no setting `{full}`"
        self.findings.append(Diagnostic.of("VGL006", message, self.source, span, help=help_text, fix=fix))

    def _meant(self, section: str, name: str, span: Span, keys: dict[str, Key]) -> tuple[str, Fix | None]:
        """What to do about an unknown key, and the fix where that is another spelling."""
        elsewhere = [key.name for key in KEYS if key.parts[1] == name]
        if not section and name == "tool":
            return "in a file of its own the settings stand at the top: `[lint]`, not `[tool.vigil.lint]`", None
        if section == "draft" and name in _BY_ENVIRONMENT:
            return (
                "no configuration says whom to ask and with which key: ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY do",
                None,
            )
        if elsewhere:
            return f"`{name}` belongs {_place(elsewhere[0])}", None
        sections = [] if section else SECTIONS
        if near := nearest(name[: 2 * _SHOWN], [*keys, *sections], 1):
            # As a bare key, whatever the quotes around the wrong one were.
            return f"did you mean `{near[0]}`?", Fix(f"write `{near[0]}`", (Edit(span, near[0]),))
        if far := nearest(name[: 2 * _SHOWN], (key.parts[1] for key in KEYS), 1):
            return f"did you mean `{next(k.name for k in KEYS if k.parts[1] == far[0])}`?", None
        return f"there is {_list([*keys, *sections])}", None


# A configuration may have come with the document, and would send a key to wherever it likes.
_BY_ENVIRONMENT = frozenset({"base-url", "base_url", "url", "api-key", "api_key", "key"})


def _place(name: str) -> str:
    section = name.rpartition(".")[0]
    return f"in `[{section}]`" if section else "at the top of the file, before any table"


def _list(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)

"""The one list of settings, from which reading, the JSON Schema and docs/configuration.md are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal[
    "paths", "own path", "globs", "codes", "choice", "share", "percent", "bool", "params", "codes by glob",
    "levels by code",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Key:
    """One setting. `name` is dotted from the top of the file; `example` is TOML; `choices` are those of a `choice`."""

    name: str
    kind: Kind
    doc: str
    example: str
    choices: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, str]:
        """The section, empty at the top, and the key within it."""
        section, _, key = self.name.rpartition(".")
        return section, key


LEVELS = ("error", "warning", "info")

SECTIONS = {
    "lint": "What `vigil lint` looks for.",
    "test": "How `vigil test` runs.",
    "fmt": "How `vigil fmt` writes.",
}

KEYS = (
    Key(
        "runs",
        "paths",
        "Recorded runs that `check` and `lint` hold policies against: files, folders or globs.",
        '["runs/"]',
    ),
    Key(
        "signatures",
        "paths",
        "Tool definitions or saved signatures that say which actions and arguments there are.",
        '["tools.json"]',
    ),
    Key(
        "params",
        "params",
        "Values for `param` declarations; `--params` and `--set` win over them. Tests set their own.",
        "{max_rate = 6}",
    ),
    Key("exclude", "globs", "Files and folders that are passed over when a folder is searched.", '["vendor/"]'),
    Key(
        "fail-level",
        "choice",
        "The least severe finding that makes the exit status of `check` and `lint` 1.",
        '"error"',
        (*LEVELS, "never"),
    ),
    Key("lint.select", "codes", "The codes to look for, instead of the default ones.", '["ALL"]'),
    Key("lint.extend-select", "codes", "Codes to look for beside those of `select`.", '["VGL8"]'),
    Key("lint.ignore", "codes", "Codes to leave out; the longer of two prefixes decides.", '["VGL319"]'),
    Key("lint.per-file-ignores", "codes by glob", "Codes to leave out in some files.", '{"drafts/" = ["VGL7"]}'),
    Key("lint.severity", "levels by code", "How severe findings are, by code or prefix.", '{VGL301 = "error"}'),
    Key(
        "lint.baseline",
        "own path",
        "A file with findings that are let pass; it lies below the folder of the configuration.",
        '".vigil-baseline.json"',
    ),
    Key("lint.inline-ignores", "bool", "Whether `// vigil: ignore[CODE]` comments count.", "false"),
    Key("lint.benign", "paths", "Runs in which nothing is wrong; statements that fire on them are found.", '["good/"]'),
    Key(
        "lint.benign-threshold",
        "share",
        "The share of the benign runs, from 0 to 1, that a statement may fire on.",
        "0.05",
    ),
    Key("lint.obligations", "bool", "Whether to find obligations of cited documents that no statement cites.", "true"),
    Key("test.paths", "paths", "Where to look for `*_test.vgl` when no path is given.", '["policies/"]'),
    Key("test.fail-under", "percent", "The coverage, in percent, below which `vigil test` fails.", "90"),
    Key(
        "fmt.spelling",
        "choice",
        "How operators are spelt: `ascii` (`earlier`), `unicode` (`◇⁻`), or `keep` as they are.",
        '"ascii"',
        ("ascii", "unicode", "keep"),
    ),
)

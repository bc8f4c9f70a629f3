"""The one list of settings, from which reading, the JSON Schema and docs/configuration.md are made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal[
    "paths", "path", "globs", "codes", "choice", "share", "percent", "bool", "params", "codes by glob",
    "levels by code", "word", "whole", "amount",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Key:
    """One setting. `name` is dotted from the top of the file; `example` is TOML; `choices` are those of a `choice`.

    `least` and `most` bound a `whole` number or an `amount`, both included.
    """

    name: str
    kind: Kind
    doc: str
    example: str
    choices: tuple[str, ...] = ()
    least: float = 0
    most: float = 1_000_000

    @property
    def parts(self) -> tuple[str, str]:
        """The section, empty at the top, and the key within it."""
        section, _, key = self.name.rpartition(".")
        return section, key


WORD = re.compile(r"[!-~]{1,200}")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
LEVELS = ("error", "warning", "info")

SECTIONS = {
    "lint": "What `vigil lint` looks for.",
    "verify": "What makes `vigil verify` and `vigil run` fail although no statement is violated.",
    "test": "How `vigil test` runs.",
    "fmt": "How `vigil fmt` writes.",
    "draft": "How `vigil draft` and `vigil run --spec` ask a model. Key and address are set by the environment alone.",
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
        "path",
        "A file with findings that are let pass.",
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
    Key(
        "verify.strict",
        "bool",
        "Whether a run that was not wholly seen or understood makes the exit status 1.",
        "true",
    ),
    Key(
        "verify.fail-on-vacuous",
        "bool",
        "Whether a run that puts no statement to the test makes the exit status 1.",
        "true",
    ),
    Key("test.paths", "paths", "Where to look for `*_test.vgl` when no path is given.", '["policies/"]'),
    Key("test.fail-under", "percent", "The coverage, in percent, below which `vigil test` fails.", "90"),
    Key(
        "fmt.spelling",
        "choice",
        "How operators are spelt: `ascii` (`earlier`), `unicode` (`◇⁻`), or `keep` as they are.",
        '"ascii"',
        ("ascii", "unicode", "keep"),
    ),
    Key("draft.model", "word", "The model that drafts.", '"claude-sonnet-5-5"'),
    Key("draft.effort", "choice", "How much effort the model makes; its own default if unset.", '"high"', EFFORTS),
    Key("draft.max-tokens", "whole", "The most tokens of one reply.", "32000", least=1024, most=128_000),
    Key("draft.rounds", "whole", "How often what the checks find goes back to the model.", "3", most=10),
    Key("draft.max-cost", "amount", "USD that a draft may cost at most.", "0.5"),
    Key("draft.timeout", "amount", "Seconds that may pass without a word of a reply.", "120", least=0.1, most=3600),
    Key("draft.retries", "whole", "How often a request that fails is made again.", "2", most=20),
    Key("draft.stream", "bool", "Whether a reply is received as it is written.", "false"),
    Key("draft.input-price", "amount", "USD per million input tokens, for a model of unknown price.", "2.5"),
    Key("draft.output-price", "amount", "USD per million output tokens, likewise.", "12.5"),
)

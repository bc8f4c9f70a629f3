"""Every setting of a project, typed: the one list that validation, JSON Schema and docs/configuration.md are made from.

The docstring of a table is what the schema and the page say of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from msgspec import Meta, Struct, field
from msgspec.structs import asdict

from vigil_lang.base.globs import matches, seen_from
from vigil_lang.diagnostics import Severity
from vigil_lang.diagnostics.codes import FailLevel
from vigil_lang.project.selection import DEFAULT, Selection

if TYPE_CHECKING:
    from vigil_lang.abstraction.tools import Tool as KnownTool

from vigil_lang.project.drafting import Effort, Taken

# `noun` is what findings call a value, `check` names what `validate` looks at beside its type.
Code: TypeAlias = Annotated[
    str, Meta(extra={"noun": "code", "check": "code"}, extra_json_schema={"$ref": "#/definitions/code"})
]
PathOrGlob: TypeAlias = Annotated[
    str, Meta(extra={"noun": "path", "check": "path"}, extra_json_schema={"minLength": 1})
]
Glob: TypeAlias = Annotated[str, Meta(extra={"noun": "glob", "check": "glob"}, extra_json_schema={"minLength": 1})]
Word: TypeAlias = Annotated[str, Meta(pattern=r"^[!-~]{1,200}$(?!\n)", extra={"noun": "name without spaces"})]
Kind: TypeAlias = Annotated[
    str,
    Meta(pattern=r"^[a-z][a-z0-9_]{0,40}(\.[a-z0-9_]{1,40}){1,3}$(?!\n)", extra={"noun": "kind", "check": "kind"}),
]
Role: TypeAlias = Annotated[
    str,
    Meta(pattern=r"^(?!(unresolved|inferred)$)[a-z][a-z0-9_]{0,60}$(?!\n)", extra={"noun": "role", "check": "role"}),
]
Argument: TypeAlias = Annotated[
    object,
    Meta(
        extra={"noun": "argument", "described": "the name of an argument, or a list of names", "check": "argument"},
        extra_json_schema={
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
            ]
        },
    ),
]
Level: TypeAlias = Annotated[Severity, Meta(extra={"noun": "level"})]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1, extra={"noun": "share"})]
Price: TypeAlias = Annotated[float, Meta(ge=0, le=1_000_000)]
OwnTaken: TypeAlias = Annotated[Taken, Meta(extra={})]
OwnEffort: TypeAlias = Annotated[Effort, Meta(extra={})]
"""`Effort | None` would be the very type of any library that lists the same values, in that one's order."""
_SCALAR = {"type": ["string", "number", "boolean"]}
Value: TypeAlias = Annotated[
    object,
    Meta(
        extra={
            "noun": "value",
            "described": "a text, a number, a truth value or a list of these",
            "check": "param",
        },
        extra_json_schema={"anyOf": [_SCALAR, {"type": "array", "items": _SCALAR}]},
    ),
]


def _doc(description: str, example: object, *, ge: float | None = None, le: float | None = None) -> Meta:
    return Meta(description=description, examples=[example], ge=ge, le=le)


class Table(Struct, frozen=True, kw_only=True, rename="kebab", forbid_unknown_fields=True):
    """A table of the configuration; a key is the name of the attribute with `-` for `_`."""


class Lint(Table, frozen=True):
    """What `vigil lint` looks for."""

    select: Annotated[tuple[Code, ...], _doc("The codes to look for, instead of the default ones.", ["ALL"])] = DEFAULT
    extend_select: Annotated[tuple[Code, ...], _doc("Codes to look for beside those of `select`.", ["VGL8"])] = ()
    ignore: Annotated[
        tuple[Code, ...], _doc("Codes to leave out; the longer of two prefixes decides.", ["VGL319"])
    ] = ()
    per_file_ignores: Annotated[
        Mapping[Glob, tuple[Code, ...]], _doc("Codes to leave out in some files.", {"drafts/": ["VGL7"]})
    ] = field(default_factory=dict)
    severity: Annotated[
        Mapping[Code, Level], _doc("How severe findings are, by code or prefix.", {"VGL301": "error"})
    ] = field(default_factory=dict)
    baseline: Annotated[
        PathOrGlob | None, _doc("A file with known findings, which are not reported.", ".vigil-baseline.json")
    ] = None
    inline_ignores: Annotated[bool, _doc("Whether `// vigil: ignore[CODE]` comments count.", False)] = True
    benign: Annotated[
        tuple[PathOrGlob, ...],
        _doc("Runs in which nothing is wrong: a statement that they violate is a finding.", ["good/"]),
    ] = ()
    benign_threshold: Annotated[
        Share, _doc("The share of the benign runs, from 0 to 1, that may violate a statement.", 0.05)
    ] = 0.0
    obligations: Annotated[
        bool, _doc("Whether to find obligations of cited documents that no statement cites.", True)
    ] = False


class Verify(Table, frozen=True):
    """What makes `vigil verify` and `vigil run` fail although no statement is violated."""

    strict: Annotated[
        bool, _doc("Whether a run that was not wholly seen or understood makes the exit status 1.", True)
    ] = False
    fail_on_vacuous: Annotated[
        bool, _doc("Whether a run that puts no statement to the test makes the exit status 1.", True)
    ] = False


class Test(Table, frozen=True):
    """How `vigil test` runs."""

    paths: Annotated[
        tuple[PathOrGlob, ...], _doc("Where to look for `*_test.vgl` when no path is given.", ["policies/"])
    ] = ()
    fail_under: Annotated[
        float, _doc("The coverage, in percent, below which `vigil test` fails.", 90, ge=0, le=100)
    ] = 0.0


class Fmt(Table, frozen=True):
    """How `vigil fmt` writes."""

    spelling: Annotated[
        Literal["ascii", "unicode", "keep"],
        _doc("How operators are spelt: `ascii` (`earlier`), `unicode` (`◇⁻`), or `keep` as they are.", "ascii"),
    ] = "keep"


class Draft(Table, frozen=True):
    """How `vigil draft` and `vigil run --spec` ask a model. Key and address are set by the environment alone."""

    take: Annotated[
        tuple[OwnTaken, ...],
        _doc("What is drafted beside obligations, by the reason that `vigil draft` lists it under.", []),
    ] = ("step", "language")
    model: Annotated[Word | None, _doc("The model that drafts.", "claude-sonnet-5-5")] = None
    effort: Annotated[OwnEffort | None, _doc("How much effort the model makes; its own default if unset.", "high")] = (
        None
    )
    max_tokens: Annotated[int, _doc("The most tokens of one reply.", 32_000, ge=1024, le=128_000)] = 16_000
    rounds: Annotated[int, _doc("How often what the checks find goes back to the model.", 3, ge=0, le=10)] = 2
    max_cost: Annotated[Price | None, _doc("USD that a draft may cost at most.", 0.5)] = None
    timeout: Annotated[float, _doc("Seconds to wait for the next part of a reply.", 120, ge=0.1, le=3600)] = 600.0
    retries: Annotated[int, _doc("How often a request that fails is made again.", 2, ge=0, le=20)] = 4
    stream: Annotated[bool, _doc("Whether a reply is received as it is written.", False)] = True
    input_price: Annotated[Price | None, _doc("USD per million input tokens of a model of unknown price.", 2.5)] = None
    output_price: Annotated[Price | None, _doc("USD per million output tokens, likewise.", 12.5)] = None


class Hook(Table, frozen=True):
    """What agents in the project are held to by `vigil hook`, beside what its registration names."""

    policies: Annotated[
        tuple[PathOrGlob, ...],
        _doc("Policies of the project: they may add rules, and lower none.", ["policies/", "std.guard"]),
    ] = ()


class Tool(Table, frozen=True):
    """What a tool of the project's own is and does with which arguments.

    Of a tool that is shipped only `kinds` and `roles` are taken: they stand beside its own.
    """

    aliases: Annotated[tuple[Word, ...], _doc("Other names of the tool.", ["mcp__ops__run_shell"])] = ()
    kinds: Annotated[tuple[Kind, ...], _doc("What a call is an instance of.", ["db.query", "acme.report"])] = ()
    roles: Annotated[
        Mapping[Role, Argument],
        _doc("The argument, or several the first of which counts, of a role.", {"path": "file"}),
    ] = field(default_factory=dict)
    effects: Annotated[
        Mapping[Role, Kind], _doc("The kind of what is done to the paths of a role.", {"path": "file.delete"})
    ] = field(default_factory=dict)
    shell: Annotated[Argument | None, _doc("The argument that holds a shell's command line.", "command")] = None
    keeps: Annotated[
        Literal["project", "session", "nothing"] | None,
        _doc("What of a shell outlives the call: its directory within the project, all, or nothing.", "session"),
    ] = None
    code: Annotated[
        Mapping[Literal["python", "javascript", "sql"], Argument],
        _doc("The arguments that hold code, by language.", {"sql": "statement"}),
    ] = field(default_factory=dict)
    cwd: Annotated[Argument | None, _doc("The argument that holds the directory the call works in.", "workdir")] = None
    content: Annotated[Argument | None, _doc("The argument with all that the call leaves in its `path`.", "text")] = (
        None
    )
    shows: Annotated[bool, _doc("Whether the output is the text of `path`.", True)] = False
    reads: Annotated[
        Literal["folders"] | None, _doc("`folders` where what lies below its `path` is shown.", "folders")
    ] = None

    @property
    def known(self) -> dict[str, object]:
        """The table as the shipped data have it. What runs something has the kind of what does."""
        code = {language: given for language, given in self.code.items() if language != "sql"}
        roles, kinds = dict(self.roles), list(self.kinds)
        if "sql" in self.code:
            roles.setdefault("query", self.code["sql"])
        runs = (("shell.run", self.shell), ("code.run", code), ("db.query", "sql" in self.code))
        kinds += [kind for kind, given in runs if given and kind not in kinds]
        found = {name: value for name, value in asdict(self).items() if value is not None}
        return {**found, "kinds": kinds, "roles": roles, "code": code}


class Configuration(Table, frozen=True):
    """Settings of Vigil: vigil.toml, or the table tool.vigil of pyproject.toml."""

    runs: Annotated[
        tuple[PathOrGlob, ...],
        _doc("Recorded runs that `check` and `lint` hold policies against: files, folders or globs.", ["runs/"]),
    ] = ()
    signatures: Annotated[
        tuple[PathOrGlob, ...],
        _doc("Tool definitions or saved signatures that say which actions and arguments there are.", ["tools.json"]),
    ] = ()
    params: Annotated[
        Mapping[str, Value],
        _doc(
            "Values for `param` declarations; `--params` and `--set` win over them. Tests set their own.",
            {"max_rate": 6},
        ),
    ] = field(default_factory=dict)
    tools: Annotated[
        Mapping[Word, Annotated[Tool, Meta(extra={"noun": "table"})]],
        _doc(
            "The project's own tools by name: what their calls are, and what is in which argument.",
            {"run_shell": {"shell": "command"}},
        ),
    ] = field(default_factory=dict)
    exclude: Annotated[
        tuple[Glob, ...], _doc("Files and folders that are passed over when a folder is searched.", ["vendor/"])
    ] = ()
    fail_level: Annotated[
        FailLevel, _doc("The least severe finding that makes the exit status of `check` and `lint` 1.", "error")
    ] = "warning"
    lint: Lint = field(default_factory=Lint)
    verify: Verify = field(default_factory=Verify)
    test: Test = field(default_factory=Test)
    fmt: Fmt = field(default_factory=Fmt)
    draft: Draft = field(default_factory=Draft)
    hook: Hook = field(default_factory=Hook)


class Settings(Configuration, frozen=True):
    """All settings of a project, with `folder`, which holds the configuration.

    Paths are as seen from where loading started. Globs (`exclude` and those of `per_file_ignores`) are relative to
    `folder`.
    """

    folder: Path = Path()

    @property
    def known_tools(self) -> dict[str, KnownTool]:
        """The project's own tools, as runs are abstracted by them."""
        if not self.tools:
            return {}
        from vigil_lang.abstraction.tools import named_tools

        return named_tools({name: tool.known for name, tool in self.tools.items()})

    @property
    def selection(self) -> Selection:
        """Which findings of the linter count."""
        lint = self.lint
        codes = (*lint.select, *lint.extend_select)
        return Selection(codes, lint.ignore, lint.per_file_ignores, lint.severity, str(self.folder))

    def excludes(self, path: str) -> bool:
        """Whether a file was excluded; one that a call names outright is the caller's to decide on."""
        return bool(self.exclude) and any(matches(seen_from(self.folder, path), pattern) for pattern in self.exclude)

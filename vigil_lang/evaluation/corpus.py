"""`CORPUS.toml`: which runs are judged by which policies, and what is true of each. Every setting, typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os.path import dirname, normpath
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_args

from msgspec import Meta, field, structs

from vigil_lang.abstraction.bounded_output import KEPT
from vigil_lang.base import inputs
from vigil_lang.base.files import read_source, real_path
from vigil_lang.diagnostics import Diagnostic, InputError
from vigil_lang.project.paths import parted
from vigil_lang.project.schema import schema_of
from vigil_lang.project.settings import Table, Value, Word
from vigil_lang.project.toml import MAX_BYTES, read_toml
from vigil_lang.project.validate import Root, validated

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vigil_lang.diagnostics import Source
    from vigil_lang.project.positions import Place

Layout: TypeAlias = Literal["recordings", "agentdojo", "safeagentbench", "tau-bench", "skilllearnbench"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)

VIGIL = "vigil"
"""The system whose verdicts are those of `vigil verify`."""

TAKEN = frozenset({VIGIL, "abstract", "compile", "verify", "end to end"})
"""What no baseline can be called: its rows stand beside these."""

MAX_GROUPS = 1_000

MAX_DRAWS = 1_000_000
"""Groups times resamples: each draw is kept until the end."""

_PATH = {"minLength": 1}
PolicyPath: TypeAlias = Annotated[str, Meta(extra={"noun": "path", "check": "policy"}, extra_json_schema=_PATH)]
DataPath: TypeAlias = Annotated[str, Meta(extra={"noun": "path", "check": "data"}, extra_json_schema=_PATH)]
Name: TypeAlias = Annotated[
    str, Meta(pattern=r"^[^\x00-\x1f\x7f-\x9f]{1,100}$(?!\n)", extra={"noun": "name of at most 100 characters"})
]
Pattern: TypeAlias = Annotated[str, Meta(max_length=1000, extra={"noun": "glob"})]


def _doc(description: str, example: object, *, ge: float | None = None, le: float | None = None) -> Meta:
    return Meta(description=description, examples=[example], ge=ge, le=le)


Policies: TypeAlias = Annotated[
    tuple[PolicyPath, ...],
    _doc("What runs are judged by: files, folders, globs, standard modules.", ["banking.vgl", "std.guard"]),
]
Runs: TypeAlias = Annotated[tuple[DataPath, ...], _doc("The recordings: files, folders or globs.", ["runs/*.jsonl"])]
Labels: TypeAlias = Annotated[
    tuple[DataPath, ...], _doc("Files of JSON Lines that say of runs what is true.", ["labels.jsonl"])
]
LayoutOf: TypeAlias = Annotated[
    Annotated[Layout, Meta(extra={"noun": "layout"})],
    _doc("How the files are to be read: as recordings, or as a benchmark lays out its runs.", "agentdojo"),
]


class Group(Table, frozen=True):
    """Runs that are judged by the same policies, and have a row of their own. What it does not set is the corpus's."""

    name: Annotated[Name, _doc("What the row is called; no two groups have one name.", "banking")]
    policies: Policies | None = None
    runs: Runs | None = None
    labels: Labels | None = None
    layout: LayoutOf | None = None
    where: Annotated[
        Mapping[Word, Pattern],
        _doc("Only the runs whose fields match these globs; a layout says which fields there are.", {"suite": "slack"}),
    ] = field(default_factory=dict)
    where_labels: Annotated[
        Mapping[Word, Pattern],
        _doc("Only the labels whose members match these globs.", {"rule": "glm-basics: *"}),
    ] = field(default_factory=dict)
    statements: Annotated[
        tuple[Annotated[str, Meta(extra={"noun": "name"})], ...],
        _doc("Judge by these statements of the policies alone.", ["recipient"]),
    ] = ()
    params: Annotated[
        Mapping[str, Value], _doc("Values for `param` declarations of the policies.", {"believed": ["read_file"]})
    ] = field(default_factory=dict)


class Baseline(Table, frozen=True):
    """Another program that says of a run whether it is safe. It runs only where `--baselines` is given."""

    name: Annotated[Name, _doc("What its rows are called.", "grep")]
    command: Annotated[
        tuple[Annotated[str, Meta(extra={"noun": "text"})], ...],
        _doc("The program and its arguments, run in the corpus's folder.", ["python3", "judge.py"]),
    ]
    timeout: Annotated[float, _doc("Seconds that it may take for one run.", 10, ge=0.1, le=3600)] = 60.0


class Bootstrap(Table, frozen=True):
    """How intervals are made: runs are drawn anew from those of each group and label, again and again."""

    seed: Annotated[int, _doc("Where the draws begin; one seed gives one result.", 7, ge=0, le=2**53)] = 0
    resamples: Annotated[int, _doc("How often; 0 gives no intervals.", 10_000, ge=0, le=100_000)] = 2_000
    confidence: Annotated[float, _doc("The share of the draws within an interval.", 0.9, ge=0.5, le=0.999)] = 0.95


class Reading(Table, frozen=True):
    """How recordings become events, as the options of `vigil verify` of the same names say it."""

    format: Annotated[Word | None, _doc("The format of the recordings, if it is not recognised.", "claude-code")] = None
    skills: Annotated[
        DataPath | None, _doc("The folder of the skills whose scripts the runs call by path.", "skills")
    ] = None
    inferred: Annotated[bool, _doc("Whether steps that are inferred from scripts are events.", False)] = True
    keep_output: Annotated[int, _doc("How many characters of an output are kept.", 4096, ge=256, le=2**31)] = KEPT
    allow_empty: Annotated[
        bool, _doc("Whether a run without events is judged, and one that was mostly not understood.", True)
    ] = False


class CorpusFile(Table, frozen=True):
    """A corpus of labelled runs for `vigil eval`. What stands at the top counts for every group."""

    name: Annotated[Name | None, _doc("What the tables are called.", "AgentDojo")] = None
    policies: Policies = ()
    runs: Runs = ()
    labels: Labels = ()
    layout: LayoutOf = "recordings"
    group: Annotated[
        tuple[Annotated[Group, Meta(extra={"noun": "table"})], ...],
        Meta(description="The groups; without any all runs are one.", examples=[[{"name": "all"}]]),
    ] = ()
    baseline: Annotated[
        tuple[Annotated[Baseline, Meta(extra={"noun": "table"})], ...],
        Meta(description="Other programs.", examples=[[{"name": "grep", "command": ["./judge"]}]]),
    ] = ()
    bootstrap: Bootstrap = field(default_factory=Bootstrap)
    reading: Reading = field(default_factory=Reading)


@dataclass(frozen=True, slots=True)
class GroupOf:
    """A group with all that counts for it; paths are as seen from where the program stands."""

    name: str
    policies: tuple[str, ...]
    runs: tuple[str, ...]
    labels: tuple[str, ...]
    layout: Layout
    where: Mapping[str, str]
    where_labels: Mapping[str, str]
    statements: tuple[str, ...]
    params: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Corpus:
    """What a corpus file says. `folder` holds the file; baselines run in it."""

    path: str
    name: str
    folder: str
    groups: tuple[GroupOf, ...]
    baselines: tuple[Baseline, ...]
    bootstrap: Bootstrap
    reading: Reading


def corpus_schema() -> dict[str, Any]:
    """The JSON Schema of a corpus file: docs/corpus.schema.json."""
    return schema_of(CorpusFile, "Corpus", {})


def read_corpus(path: str, data: str | None = None) -> Corpus:
    """A corpus from its file. Runs and labels are looked for below `data`, by default beside the file.

    Raises:
        InputError: VGL001 it cannot be read, VGL005 and VGL006 for all that is wrong in it, at its place.
    """
    inputs.note(path)
    source = read_source(path, MAX_BYTES)
    values, place = read_toml(source, "corpus")
    base = f"{dirname(path)}/" if dirname(path) else ""  # noqa: PTH120 - as it was typed
    beside = Root(Path(path).parent, base, "corpus")
    given = replace(beside, elsewhere="`--data FOLDER` says where runs and labels are")
    if data is not None:
        given = Root(Path(data), f"{data.rstrip('/')}/", "data")
    valid, findings = validated(CorpusFile, values, place, source, {"policy": beside, "data": given})
    if findings:  # a misspelt key would leave a default in force, and give figures of something else
        raise InputError([structs.replace(found, severity="error") for found in findings])
    file = CorpusFile(**valid)
    name = file.name or Path(path).stem
    groups = tuple(_resolved(group, file, base) for group in file.group or (Group(name=name),))
    if wrong := [*_at_fault(file, place, source), *_lacking(groups, place, source), *_many(file, place, source)]:
        raise InputError(wrong)
    folder = base or "."
    return Corpus(path, name, folder, groups, file.baseline, file.bootstrap, file.reading)


def _resolved(group: Group, file: CorpusFile, base: str) -> GroupOf:
    def own(name: str) -> Any:
        value = getattr(group, name)
        return getattr(file, name) if value is None else value

    # A standard module is no file: it is named as everywhere, and a path was made of it.
    policies = [p.removeprefix(base) if p.removeprefix(base).startswith("std.") else _short(p) for p in own("policies")]
    return GroupOf(
        group.name,
        tuple(policies),
        tuple(map(_short, own("runs"))),
        tuple(map(_short, own("labels"))),
        own("layout"),
        group.where,
        group.where_labels,
        group.statements,
        group.params,
    )


def _short(path: str) -> str:
    """The path without `..` between other names, where no link makes that another one; `-` is a file of that name."""
    if path == "-":
        return "./-"
    start, rest = parted(path)
    plain = normpath(start)
    if "[" in path or ".." not in start.split("/") or real_path(plain) != real_path(start):
        return path
    return "/".join([plain, *rest])


def _at_fault(file: CorpusFile, place: Place, source: Source) -> Iterator[Diagnostic]:
    """Names that stand twice or are taken, whose rows could not be told apart, and baselines without a program."""
    tables: tuple[tuple[str, Sequence[Group | Baseline]], ...] = (("group", file.group), ("baseline", file.baseline))
    for key, rows in tables:
        seen: set[str] = set()
        for row, at in zip(rows, place.members[key].items if rows else (), strict=True):
            if row.name in seen:
                message = f"two `{key}` tables have the name `{row.name}`"
                yield Diagnostic.of("VGL005", message, source, at.members["name"].value)
            if isinstance(row, Baseline) and not row.command:
                yield Diagnostic.of("VGL005", "`command` names no program", source, at.members["command"].value)
            if isinstance(row, Baseline) and (row.name in TAKEN or row.name.startswith("without ")):
                message = f"`{row.name}` is what figures of the policies are called"
                yield Diagnostic.of("VGL005", message, source, at.members["name"].value)
            seen.add(row.name)


def _many(file: CorpusFile, place: Place, source: Source) -> Iterator[Diagnostic]:
    """More groups, or draws for them, than a file may ask for."""
    groups = len(file.group)
    if groups > MAX_GROUPS:
        yield Diagnostic.of(
            "VGL003", f"{groups:,} groups are more than {MAX_GROUPS:,}", source, place.members["group"].key
        )
    elif file.bootstrap.resamples * groups > MAX_DRAWS:
        asked = f"{file.bootstrap.resamples:,} resamples of {groups:,} groups"
        at = place.members.get("bootstrap", place)
        at = at.members.get("resamples", at)
        yield Diagnostic.of("VGL003", f"{asked} are more than {MAX_DRAWS:,} draws", source, at.value)


def _lacking(groups: tuple[GroupOf, ...], place: Place, source: Source) -> Iterator[Diagnostic]:
    """Groups without runs or policies, at their headers."""
    places = place.members["group"].items if "group" in place.members else [place]
    for group, at in zip(groups, places, strict=True):
        for what in ("policies", "runs"):
            if not getattr(group, what):
                message = f"the group `{group.name}` has no `{what}`, and the corpus has none for all"
                yield Diagnostic.of("VGL005", message, source, at.key)

"""`vigil scan`: what policies say of very many runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import click

from vigil_lang.cli.exit_codes import BAD_INPUT, CLEAN, FINDINGS
from vigil_lang.cli.judging import load_policies, selected
from vigil_lang.cli.options import complete, config_option, fail_level_option, levels_from, run_options, settings_of
from vigil_lang.cli.output import console, output_options, written
from vigil_lang.cli.params import check_settings, params_options, read_params
from vigil_lang.diagnostics.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vigil_lang.corpus.batch import Source
    from vigil_lang.corpus.figures import Figures
    from vigil_lang.corpus.scanning import Engine, Scan
    from vigil_lang.engines.interface import Rule
    from vigil_lang.project.settings import Settings
    from vigil_lang.semantics.lower import Statement
    from vigil_lang.semantics.policy import Policy

_Formats = Literal["human", "json", "csv", "markdown", "html", "parquet"]


@click.command("scan")
@click.argument("paths", metavar="POLICY... RUN...|STORE", nargs=-1, required=True, shell_complete=complete)
@params_options
@click.option("--statement", "names", multiple=True, metavar="NAME", help="Judge by this statement only (repeatable).")
@click.option(
    "--engine",
    type=click.Choice(("polars", "duckdb", "spark", "monitor")),
    default="polars",
    show_default=True,
    help="What works the plans out; monitor judges each run by itself.",
)
@click.option(
    "--by",
    default="day",
    show_default=True,
    metavar="FIELD",
    help="The trend: by day, or by a field of the runs' header (model, agent, …), format, source, name or cwd.",
)
@click.option(
    "--witnesses",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    metavar="N",
    help="How many violated runs of each statement are explained.",
)
@click.option("--explain", is_flag=True, help="Show how each statement would be worked out, and judge nothing.")
@click.option(
    "--sql",
    type=click.Choice(("duckdb", "postgresql", "spark")),
    help="Print the queries in this dialect, and judge nothing.",
)
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Worker processes; by default one a processor.")
@click.option("--memory", metavar="SIZE", help="With --engine duckdb: what it may take before it uses the disk (2GB).")
@click.option(
    "--master", metavar="URL", default="local[*]", show_default=True, help="With --engine spark: the cluster."
)
@click.option("--baseline", metavar="FILE", shell_complete=complete, help="Violations that are known do not count.")
@click.option("--update-baseline", is_flag=True, help="Write all violations to the baseline.")
@run_options
@config_option
@fail_level_option("info", "violation")
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write; standard output by default.")
@output_options("human", "json", "csv", "markdown", "html", "parquet")
def command(
    paths: tuple[str, ...],
    settings: tuple[str, ...],
    params: str | None,
    names: tuple[str, ...],
    engine: Engine,
    by: str,
    witnesses: int,
    explain: bool,
    sql: str | None,
    baseline: str | None,
    update_baseline: bool,
    config: str | None,
    isolated: bool,
    fail_level: str | None,
    output: str,
    format: _Formats,  # noqa: A002 - the option's name
    **how: Any,
) -> int:
    """Judge very many runs by policies: which runs break what, how often, since when.

    Runs are recordings, a store that `vigil abstract --format parquet` made, or a .toml file that declares a table of
    somebody else's as a store. What cannot be worked out over columns is judged run by run, and --explain says why.

    Exit status: 0 no violation reaches the fail level; 1 some does; 2 something cannot be read or judged, or the scan
    was interrupted.
    """
    if format == "parquet" and output == "-" and not (explain or sql):
        raise click.UsageError("--format parquet is not for a terminal: give a file with --output.")
    if update_baseline and baseline is None:
        raise click.UsageError("--update-baseline needs --baseline FILE.")
    try:
        import polars  # noqa: F401 - whether it is there
    except ImportError as error:
        raise click.UsageError(f'{error.name} is not installed: pip install "vigil-lang[scan]"') from error
    from vigil_lang.corpus.scanning import scan

    project = settings_of(config, isolated=isolated)
    values = {**project.params, **read_params(settings, params)}
    reached = levels_from(fail_level, "info", "human")
    policy_args, sources = _split(paths, project)
    policies = load_policies(policy_args, values)
    check_settings(settings, policies)
    policies = selected(policies, names)
    chosen = [(policy.path, statement) for policy in policies for statement in policy.statements]
    rules = _rules(chosen)
    if sql is not None:
        from vigil_lang.cli.scan_screen import queries

        with written(output) as target:
            target.write(queries(rules, sql))
        return CLEAN
    if explain:
        from vigil_lang.cli.scan_screen import plans

        with written(output) as target:
            for line in plans(rules, engine, console(target).width):
                console(target).print(line)
        return CLEAN
    source = _source(sources, project, engine, chosen, how)
    if engine == "spark":
        result = _on_spark(source, rules, str(how["master"]))
    else:
        from vigil_lang.cli.scan_screen import progress

        with _Needed(engine), progress(len(source)) as told:
            result = scan(source, rules, engine=engine, jobs=how["jobs"], memory=how["memory"], told=told)
    return _concluded(
        result, source, chosen, policies, by, witnesses, baseline, update_baseline, reached, output, format
    )


def _rules(chosen: Sequence[tuple[str, Statement]]) -> list[Rule]:
    from vigil_lang.engines.interface import Rule

    return [Rule(statement.name, statement.requirement) for _, statement in chosen]


def _split(paths: Sequence[str], project: Settings) -> tuple[list[str], list[str]]:
    """Policies, and runs or stores, among mixed arguments."""
    from vigil_lang.corpus.store import is_store
    from vigil_lang.project.paths import split

    stores = [path for path in paths if is_store(path) or (path.endswith(".toml") and Path(path).is_file())]
    others = [path for path in paths if path not in stores]
    policies, runs = split(others, project.excludes) if others else ([], [])
    if not policies or not (runs or stores):
        missing, kept = ("policy", "run") if not policies else ("run", "policy")
        raise click.UsageError(f"There is no {missing} beside the {kept}: vigil scan rules.vgl runs/")
    if stores and (runs or len(stores) > 1):
        raise click.UsageError("Scan one store at a time, without recordings beside it.")
    return policies, stores or runs


def _source(
    paths: Sequence[str], project: Settings, engine: str, chosen: Sequence[tuple[str, Statement]], how: dict[str, Any]
) -> Source:
    from vigil_lang.corpus.batch import Needs
    from vigil_lang.corpus.recordings import Recordings
    from vigil_lang.corpus.store import NoStore, Store, is_store

    try:
        if is_store(paths[0]):
            store = Store(paths[0])
            reading_outputs = [s.name for _, s in chosen if Needs.of([s.requirement]).output]
            if store.without_outputs and reading_outputs:
                raise click.UsageError(
                    f"'{paths[0]}' has digests in place of outputs, and {', '.join(reading_outputs)} tests them: leave "
                    "these out with --statement, or make the store anew with --outputs keep."
                )
            return store
        if paths[0].endswith(".toml"):
            with _Needed("duckdb"):
                from vigil_lang.corpus.declared import Declared

                declared = Declared(paths[0])
                for _, statement in chosen:
                    if missing := declared.lacks(Needs.of([statement.requirement])):
                        some = ", ".join(f"`{visible(name)}`" for name in missing)
                        message = f"`{visible(statement.name)}` tests {some}, which no column holds: taken as absent"
                        click.echo(f"{visible(paths[0])}: {message}", err=True)
                return declared
    except NoStore as error:
        raise click.UsageError(str(error)) from error
    if engine == "spark":
        raise click.UsageError("--engine spark reads a store: make one with vigil abstract --format parquet.")
    return Recordings(paths, reading_of(project, how), how["jobs"])


def reading_of(project: Settings, how: dict[str, Any]) -> Any:
    """How recordings are read, as the command line and the project say."""
    from vigil_lang.abstraction.bounded_output import KEPT
    from vigil_lang.corpus.reading import Reading

    if how["skills"] is not None and not Path(how["skills"]).is_dir():
        raise click.UsageError(f"--skills: there is no folder '{how['skills']}'.")
    return Reading(
        how["source"],
        how["skills"],
        not how["no_inferred"],
        KEPT if how["keep_output"] is None else how["keep_output"],
        how["probe"],
        how["allow_empty"],
        project.known_tools,
    )


class _Needed:
    """Turns what an engine lacks into the message that names the extra."""

    def __init__(self, engine: str) -> None:
        self._extra = "spark" if engine == "spark" else "scan"

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        from vigil_lang.corpus.store import NoStore

        if isinstance(error, ImportError) and not str(error.name).startswith("vigil"):
            missing = error.name or str(error)
            raise click.UsageError(f'{missing} is not installed: pip install "vigil-lang[{self._extra}]"') from error
        if isinstance(error, NoStore):
            raise click.UsageError(str(error)) from error


def _on_spark(source: Source, rules: Sequence[Rule], master: str) -> Scan:
    from vigil_lang.corpus.store import Store

    if not isinstance(source, Store):
        raise click.UsageError("--engine spark reads a store: make one with vigil abstract --format parquet.")
    with _Needed("spark"):
        from vigil_lang.corpus.spark import scan_on_spark

        return scan_on_spark(source, rules, master)


def _concluded(
    result: Scan,
    source: Source,
    chosen: Sequence[tuple[str, Statement]],
    policies: Sequence[Policy],
    by: str,
    witnesses: int,
    baseline: str | None,
    update_baseline: bool,
    reached: Sequence[str],
    output: str,
    format: _Formats,  # noqa: A002 - the option's name
) -> int:
    """Write what came of a scan; gives back the exit status."""
    from vigil_lang.corpus.baseline import known_violations, write_baseline
    from vigil_lang.corpus.figures import NoGroup, figures

    known = known_violations(baseline) if baseline is not None and not update_baseline else frozenset()
    try:
        found = figures(result, chosen, by, known)
    except NoGroup as error:
        raise click.UsageError(f"--by: {error}") from error
    if update_baseline:
        assert baseline is not None
        write_baseline(baseline, found)
    _told(found)
    if format == "parquet":
        from vigil_lang.base.outputs import replacing
        from vigil_lang.corpus.documents import table

        with replacing(output) as stream:
            table(found).write_parquet(stream)
    else:
        with written(output) as target:
            _write(found, result, source, policies, witnesses, target, format)
    if found.unreadable or found.unjudged or found.interrupted:
        return BAD_INPUT
    failed = not update_baseline and any(row.new and row.severity in reached for row in found.rows)
    return FINDINGS if failed else CLEAN


_SHOWN = 5


def _told(found: Figures) -> None:
    """Say on standard error what could not be read or judged."""
    for path, why in found.unreadable[:_SHOWN]:
        click.echo(f"{visible(path)}: {visible(why)}", err=True)
    if len(found.unreadable) > _SHOWN:
        click.echo(f"and {len(found.unreadable) - _SHOWN:,} more that cannot be read", err=True)
    for run, name, why in found.unjudged[:_SHOWN]:
        click.echo(f"{visible(run)}: `{visible(name)}` is not judged: {visible(why)}", err=True)
    if len(found.unjudged) > _SHOWN:
        click.echo(f"and {len(found.unjudged) - _SHOWN:,} more that are not judged", err=True)
    if found.interrupted:
        click.echo(f"interrupted: this is what {found.runs:,} runs say", err=True)
    sys.stderr.flush()


def _write(
    found: Figures,
    result: Scan,
    source: Source,
    policies: Sequence[Policy],
    witnesses: int,
    target: IO[str],
    format: _Formats,  # noqa: A002 - the option's name
) -> None:
    from vigil_lang.corpus import documents

    if format == "json":
        from vigil_lang.corpus.figures import to_json
        from vigil_lang.diagnostics.visible import safe_json

        print(safe_json(to_json(found)), file=target)
    elif format == "csv":
        target.write(documents.as_csv(found))
    elif format == "markdown":
        target.write(documents.as_markdown(found))
    elif format == "html":
        target.write(documents.as_html(found, "Scan of " + ", ".join(Path(policy.path).name for policy in policies)))
    else:
        from vigil_lang.cli.scan_screen import print_scan

        print_scan(found, console(target))
        if witnesses and not found.interrupted:
            from vigil_lang.cli.scan_screen import print_witnesses

            print_witnesses(result, source, policies, witnesses, console(target))

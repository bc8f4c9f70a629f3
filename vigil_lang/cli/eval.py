"""`vigil eval`: policies held against labelled runs."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

import click

from vigil_lang.cli.exit_codes import BAD_INPUT, BROKEN_TOOL, CLEAN, FINDINGS
from vigil_lang.cli.options import complete, config_option, settings_of
from vigil_lang.cli.output import console, output_options, show_errors, written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vigil_lang.evaluation.ablation import Part
    from vigil_lang.evaluation.evaluate import Evaluation

_FORMATS = ("human", "json", "markdown", "latex")
_WIDE = 130
"""Columns from which on every figure is shown with its interval."""


@click.command("eval")
@click.argument("corpus", metavar="CORPUS.toml", shell_complete=complete)
@click.option(
    "--data", metavar="FOLDER", help="Where the corpus's runs and labels lie; by default where the corpus does."
)
@click.option(
    "--without",
    multiple=True,
    metavar="PART[,PART]",
    help="Also judge without arguments, structure or steps (repeatable), to see what each brings.",
)
@click.option("--statement", "only", multiple=True, metavar="NAME", help="Judge by this statement only (repeatable).")
@click.option("--by-statement", is_flag=True, help="Show how many runs exercise and violate each statement.")
@click.option("--baselines", is_flag=True, help="Also ask the programs that the corpus names: this runs them.")
@click.option("--times", is_flag=True, help="Show how long each stage takes.")
@click.option("--vocabulary", is_flag=True, help="Show how the vocabulary grows along the runs.")
@click.option(
    "--fail-over",
    type=click.FloatRange(0, 1),
    metavar="BEE",
    help="Exit with 1 only where the macro BEE, from 0 to 1, is above it; by default where a verdict is not its label.",
)
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="So many processes at once; one a processor.")
@config_option
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write; standard output by default.")
@output_options(*_FORMATS)
def command(
    corpus: str,
    data: str | None,
    without: tuple[str, ...],
    only: tuple[str, ...],
    by_statement: bool,
    baselines: bool,
    times: bool,
    vocabulary: bool,
    fail_over: float | None,
    jobs: int | None,
    config: str | None,
    isolated: bool,
    output: str,
    format: Literal["human", "json", "markdown", "latex"],  # noqa: A002 - the option's name
) -> int:
    """Hold policies against labelled runs: confusion counts, precision, recall, F1 and the balanced enforcement error.

    CORPUS.toml says which runs are judged by which policies, and where their labels are. Every run that counts for no
    figure is named with its reason.

    Exit status: 0 verdicts and labels agree; 1 some do not; 2 the corpus, a recording or a policy cannot be read, a run
    cannot be judged, or labels contradict each other or name no run.
    """
    if data is not None and not Path(data).is_dir():
        raise click.UsageError(f"--data: there is no folder '{data}'.")
    from vigil_lang.cli.progress import steps
    from vigil_lang.evaluation.ablation import parts_of
    from vigil_lang.evaluation.corpus import read_corpus
    from vigil_lang.evaluation.evaluate import evaluate

    try:
        configurations: list[frozenset[Part]] = parts_of(without)
    except ValueError as error:
        raise click.UsageError(f"--without: {error}.") from None

    def watched(paths: list[str]) -> Iterator[str]:
        with steps(paths) as progress:
            yield from progress

    with written(output) as target:
        project = settings_of(config, isolated=isolated)
        described = read_corpus(corpus, data)
        if baselines and not described.baselines:
            raise click.UsageError("--baselines: the corpus names none; write a table [[baseline]].")
        found = evaluate(
            described,
            without=configurations,
            baselines=baselines,
            vocabulary=vocabulary,
            only=only,
            jobs=jobs,
            tools=project.known_tools,
            params=project.params,
            watched=watched,
        )
        show_errors(found.broken)
        _write(found, target, format, times=times, statements=by_statement)
    return _status(found, fail_over)


def _write(found: Evaluation, target: IO[str], format: str, *, times: bool, statements: bool) -> None:  # noqa: A002
    from vigil_lang.evaluation import tables

    if format == "json":
        from vigil_lang.diagnostics.visible import safe_json
        from vigil_lang.evaluation.published import to_json

        print(safe_json(to_json(found, times=times)), file=target)
    elif format == "human":
        from vigil_lang.evaluation.screen import print_evaluation

        screen = console(target)
        print_evaluation(
            found, screen, intervals="all" if screen.width >= _WIDE else "bee", times=times, statements=statements
        )
    else:
        write = tables.markdown if format == "markdown" else tables.latex
        target.write(write(found, times=times, statements=statements))


def _status(found: Evaluation, fail_over: float | None) -> int:
    """A group whose errors are in no BEE, for it has no benign or no violating runs, fails by any of them."""
    if found.fault:
        return BROKEN_TOOL
    if found.at_fault:
        return BAD_INPUT
    if fail_over is None:
        return FINDINGS if found.disagreements else CLEAN
    from vigil_lang.evaluation.corpus import VIGIL

    table = found.systems[VIGIL]
    bee = table.macro["bee"].value
    beside = {name for name, row in table.groups.items() if row.figures["bee"].value is None}
    over = (bee is not None and bee > fail_over) or any(each.group in beside for each in found.disagreements)
    return FINDINGS if over else CLEAN

"""`vigil abstract`: recordings as typed events."""

from __future__ import annotations

import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from msgspec.structs import replace

from vigil_lang.cli.exit_codes import CLEAN
from vigil_lang.cli.options import abstraction_options, complete, config_option, no_such_run, run_options, settings_of
from vigil_lang.cli.output import console, give_up, output_options, show_errors
from vigil_lang.diagnostics import InputError
from vigil_lang.project.paths import trace_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vigil_lang.abstraction.run import Options
    from vigil_lang.trace import Event, Run


_PART = 1 << 20


@click.command("abstract")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, shell_complete=complete)
@click.option("--explain", is_flag=True, help="Show how each call became its events.")
@click.option("--stats", is_flag=True, help="Say how well the runs are understood.")
@click.option("--signature", is_flag=True, help="Print the vocabulary of the runs.")
@click.option("--run", "names", multiple=True, metavar="NAME", help="Only this run of the recording (repeatable).")
@click.option("--event", "events", multiple=True, metavar="ID", help="With --explain: only this call (repeatable).")
@run_options
@config_option
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write; standard output by default.")
@click.option("--strict", is_flag=True, help="With --format parquet: exit with 2 where a recording cannot be read.")
@click.option(
    "--outputs",
    type=click.Choice(("keep", "digest")),
    default="keep",
    show_default=True,
    help="With --format parquet: whether outputs are in the store, or only digests of them.",
)
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="With --format parquet: worker processes.")
@output_options("human", "json", "parquet")
def command(
    runs: tuple[str, ...],
    explain: bool,
    stats: bool,
    signature: bool,
    names: tuple[str, ...],
    events: tuple[str, ...],
    source: str | None,
    config: str | None,
    isolated: bool,
    output: str,
    strict: bool,
    outputs: Literal["keep", "digest"],
    jobs: int | None,
    format: Literal["human", "json", "parquet"],  # noqa: A002 - the option's name
    **how: Any,
) -> int:
    """Turn recordings into typed events, one JSON object a line.

    Calls keep their names and arguments and gain kinds and roles; the programs of a shell command and the effects of
    a script become steps of their own. Every verb that takes a run does this by itself: use this one to see it, to
    keep the result, or to judge a long recording often.

    With --format parquet the result is a store for vigil scan, in the folder that --output names: made in parallel, and
    brought up to date where it is there already. What cannot be read is listed.
    """
    if format == "parquet":
        if explain or stats or signature or names or events or output == "-":
            raise click.UsageError("--format parquet makes a store: name its folder with --output, and nothing else.")
        from vigil_lang.cli.abstract_store import make

        return make(
            trace_paths(runs), output, settings_of(config, isolated=isolated), source, outputs, jobs, how, strict=strict
        )
    if explain + stats + signature > 1:
        raise click.UsageError("Give one of --explain, --stats and --signature.")
    if events and not explain:
        raise click.UsageError("--event goes with --explain.")
    if explain and format == "json":
        raise click.UsageError("--explain is for people; without it the events are written as JSON.")
    options = abstraction_options(tools=settings_of(config, isolated=isolated).known_tools, **how)
    paths = trace_paths(runs)
    with _target(output) as write:
        job = _Job(paths, names, source, options, write)
        if explain:
            job.explain(events)
        elif stats:
            job.stats("json" if format == "json" else "human")
        elif signature:
            job.signature()
        else:
            job.events()
        # Raised in here, so that `--output` writes no file: one from which a run is missing would not say so.
        if job.broken:
            give_up(output)
        if job.missing:
            raise click.UsageError(job.missing)
    return CLEAN


@contextmanager
def _target(output: str) -> Iterator[Callable[[bytes], object]]:
    """Where the result goes: standard output, or a file that is complete or not there."""
    if output == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer.write
        sys.stdout.buffer.flush()
        return
    from vigil_lang.base.outputs import replacing

    with replacing(output) as stream:
        yield stream.write


class _Job:
    """The runs of some recordings, each with its events as they are read."""

    def __init__(
        self,
        paths: Sequence[str],
        names: Sequence[str],
        source: str | None,
        options: Options,
        write: Callable[[bytes], object],
    ) -> None:
        self._paths, self._names, self._source = paths, names, source
        self._options, self._write = options, write
        self._runs: set[str] = set()
        self._seen: dict[str, None] = {}
        self._asked: Sequence[str] = ()
        self._events: set[str] = set()
        self.broken = 0

    @property
    def missing(self) -> str | None:
        """The message that there is no such run or event as was asked for."""
        for name in self._names:
            if name not in self._runs:
                return no_such_run(name, self._seen)
        for event in self._asked:
            if event not in self._events:
                return f"--event: no run has an event '{event}'."
        return None

    def _stream(self) -> Iterator[Run | Event]:
        """All runs that are wanted, each followed by its events. A recording that is not readable is reported."""
        from vigil_lang.ingest.load import STDIN
        from vigil_lang.runs import stream_events
        from vigil_lang.trace import Run

        for path in self._paths:
            name = STDIN if path == "-" else path
            run, events = None, 0
            try:
                with _on_disk(path) as place:
                    for found in stream_events(place, self._source, self._options, name):
                        if isinstance(found, Run):
                            self._tell_of(run, events)
                            self._seen.update(dict.fromkeys(filter(None, (found.label or found.name,))))
                            called = [each for each in self._names if found.is_called(each)]
                            wanted = bool(called) or not self._names
                            self._runs.update(called)
                            run, events = found if wanted else None, 0
                        if run is not None:
                            yield found
                            events += found is not run
                self._tell_of(run, events)
            except InputError as error:
                self.broken += 1
                show_errors(error.diagnostics)

    def _tell_of(self, run: Run | None, events: int) -> None:
        """Say that a run was hardly read, and give no result where that is not allowed."""
        from vigil_lang.runs import why_unusable

        doubt = None if run is None else why_unusable(run, events)
        if doubt is not None:
            allowed = self._options.allow_empty
            show_errors([replace(doubt, severity="warning", help=None) if allowed else doubt])
            self.broken += not allowed

    def events(self) -> None:
        """Write Vigil's own format."""
        from vigil_lang.abstraction.events import not_understood
        from vigil_lang.ingest.canonical import dump_event, dump_header
        from vigil_lang.trace import Run

        troubles = 0
        for found in self._stream():
            if isinstance(found, Run):
                dump_header(found, self._write, masked=self._on_screen)
            else:
                dump_event(found, self._write, masked=self._on_screen)
                troubles += bool(not_understood(found))
        if troubles:
            some = "1 call was" if troubles == 1 else f"{troubles} calls were"
            click.echo(f"{some} not wholly understood; --stats tells more", err=True)

    def signature(self) -> None:
        """Write what policies may speak of, as JSON."""
        from vigil_lang.trace import Run, Trace, merge, observe
        from vigil_lang.trace.signature_file import signature_to_json

        seen: list[Any] = []
        runs: list[Trace] = []
        batch: list[Event] = []
        held = 0
        for found in self._stream():
            if isinstance(found, Run):
                runs.append(Trace(tuple(batch)))
                batch.clear()
                continue
            batch.append(found)
            held += 1
            if held == 10_000:
                seen = [merge(*seen, observe([*runs, Trace(tuple(batch))]))]
                runs.clear()
                batch.clear()
                held = 0
        whole = merge(*seen, observe([*runs, Trace(tuple(batch))]))
        self._write(signature_to_json(whole, masked=self._on_screen).encode())

    def explain(self, events: Sequence[str]) -> None:
        """Write for people how each call became its events."""
        from vigil_lang.cli.abstract_listing import lines
        from vigil_lang.cli.output import width

        self._asked = events
        for line in lines(self._noted(), width(), set(events)):
            self._print(line)

    def _noted(self) -> Iterator[Run | Event]:
        """The stream, with the ids that `--event` may name noted where it does."""
        from vigil_lang.trace import Run

        for found in self._stream():
            if not isinstance(found, Run):
                self._events.update({found.id, found.id.partition(".")[0]}.intersection(self._asked))
            yield found

    def stats(self, format: Literal["human", "json"]) -> None:  # noqa: A002
        """Write how well the runs were understood."""
        from vigil_lang.abstraction.statistics import Statistics

        found = Statistics()
        for item in self._stream():
            found.add(item)
        if format == "json":
            from vigil_lang.diagnostics.visible import safe_json

            self._write(safe_json(found.to_json()).encode() + b"\n")
            return
        from vigil_lang.cli.abstract_stats import report

        for line in report(found):
            self._print(line)

    @property
    def _on_screen(self) -> bool:
        """Whether the result is to be looked at; a file is there to be read by other verbs."""
        return self._write == sys.stdout.buffer.write

    def _print(self, line: Any) -> None:
        if self._on_screen:
            console().print(line)
        else:
            self._write(str(line).encode() + b"\n")


@contextmanager
def _on_disk(path: str) -> Iterator[str]:
    """A recording that can be read twice: standard input is copied to a file that nobody else can see."""
    from vigil_lang.ingest.load import opened
    from vigil_lang.ingest.stream import MAX_TOTAL, too_large

    if path != "-" and not Path(path).is_fifo():
        yield path
        return
    with tempfile.NamedTemporaryFile() as copy, opened(path) as (stream, name):
        for part in iter(lambda: stream.read(_PART), b""):
            copy.write(part)
            if copy.tell() > MAX_TOTAL:
                raise too_large(name, f"the recording is larger than {MAX_TOTAL >> 30} GB")
        copy.flush()
        yield copy.name

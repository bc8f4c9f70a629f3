"""Recordings as traces: read by format, then abstracted. What takes a run takes it from here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from vigil_lang.abstraction.calls import Unnameable
from vigil_lang.abstraction.run import Abstraction, Options, Survey
from vigil_lang.base import inputs
from vigil_lang.base.collector import collector_paused
from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.ingest.calls import Keys
from vigil_lang.ingest.load import opened, read_records
from vigil_lang.trace import Event, Run, Trace
from vigil_lang.trace.record import Message, Start

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from vigil_lang.trace.record import Record

_DEFAULTS = Options()

_PROMPT = "m0"
"""The id of the event of a prompt in a recording of events, whose own ids count from 1."""


def load_trace(path: str | Path, *, format: str | None = None, options: Options = _DEFAULTS) -> Trace:  # noqa: A002
    """The trace of a recording on disk, or on standard input for ``-``.

    Raises:
        InputError: VGL605 where the run holds no events, VGL609 where most of the recording was not understood, unless
            the options allow both; VGL606 where it holds several runs (`load_traces` gives them all); else as
            `ingest.load.read_records` does.
    """
    inputs.note(str(path))
    with opened(path) as (stream, name):
        (found,) = usable([read_trace(stream, name, format, options)], options)
    return found


def load_traces(path: str | Path, *, format: str | None = None, options: Options = _DEFAULTS) -> Iterator[Trace]:  # noqa: A002
    """The traces of all runs in a recording, one after the other. Raises as `load_trace` does.

    A run that holds no events does not keep back the others: it is told of at the end. Where there are several,
    `Run.path` is the recording's with the run's name behind a ``#``.
    """
    inputs.note(str(path))
    with opened(path) as (stream, name):
        yield from usable(read_traces(stream, name, format, options), options)


def read_trace(
    stream: Iterable[bytes],
    path: str,
    format: str | None = None,  # noqa: A002 - as the option is called
    options: Options = _DEFAULTS,
) -> Trace:
    """The trace of a binary stream, or of any lines of bytes, be it empty.

    Raises:
        InputError: VGL606 where it holds several runs; else as `ingest.load.read_records` does.
    """
    traces = read_traces(stream, path, format, options)
    found = next(traces)
    if next(traces, None) is not None:
        help_text = "`vigil abstract --run NAME` makes a recording of one of them"
        raise InputError(
            [Diagnostic.of("VGL606", "the recording holds several runs", Source(path, ""), help=help_text)]
        )
    return found


def read_traces(
    stream: Iterable[bytes],
    path: str,
    format: str | None = None,  # noqa: A002 - as the option is called
    options: Options = _DEFAULTS,
) -> Iterator[Trace]:
    """The traces of all runs in a binary stream, be they empty; there is one at least.

    Raises:
        InputError: as `ingest.load.read_records` does.
    """
    runs = _Runs(read_records(stream, path, format), path, options)
    number, held = 0, None
    while held is None or runs.more:
        if held is not None:  # before the next one is read: what is wrong with that one does not matter here
            number += 1
            yield runs.labelled(held, number)
        # What is read is kept: looking for garbage in it again and again would double the time of a long run.
        with collector_paused():
            held = _trace(runs, options)
    yield runs.labelled(held, number + 1) if number else held


def usable(traces: Iterable[Trace], options: Options) -> Iterator[Trace]:
    """The traces that have something to judge or to learn from; with `options.allow_empty` all of them.

    Raises:
        InputError: after the last one, if some were left out: VGL605 for a run without events, VGL609 where most of
            the recording was not understood.
    """
    refused: list[Diagnostic] = []
    for trace in traces:
        doubt = None if options.allow_empty else why_unusable(trace.run, len(trace))
        if doubt is None:
            yield trace
        else:
            refused.append(doubt)
    if refused:
        raise InputError(refused)


def why_unusable(run: Run, events: int) -> Diagnostic | None:
    """Why a run cannot be judged or learned from: it has no events, or most of its records were not understood.

    Such a run keeps every rule, so a broken recording would look like a safe agent. A run whose calls were all refused
    can be judged: its recording was understood.
    """
    override = "`--allow-empty` accepts it all the same"
    if 2 * run.not_understood > run.records:
        message = f"{run.not_understood} of {_records(run.records)} were not understood as `{run.format}`"
        help_text = f"name the right format with `--from`; {override}"
        return Diagnostic.of("VGL609", message, Source(run.path, ""), help=help_text, severity="error")
    if events or run.not_executed:
        return None
    help_text = f"read as `{run.format}`, it has no call and no message; {override}"
    return Diagnostic.of("VGL605", "the run holds no events", Source(run.path, ""), help=help_text)


def _records(number: int) -> str:
    return f"{number} record{'s' * (number != 1)}"


def load_records(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - as the option is called
    options: Options = _DEFAULTS,
) -> Iterator[tuple[Survey, list[Record]]]:
    """The records of each run in a recording, with what a first look at them tells. Raises as `load_trace` does.

    Runs are named as `load_traces` names them; whether one is empty is the caller's to tell (`why_unusable`).
    """
    inputs.note(str(path))
    with opened(path) as (stream, name):
        runs = _Runs(read_records(stream, name, format), name, options)
        number = 0
        while not number or runs.more:
            records, survey = list(runs.one()), Survey(Run(name))
            for record in records:
                survey.add(record)
            number += 1
            if number > 1 or runs.more:
                survey.run = runs.named(survey.run, number)
            yield survey, records


def is_run(path: str) -> bool:
    """Whether a file is a recording by its first lines; one that is broken there counts, for it should be reported."""
    try:
        with opened(path) as (stream, name):
            read_records(stream, name)
    except InputError as error:
        return error.diagnostics[0].code != "VGL603" and path.endswith(".jsonl")
    return True


def stream_events(
    place: str,
    format: str | None = None,  # noqa: A002 - as the option is called
    options: Options = _DEFAULTS,
    name: str | None = None,
) -> Iterator[Run | Event]:
    """The runs of a recording at some place, each followed by its events, without ever holding a whole run.

    The recording is read twice, first for what is only known at its end: it must be a file, not a pipe. A call is
    held until its result was read, and with it what was issued in between. `name` is what messages call it. Whether
    a run is empty is the caller's to tell (`why_unusable`). Raises as `ingest.load.read_records` does.
    """
    surveys: list[Survey] = []
    name = name or place
    with opened(place) as (stream, _):
        runs = _Runs(read_records(stream, name, format), name, options)
        while not surveys or runs.more:
            survey = Survey(Run(name))
            for record in runs.one():
                survey.add(record)
            surveys.append(survey)
    with opened(place) as (stream, _):
        runs = _Runs(read_records(stream, name, format), name, options)
        for number, survey in enumerate(surveys, 1):
            run = survey.finished_run
            yield runs.named(run, number) if len(surveys) > 1 else run
            abstraction = Abstraction(options, survey)
            for record in runs.one():
                runs.take(abstraction, record)
                yield from abstraction.ready()
            yield from abstraction.rest()


def following(records: Iterator[Record], path: str, options: Options = _DEFAULTS) -> Iterator[Run | Event]:
    """The events of a recording that is still written, each as soon as its call is over, and the run that they are of.

    A run is given when it begins, and once more, with what is only known at its end, after its last event. A call
    without a result holds back what comes after it. Whether a run is empty is the caller's to tell (`why_unusable`).

    Raises:
        InputError: as `records` do; VGL601 for a call whose arguments cannot be named.
    """
    runs = _Runs(records, path, options)
    number = 0
    while not number or runs.more:
        number += 1
        abstraction = Abstraction(options)
        begun = False
        for record in runs.one():
            if begun and isinstance(record, Event) and (event := abstraction.passed(record)) is not None:
                yield event
                continue
            runs.take(abstraction, record)
            if not begun:
                begun = True
                yield runs.numbered(abstraction.run, number)
            yield from abstraction.ready()
        if not begun:
            yield Run(path)
        yield from abstraction.rest()
        yield runs.numbered(abstraction.finished_run, number)


class _Runs:
    """Records, run by run, each of which begins with what the user asked for where that is known."""

    def __init__(self, records: Iterator[Record], path: str, options: Options) -> None:
        self._records = records
        self._path = path
        self._options = options
        self._next = next(records, None)
        self._keys = Keys()
        self._labels: dict[tuple[int, str | None], str] = {}

    @property
    def more(self) -> bool:
        """Whether there is another run."""
        return self._next is not None

    def one(self) -> Iterator[Record]:
        """The records of the next run."""
        record, self._next = self._next, None
        asked = self._options.prompt
        waits, given = True, None
        while record is not None:
            if isinstance(record, Start):
                asked = self._options.prompt or record.run.prompt
            elif waits:
                waits = False
                if asked and _said_first(record) != asked:
                    given = _asked(asked, record)
                    yield given
            elif isinstance(given, Event) and isinstance(record, Event) and record.id == given.id:
                message = f"event id `{given.id}` is that of the prompt"
                raise InputError([Diagnostic.of("VGL602", message, Source(self._path, ""))])
            yield record
            record = next(self._records, None)
            if isinstance(record, Start) and not record.again:
                self._next = record
                break
        if waits and asked:
            yield Message("user", asked)

    def numbered(self, run: Run, number: int) -> Run:
        """A run of a recording of which only the runs so far are known."""
        return run if number == 1 else self.named(run, number)

    def labelled(self, trace: Trace, number: int) -> Trace:
        """The trace of a run that is one of several."""
        return replace(trace, run=self.named(trace.run, number))

    def named(self, run: Run, number: int) -> Run:
        """A run that is one of several, told apart from those before it."""
        key = (number, run.name)
        if key not in self._labels:
            self._labels[key] = self._keys.new(run.name or str(number))
        label = self._labels[key]
        return replace(run, path=f"{run.path}#{label}", label=label)

    def take(self, abstraction: Abstraction, record: Record) -> None:
        """Add a record to a run.

        Raises:
            InputError: VGL601 for a call whose arguments cannot be named.
        """
        try:
            abstraction.add(record)
        except Unnameable as error:
            raise unnameable(error, self._path) from error


def unnameable(error: Unnameable, path: str) -> InputError:
    """VGL601 for a call of a recording whose arguments cannot be named."""
    message = f"a call's {error}" if str(error).startswith("arguments") else str(error)
    return InputError([Diagnostic.of("VGL601", message, Source(path, ""))])


def _trace(runs: _Runs, options: Options) -> Trace:
    abstraction = Abstraction(options)
    for record in runs.one():
        runs.take(abstraction, record)
    events = tuple(abstraction.rest())
    return Trace(events, abstraction.finished_run)


def _said_first(record: Record) -> str | None:
    """What the user says in the first record of a run."""
    if isinstance(record, Message):
        return record.text if record.role == "user" else None
    said = record.args.get("text") if isinstance(record, Event) and record.action == "user.message" else None
    return said[0] if said else None


def _asked(prompt: str, first: Record) -> Record:
    """The prompt as a record of the same kind: a message, or in a recording of events an event."""
    if not isinstance(first, Event):
        return Message("user", prompt)
    return Event.of("user.message", {"text": prompt}, id=_PROMPT if first.id != _PROMPT else f"{_PROMPT}#2")

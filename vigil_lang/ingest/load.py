"""Reading a recording whatever its format: the registry of readers and the choice among them."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from importlib import import_module
from io import BufferedIOBase
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from vigil_lang.base.files import open_input, standard_input
from vigil_lang.diagnostics import Diagnostic, InputError, Source, nearest
from vigil_lang.ingest.lines import Lines
from vigil_lang.ingest.stream import GZIP, unreadable
from vigil_lang.trace import Run, checked
from vigil_lang.trace.record import Start

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import Any, BinaryIO

    from vigil_lang.ingest.reader import Reader
    from vigil_lang.trace.record import Record

_MODULES = {
    "vigil": "canonical",
    "claude-code": "claude_code",
    "codex": "codex",
    "codex-exec": "codex_exec",
    "gemini": "gemini",
    "gemini-stream": "gemini_stream",
    "copilot": "copilot",
    "hooks": "hooks",
    "atif": "atif",
    "openhands": "openhands",
    "terminus": "terminus",
    "swe-agent": "swe_agent",
    "inspect": "inspect_ai",
    "agentdojo": "agentdojo",
    "langsmith": "langsmith",
    "langfuse": "langfuse",
    "langchain": "langchain",
    "google-adk": "google_adk",
    "pydantic-ai": "pydantic_ai",
    "openinference": "openinference",
    "otlp": "otlp",
    "mcp": "mcp_log",
    "tool-events": "tool_events",
    "openai-responses": "openai_responses",
    "openai-messages": "openai_messages",
    "anthropic-messages": "anthropic_messages",
}
"""The module of each format, in the order in which they are asked whether a recording is theirs: a chat whose answers
have a form of their own before chats of any form. A module is imported when it is asked."""

FORMATS = tuple(_MODULES)

STDIN = "<stdin>"
_ZIP = b"PK\x03\x04"


def is_packed(path: str) -> bool:
    """Whether a file is packed by how it begins, whatever it is called."""
    try:
        with opened(path) as (stream, _):
            return stream.read(len(_ZIP)).startswith((GZIP, _ZIP))
    except (InputError, OSError):
        return False


def read_records(
    stream: Iterable[bytes],
    path: str,
    format: str | None = None,  # noqa: A002 - as the option is called
    *,
    endless: bool = False,
) -> Iterator[Record]:
    """The records of a binary stream, or of any lines of bytes; `path` is what messages call it.

    With `endless` it may have any length; of event ids only those of the last `RECENT_IDS` events are compared.

    An empty recording is one of Vigil's own. Every line but the last must end in a line break; gzip is unpacked.

    Raises:
        InputError: VGL001 unreadable, VGL002 no UTF-8, VGL003 beyond the limits, VGL601 a line at fault, VGL602 an
            event id used twice, VGL603 a format that is unknown or not recognised.
    """
    reader = _named(format, path) if format else None
    lines = Lines(_out_of_archive(stream, path), path, endless=endless)
    if reader is None:
        reader = _detected(lines)
    run = Run(path, reader.name)
    # Vigil's own format is strict: there is no line of it that is not understood.
    return reader.read(lines, run) if reader.name == FORMATS[0] else _watched(reader, lines, run)


def _watched(reader: Reader, lines: Lines, run: Run) -> Iterator[Record]:
    """The records of a recording, and at its end how many of its objects were not understood, if any."""
    lines.watch(reader.knows or (lambda value: reader.detect([value])))
    for record in reader.read(lines, run):
        if isinstance(record, Start):
            run = record.run
        else:
            lines.told = True
        yield record
    if lines.not_understood:
        yield Start(replace(run, records=lines.read, not_understood=lines.not_understood), again=True)


def _out_of_archive(stream: Iterable[bytes], path: str) -> Iterable[bytes]:
    """The lines of an Inspect log that is a zip archive; any other stream as it is. What cannot seek is no archive."""
    if not isinstance(stream, BufferedIOBase) or not stream.seekable():
        return stream
    try:
        start = stream.read(len(_ZIP))
        stream.seek(0)
    except OSError as error:
        raise unreadable(path, error) from error
    if start != _ZIP:
        return stream
    from vigil_lang.ingest.inspect_ai import unpacked

    return unpacked(cast("BinaryIO", stream), path)


@contextmanager
def opened(path: str | Path) -> Iterator[tuple[BinaryIO, str]]:
    """A file on disk, or standard input for ``-``, with the name that messages call it.

    Raises:
        InputError: VGL001 where it cannot be opened.
    """
    standard = str(path) == "-"
    name = STDIN if standard else str(path)
    try:
        stream = standard_input() if standard else open_input(path)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise unreadable(name, error) from error
    with nullcontext() if standard else stream:
        yield stream, name


def reader_of(name: str) -> Reader:
    """The reader of a format. Raises `KeyError` for a name not in `FORMATS`."""
    reader: Reader = import_module(f"vigil_lang.ingest.{_MODULES[name]}").READER
    return reader


def recognised(head: Sequence[dict[str, Any]]) -> Reader | None:
    """The reader whose recordings begin with such objects."""
    return next((reader for name in FORMATS if head and (reader := reader_of(name)).detect(head)), None)


def _named(name: str, path: str) -> Reader:
    if checked.text(name, "format") in _MODULES:
        return reader_of(name)
    close = nearest(name, FORMATS, 1)
    help_text = f"did you mean `{close[0]}`?" if close else _known()
    raise InputError([Diagnostic.of("VGL603", f"unknown format `{name}`", Source(path, ""), help=help_text)])


def _detected(lines: Lines) -> Reader:
    """The reader that recognises the first objects. Where none does, one at fault is the better message."""
    head = lines.head()
    reader = recognised(head)
    if reader:
        return reader
    if lines.fault_ahead:
        raise lines.fault_ahead
    if not head:
        return reader_of(FORMATS[0])
    message = "the format of the run is not recognised"
    raise InputError([Diagnostic.of("VGL603", message, Source(lines.path, ""), help=_known())])


def _known() -> str:
    return "readable formats: " + ", ".join(f"`{name}`" for name in FORMATS)

"""Inspect logs: the samples of an evaluation, each a run, with a transcript of events.

A log is one JSON document, or a zip archive of them (`.eval`), which `unpacked` turns into lines. Calls are read
from the events of tools; where a sample has none, from its messages.
"""

from __future__ import annotations

import zipfile
from io import SEEK_END
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from vigil_lang.diagnostics import Diagnostic, InputError, Source
from vigil_lang.ingest.arguments import arguments_of
from vigil_lang.ingest.content import error_text, joined, moment, obj, objects, output_text, quoted, string
from vigil_lang.ingest.json_text import REFUSED, decode, encode, fault_of
from vigil_lang.ingest.message_parts import Conversation, Pairing
from vigil_lang.ingest.reader import Reader
from vigil_lang.ingest.stream import MAX_RATIO, unpacks_too_far
from vigil_lang.trace.record import Call, Message, Result, Start
from vigil_lang.trace.values import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run
    from vigil_lang.trace.event import Status
    from vigil_lang.trace.record import Record

ZIP = b"PK\x03\x04"
"""How an archive begins."""

MAX_MEMBER = 512 << 20
"""Bytes that one sample of an archive may have, and all attachments that are put into it."""

_ATTACHMENT = "attachment://"
_REJECTED = "approval"
"""The type of error of a call that the approver rejected."""


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether the first object is a log, its header or a sample."""
    return bool(head) and (_is_log(head[0]) or _is_sample(head[0]))


def _is_log(line: dict[str, Any]) -> bool:
    return isinstance(line.get("eval"), dict) and not {"samples", "plan", "status"}.isdisjoint(line)


def _is_sample(line: dict[str, Any]) -> bool:
    return "epoch" in line and isinstance(line.get("messages"), list) and not {"events", "target"}.isdisjoint(line)


def unpacked(file: BinaryIO, path: str) -> Iterator[bytes]:
    """The header and the samples of an archive, one a line.

    Raises:
        InputError: VGL001 for an archive that is damaged or packed in a way Python cannot unpack, VGL003 for a
            sample beyond the limits, VGL601 for one that is no JSON.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = _members(archive)
            if unpacks_too_far(sum(member.file_size for member in members), file.seek(0, SEEK_END)):
                raise _finding("VGL003", f"the archive unpacks to more than {MAX_RATIO} times its size", path)
            for member in members:
                if member.file_size > MAX_MEMBER:
                    raise _finding("VGL003", f"`{member.filename}` is larger than {MAX_MEMBER >> 20} MB", path)
                with archive.open(member) as stream:
                    data = stream.read(MAX_MEMBER + 1)
                try:
                    yield encode(decode(data)) + b"\n"
                except REFUSED as error:
                    raise fault_of(error, data, f"{path}/{member.filename}", last=True) from error
    except InputError:
        raise
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, ValueError) as error:
        if not isinstance(error, NotImplementedError):
            raise _finding("VGL001", f"cannot read `{path}`: the archive is damaged", path) from error
        raise _packed_otherwise(path, error) from error
    except Exception as error:  # where something taught `zipfile` another method, that has errors of its own
        raise _packed_otherwise(path, error) from error


def _packed_otherwise(path: str, error: Exception) -> InputError:
    message = f"cannot read `{path}`: {error}; `inspect log convert --to json` makes a log that can be read"
    return _finding("VGL001", message, path)


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The header, if there is one, then the samples in the archive's order."""
    infos = archive.infolist()
    header = [info for info in infos if info.filename in ("header.json", "_journal/start.json")]
    samples = [info for info in infos if info.filename.startswith("samples/") and info.filename.endswith(".json")]
    return header[-1:] + samples


def _finding(code: str, message: str, path: str) -> InputError:
    return InputError([Diagnostic.of(code, message, Source(path, ""))])


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """One run a sample, named by task, sample and epoch."""
    runs = 0
    for line in lines:
        if isinstance(line.get("eval"), dict):
            run = replace(run, name=string(line["eval"], "task"), source=string(line["eval"], "model"))
            samples, at = line.get("samples") or [], "samples"
        else:
            samples, at = [line], "messages"
        if not isinstance(samples, list):
            raise lines.fault(f"`samples` must be a list, not {quoted(samples)}", "samples")
        for sample in samples:
            if not isinstance(sample, dict):
                raise lines.fault(f"a sample must be an object, not {quoted(sample)}", "samples")
            runs += 1
            names = [run.name, sample.get("id"), sample.get("epoch")]
            yield Start(replace(run, name="/".join(str(n) for n in names if isinstance(n, str | int))))
            yield from _sample(lines, sample, at)
    if not runs:
        yield Start(run)


READER = Reader("inspect", "Inspect log", detect, read, by_line=False)


def _sample(lines: Lines, sample: dict[str, Any], at: str) -> Iterator[Record]:
    attachments = _Attachments(lines, obj(sample.get("attachments")))
    events = objects(sample.get("events"))
    messages = [attachments.fill(message) for message in objects(sample.get("messages"))]
    if any(event.get("event") == "tool" for event in events):
        yield from _events(lines, events, messages, attachments, at)
        return
    reading = Conversation(lines, at, silent="ok")  # an error is left out where there was none
    for message in messages:
        rejected = obj(message.get("error")).get("type") == _REJECTED
        for record in reading.read(message):
            yield replace(record, executed=not rejected) if isinstance(record, Result) else record


class _Attachments:
    """Long texts of a sample are kept apart, under what stands in their place."""

    def __init__(self, lines: Lines, texts: dict[str, Any]) -> None:
        self._lines = lines
        self._texts = texts
        self._left = MAX_MEMBER

    def fill(self, value: Any, depth: int = 0) -> Any:
        """The value with the texts in place; what is nested deeper than arguments may be is left as it is."""
        if isinstance(value, str) and value.startswith(_ATTACHMENT):
            text = self._texts.get(value.removeprefix(_ATTACHMENT), value)
            self._left -= len(text) if isinstance(text, str) else 0
            if self._left < 0:
                raise self._lines.fault("its attachments are used too often", "attachments", code="VGL003")
            return text
        if depth > MAX_DEPTH or not self._texts:
            return value
        if isinstance(value, list):
            return [self.fill(item, depth + 1) for item in value]
        if isinstance(value, dict):
            return {key: self.fill(item, depth + 1) for key, item in value.items()}
        return value


def _events(
    lines: Lines, events: list[dict[str, Any]], messages: list[dict[str, Any]], attachments: _Attachments, at: str
) -> Iterator[Record]:
    """The calls of tool events; what was said stands in messages, the last before a call in that which issued it.

    The spans of an agent that a call started, and all within them, are that call's.
    """
    issued: dict[str, int] = {}
    for index, message in enumerate(messages):
        for entry in objects(message.get("tool_calls")):
            issued.setdefault(string(entry, "id") or "", index)
    calls = Pairing()
    agents: dict[str, str] = {}
    spoken = 0
    for event in events:
        if event.get("event") == "span_begin":
            inside = agents.get(string(event, "parent_id") or "")
            if inside is not None and (id := string(event, "id")):  # noqa: A001
                agents.setdefault(id, inside)
        if event.get("event") != "tool":
            continue
        name, given = string(event, "function"), string(event, "id")
        until = issued.get(given or "", -1) + 1
        yield from _said(messages[spoken:until])
        spoken = max(spoken, until)
        if not name:
            raise lines.fault("a tool event names no function", at)
        args = arguments_of(lines, attachments.fill(event.get("arguments")), at, "arguments")
        key = calls.call(given, name)
        parent = agents.get(string(event, "span_id") or "")
        if agent := string(event, "agent_span_id"):
            agents[agent] = key
        yield Call(key, name, args, moment(event.get("timestamp")), session=parent or "", parent=parent)
        if event.get("pending") is not True:
            yield _result(key, event, attachments)
    yield from _said(messages[spoken:])


def _said(messages: list[dict[str, Any]]) -> Iterator[Message]:
    for message in messages:
        role, text = message.get("role"), joined(message.get("content"))
        if text and role in ("user", "assistant"):
            yield Message("user" if role == "user" else "agent", text)


def _result(key: str, event: dict[str, Any], attachments: _Attachments) -> Result:
    """What came of a call; one that the approver rejected never ran."""
    error = event.get("error")
    output = output_text(attachments.fill(event.get("result")))
    status: Status = "error" if error or event.get("failed") is True else "ok"
    return Result(key, status, output or error_text(error) or output, obj(error).get("type") != _REJECTED)

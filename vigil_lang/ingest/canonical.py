"""Vigil's own traces: JSON Lines, one event a line, strict about everything a verdict depends on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import islice
from sys import intern
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec
from msgspec.structs import replace

from vigil_lang.diagnostics.secrets import masked_value, may_have
from vigil_lang.ingest.json_text import encode, shown
from vigil_lang.ingest.reader import Reader
from vigil_lang.trace.event import STATUSES, Event
from vigil_lang.trace.record import Start
from vigil_lang.trace.unseen import MASKED
from vigil_lang.trace.values import canonical, flatten, parse_time, time_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vigil_lang.ingest.lines import Lines
    from vigil_lang.trace import Run, Status, Trace
    from vigil_lang.trace.record import Record

VERSION = 1
RECENT_IDS = 65_536
"""Events of an endless recording in which an id is not used twice."""
_TEXT = frozenset({str})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MEMBERS = frozenset({"event", "call", "action", "kinds", "args", "status", "output"})
_OWN = {"vigil_trace", "event"}
_FOREIGN = {"id", "source"}
_HEADER_TEXTS = ("run", "source", "format", "cwd", "prompt")
_HEADER_COUNTS = ("not_executed", "records", "not_understood")


def detect(head: Sequence[dict[str, Any]]) -> bool:
    """Whether the first object is a header or an event. Actions with an `id` and a `source` are those of OpenHands."""
    first = head[0] if head else {}
    return not _OWN.isdisjoint(first) or ("action" in first and not first.keys() >= _FOREIGN)


def read(lines: Lines, run: Run) -> Iterator[Record]:
    """The events of a recording in Vigil's own format. A further header begins a further run."""
    seen: dict[str, int] = {}
    number, started, endless = 0, False, lines.endless
    lines.prefer(_PLAIN.decode)
    line: Any
    for line in lines:
        plain = type(line) is _Line
        if not plain and "vigil_trace" in line:
            yield Start(_header(lines, line, run))
            seen, number, started = {}, 0, True
            continue
        if not started:
            yield Start(run)
            started = True
        number += 1
        event = _plain_event(lines, line, number) if plain else _event(lines, line, number)
        if event.id in seen:
            message = f"event id {shown(event.id)} is used on lines {seen[event.id]} and {lines.number}"
            raise lines.fault(message, "event", code="VGL602")
        seen[event.id] = lines.number
        if endless and len(seen) == 2 * RECENT_IDS:
            seen = dict(islice(seen.items(), RECENT_IDS, None))
        yield event
    if not started:
        yield Start(run)


READER = Reader("vigil", "Vigil trace", detect, read)


class _Line(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A line as most are: without a member that is only carried along, or one that is at fault."""

    action: str
    event: str | None = None
    call: str | None = None
    kinds: list[str] | None = None
    args: dict[str, Any] | None = None
    status: Literal["ok", "error", "unknown"] | None = None
    output: str | None = None
    time: str | msgspec.UnsetType = msgspec.UNSET


_PLAIN = msgspec.json.Decoder(_Line, float_hook=Decimal)


def _plain_event(lines: Lines, line: _Line, ordinal: int) -> Event:
    """The same event as `_event` makes of the line."""
    event = line.event or f"e{ordinal}"
    args, kinds, text = line.args, line.kinds, line.time
    time, extra = None, {}
    if text is not msgspec.UNSET:
        time = _seconds(text)
        if time is None:
            time = parse_time(text)
            if time is None or text != time_text(time):
                extra["time"] = text
    return Event(
        event,
        intern(line.action),
        line.call or event,
        _args(lines, args) if args else {},
        line.status or "unknown",
        line.output,
        tuple(kinds) if kinds else (),
        time,
        extra,
    )


def _seconds(text: str) -> int | None:
    """The time in its usual text, `2026-01-05T10:00:00Z`; None for any other."""
    if len(text) != 20 or text[10:20:3] != "T::Z" or text[4] != "-" or text[7] != "-":
        return None
    try:
        return (datetime.fromisoformat(text) - _EPOCH) // _MICROSECOND
    except ValueError:
        return None


def _event(lines: Lines, line: dict[str, Any], ordinal: int) -> Event:
    """One event. The known members are taken out of the line; what is left is carried along."""
    take = line.pop
    action = take("action", None)
    if type(action) is not str:
        wrong = "`action` is missing" if action is None else f"`action` must be a string, not {shown(action)}"
        raise lines.fault(wrong, "action")
    event = _text(lines, "event", take("event", None)) or f"e{ordinal}"
    status = take("status", None)
    if status is None:
        status = "unknown"
    elif status not in STATUSES:
        raise lines.fault(f'`status` must be "ok", "error" or "unknown", not {shown(status)}', "status")
    time = line.get("time")
    return Event(
        event,
        intern(action),
        _text(lines, "call", take("call", None)) or event,
        _args(lines, take("args", None)),
        cast("Status", intern(status)),
        _output(take("output", None)),
        _kinds(lines, take("kinds", None)),
        None if time is None else _time(lines, line, time),
        # A copy, because the line's own table keeps the room of the members that were taken out.
        line.copy() if line else {},
    )


def _text(lines: Lines, key: str, value: Any) -> str | None:
    if value is None or type(value) is str:
        return value
    raise lines.fault(f"`{key}` must be a string, not {shown(value)}", key)


def _args(lines: Lines, value: Any) -> dict[str, tuple[str, ...]]:
    if value is None:
        return {}
    if type(value) is not dict:
        raise lines.fault(f"`args` must be an object, not {shown(value)}", "args")
    try:
        return flatten(value)
    except ValueError as error:
        raise lines.fault(str(error), "args") from error


def _output(value: Any) -> str | None:
    if value is None or type(value) is str:
        return value
    return encode(value).decode() if isinstance(value, dict | list) else canonical(value)


def _kinds(lines: Lines, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if type(value) is not list or not _TEXT.issuperset(map(type, value)):
        raise lines.fault(f"`kinds` must be a list of strings, not {shown(value)}", "kinds")
    return tuple(value)


def _time(lines: Lines, line: dict[str, Any], value: Any) -> int | None:
    """The time; its own text stays with the line unless it is the very text `time_text` would write."""
    if isinstance(value, bool | dict | list):
        raise lines.fault(f"`time` must be a text or a number, not {shown(value)}", "time")
    time = parse_time(value)
    if time is not None and value == time_text(time):
        del line["time"]
    return time


def _header(lines: Lines, line: dict[str, Any], run: Run) -> Run:
    version = line["vigil_trace"]
    if type(version) is not int or version != VERSION:
        message = f"trace format version {shown(version)} is not supported, only `{VERSION}`"
        raise lines.fault(message, "vigil_trace", code="VGL603")
    name, source, form, cwd, prompt = (_text(lines, key, line.get(key)) for key in _HEADER_TEXTS)
    counts = {key: line.get(key, 0) for key in _HEADER_COUNTS}
    for key, count in counts.items():
        if type(count) is not int or count < 0:
            raise lines.fault(f"`{key}` must be a count, not {shown(count)}", key)
    own = {"vigil_trace", *_HEADER_TEXTS, *_HEADER_COUNTS}
    scalars = [(key, value) for key, value in line.items() if isinstance(value, str | bool | int | Decimal)]
    about = tuple(sorted((key, canonical(value)) for key, value in scalars if key not in own))
    return replace(
        run, format=form or run.format, name=name, source=source, cwd=cwd, prompt=prompt, about=about, **counts
    )


def dump_trace(trace: Trace, write: Callable[[bytes], object]) -> None:
    """Write a trace line by line, its header first; reading that back gives an equal trace.

    Members that have their default are left out. Raises what `write` raises, and `UnicodeEncodeError` for a
    trace built by hand that holds lone surrogates.
    """
    dump_header(trace.run, write)
    for event in trace.events:
        dump_event(event, write)


def dump_header(run: Run, write: Callable[[bytes], object], *, masked: bool = False) -> None:
    """Write the first line of a run; `masked`: to be looked at, without secrets."""
    header = {
        "vigil_trace": VERSION,
        "run": run.name,
        "source": run.source,
        "format": run.format if run.format != READER.name else None,
        "cwd": run.cwd,
        **{key: getattr(run, key) or None for key in _HEADER_COUNTS},
        **dict(run.about),
    }
    stated = {key: value for key, value in header.items() if value is not None}
    write(encode(masked_value(stated) if masked else stated) + b"\n")


def dump_event(event: Event, write: Callable[[bytes], object], *, masked: bool = False) -> None:
    """Write the line of one event.

    `masked`: to be looked at. What looks like a secret is masked, and the event is marked as not wholly seen.
    """
    data = encode(_line(event))
    if masked and may_have(data.decode()):
        line = masked_value(_line(event))
        if encode(line) != data:
            line["args"]["unresolved"] = [*event.args.get("unresolved", ()), MASKED]
            data = encode(line)
    write(data + b"\n")


def _line(event: Event) -> dict[str, Any]:
    line: dict[str, Any] = {"event": event.id}
    if event.call != event.id:
        line["call"] = event.call
    line["action"] = event.action
    if event.kinds:
        line["kinds"] = event.kinds
    line["args"] = {name: texts[0] if len(texts) == 1 else texts for name, texts in event.args.items()}
    line["status"] = event.status
    if event.output is not None:
        line["output"] = event.output
    if event.time is not None and "time" not in event.extra:
        line["time"] = time_text(event.time)
    line.update((key, value) for key, value in event.extra.items() if key not in _MEMBERS)
    return line

"""Vigil's own trace format: what is read, what is refused and where the message points."""

from __future__ import annotations

from decimal import Decimal

import pytest
from msgspec.structs import replace

from vigil_lang.diagnostics import Diagnostic, InputError
from vigil_lang.ingest import dump_trace, read_records
from vigil_lang.runs import read_trace
from vigil_lang.trace import Event, Run, Trace
from vigil_lang.trace.record import Start


def read(text: str | bytes) -> Trace:
    data = text if isinstance(text, bytes) else text.encode()
    return read_trace(data.splitlines(keepends=True), "run.jsonl", "vigil")


def fault(text: str | bytes) -> Diagnostic:
    with pytest.raises(InputError) as refused:
        read(text)
    (found,) = refused.value.diagnostics
    return found


def pointed_at(found: Diagnostic) -> str:
    return found.source.text[found.span.start : found.span.end]


def test_a_full_line() -> None:
    line = (
        '{"event":"e5","call":"toolu_01","action":"warpAffine","kinds":["image.warp"],'
        '"args":{"transform":"M","file":["a.png","b.png"]},"status":"ok","output":"done",'
        '"time":"2026-01-05T10:00:00Z","note":1.50}\n'
    )
    assert read(line).events == (
        Event(
            "e5",
            "warpAffine",
            "toolu_01",
            {"transform": ("M",), "file": ("a.png", "b.png")},
            "ok",
            "done",
            ("image.warp",),
            1767607200_000000,
            {"note": Decimal("1.50")},
        ),
    )


def test_defaults() -> None:
    first, second = read('{"action":"a"}\n{"action":"b","output":null,"args":null}').events
    assert first == Event("e1", "a", "e1", {}, "unknown", None, (), None, {})
    assert (second.id, second.call) == ("e2", "e2")


def test_an_empty_recording_is_a_trace_without_events() -> None:
    assert read("") == Trace((), Run("run.jsonl"))
    assert read("\n \r\n") == Trace((), Run("run.jsonl"))


def test_the_header_describes_the_run_and_is_no_event() -> None:
    trace = read('{"vigil_trace":1,"run":"r7","source":"ci","cwd":"/srv","future":[]}\n{"action":"a"}\n')
    assert trace.run == Run("run.jsonl", "vigil", "r7", "ci", "/srv")
    assert [event.id for event in trace.events] == ["e1"]


def test_a_further_header_begins_a_further_run() -> None:
    lines = [
        b'{"vigil_trace":1,"run":"a"}\n',
        b'{"action":"x"}\n',
        b'{"vigil_trace":1,"run":"b"}\n',
        b'{"action":"y"}\n',
    ]
    assert list(read_records(lines, "run.jsonl")) == [
        Start(Run("run.jsonl", "vigil", "a")),
        Event("e1", "x", "e1"),
        Start(Run("run.jsonl", "vigil", "b")),
        Event("e1", "y", "e1"),
    ]
    assert fault(b"".join(lines)).message == "the recording holds several runs"


def test_blank_lines_bom_and_crlf_are_fine() -> None:
    trace = read(b'\xef\xbb\xbf\r\n{"action":"a"}\r\n\r\n  {"action":"b"}\r\n')
    assert [event.action for event in trace.events] == ["a", "b"]


@pytest.mark.parametrize(
    ("output", "text"),
    [("6.0", "6"), ("true", "true"), ('{"a": [1.50, null]}', '{"a":[1.50,null]}'), ("[]", "[]"), ('""', "")],
)
def test_an_output_that_is_no_string(output: str, text: str) -> None:
    assert read(f'{{"action":"a","output":{output}}}').events[0].output == text


def test_numbers_keep_their_digits() -> None:
    (event,) = read(
        '{"action":"a","args":{"n":[1e3,0.10000000000000000001,1e999999999,12345678901234567890123]}}'
    ).events
    assert event.args["n"] == ("1000", "0.10000000000000000001", "1e999999999", "12345678901234567890123")


def test_lone_surrogates_are_replaced_and_pairs_kept() -> None:
    (event,) = read(r'{"action":"a","args":{"x":"\ud83d|\ude00|\ud83d\ude00|\\ud83d"}}').events
    assert event.args["x"] == ("\ufffd|\ufffd|😀|\\ud83d",)


@pytest.mark.parametrize("time", ['"2026-01-05"', '"yesterday"', "1767607200.5", '"2026-01-05T10:00:00+00:00"', "null"])
def test_a_time_in_another_spelling_is_carried_along(time: str) -> None:
    written: list[bytes] = []
    dump_trace(read(f'{{"action":"a","time":{time}}}'), written.append)
    assert f'"time":{time}'.encode() in written[1]


@pytest.mark.parametrize(
    ("line", "message", "place"),
    [
        ('{"args":{}}', "`action` is missing", '{"args":{}}'),
        ('{"action":7}', "`action` must be a string, not `7`", '"action"'),
        ('{"action":"a","event":7}', "`event` must be a string, not `7`", '"event"'),
        ('{"action":"a","call":[]}', "`call` must be a string, not `[]`", '"call"'),
        ('{"action":"a","args":[1]}', "`args` must be an object, not `[1]`", '"args"'),
        ('{"action":"a","kinds":"file"}', '`kinds` must be a list of strings, not `"file"`', '"kinds"'),
        ('{"action":"a","kinds":[1]}', "`kinds` must be a list of strings, not `[1]`", '"kinds"'),
        ('{"action":"a","time":true}', "`time` must be a text or a number, not `true`", '"time"'),
        (
            '{"action":"a","args":{"status":"ok"},"status":"done"}',
            '`status` must be "ok", "error" or "unknown", not `"done"`',
            '"status"',
        ),
        ("[1]", "a line must be a JSON object, not `[1]`", "[1]"),
        ('{"action":"a",}', "not valid JSON: trailing comma in object", "}"),
        ('{"action":NaN}', "not valid JSON: invalid character", "N"),
        ('{"action":"a\0"}', "not valid JSON: invalid character U+0000", "\0"),
        ('{"action":"a","args":{"n":1e99999999999999999999}}', "a number is out of range", "{"),
        ('{"action":"a","x":' + "[" * 5000 + "]" * 5000 + "}", "the JSON is nested too deeply", "{"),
        (
            '{"action":"a","args":' + '{"k":' * 101 + "1" + "}" * 101 + "}",
            "arguments are nested more than 100 deep",
            '"args"',
        ),
    ],
)
def test_a_line_at_fault(line: str, message: str, place: str) -> None:
    found = fault('{"action":"first"}\n' + line + "\n")
    assert (found.code, found.message, found.source.first_line) == ("VGL601", message, 2)
    assert pointed_at(found) == place


def test_the_place_in_nested_arguments_is_the_events_own_member() -> None:
    found = fault('{"action":"a","args":{"status":1,"x":"\\"status\\":"},"status":[]}')
    assert found.span.start == found.source.text.rindex('"status"')


def test_a_recording_cut_off_in_its_last_line() -> None:
    message = "the file ends in the middle of a JSON value: it was cut off"
    assert fault('{"action":"a"}\n{"action":"b').message == message
    assert fault('{"action":"a"}\n{"action":"b","x":"é'.encode()[:-1]).message == message
    assert fault('{"action":"a"\n{"action":"b"}\n').message == "not valid JSON: it ends too early"


def test_bytes_that_are_no_utf_8() -> None:
    found = fault(b'{"action":"a"}\n{"action":"b","x":"\xff"}\n')
    assert (found.code, found.message, found.source.first_line) == ("VGL002", "byte 0xff is not UTF-8 text", 2)
    assert found.span.start == 19


def test_a_long_line_is_shown_around_the_place() -> None:
    found = fault('{"action":"a","x":"' + "y" * 10_000 + '","status":1}')
    assert found.message.endswith("not `1` (at column 10022)")
    assert len(found.source.text) <= 200
    assert pointed_at(found) == '"status"'


def test_an_id_used_twice_names_both_lines() -> None:
    found = fault('{"action":"a","event":"x"}\n\n{"action":"b"}\n{"action":"c","event":"x"}\n')
    assert (found.code, found.message) == ("VGL602", 'event id `"x"` is used on lines 1 and 4')
    assert (found.source.first_line, pointed_at(found)) == (4, '"event"')


def test_a_default_id_may_collide_with_a_given_one() -> None:
    assert fault('{"action":"a","event":"e2"}\n{"action":"b"}\n').code == "VGL602"


@pytest.mark.parametrize("version", ["2", "true", '"1"', "1.0"])
def test_an_unsupported_version(version: str) -> None:
    found = fault(f'{{"vigil_trace":{version}}}\n')
    assert found.code == "VGL603"
    assert found.message == f"trace format version `{version}` is not supported, only `1`"


def test_a_header_with_wrong_types() -> None:
    assert fault('{"vigil_trace":1,"run":7}').message == "`run` must be a string, not `7`"
    assert fault('{"vigil_trace":1,"not_executed":-1}').message == "`not_executed` must be a count, not `-1`"


def test_dump_leaves_defaults_out() -> None:
    written: list[bytes] = []
    trace = Trace((Event("e1", "a", "e1"), Event("s2", "b", "c1", {"n": ("1",), "l": ()}, "ok", "", ("k",), 0)))
    dump_trace(trace, written.append)
    assert b"".join(written).decode().splitlines() == [
        '{"vigil_trace":1}',
        '{"event":"e1","action":"a","args":{},"status":"unknown"}',
        '{"event":"s2","call":"c1","action":"b","kinds":["k"],"args":{"n":"1","l":[]},"status":"ok","output":"",'
        '"time":"1970-01-01T00:00:00Z"}',
    ]


def test_dump_keeps_what_a_reader_learned_of_the_run() -> None:
    run = Run("run.jsonl", "claude-code", "session", "Claude Code 2", "/srv", 3)
    written: list[bytes] = []
    dump_trace(Trace((Event("e1", "Bash", "t1", extra={"parent": "t0"}),), run), written.append)
    assert read(b"".join(written)) == Trace((Event("e1", "Bash", "t1", extra={"parent": "t0"}),), run)


def test_lines_without_more_members_are_read_as_any_others() -> None:
    line = (
        '{"event":"x","call":"c","action":"a","kinds":["k"],"args":{"n":1.50,"f":["M",null]},"status":"ok","output":"o"'
    )
    for time in ('"2026-01-05T10:00:00Z"', '"2026-01-05T10:00.00Z"', '"2026-01-05T10:00:00.5Z"', '"no"', "5"):
        plain = read(f'{line},"time":{time}}}').events[0]
        other = read(f'{line},"time":{time},"more":1}}').events[0]
        assert plain == replace(other, extra={k: v for k, v in other.extra.items() if k != "more"})

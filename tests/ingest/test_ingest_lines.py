"""What a recording is to every reader: lines or one document, packed or not, and the place of what is wrong."""

from __future__ import annotations

import gzip
import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vigil_lang.diagnostics import Diagnostic, InputError
from vigil_lang.ingest import stream
from vigil_lang.ingest.json_text import place_of
from vigil_lang.ingest.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Iterable


def read(data: bytes) -> list[dict[str, Any]]:
    return list(Lines(io.BytesIO(data), "run"))


def fault(data: bytes | Iterable[bytes]) -> Diagnostic:
    with pytest.raises(InputError) as refused:
        list(Lines(io.BytesIO(data) if isinstance(data, bytes) else data, "run"))
    (found,) = refused.value.diagnostics
    return found


def place(found: Diagnostic) -> tuple[int, int]:
    return found.source.position(found.span.start)


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": 1}\n{"a": 2}\n',
        b'\xef\xbb\xbf{"a": 1}\r\n\r\n{"a": 2}',
        b'[{"a": 1}, {"a": 2}]',
        b'\n [\n {"a": 1},\n {\n  "a": 2\n }\n]\n\n',
        b'\xef\xbb\xbf[\r\n{"a": 1}\r\n,{"a": 2}]\r\n',
        b'2026-01-05T10:00:00Z {"a": 1}\npost-hook\t{"a": 2}\n',
        gzip.compress(b'{"a": 1}\n{"a": 2}\n', mtime=0),
        gzip.compress(b'{"a": 1}\n', mtime=0) + gzip.compress(b'{"a": 2}\n', mtime=0) + b"\0" * 10,
    ],
)
def test_the_same_objects(data: bytes) -> None:
    assert read(data) == [{"a": 1}, {"a": 2}]
    assert list(Lines(data.splitlines(keepends=True), "run")) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("data", [b'{"a": {"b": [1]}}', b'{\n "a": {\n  "b": [1\n  ]\n }\n}\n', b'{"a": {"b": [1]}\n}'])
def test_one_object(data: bytes) -> None:
    assert read(data) == [{"a": {"b": [1]}}]


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf", b"[]", b"[\n]\n", gzip.compress(b"", mtime=0)])
def test_nothing(data: bytes) -> None:
    assert read(data) == []


def test_strings_with_line_breaks_and_brackets_in_a_document() -> None:
    value = [{"x": '},\n{"a"'}, {"x": "é\u2028[\ud83d"}]
    text = json.dumps(value, indent=1, ensure_ascii=True).encode()
    assert read(text) == [{"x": '},\n{"a"'}, {"x": "é\u2028[\ufffd"}]


@pytest.mark.parametrize(
    ("data", "message", "at"),
    [
        (b'[\n {"a": 1},\n {"a": }\n]', "not valid JSON: invalid character", (3, 8)),
        (b'{\n "a": 1,\n}\n', "not valid JSON: trailing comma in object", (3, 1)),
        (b'[\n {"a": 1},\n', "the file ends in the middle of a JSON value: it was cut off", (3, 1)),
        (b'{\n "a": 1', "the file ends in the middle of a JSON value: it was cut off", (2, 8)),
        (b'[\n {"a": 1}, 7\n]', "an element must be a JSON object, not `7`", (2, 12)),
        (b'[\n {"a": 1},\n  [1]]', "an element must be a JSON object, not `[1]`", (3, 3)),
        (b'[{"a": 1}]\n{"a": 2}\n', "not valid JSON: trailing characters", (2, 2)),
        (b'{"a": 1\n{"a": 2}\n', "not valid JSON: it ends too early", (1, 8)),
        (b'{"a": 1}\n[{"a": 2}, 3]\n', 'a line must be a JSON object, not `[{"a":2},3]`', (2, 1)),
        (b'{"a": 1}\nlabel {"a"\n', "not valid JSON: invalid character", (2, 1)),
        (b"7\n", "a line must be a JSON object, not `7`", (1, 1)),
        (b'[\n {"a": "\xff"}\n]', "byte 0xff is not UTF-8 text", (2, 9)),
        (b'[\n {"a": 1e99999999999999999999}\n]', "a number is out of range", (2, 2)),
        (b'[\n {"a": ' + b"[" * 5000 + b"]" * 5000 + b"}\n]", "the JSON is nested too deeply", (1, 1)),
    ],
)
def test_a_fault_has_a_line_and_a_column(data: bytes, message: str, at: tuple[int, int]) -> None:
    for packed in (data, gzip.compress(data, mtime=0)):
        found = fault(packed)
        assert (found.message, place(found)) == (message, at)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16(encoding: str) -> None:
    found = fault('{"a": 1}\n'.encode(encoding))
    assert (found.code, found.message) == ("VGL002", "the file is UTF-16 text, not UTF-8")


def test_broken_gzip() -> None:
    whole = gzip.compress(b'{"a": 1}\n' * 1000, mtime=0)
    for data, reason in [(whole[:-9], "was cut off"), (whole[:2] + b"\xff" * 20, "is damaged")]:
        found = fault(data)
        assert (found.code, found.message) == ("VGL001", f"cannot read `run`: its gzip data {reason}")


def test_what_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "MAX_SIZE", 1 << 20)
    monkeypatch.setattr("vigil_lang.ingest.lines.MAX_SIZE", 1 << 20)
    line = b'{"a": "' + b"x" * (1 << 20) + b'"}'
    document = b"[\n" + b'{"a": 1},\n' * 200_000 + b"]"
    for data, what in [(line, "a line is longer than 1 MB"), (document, "a JSON document is larger than 1 MB")]:
        for packed in (data, [data] if data is line else data.splitlines(keepends=True), gzip.compress(data, mtime=0)):
            found = fault(packed)
            assert (found.code, found.message) == ("VGL003", what)


def test_a_file_that_unpacks_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_ALWAYS_FINE", 1 << 20)
    found = fault(gzip.compress(b"\n" * (8 << 20)))
    assert (found.code, found.message) == ("VGL003", "the file unpacks to more than 25 times its size")


def test_the_head_is_yielded_again() -> None:
    lines = Lines([b'{"a": 1}\n'] * 60 + [b"{\n", b"}\n"], "run")
    assert len(lines.head()) == 50
    assert lines.fault_ahead is None
    with pytest.raises(InputError) as refused:
        assert list(lines) == []
    assert place(refused.value.diagnostics[0]) == (61, 2)
    cut = Lines([b'{"a": 1}\n', b"no\n"], "run")
    assert (cut.head(), cut.fault_ahead is None) == ([{"a": 1}], False)
    with pytest.raises(InputError):
        list(cut)


def test_a_fault_of_an_object_points_into_it() -> None:
    lines = Lines(io.BytesIO(b'  [ {"a": 1}, {"b": {"a": 0},\n  "a": [5, {"x": "]"}, 7]} ]'), "run")
    seen = []
    for _ in lines:
        for path in ("a", ("a", 1, "x"), ("a", 2), None):
            (found,) = lines.fault("m", path).diagnostics
            seen.append((lines.number, *place(found)))
    assert seen == [(1, 1, 6), (1, 1, 6), (1, 1, 6), (1, 1, 5), (1, 2, 3), (1, 2, 13), (1, 2, 24), (1, 1, 15)]


@pytest.mark.parametrize(
    ("path", "mark"),
    [
        ((), '{"k"'),
        (("k",), '"k": [['),
        (("k", 0), "[1"),
        (("k", 0, 1), "{"),
        (("k", 0, 1, "v"), '"v": "k"'),
        (("k", 1), "null"),
        (("o", "k"), '"k": 3'),
        (("o", "none"), '"o"'),
        (("s", "k"), '"s"'),
    ],
)
def test_the_place_of_a_path(path: tuple[str | int, ...], mark: str) -> None:
    text = '{"k": [[1, {"v": "k"}], null], "s": "k", "o": {"x": {"none": 1}, "k": 3}, "none": 2}'
    at = text.index(mark) if mark != "{" else text.index('{"v"')
    assert place_of(text, path)[0] == at


@given(st.text(alphabet='{}[],:"ab\\ \n', max_size=30), st.lists(st.sampled_from(["a", "b", 0, 1]), max_size=3))
def test_a_place_is_always_in_the_text(text: str, path: list[str | int]) -> None:
    start, end = place_of(text, path)
    assert 0 <= start <= end <= len(text) + 1


def test_a_batch_on_a_line_gives_its_objects() -> None:
    lines = Lines([b'{"a": 1}\n', b'[{"a": 2}, {"a": 3}]\n', b"[]\n", b'{"a": 4}\n'], "log.jsonl")
    assert [(lines.number, value["a"]) for value in lines] == [(1, 1), (2, 2), (2, 3), (4, 4)]


def test_a_long_line_comes_in_parts_and_nothing_of_it_is_lost() -> None:
    long = b'{"a": "' + b"x" * (5 << 19) + b'"}'
    for data in (long, long + b"\n", b'{"b": 1}\n' + long + b"\n" + b'{"c": 1}'):
        for packed in (data, gzip.compress(data)):
            assert b"".join(stream.lines_of(io.BytesIO(packed), "run")) == data
    assert [len(value) for value in Lines(io.BytesIO(long + b"\n" + long), "run")] == [1, 1]


def test_what_is_no_text_is_told_before_it_is_read_whole() -> None:
    found = fault(b'{"a' + b"\0" * (3 << 20))
    assert (found.code, found.message) == ("VGL002", "the file is not text: it has NUL bytes")


def test_a_recording_without_end_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "MAX_TOTAL", 1 << 30)
    endless = (b'{"a": 1}\n' * (1 << 20) for _ in range(1 << 20))
    with pytest.raises(InputError, match=r"VGL003 the recording is larger than 1 GB"):
        for _ in stream.lines_of(endless, "run"):
            pass

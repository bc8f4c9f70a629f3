"""Canonical texts, flattened arguments, numbers and times (spec: what a value is)."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vigil_lang.trace.values import canonical, flatten, number, parse_time, time_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a text", "a text"),
        ("half of a pair: \ud83d", "half of a pair: \ufffd"),
        (True, "true"),
        (False, "false"),
        (6, "6"),
        (6.0, "6"),
        (Decimal("6.00"), "6"),
        (Decimal("1e3"), "1000"),
        (0.1, "0.1"),
        (Decimal("0.10000000000000000000000000000000000001"), "0.10000000000000000000000000000000000001"),
        (-0.0, "0"),
        (Decimal("-0e999999999"), "0"),
        (Decimal("1e100"), "1" + "0" * 100),
        (Decimal("1e101"), "1e101"),
        (Decimal("-12.50e-200"), "-1.25e-199"),
        (Decimal("1e999999999"), "1e999999999"),
        (10**101, "1e101"),
        (123456789012345678901234567890, "123456789012345678901234567890"),
    ],
)
def test_canonical(value: object, text: str) -> None:
    assert canonical(value) == text


@pytest.mark.parametrize("value", [None, [1], {"a": 1}, b"x"])
def test_only_scalars_have_a_canonical_text(value: object) -> None:
    with pytest.raises(TypeError):
        canonical(value)


def test_a_number_must_be_finite() -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        canonical(float("nan"))


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_equal_numbers_and_only_those_have_one_text(value: Decimal) -> None:
    text = canonical(value)
    assert number(text) == value
    assert canonical(Decimal(text)) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_keep_their_shortest_digits(value: float) -> None:
    assert float(canonical(value)) == value


@pytest.mark.parametrize(
    ("args", "flat"),
    [
        ({"fps": 6.0, "ok": True}, {"fps": ("6",), "ok": ("true",)}),
        ({"params": {"amount": 5, "to": {"iban": "DE1"}}}, {"params.amount": ("5",), "params.to.iban": ("DE1",)}),
        ({"gone": None, "empty": {}}, {}),
        ({"files": ["a", None, ["b", ["c"]]]}, {"files": ("a", "b", "c")}),
        ({"none": [], "nulls": [None]}, {"none": (), "nulls": ()}),
        ({"edits": [{"old": "a"}, {"old": "b", "new": 1}]}, {"edits.old": ("a", "b"), "edits.new": ("1",)}),
        ({"mixed": ["a", {"b": 2}]}, {"mixed": ("a", "2"), "mixed.b": ("2",)}),
        ({"mixed": [[{"b": 2}], "a", None]}, {"mixed": ("2", "a"), "mixed.b": ("2",)}),
        (
            {"mixed": [1, {"a": [2, {"b": {"c": 3}}]}]},
            {"mixed": ("1", "2"), "mixed.a": ("2", "3"), "mixed.a.b.c": ("3",)},
        ),
        ({"a.b": 1, "a": {"b": 2}}, {"a.b": ("1", "2")}),
        ({"a": {"b": 1}, "a.b": 2}, {"a.b": ("1", "2")}),
    ],
)
def test_flatten(args: dict[str, object], flat: dict[str, tuple[str, ...]]) -> None:
    assert flatten(args) == flat


def test_flatten_limits_depth_and_names() -> None:
    # spec R5.2-3
    deep: object = 1
    for _ in range(101):
        deep = {"k": deep}
    with pytest.raises(ValueError, match="nested more than 100 deep"):
        flatten({"k": deep})
    with pytest.raises(ValueError, match="longer than 1000 characters"):
        flatten({"k": {"x" * 1000: 1}})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("6", Decimal(6)),
        ("-6.50", Decimal("-6.5")),
        ("+1e3", Decimal(1000)),
        ("1E-3", Decimal("0.001")),
        ("1e999999999", Decimal("1e999999999")),
        ("1e99999999999999999999", Decimal("Infinity")),
        ("", None),
        (".5", None),
        ("5.", None),
        (" 6", None),
        ("0x10", None),
        ("1_000", None),
        ("٣", None),
        ("Infinity", None),
        ("nan", None),
    ],
)
def test_number(text: str, value: Decimal | None) -> None:
    assert number(text) == value


@given(st.text())
def test_number_never_raises(text: str) -> None:
    assert number(text) is None or isinstance(number(text), Decimal)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("1970-01-01T00:00:01Z", 1),
        ("1970-01-01t00:00:01z", 1),
        ("1970-01-01 00:00:01", 1),
        ("1970-01-01T02:00:01+02:00", 1),
        ("1970-01-02", 86400),
        ("19700101T000001Z", 1),
        (1, 1),
        (Decimal("1.5"), 1.5),
        (0.25, 0.25),
        ("20260105", None),
        ("1700000000", None),
        ("yesterday", None),
        ("2026-13-01", None),
        ("", None),
        (True, None),
        (None, None),
        ([], None),
        (float("inf"), None),
        (Decimal("1e999999999"), None),
        (10**30, None),
        ("0001-01-01T00:00:00+05:00", None),
    ],
)
def test_parse_time(value: object, seconds: float | None) -> None:
    assert parse_time(value) == (None if seconds is None else int(seconds * 1_000_000))


@pytest.mark.parametrize(
    "text",
    ["2026-01-05T10:00:00Z", "2026-01-05T10:00:00.124Z", "2026-01-05T10:00:00.000001Z", "0001-01-01T00:00:00Z"],
)
def test_time_text_is_the_inverse_of_parse_time(text: str) -> None:
    time = parse_time(text)
    assert time is not None
    assert time_text(time) == text


@given(st.text() | st.decimals() | st.floats() | st.integers())
def test_parse_time_never_raises(value: object) -> None:
    time = parse_time(value)
    assert time is None or parse_time(time_text(time)) == time

"""Canonical JSON: the bytes of RFC 8785, and nothing hashed whose meaning is not certain."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from vigil_lang.gate.canonical import MAX_INTEGER, NotCanonical, canonical, digest, short_digest

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NUMBERS = st.integers(-MAX_INTEGER, MAX_INTEGER) | st.floats(-MAX_INTEGER, MAX_INTEGER)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_the_bytes_are_those_of_rfc_8785(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


@given(VALUES)
def test_what_is_read_back_has_the_same_bytes(value: Any) -> None:
    assert canonical(json.loads(canonical(value))) == canonical(value)


def test_keys_are_sorted_by_utf_16_units() -> None:
    assert canonical({"\U0001f600": 1, "\ufb33": 2, "a": 3}) == '{"a":3,"\U0001f600":1,"\ufb33":2}'.encode()


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (2**53, "beyond"),
        (-(2**53), "beyond"),
        (2.0**53, "beyond"),
        (float("nan"), "not finite"),
        (float("inf"), "not finite"),
        (Decimal("1e400"), "not finite"),
        (Decimal("NaN"), "not finite"),
        (Decimal("0.10000000000000000001"), "more digits"),
        ("\ud800", "half of a character"),
        ({"\udfff": 1}, "half of a character"),
        ({1: 2}, "no text"),
        (b"bytes", "bytes is no JSON value"),
    ],
)
def test_what_has_no_certain_form_is_refused(value: object, why: str) -> None:
    with pytest.raises(NotCanonical, match=why):
        canonical({"in": [value]})


def test_nesting_has_a_limit() -> None:
    value: object = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(NotCanonical, match="nested"):
        canonical(value)


def test_decimals_that_a_double_keeps_are_numbers() -> None:
    assert canonical([Decimal("1.50"), Decimal("1E+2"), True]) == b"[1.5,100,true]"


def test_digests() -> None:
    assert digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert short_digest({}) == "RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o"

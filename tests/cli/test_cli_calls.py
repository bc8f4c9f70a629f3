"""A call on one line: what is cut, and what is kept because a pattern matched there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vigil_lang.diagnostics import Source
from vigil_lang.diagnostics.shorten import middle
from vigil_lang.semantics.policy import read_policy
from vigil_lang.trace import Event
from vigil_lang.verdict.calls import call_text
from vigil_lang.verdict.spots import spots

if TYPE_CHECKING:
    from rich.text import Text

LONG = "a" * 300 + "NEEDLE" + "b" * 300 + "\nPIN\n" + "c" * 300


def call(room: int = 100, *, telling: tuple[str, ...] = (), **args: str | tuple[str, ...]) -> str:
    values = {name: (value,) if isinstance(value, str) else value for name, value in args.items()}
    return call_text(Event("e1", "act", "e1", values, "ok"), room, telling).plain


def around(condition: str, text: str = LONG, other: str = "x", **binding: str | None) -> Text:
    policy = read_policy(Source("p.vgl", f"statement A: abs({condition})"))
    (statement,) = policy.statements
    event = Event("e1", "act", "e1", {"text": (text,), "other": (other,)}, "ok")
    return call_text(event, 100, ("text",), spots(statement, event, binding))


def underlined(shown: Text) -> list[str]:
    return [shown.plain[span.start : span.end] for span in shown.spans if span.style == "underline"]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({}, "act() → ok"),
        ({"n": "6", "flag": "true", "text": "six"}, 'act(n=6, flag=true, text="six") → ok'),
        ({"text": 'a "b" \\ \n\x1b'}, 'act(text="a \\"b\\" \\ \\n\\x1b") → ok'),
        ({"odd name": "1", "x": ()}, 'act("odd name"=1, x=[]) → ok'),
        ({"x": ("a", "b", "c", "d", "e", "f")}, 'act(x=["a", "b", "c", "d", … 2 more]) → ok'),
    ],
)
def test_arguments_are_shown_as_a_policy_would_write_them(args: dict[str, str], expected: str) -> None:
    assert call(**args) == expected


def test_long_values_are_cut_in_the_middle_the_telling_ones_last() -> None:
    shown = call(90, telling=("b",), a="1" + "x" * 98 + "2", b="y" * 40)
    assert f', b="{"y" * 40}") → ok' in shown
    assert shown.startswith('act(a="1xxx')
    assert 'xxx2", b=' in shown
    assert len(shown) <= 90


def test_a_call_with_too_many_arguments_ends_with_dots() -> None:
    shown = call(80, **{f"argument_{n}": "value" for n in range(30)})
    assert shown.endswith(", …) → ok")
    assert len(shown) <= 80


def test_a_name_without_end_is_cut_too() -> None:
    assert len(call_text(Event("e1", "x" * 500, "e1", {"y" * 500: ("z",)}), 100).plain) <= 110


@pytest.mark.parametrize(
    ("text", "room", "expected"),
    [("short", 5, "short"), ("longer", 5, "lo…er"), ("漢字漢字", 6, "漢…字"), ("\n\n\n\n", 6, "\\n…\\n"), ("", 5, "")],
)
def test_the_middle_is_measured_in_cells(text: str, room: int, expected: str) -> None:
    assert middle(text, room) == expected


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("act(text ~ /NE+DLE/)", "NEEDLE"),
        ("act(text ~ /needle/i)", "NEEDLE"),
        ('act(text ~ "*NEEDLE*")', "NEEDLE"),
        ('act(text contains "NEEDLE")', "NEEDLE"),
        ("act(text contains x and other = x)", "NEEDLE"),
        ("act(text ~ /absent/ or text ~ /NEEDLE/)", "NEEDLE"),
        ("act(text ~ /(?m)^PIN$/)", "PIN"),
    ],
)
def test_what_a_pattern_matched_is_not_cut_away(condition: str, kept: str) -> None:
    shown = around(condition, other="NEEDLE", x="NEEDLE")
    assert underlined(shown) == [kept]
    assert len(shown.plain) <= 120


def test_several_matches_are_all_shown() -> None:
    shown = around("act(text ~ /NEEDLE/, text ~ /PIN/)")
    assert underlined(shown) == ["NEEDLE", "PIN"]
    assert shown.plain.startswith('act(text="aaa')
    assert shown.plain.count("…") == 3


def test_what_a_negation_excludes_is_no_reason() -> None:
    assert underlined(around("act(not text ~ /absent/)")) == []
    assert underlined(around("act(text !~ /absent/)")) == []


def test_a_match_in_a_short_value_is_told_apart() -> None:
    shown = around("act(text ~ /b+/)", "abba")
    assert shown.plain == 'act(text="abba", other="x") → ok'
    assert underlined(shown) == ["bb"]

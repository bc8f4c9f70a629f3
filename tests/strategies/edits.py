"""A text as somebody types in it: letters, lines taken out, put twice or apart, names changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Sequence


@st.composite
def edited(draw: st.DrawFn, original: str, pieces: Sequence[str], names: Sequence[str]) -> list[str]:
    """Texts, each made from the one before; the pieces are typed, and the names replaced everywhere."""
    text, texts = original, list[str]()
    for _ in range(draw(st.integers(1, 4))):
        lines = text.splitlines(keepends=True)
        match draw(st.sampled_from(["letters", "letters", "out", "twice", "apart", "rename", "back"])):
            case "letters":
                at = draw(st.integers(0, len(text)))
                text = text[:at] + draw(st.sampled_from(pieces)) + text[at + draw(st.integers(0, 3)) :]
            case "out" if lines:
                del lines[draw(st.integers(0, len(lines) - 1))]
                text = "".join(lines)
            case "twice" if lines:
                at = draw(st.integers(0, len(lines) - 1))
                text = "".join([*lines[:at], lines[at], *lines[at:]])
            case "apart" if lines:
                one, other = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
                lines[one], lines[other] = lines[other], lines[one]
                text = "".join(lines)
            case "rename":
                text = text.replace(draw(st.sampled_from(names)), "other")
            case "back":
                text = original
        texts.append(text)
    return texts

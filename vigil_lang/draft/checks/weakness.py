"""What is wrong with a statement beside its clause, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Weakness(NamedTuple):
    """In what a statement says less than its clause, in words for whoever drafted it; or may do so, if not certain."""

    text: str
    certain: bool = True


def listed(texts: Sequence[str]) -> str:
    """Some names or values, in code."""
    return ", ".join(f"`{text}`" for text in texts[:3]) + (", …" if len(texts) > 3 else "")

"""What is wrong with a statement beside its clause, in words, and what sentences say of how calls end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

FAILED: Final = (
    r"fail\w*|error\w*|unsuccess\w*|crash\w*|broke\w*|reject\w*|den(?:y|ied|ies)|abort\w*|non-?zero|"
    r"(?:not|n['’]t) (?:work|succeed|pass)\w*"
)
OUTCOME: Final = {
    "error": re.compile(rf"\b(?:{FAILED}|exit(?:s|ed)?|exit (?:code|status))\b", re.IGNORECASE),
    "ok": re.compile(
        rf"\b(?:{FAILED}|succe\w*|pass(?:es|ed|ing)?|complet\w*|exit(?:s|ed)?|finish\w*|works|worked|running)\b",
        re.IGNORECASE,
    ),
}
FAILING: Final = OUTCOME["error"]


class Weakness(NamedTuple):
    """In what a statement says less than its clause, in words for whoever drafted it; or may do so, if not certain."""

    text: str
    certain: bool = True


def listed(texts: Sequence[str]) -> str:
    """Some names or values, in code."""
    return ", ".join(f"`{text}`" for text in texts[:3]) + (", …" if len(texts) > 3 else "")
